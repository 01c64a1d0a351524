/**
 * The latest entries, numbered from 1 in their order. Their number and their weight have bounds.
 */
export interface Recent<A> {
  /** Numbers an entry, stores it, and returns it. */
  readonly add: (make: (id: number) => A, weight?: number) => A
  readonly get: (id: number) => A | undefined
  readonly replace: (id: number, value: A) => void
  readonly all: () => ReadonlyArray<A>
}

const maxWeight = 64 * 1024 * 1024

export const makeRecent = <A>(limit: number): Recent<A> => {
  const entries = new Map<number, { value: A; readonly weight: number }>()
  let count = 0
  let total = 0
  return {
    add: (make, weight = 0) => {
      count += 1
      const value = make(count)
      entries.set(count, { value, weight })
      total += weight
      // A map keeps the order of insertion: its first is the oldest.
      for (const [id, oldest] of entries) {
        if (entries.size <= limit && total <= maxWeight) break
        entries.delete(id)
        total -= oldest.weight
      }
      return value
    },
    get: (id) => entries.get(id)?.value,
    replace: (id, value) => {
      const entry = entries.get(id)
      if (entry !== undefined) entry.value = value
    },
    all: () => Array.from(entries.values(), ({ value }) => value)
  }
}
