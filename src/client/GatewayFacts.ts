/**
 * What you know of your gateway and the client cannot: its status words, what its refusals mean, its fees. The facts are read once,
 * when a layer of `Payments` is built, and hold for all that uses that layer: calls, waits, orders, webhooks and the queue. So no
 * setting of a single call takes a rule about money away. Facts that are only around a call, or beside the layer of a client that has
 * none, hold nowhere: its calls fail with `InvalidRequest`.
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
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { constFalse } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import { checkBy, checkSettingsBy, fn, period } from "../contract/Options.ts"
import { issuesInWords } from "../contract/Outcome.ts"
import { meaningOf, type Words } from "../contract/Status.ts"
import { fold } from "../contract/StatusWords.ts"
import { refuse } from "../internal/refuse.ts"
import type { Centavos, Reais } from "../pix/Money.ts"
import { isDecided } from "./internal/call/refusalLines.ts"
import { isPhrase } from "./internal/words/phrases.ts"
import type { KnownRefusal } from "./KnownRefusal.ts"

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
   * The refusals that your gateway writes, by their words or codes. They go before those that the client knows. A refusal of a
   * withdrawal, a boleto or a card that neither knows is `OutcomeUnknown`, reason `RefusalUnknown`: `docs/errors.md` has the lines, and
   * says how to type this list. Default: none.
   *
   * Gotcha: check that your gateway does not answer a repetition with the same words, before you name a cause for them: a
   * payout could be sent twice. For such words the cause is `Unknown`.
   *
   * ```ts
   * import { GatewayFacts } from "effect-pix"
   *
   * const facts = GatewayFacts.layer({
   *   refusals: [
   *     { cause: "InsufficientBalance", phrases: ["E-1042", "carteira sem fundos"] },
   *     { cause: "LimitReached", phrases: ["teto do dia"], waitFor: "tomorrow" },
   *     { cause: "RequestRejected", phrases: ["cadastro em análise"], statuses: [400, 422] },
   *     { cause: "Unknown", phrases: ["pagamento já solicitado"] }
   *   ]
   * })
   * ```
   */
  readonly refusals: ReadonlyArray<KnownRefusal>
}

/** Facts beside the defaults. One that is `undefined` is the default. */
type GatewayFactsOptions = { readonly [K in keyof GatewayFacts]?: GatewayFacts[K] | undefined }

const defaults: GatewayFacts = { statuses: {}, acceptValue: constFalse, refusals: [] }

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

const phrase = Schema.String.check(
  Schema.makeFilter(
    (text) => isPhrase(text) || "must be two words or more, a code of letters and a digit or _, or a code of digits"
  )
)
/** The statuses that an entry can decide. */
const status = Schema.Int.check(
  Schema.makeFilter(
    (value) =>
      value === 201 ||
      (value >= 400 && value < 500 && !isDecided(value)) ||
      "must be a status that no line decides before: 201 or a 4xx"
  )
)
const Refusal = Schema.Struct({
  cause: Schema.Literals([
    "AuthError",
    "BelowMinimum",
    "InsufficientBalance",
    "LimitReached",
    "NoPixKey",
    "RequestRejected",
    "Unknown"
  ]),
  phrases: Schema.Array(phrase).check(Schema.isMinLength(1)),
  statuses: Schema.optional(Schema.Array(status).check(Schema.isMinLength(1))),
  waitFor: Schema.optional(Schema.Union([Schema.Literal("tomorrow"), period]))
})
  .annotate(noFact)
  .check(
    Schema.makeFilter(
      ({ cause, waitFor }) =>
        waitFor === undefined || cause === "LimitReached" || "must not have waitFor: only LimitReached has"
    )
  )

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
  refusals: Schema.Array(Refusal)
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

/** Whether facts that are given over a client hold nowhere: it has none. */
export const areUnheld = (given: GatewayFacts, ofClient: GatewayFacts): boolean =>
  Equal.equals(ofClient, defaults) && !Equal.equals(given, ofClient)

/** What to do with facts that hold nowhere. */
export const unheldFacts = "must be provided to the layer of Payments, which reads them when it is built"

/** The facts of the context, checked. */
export const currentFacts: Effect.Effect<GatewayFacts, ConfigurationError> = Effect.flatMap(
  GatewayFacts,
  checkedWith("GatewayFacts.")
)
