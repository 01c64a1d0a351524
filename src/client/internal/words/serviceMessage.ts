/**
 * Reads the words of an error response. The service does not document the shape of an error body (`docs/service.md`), so
 * this reads common shapes of JSON, problem+json, HTML and plain text. It never throws.
 *
 * Gotcha: the words are not masked, and may hold values of the request. Only `displayMessage` (`mask.ts`) may show them.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { maxRefusalLength } from "../../../internal/bounds.ts"
import type { Reason } from "./phrases.ts"
import { isStatusPhrase } from "./sentence.ts"

/** Folds the name of a field: `error_code` and `errorCode` become the same name. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "")

export interface ServiceMessage {
  /** The message as the service wrote it, unmasked; empty if none was found. */
  readonly words: string
  /** A short machine-readable code, such as `INSUFFICIENT_BALANCE` or `400`. */
  readonly code: string | undefined
  /** The texts of the body that are a reason in words, whatever the shape of the body is; and the name of a member that is `true`. */
  readonly reasons: ReadonlyArray<string>
  /**
   * The texts of the members that say why, whole, and those of their list of errors; or the body, if it is plain text. None of them only
   * repeats the status.
   */
  readonly said: ReadonlyArray<Reason>
  readonly isJson: boolean
}

export const maxDepth = 6
export const maxMembers = 64

/** The names of fields, folded. */
export const messageKeys = [
  "message",
  "mensagem",
  "msg",
  "errormessage",
  "errordescription",
  "defaultmessage",
  "providererrordescription",
  "providererrormessage",
  "providermessage"
]
export const detailKeys = [
  "detail",
  "details",
  "detalhe",
  "detalhes",
  "description",
  "descricao",
  "reason",
  "motivo",
  ...["error", "failure", "reject", "rejection", "refusal", "status"].map((what) => `${what}reason`),
  ...["failure", "status"].flatMap((what) => [`${what}message`, `${what}description`]),
  ...["falha", "erro", "recusa", "rejeicao"].map((what) => `motivo${what}`)
]
export const errorKeys = ["error", "erro"]
export const listKeys = [
  "errors",
  "erros",
  "messages",
  "mensagens",
  "notifications",
  "notificacoes",
  "validations",
  "validationerrors",
  "fielderrors",
  "violations",
  "issues",
  "constraints",
  "modelstate"
]
export const wrapperKeys = ["data", "res", "response", "result", "body"]
export const codeKeys = ["code", "errorcode", "codigo", "codigoerro", "providererrorcode"]

export type Member = readonly [name: string, value: unknown]

/** The value of a text that is JSON, and every member of it at any depth; of a list its texts and objects. */
interface Json {
  readonly value: unknown
  readonly members: ReadonlyArray<Member>
}

/** Reads a text that looks like JSON: an exception for each other text would take long. */
export const parse = (text: string): Json | undefined => {
  const members: Array<Member> = []
  const visit = (name: string, value: unknown) => {
    if (!(Predicate.isNumber(value) && /^\d/.test(name))) members.push([name, value])
    return value
  }
  const value = jsonStart.test(text) ? Result.try((): unknown => JSON.parse(text, visit)) : Result.failVoid
  return Result.isSuccess(value) ? { value: value.success, members } : undefined
}

/** The beginning of an object, a list or a text, or a whole number, `true`, `false` or `null`. */
const jsonStart = /^(?:["[{]|(?:-?\d[\d.eE+-]*|true|false|null)$)/

/** The markup that is removed. Of character data of XML (`<![CDATA[...]]>`) only the brackets are removed. */
const markup = /<!--[^]*?(?:-->|$)|<!\[CDATA\[|\]\]>|<(script|style)\b[^]*?(?:<\/\1[^<>]*>|$)|<[a-z!/?][^>]*(?:>|$)/gi
const entity = /&(?:#(\d{1,6}|x[\da-f]{1,5})|([a-z])(grave|acute|circ|tilde|cedil)|(amp|lt|gt|quot|apos|nbsp));/gi
const signs = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }
const accents = { grave: "\u0300", acute: "\u0301", circ: "\u0302", tilde: "\u0303", cedil: "\u0327" }
const characters = new Map(Object.entries({ ...signs, ...accents }))

const decodeEntities = (text: string): string =>
  text.replaceAll(entity, (_, point?: string, letter = "", accent?: string, name = "") => {
    if (point !== undefined) return String.fromCodePoint(Number(`0${point}`))
    return `${letter}${characters.get((accent ?? name).toLowerCase())}`.normalize("NFC")
  })

const textOfHtml = (html: string): string => decodeEntities(html.replaceAll(markup, " ").replaceAll(/\s+/g, " ").trim())

const wordsOfHtml = (html: string): string =>
  decodeEntities(/<title[^<>]*>([^<]*)/i.exec(html)?.[1]?.trim() ?? "") || textOfHtml(html)

/** The words of a text that is no JSON and may be a page. */
const wordsOfText = (text: string): string => (text.startsWith("<") ? wordsOfHtml(text) : text)

/** The words of texts that say why, each once: no code, and no other value of JSON. */
export const wordsOf = (said: ReadonlyArray<Reason>, code?: string): string => {
  const texts = said
    .slice(0, maxMembers)
    .filter(({ isCode, text }) => !isCode && text !== code && parse(text) === undefined)
  return [...new Set(texts.map(({ text }) => wordsOfText(text)))].filter((text) => text !== "").join("; ")
}

const titleKeys = ["title", "titulo"]
const sayingKeys = new Set([...messageKeys, ...detailKeys, ...errorKeys, ...titleKeys, ...listKeys, ...codeKeys])

/** The texts of a value that say why. `name`: the name of the member that holds them, folded; none for one that says nothing. */
export const saidIn = (value: unknown, name: string | undefined, depth = 0): ReadonlyArray<Reason> => {
  if (depth > maxDepth) return []
  if (Array.isArray(value)) return value.flatMap((item) => saidIn(item, name, depth + 1))
  if (Predicate.isObject(value)) return saidInObject(value, name, depth)
  if (name === undefined || !(Predicate.isString(value) || Predicate.isNumber(value))) return []
  const text = String(value).trim()
  const json = parse(text)?.value
  const inner = Predicate.isObjectOrArray(json) ? saidIn(json, undefined, depth + 1) : []
  return inner.length > 0 ? inner : [{ text, isCode: codeKeys.includes(name) }]
}

const saidInObject = (value: object, name: string | undefined, depth: number): ReadonlyArray<Reason> => {
  const members = Object.entries(value).map(([key, member]) => [foldName(key), member] as const)
  // An object of a list of errors without a known member is a record of errors by field.
  const isRecord = name !== undefined && listKeys.includes(name) && !members.some(([key]) => sayingKeys.has(key))
  return members.flatMap(([key, member]) =>
    isRecord || sayingKeys.has(key)
      ? saidIn(member, isRecord ? name : key, depth + 1)
      : wrapperKeys.includes(key)
        ? saidIn(member, undefined, depth + 1)
        : []
  )
}

const codeOf = (members: ReadonlyArray<Member>): string | undefined => {
  // In `{ error: "invalid_amount", message: "..." }` the error is a code; a lone `error` is the message itself.
  const isMessage = members.some(([name]) => messageKeys.includes(foldName(name)))
  return [...codeKeys, ...(isMessage ? ["error"] : [])]
    .flatMap((key) => members.filter(([name]) => foldName(name) === key))
    .map(([, value]) => (Predicate.isString(value) || Predicate.isNumber(value) ? String(value) : ""))
    .find((text) => /^[\w.:-]{1,64}$/.test(text))
}

/** The names of members, folded, that say where and when, and not why; and those that do so if their text is one word. */
const placeKeys =
  /^(?:\w*id|\w*uuid|instance|path|url|uri|href|link|method|timestamp|time|date|datetime|data|hora|host|server|version|versao|locale)$/
const plainKeys =
  /^(?:status\w*|type|tipo|title|titulo|service|servico|source|level|environment|ambiente|kind|name|nome|language|success|sucesso|result|ok|field|campo|property\w*|parameter|parametro|object\w*|\w*key|chave\w*)$/
/** A sign of an id, a place or a time in a word of a text. */
const sign = /[\d/@]|:./
const plainWords =
  /\b(?:err(?:o|or|ors|os)?|fail(?:ed|ure)?|falha|exception|null|none|undefined|api|post|get|gmt|utc)\b/gi

/**
 * Whether a text of a member without a known name is a reason in words: two words, or one that is no name, id, place or time.
 */
const isReason = ([name, value]: Member): boolean => {
  if (!(Predicate.isString(value) || value === true) || placeKeys.test(foldName(name))) return false
  const words = (value === true ? name : value)
    .split(/\s/)
    .filter((word) => !sign.test(word))
    .join(" ")
    .replaceAll(/[_-]|(?<=\p{Ll})(?=\p{Lu})/gu, " ")
    .replaceAll(plainWords, " ")
  const count = words.match(/\p{L}{2,}/gu)?.length ?? 0
  return count > 1 || (count === 1 && !plainKeys.test(foldName(name)))
}

/** Reads the message, the code if there is one, and all texts of the body of an error response. Never throws. */
export const readServiceMessage = (body: string, status: number): ServiceMessage => {
  const text = body.slice(0, maxRefusalLength).trim()
  const json = parse(text)
  const members = json?.members ?? []
  const all = json === undefined ? [{ text, isCode: false }] : saidIn(json.value, "message")
  const said = all.filter((one) => !isStatusPhrase(one.text, status))
  const code = codeOf(members)
  return {
    words: wordsOf(said, code) || wordsOf(all),
    reasons: members.filter(isReason).map(([name, value]) => (value === true ? name : String(value).trim())),
    code,
    said: json === undefined && text.startsWith("<") ? [] : said,
    isJson: json !== undefined
  }
}

const waitNames = /^retryafter(?:(?:in)?(?:seconds?|secs?|s|segundos?))?$/
const seconds = /^\s*(\d{1,7}(?:\.\d{1,6})?)\s*(?:(?:s|secs?|seconds?|seg|segundos?)\s*)?$/i

/** For how many seconds the body of a 429 asks to wait, under a name such as `retryAfterSeconds`; `undefined` where it names none. */
export const waitSeconds = (body: string): number | undefined =>
  (parse(body.trim())?.members ?? [])
    .filter(([name]) => waitNames.test(foldName(name)))
    .map(([, value]) => (Predicate.isNumber(value) ? value : Number(seconds.exec(String(value))?.[1] ?? Number.NaN)))
    .find((found) => Number.isFinite(found) && found >= 0)
