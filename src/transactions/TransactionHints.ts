/**
 * Hints that something may have happened to a transaction. `Webhook` publishes the id of a transaction when a delivery
 * names it. `TransactionWait` then looks that transaction up at once, instead of at its next poll. A hint holds only the
 * id: the lookup shows the state.
 *
 * It is a `Context.Reference`: all code of a process shares one instance. With several processes, only the one that received the
 * webhook gets the hint, and the others poll.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** See the reference of the same name. */
export interface TransactionHints {
  /** Wakes every fiber that waits for this transaction now. */
  readonly publish: (transactionId: string) => Effect.Effect<void>
  /**
   * Listens to the hints for a transaction, from now to the end of the scope. Each hint opens the latch. The listener closes
   * the latch before it looks the transaction up.
   */
  readonly subscribe: (transactionId: string) => Effect.Effect<Latch.Latch, never, Scope.Scope>
}

const make = (): TransactionHints => {
  const listeners = new Set<{ readonly id: string; readonly latch: Latch.Latch }>()
  return {
    publish: (transactionId) =>
      Effect.sync(() => {
        const published = transactionId.toLowerCase()
        for (const { id, latch } of listeners) if (id === published) latch.openUnsafe()
      }),
    subscribe: Effect.fnUntraced(function* (transactionId) {
      const listener = { id: transactionId.toLowerCase(), latch: Latch.makeUnsafe() }
      yield* Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      )
      return listener.latch
    })
  }
}

const reference = Context.Reference<TransactionHints>("effect-pix/TransactionHints", { defaultValue: make })

/** The current hints: one instance for the whole process, unless another is provided. */
export const TransactionHints = Object.assign(reference, {
  /** A separate instance, for tests that must not wake each other. */
  layer: Layer.sync(reference, make) satisfies Layer.Layer<never>
})
