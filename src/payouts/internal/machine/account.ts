/**
 * An account as it is in the table, which all its workers share: the sender of its payouts, its pause, and the wait that
 * begins where the service refuses every request alike. Nothing here reads or writes.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Bool, Int, orNull, startingAt } from "./columns.ts"

/** One account. Times are in milliseconds since 1970. */
export const Account = Schema.Struct({
  account: Schema.String,
  /** Since when workers serve it, without a gap of `seenAt` longer than the horizon. Null: no worker ever did. */
  servedAt: orNull(Int),
  /** The fingerprint of the sender under which its payouts are sent. Null: no worker's sender is known yet. */
  fingerprint: orNull(Schema.String),
  /** The company that pays: that of the worker's client, or of the first recorded withdrawal. */
  companyId: orNull(Int),
  /** The horizon of the worker that began last, in milliseconds. */
  horizon: orNull(Int),
  paused: Bool.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  /** When the pause began, by the clock of the database. */
  pausedAt: orNull(Int),
  /** How many payouts in a row ended by an answer, refused or failed. */
  endsInRow: startingAt(0),
  /** The last `setPaused`, as JSON. */
  pause: orNull(Schema.String),
  /** Before this time no request leaves, by the clock of the database. Null: the next one may leave now. */
  nextAt: orNull(Int),
  /** When that time was set, by the same clock. One that was set later than now is void. */
  setAt: orNull(Int),
  /** Since when the service refuses the account, and why: one payout at a time is tried. Null: it takes its requests. */
  heldAt: orNull(Int),
  heldBecause: orNull(Schema.String),
  /** How many refusals of the account there were in a row. */
  refusals: startingAt(0),
  /** The keys of the payouts whose failures may be about them alone, since the service took one: three of them are about the account. */
  suspects: orNull(Schema.String),
  /** What the service answered since it took a payout that nobody knows, or that ended one by its record: three alike stop the account. */
  unknowns: orNull(Schema.String),
  /** The last amount that the balance or a limit did not cover. Null: it covered as much since. */
  shortOf: orNull(Int),
  /** From when the next withdrawal is looked up, by the clock of the database. */
  lookupAt: orNull(Int),
  /** When the service named a limit last, by the clock of the database. */
  limitedAt: orNull(Int),
  /** At most so many requests in so many milliseconds, as an operator set it. */
  paceMost: orNull(Int),
  pacePer: orNull(Int),
  /** The sum that may be sent in a day, and the largest amount of one payout, in centavos. */
  dailyCap: orNull(Int),
  maxAmount: orNull(Int),
  /** The minutes of a day of São Paulo between which what is not in doubt is sent. */
  windowFrom: orNull(Int),
  windowTo: orNull(Int),
  /** The database in which a worker was seen last: see `identity.ts`. */
  identity: orNull(Schema.String),
  /** When a worker was seen last, by the clock of the database: at least once a minute. */
  seenAt: orNull(Int),
  /** When a worker found last that the database is another one than before, by the clock of the database. */
  movedAt: orNull(Int),
  /** Whether a worker ever had `onState`: states are written for it from then on. */
  handsOut: Bool.pipe(Schema.withConstructorDefault(Effect.succeed(false)))
})
export interface Account extends Schema.Schema.Type<typeof Account> {}

/** An account as a worker or a client has read it. */
export interface ReadAccount extends Account {
  /** When it was read, by the clock of the database. */
  readonly readAt: number
  /** By how many milliseconds the clock of the database was ahead of the process's own then. */
  readonly ahead: number
  /** The run of the server, and the table, in which it was read. A SQLite file belongs to one process, and has none. */
  readonly session: string | null
}

/** A time of this process by the clock of the database. */
export const databaseTime = ({ ahead }: Pick<ReadAccount, "ahead">, now: number): number => now + ahead
