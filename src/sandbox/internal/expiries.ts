/**
 * The charges that lapse next, in the order of their time. Most are added in that order, so most are appended; those that
 * have lapsed are skipped by an index, and dropped in bulk.
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
    /** Takes the next one that is due. */
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
