/**
 * An entry of the refusals that a gateway is known to write.
 */
import type * as Duration from "effect/Duration"
import type { AuthError, RequestRejected, WithdrawalRefusal } from "../contract/PaymentsError.ts"

/**
 * What a refusal is. Each cause but `Unknown` says that **nothing was executed**. `RequestRejected`: it is none of the others. The
 * causes of a withdrawal (`InsufficientBalance`, `LimitReached`, `NoPixKey`, `BelowMinimum`) are `RequestRejected` for a charge, and
 * so is `NoPixKey` if the request names a key.
 */
export type RefusalCause = WithdrawalRefusal["_tag"] | (AuthError | RequestRejected)["_tag"]

/**
 * A refusal, by the words that its gateway writes. A phrase is found as whole words in a row, without case, accents and signs, in a
 * text of the answer that says why: its message, error, detail, title or code, or those of its list of errors. It is one of these:
 *
 * - two words or more, as `cadastro em análise`;
 * - a code of letters and a digit or `_`, as `E-1042` or `SALDO_BAIXO`;
 * - a code of digits alone, which is compared with the code of the answer only.
 */
export interface KnownRefusal {
  /** What the refusal is; `Unknown` if it proves nothing. */
  readonly cause: RefusalCause | "Unknown"
  /** How the gateway writes it: one phrase or code is enough. At least one. */
  readonly phrases: ReadonlyArray<string>
  /**
   * The statuses with which it is written: 4xx, and 201 for the reason of a record that says `Failure`. An entry that names a 409 or
   * a 429 goes before what these mean. Default: every status that does not decide by itself.
   */
  readonly statuses?: ReadonlyArray<number> | undefined
  /**
   * When a limit ends, of the cause `LimitReached`: after this time, or `"tomorrow"` in São Paulo. A payout of the queue waits so
   * long, and is sent again.
   */
  readonly waitFor?: Duration.Input | "tomorrow" | undefined
}
