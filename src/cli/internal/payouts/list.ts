/** Runs `effect-pix payouts list`: a page at a time, so that a long list needs no more memory. */
import * as BigDecimal from "effect/BigDecimal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutState, PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import * as Money from "../../../pix/Money.ts"
import { notRead } from "../database.ts"
import { hasReader, note, write } from "../output.ts"
import { ageOf, jsonLine, tableRow } from "../text.ts"
import { dataOf, reasonOf, textOfPause } from "./describe.ts"
import { layerReading, pauseOf } from "./queue.ts"

/** The states that need a person, the most urgent first. */
const waiting: ReadonlyArray<PayoutState> = ["parked", "unknown", "accepted"]

export type Which = PayoutState | "waiting" | "all"

const row = tableRow(8, -14, -11, 24, 0)

interface Total {
  count: number
  /** A sum may be too large for an exact number. */
  centavos: bigint
}

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
  const totals = new Map<string, Total>()
  const lineOf = (status: PayoutStatus) => {
    const total = totals.get(status.state) ?? { count: 0, centavos: 0n }
    totals.set(status.state, { count: total.count + 1, centavos: total.centavos + BigInt(status.amount) })
    if (json) return jsonLine(dataOf(status))
    const age = ageOf(status.submittedAt, now)
    return row(status.state, Money.format(status.amount), age, status.reference, reasonOf(status))
  }
  if (!json) yield* write(row("STATE", "AMOUNT", "AGE", "REFERENCE", "WHY"))
  yield* listOf(state).pipe(
    Option.isSome(limit) ? Stream.take(limit.value) : (all) => all,
    Stream.chunks,
    Stream.runForEachWhile((statuses) => Effect.map(write(statuses.map(lineOf).join("")), hasReader))
  )
  if (!hasReader()) return
  for (const [state, { centavos, count }] of totals)
    yield* note(`${count} ${state}, ${Money.format(Money.reais(BigDecimal.make(centavos, 2)))}`)
  if (totals.size === 0) yield* note(state === "waiting" ? "No payout waits." : "There is none.")
  const queue = yield* PayoutQueue
  const pause = yield* pauseOf(queue)
  if (pause !== undefined) {
    yield* note("The workers are paused: nothing is sent until `effect-pix payouts continue`.")
    yield* note(textOfPause(pause, now))
  }
}, Effect.provide(layerReading))
