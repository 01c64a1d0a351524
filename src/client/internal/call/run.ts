/**
 * One call under way: what it remembers from attempt to attempt, and how it ends.
 */
import type * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { OutcomeUnknown } from "../../../contract/PaymentsError.ts"
import { withoutValues } from "../../../internal/spans.ts"
import type { AnswerHeaders, TransportFailure, TransportSink } from "../../../internal/transport.ts"
import type { ApiCredentials } from "../../Credentials.ts"
import { judgeAnswer, unusable } from "./answer.ts"
import { textsIn } from "../wire/codec.ts"
import type { Call, Line, Tagged } from "./call.ts"
import { bodyReason, judgeFailure, unrecognised } from "./judge.ts"
import { personal, type Secret } from "../words/mask.ts"
import { makeRecovery, type Recovery } from "./retry.ts"
import { withoutSecrets } from "../wire/seen.ts"
import type { Settings } from "./settings.ts"
import type { Failed, Unanswered } from "./verdict.ts"

/** An earlier call with the same key may have been executed. */
const unknownBefore: Unanswered = { _tag: "Unanswered", sent: "Unknown", reason: "EarlierUnknown" }

/** A write that may have been executed stays so, whatever a later attempt was answered. */
const settled = (last: Failed, maybe: Unanswered | undefined): Failed => {
  if (maybe === undefined) return last
  if (last._tag === "Unanswered") return last.sent === "Unknown" ? last : maybe
  const { retryAfter, serviceMessage, status } = last
  return { ...maybe, reason: "RefusedAfterUnknown", status, serviceMessage, retryAfter, issues: undefined }
}

const decoder = new TextDecoder()

/** How long `onInterruptedWrite` may take. */
const hookTimeout = Duration.seconds(10)

export class Run<A, E extends Tagged> implements TransportSink {
  readonly #line: Line
  readonly #call: Call<A, E>
  readonly #settings: Settings
  readonly #context: Context.Context<never>
  readonly #started: number

  #attempts = 0
  /** A request is under way. */
  #isUnderWay = false
  /** The attempt that may have been executed, of this call or of an earlier one. */
  #maybe: Unanswered | undefined
  /** The client id that it was sent under: under another one its key is another key. */
  #payer: string | undefined
  #used: ApiCredentials | undefined
  #recovery: Recovery | undefined
  #isOver = false
  #span: Tracer.Span | undefined
  #attemptSpan: Tracer.Span | undefined
  #resume: (effect: Effect.Effect<A, E>) => void = () => undefined

  constructor(line: Line, call: Call<A, E>, settings: Settings, context: Context.Context<never>) {
    this.#line = line
    this.#call = call
    this.#settings = settings
    this.#context = context
    this.#started = settings.clock.currentTimeMillisUnsafe()
    this.#maybe = call.earlier ? unknownBefore : undefined
  }

  /** The whole call. */
  start(): Effect.Effect<A, E> {
    const call = Effect.uninterruptibleMask((restore) =>
      Effect.onExit(restore(this.#attempt(undefined)), (exit) =>
        Exit.isSuccess(exit) || this.#isOver ? Effect.void : this.#cutOff(exit.cause)
      )
    )
    if (!this.#settings.isTraced) return call
    const { operation } = this.#line.route
    const key = this.#call.idempotencyKey
    const attributes = {
      "payments.operation": operation,
      ...(key === undefined ? {} : { "payments.idempotency_key_hash": fingerprint(key) })
    }
    return Effect.flatMap(Effect.makeSpan(`Payments.${operation}`, { kind: "internal", attributes }), (span) => {
      this.#span = span
      return call
    })
  }

  // The attempts.

  #attempt(last: Failed | undefined): Effect.Effect<A, E> {
    return Effect.flatMap(this.#line.credentials.current, (used) => {
      if (last !== undefined && this.#payer !== undefined && this.#payer !== used.clientId) return this.#giveUp(last)
      if (this.#maybe !== undefined) this.#payer ??= used.clientId
      this.#used = used
      return this.#settings.isTraced ? Effect.andThen(this.#traceAttempt(), this.#send(used)) : this.#send(used)
    })
  }

  #send(used: ApiCredentials): Effect.Effect<A, E> {
    return Effect.callback((resume) => {
      const { attemptTimeout, clock, deadline, notAfter, policy, transport } = this.#settings
      const { headersOf, meters, origin, prefix, route } = this.#line
      this.#resume = resume
      this.#attempts++
      this.#isUnderWay = true
      meters.requests.updateUnsafe(1, this.#context)
      const end = Math.min(clock.currentTimeMillisUnsafe() + attemptTimeout, this.#started + deadline, notAfter)
      return transport.send(
        {
          origin,
          method: route.method,
          path: prefix + this.#call.path,
          headers: headersOf(used, this.#call.idempotencyKey),
          body: this.#call.body,
          isLate: () => clock.currentTimeMillisUnsafe() > end
        },
        Math.max(0, end - clock.currentTimeMillisUnsafe()),
        policy.maxResponseBytes,
        this
      )
    })
  }

  onAnswer(status: number, headers: AnswerHeaders, body: string): void {
    const result = this.#guarded(status, () => this.#judge(status, headers, body))
    if (Result.isSuccess(result)) this.#succeed(result.success)
    else this.#fail(result.failure)
  }

  onFailure(failure: TransportFailure): void {
    const result = this.#guarded(failure.head?.status, () => Result.fail(this.#judgeFailure(failure)))
    if (Result.isFailure(result)) this.#fail(result.failure)
  }

  /** A rule or a predicate of the user's own may throw, and so may what a platform fails with when it is looked at. */
  #guarded<B>(status: number | undefined, judge: () => Result.Result<B, Failed>): Result.Result<B, Failed> {
    if (status !== undefined) this.#attemptSpan?.attribute("http.response.status_code", status)
    const judged = Result.try({ try: judge, catch: (): Failed => ({ ...unrecognised, status }) })
    return Result.flatMap(judged, identity)
  }

  #judgeFailure(failure: TransportFailure): Failed {
    const { head, kind } = failure
    if (head === undefined) return judgeFailure(failure)
    const { headers, status } = head
    const reason = failure.cause === undefined && kind === "Broken" ? "Unrecognised" : bodyReason[kind]
    return status >= 200 && status < 300
      ? unusable(status, reason)
      : judgeAnswer(this.#asked(), status, headers, { unread: reason })
  }

  #judge(status: number, headers: AnswerHeaders, body: string): Result.Result<A, Failed> {
    if (status < 200 || status >= 300) return Result.fail(judgeAnswer(this.#asked(), status, headers, { text: body }))
    const decoded = this.#call.decode(body, this.#settings.policy)
    if (Result.isSuccess(decoded)) return Result.succeed(decoded.success)
    const { issues, reason, seen = {} } = decoded.failure
    return Result.fail(unusable(status, reason, { issues, seen: withoutSecrets(seen, this.#secrets()) }))
  }

  #succeed(value: A): void {
    this.#line.bucket.succeeded(this.#settings.policy.retryBudget, this.#recovery?.paid() ?? "first")
    this.#line.meters.success.updateUnsafe(1, this.#context)
    this.#endAttempt(Exit.void)
    this.#end(Exit.void)
    this.#resume(Exit.succeed(value))
  }

  #fail(failed: Failed): void {
    const used = this.#used
    const type = failed._tag === "Refused" ? String(failed.status) : failed.reason
    this.#attemptSpan?.attribute("error.type", type)
    this.#endAttempt(Exit.fail({ _tag: type }))
    this.#isUnderWay = false
    if (this.#isWrite && failed._tag === "Unanswered" && failed.sent === "Unknown") {
      this.#maybe = failed
      this.#payer = used?.clientId
    }
    this.#resume(used === undefined ? this.#giveUp(failed) : this.#recover(failed, used))
  }

  #recover(failed: Failed, used: ApiCredentials): Effect.Effect<A, E> {
    const { bucket, credentials } = this.#line
    this.#recovery ??= makeRecovery({
      bucket,
      credentials,
      settings: this.#settings,
      isWrite: this.#isWrite,
      elapsed: () => this.#elapsed(),
      announce: Effect.suspend(() => {
        this.#line.meters.retries.updateUnsafe(1, this.#context)
        return Effect.logDebug(`${this.#line.route.operation}: attempt ${this.#attempts} failed, trying again`)
      })
    })
    return Effect.flatMap(this.#recovery.next(failed, this.#maybe !== undefined, used), (again) =>
      again ? this.#attempt(failed) : this.#giveUp(failed)
    )
  }

  // The ends.

  #giveUp(last: Failed): Effect.Effect<never, E> {
    const error = this.#call.toError({
      attempts: this.#attempts,
      idempotencyKey: this.#call.idempotencyKey,
      verdict: settled(last, this.#maybe),
      rules: this.#settings.rules
    })
    this.#endFailed(error, Exit.fail(error))
    return error.outcome === "Unknown"
      ? Effect.andThen(Effect.logWarning(`${error._tag}: ${error.message}`), Effect.fail(error))
      : Effect.fail(error)
  }

  /** The call was interrupted, or broken off by a defect: no error is returned, so a write's key is reported. */
  #cutOff(cause: Cause.Cause<E>): Effect.Effect<unknown> {
    const exit = Exit.failCause(cause)
    const { idempotencyKey } = this.#call
    this.#endAttempt(exit)
    if (idempotencyKey === undefined || !(this.#isUnderWay || this.#maybe !== undefined)) {
      this.#end(exit)
      return Effect.void
    }
    const report = new OutcomeUnknown({
      operation: this.#line.route.operation,
      attempts: this.#attempts,
      idempotencyKey,
      outcome: "Unknown",
      reason: "Interrupted"
    })
    this.#endFailed(report, exit)
    const hook = Effect.suspend(() => this.#settings.policy.onInterruptedWrite(report))
    return Effect.logWarning(`${report._tag}: ${report.message}`).pipe(
      // An interruption waits for this: a hook that hangs must not hold it for ever.
      Effect.andThen(Effect.timeoutOption(Effect.interruptible(hook), hookTimeout)),
      Effect.catchCause(() => Effect.logWarning("onInterruptedWrite failed. The line above holds the key."))
    )
  }

  #endFailed(error: Tagged, exit: Exit.Exit<unknown, unknown>): void {
    this.#line.meters.failure(error._tag, error.outcome).updateUnsafe(1, this.#context)
    this.#span?.attribute("error.type", error._tag)
    this.#span?.attribute("payments.outcome", error.outcome)
    this.#end(exit)
  }

  #end(exit: Exit.Exit<unknown, unknown>): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#line.meters.duration.updateUnsafe(this.#elapsed(), this.#context)
    this.#span?.attribute("payments.attempts", this.#attempts)
    this.#span?.end(this.#settings.clock.currentTimeNanosUnsafe(), withoutValues(exit))
  }

  // The spans of its attempts.

  #traceAttempt(): Effect.Effect<void> {
    const { attributes, route } = this.#line
    const span = Effect.makeSpan(route.method, {
      kind: "client",
      ...(this.#span === undefined ? {} : { parent: this.#span }),
      attributes: this.#attempts === 0 ? attributes : { ...attributes, "http.request.resend_count": this.#attempts }
    })
    return Effect.map(span, (span) => {
      this.#attemptSpan = span
    })
  }

  #endAttempt(exit: Exit.Exit<unknown, unknown>): void {
    this.#attemptSpan?.end(this.#settings.clock.currentTimeNanosUnsafe(), withoutValues(exit))
    this.#attemptSpan = undefined
  }

  // What it knows.

  get #isWrite(): boolean {
    return this.#call.idempotencyKey !== undefined
  }

  #elapsed(): number {
    return this.#settings.clock.currentTimeMillisUnsafe() - this.#started
  }

  #asked() {
    return {
      isWrite: this.#isWrite,
      rules: this.#settings.rules,
      secrets: () => this.#secrets(),
      now: this.#settings.clock.currentTimeMillisUnsafe()
    }
  }

  /** Values that must not be shown, even if the service echoes them. */
  #secrets(): ReadonlyArray<Secret> {
    const { body, idempotencyKey = "" } = this.#call
    const used = this.#used
    const known = used === undefined ? [] : [used.clientId, Redacted.value(used.apiKey)]
    return [...[...known, idempotencyKey].map(personal), ...(body === undefined ? [] : textsIn(decoder.decode(body)))]
  }
}
