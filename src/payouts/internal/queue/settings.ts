/**
 * The settings of the queue, which are checked when its layer is built: the layer fails and names each wrong setting.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { checkSettingsBy, period, whole, withDefault } from "../../../contract/Options.ts"
import { badAccountName, defaultAccount, isAccountName, type PayoutQueueOptions } from "../../PayoutQueueOptions.ts"

const amount = Schema.optional(whole(1))

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
    drain: withDefault(period, "10 seconds"),
    maxAmount: amount,
    dailyCap: amount,
    fourEyesAbove: amount,
    forget: withDefault(Schema.Struct({ data: withDefault(period, "90 days"), record: Schema.optional(period) }), {})
  })
)

/** The settings of the layers, with their defaults. Times are in milliseconds. */
export const settingsOf = (options: PayoutQueueOptions) =>
  // The database has no infinite number.
  Effect.map(check(options), (settings) => ({
    ...settings,
    horizon: Math.min(settings.horizon, Number.MAX_SAFE_INTEGER)
  }))

export type Settings = Effect.Success<ReturnType<typeof settingsOf>>
