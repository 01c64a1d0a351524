/**
 * The schemas of the status words, each with its documented words; how words are compared, and which may be shown.
 */
declare module "./StatusWords.ts" {}

import { withoutAccents } from "../internal/withoutAccents.ts"
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

/** Plain words of failure. They end nothing, and an answer to a creation that has one is no success. */
const failures: ReadonlySet<string> = new Set(
  "fail failed failure error rejected refused declined denied cancelled canceled voided aborted expired unsuccessful unpaid notpaid reversed refunded returned falha falhou erro recusado recusada rejeitado rejeitada negado negada cancelado cancelada anulado anulada abortado expirado expirada estornado estornada devolvido devolvida indeferido insucesso naorealizado naopago".split(
    " "
  )
)

/**
 * A status as it is compared: without its case, accents, `_`, `-` and spaces. A character that nobody sees is none of these, so a text
 * with one is another word.
 */
export const fold = (status: string): string =>
  withoutAccents(status.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "\uFFFD"), "NFD")
    .toLowerCase()
    .replaceAll(/[\s_-]/g, "")

/**
 * A status that may be shown, stored and counted: one word, of at most 40 letters, `_` and `-`. Any other text may be a person's
 * name, or a number.
 */
export const plainWord = (status: string): string | undefined =>
  /^[\p{L}_-]{1,40}$/u.test(status) ? status : undefined

/** Whether a word plainly says failure, in English or Portuguese. */
export const isFailure = (status: string): boolean => failures.has(fold(status))
