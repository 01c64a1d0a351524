/** Runs `effect-pix payouts reconcile`: shows what a bank's statement says of the payouts, and settles what has its end-to-end id. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import * as Money from "../../../pix/Money.ts"
import * as Reconcile from "../../../transactions/Reconcile.ts"
import { notRead } from "../database.ts"
import { failed } from "../exit.ts"
import type { Words } from "../flags.ts"
import { type Columns, tableOf } from "../list.ts"
import { note, write } from "../output.ts"
import { jsonLine } from "../text.ts"
import { sumOf, textOfSum } from "./describe.ts"
import { layerReading, listPayouts } from "./queue.ts"
import { type FileLine, readStatement, type StatementColumns } from "./statementFile.ts"
import { takePayoutStep } from "./takeStep.ts"

interface Input extends Words {
  readonly columns: { readonly [Name in keyof StatementColumns]: Option.Option<string> }
  readonly file: string
  readonly json: boolean
  readonly yes: boolean
}

type Payout = PayoutStatus & { readonly document?: string | undefined }

/** The time of a day, two days before it (`side` -1) or after it: what has another day is compared exactly later. */
const limitOf = (day: string | undefined, side: -1 | 1): number =>
  day === undefined
    ? side * Infinity
    : DateTime.toEpochMillis(DateTime.makeUnsafe(`${day}T00:00:00Z`)) + side * 172_800_000

/** The payouts that may be of the statement: those of its end-to-end ids, and those of its days. */
const payoutsOf = (lines: ReadonlyArray<FileLine>) => {
  const days = lines.flatMap(({ day }) => day ?? []).toSorted((one, other) => (one < other ? -1 : 1))
  const ids = new Set(lines.flatMap(({ endToEndId }) => endToEndId?.toUpperCase() ?? []))
  const [from, until] = [limitOf(days[0], -1), limitOf(days.at(-1), 1)]
  const isOfStatement = ({ endToEndId = "", submittedAt, updatedAt }: Reconcile.StatementPayout) =>
    ids.has(endToEndId.toUpperCase()) ||
    (DateTime.toEpochMillis(updatedAt) >= from && DateTime.toEpochMillis(submittedAt) <= until)
  return Stream.runCollect(Stream.filter(listPayouts([undefined]), isOfStatement))
}

/** Opens the documents of the payouts that some lines may be of. */
const withDocuments = Effect.fnUntraced(function* (
  payouts: ReadonlyArray<Payout>,
  { ambiguous }: Reconcile.Statement<FileLine, Payout>
) {
  const queue = yield* PayoutQueue
  const named = new Set(ambiguous.flatMap(({ because, payouts }) => (because === "SameAmountAndDay" ? payouts : [])))
  let sealed = 0
  const opened: Array<Payout> = []
  for (const payout of payouts) {
    const payee = named.has(payout)
      ? yield* queue.payee(payout.reference).pipe(
          Effect.mapError(notRead),
          // A seal dies where it has not the key.
          Effect.catchDefect(() => Effect.sync(() => (++sealed, Option.none())))
        )
      : Option.none()
    const document = Option.getOrUndefined(payee)?.creditorDocument
    opened.push(document === undefined ? payout : { ...payout, document })
  }
  if (sealed > 0) yield* note(`The payees of ${sealed} payout(s) are sealed: give the keys by EFFECT_PIX_SEAL_KEY.`)
  return opened
})

/** A line of the result. */
interface Finding {
  readonly list: "matched" | "ambiguous" | "alone"
  readonly line?: FileLine
  readonly payouts: ReadonlyArray<Payout>
  readonly because?: Reconcile.StatementDoubt
}

const shown = ({ payouts }: Finding): string => {
  const names = payouts.slice(0, 3).map(({ reference, state }) => `${reference} (${state})`)
  return [...names, ...(payouts.length > 3 ? [`and ${payouts.length - 3} more`] : [])].join(", ")
}

const table: Columns<Finding>["table"] = {
  LIST: [9, ({ list }) => list],
  LINE: [-6, ({ line }) => `${line?.number ?? ""}`],
  DAY: [10, ({ line }) => line?.day ?? ""],
  AMOUNT: [-14, ({ line, payouts: [payout] }) => Money.format(line?.amount ?? payout?.amount ?? Money.centavos(0))],
  WHY: [16, ({ because = "" }) => because],
  PAYOUTS: [0, shown]
}

const dataOf = ({ because, line, list, payouts }: Finding) => ({
  list,
  line: line?.number,
  day: line?.day,
  amount: line?.amount ?? payouts[0]?.amount,
  because,
  payouts: payouts.map(({ reference, state }) => ({ reference, state }))
})

/** Whether a payout should be on a statement: it was recorded, or may have left. */
const isExpected = (status: Payout): boolean =>
  status.state === "posted" ||
  status.state === "paid" ||
  ("mayHaveLeftAt" in status && status.mayHaveLeftAt !== undefined)

const isOut = ({ direction }: FileLine): boolean => direction === "out"

/** What may be settled. What is refused, failed or not sent yet contradicts the statement: a person looks. */
const isOpen = ({ state }: Payout): boolean => state === "posted" || state === "unknown" || state === "parked"

const compare = Effect.fnUntraced(function* (lines: ReadonlyArray<FileLine>, { columns, json }: Input) {
  const payouts: ReadonlyArray<Payout> = yield* payoutsOf(lines)
  const first = Reconcile.statement(lines, payouts)
  const { alone, ambiguous, matched } = Option.isNone(columns.document)
    ? first
    : Reconcile.statement(lines, yield* withDocuments(payouts, first))
  const expected = alone.payouts.filter(isExpected)
  const findings: ReadonlyArray<Finding> = [
    ...matched.map(({ line, payout }) => ({ list: "matched" as const, line, payouts: [payout] })),
    ...ambiguous.map((doubt) => ({ list: "ambiguous" as const, ...doubt })),
    ...alone.lines.filter(isOut).map((line) => ({ list: "alone" as const, line, payouts: [] })),
    ...expected.map((payout) => ({ list: "alone" as const, payouts: [payout] }))
  ]
  const { head, lineOf } = tableOf({ table })
  yield* write((json ? "" : head) + findings.map(json ? (one) => jsonLine(dataOf(one)) : lineOf).join(""))
  const settled = matched.map(({ payout }) => payout)
  yield* note(`${lines.length} lines with an amount, of which ${lines.filter(isOut).length} left.`)
  yield* note(`Matched: ${textOfSum(sumOf(settled))}. Of them not ended: ${textOfSum(sumOf(settled.filter(isOpen)))}.`)
  yield* note(`Ambiguous: ${ambiguous.length} lines, which settle nothing. Look at each in the panel.`)
  yield* note(`Alone: ${alone.lines.filter(isOut).length} lines that left, and ${textOfSum(sumOf(expected))}.`)
  const wrong = settled.filter((payout) => !isOpen(payout) && payout.state !== "paid")
  if (wrong.length > 0) {
    yield* note(`CONTRADICTED: ${textOfSum(sumOf(wrong))} matched, and neither posted nor paid. Look at each by show.`)
  }
  return settled.filter(isOpen).map(({ reference }) => reference)
})

const settle = takePayoutStep({
  name: "settle",
  isPossible: true, // of what `isOpen`
  effect: () => "The statement has their end-to-end ids: you say that they were paid. Nothing is sent.",
  take: (queue, { status }, why) => queue.settle(status.reference, { ...why, as: "paid" })
})

export const run = Effect.fnUntraced(function* (input: Input) {
  const { amount, out } = input.columns
  if (Option.isNone(Option.orElse(amount, () => out)))
    return yield* failed("Name the column of the amounts: --amount, or --out.")
  const lines = yield* readStatement(input.file, Record.map(input.columns, Option.getOrUndefined))
  const subjects = yield* Effect.provide(compare(lines, input), layerReading)
  if (subjects.length === 0) return yield* note("There is nothing to settle. Nothing was changed.")
  yield* settle({ ...input, subjects, own: {} })
})
