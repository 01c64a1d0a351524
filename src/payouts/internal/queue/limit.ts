/**
 * The steps of an account: its sender, and its limit above which a payout needs a second person. Without a limit one person
 * takes them, with one two.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { settingError } from "../../../contract/ConfigurationError.ts"
import type { Person } from "../../../durable/Step.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import type { AccountChange } from "../../PayoutHistory.ts"
import { placeOf } from "./approval.ts"
import { invalid, readChange, writeChange } from "./entries.ts"
import type { Settings } from "./settings.ts"
import type { Store } from "./store.ts"

/** What a step wants of the account. */
type Wanted = Pick<AccountChange, "fingerprint" | "fourEyesAbove">

const isSame = (
  wanted: Wanted,
  other: { readonly fingerprint?: string | null; readonly fourEyesAbove?: number | null }
) => wanted.fingerprint === other.fingerprint && wanted.fourEyesAbove === other.fourEyesAbove

/**
 * Takes a step of the account: at once where it has no limit, else with the second of two people, and returns whether it was
 * `Changed` or only `Asked` for. The account is what both people saw, also where another process changes it meanwhile.
 */
export const takeStep = Effect.fnUntraced(function* (store: Store, wanted: Wanted, person: Person) {
  const at = yield* DateTime.now
  for (;;) {
    const from = yield* store.accounts.get
    if (isSame(wanted, { ...wanted, ...Struct.pick(from, Struct.keys(wanted)) })) return "Changed"
    const asked = from.asked === null ? undefined : readChange(from.asked)
    const first = asked !== undefined && isSame(wanted, asked) ? asked.by : undefined
    const place = from.fourEyesAbove === null ? "Second" : placeOf(first, person.by)
    if (typeof place !== "string") return yield* invalid("by", place.problem)
    const step = place === "Second" ? "Changed" : "Asked"
    const entry = writeChange({ ...wanted, ...person, at, step })
    const changes = place === "Second" ? { ...wanted, asked: null } : { asked: entry }
    if (yield* store.changeAccount(store.accounts.agree(changes, from), entry)) return step
  }
})

const inWords = (limit: number) => `${limit} (${format(Centavos.make(limit))})`

/** Stores the limit of the option where the account has none. Fails with `ConfigurationError` where it has another one. */
export const requireLimit = Effect.fnUntraced(function* (store: Store, { account, fourEyesAbove }: Settings) {
  if (fourEyesAbove === undefined) return
  if ((yield* store.accounts.get).fourEyesAbove === null) {
    // Another process may have stored one meanwhile.
    yield* Effect.catchTag(
      takeStep(store, { fourEyesAbove: Centavos.make(fourEyesAbove) }, {}),
      "InvalidRequest",
      () => Effect.void
    )
  }
  const stored = (yield* store.accounts.get).fourEyesAbove
  if (stored === fourEyesAbove) return
  return yield* settingError(
    "fourEyesAbove",
    `is ${inWords(fourEyesAbove)}, but the account ${account} has ${stored === null ? "none" : inWords(stored)}. ` +
      "Correct the option; or, if the change is meant, two people say so, each with their own name: " +
      `effect-pix payouts four-eyes ${fourEyesAbove} --account ${account} --by NAME`
  )
})
