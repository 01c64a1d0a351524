/**
 * Hints that something may have happened to a transaction: whoever receives one publishes the transaction's id, and who
 * waits for that transaction looks it up at once instead of at the next poll. `Webhook` publishes, `awaitTransaction`
 * waits. A hint carries nothing but the id, so it cannot lie: the lookup says what is true.
 *
 * A `Context.Reference`: by default all of a process share one, and nothing has to be wired. Over several processes,
 * give an implementation of your own (over Redis' publish and subscribe, for instance): without one, the processes that
 * did not receive the webhook go on polling. `Webhook` takes those in force where its layer is built, a wait those in
 * force where it is run: provide yours to both.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** See the reference of the same name. */
export interface TransactionHints {
  /** Wakes all who wait for this transaction now. Nobody waiting: nothing happens. */
  readonly publish: (transactionId: string) => Effect.Effect<void>
  /**
   * Listens to the hints for a transaction, from now to the end of the scope: each of them opens the latch. Who listens
   * closes it again, before looking the transaction up.
   */
  readonly subscribe: (transactionId: string) => Effect.Effect<Latch.Latch, never, Scope.Scope>
}

const make = (): TransactionHints => {
  const waiting = new Map<string, Set<Latch.Latch>>()
  return {
    publish: (transactionId) =>
      Effect.sync(() => {
        for (const latch of waiting.get(transactionId.toLowerCase()) ?? []) latch.openUnsafe()
      }),
    subscribe: (transactionId) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => {
            const id = transactionId.toLowerCase()
            const latch = Latch.makeUnsafe()
            const latches = waiting.get(id) ?? new Set()
            waiting.set(id, latches.add(latch))
            return { id, latch, latches }
          }),
          ({ id, latch, latches }) =>
            Effect.sync(() => {
              latches.delete(latch)
              if (latches.size === 0) waiting.delete(id)
            })
        ),
        ({ latch }) => latch
      )
  }
}

const reference = Context.Reference<TransactionHints>("effect-pix/TransactionHints", { defaultValue: make })

/** The hints in force: one for the whole process, unless another is provided. */
export const TransactionHints = Object.assign(reference, {
  /** Hints of its own, apart from those of the process: for tests that must not wake each other. */
  layer: Layer.sync(reference, make) satisfies Layer.Layer<never>
})
