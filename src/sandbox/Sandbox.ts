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
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { type ApiCredentials, Credentials } from "../client/Credentials.ts"
import { IdempotencyKeyGen } from "../client/IdempotencyKeyGen.ts"
import { centavos } from "../pix/Money.ts"
import { Payments } from "../client/Payments.ts"
import type { PixKey } from "../pix/PixKey.ts"
import type { Fault, FaultTarget, PlannedFault } from "./Fault.ts"
import { type Gateway, make as makeGateway } from "./internal/gateway.ts"
import { client } from "./internal/memory.ts"
import { patiently } from "./internal/patiently.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import type { SandboxChange } from "./SandboxChange.ts"
import type { SandboxConflict, SandboxNotFound, SandboxStateError } from "./SandboxError.ts"
import { SandboxOptions, withDefaults } from "./SandboxOptions.ts"
import type { RecordedRequest } from "./SandboxRequest.ts"
import type { SandboxState } from "./SandboxState.ts"
import type { SandboxWebhook, WebhookTarget } from "./SandboxWebhook.ts"

type Steering<A> = Effect.Effect<A, SandboxNotFound | SandboxConflict>

/** The sandbox, as a test steers it and reads it. */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    /** Its base URL: a loopback address, or in memory a placeholder that the client accepts. */
    readonly baseUrl: string
    /** The id of its company. */
    readonly companyId: number
    /** The credentials that it accepts now. */
    readonly credentials: Effect.Effect<ApiCredentials>
    /** Makes another secret key. The sandbox refuses the key before it from now on. */
    readonly rotateCredentials: Effect.Effect<ApiCredentials>

    /** A payer pays the charge: it is `Paid`, and its amount, in centavos, is added to the balance. Fails with
     * `SandboxNotFound`, or with `SandboxConflict` where its status does not allow it; so do the next ones. */
    readonly markPaid: (transactionId: string) => Steering<SandboxTransaction>
    /** Cancels an awaited charge. Gives the charge, with its amount in centavos. */
    readonly cancel: (transactionId: string) => Steering<SandboxTransaction>
    /** Lets an awaited charge lapse now: it is `Cancelled`. Gives the charge, with its amount in centavos. */
    readonly expire: (transactionId: string) => Steering<SandboxTransaction>
    /** An awaited charge fails: it is `Failed`. Gives the charge, with its amount in centavos. */
    readonly fail: (transactionId: string) => Steering<SandboxTransaction>
    /** A paid charge is refunded: its amount, in centavos, is taken from the balance, which may become negative. */
    readonly refund: (transactionId: string) => Steering<SandboxTransaction>
    /** An awaited payout arrives. Gives the payout, with its amount in centavos. The service has no operation that would show it. */
    readonly settleWithdrawal: (id: number) => Steering<SandboxWithdrawal>
    /** An awaited payout fails: its amount, in centavos, returns to the balance. */
    readonly rejectWithdrawal: (id: number) => Steering<SandboxWithdrawal>
    /** Adds centavos (a whole number of them, not negative) to the balance and returns the new balance. */
    readonly credit: (amount: number) => Effect.Effect<number>
    /** The balance, in centavos. */
    readonly balance: Effect.Effect<number>
    /** Registers a PIX key on the company's bank account. */
    readonly setPixKey: (key: PixKey) => Effect.Effect<void>
    /** Removes the company's registered PIX key. */
    readonly removePixKey: Effect.Effect<void>

    /** The last requests that arrived, in order, executed or not: up to `SandboxOptions.keep` of them. */
    readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>
    /** Every charge that was created, oldest first. Amounts are in centavos. */
    readonly transactions: Effect.Effect<ReadonlyArray<SandboxTransaction>>
    /** Every payout that was executed, oldest first: one for each time that money moved. Amounts are in centavos. */
    readonly withdrawals: Effect.Effect<ReadonlyArray<SandboxWithdrawal>>

    /**
     * Sends webhooks to this target too, from now on: a loopback address, a web handler or `Webhook.answer`. Another
     * address is a defect. A change makes one webhook for each target.
     */
    readonly subscribe: (target: WebhookTarget) => Effect.Effect<void>
    /** The changes from now on. Amounts are in centavos. Changes are numbered: a slow reader loses changes, and sees gaps. */
    readonly changes: Stream.Stream<SandboxChange>

    /** The last webhooks, oldest first, with their attempts: up to `SandboxOptions.keep` of them. */
    readonly webhooks: Effect.Effect<ReadonlyArray<SandboxWebhook>>
    /** Sends a webhook of any content to each target, with the same retries: a forged one, or one of another shape. */
    readonly sendWebhook: (json: Schema.Json) => Effect.Effect<void>
    /** Sends a webhook again to its target, by its id: a repetition, or a late one. Fails with `SandboxNotFound`. */
    readonly resendWebhook: (id: number) => Effect.Effect<void, SandboxNotFound>
    /** Waits until no attempt is under way. It does not wait for later attempts. */
    readonly awaitWebhooks: Effect.Effect<void>

    /**
     * Plans faults for the next requests of an operation (or of `any`), in order: each fault meets one request, or `times`
     * of them. The faults of an operation are used before those of `any`.
     */
    readonly fault: (
      operation: FaultTarget,
      faults: Fault | ReadonlyArray<Fault>,
      options?: { readonly times?: number | undefined }
    ) => Effect.Effect<void>
    /** The planned faults, in order, and how many more requests meet each. */
    readonly faults: Effect.Effect<ReadonlyArray<PlannedFault>>
    /** Removes all planned faults. */
    readonly clearFaults: Effect.Effect<void>
    /**
     * Refuses connections for as long as the effect runs. Refused requests are not recorded. Over a socket connections are
     * reset, so that the panel on the same port stays reachable.
     */
    readonly offline: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Forgets all idempotency keys, as a gateway does when their time is over. */
    readonly forgetKeys: Effect.Effect<void>
    /**
     * Pushes the sandbox's own clock forward: charges lapse and webhooks are sent again as if the time had passed. The
     * clock of the program does not change.
     */
    readonly advance: (duration: Duration.Input) => Effect.Effect<void>
    /** The state as a value: ledger, idempotency keys, credentials, webhooks to addresses, and the clock. Amounts are in
     * centavos. */
    readonly snapshot: Effect.Effect<SandboxState>
    /** Replaces the state by an earlier one. Amounts are in centavos. */
    readonly restore: (state: SandboxState) => Effect.Effect<void>
    /** Starts over: ledger, recorded requests, faults, credentials, clock and webhooks are as at the beginning. */
    readonly reset: Effect.Effect<void>
  }
>()("effect-pix/Sandbox") {
  /**
   * The sandbox in memory, as the `HttpClient` of its callers. It has no socket, and timers only for webhooks that are
   * sent again. Its clock is that of the program: under `TestClock`, `Sandbox.patiently` moves it.
   */
  static readonly layer: Layer.Layer<Sandbox | HttpClient.HttpClient> = Layer.effectContext(
    Effect.gen(function* () {
      const settings = withDefaults(yield* SandboxOptions)
      const gateway = yield* makeGateway(settings)
      const sandbox = steer(gateway, "https://sandbox.example")
      return Context.make(Sandbox, sandbox).pipe(Context.add(HttpClient.HttpClient, client(gateway)))
    })
  )

  /**
   * The sandbox on a loopback port, with its panel at `/` and its steering API under `/_sandbox`. Needs the package `@effect/platform-node`, and Node (or what runs its servers).
   * It fails where the port is taken, and with `SandboxStateError` where the `stateFile` cannot be read.
   *
   * A late or dripping answer waits by the clock that the layer is built with.
   */
  static readonly layerServer: Layer.Layer<Sandbox, HttpServerError.ServeError | SandboxStateError> = Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const settings = withDefaults(yield* SandboxOptions, String(yield* Random.nextInt))
      // The server is loaded on demand, so that a sandbox in memory needs neither Node nor the optional package.
      const { serve } = yield* Effect.promise(() => import("./server/server.ts"))
      const gateway = yield* makeGateway(settings)
      return yield* serve(gateway, (baseUrl) => steer(gateway, baseUrl))
    })
  )

  /** `Payments` and its `Sandbox`, in memory, with predictable idempotency keys: all that a test needs. */
  static readonly layerPayments: Layer.Layer<Payments | Sandbox> = Layer.unwrap(
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

const steer = (gateway: Gateway, baseUrl: string): Sandbox["Service"] => {
  const { now, set, settings, webhooks } = gateway
  const flushing = <A, E>(step: (now: DateTime.Utc) => Effect.Effect<A, E>) =>
    Effect.ensuring(Effect.flatMap(now, step), webhooks.flush)
  const move = (to: Exclude<SandboxTransaction["status"], "Awaiting">) => (transactionId: string) =>
    flushing((utc) => Effect.fromResult(gateway.ledger().move(transactionId, to, utc)))
  const end = (to: Exclude<SandboxWithdrawal["status"], "Awaiting">) => (id: number) =>
    flushing(() => Effect.fromResult(gateway.ledger().end(id, to)))
  const cancel = move("Cancelled")
  return Sandbox.of({
    baseUrl,
    companyId: settings.companyId,
    credentials: Effect.sync(gateway.credentials),
    rotateCredentials: gateway.rotate,
    markPaid: move("Paid"),
    cancel,
    expire: (transactionId) =>
      Effect.flatMap(now, (utc) => {
        gateway.ledger().expire(transactionId, utc)
        return cancel(transactionId)
      }),
    fail: move("Failed"),
    refund: move("Refunded"),
    settleWithdrawal: end("Settled"),
    rejectWithdrawal: end("Rejected"),
    credit: (amount) => Effect.sync(() => gateway.ledger().credit(centavos(amount))),
    balance: Effect.sync(() => gateway.ledger().balance()),
    setPixKey: (key) => set(() => gateway.ledger().setPixKey(key)),
    removePixKey: set(() => gateway.ledger().setPixKey(undefined)),
    requests: Effect.sync(gateway.requests),
    transactions: flushing((utc) => Effect.sync(() => gateway.ledger().charges(utc).map(gateway.ledger().showCharge))),
    withdrawals: Effect.sync(() => gateway.ledger().withdrawals()),
    changes: gateway.changes.stream,
    subscribe: (target) => set(() => webhooks.subscribe(target)),
    webhooks: Effect.sync(webhooks.all),
    sendWebhook: webhooks.send,
    resendWebhook: webhooks.resend,
    awaitWebhooks: webhooks.awaitAttempts,
    fault: (operation, faults, options) =>
      set(() => gateway.plan().add(operation, "_tag" in faults ? [faults] : faults, options?.times ?? 1)),
    faults: Effect.sync(() => gateway.plan().all()),
    clearFaults: set(() => gateway.plan().clear()),
    offline: gateway.offline,
    forgetKeys: Effect.sync(() => gateway.ledger().forgetKeys()),
    advance: gateway.advance,
    snapshot: Effect.sync(gateway.snapshot),
    restore: gateway.restore,
    reset: gateway.reset
  })
}
