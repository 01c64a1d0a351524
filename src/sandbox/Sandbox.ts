/**
 * The gateway's double: it answers `PaymentsApi` from a ledger of its own, in memory or on a loopback port. This
 * service steers it and reads it.
 *
 * Paths, fields, statuses of success, units, defaults and the minimum of a withdrawal are those that the service
 * documents. The rest is made up, so do not rely on it against the real service:
 *
 * - Refusals are `{ message, status }` in Portuguese: 401 for missing or wrong credentials (before anything else), 400
 *   for what breaks the contract (406 and 415 for its headers), 404 for unknown ids and paths, 405 with `Allow` for
 *   another method, 413 for a body over 1 MiB, 422 for a withdrawal that is under the minimum, over the
 *   balance or without a valid PIX key, for another currency than BRL, and for an idempotency key that was used with
 *   another path or body. A refusal of a body names its fields.
 * - An idempotency key is remembered for ever, for its operation, and only where something was executed: a refused
 *   request may be repeated. The same key, path and JSON get the first answer again.
 * - A charge is `Awaiting` until it is steered, or lapses (`Cancelled`) at its expiry: one day after its creation, if
 *   the request does not say otherwise. BOLETO and CREDIT_CARD charges never lapse, are answered with the same envelope
 *   without `pix`, and their undocumented fields are ignored.
 * - The list's status is `PENDING`, `PAID`, `CANCELLED`, `FAILED` or `REFUNDED`; only the first is documented.
 * - `accBalance` is what was credited and paid, less what was withdrawn and refunded; `accBalanceCreditAwaiting` is the
 *   sum of the awaited charges; `accBalanceCredit` is always 0.
 * - Webhooks go to all who subscribe, as `{ "event": "transaction.updated", "transactionId": ..., "status": ... }` or
 *   `{ "event": "withdrawal.updated", "withdrawalId": ..., "idempotencyKey": ..., "status": ..., "metadata": ... }`, at
 *   every change of a charge or a payout, and are repeated until a 2xx answers: at once, then after 1, 5, 25, 125 and 625
 *   seconds.
 *
 * With `SandboxOptions.as: "seen"` it answers as the gateway was seen to, beyond its document: see `docs/sandbox.md`.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Money, Payments } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const sandbox = yield* Sandbox
 *   const charge = yield* payments.createTransaction({
 *     amount: Money.centavos(2500),
 *     paymentMethod: "PIX",
 *     customer: { name: "Maria Silva", email: "maria@example.com" }
 *   })
 *   yield* sandbox.markPaid(charge.id)
 *   return (yield* payments.getTransaction(charge.id)).enStatusTransaction
 * })
 *
 * const status = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => "Paid"
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { Credentials } from "../client/Credentials.ts"
import { IdempotencyKeyGen } from "../client/IdempotencyKeyGen.ts"
import { Payments } from "../client/Payments.ts"
import type { PaymentsClient } from "../client/PaymentsClient.ts"
import type { WithdrawalLookup } from "../client/WithdrawalLookup.ts"
import { make as makeGateway } from "./Gateway.ts"
import { client } from "./internal/memory.ts"
import { patiently } from "./internal/patiently.ts"
import { serviceAt } from "./internal/remote.ts"
import type { SandboxUnreachable } from "./SandboxError.ts"
import { SandboxOptions, withDefaults } from "./SandboxOptions.ts"
import { localService, type SandboxService } from "./SandboxService.ts"

/** The sandbox, as a test steers it and reads it. */
export class Sandbox extends Context.Service<Sandbox, SandboxService>()("effect-pix/Sandbox") {
  /**
   * The sandbox in memory, as the `HttpClient` of its callers. It has no socket, and timers only for webhooks that are
   * sent again. Its clock is that of the program: under `TestClock`, `Sandbox.patiently` moves it.
   */
  static readonly layer: Layer.Layer<Sandbox | HttpClient.HttpClient> = Layer.effectContext(
    Effect.gen(function* () {
      const settings = withDefaults(yield* SandboxOptions)
      const gateway = yield* makeGateway(settings)
      const sandbox = localService({ gateway, baseUrl: "https://sandbox.example" })
      return Context.make(Sandbox, sandbox).pipe(Context.add(HttpClient.HttpClient, client(gateway)))
    })
  )

  /**
   * The sandbox of another process, such as `npx --no-install effect-pix sandbox`, steered over HTTP by the same functions. It fails where
   * no sandbox answers. A server that ends later is a defect of the function that needs it. A target of webhooks is an
   * address.
   *
   * ```ts
   * import { Effect } from "effect"
   * import { Sandbox } from "effect-pix/sandbox"
   *
   * const balance = Effect.flatMap(Sandbox, ({ credit }) => credit(5000)).pipe(
   *   Effect.provide(Sandbox.layerRemote("http://127.0.0.1:4"))
   * )
   * const tag = await Effect.runPromise(Effect.flip(balance).pipe(Effect.map((error) => error._tag))) // => "SandboxUnreachable"
   * ```
   */
  static readonly layerRemote = (url: string | URL): Layer.Layer<Sandbox, SandboxUnreachable> =>
    Layer.effect(Sandbox, serviceAt(url))

  /** `Payments` and its `Sandbox`, in memory, with predictable idempotency keys: all that a test needs. */
  static readonly layerPayments: Layer.Layer<Payments | WithdrawalLookup | PaymentsClient | Sandbox> = Layer.unwrap(
    Effect.gen(function* () {
      const { baseUrl, companyId, credentials } = yield* Sandbox
      return Layer.provide(Payments.layer({ baseUrl, companyId }), [
        Credentials.layer(yield* credentials),
        IdempotencyKeyGen.layerSequential
      ])
    })
  ).pipe(Layer.provideMerge(Sandbox.layer), Layer.orDie)

  /**
   * Runs an effect under `TestClock` and moves the clock until the effect is done. It is for effects that wait, such as a
   * retry after a fault, which waits for a random time. Without it a test must fork, and adjust the clock by a guess.
   *
   * ```ts
   * import { Effect } from "effect"
   * import { TestClock } from "effect/testing"
   * import { Payments } from "effect-pix"
   * import { Fault, Sandbox } from "effect-pix/sandbox"
   *
   * const program = Effect.gen(function* () {
   *   const payments = yield* Payments
   *   const sandbox = yield* Sandbox
   *   yield* sandbox.fault("listTransactions", Fault.answer(503), { times: 2 })
   *   const page = yield* Sandbox.patiently(payments.listTransactions())
   *   return [page.totalItems, (yield* sandbox.requests).length]
   * })
   *
   * const counts = await Effect.runPromise(Effect.provide(program, [Sandbox.layerPayments, TestClock.layer()])) // => [0, 3]
   * ```
   *
   * Only for the sandbox in memory: over a real socket the clock would move on before the answer arrives. Under a live clock
   * it only runs the effect. An
   * effect that is not done after 30 days of the clock is interrupted, and a defect says so.
   */
  static readonly patiently: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = patiently
}
