/**
 * How a refusal is understood. The service does not show the body of an error (service interface, section 7), so a
 * cause is read from its words, in Portuguese or English, by the rules here: data in one place, to be replaced or
 * extended when the service turns out otherwise.
 *
 * The words are compared in lower case, without accents and punctuation, with codes taken apart: `DUPLICATE_REQUEST`,
 * `duplicate-request` and `duplicateRequest` are the words "duplicate request". A phrase is written so:
 *
 * | part      | stands for                                                            |
 * | --------- | --------------------------------------------------------------------- |
 * | `saldo`   | this word                                                             |
 * | `duplic*` | a word that begins so                                                 |
 * | `a|b*`    | one of these                                                          |
 * | `#`       | a word that begins with a digit                                       |
 * | `~`       | at most three small words (`foi`, `de`, `is`, `the`), or none; no `:` |
 * | `...`     | at most four words, or none; it does not reach over a sentence's end  |
 *
 * In doubt the rules say that a request is a repetition, or that it is still under way. If they are wrong, the caller
 * asks once more. If they took a repetition for a plain refusal, a payout could be paid twice.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { RefusalRules } from "effect-pix"
 *
 * const rules = RefusalRules.make({
 *   rules: [
 *     { cause: "InsufficientBalance", words: ["e 1042", "carteira ... vazia"] },
 *     { cause: "IdempotencyKeyReused", words: /\bdup-\d+\b/ },
 *     ...RefusalRules.defaults.rules
 *   ]
 * })
 * const program = Effect.void.pipe(Effect.provideService(RefusalRules, rules))
 * ```
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { rules } from "./internal/words/refusalPhrases.ts"

/**
 * What a refusal can be about. The first three say that an earlier request may have been executed: `Conflict` does not
 * say how. `Other` stops the search: the words name a cause, and it is none of the others.
 */
export type RefusalCause =
  | "IdempotencyKeyInFlight"
  | "IdempotencyKeyReused"
  | "Conflict"
  | "InsufficientBalance"
  | "NoPixKey"
  | "BelowMinimum"
  | "Other"

/** One rule: words that name a cause. */
export interface RefusalRule {
  readonly cause: RefusalCause
  /**
   * Phrases, as the head of this module writes them; or a regular expression, which is tested on the words in lower
   * case and without accents, with their punctuation.
   */
  readonly words: ReadonlyArray<string> | RegExp
  /** Phrases whose words do not count: they look like the cause and are something else. Not for an expression. */
  readonly except?: ReadonlyArray<string> | undefined
}

/** See the reference of the same name. */
export interface RefusalRules {
  /** Tried in order; the first that matches decides. */
  readonly rules: ReadonlyArray<RefusalRule>
  /**
   * The statuses of a refused withdrawal without `pixKey` that stand for the documented cause, no key on file
   * (sections 2.1 and 7), when the words name no other.
   */
  readonly noPixKeyStatuses: ReadonlyArray<number>
}

const defaults: RefusalRules = { rules, noPixKeyStatuses: [400, 404] }

/** Rules to put in the place of the defaults. */
type RefusalRulesOptions = { readonly [K in keyof RefusalRules]?: RefusalRules[K] | undefined }

const make = ({ noPixKeyStatuses, rules }: RefusalRulesOptions): RefusalRules => ({
  rules: rules ?? defaults.rules,
  noPixKeyStatuses: noPixKeyStatuses ?? defaults.noPixKeyStatuses
})

/** The rules in force: a `Context.Reference`, read when a call is refused. */
export const RefusalRules = Object.assign(
  Context.Reference<RefusalRules>("effect-pix/RefusalRules", { defaultValue: () => defaults }),
  {
    /** The default rules. */
    defaults,
    /** The default rules, with what is given in their place. */
    make,
    /** A layer of rules: the defaults, with what is given in their place. */
    layer: (options: RefusalRulesOptions): Layer.Layer<never> => Layer.succeed(RefusalRules, make(options))
  }
)
