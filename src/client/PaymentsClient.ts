/**
 * Whose requests those of a `Payments` are, what is known of its gateway, and by which policy it calls. Every layer of `Payments`
 * provides it, and `PayoutQueue` and `Webhook` ask for it: a decoration that loses it does not compile.
 *
 * Decorate `Payments` over its layer with `Layer.provideMerge`, which keeps the rest:
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Payments } from "effect-pix"
 *
 * const counted = Layer.effect(
 *   Payments,
 *   Effect.map(Payments, (payments) => ({
 *     ...payments,
 *     getBalance: (options) => Effect.tap(payments.getBalance(options), () => Effect.logDebug("asked"))
 *   }))
 * ).pipe(Layer.provideMerge(Payments.layerFetch)) // Layer<Payments | WithdrawalLookup | PaymentsClient, ConfigurationError>
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import { type ConfigurationError, settingError } from "../contract/ConfigurationError.ts"
import type { Sender } from "../internal/sender.ts"
import { currentFacts, GatewayFacts, unheldFacts } from "./GatewayFacts.ts"
import { PaymentsPolicy } from "./PaymentsPolicy.ts"

/** What hangs on a client beside its operations. */
export class PaymentsClient extends Context.Service<
  PaymentsClient,
  {
    /** Under whom a request leaves now: the credentials may be loaded anew. No secret can be read from it. */
    readonly sender: Effect.Effect<Sender>
    /** What you know of the gateway, read when the layer was built. */
    readonly facts: GatewayFacts
    /** The policy of a call that is made here: that of the fiber, else that which the layer was built with. */
    readonly policy: Effect.Effect<PaymentsPolicy>
  }
>()("effect-pix/PaymentsClient") {
  /**
   * For a test that mocks `Payments`: all requests are of one sender, with the facts and the policy of the context. Fails with
   * `ConfigurationError` where a fact is wrong.
   */
  static readonly layerMock: Layer.Layer<PaymentsClient, ConfigurationError> = Layer.effect(
    PaymentsClient,
    Effect.suspend(() =>
      make(Effect.succeed({ baseUrl: "https://mock.example", companyId: undefined, fingerprint: () => "mock" }))
    )
  )
}

/** With the facts and the policy of the context. */
export const make = Effect.fnUntraced(function* (sender: PaymentsClient["Service"]["sender"]) {
  const policyOfLayer = yield* PaymentsPolicy
  return PaymentsClient.of({
    sender,
    facts: yield* currentFacts,
    policy: Effect.map(
      Effect.context<never>(),
      (context) => Context.getOrUndefined(context, PaymentsPolicy) ?? policyOfLayer
    )
  })
})

/** The client, for a layer over it. Facts that were given to that layer and not to the client hold nowhere, which is told. */
export const clientOfLayer = Effect.gen(function* () {
  const client = yield* PaymentsClient
  const facts = yield* currentFacts
  const isGiven = Context.getOrUndefined(yield* Effect.context<never>(), GatewayFacts) !== undefined
  return isGiven && !Equal.equals(facts, client.facts) ? yield* settingError("GatewayFacts", unheldFacts) : client
})

/** The facts of the client, where there is one; else those of the fiber, as beside a mock of `Payments`. */
export const factsHere: Effect.Effect<GatewayFacts> = Effect.flatMap(
  Effect.context<never>(),
  (context): Effect.Effect<GatewayFacts> => {
    const client = Context.getOrUndefined(context, PaymentsClient)
    return client === undefined ? GatewayFacts : Effect.succeed(client.facts)
  }
)
