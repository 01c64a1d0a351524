/**
 * Which page to ask for next. Pages of one size never overlap, pages of two sizes do: the size is chosen so that the
 * page starts at the cursor or just before it and ends as far after it as can be.
 */

import { type Sizes, small } from "./pageSizes.ts"

export interface Ask {
  readonly page: number
  readonly pageSize: number
  /** `Adjoin` asks for the page after the cursor, with no overlap; `Confirm` then asks again for the one before. */
  readonly purpose: "Overlap" | "Adjoin" | "Confirm"
}

/** The page that holds `low` to `high` and the most rows after them, at least one. */
const covering = (low: number, high: number, from: number, to: number): Ask | undefined => {
  let best: Ask | undefined
  let gained = 0
  for (let pageSize = from; pageSize <= to; pageSize++) {
    const page = Math.floor(low / pageSize) + 1
    const gain = page * pageSize - 1 - high
    if (gain <= gained) continue
    gained = gain
    best = { page, pageSize, purpose: "Overlap" }
  }
  return best
}

/** Some rows more than wanted, so that small pages, too, can overlap. */
const usual = ({ most, wanted }: Sizes) => Math.min(most, wanted + Math.ceil(Math.sqrt(wanted)) + 3)

/** The page to ask for when the cursor is somewhere from `low` to `high`. `wide` takes the largest pages. */
const askAt = (sizes: Sizes, low: number, high: number, wide: boolean): Ask => {
  const { fixed, most } = sizes
  const from = fixed ? most : 1
  const best =
    (wide ? undefined : covering(low, high, from, Math.max(from, usual(sizes)))) ??
    covering(low, high, from, most) ??
    covering(low, low, from, most)
  return best ?? { page: (low + 1) / most + 1, pageSize: most, purpose: "Adjoin" }
}

/** Looking without a direction: around a place of a list so long, in strides that do not step over what is known. */
interface Search {
  readonly around: number
  readonly length: number
  readonly stride: number
}

/** The places in turn: nearest first, on either side; and when the list is through, in finer strides. */
const placeOf = ({ around, length, stride }: Search, turn: number): number => {
  let left = turn
  for (let width = stride; width > 1; width = Math.ceil(width / 2)) {
    for (let distance = 0; distance < length; distance += width) {
      for (const place of distance === 0 ? [around] : [around + distance, around - distance]) {
        if (place >= 0 && place < length && left-- === 0) return place
      }
    }
  }
  return around
}

/** What the answers since the last progress said about where the cursor is. */
export interface Hunt {
  /** Answers that brought nothing. */
  readonly misses: number
  /** It is here or later. */
  readonly low?: number | undefined
  /** It is here or earlier. */
  readonly high?: number | undefined
  /** It is here, if nothing moved. */
  readonly likely?: number | undefined
  /** By how many rows the list is shorter than at the last progress. */
  readonly shrunk: number
  /** Answers that did not even say in which direction it is. */
  readonly blind: number
  /** Where it is looked for in that case. */
  readonly search?: Search | undefined
  /** What the page after the cursor's held, in short, when the cursor was still at the end of its own. */
  readonly neighbour?: { readonly given: string; readonly times: number } | undefined
}

/** After so many, any pages find little in a list that moves: every other one is larger then. */
const manyMisses = 3

const sizesIn = (sizes: Sizes, misses: number): Sizes =>
  sizes.doubt === "None" || (misses % 2 === 1 && (sizes.proven < small || misses > manyMisses))
    ? sizes
    : { ...sizes, most: Math.min(sizes.most, sizes.proven) }

export const nextAsk = (known: Sizes, index: number, hunt: Hunt): Ask => {
  const sizes = sizesIn(known, hunt.misses)
  const { blind, high, likely, low, misses, search, shrunk } = hunt
  const wide = misses > 0
  const at = (place: number) => askAt(sizes, Math.max(0, place), Math.max(0, place), wide)
  if (search !== undefined) return at(placeOf(search, blind - 1))
  if (likely !== undefined) {
    return low !== undefined && likely - low < sizes.most - 1 ? askAt(sizes, low, likely, wide) : at(likely)
  }
  if (low !== undefined) {
    if (high === undefined) return at(low + sizes.most * 2 ** (misses - 1))
    return high - low < sizes.most - 1 ? askAt(sizes, low, high, wide) : at(Math.floor((low + high) / 2))
  }
  if (high !== undefined) {
    const reach = Math.max(0, high + 1 - Math.max(shrunk, 4 ** Math.min(misses, 20)))
    return high - reach < sizes.most - 1 ? askAt(sizes, reach, high, wide) : at(reach)
  }
  return index < 0 ? { page: 1, pageSize: sizes.wanted, purpose: "Overlap" } : at(index)
}

/**
 * Asks whether the cursor still stands before the page that adjoins it: for the cursor's row alone, since an answer of
 * those rows was not given before.
 */
export const confirming = ({ page, pageSize }: Ask, { fixed, proven }: Sizes): Ask =>
  fixed || proven < 2 || pageSize > proven
    ? { page: page - 1, pageSize, purpose: "Confirm" }
    : { page: (page - 1) * pageSize, pageSize: 1, purpose: "Confirm" }
