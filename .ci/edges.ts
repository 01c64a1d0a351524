/**
 * Writes what two pages list of the code: in docs/command.md what each step of an operator is for, and in docs/errors.md the lines by
 * which a refusal is read. `npm run fix` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { accountSteps, letterSteps, payoutSteps, sentenceSteps } from "../src/cli/internal/operator/steps.ts"
import { lines as refusalLines } from "../src/client/internal/call/refusalLines.ts"

const folder = join(import.meta.dirname, "../docs")
const begin = "<!-- Written by .ci/edges.ts, from"
const end = "\n<!-- The end of what .ci/edges.ts writes -->"

/** A table of these rows, none of which has a `|`. */
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

/** The lines by which the refusal of a write is read, in their order. */
const refusals = (): string =>
  table(
    ["the refusal", "the error"],
    refusalLines.map(({ error, says }) => [says, error === "its cause" ? error : `\`${error}\``])
  )

/** The steps of an operator, each with its first sentence. */
const stepsList = (): string =>
  table(
    ["step", "what it does"],
    [
      ...[...payoutSteps, ...accountSteps, ...sentenceSteps].map((step) => ["payouts", step] as const),
      ...letterSteps.payouts.map((step) => ["payouts dead-letters", step] as const),
      ...letterSteps.webhooks.map((step) => ["webhooks dead-letters", step] as const)
    ].map(([group, { en, name }]) => [`\`${group} ${name}\``, `${en.split(/[.:] /)[0]?.replace(/\.$/, "")}.`])
  )

/** What is written, and into which page after which comment. */
export const parts = [
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
