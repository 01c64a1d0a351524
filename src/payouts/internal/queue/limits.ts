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
import type { Person } from "../../../durable/Step.ts"
import { type CheckedLimits, type Limits, limitsOf, minuteOfText, type Settings } from "../../PayoutQueueOptions.ts"
import { invalid, readChange, writeChange } from "./entries.ts"
import { accountKey, type Store } from "./store.ts"

/** The columns of limits. */
const columnsOf = ({ dailyCap, maxAmount, pace, window }: CheckedLimits) => ({
  ...(pace !== undefined && { paceMost: pace?.most ?? null, pacePer: pace?.per ?? null }),
  ...(window !== undefined && {
    windowFrom: minuteOfText(window?.from) ?? null,
    windowTo: minuteOfText(window?.to) ?? null
  }),
  ...(dailyCap !== undefined && { dailyCap }),
  ...(maxAmount !== undefined && { maxAmount })
})

const centavosOf = (amount: number | null) => (amount === null ? null : Centavos.make(amount))

/** The same in an entry of the history. */
const entryOf = ({ dailyCap, maxAmount, pace, window }: CheckedLimits) => ({
  ...(pace !== undefined && { pace: pace && { most: pace.most, per: Duration.millis(pace.per) } }),
  ...(window !== undefined && { window }),
  ...(dailyCap !== undefined && { dailyCap: centavosOf(dailyCap) }),
  ...(maxAmount !== undefined && { maxAmount: centavosOf(maxAmount) })
})

/** Sets limits, with the entry of the history. Nothing leaves by it that would not leave without a limit, so one person does. */
const change = Effect.fnUntraced(function* (store: Store, limits: CheckedLimits, person: Person) {
  const entry = writeChange({ ...entryOf(limits), ...person, at: yield* DateTime.now })
  yield* store.changeAccount(store.accounts.setLimits(columnsOf(limits)), entry)
  // What waits for the cap of a day that was waits for the new one, or for none.
  if (limits.dailyCap !== undefined) yield* store.callBack("DailyCap")
})

/** Sets the limits that a caller gave, also one without types. */
export const changeLimits = Effect.fnUntraced(function* (store: Store, given: Limits, person: Person) {
  const limits = yield* limitsOf(given)
  if (Object.values(limits).every(Predicate.isUndefined))
    return yield* invalid("limits", "must name pace, window, dailyCap or maxAmount")
  yield* change(store, limits, person)
})

/** Stores the limits of the options that nobody has ever set in the account. */
export const seedLimits = Effect.fnUntraced(function* (store: Store, { dailyCap, maxAmount, pace, window }: Settings) {
  const given = Record.filter({ dailyCap, maxAmount, pace, window }, Predicate.isNotUndefined)
  if (Record.isEmptyRecord(given)) return
  const changes = (yield* store.history(accountKey)).map((entry) => readChange(entry))
  const unset = Record.filter(given, (_, name) => !changes.some((change) => name in change))
  if (!Record.isEmptyRecord(unset)) yield* change(store, unset, {})
})
