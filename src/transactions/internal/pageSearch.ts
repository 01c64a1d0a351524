/**
 * Which page to request next. The pages of one size lie one after another, and those of different sizes overlap, so there is
 * nearly always a size of which one page shows the last row that was read and the rows after it.
 */

/** A page of the list, as it is requested. */
export interface PageNumber {
  readonly page: number
  readonly size: number
}

interface Wanted {
  /** The position of the first row that has to be in the page. */
  readonly from: number
  /** The position of the first new row. */
  readonly at: number
  /** How many new rows are wanted. */
  readonly rows: number
}

/** The smallest page with all new rows that are wanted, or else the one with the most of them. */
export const findPage = (sizes: ReadonlyArray<number>, { at, from, rows }: Wanted): PageNumber | undefined => {
  let best: PageNumber | undefined
  let most = 0
  for (const size of sizes) {
    const page = Math.floor(Math.max(0, from) / size) + 1
    const shown = Math.min(page * size - at, rows)
    if (shown > most) {
      best = { page, size }
      most = shown
    }
  }
  return best
}

/** The first row that was not read, by its position in the list. Where rows have moved it is searched. */
export class PageSearch {
  /** The position to look at next. */
  at: number
  /** A position before which all rows were read, and one after which none was. */
  #low: number | undefined
  #high: number | undefined
  #step = 1

  constructor(at: number) {
    this.at = at
  }

  /** Whether a row that was read is after one that was not: the rows move, or the service counts positions in another way. */
  get isContradictory(): boolean {
    return this.#low !== undefined && this.#high !== undefined && this.#low >= this.#high
  }

  get isBounded(): boolean {
    return this.#high !== undefined
  }

  moveTo(at: number): void {
    this.at = at
    this.#low = this.#high = undefined
    this.#step = 1
  }

  /** Looks before this position, since only later rows were found there. */
  before(high: number, size: number): void {
    const wasContradictory = this.isContradictory
    this.#high = high
    if (wasContradictory && this.isContradictory) this.#low = undefined
    this.#seek(size)
  }

  /** Looks after this position, since only rows that were read were found before it, and before `high` if that is known. */
  after(low: number, size: number, high = this.#high): void {
    const wasContradictory = this.isContradictory
    this.#low = low
    this.#high = wasContradictory && high !== undefined && low >= high ? undefined : high
    this.#seek(size)
  }

  /** In growing steps while one side is unknown, then in the middle. */
  #seek(size: number): void {
    const [low, high] = [this.#low, this.#high]
    if (low === undefined) this.at = Math.max(0, (high ?? 0) - size * this.#step)
    else if (high === undefined) this.at = low + size * (this.#step - 1)
    else this.at = low < high ? Math.floor((low + high) / 2) : low
    this.#step = low === undefined || high === undefined ? this.#step * 2 : 1
  }
}
