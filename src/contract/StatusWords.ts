/**
 * The schemas of the status words, each with its documented words.
 */
declare module "./StatusWords.ts" {}

import { openWord } from "../internal/wire.ts"

/** A status as the creation of a charge returns it. */
export const CreatedStatus = openWord(["WAITING_PAYMENT"])
export type CreatedStatus = typeof CreatedStatus.Type

/** A status as the list of transactions shows it. */
export const ListStatus = openWord(["PENDING"])
export type ListStatus = typeof ListStatus.Type

/** The five words that are documented for the lookup of a transaction. */
export const detailWords = ["Awaiting", "Paid", "Cancelled", "Failed", "Refunded"] as const
/** One of the five documented words. */
export type DetailWord = (typeof detailWords)[number]

/** A status as the lookup of a transaction shows it. */
export const DetailStatus = openWord(detailWords)
export type DetailStatus = typeof DetailStatus.Type

/** A status as the record of a withdrawal shows it: `Awaiting` is documented, the others were seen. */
export const WithdrawalStatus = openWord(["Awaiting", "Pending", "Processing", "Successful", "Failure"])
export type WithdrawalStatus = typeof WithdrawalStatus.Type

/** A status as the balance shows it: `Released` means available; `Pending` was seen. */
export const BalanceStatus = openWord(["Released", "Pending"])
export type BalanceStatus = typeof BalanceStatus.Type
