/**
 * What is known of the sizes of the service's pages: how many rows it gives, whatever it is asked for and whatever it
 * says.
 */
import type { TransactionListItem, TransactionPage } from "../../contract/Transaction.ts"

/** The most rows that a page may have (service interface, section 4.2). */
export const largestPage = 100

/** Pages so small find little in a list that moves. */
export const small = 10

interface Asked {
  readonly page: number
  readonly pageSize: number
}

export interface Sizes {
  /** What a page should bring. */
  readonly wanted: number
  /** The most to ask for. */
  readonly most: number
  /** What `most` may grow to: less than the contract's where the service gives less. */
  readonly limit: number
  /** The most different rows that one answer had: pages up to this size are not cut short by the service. */
  readonly proven: number
  /** A larger page came short: that is the end of the list, or a cap without a word. A page of a proven size will tell. */
  readonly doubt: "None" | "End" | "Cap"
  /** How often that was so. */
  readonly doubts: number
  /** The service answers with `most` rows whatever it is asked for. */
  readonly fixed: boolean
}

/** Of a service that nothing is known of yet. */
export const unproven = (wanted: number): Sizes => ({
  wanted,
  most: largestPage,
  limit: largestPage,
  proven: 0,
  doubt: "None",
  doubts: 0,
  fixed: false
})

export const distinct = (items: ReadonlyArray<TransactionListItem>) => new Set(items.map(({ id }) => id)).size

/** What an answer says of the service's own page sizes, and the size that this page has. */
export const learn = (sizes: Sizes, ask: Asked, { items, pageSize, totalItems }: TransactionPage, isKnown: boolean) => {
  // A row that stands twice makes no page larger.
  const length = distinct(items)
  // What was given to another request before says nothing of this one's size.
  const said = pageSize > 0 && !isKnown ? pageSize : ask.pageSize
  const size = isKnown && !sizes.fixed ? said : Math.max(length, said)
  const proven = Math.max(sizes.proven, length)
  if (sizes.fixed || size > ask.pageSize) {
    return { size, sizes: { ...sizes, proven, most: size, fixed: true, doubt: "None" } satisfies Sizes }
  }
  const limit = size < ask.pageSize ? Math.min(sizes.limit, size) : sizes.limit
  const isFilled = length >= ask.pageSize && ask.pageSize >= sizes.most
  const most = Math.min(limit, isFilled ? sizes.most * 2 : sizes.most)
  const isDoubtful = length > 0 && length < size && size > proven
  const doubt = isDoubtful ? (totalItems === (ask.page - 1) * size + length ? "End" : "Cap") : sizes.doubt
  const doubts = sizes.doubts + (isDoubtful ? 1 : 0)
  return { size, sizes: { ...sizes, proven, limit, most, doubt, doubts } satisfies Sizes }
}

/** A page of a proven size had rows that a larger one did not: that one was capped, or rows have arrived since. */
export const settled = (sizes: Sizes, { pageSize }: Asked): Sizes => {
  if (sizes.doubt === "None" || pageSize > sizes.proven) return sizes
  const isCap = sizes.doubt === "Cap" || sizes.doubts > (sizes.proven < small ? 20 : 2)
  return { ...sizes, doubt: "None", most: sizes.proven, limit: isCap ? sizes.proven : sizes.limit }
}
