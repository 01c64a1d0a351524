/**
 * How the words of a refusal are read. The service does not show the body of an error (service interface, section 7), so
 * the cause of a refusal is read from its words, in Portuguese or English. Your own entries come before the defaults:
 * they hold for every refusal but a 401 and a 429, also for a 409.
 *
 * An expression is tested on the words in lower case and without accents, with the punctuation that they came with; and
 * once more with the words of a code apart, so that `/already paid/` matches `ALREADY_PAID`.
 *
 * Gotchas:
 * - The words name an error; they do not say whether money moved. After an attempt that may have been executed, a refusal
 *   stays `OutcomeUnknown` whatever its words say.
 * - An entry with another cause than `IdempotencyConflict` says that nothing was executed. Be sure of it: where your
 *   gateway writes the same words about a repetition, a payout could be sent twice.
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
 * The error that the words stand for. `RequestRejected`: the words name none of the others, and nothing was executed. The
 * causes of a withdrawal (`InsufficientBalance`, `NoPixKey`, `BelowMinimum`) say nothing of a charge.
 */
export type RefusalCause = "IdempotencyConflict" | WithdrawalRefusal["_tag"] | "RequestRejected"

/** Words that name a cause. */
export interface RefusalRule {
  readonly cause: RefusalCause
  readonly words: RegExp
}

/** See the reference of the same name. */
export interface RefusalRules {
  /** Your own entries, in order: the first that matches decides, before the defaults. Default: none. */
  readonly rules: ReadonlyArray<RefusalRule>
  /**
   * The statuses of a refused withdrawal without `pixKey` that stand for the documented cause, no key on file (sections
   * 2.1 and 7), where the answer has no words. Default: 400 and 404.
   */
  readonly noPixKeyStatuses: ReadonlyArray<number>
}

const defaults: RefusalRules = { rules: [], noPixKeyStatuses: [400, 404] }

/** Settings to put in the place of the defaults. */
type RefusalRulesOptions = { readonly [K in keyof RefusalRules]?: RefusalRules[K] | undefined }

const make = ({ noPixKeyStatuses, rules }: RefusalRulesOptions): RefusalRules => ({
  rules: rules ?? defaults.rules,
  noPixKeyStatuses: noPixKeyStatuses ?? defaults.noPixKeyStatuses
})

/** The rules in force: a `Context.Reference`, read when a call is refused. */
export const RefusalRules = Object.assign(
  Context.Reference<RefusalRules>("effect-pix/RefusalRules", { defaultValue: () => defaults }),
  {
    /** The defaults, with what is given in their place. */
    make,
    /** A layer of rules: the defaults, with what is given in their place. */
    layer: (options: RefusalRulesOptions): Layer.Layer<never> => Layer.succeed(RefusalRules, make(options))
  }
)
