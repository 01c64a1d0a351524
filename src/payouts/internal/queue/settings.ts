/**
 * The settings of the queue, which are checked when its layer is built: the layer fails and names each wrong setting.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Check from "../../../contract/Settings.ts"
import { badAccountName, defaultAccount, isAccountName } from "./account.ts"
import type { PayoutQueueOptions } from "../../PayoutQueueOptions.ts"

const millis = (setting: string, input: Duration.Input) => Effect.map(Check.period(setting, input), Duration.toMillis)

const leaseOf = (lease: number) =>
  Check.checked("lease", lease, Number.isFinite(lease), "must end: after it another process takes over from a dead one")

const forgetOf = (forget: PayoutQueueOptions["forget"]) =>
  Effect.flatMap(
    Check.all({
      data: millis("forget.data", forget?.data ?? "90 days"),
      references: Check.ifGiven(forget?.references, (input) => millis("forget.references", input))
    }),
    (times) =>
      Check.checked(
        "forget.references",
        times,
        times.references === undefined || times.references > times.data,
        "must be longer than forget.data: what is forgotten may be paid again"
      )
  )

/** The settings of the layers, with their defaults. Times are in milliseconds. */
export const settingsOf = (options: PayoutQueueOptions) =>
  Check.all({
    account: Check.checked(
      "account",
      options.account ?? defaultAccount,
      isAccountName(options.account ?? defaultAccount),
      badAccountName
    ),
    concurrency: Check.count("concurrency", options.concurrency ?? 20),
    lease: Effect.flatMap(millis("lease", options.lease ?? "30 seconds"), leaseOf),
    poll: millis("poll", options.poll ?? "1 second"),
    horizon: millis("horizon", options.horizon ?? "12 hours"),
    drain: millis("drain", options.drain ?? "10 seconds"),
    maxAmount: Check.ifGiven(options.maxAmount, (value) => Check.count("maxAmount", value)),
    dailyCap: Check.ifGiven(options.dailyCap, (value) => Check.count("dailyCap", value)),
    zone: Option.match(DateTime.zoneMakeNamed(options.zone ?? "America/Sao_Paulo"), {
      onNone: () => Check.wrong("zone", "must name a time zone, as America/Sao_Paulo"),
      onSome: Effect.succeed
    }),
    forget: forgetOf(options.forget)
  })

export type Settings = Effect.Success<ReturnType<typeof settingsOf>>
