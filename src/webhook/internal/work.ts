/**
 * Records deliveries and checks as rows, and processes the rows that are due: a lookup of the transaction, the calls of the
 * handlers, the reports, and a step of the row (see row.ts). The lookup is made before a transaction begins. What was handed
 * out, and the end of the work, commit with the writes of the user's code.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type * as Tracer from "effect/Tracer"
import type { Database, DatabaseError } from "../../durable/Database.ts"
import {
  afterFailure,
  causeType,
  delayOf as delayAfter,
  type Delays,
  handleRow,
  type Overtaken,
  withUserCode
} from "../../durable/HandOut.ts"
import type { TryAgain } from "../../durable/Work.ts"
import type { FirstLookups } from "./firstLookups.ts"
import { eventOf, HandlerFailed, type Handlers, isEarly, reportOf } from "./handlers.ts"
import { isFound, type Judge } from "./judge.ts"
import type { LookUp, News } from "./lookup.ts"
import type { Reading } from "./reader.ts"
import * as Rows from "./row.ts"
import { countFailed, type LookupSignals, transactionHash } from "./signals.ts"
import { type Store, type Taken, unreadable } from "./table.ts"

/** When a row that waits is processed again. The number of tries is stored in it, so another process continues. */
const schedules: Readonly<Record<Rows.Reason | "hint", Delays>> = {
  // A minute.
  early: { first: 1000, longest: 32_000, tries: 6, isJittered: false },
  // Three days.
  outage: { first: 2000, longest: 300_000, tries: 870, isJittered: true },
  // Ten minutes, of a hint that the user's code does not take.
  hint: { first: 1000, longest: 60_000, tries: 15, isJittered: false },
  failed: afterFailure
}

/** How many milliseconds to wait after this try, counted from 1; `undefined` after the last one. */
export const delayOf = (reason: Rows.Reason | "hint", attempt: number): Effect.Effect<number | undefined> =>
  delayAfter(schedules[reason], attempt)

export interface WorkOptions<M> {
  /** The webhook's name, for its signals. */
  readonly name: string
  readonly database: Database
  readonly store: Store
  readonly lookUp: LookUp
  readonly countUntold: LookupSignals["countUntold"]
  /** Wakes the fibers that wait for the transaction. */
  readonly wake: (transactionId: string) => Effect.Effect<void>
  /** Runs after a row was recorded that is due. */
  readonly wakeWorkers: Effect.Effect<void>
  readonly handlers: Handlers<M>
  readonly firstLookups: FirstLookups
  readonly handlerTimeout: number
}

/** What a judge says of the claims of a row: how the work ends, and which claims are reported before that. */
const judged = Effect.fnUntraced(function* (row: Rows.Row, judge: Judge | undefined) {
  const left: Array<Rows.Claim> = []
  const reported: Array<Rows.Claim> = []
  let again: Rows.Outcome["again"]
  for (const claim of row.claims) {
    const doubt = judge?.(claim.status)
    const reason = doubt?.reason
    const millis = reason && (yield* delayOf(reason, row.tries[reason] + 1))
    if (reason !== undefined && millis !== undefined) {
      again = { reason, millis: Math.max(millis, doubt?.retryAfter ?? 0) }
      left.push(claim)
    } else if (judge === undefined || doubt !== undefined) reported.push(claim)
  }
  const outcome: Rows.Outcome = {
    left,
    again,
    isFound: judge !== undefined && isFound(judge(row.claims.at(-1)?.status))
  }
  return { outcome, reported }
})

type Failure = SqlError | DatabaseError | Overtaken

/** A worker that waits for the next row that is due measures its time anew. */
const wakeIfOpen = ({ wakeWorkers }: Pick<WorkOptions<unknown>, "wakeWorkers">, next: Rows.Next | undefined) =>
  next?.row !== undefined && Rows.stateOf(next.row) === "Open" ? wakeWorkers : Effect.void

/** What records hints and checks. */
const makeRecords = ({ database, store, wake, wakeWorkers }: Omit<WorkOptions<unknown>, "handlers">) => {
  const recordClaim = Effect.fnUntraced(function* (subject: Rows.Subject, claim: Rows.Claim) {
    const now = yield* Clock.currentTimeMillis
    const step = (row: Rows.Row, isTaken: boolean) => Rows.recorded(subject, claim, { row, isTaken, now })
    yield* store.record(subject.name, Rows.begun(subject, claim, now), step)
    yield* database.sql.afterCommit(wakeWorkers)
  })

  /** Records each hint of a delivery. One that fails is recorded again with those before it, when the delivery is repeated. */
  const record = Effect.fnUntraced(function* (body: string, readings: ReadonlyArray<Reading>) {
    for (const [subject, claim] of Rows.claimsOf(body, readings)) {
      yield* recordClaim(subject, claim)
      if (subject.transactionId !== undefined) yield* wake(subject.transactionId)
    }
  })

  /** Records a check. It wakes nobody who waits: nothing happened yet. */
  const check = (transactionId: string) =>
    recordClaim({ name: Rows.nameOf(transactionId), about: "Transaction", transactionId }, Rows.checkClaim)

  return { record, check }
}

/** What calls the user's code, each in one transaction with the step of its row. */
const makeHandOuts = <M>(options: WorkOptions<M>) => {
  const { countUntold, database, handlerTimeout, handlers, store } = options
  /**
   * Calls the user's code, and ends its work on the row, in one transaction of the user's database. `handler` is the code that
   * fails where the database refuses to commit.
   */
  const handingOut = <A>(
    taken: Taken,
    { handler, id }: Pick<HandlerFailed, "handler" | "id">,
    work: Effect.Effect<A, Failure | HandlerFailed>
  ): Effect.Effect<A, Failure | HandlerFailed> =>
    withUserCode<A, Failure, HandlerFailed>(database, {
      begin: store.beginHandOut(taken, handlerTimeout),
      work,
      failed: (failure) => new HandlerFailed({ handler, id, failure })
    })

  /** Hands a claim about a withdrawal out once, and ends the row with it; `undefined` where it is to be reported. */
  const handOutHint = Effect.fnUntraced(function* (taken: Taken, row: Rows.Row) {
    const claim = row.claims.at(-1)
    const hint = handlers.hint({ ...row, name: taken.key }, claim)
    // After the last try the claim is reported.
    if (hint === undefined || (yield* delayOf("hint", row.tries.early + row.tries.failed)) === undefined)
      return undefined
    const stored = Rows.storedStatus(claim?.status ?? "", "unlisted")
    const outcome: Rows.Outcome = { left: [], isFound: false }
    const work = Effect.gen(function* () {
      if (!row.handedOut.includes(stored)) yield* hint
      const next = yield* store.changeTakenWithin(taken, (found) =>
        Rows.settled({ ...found, handedOut: [...new Set([...row.handedOut, stored])] }, row, outcome)
      )
      yield* database.sql.afterCommit(wakeIfOpen(options, next))
      return outcome
    })
    return yield* handingOut(taken, { handler: "onWithdrawal", id: taken.key }, work)
  })

  /**
   * Calls the handlers for the status of a transaction. The row ends in the same transaction, unless claims are to be
   * reported. Returns what the claims are worth.
   */
  const handOut = Effect.fnUntraced(function* (
    taken: Taken,
    row: Rows.Row,
    { agrees, handler, judge, stored, transaction }: News
  ): Effect.fn.Return<{ readonly judge: Judge; readonly ended?: Rows.Outcome }, Failure | HandlerFailed> {
    const lastStatus = transaction.enStatusTransaction
    const claim = row.claims.find(({ status }) => agrees(status)) ?? row.claims.at(-1)
    const event = eventOf(transaction, handlers.untrustedOf(claim))
    const work = Effect.gen(function* () {
      const expected = yield* handlers.handOut(event, handler)
      if (expected !== undefined) {
        const finding = { reason: "OtherAmount", lastStatus, transaction, expected } as const
        return { judge: () => ({ finding }) }
      }
      const { outcome, reported } = yield* judged(row, judge)
      const isEnded = reported.length === 0
      const step = (found: Rows.Row): Rows.Next => {
        const next = { ...found, handedOut: [...row.handedOut, stored] }
        return isEnded ? Rows.settled(next, row, outcome) : { row: next }
      }
      const next = yield* store.changeTakenWithin(taken, step)
      if (isEnded) yield* database.sql.afterCommit(wakeIfOpen(options, next))
      return isEnded ? { judge, ended: outcome } : { judge }
    })
    const handedOut = yield* handingOut(taken, { handler: handler ?? "onStatus", id: event.id }, work).pipe(
      Effect.tapErrorTag("HandlerFailed", (failed) =>
        row.tries.failed === 0 ? countFailed(failed.handler, transaction.value) : Effect.void
      )
    )
    if (row.claims.every(({ isCheck }) => isCheck === true)) yield* countUntold(handler)
    return handedOut
  })

  return { handOut, handOutHint }
}

/** Adds to a span what is known of these attributes. */
const describe = (span: Tracer.Span | undefined, attributes: () => Readonly<Record<string, unknown>>): void => {
  if (span === undefined) return
  for (const [name, value] of Object.entries(attributes())) if (value !== undefined) span.attribute(name, value)
}

/** The tries of a row in which code of the user failed, and what they make of it. */
const failedTry = Effect.fnUntraced(function* ({ tries }: Rows.Row, failed: HandlerFailed) {
  const isHint = failed.handler === "onWithdrawal"
  const attempt = tries.failed + (isHint ? tries.early : 0) + 1
  const millis = yield* delayOf(isHint ? "hint" : "failed", attempt)
  // A hint that is not taken is no dead letter: it is reported then, at once.
  return { attempt, millis: isHint ? (millis ?? 0) : millis }
})

export const makeWork = <M>(options: WorkOptions<M>) => {
  const { firstLookups, handlers, lookUp, store, wake } = options
  const { handOut, handOutHint } = makeHandOuts(options)

  const settle = Effect.fnUntraced(function* (taken: Taken, row: Rows.Row, outcome: Rows.Outcome) {
    yield* wakeIfOpen(options, yield* store.changeTaken(taken, (found) => Rows.settled(found, row, outcome)))
  })

  /** Processes a row, and returns how that ended. */
  const processRow = Effect.fnUntraced(function* (
    taken: Taken,
    row: Rows.Row
  ): Effect.fn.Return<Rows.Outcome & { readonly failed?: HandlerFailed }, Failure> {
    const { transactionId } = row
    // The user's code is called with what a lookup found.
    let outcome: Rows.Outcome = { left: row.claims, isFound: transactionId !== undefined }
    const work = Effect.gen(function* () {
      let judge: Judge | undefined
      if (transactionId !== undefined) {
        const found = yield* lookUp(transactionId, row.handedOut)
        if (found.transaction !== undefined) {
          yield* wake(transactionId)
          const handedOut = yield* handOut(taken, row, found)
          if (handedOut.ended !== undefined) return handedOut.ended
          judge = handedOut.judge
        } else judge = found.judge
      }
      const hinted = yield* handOutHint(taken, row)
      if (hinted !== undefined) return hinted
      const { outcome: last, reported } = yield* judged(row, judge)
      outcome = { ...last, left: row.claims.filter((claim) => last.left.includes(claim) || reported.includes(claim)) }
      for (const claim of reported) {
        yield* handlers.report(
          reportOf({ ...row, name: taken.key }, handlers.untrustedOf(claim), judge?.(claim.status))
        )
        outcome = { ...outcome, left: outcome.left.filter((other) => other !== claim) }
      }
      yield* settle(taken, row, outcome)
      return outcome
    })
    return yield* Effect.catchTag(
      work,
      "HandlerFailed",
      Effect.fnUntraced(function* (failed) {
        const { failure: cause, handler, id } = failed
        const isWaiting = isEarly(failed)
        const { attempt, millis } = yield* failedTry(row, failed)
        if (!isWaiting) yield* handlers.reportFailure({ handler, id, attempt, isDead: millis === undefined, cause })
        const reason = isWaiting ? "early" : "failed"
        const next = millis === undefined ? { dead: handler } : { again: { reason, millis } as const }
        const failedOutcome = { ...outcome, again: undefined, ...next }
        yield* settle(taken, row, failedOutcome)
        return isWaiting ? failedOutcome : { ...failedOutcome, failed }
      })
    )
  })

  const processTaken = (taken: Taken) => (span: Tracer.Span | undefined) =>
    Effect.gen(function* () {
      const row = Rows.readRow(taken.value, "Open")
      // It is given back, for a process that can read it.
      if (row === undefined) return yield* unreadable()
      const { handedOut, transactionId } = row
      describe(span, () => ({
        "webhook.transaction_id_hash": transactionId && transactionHash(transactionId),
        "webhook.deliveries": row.deliveries
      }))
      const isFirst = transactionId !== undefined && row.isFound !== true && handedOut.length === 0
      if (isFirst && !(yield* firstLookups.mayBegin(taken.key, transactionId))) {
        describe(span, () => ({ "webhook.outcome": "Waits", "webhook.waits": "first" }))
        yield* store.waitFirst(taken)
        yield* firstLookups.waits
        return
      }
      const { again, dead, failed } = yield* processRow(taken, row)
      describe(span, () => ({
        "webhook.outcome": dead ? "Dead" : again ? "Waits" : "Finished",
        "webhook.waits": again?.reason,
        "webhook.handler": failed?.handler,
        "error.type": failed && causeType(failed.failure)
      }))
      // Its end is stored already: it only makes the span fail.
      if (failed !== undefined) return yield* failed
    })

  const names = { "webhook.name": options.name }
  const handle = (taken: Taken): Effect.Effect<void, TryAgain> =>
    Effect.ensuring(
      handleRow("Webhook", "Webhook.process", names, processTaken(taken), { ...names, "webhook.id": taken.key }),
      firstLookups.end(taken.key)
    )

  return { ...makeRecords(options), handle }
}
