/**
 * The status words of the service. Each response that shows a status has a type of its own with its documented words
 * (`docs/service.md`). Every type is open: an unknown word is accepted unchanged.
 *
 * One table says what a word means, with a column for each record: a word of a charge says nothing of a withdrawal. It has the
 * documented words, those that were seen in the field, and yours: `statuses` of `GatewayFacts`. A word is compared whole, without
 * case, accents, `_`, `-` and spaces. No part of a word is read: `RefundFailed` and `PartiallyRefunded` are not `Refunded`.
 *
 * Gotcha: a word that is in no column is `unlisted`, and ends nothing: `effect-pix doctor` names it, and you list it.
 *
 * ```ts
 * import { Status } from "effect-pix"
 *
 * Status.meaningOf("WAITING_PAYMENT", "charge") // => "open"
 * Status.meaningOf("REFUNDED", "charge") // => "refunded"
 * Status.meaningOf("RefundFailed", "charge") // => "unlisted"
 * Status.meaningOf("Liquidada", "charge") // => "unlisted"
 * Status.meaningOf("Liquidada", "charge", { charge: { paid: ["liquidada"] } }) // => "paid"
 * Status.meaningOf("Successful", "payout") // => "paid"
 * ```
 */
declare module "./Status.ts" {}

import * as Struct from "effect/Struct"
import { fold } from "./StatusWords.ts"

export type { BalanceStatus, CreatedStatus, DetailStatus, ListStatus, WithdrawalStatus } from "./StatusWords.ts"

/**
 * What a status says of a charge. `open`: it may be paid. `paid`: it was paid. `refunded`: the money went back. `closed`: nobody paid
 * it, and nobody will. `unlisted`: no table has the word.
 */
export type OfCharge = "open" | "paid" | "refunded" | "closed" | "unlisted"

/**
 * What a status says of a withdrawal. `open`: nothing yet. `paid`: the money arrived. `failed`: it did not move. `returned`: it came
 * back. `unlisted`: no table has the word.
 */
export type OfPayout = "open" | "paid" | "failed" | "returned" | "unlisted"

type Columns<Meaning extends string> = { readonly [Listed in Meaning]?: ReadonlyArray<string> | undefined }

/** The words of your gateway, a column for each record: `statuses` of `GatewayFacts`. They come before those of the library. */
export interface Words {
  /** The words of a charge's lookup. */
  readonly charge?: Columns<Exclude<OfCharge, "unlisted">> | undefined
  /** The words of a withdrawal's record and lookup. */
  readonly payout?: Columns<Exclude<OfPayout, "unlisted">> | undefined
}

const makeMeaning = <Meaning extends string>(ours: Readonly<Record<Meaning, ReadonlyArray<string>>>) => {
  const meanings = Struct.keys(ours)
  const read = (columns: Columns<Meaning>): ReadonlyMap<string, Meaning> =>
    new Map(meanings.flatMap((meaning) => (columns[meaning] ?? []).map((word) => [fold(word), meaning] as const)))
  // Spelled as they are listed, they are found without being folded.
  const known = new Map([
    ...read(ours),
    ...meanings.flatMap((meaning) => ours[meaning].map((word) => [word, meaning] as const))
  ])
  return (status: string, given?: Columns<Meaning>): Meaning | "unlisted" => {
    const listed = given === undefined ? known.get(status) : undefined
    if (listed !== undefined) return listed
    const word = fold(status)
    return (given && read(given).get(word)) ?? known.get(word) ?? "unlisted"
  }
}

const ofCharge = makeMeaning({
  // Documented.
  open: ["Awaiting", "WAITING_PAYMENT", "PENDING"],
  paid: ["Paid"],
  refunded: ["Refunded"],
  // The last two are assumed.
  closed: ["Cancelled", "Failed", "Expired", "Expirado"]
})

const ofPayout = makeMeaning({
  // `Awaiting` is documented. The others were seen.
  open: ["Awaiting", "Pending", "Processing"],
  paid: ["Successful"],
  failed: ["Failure"],
  returned: ["Refunded"]
})

/**
 * What a status says of a charge (in its creation, its lookup or the list), or of a payout (in the record or the lookup of its
 * withdrawal), with `words` of yours beside those of the library.
 */
export function meaningOf(status: string, record: "charge", words?: Words): OfCharge
export function meaningOf(status: string, record: "payout", words?: Words): OfPayout
export function meaningOf(status: string, record: "charge" | "payout", words: Words = {}): OfCharge | OfPayout {
  return record === "payout" ? ofPayout(status, words.payout) : ofCharge(status, words.charge)
}
