/** Runs `effect-pix payouts list`: the payouts, their sums, and whether something stops the workers or waits for a person. */
import * as Effect from "effect/Effect"
import { PayoutState } from "../../../payouts/PayoutState.ts"
import { type Format, printList } from "../list.ts"
import { hasReader, note } from "../output.ts"
import { ageOf, plain } from "../text.ts"
import { columnsAt, inReais, textOfPause } from "./describe.ts"
import { layerReading, listPayouts, readAccount } from "./queue.ts"

/** The states that need a person, the most urgent first. */
const waiting: ReadonlyArray<PayoutState> = ["parked", "unknown", "accepted"]

interface Input extends Format {
  readonly state: PayoutState | "waiting" | "all"
}

export const run = Effect.fnUntraced(function* ({ state, ...format }: Input) {
  const account = yield* readAccount
  const { asked, now, sums } = account
  const states = state === "waiting" ? waiting : [state === "all" ? undefined : state]
  const shown = yield* printList(listPayouts(states), columnsAt(now), format)
  if (!hasReader()) return
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
}, Effect.provide(layerReading))
