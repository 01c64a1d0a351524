/**
 * Writes what the pages say of a payout's life, from the code: in docs/payout-queue.md in which states each step of a person is
 * possible; in docs/command.md what each step is for; and in docs/errors.md the lines by which a refusal is read. `npm run fix` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PayoutState } from "../src/payouts/PayoutState.ts"
import { accountSteps, letterSteps, payoutSteps, sentenceSteps } from "../src/cli/internal/operator/steps.ts"
import { lines as refusalLines } from "../src/client/internal/call/refusalLines.ts"
import { type Edge, edges } from "../src/payouts/internal/queue/edges.ts"

const folder = join(import.meta.dirname, "../docs")
const begin = "<!-- Written by .ci/edges.ts, from"
const end = "\n<!-- The end of what .ci/edges.ts writes -->"

/** The steps that a person takes. */
const steps = ["retry", "park", "resume", "judge", "settle", "confirm", "cancel", "forget"] as const

/** Whether an edge is in the table: it does something, or it comes before one that does. Without an edge a step is not possible. */
const isShown = ({ from, refused, to }: Edge<never>, later: ReadonlyArray<Edge<never>>): boolean => {
  if (to !== undefined || refused === undefined) return true
  const overlaps = (edge: Edge<never>) => edge.from.some((state) => from.includes(state))
  return later.some((edge, at) => overlaps(edge) && isShown(edge, later.slice(at + 1)))
}

interface Line {
  readonly from: string
  readonly when: ReadonlyArray<string>
  readonly to: string
}

const lineOf = ({ from, refused, to, when }: Edge<never>): Line => ({
  from: from.length === PayoutState.literals.length ? "any" : from.join(", "),
  when: when === undefined ? [] : [when[0]],
  to: refused === undefined ? (to ?? "as it was") : "not possible"
})

/** Adds a line, or its condition to the line before, where that says the same. */
const added = (lines: ReadonlyArray<Line>, line: Line): ReadonlyArray<Line> => {
  const last = lines.at(-1)
  const isSame = last?.from === line.from && last.to === line.to && last.when.length > 0 && line.when.length > 0
  return isSame ? [...lines.slice(0, -1), { ...last, when: [...last.when, ...line.when] }] : [...lines, line]
}

const linesOf = (event: (typeof steps)[number]): ReadonlyArray<Line> =>
  // A guard of an edge is only named.
  (edges[event] as ReadonlyArray<Edge<never>>)
    .filter((edge, at, all) => isShown(edge, all.slice(at + 1)))
    .map(lineOf)
    .reduce(added, [])

/** A table of these rows, none of which has a `|`. */
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

/** The steps of a person: for each, in which states it is possible, on which condition, and what it makes of it. */
const list = (): string =>
  table(
    ["step", "from which states, and to which"],
    steps.map((name) => {
      const lines = linesOf(name).map(
        ({ from, to, when }) => `${from}${when.length === 0 ? "" : ` (${when.join("; ")})`} → **${to}**`
      )
      return [`\`${name}\``, lines.join("<br>")]
    })
  )

/** The lines by which the refusal of a write is read, each with its number. */
const refusals = (): string =>
  table(
    ["line", "the refusal", "the error"],
    refusalLines.map(({ error, line, says }) => [String(line), says, error === "its cause" ? error : `\`${error}\``])
  )

/** The steps of an operator. */
const stepsList = (): string =>
  [
    ...[...payoutSteps, ...accountSteps, ...sentenceSteps].map((step) => ["payouts", step] as const),
    ...letterSteps.payouts.map((step) => ["payouts dead-letters", step] as const),
    ...letterSteps.webhooks.map((step) => ["webhooks dead-letters", step] as const)
  ]
    .map(([group, { en, name }]) => `- \`${group} ${name}\`: ${en}`)
    .join("\n")

/** What is written, and into which page after which comment. */
export const parts = [
  { page: join(folder, "payout-queue.md"), from: "src/payouts/internal/queue/edges.ts", write: list },
  { page: join(folder, "errors.md"), from: "src/client/internal/call/refusalLines.ts", write: refusals },
  { page: join(folder, "command.md"), from: "src/cli/internal/operator/steps.ts", write: stepsList }
] as const

/** Where a page has a part. */
const placeOf = (text: string, from: string): readonly [start: number, end: number] => {
  const comment = `${begin} ${from} -->\n`
  const start = text.indexOf(comment) + comment.length
  return [start, text.indexOf(end, start)]
}

/** What a page has of a part. */
export const partOf = (text: string, from: string): string => text.slice(...placeOf(text, from)).trim()

if (import.meta.main) {
  for (const { from, page, write } of parts) {
    const text = readFileSync(page, "utf8")
    const [start, stop] = placeOf(text, from)
    writeFileSync(page, `${text.slice(0, start)}\n${write()}\n${text.slice(stop)}`)
  }
}
