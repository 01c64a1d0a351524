/**
 * The periodic work of a worker: it queues payouts that another program inserted, makes lost elements anew, forgets what
 * ended long ago, and counts what waits.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { LostRow } from "../../../durable/Lost.ts"
import { forgetDone, repeatedly } from "../../../durable/Work.ts"
import { type Core, elementId } from "./core.ts"
import { isOpen } from "./row.ts"
import type { Settings } from "./settings.ts"

const waiting = Metric.gauge("effect_pix_payout_queue_waiting", {
  description: "Payouts that wait, by their state: accepted, unknown, or parked for a person"
})
const oldest = Metric.gauge("effect_pix_payout_queue_oldest_seconds", {
  description: "How long the oldest payout of a state has been waiting"
})

export const sweeps = (core: Core, settings: Settings) => {
  const { store } = core
  const requeue = ({ element, key }: LostRow) =>
    Effect.flatMap(store.get(key), (row) =>
      // It may have got another element since.
      row !== undefined && isOpen(row) && elementId(row) === element ? core.requeue(row) : Effect.undefined
    )
  const healLost = Effect.tap(store.healLost(requeue), (found) =>
    found === 0 ? Effect.void : Effect.logWarning(`${found} payout(s) were not in the queue any more. They are again.`)
  )

  const measure = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const counts = yield* store.counts
    for (const state of ["accepted", "unknown", "parked"] as const) {
      const found = counts.find((of) => of.state === state)
      yield* Metric.update(Metric.withAttributes(waiting, { state }), found?.count ?? 0)
      const age = found === undefined ? 0 : (now - found.oldest) / 1000
      yield* Metric.update(Metric.withAttributes(oldest, { state }), age)
      if (state === "parked" && found !== undefined) {
        yield* Effect.logWarning(`${found.count} payout(s) wait for a person: list({ state: "parked" }) names them.`)
      }
    }
  })

  const forget = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { data, references } = settings.forget
    yield* store.forget({ data: now - data, rows: references === undefined ? undefined : now - references })
    yield* forgetDone
  })

  return Effect.all(
    [
      repeatedly("Queueing inserted payouts", Duration.millis(settings.poll), store.healInserted(requeue)),
      repeatedly("Healing lost payouts", "1 minute", healLost),
      repeatedly("Counting payouts", "1 minute", measure),
      repeatedly("Forgetting payouts", "1 hour", forget)
    ],
    { concurrency: "unbounded", discard: true }
  )
}
