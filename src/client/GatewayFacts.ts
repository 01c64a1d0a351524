/**
 * What you know of your gateway and the client cannot: its status words, what its refusals mean, its fees. The facts are read once,
 * when a layer of `Payments` is built, and hold for all that uses that layer: calls, waits, orders, webhooks and the queue. So no
 * setting of a single call takes a rule about money away.
 *
 * ```ts
 * import { Layer } from "effect"
 * import { GatewayFacts, Payments } from "effect-pix"
 *
 * const facts = GatewayFacts.layer({
 *   statuses: { charge: { paid: ["Liquidada"] }, payout: { failed: ["Estornado"] } }
 * })
 * const payments = Layer.provide(Payments.layerFetch, facts)
 * ```
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constFalse, constUndefined } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import { checkBy, checkSettingsBy, fn } from "../contract/Options.ts"
import { issuesInWords } from "../contract/Outcome.ts"
import type { Operation, WithdrawalRefusal } from "../contract/PaymentsError.ts"
import { meaningOf, type Words } from "../contract/Status.ts"
import { fold } from "../contract/StatusWords.ts"
import { refuse } from "../internal/refuse.ts"
import type { Centavos, Reais } from "../pix/Money.ts"

/**
 * A write that the service refused, as it is given to `refusal` of `GatewayFacts`.
 *
 * Gotcha: `message`, `code` and `words` are not masked, and may hold values of the request. Log none of them.
 */
export interface ServiceRefusal {
  /** The write that was refused. */
  readonly operation: Operation
  /** The HTTP status: a 4xx, or 301, 307 or 308; a 2xx for the record of a withdrawal that says `Failure`. */
  readonly status: number
  /** The message as the service wrote it; empty if it wrote none that can be read. */
  readonly message: string
  /** The code as the service wrote it, such as `E-1042`, if it gave one. */
  readonly code: string | undefined
  /**
   * All words of the answer, in lower case and without accents. The words of a code are added once more as separate words,
   * so that `/already paid/` finds `ALREADY_PAID`. Texts that repeat a value of the request, or the phrase of the status,
   * are left out.
   */
  readonly words: string
}

/**
 * The error that a refusal is. `RequestRejected`: none of the other causes, and nothing was executed. The causes of a
 * withdrawal (`InsufficientBalance`, `LimitReached`, `NoPixKey`, `BelowMinimum`) are `RequestRejected` for a charge, and so is
 * `NoPixKey` if the request names a key.
 */
export type RefusalCause = "IdempotencyConflict" | WithdrawalRefusal["_tag"] | "RequestRejected"

/** What is known of a gateway. */
export interface GatewayFacts {
  /**
   * The status words of your gateway, a column for each record, beside those of `Status`: they are compared whole, without case,
   * accents, `_`, `-` and spaces. A word that stands in two columns of one record is wrong, as is one that the library has
   * in another column. Default: none.
   *
   * Of a charge, `paid` are those by which you ship. Of a withdrawal, a word ends the payout that a lookup shows with it; an answer to
   * `requestWithdrawal` with a word of `failed` or `returned` is `OutcomeUnknown`. `effect-pix doctor --transaction` names the word
   * of a paid charge.
   */
  readonly statuses: Words
  /**
   * Whether the answer to a withdrawal may have a `value` (reais) above the `asked` amount (centavos), as when a gateway adds
   * its fee. Default: never, such an answer is `OutcomeUnknown`. A value below the amount is always a success: the service
   * does not document whether its `value` includes a fee.
   */
  readonly acceptValue: (about: { readonly asked: Centavos; readonly value: Reais }) => boolean
  /**
   * What a refused write means, where you know your gateway better than the client does. It is called for each refusal
   * (4xx, 301, 307, 308, and a record that says `Failure`) of a write that no earlier attempt has left in doubt. Default:
   * `undefined` always.
   *
   * - `"Unknown"`: the refusal proves nothing, and the call fails with `OutcomeUnknown`. It holds for every status: who
   *   trusts no 4xx says so once.
   * - A cause: the error that it is. Every cause but `IdempotencyConflict` says that nothing was executed. It counts for
   *   each refusal but a 401, a redirect, and a 429 whose words name no limit. A record that says `Failure` is
   *   `WithdrawalFailed`, whatever cause is named.
   * - `{ waitFor }`: a limit that ends after this time, or `"tomorrow"` in São Paulo. It is a cause, `LimitReached`, with its time in
   *   `retryAfter`: a payout of the queue waits so long, and is sent again.
   * - `undefined`, or any other value: the client decides. If it throws, that is `"Unknown"`.
   *
   * Gotcha: check that your gateway does not answer a repetition with the same words, before you name a cause for them: a
   * payout could be sent twice.
   *
   * ```ts
   * import { GatewayFacts } from "effect-pix"
   *
   * const facts = GatewayFacts.make({
   *   refusal: ({ code, words }) => {
   *     if (code === "E-1042" || /carteira vazia/.test(words)) return "InsufficientBalance"
   *     return /\bdup-\d+\b/.test(words) ? "IdempotencyConflict" : undefined
   *   }
   * })
   * ```
   */
  readonly refusal: (
    said: ServiceRefusal
  ) => RefusalCause | "Unknown" | { readonly waitFor: Duration.Input | "tomorrow" } | undefined
}

/** Facts beside the defaults. One that is `undefined` is the default. */
type GatewayFactsOptions = { readonly [K in keyof GatewayFacts]?: GatewayFacts[K] | undefined }

const defaults: GatewayFacts = { statuses: {}, acceptValue: constFalse, refusal: constUndefined }

const noFact = { messageUnexpectedKey: "is no fact" }

const word = Schema.String.check(Schema.makeFilter((text) => fold(text) !== "" || "must be a word"))
const words = Schema.optional(Schema.Array(word))
/** A word means one thing. So a slip of a column, as `closed: ["Paid"]`, is told. */
const inOneColumn = (meaningOfOurs: (word: string) => string) =>
  Schema.makeFilter((columns: Readonly<Record<string, ReadonlyArray<string> | undefined>>) => {
    const all = Object.entries(columns).flatMap(([column, list = []]) =>
      list.map((word) => [fold(word), column] as const)
    )
    const known = new Map(all)
    const isClear = all.every(
      ([word, column]) => known.get(word) === column && ["unlisted", column].includes(meaningOfOurs(word))
    )
    return isClear || "must not have one word in two columns, or in another one than the library has it in"
  })

const Facts = Schema.Struct({
  statuses: Schema.Struct({
    charge: Schema.optional(
      Schema.Struct({ open: words, paid: words, refunded: words, closed: words })
        .annotate(noFact)
        .check(inOneColumn((word) => meaningOf(word, "charge")))
    ),
    payout: Schema.optional(
      Schema.Struct({ open: words, paid: words, failed: words, returned: words })
        .annotate(noFact)
        .check(inOneColumn((word) => meaningOf(word, "payout")))
    )
  }).annotate(noFact),
  acceptValue: fn<GatewayFacts["acceptValue"]>(),
  refusal: fn<GatewayFacts["refusal"]>()
} satisfies Record<keyof GatewayFacts, Schema.Constraint>).annotate(noFact)

const check = checkBy(Facts, "facts", "error")

const withDefaults = (options: GatewayFactsOptions): GatewayFacts =>
  Predicate.isObject(options)
    ? { ...defaults, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) }
    : options

/** Facts with the defaults, checked: what a caller without types gave may be anything. `prefix` is before the name of a wrong one. */
const checkedWith = (prefix: string) => {
  const checkSettings = checkSettingsBy(Facts, "facts", prefix, "error")
  return (options: GatewayFactsOptions): Effect.Effect<GatewayFacts, ConfigurationError> =>
    Effect.suspend(() => {
      const facts = withDefaults(options)
      return Effect.as(checkSettings(facts), facts)
    })
}
const checkedLayer = checkedWith("")

/**
 * The facts of the context: a `Context.Reference`. `GatewayFacts.layer` is provided to the layer of `Payments`, which reads it once,
 * and fails with `ConfigurationError` where a fact is wrong.
 */
export const GatewayFacts = Object.assign(
  Context.Reference<GatewayFacts>("effect-pix/GatewayFacts", { defaultValue: () => defaults }),
  {
    /** The defaults, replaced by the given facts. Throws a `SchemaError` that names every wrong one. */
    make: (options: GatewayFactsOptions = {}): GatewayFacts => {
      const facts = withDefaults(options)
      const checked = check(facts)
      return Result.isFailure(checked) ? refuse(`Wrong facts of a gateway: ${issuesInWords(checked.failure)}`) : facts
    },
    /** A layer of the facts. Fails with `ConfigurationError`, which names every wrong one. */
    layer: (options: GatewayFactsOptions): Layer.Layer<never, ConfigurationError> =>
      Layer.effect(GatewayFacts, checkedLayer(options))
  }
)

/** The facts of the context, checked. */
export const currentFacts: Effect.Effect<GatewayFacts, ConfigurationError> = Effect.flatMap(
  GatewayFacts,
  checkedWith("GatewayFacts.")
)
