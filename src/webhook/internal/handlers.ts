/**
 * Calls the user's code: the handler of a status, with its services, and for at most `handlerTimeout`. Every failure, defect
 * or timeout of it is a `HandlerFailed`.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { causeType, makeRun, warnFailed } from "../../durable/HandOut.ts"
import { type Lines, log } from "../../internal/spans.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import type { Confirmed, HandlerFailure, HandlerName, Unconfirmed, Untrusted, WithdrawalHint } from "../WebhookEvent.ts"
import type { WebhookOptions } from "../WebhookOptions.ts"
import type { Doubt } from "./judge.ts"
import type { StatusHandler } from "./lookup.ts"
import { type Claim, foldedId, nameOf, statusName, type Subject } from "./row.ts"
import { countCall, countEnd, makeUnconfirmed, reasonOf } from "./signals.ts"

/**
 * A piece of the user's code failed. `failure` is the user's own error and may hold a person's data. It is not named
 * `cause`, because spans export the cause of an error.
 */
export class HandlerFailed extends Data.TaggedError("HandlerFailed")<{
  readonly handler: HandlerName
  /** The id of the event or of the report. */
  readonly id: string
  readonly failure: Cause.Cause<unknown>
}> {}

/** Whether no payout has what a hint names yet: the answer to its request may be on its way. */
export const isEarly = ({ failure, handler }: Pick<HandlerFailed, "failure" | "handler">): boolean => {
  const error = Cause.findError(failure)
  return handler === "onWithdrawal" && Result.isSuccess(error) && Cause.isNoSuchElementError(error.success)
}

const warnFailure = (lines: Lines, { attempt, cause, handler, id, isDead }: HandlerFailure) =>
  warnFailed(
    lines,
    { name: "Webhook", handler, attempt, isDead, letters: "WebhookClient.deadLetters" },
    {
      "webhook.id": id,
      "webhook.handler": handler,
      "webhook.outcome": isDead ? "Dead" : "Waits",
      "webhook.attempts": attempt,
      "error.type": causeType(cause)
    }
  )

/** The event of a transaction that was looked up. */
export const eventOf = <M>(transaction: TransactionDetail, untrusted: Untrusted<M>): Confirmed<M> => {
  const id = `${foldedId(transaction.transactionId)}:${statusName(transaction.enStatusTransaction)}`
  return { _tag: "Confirmed", id, transaction, untrusted }
}

/** The report of a claim. */
export const reportOf = <M>(
  { about, idempotencyKey, name, transactionId, withdrawalId }: Subject,
  untrusted: Untrusted<M>,
  doubt: Doubt | undefined
): Unconfirmed<M> => {
  if (doubt !== undefined && transactionId !== undefined) {
    const id = `${foldedId(transactionId)}:${doubt.finding.reason}`
    return { _tag: "UnconfirmedTransaction", id, transactionId, untrusted, ...doubt.finding }
  }
  return about === "Withdrawal"
    ? { _tag: "UnconfirmedWithdrawal", id: name, withdrawalId, idempotencyKey, untrusted }
    : { _tag: "Unrecognised", id: name, untrusted }
}

export const makeHandlers = <M, R>(
  options: WebhookOptions<M, R>,
  metadataOf: (encoded: string) => M | undefined,
  context: Context.Context<R>,
  { handlerTimeout, name }: { readonly handlerTimeout: number; readonly name: string },
  lines: Lines
) => {
  const run = makeRun(context, handlerTimeout)
  const warn = makeUnconfirmed(name, lines)
  const guarded = Effect.fnUntraced(function* <A, B>(
    handler: HandlerName,
    id: string,
    code: (input: A) => Effect.Effect<B, unknown, R>,
    input: A,
    reason?: string
  ) {
    const exit = yield* run(code, input)
    if (Exit.isSuccess(exit)) {
      yield* countCall(handler, { result: "Success", reason })
      return exit.value
    }
    const failed = new HandlerFailed({ handler, id, failure: exit.cause })
    yield* countCall(
      handler,
      isEarly(failed) ? { result: "Early" } : { result: "Failure", reason, errorType: causeType(exit.cause) }
    )
    return yield* failed
  })
  const untrustedOf = (claim: Claim | undefined) => {
    if (claim === undefined || claim.isCheck === true) return {}
    const { endToEndId, eventId, metadata, status } = claim
    const decoded = metadata === undefined ? undefined : metadataOf(metadata)
    return {
      ...(status !== undefined && { status }),
      ...(endToEndId !== undefined && { endToEndId }),
      ...(eventId !== undefined && { eventId }),
      ...(decoded !== undefined && { metadata: decoded })
    }
  }
  return {
    /** What a claim says, as the user's code gets it. */
    untrustedOf: (claim: Claim | undefined): Untrusted<M> => untrustedOf(claim),
    /** Hands a claim about a withdrawal out; `undefined` where it is not one for `onWithdrawal`, and is to be reported. */
    hint: (subject: Subject, claim: Claim | undefined): Effect.Effect<void, HandlerFailed> | undefined => {
      const { idempotencyKey, name: id, withdrawalId } = subject
      const { onWithdrawal } = options
      const { status } = claim ?? {}
      const isNamed = withdrawalId !== undefined || idempotencyKey !== undefined
      if (onWithdrawal === undefined || subject.about !== "Withdrawal" || !isNamed || status === undefined)
        return undefined
      const hint: WithdrawalHint<M> = {
        id,
        ...(withdrawalId !== undefined && { withdrawalId }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...untrustedOf(claim),
        status
      }
      return Effect.asVoid(guarded("onWithdrawal", id, onWithdrawal, hint))
    },
    /** Calls the handlers. Returns the expected amount if it is another one: then no handler was called. */
    handOut: Effect.fnUntraced(function* (event: Confirmed<M>, handler: StatusHandler | undefined) {
      const { id, transaction } = event
      if (handler === "onPaid" && options.expectedAmount !== undefined) {
        const expected = yield* guarded("expectedAmount", id, options.expectedAmount, transaction)
        if (expected !== undefined && expected !== transaction.value) return expected
      }
      for (const name of [handler, "onStatus"] as const) {
        const code = name && options[name]
        if (name && code) yield* guarded(name, id, code, event)
      }
      if (handler !== undefined) yield* countEnd(handler, transaction.value)
      return undefined
    }),
    report: (report: Unconfirmed<M>) =>
      guarded("onUnconfirmed", report.id, options.onUnconfirmed ?? warn, report, reasonOf(report)),
    /** Whether the user's own books have a transaction. */
    isKnown: (transactionId: string) =>
      options.isKnown === undefined
        ? Effect.succeed(false)
        : Effect.map(guarded("isKnown", nameOf(transactionId), options.isKnown, transactionId), (known) => known),
    reportFailure: Effect.fnUntraced(function* (failure: HandlerFailure) {
      if (failure.isDead) yield* countCall(failure.handler, { result: "Dead", errorType: causeType(failure.cause) })
      const exit = yield* run(options.onFailure ?? ((failed: HandlerFailure) => warnFailure(lines, failed)), failure)
      if (Exit.isFailure(exit)) {
        yield* log("Warn", "Webhook: onFailure failed", {
          "webhook.id": failure.id,
          "webhook.handler": failure.handler,
          "error.type": causeType(exit.cause)
        })
      }
    })
  }
}

/** The handlers with their services. */
export type Handlers<M> = ReturnType<typeof makeHandlers<M, never>>
