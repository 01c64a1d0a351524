/**
 * Who lapses next: entries in the order of their time. Most come in order, so most are appended; what has lapsed is
 * left behind a mark, which moves on.
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
      let low = first
      let high = entries.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((entries[middle]?.at ?? 0) <= entry.at) low = middle + 1
        else high = middle
      }
      entries.splice(low, 0, entry)
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
