/**
 * Rules that read the cause of a refusal from its words, in Portuguese or English: the service does not document the body of
 * an error (`docs/service.md`). Your own entries are tested before the defaults, for every refusal except a 401
 * and a 429, also for a 409.
 *
 * Details: an expression is tested on the words in lower case, without accents and with their punctuation. It is tested once
 * more with the words of a code separated, so that `/already paid/` matches `ALREADY_PAID`.
 *
 * Gotchas:
 * - The words name an error; they do not prove that no money moved. After an attempt that may have been executed, a refusal
 *   is always `OutcomeUnknown`.
 * - An entry with another cause than `IdempotencyConflict` says that nothing was executed. Check this first: if your
 *   gateway answers a repetition with the same words, a payout could be sent twice.
 * - A sticky expression (flag `y`) is an `InvalidRequest`. If an expression throws, the call fails with `IdempotencyConflict`.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { RefusalRules } from "effect-pix"
 *
 * const rules = RefusalRules.make({
 *   rules: [
 *     { cause: "InsufficientBalance", words: /\be-1042\b|carteira vazia/ },
 *     { cause: "IdempotencyConflict", words: /\bdup-\d+\b/ }
 *   ]
 * })
 * const program = Effect.void.pipe(Effect.provideService(RefusalRules, rules))
 * ```
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { WithdrawalRefusal } from "../contract/PaymentsError.ts"

/**
 * The error that the words name. `RequestRejected`: none of the other causes, and nothing was executed. The causes of a
 * withdrawal (`InsufficientBalance`, `NoPixKey`, `BelowMinimum`) have no effect on the refusal of a charge.
 */
export type RefusalCause = "IdempotencyConflict" | WithdrawalRefusal["_tag"] | "RequestRejected"

/** Words that name a cause. */
export interface RefusalRule {
  /** The error that the words name. */
  readonly cause: RefusalCause
  /** Tested on the words in lower case, without accents. */
  readonly words: RegExp
}

/** See the reference of the same name. */
export interface RefusalRules {
  /** Your own entries. The first that matches decides, before the defaults. Default: none. */
  readonly rules: ReadonlyArray<RefusalRule>
  /**
   * The statuses that mean `NoPixKey` for a refused withdrawal without `pixKey`, if the answer has no words.
   * Default: 400 and 404.
   */
  readonly noPixKeyStatuses: ReadonlyArray<number>
}

const defaults: RefusalRules = { rules: [], noPixKeyStatuses: [400, 404] }

/** Settings that replace the defaults. */
type RefusalRulesOptions = { readonly [K in keyof RefusalRules]?: RefusalRules[K] | undefined }

const make = ({ noPixKeyStatuses, rules }: RefusalRulesOptions): RefusalRules => ({
  rules: rules ?? defaults.rules,
  noPixKeyStatuses: noPixKeyStatuses ?? defaults.noPixKeyStatuses
})

/** The current rules: a `Context.Reference`, read when a call is refused. */
export const RefusalRules = Object.assign(
  Context.Reference<RefusalRules>("effect-pix/RefusalRules", { defaultValue: () => defaults }),
  {
    /** The defaults, replaced by the given settings. */
    make,
    /** A layer of rules: the defaults, replaced by the given settings. */
    layer: (options: RefusalRulesOptions): Layer.Layer<never> => Layer.succeed(RefusalRules, make(options))
  }
)
