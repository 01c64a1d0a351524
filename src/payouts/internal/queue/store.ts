/**
 * What is read and written of the rows.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { ForeignTransaction } from "../../../durable/Database.ts"
import type { Due } from "../../../durable/Due.ts"
import type { NextWrite } from "../../../internal/soleWriter.ts"
import type { PayoutState } from "../../PayoutStatus.ts"
import type { AccountStore } from "./accountStore.ts"
import type { Count, Row } from "./row.ts"

/** An operation on the database. */
export type Stored<A> = Effect.Effect<A, SqlError>

/** A place in a list that is ordered by a time and then by the key. */
export interface Place {
  readonly at: number
  readonly key: string
}

/** The key of an account's own changes in the history. No payout has it, since the keys of payouts have a hash. */
export const accountKey = "account"

export interface Store {
  /** The row of the account, and its sums of days. */
  readonly accounts: AccountStore
  /** Fails where the caller is in a transaction of another database client. */
  readonly requireOwnTransaction: (operation: string) => Effect.Effect<void, ForeignTransaction>
  /** Whether the caller is in a transaction of this client. */
  readonly isInTransaction: Effect.Effect<boolean>
  /** Joins the caller's transaction, or makes one. */
  readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
  /** A transaction of a worker. PostgreSQL ends it 2 seconds after its last statement, in case its process is suspended. */
  readonly shortTransaction: Store["transaction"]
  /** Follows the writes from now on. */
  readonly followWrites: Effect.Effect<NextWrite, never, Scope.Scope>
  /** Runs an effect when the caller's transaction is committed; at once where there is none. */
  readonly afterCommit: (effect: Effect.Effect<void>) => Effect.Effect<void>
  /** Whether it was inserted: there may be a row with this key. */
  readonly insert: (row: Row) => Stored<boolean>
  readonly get: (key: string) => Stored<Row | undefined>
  /**
   * Whether the row was changed, with its entry of the history: another process may have changed it first. `only` is one
   * more condition. With `dueIn`, in milliseconds, nobody has taken it then, and it is due after that time.
   */
  readonly update: (
    from: Row,
    to: Row,
    entry: string | undefined,
    options: { readonly only?: Fragment | undefined; readonly dueIn?: number | undefined }
  ) => Stored<boolean>
  /** The entries of a key, the oldest first. */
  readonly history: (key: string) => Stored<ReadonlyArray<string>>
  /** The oldest first. */
  readonly list: (state: PayoutState | undefined, after: Place, limit: number) => Stored<ReadonlyArray<Row>>
  /** The given keys whose rows are open. */
  readonly open: (keys: ReadonlyArray<string>) => Stored<ReadonlyArray<string>>
  /** The rows of these keys. */
  readonly find: (keys: ReadonlyArray<string>) => Stored<ReadonlyArray<Row>>
  /** The rows of an amount that were submitted since a time, and that were or may be paid. */
  readonly ofAmount: (amount: number, since: number) => Stored<ReadonlyArray<Row>>
  /** No other transaction judges the payouts of this amount until the caller's transaction ends. */
  readonly lockAmount: (amount: number) => Stored<void>
  /** Begins or renews the lease of a run on its open rows, in milliseconds. A row that somebody changes now is left out. */
  readonly renewRun: (run: string, lease: number) => Stored<void>
  /** Ends the lease of a run: no request of its rows is marked from now on, but for those in doubt. */
  readonly endRun: (run: string) => Stored<void>
  /** Whether a request of a payout may be sent, as SQL for the statement that marks it: its account allows it, and its run. */
  readonly maySend: (key: string, fingerprint: string | undefined) => Effect.Effect<Fragment>
  /** Whether the run of a payout is over, as SQL for the statement that changes it. */
  readonly isRunOver: Effect.Effect<Fragment>
  /** The open rows, which wait for a worker. */
  readonly due: Due
  /** A row that was taken. One that cannot be read is a defect. */
  readonly readTaken: (row: unknown) => Effect.Effect<Row>
  /** How many payouts are accepted, unknown and parked, by what they wait for or why they are parked. */
  readonly counts: Stored<ReadonlyArray<Count>>
  /** Deletes the requests of payouts that ended before a time. */
  readonly forget: (before: number) => Stored<void>
  /** Replaces the sender of the account, with its entry of the history; false where it is so already. */
  readonly changeSender: (fingerprint: string, entry: string) => Stored<boolean>
}
