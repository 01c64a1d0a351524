/**
 * Measures how the client's own table reads the sentences of this folder. One that it does not know costs a decision; one of what broke,
 * or of another withdrawal, that it takes for a refusal costs money. `npm run words` writes the figures into README.md.
 */
import { writeFileSync } from "node:fs"
import { fold, readPhrases } from "../../../src/client/internal/words/phrases.ts"
import { phrases } from "../../support/phrases.ts"

/** The lists, and what their sentences say. */
const lists = {
  insufficientBalance: "InsufficientBalance",
  belowMinimum: "BelowMinimum",
  noPixKey: "NoPixKey",
  limits: "LimitReached",
  ordinaryRefusals: "a refusal",
  ordinary: "a refusal",
  deadlines: "a refusal",
  noCause: "a refusal",
  otherThings: "a refusal",
  brokenBehind: "a doubt",
  timeOut: "a doubt",
  underWay: "a doubt",
  keyUsed: "a doubt",
  // Written in one go, before they were measured: ten of what broke, of earlier requests, and of limits that wait; and thirty others.
  unseenDoubts: "a doubt",
  unseenOrdinary: "a refusal"
} as const
type List = keyof typeof lists

const causeOf = (sentence: string) => readPhrases([fold({ text: sentence, isCode: false })], 422, []).ours?.cause

const figuresOf = (list: List) => {
  const says = lists[list]
  const sentences = phrases(list)
  const known = sentences.filter((sentence) => causeOf(sentence) !== undefined)
  return {
    list,
    says,
    count: sentences.length,
    known: known.length,
    /** Known under another cause than the one that they say. */
    wrong: says.startsWith("a ") ? [] : known.filter((one) => ![says, "RequestRejected"].includes(causeOf(one) ?? "")),
    /** Of what broke, and known all the same. */
    broken: says === "a doubt" ? known : []
  }
}

/** The figures of each list. */
export const figures = Object.keys(lists).map((list) => figuresOf(list as List)) // the keys of a literal object

/** The figures as a table. */
export const table = [
  "| list | its sentences say | sentences | known | cost a decision |",
  "| --- | --- | --- | --- | --- |",
  ...figures.map(
    ({ count, known, list, says }) =>
      `| ${list} | ${says} | ${count} | ${known} | ${says === "a doubt" ? "" : count - known} |`
  )
].join("\n")

const head = `# Sentences of refusals

How the client's own table (\`src/client/internal/words/refusals.ts\`) reads the sentences that were collected here, each as the message
of a withdrawal that is refused with 422. They are many ways to say few things: a gateway has 15 to 40, and who types them as entries
of \`GatewayFacts.refusals\` has no doubt left. Of what broke none may be known. \`npm run words\` writes this page.
`

if (import.meta.main) writeFileSync(new URL("README.md", import.meta.url), `${head}\n${table}\n`)
