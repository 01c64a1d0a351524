/**
 * The operations of an account: its pause, its sender and its limits.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions, Person } from "../../../durable/Step.ts"
import { Centavos } from "../../../pix/Money.ts"
import { type Limits, type CheckedLimits, limitsOf, minuteOfText, type Settings } from "../../PayoutQueueOptions.ts"
import { guard, operationsOf, type Core } from "../core.ts"
import {
  accountOf,
  checkedFingerprint,
  checkedPerson,
  invalid,
  writeChange,
  writePause,
  readChange
} from "../store/entries.ts"
import { accountKey, type Store } from "../store/store.ts"

export const makeAccountClient = (core: Core) => {
  const { store } = core
  const { writing } = operationsOf(store)
  return {
    setPaused: (paused: boolean, options: StepOptions = {}) =>
      writing(
        "setPaused",
        Effect.flatMap(Effect.all([checkedPerson(options), DateTime.now]), ([person, at]) =>
          Effect.andThen(
            store.accounts.setPaused(paused, writePause({ at, paused, ...person })),
            paused ? store.afterCommit(core.accountChanged) : core.releaseAccount
          )
        )
      ),
    isPaused: mapDatabaseError("isPaused")(Effect.map(store.accounts.get, ({ paused }) => paused)),
    changeSender: (fingerprint: string, options: StepOptions = {}) =>
      writing(
        "changeSender",
        Effect.gen(function* () {
          const person = yield* checkedPerson(options)
          yield* checkedFingerprint(fingerprint)
          const other = yield* store.accounts.otherOf(fingerprint)
          if (other !== undefined) return yield* invalid("fingerprint", `is that of the account ${other}`)
          const entry = writeChange({ fingerprint, ...person, at: yield* DateTime.now })
          yield* store.changeAccount(store.accounts.changeSender(fingerprint), entry)
        })
      ),
    setLimits: (limits: Limits, options: StepOptions = {}) =>
      writing(
        "setLimits",
        Effect.gen(function* () {
          yield* changeLimits(store, limits, yield* checkedPerson(options))
          yield* core.releaseAccount
        })
      ),
    account: guard("account")(
      Effect.map(Effect.all([store.accounts.get, store.history(accountKey)]), ([row, changes]) =>
        accountOf(row, changes)
      )
    )
  }
}

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
const changeLimits = Effect.fnUntraced(function* (store: Store, given: Limits, person: Person) {
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
