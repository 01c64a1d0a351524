/**
 * When a row that waits is processed again, by the reason and the number of tries. The number is stored in the row, so
 * another process continues where the last one ended.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Reason } from "./row.ts"

/** The first wait, which is doubled up to the longest one, and the number of tries, in milliseconds. */
const schedules: Readonly<
  Record<Reason | "hint", { first: number; longest: number; tries: number; isJittered: boolean }>
> = {
  // A minute.
  early: { first: 1000, longest: 32_000, tries: 6, isJittered: false },
  // Three days.
  outage: { first: 2000, longest: 300_000, tries: 870, isJittered: true },
  // Ten minutes, of a hint that the user's code does not take.
  hint: { first: 1000, longest: 60_000, tries: 15, isJittered: false },
  // A day.
  failed: { first: 1000, longest: 300_000, tries: 295, isJittered: true }
}

/** How many milliseconds to wait after this try, counted from 1; `undefined` after the last one. */
export const delayOf = (reason: Reason | "hint", attempt: number): Effect.Effect<number | undefined> => {
  const { first, isJittered, longest, tries } = schedules[reason]
  if (attempt > tries) return Effect.undefined
  const millis = Math.min(first * 2 ** (attempt - 1), longest)
  return isJittered
    ? Effect.map(Random.nextBetween(0.8, 1.2), (factor) => Math.ceil(millis * factor))
    : Effect.succeed(millis)
}
