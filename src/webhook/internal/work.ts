/**
 * Records deliveries and checks as rows, and processes the jobs of these rows. A job is a look at its row: a lookup of the
 * transaction and the calls of the handlers (see confirm.ts), the reports, and a step of the row (see row.ts).
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import type * as Tracer from "effect/Tracer"
import { DatabaseError } from "../../durable/Database.ts"
import { inSpan, log } from "../../internal/spans.ts"
import type { HandlerName, Unconfirmed, Untrusted } from "../WebhookEvent.ts"
import type { Hint } from "../WebhookHint.ts"
import { type Due, Job, makeChanges } from "./changes.ts"
import { type ConfirmOptions, makeConfirm } from "./confirm.ts"
import type { HandlerFailed } from "./handlers.ts"
import type { makeFirstLookups } from "./firstLookups.ts"
import { type Doubt, lookupOf } from "./judge.ts"
import type { Reading } from "./reader.ts"
import * as Rows from "./row.ts"
import { delayOf } from "./schedules.ts"
import { causeType, transactionHash } from "./signals.ts"
import { handedOutName, type Stored } from "./store.ts"

/** The end of a look. */
interface Look extends Rows.Outcome {
  /** Whether the latest delivery is finished for good. */
  readonly isFinal: boolean
  /** The handler that failed, and why. */
  readonly failed?: { readonly handler: HandlerName; readonly cause: Cause.Cause<unknown> }
}

/** A look in which a handler failed. Its end is stored already: the error only makes its span fail. */
class LookFailed extends Data.TaggedError("LookFailed")<{ readonly isFinal: boolean; readonly due: Due | undefined }> {}

export interface WorkOptions<P, M> extends ConfirmOptions<P, M> {
  /** The webhook's name, for its signals. */
  readonly name: string
  readonly read: (body: string) => Option.Option<Reading<P, M>>
  /** When a row that waits is looked at again. */
  readonly schedules: Readonly<Record<Rows.Reason, Schedule.Schedule<unknown>>>
  /** Puts a job into the queue. Absent inside requests: each delivery is processed in its own request. */
  readonly offer: ((due: Due) => Effect.Effect<void, DatabaseError>) | undefined
  readonly firstLookups: ReturnType<typeof makeFirstLookups>
}

/** A status in any vocabulary. A text with a digit or a sign may be a person's data, and is not stored. */
const statusWord = /^[\p{L} _-]{1,40}$/u

export const makeWork = <P, M>(options: WorkOptions<P, M>) => {
  const { firstLookups, handlers, offer, schedules, store } = options
  const { change, deadLetters, discard, retry } = makeChanges(store, offer)
  const confirm = makeConfirm(options)

  const recordClaim = Effect.fnUntraced(function* (subject: Rows.Subject, claim: Rows.Claim) {
    const { row } = yield* change(subject.name, Rows.recorded(subject, claim, offer === undefined))
    return Job.make({ name: subject.name, job: row?.job ?? "" })
  })

  /** Records a delivery, and returns the job of its row. */
  const record = Effect.fnUntraced(function* (body: string, hint: Hint) {
    const { idempotencyKey, status, transactionId, withdrawalId } = hint
    const ofBody = `delivery:${Rows.digest(body)}`
    // A delivery that names a payout of the user's books is about a withdrawal, even if it names a transaction too.
    const isWithdrawal = hint.about === "Withdrawal" || (yield* handlers.noted(hint, ofBody)) !== undefined
    const id = hint.about === "Transaction" && !isWithdrawal ? transactionId : undefined
    const name = id === undefined ? ofBody : `delivery:${Rows.nameOf(id)}`
    const claim = {
      status: status !== undefined && statusWord.test(status) ? status : undefined,
      body: yield* handlers.seal(body, name)
    }
    const about = isWithdrawal ? "Withdrawal" : id === undefined ? "Unknown" : "Transaction"
    const key = id === undefined ? idempotencyKey : undefined
    const job = yield* recordClaim({ name, about, transactionId: id, withdrawalId, idempotencyKey: key }, claim)
    if (id !== undefined) yield* options.wake(id)
    return job
  })

  /** Records a check, and returns the job of its row. It wakes nobody who waits: nothing happened yet. */
  const check = (transactionId: string) => {
    const name = `delivery:${Rows.nameOf(transactionId)}`
    return recordClaim({ name, about: "Transaction", transactionId }, Rows.checkClaim)
  }

  const untrustedOf = Effect.fnUntraced(function* (
    { name }: Rows.Row,
    { body, isCheck, status }: Rows.Claim
  ): Effect.fn.Return<Untrusted<P, M>, HandlerFailed> {
    if (isCheck === true) return {}
    const text = body === undefined ? undefined : yield* handlers.open(body, name)
    // The schema may have changed since the delivery was recorded. Its status is stored apart from its body.
    return Option.match(text === undefined ? Option.none() : options.read(text), {
      onNone: () => (status === undefined ? {} : { status }),
      onSome: ({ untrusted }) => untrusted
    })
  })

  const reportOf = Effect.fnUntraced(function* (
    row: Rows.Row,
    claim: Rows.Claim,
    doubt: Doubt | undefined
  ): Effect.fn.Return<Unconfirmed<P, M>, HandlerFailed> {
    const { about, idempotencyKey, name, transactionId, withdrawalId } = row
    const untrusted = yield* untrustedOf(row, claim)
    if (doubt !== undefined && transactionId !== undefined) {
      const id = `${transactionId.toLowerCase()}:${doubt.finding.reason}`
      return { _tag: "UnconfirmedTransaction", id, transactionId, untrusted, ...doubt.finding }
    }
    if (about !== "Withdrawal") return { _tag: "Unrecognised", id: name, untrusted }
    const noted = yield* handlers.noted({ idempotencyKey, withdrawalId }, name)
    return { _tag: "UnconfirmedWithdrawal", id: name, withdrawalId, idempotencyKey, noted, untrusted }
  })

  /** Looks at a row once. `note` is that of the statuses of its transaction that were handed out. */
  const look = Effect.fnUntraced(function* (
    row: Rows.Row,
    note: Stored | undefined
  ): Effect.fn.Return<Look, DatabaseError> {
    const { claims, transactionId, tries } = row
    const latest = claims.at(-1)
    let left = claims
    let again: Rows.Outcome["again"]
    // The user's code is called with what a lookup found.
    let lookup: Rows.Outcome["lookup"] = "Found"
    const untrusted = (status: string) => {
      const claim = claims.find((one) => Rows.wordOf(one.status) === status) ?? latest
      return claim === undefined ? Effect.succeed({}) : untrustedOf(row, claim)
    }
    const work = Effect.gen(function* () {
      const judge = transactionId === undefined ? undefined : yield* confirm(transactionId, untrusted, note)
      lookup = lookupOf(judge?.(latest?.status))
      for (const claim of claims) {
        const doubt = judge?.(claim.status)
        const reason = doubt?.reason
        const delay = reason && (yield* delayOf(schedules[reason], tries[reason] + 1))
        if (reason !== undefined && delay !== undefined) {
          again = { reason, millis: Math.max(delay, doubt?.retryAfter ?? 0) }
          continue
        }
        if (judge === undefined || doubt !== undefined) yield* handlers.report(yield* reportOf(row, claim, doubt))
        left = left.filter((other) => other !== claim)
      }
      return { isFinal: judge?.(latest?.status)?.reason === undefined, left, again, lookup }
    })
    return yield* Effect.catchTag(
      work,
      "HandlerFailed",
      Effect.fnUntraced(function* ({ failure: cause, handler, id }): Effect.fn.Return<Look> {
        const attempt = tries.failed + 1
        const millis = yield* delayOf(schedules.failed, attempt)
        yield* handlers.reportFailure({ handler, id, attempt, isDead: millis === undefined, cause })
        const next = millis === undefined ? { dead: handler } : { again: { reason: "failed", millis } as const }
        return { isFinal: false, left, lookup, ...next, failed: { handler, cause } }
      })
    )
  })

  /** Processes a job. Returns whether the latest delivery that it saw is finished for good, and the row's next job. */
  const process = ({ job, name }: Job) => {
    const work = (span: Tracer.Span | undefined) =>
      Effect.gen(function* () {
        const stored = yield* store.get(name)
        const row = stored && Rows.readRow(stored.value)
        // Another version wrote the row. The element returns to the queue, for a process that can read it.
        if (stored !== undefined && row === undefined) {
          return yield* new DatabaseError({ operation: "webhook", reason: "Unreadable", isRetryable: true })
        }
        if (row === undefined || row.job !== job) return { isFinal: row === undefined }
        if (row.transactionId !== undefined) {
          span?.attribute("webhook.transaction_id_hash", transactionHash(row.transactionId))
        }
        span?.attribute("webhook.deliveries", row.deliveries)
        const { transactionId } = row
        const note = transactionId && (yield* store.get(handedOutName(Rows.nameOf(transactionId))))
        if (transactionId && note === undefined && row.lookup !== "Found") {
          const rank = yield* firstLookups.begin(row, transactionId)
          if (rank !== undefined) {
            span?.attribute("webhook.outcome", "Waits")
            span?.attribute("webhook.waits", "first")
            // Inside a request nothing waits in the store.
            if (offer === undefined) return { isFinal: false, due: { job: Job.make({ name, job }), millis: 1000 } }
            yield* change(name, Rows.ranked(row, rank))
            yield* firstLookups.waits
            return { isFinal: false }
          }
        }
        const { failed, isFinal, ...outcome } = yield* look(row, note || undefined)
        const { due } = yield* change(name, Rows.settled(row, outcome))
        const { again, dead } = outcome
        span?.attribute("webhook.outcome", dead ? "Dead" : again ? "Waits" : "Finished")
        if (again !== undefined) span?.attribute("webhook.waits", again.reason)
        if (failed === undefined) return { isFinal, due }
        span?.attribute("webhook.handler", failed.handler)
        span?.attribute("error.type", causeType(failed.cause))
        return yield* new LookFailed({ isFinal, due })
      })
    // In the background the span is a trace of its own: the span in which the layer was built ended long ago.
    return inSpan(
      "Webhook.process",
      { kind: "internal", attributes: { "webhook.name": options.name }, root: offer !== undefined },
      work
    ).pipe(Effect.catchTag("LookFailed", ({ due, isFinal }) => Effect.succeed({ isFinal, due })))
  }

  /** Processes a row that was taken for its first lookup. */
  const processTaken = Effect.fnUntraced(function* (name: string) {
    const stored = yield* store.get(name)
    const row = stored && Rows.readRow(stored.value)
    if (row?.job === undefined) return
    // A step that changes nothing ends the row's lease.
    const release = Effect.ignore(change(name, (unchanged) => unchanged))
    yield* Effect.tapError(process(Job.make({ name, job: row.job })), () => release)
  })

  /** Puts rows into the queue again whose element was lost. */
  const heal = Effect.gen(function* () {
    let healed = 0
    yield* store.lost((name, element) =>
      // A row that another process has locked is left to the next run, and delays no other row.
      Effect.ignore(
        Effect.map(change(name, Rows.requeued(element)), ({ isChanged }) => {
          if (isChanged) healed++
        })
      )
    )
    if (healed > 0)
      yield* log("Warn", `Webhook: ${healed} row(s) were not in the queue. They are now.`, {
        "webhook.name": options.name,
        "webhook.healed": healed
      })
  })

  return {
    record,
    check,
    process,
    processTaken,
    heal,
    deadLetters,
    retry,
    discard
  }
}
