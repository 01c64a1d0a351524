/**
 * The settings of the queue, which are checked when its layer is built: the layer fails and names each wrong setting.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Check from "../../../contract/Settings.ts"
import { badAccountName, defaultAccount, isAccountName, type PayoutQueueOptions } from "../../PayoutQueueOptions.ts"

const millis = (setting: string, input: Duration.Input) => Effect.map(Check.period(setting, input), Duration.toMillis)

const leaseOf = (lease: number) =>
  Check.checked("lease", lease, Number.isFinite(lease), "must end: after it another process takes over from a dead one")

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
    fourEyesAbove: Check.ifGiven(options.fourEyesAbove, (value) => Check.count("fourEyesAbove", value)),
    pausedAfter: Check.ifGiven(options.pausedAfter, (value) => millis("pausedAfter", value)),
    alike: Check.ifGiven(options.alike, ({ within }) => millis("alike.within", within)),
    forgetData: millis("forget.data", options.forget?.data ?? "90 days"),
    forgetRecord: Check.ifGiven(options.forget?.record, (record) => millis("forget.record", record))
  })

export type Settings = Effect.Success<ReturnType<typeof settingsOf>>
