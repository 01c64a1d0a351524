/**
 * The fibers that handle the elements of a queue, and periodic work.
 *
 * Gotcha: a handler may run twice, even while its earlier run continues. Its last write has to be conditional.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import type * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { followWrites, type NextWrite } from "../internal/soleWriter.ts"
import { reasonOf } from "../internal/databaseFailure.ts"
import { log } from "../internal/spans.ts"
import { DatabaseError, sqlErrorOf } from "./Database.ts"
import { report } from "./Failures.ts"

/**
 * The element is tried again later, by the queue's schedule. The queue stores the text of the failure in its table, so
 * `reason` is one of this library's own names and has no text of the user's error.
 */
export class TryAgain extends Schema.TaggedError<TryAgain>("effect-pix/TryAgain")("TryAgain", {
  reason: Schema.String
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
  const sqlError = sqlErrorOf(error)
  const reason = error instanceof DatabaseError ? error.reason : sqlError && reasonOf(sqlError)
  return reason ?? (Predicate.isError(error) ? error.name : "Defect")
}

/** The attributes of a cause in a log line. */
const causeAttributes = (cause: Cause.Cause<unknown>) => ({
  "error.type": causeType(cause),
  "exception.stacktrace": Cause.hasInterruptsOnly(cause) ? undefined : traceOf(cause)
})

/**
 * Logs failures of work that is repeated: as a warning at most once a minute, and otherwise for debugging. A failure of the
 * database that a person has to end has a line of its own.
 */
export const makeWarn = (text: string): ((cause: Cause.Cause<unknown>) => Effect.Effect<void>) => {
  let warnedAt = -Infinity
  return Effect.fnUntraced(function* (cause) {
    const error = sqlErrorOf(Cause.squash(cause))
    const isReported = error !== undefined && (yield* report(error))
    const now = yield* Clock.currentTimeMillis
    const isQuiet = isReported || now - warnedAt < 60_000
    if (!isQuiet) warnedAt = now
    yield* log(isQuiet ? "Debug" : "Warn", text, causeAttributes(cause))
  })
}

/** The text of a queue whose statements fail. */
export const noAnswer = (name: string): string => `${name}: the queue did not answer, it is polled again`

/**
 * Makes `TryAgain` of a defect, and of a step that was interrupted by another fiber, for example when the user's pool closed.
 * It is logged in the trace of the calling fiber, without the defect's message.
 */
export const orTryAgain =
  (
    /** The name of the worker in the log. */
    name: string,
    /** The attributes of the element in the log line. */
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

/** Takes elements and handles `concurrency` of them at the same time, until it is interrupted. */
export const work = <A, R, HR>(
  queue: PersistedQueue.PersistedQueue<A, R>,
  options: {
    /** The name of the worker in the log. */
    readonly name: string
    readonly concurrency: number
    /** The attributes of an element in log lines. Default: none. */
    readonly attributesOf?: (value: A) => Readonly<Record<string, unknown>>
    /** Success removes the element. For a defect and an interruption, see `orTryAgain`. */
    readonly handle: (value: A, metadata: { readonly attempts: number }) => Effect.Effect<void, TryAgain, HR>
  }
): Effect.Effect<never, never, R | HR> => {
  const { handle, name } = options
  const warn = makeWarn(noAnswer(name))
  // If the database cannot be reached for longer than the lease, a take cannot settle its element and dies. The next take
  // follows, and the element is taken again when its lease is over.
  const taker = queue
    .take((value, metadata) => orTryAgain(name, options.attributesOf?.(value))(handle(value, metadata)))
    .pipe(
      Effect.catchCause((cause) => {
        const failure = Cause.findError(cause)
        return Result.isSuccess(failure) && failure.success._tag === "TryAgain"
          ? Effect.void
          : Effect.andThen(warn(cause), Effect.sleep("1 second"))
      }),
      Effect.forever
    )
  return Effect.andThen(
    Effect.replicateEffect(taker, options.concurrency, { concurrency: options.concurrency, discard: true }),
    Effect.never
  )
}

/**
 * Runs the effect at once, and then every `interval` in which something was written, until it is interrupted. A failure is
 * logged, as a warning at most once a minute, and the next run follows after `interval`. No spans are made, since most runs
 * find nothing to do.
 */
export const repeatedly = <E, R>(
  name: string,
  interval: Duration.Input,
  effect: Effect.Effect<unknown, E, R>,
  follow: Effect.Effect<NextWrite, never, Scope.Scope> = followWrites(undefined)
): Effect.Effect<never, never, Exclude<R, Scope.Scope>> =>
  Effect.flatMap(follow, (nextWrite) => {
    const warn = makeWarn(`${name} failed, and will run again`)
    return effect.pipe(
      Effect.as(nextWrite),
      Effect.catchCause((cause) => Effect.as(warn(cause), Effect.void)),
      Effect.flatMap((next) => Effect.andThen(Effect.sleep(interval), next)),
      Effect.forever
    )
  }).pipe(Effect.scoped, Effect.withTracerEnabled(false))

/**
 * Waits for the next write, and runs `report` every minute meanwhile. Measured values do not change before that write, and
 * the reports show that the process did not lose its database.
 */
export const reportUntil = (nextWrite: NextWrite, report: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.raceFirst(nextWrite, Effect.forever(Effect.andThen(Effect.sleep("1 minute"), report)))

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
