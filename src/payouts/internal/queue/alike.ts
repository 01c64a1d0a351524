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
import type { Seal } from "../../PayoutQueueOptions.ts"
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

export const makeFindAlike = (store: Store, seal: Seal) => {
  const openPair = ({ reference, request }: Row): Effect.Effect<string | undefined> =>
    request === null
      ? Effect.undefined
      : Effect.suspend(() => seal.open(request, reference)).pipe(
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
    since: number
  ): Effect.fn.Return<ReadonlyArray<Alike>, SqlError> {
    const places = new Map(judged.map(({ index, row }) => [row.idempotencyKey, index]))
    const found: Array<Alike> = []
    // In one order, so that two transactions do not wait for each other.
    for (const amount of [...new Set(judged.map(({ row }) => row.amount))].toSorted((a, b) => a - b)) {
      yield* store.lockAmount(amount)
      const rows = yield* store.ofAmount(amount, since)
      const pairs = rows.length < 2 ? [] : yield* Effect.forEach(rows, openPair)
      for (const one of judged.filter(({ row }) => row.amount === amount)) {
        const key = one.row.idempotencyKey
        const own = pairs[rows.findIndex((row) => row.idempotencyKey === key)]
        const other = rows.find(
          (row, at) =>
            row.idempotencyKey !== key &&
            (places.get(row.idempotencyKey) ?? -1) < one.index &&
            (pairs[at] === undefined || own === undefined || pairs[at] === own)
        )
        if (other !== undefined) found.push({ ...one, other: other.reference })
      }
    }
    return found.toSorted((a, b) => a.index - b.index)
  })
}
