/**
 * The steps of an account: its sender, which one person changes, and its limit above which a payout needs a second person, which two
 * people change.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { settingError } from "../../../contract/ConfigurationError.ts"
import type { Person } from "../../../durable/Step.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import { turnOf } from "./approval.ts"
import { invalid, readChange, writeChange } from "./entries.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Store } from "./store.ts"

/** Says by whom the payouts of the account are sent from now on. Nothing leaves by it, so one person takes the step. */
export const changeSender = Effect.fnUntraced(function* (store: Store, fingerprint: string, person: Person) {
  const at = yield* DateTime.now
  for (;;) {
    const from = yield* store.accounts.get
    if (from.fingerprint === fingerprint) return
    const entry = writeChange({ fingerprint, ...person, at, step: "Changed" })
    if (yield* store.changeAccount(store.accounts.changeAgreed({ fingerprint }, from), entry)) return
  }
})

/**
 * Changes the limit: at once where the account has none, else with the second of two people, and returns whether it was `Changed` or
 * only `Asked` for. The account is what both people saw, also where another process changes it meanwhile.
 */
export const changeLimit = Effect.fnUntraced(function* (store: Store, fourEyesAbove: Centavos | null, person: Person) {
  const at = yield* DateTime.now
  for (;;) {
    const from = yield* store.accounts.get
    if (from.fourEyesAbove === fourEyesAbove) return "Changed"
    const asked = from.asked === null ? undefined : readChange(from.asked)
    const first = asked?.fourEyesAbove === fourEyesAbove ? asked.by : undefined
    const place = from.fourEyesAbove === null ? "Second" : turnOf(first, person.by)
    if (typeof place !== "string") return yield* invalid("by", place.problem)
    const step = place === "Second" ? "Changed" : "Asked"
    const entry = writeChange({ fourEyesAbove, ...person, at, step })
    const changes = place === "Second" ? { fourEyesAbove, asked: null } : { asked: entry }
    if (yield* store.changeAccount(store.accounts.changeAgreed(changes, from), entry)) return step
  }
})

const limitLabel = (limit: number) => `${limit} (${format(Centavos.make(limit))})`

/** Stores the limit of the option where the account has none. Fails with `ConfigurationError` where it has another one. */
export const requireLimit = Effect.fnUntraced(function* (store: Store, { account, fourEyesAbove }: Settings) {
  if (fourEyesAbove === undefined) return
  if ((yield* store.accounts.get).fourEyesAbove === null) {
    // Another process may have stored one meanwhile.
    yield* Effect.catchTag(changeLimit(store, Centavos.make(fourEyesAbove), {}), "InvalidRequest", () => Effect.void)
  }
  const stored = (yield* store.accounts.get).fourEyesAbove
  if (stored === fourEyesAbove) return
  return yield* settingError(
    "fourEyesAbove",
    `is ${limitLabel(fourEyesAbove)}, but the account ${account} has ${stored === null ? "none" : limitLabel(stored)}. ` +
      "Correct the option; or, if the change is meant, two people say so, each with their own name: " +
      `effect-pix payouts four-eyes ${fourEyesAbove} --account ${account} --by NAME`
  )
})
