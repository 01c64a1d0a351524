/**
 * The words of an error response. The shape of an error body is not documented (service interface, section 7), so JSON in
 * its common shapes, problem+json, HTML and plain text are read. Nothing here throws, whatever the input.
 *
 * Gotcha: what is read is raw and may hold what the request sent. It is shown only by `displayMessage` (`mask.ts`).
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

export interface ServiceMessage {
  /** The message as the service wrote it, unmasked; empty where none was found. */
  readonly words: string
  /** A short machine-readable code, such as `INSUFFICIENT_BALANCE` or `400`. */
  readonly code?: string
  /** Every text of the body, also those outside of the message; and the name of each member that is `true`. */
  readonly texts: ReadonlyArray<string>
}

/** How much of a body is read, in UTF-16 units. */
export const maxInput = 32_768
const maxDepth = 6
const maxMembers = 64

const messageKeys = ["message", "mensagem", "msg", "errormessage", "errordescription"]
const detailKeys = ["detail", "details", "detalhe", "detalhes", "description", "descricao", "reason", "motivo"]
const errorKeys = ["error", "erro"]
const wrapperKeys = ["data", "res", "response", "result", "body"]
const codeKeys = ["code", "errorcode", "codigo", "codigoerro"]
const placeKeys = ["field", "campo", "property", "propertyname", "path"]

const parse = (text: string): Result.Result<unknown, unknown> => Result.try((): unknown => JSON.parse(text))

const membersOf = (value: unknown) => (Predicate.isObject(value) ? Object.entries(value).slice(0, maxMembers) : [])

/** The name of a field in lower case, without separators. */
const foldName = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, "")
const fieldsOf = (value: unknown) => new Map(membersOf(value).map(([name, member]) => [foldName(name), member]))

/** The first text that is not empty. */
const firstOf = <A>(items: ReadonlyArray<A>, read: (item: A) => string): string =>
  items.map(read).find((text) => text !== "") ?? ""

const join = (parts: ReadonlyArray<string>) => [...new Set(parts.filter((part) => part !== ""))].join("; ")

const located = (place: unknown, words: string) =>
  typeof place === "string" && place !== "" && words !== "" ? `${place}: ${words}` : words

const wordsOf = (value: unknown, depth: number): string => {
  if (depth > maxDepth) return ""
  if (typeof value === "string") return wordsOfText(value.trim(), depth)
  if (Array.isArray(value)) return join(value.slice(0, maxMembers).map((item) => wordsOf(item, depth + 1)))
  if (!Predicate.isObject(value)) return ""
  const fields = fieldsOf(value)
  const read = (keys: ReadonlyArray<string>) => firstOf(keys, (key) => wordsOf(fields.get(key), depth + 1))
  const message = join([read(messageKeys), read(detailKeys)])
  const isNested = errorKeys.some((key) => typeof fields.get(key) === "object")
  const error = isNested || message === "" ? read(errorKeys) : ""
  const title = message === "" && error === "" ? read(["title", "titulo"]) : ""
  const list = firstOf(["errors", "erros"], (key) => wordsOfErrors(fields.get(key), depth + 1))
  return join([title, message, error, list]) || read(wrapperKeys)
}

const placeOf = (item: unknown) => placeKeys.map((key) => fieldsOf(item).get(key)).find(Predicate.isString)

/** Errors as a list, or by the field that each is about, as ASP.NET writes them. */
const wordsOfErrors = (errors: unknown, depth: number): string => {
  if (Array.isArray(errors)) {
    return join(errors.slice(0, maxMembers).map((item) => located(placeOf(item), wordsOf(item, depth))))
  }
  const byField = membersOf(errors).map(([field, member]) => located(field, wordsOf(member, depth + 1)))
  return wordsOf(errors, depth) || join(byField)
}

/** A text may be HTML, or the JSON of another service that is passed on. */
const wordsOfText = (text: string, depth: number): string => {
  if (text.startsWith("<")) return wordsOfHtml(text)
  if (/^(?:null|true|false)$/.test(text)) return ""
  if (!/^[{["]/.test(text)) return text
  const json = parse(text)
  return Result.isSuccess(json) ? wordsOf(json.success, depth + 1) : wordsOfCutJson(text) || text
}

/** The messages of JSON that stops in the middle. */
const wordsOfCutJson = (text: string): string => {
  const names = "message|mensagem|msg|error|erro|detail|description|title"
  const messages = text.matchAll(new RegExp(`"(?:${names})"\\s{0,9}:\\s{0,9}("(?:[^"\\\\]|\\\\.)*)`, "gi"))
  return join(
    Array.from(messages, ([, cut = ""]) => String(Result.getOrElse(parse(`${cut}"`), () => cut.slice(1))).trim())
  )
}

const asCode = (value: unknown): string => {
  const text = typeof value === "number" ? String(value) : value
  return typeof text === "string" && /^[\w.:-]{1,64}$/.test(text) ? text : ""
}

const markup = /<!--[^]*?(?:-->|$)|<(script|style)\b[^]*?(?:<\/\1[^<>]*>|$)|<[a-z!/?][^>]*(?:>|$)/gi
const entity = /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z])(grave|acute|circ|tilde|cedil)|(amp|lt|gt|quot|apos|nbsp));/gi
const characters: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  grave: "\u0300",
  acute: "\u0301",
  circ: "\u0302",
  tilde: "\u0303",
  cedil: "\u0327"
}

const decodeEntities = (text: string): string =>
  text.replaceAll(entity, (_, decimal?: string, hex?: string, letter = "", accent = "", name = "") =>
    decimal === undefined && hex === undefined
      ? `${letter}${characters[`${accent}${name}`.toLowerCase()]}`.normalize("NFC")
      : String.fromCodePoint(Number.parseInt(decimal ?? hex ?? "", decimal === undefined ? 16 : 10))
  )

const textOfHtml = (html: string): string => decodeEntities(html.replaceAll(markup, " ").replaceAll(/\s+/g, " ").trim())

const wordsOfHtml = (html: string): string =>
  decodeEntities(/<title[^<>]*>([^<]*)/i.exec(html)?.[1]?.trim() ?? "") || textOfHtml(html)

type Member = readonly [name: string, value: unknown]

/** Every member of a body of JSON, at any depth; none where it is no JSON. */
const everyMember = (text: string): ReadonlyArray<Member> => {
  const members: Array<Member> = []
  const visit = (name: string, value: unknown) => members.push([name, value]) && value
  return Result.isSuccess(Result.try((): unknown => JSON.parse(text, visit))) ? members : []
}

const textsOf = (text: string): ReadonlyArray<string> => {
  if (text.startsWith("<")) return [textOfHtml(text)]
  const members = /^[{["]/.test(text) ? everyMember(text) : []
  return members.length === 0 ? [text] : members.flatMap(textsOfMember)
}

const textsOfMember = ([name, value]: Member): ReadonlyArray<string> =>
  typeof value === "string" ? textsOf(value.trim()) : value === true ? [name] : []

const codeOf = (members: ReadonlyArray<Member>): string => {
  const code = (keys: ReadonlyArray<string>) =>
    firstOf(members, ([name, value]) => (keys.includes(foldName(name)) ? asCode(value) : ""))
  // In `{ error: "invalid_amount", message: "..." }` the error is a code; a lone `error` is the message itself.
  return code(codeKeys) || (members.some(([name]) => messageKeys.includes(foldName(name))) ? code(["error"]) : "")
}

/** Reads the words, the code where there is one, and all texts out of the body of an error response. Never throws. */
export const readServiceMessage = (body: string, contentType = ""): ServiceMessage => {
  const text = body.slice(0, maxInput).trim()
  if (/\bhtml\b/i.test(contentType)) return { words: wordsOfHtml(text), texts: [textOfHtml(text)] }
  const code = codeOf(everyMember(text))
  return { words: wordsOfText(text, 0), ...(code !== "" && { code }), texts: text === "" ? [] : textsOf(text) }
}
