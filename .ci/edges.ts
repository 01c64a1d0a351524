/**
 * Writes the table of docs/payouts-operating.md that says what may happen to a payout: all edges of its state machine, as the
 * worker and the operator's steps take them. `npm run fix` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Edge, edges } from "../src/payouts/internal/queue/edges.ts"
import type { Tag } from "../src/payouts/internal/queue/events.ts"

export const page = join(import.meta.dirname, "../docs/payouts-operating.md")
const begin = "<!-- Written by .ci/edges.ts, from src/payouts/internal/queue/edges.ts -->\n"
const end = "\n<!-- The end of what .ci/edges.ts writes -->"

const words: { readonly [Name in Tag]: string } = {
  Marked: "a request is about to leave",
  Waits: "it cannot be sent now",
  Recorded: "the answer is a record",
  Refused: "the answer is a refusal",
  Unknown: "the answer proves nothing",
  LookedUp: "a lookup finds its record",
  LookupMissed: "a lookup finds none",
  Claimed: "a webhook claims something",
  Replaced: "another payout is to replace it",
  Parked: "it is left to a person",
  retry: "`retry`",
  park: "`park`",
  resume: "`resume`",
  settle: "`settle`",
  confirm: "`confirm`",
  cancel: "`cancel`",
  reschedule: "`reschedule`",
  forget: "`forget`"
}

const rowOf = (event: string, { from, refused, to, when }: Edge<never>) =>
  `| ${event} | ${from.join(", ")} | ${when?.[0] ?? ""} | ${refused === undefined ? (to ?? "as it was") : "not possible"} |`

/** The table of all edges. */
export const table = (): string =>
  [
    "| what happens | it is | and | it is then |",
    "| --- | --- | --- | --- |",
    ...(Object.keys(words) as ReadonlyArray<Tag>).flatMap((event) =>
      // A guard of the edge is only named.
      (edges[event] as ReadonlyArray<Edge<never>>).map((edge) => rowOf(words[event], edge))
    )
  ].join("\n")

/** The table that a page has. */
export const tableOf = (text: string): string =>
  text.slice(text.indexOf(begin) + begin.length, text.indexOf(end)).trim()

if (import.meta.main) {
  const text = readFileSync(page, "utf8")
  writeFileSync(
    page,
    text.replace(tableOf(text), () => table())
  )
}
