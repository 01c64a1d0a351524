/**
 * The words of an error response, for classification and for people.
 *
 * The shape of an error body is not documented (service interface, section 7), so the reading is tolerant: JSON in the
 * common shapes, problem+json, HTML and plain text, in Portuguese or English. Nothing here throws, whatever the input.
 *
 * Gotchas:
 * - What `readServiceMessage` gives is raw: it may hold what the request sent. Match on it; show `displayMessage` of it (`mask.ts`).
 * - A `code` is the service's word too: it goes through `displayMessage` before anyone sees it.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

export interface ServiceMessage {
  /** The message as the service wrote it, unmasked, one part after another; empty where none was found. */
  readonly words: string
  /** A short machine-readable code, such as `INSUFFICIENT_BALANCE` or `400`. */
  readonly code?: string
  /** Every text of the body, also those that are not shown: a title, the page behind it, names of what is `true`. */
  readonly texts: ReadonlyArray<string>
}

/** How much of a body is looked at, in UTF-16 units. */
export const maxInput = 32_768
const maxDepth = 6
const maxMembers = 64
const maxItems = 10

type Fields = ReadonlyMap<string, unknown>

const messageKeys = ["message", "mensagem", "msg", "errormessage", "errordescription"]
const detailKeys = ["detail", "details", "detalhe", "detalhes", "description", "descricao", "reason", "motivo"]
const errorKeys = ["error", "erro"]
const listKeys = ["errors", "erros"]
const titleKeys = ["title", "titulo"]
const wrapperKeys = ["data", "res", "response", "result", "body"]
const codeKeys = ["code", "errorcode", "codigo", "codigoerro"]
const placeKeys = ["field", "campo", "property", "propertyname", "path"]

const entriesOf = (value: unknown): ReadonlyArray<[string, unknown]> | undefined =>
  Predicate.isObject(value) ? Object.entries(value).slice(0, maxMembers) : undefined

const asFields = (value: unknown): Fields | undefined => {
  const entries = entriesOf(value)
  return entries && new Map(entries.map(([key, member]) => [key.toLowerCase().replaceAll(/[_-]/g, ""), member]))
}

const firstOf = <A>(items: Iterable<A>, read: (item: A) => string): string => {
  for (const item of items) {
    const found = read(item)
    if (found !== "") return found
  }
  return ""
}

const join = (parts: ReadonlyArray<string>) => [...new Set(parts.filter((part) => part !== ""))].join("; ")

const parseJson = (text: string): Result.Result<unknown, unknown> => Result.try((): unknown => JSON.parse(text))

const wordsOf = (value: unknown, depth: number): string => {
  if (depth > maxDepth) return ""
  if (typeof value === "string") return wordsOfText(value.trim(), depth)
  if (Array.isArray(value)) return join(value.slice(0, maxItems).map((item) => wordsOf(item, depth + 1)))
  const fields = asFields(value)
  return fields === undefined ? "" : wordsOfFields(fields, depth)
}

/** A gateway may pass on an upstream's JSON or HTML as a string. */
const wordsOfText = (text: string, depth: number): string => {
  if (text.startsWith("<")) return wordsOfHtml(text)
  if (!/^[{["]/.test(text)) return text
  const parsed = parseJson(text)
  return Result.isSuccess(parsed) ? wordsOf(parsed.success, depth + 1) : salvage(text) || text
}

const wordsOfFields = (fields: Fields, depth: number): string => {
  const first = (keys: ReadonlyArray<string>) => firstOf(keys, (key) => wordsOf(fields.get(key), depth + 1))
  const head = [first(messageKeys), first(detailKeys)]
  const hasNested = errorKeys.some((key) => typeof fields.get(key) === "object")
  const error = hasNested || join(head) === "" ? first(errorKeys) : ""
  const list = firstOf(listKeys, (key) => wordsOfList(fields.get(key), depth + 1))
  const all = join([...head, error, list])
  const title = head.every((part) => part === "") && error === "" ? first(titleKeys) : ""
  const found = join([title, all])
  return found === "" ? first(wrapperKeys) : found
}

/** `errors`: an array of strings or objects, or a record of field to messages as ASP.NET's ProblemDetails has it. */
const wordsOfList = (value: unknown, depth: number): string => {
  if (Array.isArray(value)) return join(value.slice(0, maxItems).map((item) => wordsOfItem(item, depth)))
  const words = wordsOf(value, depth)
  if (words !== "") return words
  return join((entriesOf(value) ?? []).map(([field, member]) => located(field, wordsOf(member, depth + 1))))
}

const wordsOfItem = (item: unknown, depth: number): string => {
  const place = firstOf(placeKeys, (key) => {
    const value = asFields(item)?.get(key)
    return typeof value === "string" ? value : ""
  })
  return located(place, wordsOf(item, depth))
}

const located = (place: string, words: string) => (place === "" || words === "" ? words : `${place}: ${words}`)

const codeOf = (value: unknown, depth: number): string => {
  if (depth > maxDepth) return ""
  if (Array.isArray(value)) return firstOf(value.slice(0, maxItems), (item) => codeOf(item, depth + 1))
  const fields = asFields(value)
  if (fields === undefined) return ""
  const own = firstOf(codeKeys, (key) => asCode(fields.get(key)))
  if (own !== "") return own
  const nested = firstOf([...errorKeys, ...listKeys, ...wrapperKeys], (key) => codeOf(fields.get(key), depth + 1))
  // `{ error: "invalid_amount", message: "..." }`; a lone `error` is the message itself.
  return nested === "" && messageKeys.some((key) => fields.has(key)) ? asCode(fields.get("error")) : nested
}

const asCode = (value: unknown): string => {
  const text = typeof value === "number" ? String(value) : value
  return typeof text === "string" && /^[\w.:-]{1,64}$/.test(text) ? text : ""
}

/** Reads the messages of JSON that cannot be parsed, such as a body cut in the middle. */
const salvage = (text: string): string => {
  const found = text.matchAll(
    /"(?:message|mensagem|msg|error|erro|detail|description|title)"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.)*)/gi
  )
  return join(
    Array.from(found, ([, escaped = ""]) => {
      const parsed = parseJson(`"${escaped}"`)
      return Result.isSuccess(parsed) && typeof parsed.success === "string" ? parsed.success.trim() : escaped
    })
  )
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }
const accents: Readonly<Record<string, string>> = {
  grave: "\u0300",
  acute: "\u0301",
  circ: "\u0302",
  tilde: "\u0303",
  cedil: "\u0327"
}

const decodeEntities = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z])(grave|acute|circ|tilde|cedil)|(amp|lt|gt|quot|apos|nbsp));/gi,
    (_, decimal?: string, hex?: string, letter = "", accent = "", name = "") => {
      if (decimal !== undefined) return String.fromCodePoint(Number.parseInt(decimal, 10))
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
      return `${letter}${accents[accent.toLowerCase()] ?? named[name.toLowerCase()]}`.normalize("NFC")
    }
  )

/** Tags that stand inside of a sentence. */
const inline = /^<\/?(?:a|b|code|em|font|i|small|span|strong|u)\b/i

/** Drops tags, comments and the content of script and style; goes over the text once. */
const stripTags = (html: string, block = " "): string => {
  const token = /<!--|<(script|style)\b|<\/?[a-z!?]/gi
  const parts: Array<string> = []
  let from = 0
  for (let match = token.exec(html); match !== null; match = token.exec(html)) {
    parts.push(html.slice(from, match.index), inline.test(html.slice(match.index, match.index + 12)) ? " " : block)
    const close = match[0] === "<!--" ? /-->/g : match[1] === undefined ? />/g : /<\/(?:script|style)[^<>]*>/gi
    close.lastIndex = token.lastIndex
    from = close.exec(html) === null ? html.length : close.lastIndex
    token.lastIndex = from
  }
  return [...parts, html.slice(from)].join("")
}

/** The text of a page on one line. */
const textOfHtml = (html: string): string => decodeEntities(stripTags(html).replaceAll(/\s+/g, " ").trim())

/** The texts of a page, one a block. */
const blocksOfHtml = (html: string): ReadonlyArray<string> =>
  decodeEntities(stripTags(html.replaceAll(/\s+/g, " "), "\n")).split("\n")

/** Deeper than any service nests what it says. */
const maxTextDepth = 32

/** Every text in a value of JSON; the name of what is `true` is one. */
const textsIn = (value: unknown, depth: number): ReadonlyArray<string> => {
  if (depth > maxTextDepth) return []
  if (typeof value === "string") return textsOfText(value.trim(), depth)
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, depth + 1))
  return Predicate.isObject(value)
    ? Object.entries(value).flatMap(([name, member]) => (member === true ? [name] : textsIn(member, depth + 1)))
    : []
}

const textsOfText = (text: string, depth: number): ReadonlyArray<string> => {
  if (text.startsWith("<")) return blocksOfHtml(text)
  const parsed = /^[{["]/.test(text) ? parseJson(text) : Result.fail(undefined)
  if (Result.isSuccess(parsed)) return textsIn(parsed.success, depth + 1)
  return text === "" ? [] : [text]
}

const wordsOfHtml = (html: string): string => {
  const title = /<title[^<>]*>([^<]*)/i.exec(html)?.[1]?.trim()
  return title === undefined || title === "" ? textOfHtml(html) : decodeEntities(title)
}

/** Reads the words, and the code where there is one, out of the body of an error response. Never throws. */
export const readServiceMessage = (body: string, contentType = ""): ServiceMessage => {
  const text = body.slice(0, maxInput).trim()
  if (/\bhtml\b/i.test(contentType)) return { words: wordsOfHtml(text), texts: blocksOfHtml(text) }
  const words = wordsOfText(text, 0)
  const texts = textsOfText(text, 0)
  const code = Result.match(parseJson(text), { onFailure: () => "", onSuccess: (value) => codeOf(value, 0) })
  return code === "" ? { words, texts } : { words, code, texts }
}
