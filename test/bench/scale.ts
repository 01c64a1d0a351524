/**
 * Measures how the cost of a call changes with the number of calls in flight, of rows in a list, of merchants in a
 * process, and of payouts in a run.
 */
import { Effect } from "effect"
import { message, start, startServer } from "./processes.ts"

export interface Point {
  readonly at: number
  /** Microseconds of CPU for each call, row or payout; bytes for each merchant. */
  readonly value: number
  /** Megabytes of heap at the end, if they were measured. */
  readonly heap?: number
}

export interface Curve {
  readonly title: string
  readonly unit: string
  readonly points: ReadonlyArray<Point>
}

const curve = (title: string, unit: string, kind: string, steps: ReadonlyArray<number>, rows = 0) =>
  Effect.gen(function* () {
    const { origin } = yield* startServer(rows)
    const { child } = yield* start("scaler.ts", [origin], ["--expose-gc"])
    const points = yield* Effect.forEach(steps, (at) => message<Point>(child, { kind, at }))
    return { title, unit, points } satisfies Curve
  }).pipe(Effect.scoped)

/** The curves. `largest` is the largest size of each. */
export const scale = (largest: { readonly inFlight: number; readonly rows: number; readonly merchants: number }) => {
  const up = (to: number, from: number) => Array.from({ length: 7 }, (_, i) => from * 10 ** i).filter((n) => n <= to)
  return Effect.all([
    curve("charges, by how many are in flight", "us of CPU a call", "inFlight", up(largest.inFlight, 1)),
    curve("`TransactionStream.stream`, by rows", "us of CPU a row", "rows", up(largest.rows, 100), largest.rows),
    curve("merchants in one process, one client each", "bytes of heap a client", "merchants", up(largest.merchants, 1)),
    curve("payouts one by one, 16 at a time", "us of CPU a payout", "single", [1000]),
    curve("payouts through `Payouts.run`", "us of CPU a payout", "batch", [1000])
  ])
}
