/**
 * Your code that is called with each state of a payout, and its dead letters.
 */
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type { PayoutStatus } from "./PayoutStatus.ts"

/** The entry of the history by which a payout came into its state. */
export interface StateEntry {
  /** Its number: unique in the database, and growing for one payout. Dedupe by it what your code does outside of the database. */
  readonly id: number
}

/**
 * Your code. `status` is the status of the payout after the entry; it may have changed since.
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Money } from "effect-pix"
 * import { NodeSqlite } from "effect-pix/node"
 * import { type OnState, PayoutQueue } from "effect-pix/payouts"
 * import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
 *
 * const told = new Map<number, string>()
 * // With an `SqlClient` it writes to your own table: see docs/payout-queue.md.
 * const onState: OnState = ({ reference, state }, { id }) =>
 *   Effect.sync(() => told.set(id, `${reference} is ${state}`))
 *
 * const program = Effect.gen(function* () {
 *   const queue = yield* PayoutQueue
 *   yield* queue.submit({ reference: "invoice-42", amount: Money.centavos(2500) })
 *   yield* Effect.repeat(Effect.sleep("50 millis"), { while: () => told.size === 0 })
 *   return yield* queue.deadLetters
 * })
 *
 * const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 50_000 }))
 * const layer = PayoutQueue.layer({ onState }).pipe(
 *   Layer.provide(NodeSqlite.layer({ filename: ":memory:" })),
 *   Layer.provide(gateway)
 * )
 * const letters = await Effect.runPromise(Effect.provide(program, layer)) // => []
 * const said = [...told.values()] // => ["invoice-42 is posted"]
 * ```
 */
export type OnState<R = never> = (status: PayoutStatus, entry: StateEntry) => Effect.Effect<unknown, unknown, R>

/** A state that your code refused for a day: a dead letter. It holds the later states of its payout. */
export interface PayoutLetter {
  /** For `retryLetter` and `discardLetter`: the number of the entry. */
  readonly id: number
  /** The key of the payout. */
  readonly idempotencyKey: string
  /** The status that your code was called with. Absent: another version wrote it, and it cannot be read. */
  readonly status?: PayoutStatus | undefined
  /** How often your code failed. */
  readonly failures: number
  /** How many later states of the payout wait for it. */
  readonly held: number
  /** When the payout came into the state. */
  readonly since: DateTime.Utc
  /** Since when your code is not called any more. */
  readonly at: DateTime.Utc
}
