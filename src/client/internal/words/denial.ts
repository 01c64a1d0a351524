/**
 * Finds answers whose HTTP status is a success, but whose body says that the operation failed. If the two contradict
 * each other, the body decides: a wrong `OutcomeUnknown` only costs a repetition.
 */
import * as Predicate from "effect/Predicate"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { withoutAccents } from "../../../internal/withoutAccents.ts"
import { foldName } from "./fold.ts"

/** Word stems that mean failure, in English and in Portuguese. */
const failure = new RegExp(
  "(?<!\\b(?:no|non|not|nao|sem|without|zero) )(?:" +
    [
      "error|\\berros?\\b|\\berr\\b|fail|falh|fracass|insucess|unsuccess|mal ?suced|(?:no|sem|without) suc",
      "reject|rejei|refus|recus|denied|\\bdeny|negad|declin|indefer|reprov|disapprov|not approv|nao aprov",
      "cancel|abort|expir|vencid|timed? ?out|\\bvoid|(?<!un)block|(?<!des)bloque|descart|discard",
      "return|retornad|devol|revers|estorn|refund|reembols|charge ?back|roll(?:ed)? ?back",
      "suspen|desfeit|undone|interromp|interrupt|\\bterminated\\b|dropped|bounced?|stopped|remov|exclu[is]|delet|incorre",
      "\\bnul[oa]\\b|anulad|annul|frozen|congelad|impedid|impossi|unable|problem|exception|excecao|lapsed|unfulfil",
      "(?:not|nao) (?:efetuad|realizad|execut|complet|conclu|done)|(?:no|sem) (?:funds|balance|fundos|saldo)",
      "invalid|insuf|unauthori|not authori|nao autoriz|\\bko\\b|\\bnok\\b|\\bnot ok\\b"
    ].join("|") +
    ")"
)

/** Folds a text: lower case, no accents, and a space in place of separators and between the words of a code. */
const fold = (text: string): string =>
  withoutAccents(text.slice(0, 200))
    .replaceAll(/([a-z])(?=[A-Z])|[^\p{L}\p{N}]+/gu, "$1 ")
    .toLowerCase()
    .trim()

/** Whether a status word means failure, whatever its case, accents and separators. */
export const meansFailure = (word: string): boolean => failure.test(fold(word))

/** A JSON value as folded words. */
const foldValue = (value: unknown) => fold(typeof value === "string" ? value : JSON.stringify(value))

const isFalse = (value: unknown) => /^(?:false|0|no|nao|n|f)$/.test(foldValue(value))

/** Whether a value is an error: `errors: []` has none, and `errorCode: "00"` is the code of a success. */
const isError = (value: unknown) => !/^(?:|0+|false|null|none|no|nao|n|ok|success|sucesso)$/.test(foldValue(value))

/** Whether a value is a word for failure or an HTTP error status. Any other number may be the code of a success. */
const isFailure = (value: unknown) =>
  (typeof value === "string" && meansFailure(value)) || (Number(value) >= 400 && Number(value) < 600)

/** Rules: a pattern for the folded names of members, and a test of the value that means failure. */
const flag = [/^(?:is|was|has)?(?:ok|success|sucesso|successful|succeeded|valid)$/, isFalse] as const
const error = [
  /^(?:has|is|was|tem)?(?:errors?|erros?|fail|falh|fault|exception|excec|reject|rejei|refusal|refused|recus|denied|negad)/,
  isError
] as const
const status = [/^(?:status|statuscode|httpstatus|result|resultado)$/, isFalse] as const
const code = [/^(?:status|statuscode|httpstatus|result|resultado|code|codigo)$/, isFailure] as const
const wrapper = /^(?:data|res|response|result|retorno|body)$/

/** Makes a function that finds the first member that means failure. Only a plain name is shown. */
const findDenial =
  (...rules: ReadonlyArray<readonly [names: RegExp, isDenial: (value: unknown) => boolean]>) =>
  (answer: unknown): RequestIssue | undefined => {
    const [name] =
      membersOf(answer).find(([name, value]) =>
        rules.some(([names, isDenial]) => names.test(foldName(name)) && isDenial(value))
      ) ?? []
    if (name === undefined) return undefined
    return { path: /^[a-z_-]{1,32}$/i.test(name) ? name : "error", problem: "says that it failed" }
  }

const membersOf = (answer: unknown) => (Predicate.isObject(answer) ? Object.entries(answer) : [])

/** Finds a flag that means failure, for reads and writes. */
export const deniedByFlag = findDenial(flag)

/** Finds a flag or an error that means failure. */
const deniedByError = findDenial(flag, error)

const deniedByMember = findDenial(flag, error, status, code)

/** Finds a flag, an error or a status that means failure in the envelope of a write, or a flag or an error in its content. */
export const deniedByEnvelope = (answer: unknown): RequestIssue | undefined => {
  const outer = deniedByMember(answer)
  if (outer !== undefined) return outer
  for (const [name, value] of membersOf(answer).filter(([name]) => wrapper.test(foldName(name)))) {
    const inner = deniedByError(value)
    if (inner !== undefined) return { ...inner, path: `${name}.${inner.path}` }
  }
  return undefined
}
