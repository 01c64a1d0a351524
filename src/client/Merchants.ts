/**
 * A `Payments` for each merchant of a process, by the merchant's id in your own database. A client is built at its first
 * use, shared by all who use it, and released when nobody has used it for a while. A build that failed is not kept: the
 * next use loads again.
 *
 * ```ts
 * import { Effect, Layer, Redacted } from "effect"
 * import { IdempotencyKeyGen, Merchants, Payments } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const merchants = Merchants.layer({
 *   baseUrl: "https://sandbox.example",
 *   // A read of your own store of secrets; `undefined` where there is no such merchant.
 *   load: (merchant) =>
 *     Effect.succeed(
 *       merchant === "padaria"
 *         ? { clientId: "sandbox-client", apiKey: Redacted.make("sandbox-key"), companyId: 1 }
 *         : undefined
 *     )
 * })
 *
 * const balanceOf = Effect.fn("balanceOf")(function* (merchant: string) {
 *   const { get } = yield* Merchants
 *   const balance = Effect.flatMap(Payments, (payments) => payments.getBalance())
 *   return yield* Effect.provide(balance, get(merchant))
 * })
 *
 * const program = Effect.all([
 *   Effect.map(balanceOf("padaria"), ({ companyId }) => companyId),
 *   balanceOf("mercado").pipe(Effect.catchTag("MerchantNotFound", ({ merchant }) => Effect.succeed(`no ${merchant}`)))
 * ])
 *
 * const layer = merchants.pipe(Layer.provide(IdempotencyKeyGen.layer), Layer.provide(Sandbox.layer))
 * const result = await Effect.runPromise(Effect.provide(program, layer)) // => [1, "no mercado"]
 * ```
 */

import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as RcMap from "effect/RcMap"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { ConfigurationError } from "../contract/ConfigurationError.ts"
import * as Settings from "../contract/Settings.ts"
import { type ApiCredentials, Credentials } from "./Credentials.ts"
import type { IdempotencyKeyGen } from "./IdempotencyKeyGen.ts"
import { parseBaseUrl } from "./internal/baseUrl.ts"
import { failureTag } from "./internal/failureTag.ts"
import { Payments } from "./Payments.ts"

/** What is loaded of a merchant: its credentials, and the company whose balance `getBalance` reads. */
export interface Merchant extends ApiCredentials {
  /** Read when the client is built. Default: none, `getBalance` must name it. */
  readonly companyId?: number | undefined
}

/** `load` found no such merchant. Nothing was sent. It is not remembered: the next use looks again. */
export class MerchantNotFound extends Schema.TaggedError<MerchantNotFound>("effect-pix/MerchantNotFound")(
  "MerchantNotFound",
  { merchant: Schema.String, outcome: Schema.Literal("NotSent") }
) {
  override get message(): string {
    return `There is no merchant ${this.merchant}. Nothing was sent. Each use looks it up again, so it can be added now.`
  }
}

/**
 * No client could be built for a merchant: `load` failed or took too long, or what it gave cannot be used. Nothing was
 * sent. It is not remembered: the next use tries again.
 */
export class MerchantUnavailable extends Schema.TaggedError<MerchantUnavailable>("effect-pix/MerchantUnavailable")(
  "MerchantUnavailable",
  {
    merchant: Schema.String,
    outcome: Schema.Literal("NotSent"),
    /** Why. Of an error of `load` it has the tag and no more, since a message may name a secret. */
    problem: Schema.String
  }
) {
  override get message(): string {
    return `No client could be built for the merchant ${this.merchant}: ${this.problem}. Nothing was sent. It is safe to try again.`
  }
}

/** See `Merchants.layer`. */
export interface MerchantsOptions<E, R> {
  /** Where the service is, as `Payments.layer` takes it. */
  readonly baseUrl: string | URL
  /** Allows plain http to a host that is not this machine: see `PaymentsOptions`. Default: false. */
  readonly insecure?: boolean | undefined
  /**
   * Reads one merchant, by the id that `get` was given. `undefined` or `null`: there is none. It runs when a client is
   * built, and again when the service answers 401: the call is then repeated once, if the credentials were rotated.
   */
  readonly load: (merchant: string) => Effect.Effect<Merchant | null | undefined, E, R>
  /** How long one load may take. Default: 10 seconds. */
  readonly loadTimeout?: Duration.Input | undefined
  /**
   * How long a client is kept that nobody uses. Default: 1 hour. One that is built anew starts with a full budget of
   * retries, so a short time undoes the budget.
   */
  readonly idleTimeToLive?: Duration.Input | undefined
}

/** A `Payments` for each merchant. Each has its own credentials and its own budget of retries; the transport is shared. */
export class Merchants extends Context.Service<
  Merchants,
  {
    /**
     * The client of a merchant, for `Effect.provide`. Whoever asks while it is being built waits for the same build; the
     * interruption of one does not disturb the others, and a build that hangs holds up its own merchant only.
     */
    readonly get: (merchant: string) => Layer.Layer<Payments, MerchantNotFound | MerchantUnavailable>
    /**
     * Drops a client, for instance when a merchant leaves or its company changes: the next use loads anew. Calls that
     * are under way end with the one that they have. Credentials that were rotated need no call of this: see `load`.
     */
    readonly invalidate: (merchant: string) => Effect.Effect<void>
  }
>()("effect-pix/Merchants") {
  /** The clients on the `HttpClient` and `IdempotencyKeyGen` that it is given. Nothing is loaded before a first use. */
  static readonly layer = <E, R>(
    options: MerchantsOptions<E, R>
  ): Layer.Layer<Merchants, ConfigurationError, HttpClient.HttpClient | IdempotencyKeyGen | R> =>
    Layer.effect(Merchants, make(options))
}

const checked = <E, R>(options: MerchantsOptions<E, R>) =>
  Predicate.isObject(options)
    ? Settings.all({
        baseUrl: parseBaseUrl(options.baseUrl, "baseUrl", Effect.succeed(options.insecure === true)),
        load: Predicate.isFunction(options.load)
          ? Effect.succeed(options.load)
          : Settings.wrong("load", "is not a function"),
        loadTimeout: Settings.period("loadTimeout", options.loadTimeout ?? "10 seconds"),
        idleTimeToLive: Settings.period("idleTimeToLive", options.idleTimeToLive ?? "1 hour")
      })
    : Settings.wrong("options", "must be { baseUrl, load }")

/** What ended a build, in words that show no secret. Defects stay defects. */
const failureOf = (
  merchant: string,
  cause: Cause.Cause<unknown>
): Cause.Cause<MerchantNotFound | MerchantUnavailable> => {
  const unavailable = (problem: string) =>
    Cause.fail(new MerchantUnavailable({ merchant, outcome: "NotSent", problem }))
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof MerchantNotFound) return Cause.fail(error)
  if (error instanceof ConfigurationError) return unavailable(error.message)
  if (Cause.hasFails(cause)) return unavailable(`load failed (${failureTag(cause)})`)
  return Cause.hasInterruptsOnly(cause)
    ? unavailable("load was interrupted")
    : Cause.fromReasons(cause.reasons.filter(Cause.isDieReason))
}

const make = Effect.fnUntraced(function* <E, R>(options: MerchantsOptions<E, R>) {
  const { baseUrl, idleTimeToLive, load, loadTimeout } = yield* checked(options)
  const services = yield* Effect.context<HttpClient.HttpClient | IdempotencyKeyGen | R>()

  const build = Effect.fnUntraced(function* (merchant: string) {
    let companyId: number | undefined
    const credentials = Credentials.layerReload({
      loadTimeout,
      load: Effect.flatMap(load(merchant), (loaded) => {
        if (loaded === null || loaded === undefined) {
          return Effect.fail(new MerchantNotFound({ merchant, outcome: "NotSent" }))
        }
        companyId = loaded.companyId
        return Effect.succeed(loaded)
      })
    })
    const context = yield* Layer.build(credentials)
    return yield* Effect.provideContext(Payments.make({ baseUrl, companyId, insecure: options.insecure }), context)
  })

  const clients = yield* RcMap.make({
    idleTimeToLive,
    lookup: Effect.fnUntraced(function* (merchant: string) {
      const scope = yield* Scope.Scope
      return yield* build(merchant).pipe(
        Effect.provideService(Scope.Scope, scope),
        // An `RcMap` looks up with the services of the caller, who may have another transport.
        Effect.provideContext(services),
        // It keeps a lookup that failed, and forgets one that was interrupted. So a failure says that it was interrupted
        // too, and `get` takes that off again.
        Effect.catchCause((cause) => Effect.failCause(Cause.combine(failureOf(merchant, cause), Cause.interrupt())))
      )
    })
  })
  const get = (merchant: string) =>
    Effect.catchCause(RcMap.get(clients, merchant), (cause) => {
      const reasons = cause.reasons.filter((reason) => !Cause.isInterruptReason(reason))
      return Effect.failCause(reasons.length === 0 ? cause : Cause.fromReasons(reasons))
    })

  return Merchants.of({
    get: (merchant) => Layer.effect(Payments, get(merchant)),
    invalidate: (merchant) => RcMap.invalidate(clients, merchant)
  })
})
