/**
 * Stores that only this process writes to, such as a SQLite file that it has locked. Who looks there for changes waits for
 * the next write, and does not look again and again.
 */
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"

/** A message after each write. */
export type Writes = PubSub.PubSub<void>

/** An effect that ends when something was written since it last ended; at once where other processes may write too. */
export type NextWrite = Effect.Effect<void>

/** A message that nobody has read yet takes the place of those before it. */
export const makeWrites: Effect.Effect<Writes> = PubSub.sliding<void>(1)

/** By a part of the client that is the same with and without its transforms of names. */
const soleWrites = new WeakMap<SqlClient["transactionService"], Writes>()

/** States that only this client writes to its database. */
export const setSoleWriter = ({ transactionService }: SqlClient, writes: Writes): void => {
  soleWrites.set(transactionService, writes)
}

/** The writes of the client's database; `undefined` where other processes may write to it. */
export const soleWritesOf = ({ transactionService }: SqlClient): Writes | undefined =>
  soleWrites.get(transactionService)

/** Follows the writes from now on. */
export const followWrites = (writes: Writes | undefined): Effect.Effect<NextWrite, never, Scope.Scope> =>
  writes === undefined ? Effect.succeed(Effect.void) : Effect.map(PubSub.subscribe(writes), PubSub.take)
