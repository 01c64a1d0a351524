/**
 * Idempotency keys: each logical write has one, so that the service can recognise a repetition and not execute it
 * again.
 *
 * Gotcha: a retry after a crash must use the same key, so a key must outlive its process. Make it from your own business
 * reference (`fromReference`), or store it before you send.
 */
declare module "./IdempotencyKey.ts" {}

import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { refuse } from "../internal/refuse.ts"

/**
 * A valid value of the `Idempotency-Key` header: 1 to 255 visible ASCII characters. The service documents no bound; 255 is
 * the largest that is common among gateways.
 */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { expected: "1 to 255 visible ASCII characters" })
)
/** See the schema of the same name. */
export type IdempotencyKey = typeof IdempotencyKey.Type

/** Options of a write. */
export interface WriteOptions {
  /**
   * The key of this logical write: 1 to 255 visible ASCII characters, the same on every repetition. Default: a new
   * one from `IdempotencyKeyGen` for each call, which is lost with the process. `Effect.retry` around a call makes a new
   * key each time: use {@link retry}.
   */
  readonly idempotencyKey?: string | undefined
  /**
   * `"Unknown"`: an earlier call with this `idempotencyKey` may have been executed (its outcome was `Unknown`, or the
   * process ended before it was known). A refusal of this call proves nothing about the earlier one. So every refusal of
   * this call is an `OutcomeUnknown`, and so is a call that sends nothing, until the service answers with a readable
   * success. A wrong input is still `InvalidRequest` or `BelowMinimum`: these errors are about this call only.
   *
   * `"None"`: no earlier request with this `idempotencyKey` can have been executed: none was sent, or each was
   * provably refused. Then the words of a refusal decide no outcome, except words about idempotency or duplication.
   *
   * Both need an `idempotencyKey`. Default: the past of the key is unknown. Then a refusal that may be about an earlier
   * request (by its words, as a 422 without words, or since it cannot be read) has the outcome `Unknown`. A key that
   * the call makes has no past.
   */
  readonly earlier?: "None" | "Unknown" | undefined
}

/**
 * Characters that nobody can see (controls, format characters, lone surrogates, fillers, variation selectors, the blank
 * of Braille), and characters that look like a plain one (other spaces, full-width forms, two hyphens).
 */
const lookalike =
  /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2010\u2011\u2800\uff01-\uff60\uffe0-\uffe6]/u

const codePoint = (character: string) =>
  `U+${Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}`

/** Unicode's composed form takes quadratic time, so the length of a reference is bounded. */
const longestReference = 1000

const problemOf = (reference: unknown): string | undefined => {
  if (!Predicate.isString(reference) || reference.trim() === "") return "must be a text that is not blank"
  if (reference.length > longestReference) return `must not be longer than ${longestReference} characters`
  if (reference !== reference.trim()) return "must not have space around it"
  const [found] = lookalike.exec(reference) ?? []
  if (found !== undefined)
    return `must not hold ${codePoint(found)}, which a person cannot see or distinguish from another`
  return reference === reference.normalize("NFC") ? undefined : "must be in Unicode's composed form (NFC)"
}

const kindPattern = /^[A-Za-z0-9-]{1,32}$/

const fromChecked = (kind: string, reference: string): Result.Result<IdempotencyKey, string> => {
  if (!Predicate.isString(kind) || !kindPattern.test(kind)) {
    return Result.fail("The kind must be 1 to 32 letters, digits or hyphens")
  }
  const problem = problemOf(reference)
  return problem === undefined
    ? Result.succeed(`${kind}_${fingerprint(`${kind}\n${reference}`)}`)
    : Result.fail(`The reference ${problem}`)
}

/**
 * The key of a business reference: the same for the same kind and reference, in any process, for ever.
 *
 * The reference itself is not in the key (it may be a person's data), only its SHA-256. Throws a `SchemaError`, which
 * does not repeat the reference, when
 *
 * - the kind is not 1 to 32 letters, digits or hyphens;
 * - the reference is longer than 1,000 characters;
 * - the reference is blank: many payouts would share one key, and only the first would be paid;
 * - the reference could look the same as another one: one invoice would be paid twice. So it has no space around it, is
 *   in Unicode's composed form (NFC), and has no character that a person cannot see or distinguish from another: control and
 *   format characters, lone surrogates, fillers and variation selectors, line separators, spaces other than the plain
 *   one, full-width forms, and the hyphens U+2010 and U+2011.
 *
 * Upper and lower case are different references, and so are letters of two alphabets that look alike. Unassigned and
 * private characters are accepted, since a newer runtime may assign them.
 *
 * ```ts
 * import { IdempotencyKey } from "effect-pix"
 *
 * const key = IdempotencyKey.fromReference("payout", "invoice-42")
 * const again = IdempotencyKey.fromReference("payout", "invoice-42") === key // => true
 * const other = IdempotencyKey.fromReference("payout", "invoice-43") === key // => false
 * ```
 */
export const fromReference = (kind: string, reference: string): IdempotencyKey =>
  Result.getOrElse(fromChecked(kind, reference), refuse)

/** {@link fromReference} as an `Option`: none for a kind or a reference that it would refuse. */
export const fromReferenceOption = (kind: string, reference: string): Option.Option<IdempotencyKey> =>
  Result.getSuccess(fromChecked(kind, reference))

/** A short hash that names a key in spans and logs. */
export const fingerprint = (text: string): string =>
  Predicate.isString(text) ? bytesToHex(sha256(utf8ToBytes(text))).slice(0, 40) : refuse("A key must be a text")

const outcomeOf = (error: unknown): unknown => (Predicate.hasProperty(error, "outcome") ? error.outcome : undefined)

/** Whether a failure proves that its attempt executed nothing. */
const isHarmless = (reason: Cause.Reason<unknown>): boolean => {
  const outcome = Cause.isFailReason(reason) ? outcomeOf(reason.error) : undefined
  return outcome === "NotSent" || outcome === "Rejected" || outcome === "NoEffect"
}

/**
 * The error of an attempt that may have been executed. An error with the outcome `Unknown` is preferred to one without
 * an outcome.
 */
const doubtIn = <E>(cause: Cause.Cause<E>): Cause.Fail<E> | undefined => {
  const errors = cause.reasons.filter(Cause.isFailReason).filter((reason) => !isHarmless(reason))
  return errors.find(({ error }) => outcomeOf(error) === "Unknown") ?? errors[0]
}

/**
 * Repeats a write under one key, by a schedule. Pass the options to the call inside `write`.
 *
 * Unlike `Effect.retry` around a call it loses no Unknown. After an attempt that may have been executed, the options have
 * `earlier: "Unknown"`, so that a later refusal is not taken for a proof that nothing was executed. Such an attempt
 * failed with the outcome `Unknown`, or with an error that has no outcome: a time limit of your own may have cut off a
 * request. After such an attempt the result is a success or the error of such an attempt: the last `Unknown`, or else
 * the last error without an outcome, replaces any other last error.
 *
 * The schedule sees each error and decides whether to try again: without a condition it always does, also after
 * `InvalidRequest`. A defect or an interruption ends the repetition at once.
 *
 * ```ts
 * import { Effect, Schedule } from "effect"
 * import { IdempotencyKey, Money, Payments } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const key = IdempotencyKey.fromReference("payout", "invoice-42")
 * const schedule = Schedule.exponential("1 minute").pipe(Schedule.upTo({ times: 5 }))
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const sandbox = yield* Sandbox
 *   yield* sandbox.credit(5000)
 *   const paid = yield* IdempotencyKey.retry(key, schedule, (options) =>
 *     payments.requestWithdrawal({ amount: Money.centavos(1000) }, options)
 *   )
 *   return paid.idempotencyKey === key
 * })
 *
 * const same = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => true
 * ```
 */
export const retry = <A, E extends Input, R, Output, Input, ScheduleError, ScheduleR>(
  idempotencyKey: string,
  schedule: Schedule.Schedule<Output, Input, ScheduleError, ScheduleR>,
  write: (options: WriteOptions) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | ScheduleError, R | ScheduleR> =>
  Effect.suspend(() => {
    let options: WriteOptions = { idempotencyKey }
    let doubt: Cause.Fail<E> | undefined
    return Effect.suspend(() => write(options)).pipe(
      Effect.tapCause((cause) =>
        Effect.sync(() => {
          if (!cause.reasons.every(isHarmless)) options = { idempotencyKey, earlier: "Unknown" }
          const found = doubtIn(cause)
          if (outcomeOf(doubt?.error) !== "Unknown" || outcomeOf(found?.error) === "Unknown") doubt = found ?? doubt
        })
      ),
      Effect.retry(schedule),
      Effect.mapError((error) => doubt?.error ?? error)
    )
  })
