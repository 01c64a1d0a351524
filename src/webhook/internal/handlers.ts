/**
 * The user's code, as the webhook calls it: by what a status means, with all that it needs, cut after its time, and
 * whatever goes wrong a `HandlerFailed`.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import type { Centavos } from "../../pix/Money.ts"
import type {
  Confirmed,
  HandlerFailure,
  HandlerName,
  Unconfirmed,
  WithdrawalNames,
  WithdrawalNote
} from "../WebhookEvent.ts"
import type { WebhookOptions } from "../WebhookOptions.ts"

/** A piece of the user's code failed. The cause is the user's own, and may hold anything. */
export class HandlerFailed extends Data.TaggedError("HandlerFailed")<{
  readonly handler: HandlerName
  readonly cause: Cause.Cause<unknown>
}> {}

export interface Handlers<P, M> {
  /** Answers the expected amount, where it is another one: then nothing was handed out. */
  readonly handOut: (event: Confirmed<P, M>) => Effect.Effect<Centavos | undefined, HandlerFailed>
  readonly report: (report: Unconfirmed<P, M>) => Effect.Effect<void, HandlerFailed>
  /** The user's own note of a withdrawal. */
  readonly noted: (hint: WithdrawalNames) => Effect.Effect<WithdrawalNote | undefined, HandlerFailed>
  readonly tellFailure: (failure: HandlerFailure) => Effect.Effect<void>
}

const calls = Metric.counter("effect_pix_webhook_handlers", {
  description: "Calls of your code by handler and result: Success, Failure, or Dead for one that is not repeated",
  incremental: true
})
const count = (handler: HandlerName, result: "Success" | "Failure" | "Dead") =>
  Metric.update(Metric.withAttributes(calls, { handler, result }), 1)

/** `Expired` is not documented; whatever case it comes in, it says that nobody paid. */
const closed = /^(?:cancelled|failed|expired)$/i

/** The handler for what a status means, beside `onStatus`. */
export const byStatus = (status: string): "onPaid" | "onRefunded" | "onClosed" | undefined =>
  status === "Paid" ? "onPaid" : status === "Refunded" ? "onRefunded" : closed.test(status) ? "onClosed" : undefined

const warn = (report: Unconfirmed) =>
  Effect.logWarning(`Webhook: could not be confirmed: ${report._tag}${"reason" in report ? ` (${report.reason})` : ""}`)

const warnFailure = ({ attempt, handler, id, isDead }: HandlerFailure) => {
  const message = `Webhook: ${handler} failed, attempt ${attempt}`
  const log = isDead
    ? Effect.logError(`${message}: it is not called again, see Webhook.deadLetters`)
    : Effect.logWarning(message)
  return Effect.annotateLogs(log, "webhook.id", id)
}

/** How a piece of the user's code ended, whatever it did. */
export const exitOf = <A, B, E, R>(code: (input: A) => Effect.Effect<B, E, R>, input: A) =>
  Effect.suspend(() => Effect.exit(code(input))).pipe(Effect.catchDefect((defect) => Effect.succeed(Exit.die(defect))))

export const makeHandlers = <P, M, R>(
  options: WebhookOptions<P, M, R>,
  context: Context.Context<R>,
  timeout: Duration.Duration
): Handlers<P, M> => {
  const run = <A, B, E>(code: (input: A) => Effect.Effect<B, E, R>, input: A) =>
    exitOf(code, input).pipe(
      Effect.provideContext(context),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.succeed(Exit.fail(new Cause.TimeoutError("It took longer than handlerTimeout")))
      })
    )
  const guarded = Effect.fnUntraced(function* <A, B>(
    handler: HandlerName,
    code: (input: A) => Effect.Effect<B, unknown, R>,
    input: A
  ) {
    const exit = yield* run(code, input)
    yield* count(handler, exit._tag)
    return Exit.isSuccess(exit) ? exit.value : yield* new HandlerFailed({ handler, cause: exit.cause })
  })
  return {
    handOut: Effect.fnUntraced(function* (event) {
      const { transaction } = event
      const handler = byStatus(transaction.enStatusTransaction)
      if (handler === "onPaid" && options.expectedAmount !== undefined) {
        const expected = yield* guarded("expectedAmount", options.expectedAmount, transaction)
        if (expected !== undefined && expected !== transaction.value) return expected
      }
      for (const name of [handler, "onStatus"] as const) {
        const code = name === undefined ? undefined : options[name]
        if (name !== undefined && code !== undefined) yield* guarded(name, code, event)
      }
      return undefined
    }),
    report: (report) => Effect.asVoid(guarded("onUnconfirmed", options.onUnconfirmed ?? warn, report)),
    noted: ({ idempotencyKey, withdrawalId }) =>
      options.noted === undefined || (idempotencyKey === undefined && withdrawalId === undefined)
        ? Effect.undefined
        : guarded("noted", options.noted, { idempotencyKey, withdrawalId }),
    tellFailure: Effect.fnUntraced(function* (failure) {
      if (failure.isDead) yield* count(failure.handler, "Dead")
      const told = yield* run(options.onFailure ?? warnFailure, failure)
      if (Exit.isFailure(told)) yield* Effect.logWarning("Webhook: onFailure failed")
    })
  }
}
