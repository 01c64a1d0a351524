/**
 * The steps of an account: its sender, and its limit above which a payout needs a second person. Without a limit one person
 * takes them, with one two.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Check from "../../../contract/Settings.ts"
import type { Person } from "../../../durable/Step.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import type { AccountStep } from "../../PayoutHistory.ts"
import { PayoutAccountConflict } from "../../PayoutStatus.ts"
import type { Account } from "./account.ts"
import { placeOf } from "./approval.ts"
import { readAsked, writeAsked, writeChange } from "./entries.ts"
import type { Settings } from "./settings.ts"
import type { Store } from "./store.ts"

const isSame = (one: AccountStep, other: AccountStep) =>
  one._tag === "Sender"
    ? other._tag === "Sender" && one.fingerprint === other.fingerprint
    : other._tag === "FourEyes" && one.above === other.above

/** Whether an account has what a step wants. */
const isDone = ({ fingerprint, fourEyesAbove }: Account, wanted: AccountStep) =>
  wanted._tag === "Sender" ? fingerprint === wanted.fingerprint : fourEyesAbove === wanted.above

/**
 * Takes a step of the account: at once where it has no limit, else with the second of two people, and returns whether it was
 * `Changed` or only `Asked` for. The account is what both people saw, also where another process changes it meanwhile.
 */
export const takeStep = Effect.fnUntraced(function* (
  store: Store,
  operation: PayoutAccountConflict["operation"],
  wanted: AccountStep,
  person: Person
) {
  const { accounts } = store
  const at = yield* DateTime.now
  for (;;) {
    const from = yield* accounts.get
    if (isDone(from, wanted)) return "Changed"
    const asked = readAsked(from.asked)
    const first = asked._tag === "Some" && isSame(asked.value.wanted, wanted) ? asked.value.by : null
    const place = from.fourEyesAbove === null ? "Second" : placeOf(first, person.by)
    if (typeof place !== "string") {
      return yield* new PayoutAccountConflict({ operation, account: from.account, problem: place.problem })
    }
    const [change, entry] =
      place === "Second"
        ? [accounts.take(wanted, from), { ...wanted, at, ...person }]
        : // The first of two people has a name.
          [
            accounts.ask(writeAsked({ wanted, at, by: person.by ?? "" }), from),
            { _tag: "Asked" as const, wanted, at, ...person }
          ]
    if (yield* store.changeAccount(change, writeChange(entry))) return place === "Second" ? "Changed" : "Asked"
  }
})

const inWords = (limit: number) => `${limit} (${format(Centavos.make(limit))})`

/** Stores the limit of the option where the account has none. Fails with `ConfigurationError` where it has another one. */
export const requireLimit = Effect.fnUntraced(function* (store: Store, { account, fourEyesAbove }: Settings) {
  if (fourEyesAbove === undefined) return
  if ((yield* store.accounts.get).fourEyesAbove === null) {
    yield* takeStep(store, "setFourEyes", { _tag: "FourEyes", above: Centavos.make(fourEyesAbove) }, {}).pipe(
      // Another process stored one meanwhile.
      Effect.catchTag("PayoutAccountConflict", () => Effect.void)
    )
  }
  const stored = (yield* store.accounts.get).fourEyesAbove
  if (stored === fourEyesAbove) return
  return yield* Check.wrong(
    "fourEyesAbove",
    `is ${inWords(fourEyesAbove)}, but the account ${account} has ${stored === null ? "none" : inWords(stored)}. ` +
      "Correct the option; or, if the change is meant, two people say so, each with their own name: " +
      `effect-pix payouts four-eyes ${fourEyesAbove} --account ${account} --by NAME`
  )
})
