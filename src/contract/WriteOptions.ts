/**
 * The options of a write: its idempotency key, and what is known of earlier requests with that key.
 */
import { IdempotencyConflict, OutcomeUnknown } from "./PaymentsError.ts"

/** An error of a write that may have been executed. */
export type Unclear = OutcomeUnknown | IdempotencyConflict

export const isUnclear = (error: unknown): error is Unclear =>
  error instanceof OutcomeUnknown || error instanceof IdempotencyConflict

/**
 * Options of a write. Nothing: the call makes a new key with `IdempotencyKeyGen`, which is lost with the process. Else a key
 * and its past, or `after`, which has both. `Effect.retry` around a call repeats the options of its first call, so the past
 * that it tells is wrong from the second call on: use `IdempotencyKey.retry`.
 */
export type WriteOptions =
  | {
      /** The key of this logical write: 1 to 255 visible ASCII characters, the same on every repetition. */
      readonly idempotencyKey: string
      /**
       * `"Unknown"`: an earlier call with this `idempotencyKey` may have been executed (its outcome was `Unknown`, or the
       * process ended before it was known). A refusal of this call proves nothing about the earlier one. So every refusal
       * of this call is an `OutcomeUnknown`, and so is a call that sends nothing, until the service answers with a readable
       * success. A wrong input is still `InvalidRequest` or `BelowMinimum`: these errors are about this call only. Where
       * you have the error of the earlier call, give it as `after`.
       *
       * `"None"`: no earlier request with this `idempotencyKey` can have been executed: none was sent, or each was
       * provably refused. Then a refusal can be a proof that nothing was executed. A client remembers the last 10,000 keys
       * of its calls that ended in doubt, until a success under the same key ends the doubt. `"None"` for one of them counts
       * as `"Unknown"`, with a warning, and nothing is sent under another client id or company than the call in doubt. A
       * doubt of another process is not remembered: say `"Unknown"` where you find your own mark of an earlier call.
       *
       * From JavaScript, a missing word counts as `"Unknown"`.
       */
      readonly earlier: "None" | "Unknown"
      readonly after?: undefined
    }
  | {
      /**
       * The error with which an earlier call of the same operation ended, in this process or in another one: an
       * `OutcomeUnknown` or an `IdempotencyConflict`, decoded by its schema if it was stored. It has the key, and means
       * `earlier: "Unknown"`. It also has the time of the first request, and a fingerprint of the base URL, the client id
       * and the company under which it was sent.
       *
       * Nothing is sent under another client id, or after the policy's `horizon`: the call fails with `OutcomeUnknown`,
       * with the reason `OtherClientId` or `PastHorizon`. Its error has the same first time and fingerprint, so it can be
       * given to the next call.
       */
      readonly after: Unclear
      readonly idempotencyKey?: undefined
      readonly earlier?: undefined
    }
