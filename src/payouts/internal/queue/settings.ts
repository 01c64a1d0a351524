/**
 * The settings of the queue, checked when its layer is built: a layer with wrong ones names each of them and fails.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { ConfigurationError, type SettingProblem } from "../../../contract/ConfigurationError.ts"
import type { PayoutQueueOptions } from "../../PayoutQueueOptions.ts"

const lengthOf = (input: Duration.Input) =>
  Option.filter(Duration.fromInput(input), (duration) => Duration.toMillis(duration) > 0)

/** What the layers work with: the defaults, and what is given in their place. Times are in milliseconds. */
export const settingsOf = (options: PayoutQueueOptions) => {
  const problems: Array<SettingProblem> = []
  const wrong = (setting: string, problem: string) => problems.push({ setting, reason: "Wrong", problem })
  const length = (setting: keyof PayoutQueueOptions | "forget.data" | "forget.references", input: Duration.Input) => {
    const duration = lengthOf(input)
    if (Option.isNone(duration)) wrong(setting, "must be a length of time, longer than nothing")
    return Option.match(duration, { onNone: () => 1, onSome: Duration.toMillis })
  }
  const whole = (setting: keyof PayoutQueueOptions, value: number | undefined, least: number) => {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
      wrong(setting, `must be a whole number from ${least}`)
    }
    return value
  }
  const zone = DateTime.zoneMakeNamed(options.zone ?? "America/Sao_Paulo")
  if (Option.isNone(zone)) wrong("zone", "must name a time zone, as America/Sao_Paulo")
  if (options.perSecond !== undefined && !(options.perSecond > 0 && options.perSecond <= 1000)) {
    wrong("perSecond", "must be a number above 0, at most 1000")
  }
  const lease = length("lease", options.lease ?? "30 seconds")
  if (!Number.isFinite(lease)) wrong("lease", "must end: after it another process takes over from a dead one")
  const data = length("forget.data", options.forget?.data ?? "90 days")
  const references =
    options.forget?.references === undefined ? undefined : length("forget.references", options.forget.references)
  if (references !== undefined && references <= data) {
    wrong("forget.references", "must be longer than forget.data: what is forgotten may be paid again")
  }
  const settings = {
    concurrency: whole("concurrency", options.concurrency, 1) ?? 20,
    lease,
    poll: length("poll", options.poll ?? "1 second"),
    horizon: length("horizon", options.horizon ?? "12 hours"),
    drain: length("drain", options.drain ?? "10 seconds"),
    maxAmount: whole("maxAmount", options.maxAmount, 1),
    dailyCap: whole("dailyCap", options.dailyCap, 1),
    interval: options.perSecond === undefined ? undefined : Math.ceil(1000 / options.perSecond),
    zone: Option.getOrElse(zone, () => DateTime.zoneMakeOffset(0)),
    forget: { data, references }
  }
  const [first, ...rest] = problems
  return first === undefined
    ? Result.succeed(settings)
    : Result.fail(new ConfigurationError({ settings: [first, ...rest] }))
}

export type Settings = Result.Result.Success<ReturnType<typeof settingsOf>>
