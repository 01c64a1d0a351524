/** The programs by name. */
import type { Effect } from "effect"
import { crashes } from "./crashes.ts"
import { echoes } from "./echoes.ts"
import { faults } from "./faults.ts"
import type { Observation } from "./observation.ts"
import { pages } from "./pages.ts"
import { payouts } from "./payouts.ts"
import { webhooks } from "./webhooks.ts"

export interface Size {
  /** All bodies and statuses, or some of each kind. */
  readonly full: boolean
  /** How many seeds of what moves at random. */
  readonly seeds: number
}

export const areas: Readonly<Record<string, (size: Size) => Effect.Effect<ReadonlyArray<Observation>>>> = {
  faults,
  echoes,
  pages,
  payouts,
  crashes,
  webhooks
}
