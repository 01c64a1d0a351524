/** Writes what a page lists of the code: in docs/command.md what each step of an operator is for. `npm run fix` runs it. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { accountSteps, letterSteps, payoutSteps, sentenceSteps } from "../src/cli/internal/operator/steps.ts"

const folder = join(import.meta.dirname, "../docs")
const begin = "<!-- Written by .ci/edges.ts, from"
const end = "\n<!-- The end of what .ci/edges.ts writes -->"

/** A table of these rows, none of which has a `|`. */
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

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
