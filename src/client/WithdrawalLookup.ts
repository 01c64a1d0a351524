/**
 * Seen, not documented: the lookup of a withdrawal by its number, `GET /api/Withdraw/{id}`. A gateway may not have it. To find
 * out whether yours has it, ask once for a withdrawal that exists: `effect-pix doctor --withdrawal ID`.
 *
 * It is a service of its own, so that `Payments` has the five documented operations. Each layer that provides `Payments`
 * provides it too.
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { IdempotencyKey, Money, Payments, PixKey, Status, WithdrawalLookup } from "effect-pix"
 * import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const { get } = yield* WithdrawalLookup
 *   const { id } = yield* payments.requestWithdrawal(
 *     { amount: Money.centavos(1000), pixKey: PixKey.email("maria@example.com") },
 *     { idempotencyKey: IdempotencyKey.fromReference("payout", "invoice-42"), earlier: "None" }
 *   )
 *   yield* (yield* Sandbox).settleWithdrawal(id)
 *   return Status.meaningOf((yield* get(id)).enTransaction, "payout")
 * })
 *
 * const options = Layer.succeed(SandboxOptions, { as: "seen", balance: 5000 })
 * const layer = Layer.provide(Sandbox.layerPayments, options)
 * const meaning = await Effect.runPromise(Effect.provide(program, layer)) // => "paid"
 * ```
 */

import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { GetWithdrawalError } from "../contract/PaymentsError.ts"
import type { WithdrawalDetail } from "../contract/Withdrawal.ts"

/**
 * Seen, not documented: the lookup of a withdrawal. `effect-pix doctor --withdrawal ID` tells whether your gateway has it. In a
 * test, `Layer.mock(WithdrawalLookup, { ... })` or the sandbox with `as: "seen"` replaces it.
 */
export class WithdrawalLookup extends Context.Service<
  WithdrawalLookup,
  {
    /**
     * Seen, not documented: looks a withdrawal up by the `id` that `Payments.requestWithdrawal` answered. Its `amount` is in
     * centavos, its `value` in reais; `Status.meaningOf` reads its `enTransaction`.
     *
     * Fails with `WithdrawalNotFound`, also where the gateway has no such lookup; with `InvalidRequest` for a number that is no id
     * (a whole number from 0); and as every read does: `AuthError`, `RateLimited`, `RequestRejected`, `ServiceUnavailable`,
     * `UnexpectedResponse`, which a record of another number is, and one whose `value` is above its `amount` and not accepted by
     * `GatewayFacts.acceptValue`. A read changes nothing: call again.
     *
     * Gotcha: the record holds a person's PIX key and document, in plain text.
     */
    readonly get: (withdrawalId: number) => Effect.Effect<WithdrawalDetail, GetWithdrawalError>
  }
>()("effect-pix/WithdrawalLookup") {}
