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

const isFalse = (value: unknown) => value === false || value === "false"

/** Whether there is something in it: `errors: []` says that there are none. */
const isSaid = (value: unknown): boolean => {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return false
  return typeof value !== "object" || Object.keys(value).length > 0
}

const isErrorStatus = (status: unknown): boolean =>
  isFalse(status) || (typeof status === "string" && meansFailure(status)) || Number(status) >= 400

const flags = ["ok", "success", "sucesso", "successful"] as const
const errors = ["error", "errors", "erro", "erros"] as const
const statuses = ["status", "statusCode"] as const

const failed = (path: string): RequestIssue => ({ path, problem: "says that it failed" })

/** What an object says by a flag: of a read as of a write. */
export const deniedByFlag = (answer: unknown): RequestIssue | undefined => {
  if (!Predicate.isObject(answer)) return undefined
  for (const name of flags) if (Predicate.hasProperty(answer, name) && isFalse(answer[name])) return failed(name)
  return undefined
}

/** What an object says by a flag or an error. */
export const deniedByError = (answer: unknown): RequestIssue | undefined => {
  if (!Predicate.isObject(answer)) return undefined
  for (const name of errors) if (Predicate.hasProperty(answer, name) && isSaid(answer[name])) return failed(name)
  return deniedByFlag(answer)
}

/** What the envelope of a write says by a flag, an error or a status. */
export const deniedByEnvelope = (answer: unknown): RequestIssue | undefined => {
  if (!Predicate.isObject(answer)) return undefined
  for (const name of statuses)
    if (Predicate.hasProperty(answer, name) && isErrorStatus(answer[name])) return failed(name)
  return deniedByError(answer)
}
