/**
 * Deletes the data of payouts that ended long ago.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { repeatedly } from "../../../durable/Work.ts"
import type { Settings } from "./settings.ts"
import type { Store } from "./store.ts"

export const forgetting = (store: Store, { forget: { data, references } }: Settings) =>
  repeatedly(
    "Forgetting payouts",
    "1 hour",
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      store.forget({ data: now - data, rows: references === undefined ? undefined : now - references })
    )
  )
