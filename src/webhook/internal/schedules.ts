/**
 * When a row that waits is processed again, by the reason and the number of tries. The number is stored in the row, so
 * another process continues where the last one ended.
 */
import type * as Effect from "effect/Effect"
import { afterFailure, delayOf as delayAfter, type Delays } from "../../durable/HandOut.ts"
import type { Reason } from "./row.ts"

const schedules: Readonly<Record<Reason | "hint", Delays>> = {
  // A minute.
  early: { first: 1000, longest: 32_000, tries: 6, isJittered: false },
  // Three days.
  outage: { first: 2000, longest: 300_000, tries: 870, isJittered: true },
  // Ten minutes, of a hint that the user's code does not take.
  hint: { first: 1000, longest: 60_000, tries: 15, isJittered: false },
  failed: afterFailure
}

/** How many milliseconds to wait after this try, counted from 1; `undefined` after the last one. */
export const delayOf = (reason: Reason | "hint", attempt: number): Effect.Effect<number | undefined> =>
  delayAfter(schedules[reason], attempt)
