/** `effect-pix transactions`: the company's transactions, streamed. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { flag, full, json } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

const day = (name: string, description: string) =>
  Flag.Date(name).pipe(Flag.withMetavar("time"), Flag.withDescription(description), Flag.optional)

export const transactions = Command.make(
  "transactions",
  {
    since: day("since", "Created at this time or later, as 2026-11-01 (UTC) or 2026-11-01T00:00:00-03:00"),
    until: day("until", "Created before this time"),
    limit: Flag.Int("limit").pipe(Flag.withDescription("At most so many. Default: all"), Flag.optional),
    oldestFirst: flag("oldest-first", "Oldest first, which is the surest order for an export. Default: newest first"),
    csv: flag("csv", "Comma-separated values, safe to open in a sheet"),
    full,
    json
  },
  lazily(() => import("./internal/transactions.ts"))
).pipe(
  Command.withDescription("List the company's transactions"),
  Command.withExamples([
    { command: "effect-pix transactions --limit 20", description: "the newest twenty" },
    {
      command: "effect-pix transactions --since 2026-11-01 --oldest-first --csv > november.csv",
      description: "an export"
    }
  ])
)
