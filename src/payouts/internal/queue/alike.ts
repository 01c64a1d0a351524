/**
 * Payouts that look like another one: another reference with the same PIX key and the same amount, in a short time. A sheet that
 * was written twice looks so.
 *
 * Nothing is stored for it, since a hash of a PIX key reveals the key: the stored requests of the same amount are opened, and
 * their keys compared as they are sent. A payout whose key was deleted, or cannot be opened, may be the same.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import type { Seal } from "../../Seal.ts"
import { readRequest } from "./request.ts"
import type { Row } from "./row.ts"
import type { Store } from "./store.ts"

/** A row that is judged. */
export interface Judged {
  /** Its place in the sheet. */
  readonly index: number
  readonly row: Row
}

/** A payout, and the reference of the other one. */
export interface Alike extends Judged {
  readonly other: string
}

/** The key and its kind as they are sent. The company's own key is one key. */
const pairOf = (text: string): string | undefined =>
  Option.getOrUndefined(
    Option.map(readRequest(text), ({ pixKey = null, pixKeyType = null }) => JSON.stringify([pixKey, pixKeyType]))
  )

/** The first payout that a judged one looks like. */
const otherOf = (
  { index, row }: Judged,
  rows: ReadonlyArray<Row>,
  pairs: ReadonlyMap<string, string | undefined>,
  places: ReadonlyMap<string, number>
) => {
  const own = pairs.get(row.idempotencyKey)
  return rows.find(({ idempotencyKey }) => {
    const pair = pairs.get(idempotencyKey)
    return (
      idempotencyKey !== row.idempotencyKey &&
      (places.get(idempotencyKey) ?? -1) < index &&
      (pair === undefined || own === undefined || pair === own)
    )
  })
}

export const makeFindAlike = (store: Store, seal: Seal) => {
  const openPair = ({ account, reference, request }: Row): Effect.Effect<string | undefined> =>
    request === null
      ? Effect.undefined
      : Effect.suspend(() => seal.open(request, { account, reference, column: "request" })).pipe(
          Effect.map(pairOf),
          Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.undefined }),
          Effect.catchDefect(() => Effect.undefined)
        )

  /**
   * Compares rows of this transaction with those that were submitted since a time, and with those before them in the sheet. No
   * other transaction compares payouts of the same amount until this one ends.
   */
  return Effect.fnUntraced(function* (
    judged: ReadonlyArray<Judged>,
    since: number,
    isAllowed: (reference: string) => boolean
  ): Effect.fn.Return<ReadonlyArray<Alike>, SqlError> {
    const places = new Map(judged.map(({ index, row }) => [row.idempotencyKey, index]))
    const found: Array<Alike> = []
    // In one order, so that two transactions do not wait for each other.
    for (const amount of [...new Set(judged.map(({ row }) => row.amount))].toSorted((a, b) => a - b)) {
      yield* store.lockAmount(amount)
      const own = judged.filter(({ row }) => row.amount === amount)
      const compared = own.filter(({ row }) => !isAllowed(row.reference))
      if (compared.length === 0) continue
      const stored = yield* store.ofAmount(amount, Math.max(0, since))
      // One that is resumed may be older.
      const byKey = new Map([...stored, ...own.map(({ row }) => row)].map((row) => [row.idempotencyKey, row]))
      const rows = [...byKey.values()]
      if (rows.length < 2) continue
      const pairs = new Map(
        yield* Effect.forEach(rows, (row) => Effect.map(openPair(row), (pair) => [row.idempotencyKey, pair] as const))
      )
      for (const one of compared) {
        const other = otherOf(one, rows, pairs, places)
        if (other !== undefined) found.push({ ...one, other: other.reference })
      }
    }
    return found.toSorted((a, b) => a.index - b.index)
  })
}
