/**
 * The limits of an account that its user knows: the pace of its requests, the window of the day in which they leave, the cap of a day, and
 * the largest amount of a payout. They stand in its row, where all workers read them.
 */
import * as Duration from "effect/Duration"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { Centavos } from "../../../pix/Money.ts"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import type { Person } from "../../../durable/Step.ts"
import { millisOf } from "../../../contract/Options.ts"
import type { PayoutLimits } from "../../PayoutHistory.ts"
import { type Settings, minuteOfText } from "../../PayoutQueueOptions.ts"
import { invalid, readChange, writeChange } from "./entries.ts"
import { accountKey, type Store } from "./store.ts"

/** The columns of limits. */
const columnsOf = ({ dailyCap, maxAmount, pace, window }: PayoutLimits) => ({
  ...(pace !== undefined && {
    paceMost: pace?.most ?? null,
    pacePer: pace === null ? null : Duration.toMillis(pace.per)
  }),
  ...(window !== undefined && {
    windowFrom: window === null ? null : (minuteOfText(window.from) ?? null),
    windowTo: window === null ? null : (minuteOfText(window.to) ?? null)
  }),
  ...(dailyCap !== undefined && { dailyCap }),
  ...(maxAmount !== undefined && { maxAmount })
})

/** Limits as a caller may give them, also one without types. */
interface GivenLimits {
  readonly pace?: { readonly most: number; readonly per: Duration.Input } | null | undefined
  readonly window?: { readonly from: string; readonly to: string } | null | undefined
  readonly dailyCap?: number | null | undefined
  readonly maxAmount?: number | null | undefined
}

/** Checks the limits that a caller gave. */
export const checkedLimits = Effect.fnUntraced(function* (
  given: GivenLimits
): Effect.fn.Return<PayoutLimits, InvalidRequest> {
  const { dailyCap, maxAmount, pace, window }: GivenLimits = Predicate.isObject(given) ? given : {}
  if ([pace, window, dailyCap, maxAmount].every((limit) => limit === undefined))
    return yield* invalid("limits", "must name pace, window, dailyCap or maxAmount")
  const per = pace ? millisOf(pace.per) : 1
  if (pace && !(Number.isSafeInteger(pace.most) && pace.most >= 1))
    return yield* invalid("pace.most", "must be a whole number from 1")
  if (per === undefined || !(per >= 1 && per <= 86_400_000))
    return yield* invalid("pace.per", "must be a duration up to a day")
  const [from, to] = window ? [minuteOfText(window.from), minuteOfText(window.to)] : [0, 1]
  if (from === undefined || to === undefined || from === to)
    return yield* invalid("window", "must have two different times of a day, as 08:00 and 20:00")
  for (const [name, amount] of Object.entries({ dailyCap, maxAmount }))
    if (typeof (amount ?? 1) !== "number" || !Number.isSafeInteger(amount ?? 1) || (amount ?? 1) < 1)
      return yield* invalid(name, "must be a whole number of centavos from 1")
  return {
    ...(pace !== undefined && { pace: pace && { most: pace.most, per: Duration.millis(per) } }),
    ...(window !== undefined && { window: window && { from: window.from, to: window.to } }),
    ...(dailyCap !== undefined && { dailyCap: dailyCap === null ? null : Centavos.make(dailyCap) }),
    ...(maxAmount !== undefined && { maxAmount: maxAmount === null ? null : Centavos.make(maxAmount) })
  }
})

/** Sets limits, with the entry of the history. Nothing leaves by it that would not leave without a limit, so one person does. */
export const changeLimits = Effect.fnUntraced(function* (store: Store, limits: PayoutLimits, person: Person) {
  const at = yield* DateTime.now
  const entry = writeChange({ ...limits, ...person, at })
  yield* store.changeAccount(store.accounts.setLimits(columnsOf(limits)), entry)
  // What waits for the cap of a day that was waits for the new one, or for none.
  if (limits.dailyCap !== undefined) yield* store.callBack("DailyCap")
})

/** Stores the limits of the options that nobody has ever set in the account. */
export const seedLimits = Effect.fnUntraced(function* (store: Store, { dailyCap, maxAmount, pace, window }: Settings) {
  const given = Record.filter({ dailyCap, maxAmount, pace, window }, Predicate.isNotUndefined)
  if (Record.isEmptyRecord(given)) return
  const changes = (yield* store.history(accountKey)).map((entry) => readChange(entry))
  const unset = Record.filter(given, (_, name) => !changes.some((change) => name in change))
  // The options were checked.
  if (!Record.isEmptyRecord(unset)) yield* changeLimits(store, yield* Effect.orDie(checkedLimits(unset)), {})
})
