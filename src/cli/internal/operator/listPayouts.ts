/** Runs `effect-pix payouts list`: the payouts, their sums, and whether something stops the workers or waits for a person. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { PayoutBecause } from "../../../payouts/PayoutBecause.ts"
import { PayoutState } from "../../../payouts/PayoutState.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { type Format, printList } from "../list.ts"
import { hasReader, note } from "../output.ts"
import { columnsAt, inReais, textOfPause } from "./describe.ts"
import { layerReading, listPayouts, readAccount, readSums, requireSeal, whatIsSealed } from "./queue.ts"
import { type Lang, states as stateWords, words } from "./words.ts"

/** The states that need a person, the most urgent first. */
const waiting: ReadonlyArray<PayoutState> = ["parked", "unknown", "accepted"]

interface Input extends Format {
  readonly because: Option.Option<PayoutBecause>
  readonly full: boolean
  readonly lang: Lang
  readonly since: Option.Option<DateTime.Utc>
  readonly toCheck: boolean
  readonly state: Option.Option<PayoutState | "waiting" | "all">
  readonly until: Option.Option<DateTime.Utc>
}

/** A payout with what the service said of why it was refused or failed. */
const open = (status: PayoutStatus) =>
  Effect.map(whatIsSealed(status.reference), (sealed) => ({ ...status, reason: sealed?.reason }))

const list = Effect.fnUntraced(function* ({
  because,
  full,
  lang,
  since,
  state: given,
  toCheck,
  until,
  ...format
}: Input) {
  const account = yield* readAccount
  const filter = {
    because: Option.getOrUndefined(because),
    toCheck: toCheck || undefined,
    since: Option.getOrUndefined(since),
    until: Option.getOrUndefined(until)
  }
  // What is to be checked was sent, and a period is about all that was submitted in it.
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const state = Option.getOrElse(given, () => (isFiltered ? "all" : "waiting"))
  const states = state === "waiting" ? waiting : [state === "all" ? undefined : state]
  const rows = listPayouts(states, filter)
  const columns = columnsAt({ now: account.now, lang }, full)
  const shown = yield* full
    ? printList(Stream.mapEffect(rows, open), columns, format)
    : printList(rows, columns, format)
  if (!hasReader()) return
  const sums = yield* readSums(filter)
  const found = (state === "all" ? PayoutState.literals : states).flatMap((one) => {
    const sum = one && sums.get(one)
    return one === undefined || sum === undefined ? [] : [{ state: one, ...sum }]
  })
  const all = found.reduce((most, { count }) => most + count, 0)
  if (shown < all) yield* note(words.shown[lang](shown, all))
  for (const { centavos, count, state: one } of found)
    yield* note(`${count} ${stateWords[one][lang]}, ${inReais(centavos)}`)
  if (found.length === 0) yield* note((state === "waiting" ? words.noneWaits : words.none)[lang])
  if (account.paused) yield* note(words.paused[lang](textOfPause(account, lang)))
})

export const run = (input: Input) => {
  const listed = Effect.provide(list(input), layerReading)
  return input.full ? Effect.andThen(requireSeal, listed) : listed
}
