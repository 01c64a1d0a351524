/** Runs `effect-pix payouts list`: the payouts, their sums, and whether something stops the workers or waits for a person. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { PayoutState } from "../../../payouts/PayoutState.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { failed } from "../exit.ts"
import { whyOf, type Words } from "../flags.ts"
import { type Format, printList } from "../list.ts"
import { hasReader, note } from "../output.ts"
import { ageOf, plain } from "../text.ts"
import { columnsAt, inReais, textOfPause, withReason } from "./describe.ts"
import { layerQueue, layerReading, listPayouts, readAccount, readSums, requireSeal, whatIsSealed } from "./queue.ts"

/** The states that need a person, the most urgent first. */
const waiting: ReadonlyArray<PayoutState> = ["parked", "unknown", "accepted"]

interface Input extends Format, Pick<Words, "note"> {
  /** Needed for `full` alone. */
  readonly by: Option.Option<string>
  readonly claimed: Option.Option<"failed" | "returned" | "paid" | "any">
  readonly full: boolean
  readonly since: Option.Option<DateTime.Utc>
  readonly state: Option.Option<PayoutState | "waiting" | "all">
  readonly until: Option.Option<DateTime.Utc>
}

const list = Effect.fnUntraced(function* ({
  by,
  claimed,
  full,
  note: why,
  since,
  state: given,
  until,
  ...format
}: Input) {
  const account = yield* readAccount
  const { asked, now } = account
  const filter = {
    claimed: Option.getOrUndefined(claimed),
    since: Option.getOrUndefined(since),
    until: Option.getOrUndefined(until)
  }
  // A claim is about what was sent, and so is a period about all that was submitted in it.
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const state = Option.getOrElse(given, () => (isFiltered ? "all" : "waiting"))
  const states = state === "waiting" ? waiting : [state === "all" ? undefined : state]
  const rows = listPayouts(states, filter)
  /** Each one whose reason is shown has an entry of it. */
  const person = Option.getOrUndefined(by)
  const withReasons = (status: PayoutStatus) =>
    Effect.map(whatIsSealed(status.reference, whyOf({ by: person ?? "", note: why })), (shown) => ({
      ...status,
      reason: shown?.reason
    }))
  const shown = full
    ? yield* printList(Stream.mapEffect(rows, withReasons), withReason(columnsAt(now)), format)
    : yield* printList(rows, columnsAt(now), format)
  if (!hasReader()) return
  const sums = yield* readSums(filter)
  const found = (state === "all" ? PayoutState.literals : states).flatMap((one) => {
    const sum = one && sums.get(one)
    return sum === undefined ? [] : [{ state: one, ...sum }]
  })
  const all = found.reduce((most, { count }) => most + count, 0)
  if (shown < all) yield* note(`Shown are ${shown} of ${all}. The sums are of all:`)
  for (const { centavos, count, state: one } of found) yield* note(`${count} ${one}, ${inReais(centavos)}`)
  if (found.length === 0) yield* note(state === "waiting" ? "No payout waits." : "There is none.")
  if (account.paused) {
    yield* note("The workers are paused: nothing is sent until `effect-pix payouts continue`.")
    yield* note(`The workers are ${textOfPause(account)}`)
  }
  if (asked !== undefined) {
    const step = asked.fingerprint !== undefined ? "change-sender" : "four-eyes"
    yield* note(`${plain(asked.by ?? "")} asked for ${step} ${ageOf(asked.at, now)} ago: it waits for a second person.`)
  }
})

export const run = (input: Input) => {
  if (!input.full) return Effect.provide(list(input), layerReading)
  return Option.isNone(input.by)
    ? failed("--full shows what the service said of each payout, so it needs --by: who is shown it. That is stored.")
    : Effect.andThen(requireSeal, Effect.provide(list(input), layerQueue))
}
