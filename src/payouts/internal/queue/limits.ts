/**
 * The limits of an account that its user knows: the pace of its requests, and the window of the day in which they leave. They stand in its
 * row, where the statement that marks a request reads them.
 */
import * as Duration from "effect/Duration"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import type { Person } from "../../../durable/Step.ts"
import { millisOf } from "../../../contract/Options.ts"
import type { PayoutLimits } from "../../PayoutHistory.ts"
import { type Settings, minuteOfText } from "../../PayoutQueueOptions.ts"
import { invalid, writeChange } from "./entries.ts"
import type { Store } from "./store.ts"

/** The columns of limits. Another pace forgets what was learned of the service's own. */
const columnsOf = ({ pace, window }: PayoutLimits) => ({
  ...(pace !== undefined && {
    paceMost: pace?.most ?? null,
    pacePer: pace === null ? null : Duration.toMillis(pace.per),
    spacing: null,
    nextAt: null
  }),
  ...(window !== undefined && {
    windowFrom: window === null ? null : (minuteOfText(window.from) ?? null),
    windowTo: window === null ? null : (minuteOfText(window.to) ?? null)
  })
})

/** Limits as a caller may give them, also one without types. */
interface GivenLimits {
  readonly pace?: { readonly most: number; readonly per: Duration.Input } | null | undefined
  readonly window?: { readonly from: string; readonly to: string } | null | undefined
}

/** Checks the limits that a caller gave. */
export const checkedLimits = Effect.fnUntraced(function* (
  given: GivenLimits
): Effect.fn.Return<PayoutLimits, InvalidRequest> {
  const { pace, window }: GivenLimits = Predicate.isObject(given) ? given : {}
  if (pace === undefined && window === undefined) return yield* invalid("limits", "must name pace or window, or both")
  const per = pace ? millisOf(pace.per) : 1
  if (pace && !(Number.isSafeInteger(pace.most) && pace.most >= 1))
    return yield* invalid("pace.most", "must be a whole number from 1")
  if (per === undefined || !(per >= 1 && per <= 86_400_000))
    return yield* invalid("pace.per", "must be a duration up to a day")
  const [from, to] = window ? [minuteOfText(window.from), minuteOfText(window.to)] : [0, 1]
  if (from === undefined || to === undefined || from === to)
    return yield* invalid("window", "must have two different times of a day, as 08:00 and 20:00")
  return {
    ...(pace !== undefined && { pace: pace && { most: pace.most, per: Duration.millis(per) } }),
    ...(window !== undefined && { window: window && { from: window.from, to: window.to } })
  }
})

/** Sets limits, with the entry of the history. Nothing leaves by it that would not leave without a limit, so one person does. */
export const changeLimits = Effect.fnUntraced(function* (store: Store, limits: PayoutLimits, person: Person) {
  const at = yield* DateTime.now
  const entry = writeChange({ ...limits, ...person, at })
  yield* store.changeAccount(store.accounts.setLimits(columnsOf(limits)), entry)
  // What waits for the window that was waits for the new one, or for none.
  if (limits.window !== undefined) yield* store.callBack("Window")
})

/** Stores the limits of the options in an account that has none. */
export const seedLimits = Effect.fnUntraced(function* (store: Store, { pace, window }: Settings) {
  if (pace === undefined && window === undefined) return
  const stored = yield* store.accounts.get
  const limits = yield* checkedLimits({
    ...(stored.pacePer === null && pace !== undefined && { pace }),
    ...(stored.windowFrom === null && window !== undefined && { window })
  }).pipe(Effect.option)
  if (limits._tag === "Some") yield* changeLimits(store, limits.value, {})
})
