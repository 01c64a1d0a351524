/**
 * Summarises the figures of many rounds.
 */
import { Array, Order } from "effect"

export const quantile = (values: ReadonlyArray<number>, part: number): number => {
  const sorted = Array.sort(values, Order.Number)
  return sorted[Math.round((sorted.length - 1) * part)] ?? Number.NaN
}

/** A figure of some rounds: its quartiles, and the 15th percentile, which a noisy machine disturbs least. */
export interface Figure {
  readonly low: number
  readonly median: number
  readonly high: number
  readonly p15: number
}

export const figure = (values: ReadonlyArray<number>): Figure => ({
  low: quantile(values, 0.25),
  median: quantile(values, 0.5),
  high: quantile(values, 0.75),
  p15: quantile(values, 0.15)
})
