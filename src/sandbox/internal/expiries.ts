/**
 * The charges that will lapse, ordered by time. Most are added in this order, so most are appended. An index skips the
 * charges that have lapsed, and they are dropped in bulk.
 */
export interface Expiry {
  readonly at: number
  readonly rowId: number
}

export const makeExpiries = () => {
  let entries: Array<Expiry> = []
  let first = 0
  return {
    add: (entry: Expiry): void => {
      const last = entries.findLastIndex(({ at }) => at <= entry.at)
      entries.splice(Math.max(first, last + 1), 0, entry)
    },
    /** Removes and returns the next charge that is due. */
    take: (now: number): Expiry | undefined => {
      const next = entries[first]
      if (next === undefined || next.at > now) return undefined
      first += 1
      if (first > 1000 && first * 2 > entries.length) {
        entries = entries.slice(first)
        first = 0
      }
      return next
    }
  }
}
