/**
 * Writes what the pages say of a payout's life, from the code: in docs/after-it-is-sent.md the diagram of its states and the list of the
 * edges of its state machine, as the worker and the operator's steps take them; in docs/payouts.md the Portuguese words; in docs/command.md
 * the steps of an operator; and in docs/errors.md the lines by which a refusal is read.
 * `npm run fix` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DateTime } from "effect"
import { InsufficientBalance, OutcomeUnknown } from "../src/contract/PaymentsError.ts"
import { PayoutState } from "../src/payouts/PayoutState.ts"
import type { PayoutStatus } from "../src/payouts/PayoutStatus.ts"
import { sentenceOf } from "../src/cli/internal/operator/sentence.ts"
import { accountSteps, letterSteps, payoutSteps, sentenceSteps } from "../src/cli/internal/operator/steps.ts"
import { lines as refusalLines } from "../src/client/internal/call/refusalLines.ts"
import { Centavos } from "../src/pix/Money.ts"
import { type Edge, edges } from "../src/payouts/internal/queue/edges.ts"
import type { Tag } from "../src/payouts/internal/queue/events.ts"

const folder = join(import.meta.dirname, "../docs")
const begin = "<!-- Written by .ci/edges.ts, from"
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
  Parked: "it is left to a person",
  retry: "`retry`",
  park: "`park`",
  resume: "`resume`",
  judge: "`judge`",
  settle: "`settle`",
  confirm: "`confirm`",
  cancel: "`cancel`",
  forget: "`forget`"
}

/** The steps that a person takes. */
const steps: ReadonlySet<Tag> = new Set(["retry", "park", "resume", "judge", "settle", "confirm", "cancel", "forget"])

/**
 * Whether an edge is in the list: what it does is not what happens without an edge, or it comes before one of these. Without an
 * edge a step of a person is not possible, and anything else leaves the state.
 */
const isShown = (event: Tag, { from, refused, to }: Edge<never>, later: ReadonlyArray<Edge<never>>): boolean => {
  const isOfPerson = steps.has(event)
  if (to !== undefined || (isOfPerson && refused === undefined)) return true
  const overlaps = (edge: Edge<never>) => edge.from.some((state) => from.includes(state))
  return later.some((edge, at) => overlaps(edge) && isShown(event, edge, later.slice(at + 1)))
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

const linesOf = (event: Tag): ReadonlyArray<Line> =>
  // A guard of an edge is only named.
  (edges[event] as ReadonlyArray<Edge<never>>)
    .filter((edge, at, all) => isShown(event, edge, all.slice(at + 1)))
    .map(lineOf)
    .reduce(added, [])

/** The list of the edges: under each event, what it finds, on which condition, and what it makes of it. */
const list = (): string =>
  (Object.keys(words) as ReadonlyArray<Tag>)
    .flatMap((name) => {
      const lines = linesOf(name).map(
        ({ from, to, when }) => `  - ${[from, ...(when.length === 0 ? [] : [when.join("; ")])].join(": ")} → **${to}**`
      )
      return lines.length === 0 ? [] : [`- ${words[name]}:`, ...lines]
    })
    .join("\n")

/** Who leads a payout into another state: an answer or a lookup, or the worker or a webhook; and in italics a person. */
const labels: { readonly [Name in Tag]?: string } = {
  Recorded: "answer",
  Refused: "answer",
  Unknown: "answer",
  LookedUp: "lookup",
  Parked: "worker"
}

/** The diagram of the states: an arrow for each pair of states, with all that leads from one to the other. */
const diagram = (): string => {
  const arrows = new Map<string, Set<string>>()
  for (const event of Object.keys(words) as ReadonlyArray<Tag>) {
    for (const { from, to } of edges[event] as ReadonlyArray<Edge<never>>) {
      for (const state of to === undefined ? [] : from) {
        if (state === to) continue
        const arrow = `${state} --> ${to}`
        arrows.set(
          arrow,
          (arrows.get(arrow) ?? new Set()).add(labels[event] ?? (steps.has(event) ? event : event.toLowerCase()))
        )
      }
    }
  }
  const lines = [...arrows].map(([arrow, by]) => `  ${arrow}: ${[...by].join(", ")}`)
  return ["```mermaid", "stateDiagram-v2", "  [*] --> accepted", ...lines, "```"].join("\n")
}

const at = DateTime.makeUnsafe("2026-12-05T12:00:00Z")
const common = {
  reference: "folha/1",
  idempotencyKey: "payout_1",
  amount: Centavos.make(1000),
  submittedAt: at,
  updatedAt: at
}
const ended = { ...common, by: "lookup", endedAt: at, withdrawalId: 7184 } as const
const refusal = new InsufficientBalance({
  operation: "requestWithdrawal",
  attempts: 1,
  outcome: "Rejected",
  status: 422
})
const unclear = new OutcomeUnknown({
  operation: "requestWithdrawal",
  attempts: 1,
  idempotencyKey: "payout_1",
  outcome: "Unknown",
  reason: "ServerError"
})

/** One status of each kind, and what it is. */
const statuses: ReadonlyArray<readonly [what: string, PayoutStatus]> = [
  ["`accepted`", { _tag: "Accepted", state: "accepted", ...common }],
  ["`accepted`, waits for a balance", { _tag: "Accepted", state: "accepted", ...common, because: "Balance" }],
  ["`accepted`, `notBefore`", { _tag: "Accepted", state: "accepted", ...common, because: "NotBefore", notBefore: at }],
  ["`posted`", { _tag: "Posted", state: "posted", ...common, withdrawalId: 7184 }],
  [
    "`posted`, claimed as failed",
    { _tag: "Posted", state: "posted", ...common, withdrawalId: 7184, claimed: "failed" }
  ],
  ["`paid` by a lookup", { _tag: "Paid", state: "paid", ...ended }],
  ["`paid` by a person", { _tag: "Paid", state: "paid", ...ended, by: "person" }],
  ["`paid`, claimed as returned", { _tag: "Paid", state: "paid", ...ended, claimed: "returned" }],
  ["`failed`", { _tag: "Failed", state: "failed", ...ended }],
  ["`failed`, contradicted", { _tag: "Failed", state: "failed", ...ended, contradicted: true }],
  ["`returned`", { _tag: "Returned", state: "returned", ...ended }],
  ["`refused`", { _tag: "Refused", state: "refused", ...common, error: refusal }],
  ["`unknown`", { _tag: "Unknown", state: "unknown", ...common, error: unclear }],
  ["`parked` by a person", { _tag: "Parked", state: "parked", ...common, because: "Operator" }],
  [
    "`parked`, and a request may have left",
    { _tag: "Parked", state: "parked", ...common, because: "PastHorizon", mayHaveLeftAt: at }
  ],
  ["`cancelled`", { _tag: "Cancelled", state: "cancelled", ...common }]
]

const wordsList = (): string =>
  statuses.map(([what, status]) => `- ${what}: ${sentenceOf(status, "en")} / ${sentenceOf(status, "pt")}`).join("\n")

/** The steps of an operator, in both languages. */
const stepsList = (): string =>
  [
    ...[...payoutSteps, ...accountSteps, ...sentenceSteps].map((step) => ["payouts", step] as const),
    ...letterSteps.payouts.map((step) => ["payouts dead-letters", step] as const),
    ...letterSteps.webhooks.map((step) => ["webhooks dead-letters", step] as const)
  ]
    .map(([group, { en, name, pt }]) => `- \`${group} ${name}\`: ${en} / ${pt}`)
    .join("\n")

/** The lines by which the refusal of a write is read, each with its number. */
const refusals = (): string =>
  refusalLines
    .map(({ error, line, says }) => `- ${line}: ${says} → ${error === "its cause" ? error : `**\`${error}\`**`}`)
    .join("\n")

const life = join(folder, "after-it-is-sent.md")

/** What is written, and into which page after which comment. */
export const parts = [
  { page: life, from: "the arrows of src/payouts/internal/queue/edges.ts", write: diagram },
  { page: life, from: "src/payouts/internal/queue/edges.ts", write: list },
  { page: join(folder, "errors.md"), from: "src/client/internal/call/refusalLines.ts", write: refusals },
  { page: join(folder, "payouts.md"), from: "src/cli/internal/operator/sentence.ts", write: wordsList },
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
