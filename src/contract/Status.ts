/**
 * The status words of the service. Each response that shows a status has a type of its own with its documented words
 * (`docs/service.md`). Every type is open: an unknown word is accepted unchanged.
 *
 * One vocabulary says what a word means, whatever shows it: `meaningOf`. It knows the documented words, those that were seen in
 * the field, and families of words for failure and for money that came back, in any case, in English and Portuguese.
 *
 * Gotcha: money is never believed by the vocabulary. A charge is paid if its lookup says `Paid`, or a word that you list in
 * `PaymentsPolicy`: `statuses: { paid: ["Successful"] }`.
 *
 * Gotcha: `Final` means that there is nothing more to wait for. A final status may still change: the service documents no
 * transitions, and this library assumes that a `Paid` charge may later become `Refunded`.
 *
 * ```ts
 * import { Status } from "effect-pix"
 *
 * Status.meaningOf("Awaiting") // => "open"
 * Status.meaningOf("SUCCESSFUL") // => "paid"
 * Status.meaningOf("NAO_REALIZADO") // => "failed"
 * Status.meaningOf("UnderReview") // => "unlisted"
 * Status.progressOfDetail("Paid") // => "Final"
 * Status.progressOfDetail("Successful") // => "Unknown"
 * Status.progressOfDetail("Successful", { paid: ["Successful"] }) // => "Final"
 * ```
 */
declare module "./Status.ts" {}

import { withoutAccents } from "../internal/withoutAccents.ts"
import { type DetailStatus, isPaid, type PaidWords } from "./StatusWords.ts"

export type {
  BalanceStatus,
  CreatedStatus,
  DetailStatus,
  DetailWord,
  ListStatus,
  PaidWords,
  WithdrawalStatus
} from "./StatusWords.ts"

/**
 * What a status says of the money. `open`: nothing yet. `paid`: it arrived. `failed`: it did not move. `returned`: it came back.
 * `unlisted`: the word is not in the vocabulary, so it says nothing.
 */
export type Meaning = "open" | "paid" | "failed" | "returned" | "unlisted"

/** Whole statuses, in lower case and as separate words. They decide before the stems. */
const exactWords: Readonly<Record<Exclude<Meaning, "unlisted">, string>> = {
  open: "awaiting|awaiting payment|waiting|waiting payment|pending|processing|pendente|processando|em processamento|aguardando|aguardando pagamento",
  paid: "successful|success|succeeded|paid|confirmed|settled|completed|pago|paga|realizado|realizada|concluido|concluida|liquidado|liquidada|confirmado|confirmada|sucesso",
  failed: "failed|failure|cancelled",
  returned: "refunded"
}
const exact: ReadonlyMap<string, Meaning> = new Map(
  (["open", "paid", "failed", "returned"] as const).flatMap((meaning) =>
    exactWords[meaning].split("|").map((word) => [word, meaning] as const)
  )
)

const failedStem =
  /^(?:fail|error|erro|falh|recus|refus|rejei|reject|declin|denied|negad|indefer|cancel|anulad|void|abort|unsuccess|insucess|unpaid)/
const returnedStem = /^(?:refund|estorn|devol|return|revers)/
const negation = /^(?:no|non|not|nao|sem)$/
/** What may still be done has not been done. */
const possibility = /(?:able|avel|ivel)$/
/** Verbs between a negation and what it denies, as in "nao foi realizado". */
const auxiliary = /^(?:foi|was|been)$/

const meaningOfWords = (words: ReadonlyArray<string>): Meaning => {
  const whole = exact.get(words.join(" "))
  if (whole !== undefined) return whole
  const counted = words.filter((word) => !auxiliary.test(word))
  for (const [index, word] of counted.entries()) {
    const isDenied = negation.test(counted[index - 1] ?? "")
    if (possibility.test(word)) continue
    if (isDenied && exact.get(word) === "paid") return "failed"
    if (!isDenied && failedStem.test(word)) return "failed"
    if (!isDenied && returnedStem.test(word)) return "returned"
  }
  return "unlisted"
}

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[a-z\d]+/g) ?? []

/**
 * The meaning of a status, in any case, with or without accents. Whole words of the vocabulary decide first. Otherwise a stem
 * for failure or return decides, at the start of a word of `camelCase`, `SNAKE_CASE` or a sentence; after "no", "not", "não" or
 * "sem" it says nothing, and a word for paid is a failure there.
 */
export const meaningOf = (status: string): Meaning => {
  const plain = withoutAccents(status)
  const meaning = meaningOfWords(wordsOf(plain))
  return meaning === "unlisted"
    ? meaningOfWords(wordsOf(plain.replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2 ")))
    : meaning
}

/**
 * What a status means for a program that waits. `Open`: the status will change. `Final`: there is nothing more to wait for.
 * `Unknown`: nobody said what the word means.
 */
export type Progress = "Open" | "Final" | "Unknown"

/**
 * The progress of a transaction's `enStatusTransaction`. A word for paid that is neither documented nor listed by you is
 * `Unknown`.
 */
export const progressOfDetail = (status: DetailStatus, statuses?: PaidWords): Progress => {
  if (isPaid(status, statuses)) return "Final"
  const meaning = meaningOf(status)
  return meaning === "open" ? "Open" : meaning === "failed" || meaning === "returned" ? "Final" : "Unknown"
}
