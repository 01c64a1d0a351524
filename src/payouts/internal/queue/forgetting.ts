/**
 * Deletes the data of payouts that ended long ago.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { repeatedly } from "../../../durable/Work.ts"
import type { Settings } from "./settings.ts"
import type { Store } from "./store.ts"

export const forgetting = (store: Store, { forgetData }: Settings) =>
  repeatedly(
    "Forgetting payouts",
    "1 hour",
    Effect.flatMap(Clock.currentTimeMillis, (now) => store.forget(now - forgetData))
  )
