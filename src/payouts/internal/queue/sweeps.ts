/**
 * The periodic work of a worker: it queues payouts that another program inserted, replaces lost elements, and deletes the
 * data of payouts that ended long ago.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LostRow } from "../../../durable/Lost.ts"
import { forgetDone } from "../../../durable/Queue.ts"
import { repeatedly } from "../../../durable/Work.ts"
import { log } from "../../../internal/spans.ts"
import { type Core, elementId } from "./core.ts"
import { isOpen } from "./row.ts"
import type { Settings } from "./settings.ts"

export const sweeps = (core: Core, settings: Settings) => {
  const { store } = core
  const requeue = ({ element, key }: LostRow) =>
    Effect.flatMap(store.get(key), (row) =>
      // Another process may have queued it since.
      row !== undefined && isOpen(row) && elementId(row) === element ? core.requeue(row) : Effect.undefined
    )
  const healLost = Effect.tap(store.healLost(requeue), (found) =>
    found === 0
      ? Effect.void
      : log("Warn", `${found} payout(s) were not in the queue any more. They are again.`, { "payouts.healed": found })
  )

  const forget = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { data, references } = settings.forget
    yield* store.forget({ data: now - data, rows: references === undefined ? undefined : now - references })
    yield* forgetDone
  })

  return Effect.all(
    [
      repeatedly(
        "Queueing inserted payouts",
        Duration.millis(settings.poll),
        store.healInserted(requeue),
        store.followWrites
      ),
      repeatedly("Healing lost payouts", "1 minute", healLost, store.followWrites),
      repeatedly("Forgetting payouts", "1 hour", forget)
    ],
    { concurrency: "unbounded", discard: true }
  )
}
