/** Runs `effect-pix payouts list`: a page at a time, so that a long list needs no more memory. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { PayoutState, type PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import * as Money from "../../../pix/Money.ts"
import { notRead } from "../database.ts"
import { hasReader, note, write } from "../output.ts"
import { ageOf, jsonLine, plain, tableRow } from "../text.ts"
import { dataOf, reasonOf, textOfPause } from "./describe.ts"
import { layerReading, pauseOf, readAccount } from "./queue.ts"
import { textOfState, totals } from "./sum.ts"

/** The states that need a person, the most urgent first. */
const waiting: ReadonlyArray<PayoutState> = ["parked", "unknown", "accepted"]

export type Which = PayoutState | "waiting" | "all"

const row = tableRow(8, -14, -11, 24, 0)

export const tableHead: string = row("STATE", "AMOUNT", "AGE", "REFERENCE", "WHY")

/** A payout as a line of a table. */
export const tableLine = (status: PayoutStatus, now: number): string =>
  row(status.state, Money.format(status.amount), ageOf(status.submittedAt, now), status.reference, reasonOf(status))

const statesOf = (which: Which): ReadonlyArray<PayoutState> =>
  which === "waiting" ? waiting : which === "all" ? PayoutState.literals : [which]

export const listOf = (which: Which): Stream.Stream<PayoutStatus, ReturnType<typeof notRead>, PayoutQueue> =>
  Stream.unwrap(
    Effect.map(PayoutQueue, (queue) => {
      const states = which === "waiting" ? waiting : [which === "all" ? undefined : which]
      return Stream.mapError(
        Stream.flatMap(Stream.fromIterable(states), (state) => queue.list({ state })),
        notRead
      )
    })
  )

export const run = Effect.fnUntraced(function* ({
  json,
  limit,
  state
}: {
  readonly json: boolean
  readonly limit: Option.Option<number>
  readonly state: Which
}) {
  const now = yield* Clock.currentTimeMillis
  let shown = 0
  const lineOf = (status: PayoutStatus) => {
    shown++
    return json ? jsonLine(dataOf(status)) : tableLine(status, now)
  }
  if (!json) yield* write(tableHead)
  yield* listOf(state).pipe(
    Option.isSome(limit) ? Stream.take(limit.value) : (all) => all,
    Stream.chunks,
    Stream.runForEachWhile((statuses) => Effect.map(write(statuses.map(lineOf).join("")), hasReader))
  )
  if (!hasReader()) return
  const sums = yield* totals
  const found = statesOf(state).flatMap((one) => {
    const sum = sums.get(one)
    return sum === undefined ? [] : [{ state: one, ...sum }]
  })
  const all = found.reduce((most, { count }) => most + count, 0)
  if (shown < all) yield* note(`Shown are ${shown} of ${all}. The sums are of all:`)
  for (const sum of found) yield* note(textOfState(sum.state, sum))
  if (found.length === 0) yield* note(state === "waiting" ? "No payout waits." : "There is none.")
  const account = yield* readAccount
  const pause = pauseOf(account)
  if (pause !== undefined) {
    yield* note("The workers are paused: nothing is sent until `effect-pix payouts continue`.")
    yield* note(textOfPause(pause, now))
  }
  const { asked } = account
  if (asked !== undefined) {
    const step = asked.fingerprint !== undefined ? "change-sender" : "four-eyes"
    yield* note(`${plain(asked.by ?? "")} asked for ${step} ${ageOf(asked.at, now)} ago: it waits for a second person.`)
  }
}, Effect.provide(layerReading))
