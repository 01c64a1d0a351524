/**
 * Answers whose HTTP status says success, but whose body says otherwise: it is not ok, there is an error, or what was
 * asked for failed. In doubt the body counts: a wrong `OutcomeUnknown` only costs a repetition.
 */
import * as Predicate from "effect/Predicate"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { withoutAccents } from "../../../internal/withoutAccents.ts"
import { foldName } from "./fold.ts"

/** Word stems by which a gateway says that something ended without success, in English and in Portuguese. */
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

/** In lower case, without accents and separators, and with the words of a code apart. */
const fold = (text: string): string =>
  withoutAccents(text.slice(0, 200))
    .replaceAll(/([a-z])(?=[A-Z])|[^\p{L}\p{N}]+/gu, "$1 ")
    .toLowerCase()
    .trim()

/** Whether a status word means failure, whatever its case, accents and separators. */
export const meansFailure = (word: string): boolean => failure.test(fold(word))

/** A value of JSON as words; none for what is empty. */
const foldValue = (value: unknown) => fold(typeof value === "string" ? value : JSON.stringify(value))

const isFalse = (value: unknown) => /^(?:false|0|no|nao|n|f)$/.test(foldValue(value))

/** `errors: []` says that there are none, and `errorCode: "00"` is the code of a success. */
const isError = (value: unknown) => !/^(?:|0+|false|null|none|no|nao|n|ok|success|sucesso)$/.test(foldValue(value))

/** A word for failure, or a status of HTTP that is one: any other number may be the code of a success. */
const isFailure = (value: unknown) =>
  (typeof value === "string" && meansFailure(value)) || (Number(value) >= 400 && Number(value) < 600)

/** Members by their folded names, and when each says that the answer is no success. */
const flag = [/^(?:is|was|has)?(?:ok|success|sucesso|successful|succeeded|valid)$/, isFalse] as const
const error = [
  /^(?:has|is|was|tem)?(?:errors?|erros?|fail|falh|fault|exception|excec|reject|rejei|refusal|refused|recus|denied|negad)/,
  isError
] as const
const status = [/^(?:status|statuscode|httpstatus|result|resultado)$/, isFalse] as const
const code = [/^(?:status|statuscode|httpstatus|result|resultado|code|codigo)$/, isFailure] as const
const wrapper = /^(?:data|res|response|result|retorno|body)$/

/** The first member by which an object says so. A name that is no plain name is not shown. */
const denied =
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

/** What an object says by a flag: of a read as of a write. */
export const deniedByFlag = denied(flag)

/** What an object says by a flag or an error. */
export const deniedByError = denied(flag, error)

const deniedByMember = denied(flag, error, status, code)

/** What the envelope of a write says by a flag, an error or a status; and what it holds, by a flag or an error. */
export const deniedByEnvelope = (answer: unknown): RequestIssue | undefined => {
  const outer = deniedByMember(answer)
  if (outer !== undefined) return outer
  for (const [name, value] of membersOf(answer).filter(([name]) => wrapper.test(foldName(name)))) {
    const inner = deniedByError(value)
    if (inner !== undefined) return { ...inner, path: `${name}.${inner.path}` }
  }
  return undefined
}
