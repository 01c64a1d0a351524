/** A line of the dashboard's table, by its kind. */
import type { Query } from "./queries.ts"

interface Options {
  /** From this value on it is red. */
  readonly red?: number
  /** Of 24 columns. */
  readonly width?: number
}

export interface Panel extends Options {
  /** A tile has the last value, large. Areas are stacked. Bars are what is new in each step. */
  readonly kind: "alerts" | "tile" | "lines" | "areas" | "bars"
  readonly title: string
  readonly help: string
  readonly see: string
  readonly queries: ReadonlyArray<Query>
}

const panel =
  (kind: Panel["kind"]) =>
  (title: string, help: string, see: string, queries: ReadonlyArray<Query>, options: Options = {}): Panel => ({
    kind,
    title,
    help,
    see,
    queries,
    ...options
  })
export const [alerts, tile, lines, areas, bars] = [
  panel("alerts"),
  panel("tile"),
  panel("lines"),
  panel("areas"),
  panel("bars")
]
