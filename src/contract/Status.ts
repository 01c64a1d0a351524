/**
 * The status words of the service. Each response that shows a status has a vocabulary of its own (`docs/service.md`).
 *
 * Details: the service does not document how its vocabularies map to each other, so nothing here translates between them.
 * Each has a type and its known words; for the detail and the withdrawal, functions say whether a word is final. Every
 * vocabulary is open: an unknown word is accepted unchanged.
 *
 * Gotcha: `Final` means that there is nothing more to wait for. A final status may still change: the service documents no
 * transitions, and this library assumes that a `Paid` charge may later become `Refunded`.
 *
 * ```ts
 * import { Status } from "effect-pix"
 *
 * Status.progressOfDetail("Paid") // => "Final"
 * Status.progressOfDetail("Awaiting") // => "Open"
 * Status.progressOfDetail("PAID") // => "Unknown"
 * Status.progressOfWithdrawal("Awaiting") // => "Open"
 * Status.progressOfWithdrawal("Paid") // => "Unknown"
 * ```
 */
declare module "./Status.ts" {}

import { openWord } from "../internal/wire.ts"

/** A status as the creation of a charge returns it. */
export const CreatedStatus = openWord(["WAITING_PAYMENT"])
export type CreatedStatus = typeof CreatedStatus.Type

/** A status as the list of transactions shows it. */
export const ListStatus = openWord(["PENDING"])
export type ListStatus = typeof ListStatus.Type

const openDetail = ["Awaiting"] as const
const finalDetail = ["Paid", "Cancelled", "Failed", "Refunded"] as const

/** The five words that are documented for the lookup of a transaction. */
export const detailWords = [...openDetail, ...finalDetail] as const
/** One of the five documented words. */
export type DetailWord = (typeof detailWords)[number]

/** A status as the lookup of a transaction shows it. */
export const DetailStatus = openWord(detailWords)
export type DetailStatus = typeof DetailStatus.Type

/** A status as the record of a withdrawal shows it. */
export const WithdrawalStatus = openWord(["Awaiting"])
export type WithdrawalStatus = typeof WithdrawalStatus.Type

/** A status as the balance shows it: `Released` means available. */
export const BalanceStatus = openWord(["Released"])
export type BalanceStatus = typeof BalanceStatus.Type

/**
 * What a status means for a program that waits. `Open`: the status will change. `Final`: there is nothing more to wait for.
 * `Unknown`: the word is not documented for this response.
 */
export type Progress = "Open" | "Final" | "Unknown"

const isOneOf = (words: ReadonlyArray<string>, status: string): boolean => words.includes(status)

/**
 * The progress of a transaction's `enStatusTransaction`. Words are compared exactly: a word of another vocabulary is
 * `Unknown`.
 */
export const progressOfDetail = (status: DetailStatus): Progress =>
  isOneOf(finalDetail, status) ? "Final" : isOneOf(openDetail, status) ? "Open" : "Unknown"

/**
 * The progress of a withdrawal's `enTransaction`. `Awaiting` is the only documented word, so no word is known to be final.
 */
export const progressOfWithdrawal = (status: WithdrawalStatus): Exclude<Progress, "Final"> =>
  status === "Awaiting" ? "Open" : "Unknown"

/** Whether a status is one of the five words documented for the detail. */
export const isDetailWord = (status: string): status is DetailWord => isOneOf(detailWords, status)
