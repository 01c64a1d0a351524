/**
 * Answers whose HTTP status says success, but whose body says otherwise: it is not ok, there is an error, or what was
 * asked for failed. In doubt the body counts: a wrong `OutcomeUnknown` only costs a repetition.
 */
import * as Predicate from "effect/Predicate"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"

/** Word stems by which a gateway says that something ended without success, in English and in Portuguese. */
const stems = [
  "error|\\berros?\\b|\\berr\\b|fail|falh|fracass|insucess|unsuccess|mal ?suced|(?:no|sem|without) suc",
  "reject|rejei|refus|recus|denied|\\bdeny|negad|declin|indefer|reprov|disapprov|not approv|nao aprov",
  "cancel|abort|expir|vencid|timed? ?out|\\bvoid|(?<!un)block|(?<!des)bloque|descart|discard",
  "return|retornad|devol|revers|estorn|refund|reembols|charge ?back|roll(?:ed)? ?back",
  "suspen|desfeit|undone|interromp|interrupt|\\bterminated\\b|dropped|bounced?|stopped|remov|exclu[is]|delet|incorre",
  "\\bnul[oa]\\b|anulad|annul|frozen|congelad|impedid|impossi|unable|problem|exception|excecao|lapsed|unfulfil",
  "(?:not|nao) (?:efetuad|realizad|execut|complet|conclu|done)|(?:no|sem) (?:funds|balance|fundos|saldo)",
  "invalid|insuf|unauthori|not authori|nao autoriz|\\bko\\b|\\bnok\\b|\\bnot ok\\b"
].join("|")
/** But not where the word is denied: `NO_ERROR`. */
const failureWords = new RegExp(`(?<!\\b(?:no|non|not|nao|sem|without|zero) )(?:${stems})`)

/** Whether a status word means failure, whatever its case, accents and separators. */
export const meansFailure = (word: string): boolean =>
  failureWords.test(
    word
      .slice(0, 200)
      .normalize("NFD")
      .replaceAll(/\p{Mn}/gu, "")
      .replaceAll(/([a-z])(?=[A-Z])|[^\p{L}\p{N}]+/gu, "$1 ")
      .toLowerCase()
  )

/** Values by which nothing is said: `errorCode: "00"` is the code of a success. */
const nothing: ReadonlySet<string> = new Set([
  "",
  "false",
  "null",
  "none",
  "no",
  "nao",
  "n",
  "ok",
  "success",
  "sucesso"
])
const isNothing = (text: string) => nothing.has(plain(text)) || /^0+$/.test(text.trim())

const plain = (text: string) =>
  text
    .slice(0, 200)
    .normalize("NFD")
    .replaceAll(/\p{Mn}|[_\s-]/gu, "")
    .toLowerCase()

const isFalse = (value: unknown) =>
  value === false || value === 0 || (typeof value === "string" && /^(?:false|0|no|nao|n|f)$/.test(plain(value)))

/** Whether there is something in it: `errors: []` says that there are none. */
const isSaid = (value: unknown): boolean => {
  if (value === undefined || value === null || value === false || value === 0) return false
  if (typeof value === "string") return !isNothing(value)
  return typeof value !== "object" || Object.keys(value).length > 0
}

const isErrorStatus = (status: unknown): boolean =>
  isFalse(status) || (typeof status === "string" && meansFailure(status)) || Number(status) >= 400

/** A code may be any number: only those of HTTP mean something. */
const isErrorCode = (code: unknown): boolean =>
  (typeof code === "string" && meansFailure(code)) || (Number(code) >= 400 && Number(code) < 600)

// Names are compared in lower case, without separators.
const flags = /^(?:is|was|has)?(?:ok|success|sucesso|successful|succeeded|valid)$/
const errors =
  /^(?:has|is|was|tem)?(?:errors?|erros?|fail|falh|fault|exception|excec|reject|rejei|refusal|refused|recus|denied|negad)/
const statuses = /^(?:status|statuscode|httpstatus|result|resultado)$/
const codes = /^(?:code|codigo)$/
const wrappers = /^(?:data|res|response|result|retorno|body)$/

/** A name is the service's word: one that is no plain name is not shown. */
const failed = (name: string, inner?: RequestIssue): RequestIssue => {
  const shown = /^[a-z_-]{1,32}$/i.test(name) ? name : "error"
  return { path: inner === undefined ? shown : `${shown}.${inner.path}`, problem: "says that it failed" }
}

const folded = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, "")

type Says = (name: string, value: unknown) => boolean

const isDeniedFlag: Says = (name, value) => flags.test(name) && isFalse(value)
const isDenied: Says = (name, value) => isDeniedFlag(name, value) || (errors.test(name) && isSaid(value))
const isDeniedEnvelope: Says = (name, value) =>
  isDenied(name, value) || (statuses.test(name) && isErrorStatus(value)) || (codes.test(name) && isErrorCode(value))

/** The first member by which an object says so. */
const saying = (answer: unknown, says: Says): RequestIssue | undefined => {
  if (!Predicate.isObject(answer)) return undefined
  for (const [name, value] of Object.entries(answer)) if (says(folded(name), value)) return failed(name)
  return undefined
}

/** What an object says by a flag: of a read as of a write. */
export const deniedByFlag = (answer: unknown): RequestIssue | undefined => saying(answer, isDeniedFlag)

/** What an object says by a flag or an error. */
export const deniedByError = (answer: unknown): RequestIssue | undefined => saying(answer, isDenied)

/** What the envelope of a write says by a flag, an error or a status; and what it holds, by a flag or an error. */
export const deniedByEnvelope = (answer: unknown): RequestIssue | undefined => {
  const said = saying(answer, isDeniedEnvelope)
  if (said !== undefined || !Predicate.isObject(answer)) return said
  for (const [name, value] of Object.entries(answer)) {
    const inner = wrappers.test(folded(name)) ? deniedByError(value) : undefined
    if (inner !== undefined) return failed(name, inner)
  }
  return undefined
}
