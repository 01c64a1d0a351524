/**
 * Stores that only this process writes to, such as a SQLite file that it has locked. A reader that waits for a change
 * in such a store waits for the next write, and does not poll.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"

/** Those who follow the writes: the latch of each is open from a write on until it took notice. */
export type Writes = Set<Latch.Latch>

/** An effect that waits for the next write. A write after it ended ends its next run. If other processes may write too, it ends at once. */
export type NextWrite = Effect.Effect<void>

export const makeWrites: Effect.Effect<Writes> = Effect.sync(() => new Set())

/** Tells those who follow. */
export const written = (writes: Writes): Effect.Effect<void> => Effect.sync(() => writes.forEach(Latch.openUnsafe))

/** A store that only one client writes to. The layer of that client provides it. */
export class SoleWriter extends Context.Service<
  SoleWriter,
  {
    /** The client's own, which it shares with its copy without transforms of names. */
    readonly transactionService: SqlClient["transactionService"]
    readonly writes: Writes
    /** The user's code has one transaction at a time: a statement of others waits for at most one. */
    readonly inTurn: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  }
>()("effect-pix/soleWriter") {}

/** That of a client; `undefined` where other processes may write to its database. The one in context may be another client's. */
export const soleWriterOf = ({ transactionService }: SqlClient): Effect.Effect<SoleWriter["Service"] | undefined> =>
  Effect.map(Effect.serviceOption(SoleWriter), (found) =>
    Option.getOrUndefined(Option.filter(found, (sole) => sole.transactionService === transactionService))
  )

/** Whether a write is no news for those who follow the writes. A reference, since the user's client lies between. */
export const IsUnnoticed = Context.Reference<boolean>("effect-pix/IsUnnoticed", { defaultValue: () => false })

/** Wakes nobody by the writes of an effect, such as those of a lease: they change nothing that a reader waits for. */
export const unnoticed: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  IsUnnoticed,
  true
)

/** Follows the writes from now on. */
export const followWrites = (writes: Writes | undefined): Effect.Effect<NextWrite, never, Scope.Scope> =>
  writes === undefined
    ? Effect.succeed(Effect.void)
    : Effect.acquireRelease(
        Effect.sync(() => {
          const latch = Latch.makeUnsafe()
          writes.add(latch)
          return latch
        }),
        (latch) => Effect.sync(() => writes.delete(latch))
      ).pipe(Effect.map((latch) => Effect.andThen(latch.await, latch.close)))
