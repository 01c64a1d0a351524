/**
 * A `Payments` for each merchant of a process, by the merchant's id in your own database.
 *
 * Details: a client is built at its first use and shared by all calls for the merchant. It is released after it was
 * idle for a while. A failed build is not cached: the next use loads again.
 *
 * ```ts
 * import { Effect, Layer, Redacted } from "effect"
 * import { Merchants, Payments } from "effect-pix"
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
 * const layer = Layer.provide(merchants, Sandbox.layer)
 * const result = await Effect.runPromise(Effect.provide(program, layer)) // => [1, "no mercado"]
 * ```
 */

import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { legible } from "../internal/legible.ts"
import { ConfigurationError } from "../contract/ConfigurationError.ts"
import { checkSettingsBy, fn, period, whole, withDefault } from "../contract/Options.ts"
import type { ApiCredentials } from "./Credentials.ts"
import * as CredentialsReload from "./CredentialsReload.ts"
import { areUnheld, GatewayFacts } from "./GatewayFacts.ts"
import { baseUrlSetting } from "./internal/baseUrl.ts"
import { zoneSetting } from "./internal/zone.ts"
import { failureTag } from "./internal/failureTag.ts"
import { CurrentMerchant } from "./internal/currentMerchant.ts"
import { Payments } from "./Payments.ts"
import { PaymentsClient } from "./PaymentsClient.ts"
import type { WithdrawalLookup } from "./WithdrawalLookup.ts"

/** A merchant: its credentials, and the company whose balance `getBalance` reads. */
export interface Merchant extends ApiCredentials {
  /** It is read when the client is built. Default: none, so each `getBalance` must name a company. */
  readonly companyId?: number | undefined
}

const fields = { merchant: Schema.String, outcome: Schema.Literal("NotSent") }

/** `load` found no such merchant. Nothing was sent. The result is not cached: the next use loads again. */
export class MerchantNotFound extends legible(
  Schema.TaggedError<MerchantNotFound>("effect-pix/MerchantNotFound")("MerchantNotFound", fields)
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    return `There is no merchant ${this.merchant}. Nothing was sent. Each use looks it up again, so it can be added now.`
  }
}

/**
 * No client could be built for a merchant: `load` failed or took too long, or its result cannot be used. Nothing was sent.
 * The failure is not cached: the next use tries again.
 */
export class MerchantUnavailable extends legible(
  Schema.TaggedError<MerchantUnavailable>("effect-pix/MerchantUnavailable")("MerchantUnavailable", {
    ...fields,
    /** The reason. Only the tag of an error of `load` is shown, since its message may hold a secret. */
    problem: Schema.String
  })
) {
  get concerns(): "Service" {
    return "Service"
  }
  override get message(): string {
    return `No client could be built for the merchant ${this.merchant}: ${this.problem}. Nothing was sent. It is safe to try again.`
  }
}

/** Options of `Merchants.layer`. */
export interface MerchantsOptions<E, R> {
  /** The base URL of the service, as in `Payments.layer`. */
  readonly baseUrl: string | URL
  /** The zone of the times without an offset: see `PaymentsOptions`. Default: UTC. */
  readonly zone?: string | undefined
  /** Allows plain http to a host that is not this machine: see `PaymentsOptions`. Default: false. */
  readonly insecure?: boolean | undefined
  /**
   * Loads the merchant with the id that was given to `get`. `undefined` or `null`: there is none. It runs when a client is
   * built, and again when the service answers 401: the call is then repeated once, if the credentials were rotated.
   */
  readonly load: (merchant: string) => Effect.Effect<Merchant | null | undefined, E, R>
  /** How long one load may take. Default: 10 seconds. */
  readonly loadTimeout?: Duration.Input | undefined
  /**
   * How long an unused client stays in memory. Default: 1 hour. A new client starts with a full budget of retries, so a
   * short time makes the budget useless.
   */
  readonly idleTimeToLive?: Duration.Input | undefined
  /**
   * How many merchants the metrics of calls and of loads name, by the attribute `merchant`: those that are loaded first, by the id that
   * `get` took. The others are `other`. Up to 1,000, since each is a set of series. Default: 0, none has the attribute.
   */
  readonly inMetrics?: number | undefined
}

/** A `Payments` for each merchant. Each has its own credentials and its own budget of retries; the transport is shared. */
export class Merchants extends Context.Service<
  Merchants,
  {
    /**
     * The client of a merchant, for `Effect.provide`. Concurrent uses wait for the same build. The interruption of one does not
     * interrupt the others, and a build that hangs delays only its own merchant. Fails with `MerchantNotFound`, and with
     * `MerchantUnavailable` where `load` failed or took too long.
     */
    readonly get: (
      merchant: string
    ) => Layer.Layer<Payments | WithdrawalLookup | PaymentsClient, MerchantNotFound | MerchantUnavailable>
    /**
     * Releases a client, for example when a merchant leaves or its company changes: the next use loads again. A call
     * under way ends with the client that it started with. It is not needed for rotated credentials: see `load`.
     */
    readonly invalidate: (merchant: string) => Effect.Effect<void>
  }
>()("effect-pix/Merchants") {
  /** All clients share the `HttpClient` of the layer, and its `IdempotencyKeyGen` if there is one. Nothing is loaded before the first use. */
  static readonly layer = <E, R>(
    options: MerchantsOptions<E, R>
  ): Layer.Layer<Merchants, ConfigurationError, HttpClient.HttpClient | R> => Layer.effect(Merchants, make(options))
}

const checkOptions = <E, R>(options: MerchantsOptions<E, R>) =>
  checkSettingsBy(
    Schema.Struct({
      baseUrl: baseUrlSetting(options?.insecure === true),
      zone: Schema.optional(zoneSetting),
      load: fn<MerchantsOptions<E, R>["load"]>(),
      loadTimeout: withDefault(period, "10 seconds"),
      idleTimeToLive: withDefault(period, "1 hour"),
      inMetrics: withDefault(whole(0, 1000), 0)
    })
  )(options)

/** The error of a failed build, without secrets. Defects stay defects. */
const toFailure = (
  merchant: string,
  cause: Cause.Cause<unknown>
): Cause.Cause<MerchantNotFound | MerchantUnavailable> => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof MerchantNotFound) return Cause.fail(error)
  const defects = cause.reasons.filter(Cause.isDieReason)
  if (error === undefined && defects.length > 0) return Cause.fromReasons(defects)
  const ofLoad = error === undefined ? "load was interrupted" : `load failed (${failureTag(cause)})`
  const problem = error instanceof ConfigurationError ? error.message : ofLoad
  return Cause.fail(new MerchantUnavailable({ merchant, outcome: "NotSent", problem }))
}

const make = Effect.fnUntraced(function* <E, R>(options: MerchantsOptions<E, R>) {
  const { baseUrl, idleTimeToLive, inMetrics, load, loadTimeout } = yield* checkOptions(options)
  const services = yield* Effect.context<HttpClient.HttpClient | R>()

  /** An id that nobody has takes no place. */
  const named = new Set<string>()

  const build = Effect.fnUntraced(function* (merchant: string) {
    let companyId: number | undefined
    const loadOne = Effect.flatMap(load(merchant), (loaded) => {
      companyId = loaded?.companyId
      if (loaded === null || loaded === undefined)
        return Effect.fail(new MerchantNotFound({ merchant, outcome: "NotSent" }))
      if (named.size < inMetrics) named.add(merchant)
      return Effect.succeed(loaded)
    })
    const context = yield* Layer.build(CredentialsReload.layer({ load: loadOne, loadTimeout }))
    const client = Payments.layer({ baseUrl, companyId, zone: options.zone, insecure: options.insecure })
    return yield* Effect.provideContext(Layer.build(client), context)
  })

  const labelOf = (merchant: string) => () => (inMetrics === 0 ? undefined : named.has(merchant) ? merchant : "other")

  /** The latest build of each merchant: an earlier one that fails late drops nothing of it. */
  const latest = new Map<string, object>()

  const buildOrDrop = Effect.fnUntraced(function* (merchant: string) {
    const own = {}
    const isLatest = () => latest.get(merchant) === own
    latest.set(merchant, own)
    yield* Effect.addFinalizer(() => Effect.sync(() => isLatest() && latest.delete(merchant)))
    const current = { id: merchant, label: labelOf(merchant) }
    return yield* Effect.catchCause(Effect.provideService(build(merchant), CurrentMerchant, current), (cause) =>
      // A failed build is cached too, unless it is dropped before it ends.
      Effect.andThen(
        Effect.suspend(() => (isLatest() ? clients.invalidate(merchant) : Effect.void)),
        Effect.failCause(toFailure(merchant, cause))
      )
    )
  })

  const clients: LayerMap.LayerMap<
    string,
    Payments | WithdrawalLookup | PaymentsClient,
    MerchantNotFound | MerchantUnavailable
  > = yield* LayerMap.make(
    (merchant: string) =>
      // The first user of a client may have another transport, policy and facts than the layer of the merchants.
      Layer.effectContext(
        Effect.updateContext(buildOrDrop(merchant), (here: Context.Context<Scope.Scope>) =>
          Context.add(services, Scope.Scope, Context.get(here, Scope.Scope))
        )
      ),
    { idleTimeToLive }
  )
  const checkFacts = (merchant: string) =>
    Effect.fnUntraced(function* (client: Context.Context<PaymentsClient>) {
      if (!areUnheld(yield* GatewayFacts, Context.get(client, PaymentsClient).facts)) return
      const problem = "GatewayFacts must be provided to the layer of Merchants"
      return yield* new MerchantUnavailable({ merchant, outcome: "NotSent", problem })
    })
  return Merchants.of({
    get: (merchant) => Layer.tap(clients.get(merchant), checkFacts(merchant)),
    invalidate: (merchant) => clients.invalidate(merchant)
  })
})
