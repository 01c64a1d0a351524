/**
 * What workers share: a try that follows later, periodic work, and the end of a process.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Latch from "effect/Latch"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { isSqlError } from "effect/sql/SqlError"
import { reasonOf } from "../internal/databaseFailure.ts"
import { monotonicMillis } from "../internal/monotonic.ts"
import { CurrentRehearsal } from "../internal/rehearsal.ts"
import { followWrites, type NextWrite } from "../internal/soleWriter.ts"
import { log } from "../internal/spans.ts"
import { DatabaseError } from "./Database.ts"
import { report } from "./Failures.ts"

/**
 * A row is tried again later. `reason` is one of this library's own names and has no text of the user's error.
 */
export class TryAgain extends Schema.TaggedError<TryAgain>("effect-pix/TryAgain")("TryAgain", {
  reason: Schema.String,
  /** It is due at once, in its place among the others. Default: after a back-off of its own. */
  isAtOnce: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    return this.reason
  }
}

/** The class and the stack of a defect, without its message, which may quote a person's data. */
const traceOf = (cause: Cause.Cause<unknown>): string => {
  const defect = Cause.squash(cause)
  if (!Predicate.isError(defect)) return typeof defect
  const frames = String(defect.stack)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
  return [defect.name, ...frames].join("\n")
}

/** The attribute `error.type` of a cause: a kind of failure, the class of a defect, or `Interrupted`. */
const causeType = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return "Interrupted"
  const error = Cause.squash(cause)
  const reason = error instanceof DatabaseError ? error.reason : isSqlError(error) && reasonOf(error)
  return reason || (Predicate.isError(error) ? error.name : "Defect")
}

/** The attributes of a cause in a log line. */
const causeAttributes = (cause: Cause.Cause<unknown>) => ({
  "error.type": causeType(cause),
  "exception.stacktrace": Cause.hasInterruptsOnly(cause) ? undefined : traceOf(cause)
})

/** Logs a failure, with attributes of what it is about. */
type Warn = (cause: Cause.Cause<unknown>, attributes?: Readonly<Record<string, unknown>>) => Effect.Effect<void>

/**
 * Logs failures of work that is repeated: as a warning at most once a minute, and otherwise for debugging. A failure of the
 * database that a person has to end has a line of its own.
 */
export const makeWarn = (text: string): Warn => {
  let warnedAt = -Infinity
  return Effect.fnUntraced(function* (cause, attributes) {
    const error = Cause.squash(cause)
    const isReported = isSqlError(error) && (yield* report(error))
    const now = yield* monotonicMillis
    const isQuiet = isReported || now - warnedAt < 60_000
    if (!isQuiet) warnedAt = now
    yield* log(isQuiet ? "Debug" : "Warn", text, { ...attributes, ...causeAttributes(cause) })
  })
}

/** The text of a queue whose statements fail. */
export const noAnswer = (name: string): string => `${name}: the queue did not answer, it is polled again`

/**
 * A defect fails with `TryAgain`, and so does a step that was interrupted by another fiber, for example when the user's pool
 * closed. It is logged in the trace of the calling fiber, without the defect's message.
 */
export const orTryAgain =
  (
    /** The name of the worker in the log. */
    name: string,
    /** The attributes of the row in the log line. */
    attributes: Readonly<Record<string, unknown>> = {}
  ) =>
  <A, R>(effect: Effect.Effect<A, TryAgain, R>): Effect.Effect<A, TryAgain, R> =>
    Effect.catchCause(effect, (cause) => {
      const failure = Cause.findError(cause)
      if (Result.isSuccess(failure)) return Effect.fail(failure.success)
      const isInterrupted = Cause.hasInterruptsOnly(cause)
      const line = { ...attributes, ...causeAttributes(cause) }
      return Effect.andThen(
        isInterrupted
          ? log("Warn", `${name}: a step was interrupted, it is tried again`, line)
          : log("Error", `${name}: a handler died (${causeType(cause)})`, line),
        Effect.fail(new TryAgain({ reason: isInterrupted ? "Interrupted" : "Defect" }))
      )
    })

/**
 * Runs the effect at once, and then every `interval` in which something was written, until it is interrupted. A failure is
 * logged, as a warning at most once a minute, and the next run follows after `interval`. No spans are made, since most runs
 * find nothing to do. `pause` is in the place of `interval`, where one may end early.
 */
export const repeatedly = <E, R>(
  name: string,
  interval: Duration.Input,
  effect: Effect.Effect<unknown, E, R>,
  follow: Effect.Effect<NextWrite, never, Scope.Scope> = followWrites(undefined),
  pause: Effect.Effect<void> = Effect.sleep(interval)
): Effect.Effect<never, never, Exclude<R, Scope.Scope>> =>
  Effect.flatMap(follow, (nextWrite) => {
    const warn = makeWarn(`${name} failed, and will run again`)
    return effect.pipe(
      Effect.as(nextWrite),
      Effect.catchCause((cause) => Effect.as(warn(cause), Effect.void)),
      Effect.flatMap((next) => Effect.andThen(pause, next)),
      Effect.forever
    )
  }).pipe(Effect.scoped, Effect.withTracerEnabled(false))

/**
 * Measures at once, 5 seconds after this process changed something, and each minute. In a rehearsal nobody reads what is measured, so
 * nothing is.
 */
export const measureRepeatedly = <E>(name: string, hasNews: Latch.Latch, measure: Effect.Effect<void, E>) => {
  const soon = Effect.andThen(Effect.sleep("5 seconds"), hasNews.await)
  const pause = Effect.timeoutOrElse(soon, { duration: "1 minute", orElse: () => Effect.void })
  const run = repeatedly(name, "1 minute", Effect.andThen(hasNews.close, measure), undefined, pause)
  return Effect.flatMap(CurrentRehearsal, (rehearsal) => (rehearsal === undefined ? run : Effect.never))
}

/**
 * Waits for the next write, and runs `report` every minute meanwhile. Measured values do not change before that write, and
 * the reports show that the process did not lose its database.
 */
export const reportUntil = (nextWrite: NextWrite, report: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.raceFirst(nextWrite, Effect.forever(Effect.andThen(Effect.sleep("1 minute"), report)))

/**
 * A scope of the fibers of workers. When the caller's scope closes, all of them are interrupted together. What has not ended a second
 * after `drain` is left behind, as on a database that does not answer: a stop ends all the same.
 */
export const workersScope = (drain: Duration.Input): Effect.Effect<Scope.Scope, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make("parallel"), (scope, exit) =>
    Effect.flatMap(Effect.forkDetach(Scope.close(scope, exit)), (closing) =>
      Effect.timeoutOption(Fiber.await(closing), Duration.sum(Duration.fromInputUnsafe(drain), Duration.seconds(1)))
    )
  )

/**
 * When the calling fiber is interrupted, gives the effect at most `patience` to end before it is interrupted too: a process
 * that stops does not cut off an effect that ends soon.
 */
export const delayInterrupt =
  (patience: Duration.Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkChild(effect), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), patience), Fiber.interrupt(fiber))
        )
      )
    )
