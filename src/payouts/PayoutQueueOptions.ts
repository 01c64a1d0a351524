/**
 * The settings of the queue of payouts, with their defaults, which are checked when its layer is built: the layer fails and names each
 * wrong setting.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import { checkOptionsBy, checkSettingsBy, period, whole, withDefault } from "../contract/Options.ts"
import type { OnState } from "./OnState.ts"
import type { Seal } from "./Seal.ts"

/** The account of a queue without the option `account`. */
export const defaultAccount = "default"

/** The name of an account: it has no slash, so that no key is that of two accounts. */
export const isAccountName = (name: unknown): name is string =>
  Predicate.isString(name) && /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/.test(name)

/** What is wrong with another name. */
export const badAccountName =
  "must be 1 to 32 letters, digits, dots, hyphens or underscores, and begin with a letter or a digit"

/** The minute of a day of a text as `08:00`; `undefined` where it is none. */
export const minuteOfText = (text: unknown): number | undefined => {
  const found = Predicate.isString(text) ? /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) : null
  return found === null ? undefined : Number(found[1]) * 60 + Number(found[2])
}

/** A minute of a day as `08:00`. */
export const textOfMinute = (minute: number): string =>
  `${Math.floor(minute / 60)}`.padStart(2, "0") + ":" + `${minute % 60}`.padStart(2, "0")

/** The settings that all processes of one queue share. */
export interface PayoutClientOptions {
  /**
   * Whose payouts: rows, caps, pauses, gauges and the history are of one account. It is the name that you give to one
   * client id and company at the gateway: a worker whose credentials are of another one does not start, and sends nothing.
   * Letters, digits, dots, hyphens and underscores, at most 32. Default `default`.
   */
  readonly account?: string | undefined
  /**
   * How the stored request is sealed: `Seal.aesGcm(key)`, or functions of your own. Default: it is stored as it is, and a
   * warning says so at the start.
   */
  readonly seal?: Seal | Effect.Effect<Seal, ConfigurationError> | undefined
  /** How often the database is read for changes of other processes. Default 1 second. */
  readonly poll?: Duration.Input | undefined
  /**
   * How long after its first request a payout may be sent again. It has to be shorter than the time for which the service
   * remembers keys, which it does not document. It is also how long a payout that was not sent is wanted, since its submit or the
   * last step of a person, before it is parked. Default 12 hours. A client takes the workers' horizon once they began.
   */
  readonly horizon?: Duration.Input | undefined
}

/** For how long posted payouts are looked up. */
export interface PayoutConfirmOptions {
  /**
   * How long after its last request a payout is looked up. What is not known then is told by an error line, a gauge and `unconfirmed`
   * of its status, and a person settles it. Default 7 days.
   */
  readonly until?: Duration.Input | undefined
}

/** How the payouts are sent. Workers that share an account need the same limits. */
export interface PayoutQueueOptions<R = never> extends PayoutClientOptions {
  /**
   * Called with each state that a payout comes into after its submit, from the first start of a worker with it on; with a doubt and a
   * contradiction (`contradicted`) also where the state stays. Once each, in order for a payout, in a transaction of the queue's `SqlClient`, so that what it writes commits with it or not at all; whoever
   * changed the payout. It may need services, which the layer then needs, and take 30 seconds, on SQLite 5. Where it fails, it is
   * called again after 1, 2, 4, ... 300 seconds, for a day; then the state is one of `deadLetters`, and holds the later ones of its
   * payout. No send waits for it, but on SQLite, which has one transaction at a time. Default: nothing is called.
   */
  readonly onState?: OnState<R> | undefined
  /** How many requests of this process may be under way. With a `pace` as many are as it starts. Default 20. */
  readonly concurrency?: number | undefined
  /**
   * After how long the payouts of a process that is dead or stopped are taken over by another process. Default 30 seconds.
   */
  readonly lease?: Duration.Input | undefined
  /** How long a stop of the process waits for requests that are under way, before it interrupts them. Default 4 seconds. */
  readonly drain?: Duration.Input | undefined
  /** The largest amount of one payout, in centavos; a payout above it is parked. It is stored as `pace` is. Default: no limit. */
  readonly maxAmount?: number | undefined
  /**
   * The sum that all processes together may send in a day of São Paulo for the account, in centavos. Unknown payouts count. The
   * rest waits for the next day. It is stored as `pace` is. Default: no limit.
   */
  readonly dailyCap?: number | undefined
  /** Looks posted payouts up: see `PayoutConfirmingOptions`. Default: it does not. */
  readonly confirm?: false | undefined
  /**
   * How often your gateway takes a payout: at most `most` requests in `per`, one after the other, of all processes together. It is
   * stored for an account that has none; then `setLimits` changes it, and not the option. Default: none.
   */
  readonly pace?: { readonly most: number; readonly per: Duration.Input } | undefined
  /**
   * The times of a day of São Paulo between which payouts are sent, as `{ from: "08:00", to: "20:00" }`; what is in doubt is asked outside
   * of it too. It is stored as `pace` is. Default: the whole day.
   */
  readonly window?: { readonly from: string; readonly to: string } | undefined
  /** When the data of payouts that are posted, paid, failed, returned, refused or cancelled is deleted, counted from the last change. */
  readonly forget?:
    | {
        /**
         * How long the request is stored: its PIX key, description and metadata. A refused payout cannot be sent after it.
         * The rest of the row stays, and its history. Default 90 days.
         */
        readonly data?: Duration.Input | undefined
      }
    | undefined
}

/** How the payouts are sent, and looked up afterwards. */
export interface PayoutConfirmingOptions<R = never> extends Omit<PayoutQueueOptions<R>, "confirm"> {
  /**
   * Looks posted payouts up, by the lookup of a withdrawal that was seen and is not documented: `true`, or for how long. Then a
   * payout gets `paid`, `failed` or `returned` from the service's own record: after 30 seconds, 2 and 10 minutes, 1 and 6 hours, and
   * then daily, and at once after a `hint`; at most 5 lookups a second for an account. It needs `WithdrawalLookup`.
   */
  readonly confirm: boolean | PayoutConfirmOptions | undefined
}

const Confirm = Schema.Struct({ until: withDefault(period, "7 days") })
const confirmAlways = Schema.decodeSync(Confirm)({})
const timeOfDay = Schema.String.check(
  Schema.makeFilter((text) => minuteOfText(text) !== undefined, { message: "must be a time of a day, as 08:00" })
)

/** Limits of an account as a caller gives them. `null`: none; absent: as it is. */
export interface Limits {
  readonly pace?: { readonly most: number; readonly per: Duration.Input } | null | undefined
  readonly window?: { readonly from: string; readonly to: string } | null | undefined
  readonly dailyCap?: number | null | undefined
  readonly maxAmount?: number | null | undefined
}

const Pace = Schema.Struct({
  most: whole(1),
  per: period.check(
    Schema.makeFilter((millis) => millis >= 1 && millis <= 86_400_000, { message: "must be at most a day" })
  )
})
const Window = Schema.Struct({ from: timeOfDay, to: timeOfDay }).check(
  Schema.makeFilter(({ from, to }) => from !== to, { message: "must have two different times" })
)

/** Checks the limits that a caller gave, who may have no types. */
export const limitsOf = checkOptionsBy(
  "requestWithdrawal",
  Schema.Struct({
    pace: Schema.optional(Schema.NullOr(Pace)),
    window: Schema.optional(Schema.NullOr(Window)),
    dailyCap: Schema.optional(Schema.NullOr(whole(1))),
    maxAmount: Schema.optional(Schema.NullOr(whole(1)))
  })
)
export type CheckedLimits = Effect.Success<ReturnType<typeof limitsOf>>

const check = checkSettingsBy(
  Schema.Struct({
    account: withDefault(
      Schema.String.check(Schema.makeFilter(isAccountName, { message: badAccountName })),
      defaultAccount
    ),
    concurrency: withDefault(whole(1), 20),
    lease: withDefault(
      period.check(
        Schema.makeFilter(Number.isFinite, {
          message: "must end: after it another process takes over from a dead one"
        })
      ),
      "30 seconds"
    ),
    poll: withDefault(period, "1 second"),
    horizon: withDefault(period, "12 hours"),
    drain: withDefault(period, "4 seconds"),
    maxAmount: Schema.optional(whole(1)),
    dailyCap: Schema.optional(whole(1)),
    confirm: Schema.optional(Schema.Union([Schema.Boolean, Confirm])),
    pace: Schema.optional(Pace),
    window: Schema.optional(Window),
    forget: withDefault(Schema.Struct({ data: withDefault(period, "90 days") }), {})
  })
)

/** The settings of the layers, with their defaults. Times are in milliseconds. */
export const settingsOf = (options: PayoutQueueOptions<unknown> | PayoutConfirmingOptions<unknown>) =>
  // The database has no infinite number.
  Effect.map(check(options), (settings) => ({
    ...settings,
    confirm: settings.confirm === true ? confirmAlways : settings.confirm || undefined,
    horizon: Math.min(settings.horizon, Number.MAX_SAFE_INTEGER)
  }))

export type Settings = Effect.Success<ReturnType<typeof settingsOf>>
