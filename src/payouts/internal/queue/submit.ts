/**
 * Accepts payouts: checks and seals all of them, and inserts all or none.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Centavos } from "../../../pix/Money.ts"
import { DatabaseError } from "../../../durable/Database.ts"
import { LooksAlike, type PayoutItem, type PayoutsNotAccepted } from "../../Payout.ts"
import type { Seal } from "../../PayoutQueueOptions.ts"
import { conflictOf, nameOf } from "../content.ts"
import { type Judged, makeFindAlike } from "./alike.ts"
import { makeServedWarning } from "./accountClient.ts"
import type { Core } from "./core.ts"
import { isSameRequest, type Submission, submission } from "./request.ts"
import * as Row from "./row.ts"
import type { Settings } from "./settings.ts"

export type Wrong = PayoutsNotAccepted["wrong"][number]

/** A run of a sheet. */
export interface Run {
  readonly id: string
  /** The references that may look like another one; `true`: all. */
  readonly allowAlike: true | ReadonlyArray<string>
}

interface Inserted {
  readonly row: Row.Row
  readonly isNew: boolean
}

/** How long a run compares its payouts with earlier ones, in milliseconds. */
const aDay = 86_400_000

export const makeAccept = (core: Core, settings: Settings, seal: Seal) => {
  const { store } = core
  const { account, alike, lease } = settings
  const warnIfUnserved = makeServedWarning(store, account)
  const findAlike = makeFindAlike(store, seal)

  const isSameContent = Effect.fnUntraced(function* (row: Row.Row, wanted: Submission) {
    // The stored request holds the amount too, so the rest can be compared only where the amounts are equal.
    const isComparable = row.request !== null && row.amount === wanted.amount
    const stored = isComparable ? yield* seal.open(row.request, row.reference) : undefined
    return (
      (stored === undefined ? undefined : isSameRequest(stored, wanted.text)) ??
      row.requestCheck === wanted.requestCheck
    )
  })

  /** Checks and seals all, before the transaction begins. */
  const sealAll = Effect.forEach((payout: PayoutItem) =>
    Effect.flatMap(Effect.fromResult(submission(account, payout)), (one) =>
      Effect.map(seal.seal(one.text, one.reference), (sealed) => [one, sealed] as const)
    ).pipe(Effect.result)
  )

  /** Inserts one payout, or finds it. A conflict is a value, so that the transaction goes on to the next payout. */
  const insert = Effect.fnUntraced(function* (submitted: Submission, request: string, run: Run | undefined) {
    const { text: _, ...wanted } = submitted
    const now = yield* Clock.currentTimeMillis
    const ofRun = run === undefined ? {} : { runBy: run.id, runUntil: 0 }
    const row = Row.Row.make({ ...wanted, ...ofRun, request, submittedAt: now, updatedAt: now })
    if (yield* core.insert(row)) return Result.succeed({ row, isNew: true })
    const earlier = yield* store.get(row.idempotencyKey)
    if (earlier === undefined) {
      // The row was committed after this transaction had begun, so this transaction does not see it.
      return yield* new DatabaseError({ operation: "submit", reason: "SerializationError", isRetryable: true })
    }
    const conflict = conflictOf(wanted, yield* isSameContent(earlier, submitted), {
      idempotencyKey: earlier.idempotencyKey,
      amount: Centavos.make(earlier.amount),
      since: DateTime.makeUnsafe(earlier.submittedAt)
    })
    return conflict === undefined ? Result.succeed({ row: earlier, isNew: false }) : Result.fail(conflict)
  })

  /** Takes up the rows that another run has left, and returns their keys. */
  const takeUp = Effect.fnUntraced(function* (rows: ReadonlyArray<Row.Row>, run: Run) {
    const served = yield* store.accounts.get
    const now = yield* Clock.currentTimeMillis
    const isOver = yield* store.isRunOver
    const taken: Array<Row.Row> = []
    for (const row of rows.filter((one) => Row.isLeftByRun(one, served.readAt))) {
      const only = row.state === "accepted" ? isOver : undefined
      const changed = yield* core.change(
        row,
        Row.takeUp(served, now, run.id),
        { _tag: "Resumed", notExecuted: false },
        { only, dueIn: Duration.zero }
      )
      if (changed !== undefined) taken.push(changed)
    }
    return taken
  })

  /** What a run may not do without being asked: pay what looks like another payout. */
  const judge = Effect.fnUntraced(function* (judged: ReadonlyArray<Judged>, { allowAlike }: Run) {
    if (allowAlike === true) return []
    const asked = judged.filter(({ row }) => !allowAlike.includes(row.reference))
    return yield* findAlike(asked, (yield* Clock.currentTimeMillis) - aDay)
  })

  /** Parks what looks like another payout, where the queue is told to. */
  const parkAlike = Effect.fnUntraced(function* (judged: ReadonlyArray<Judged>) {
    if (alike === undefined) return
    for (const { row } of yield* findAlike(judged, (yield* Clock.currentTimeMillis) - alike)) {
      yield* core.change(row, Row.park("LooksAlike"), { _tag: "Parked", because: "LooksAlike" })
    }
  })

  /** Inserts all, and judges them. */
  const insertAll = Effect.fnUntraced(function* (
    payouts: ReadonlyArray<PayoutItem>,
    wanted: Effect.Success<ReturnType<typeof sealAll>>,
    run: Run | undefined
  ) {
    yield* warnIfUnserved
    const rows: Array<Row.Row> = []
    const judged: Array<Judged> = []
    const earlier: Array<Row.Row> = []
    const wrong: Array<Wrong> = []
    for (const [index, one] of wanted.entries()) {
      const inserted: Result.Result<Inserted, Wrong["error"]> = Result.isFailure(one)
        ? Result.fail(one.failure)
        : yield* insert(...one.success, run)
      if (Result.isFailure(inserted)) {
        wrong.push({ index, ...nameOf(payouts[index]), error: inserted.failure })
        continue
      }
      const { isNew, row } = inserted.success
      rows.push(row)
      // The same line twice is one payout.
      const isOfRun = run !== undefined && row.runBy === run.id
      if (isNew) judged.push({ index, row })
      else if (!isOfRun) earlier.push(row)
      const taken = isOfRun || run === undefined ? [] : yield* takeUp([row], run)
      judged.push(...taken.map((one) => ({ index, row: one })))
    }
    if (run === undefined) yield* parkAlike(judged)
    else {
      for (const { index, other, row } of yield* judge(judged, run)) {
        const { reference } = row
        const amount = Centavos.make(row.amount)
        wrong.push({
          index,
          reference,
          amount,
          error: new LooksAlike({ outcome: "NotSent", reference, amount, other })
        })
      }
      yield* store.renewRun(run.id, lease)
    }
    return { rows, earlier, wrong: wrong.toSorted((a, b) => a.index - b.index) }
  })

  /**
   * Inserts all in one transaction, and returns their rows and what is wrong with each; `decide` may roll back. The right
   * payouts are inserted also where another one is wrong, to find every conflict.
   */
  const acceptAll = <A, E>(
    payouts: ReadonlyArray<PayoutItem>,
    run: Run | undefined,
    decide: (accepted: Effect.Success<ReturnType<typeof insertAll>>) => Effect.Effect<A, E>
  ) =>
    Effect.flatMap(sealAll(payouts), (wanted) =>
      store.transaction(Effect.flatMap(insertAll(payouts, wanted, run), decide))
    )

  return { acceptAll, takeUp, judge }
}
