/**
 * What the public types promise. The compiler alone reads this file, in `npm run types .`: `expectTypeOf` and `@ts-expect-error` do
 * nothing at run time.
 */
import { expectTypeOf } from "@effect/vitest"
import { Effect, Layer, type Schema } from "effect"
import {
  type CreatedPixTransaction,
  type CreatedTransaction,
  type CreateTransactionRequest,
  type MerchantNotFound,
  type Merchants,
  type MerchantUnavailable,
  type Money,
  type OrderCharge,
  Payments,
  type PaymentsClient,
  PaymentsPolicy,
  type PixTransactionRequest,
  type Reconcile,
  type TransactionDetail,
  type TransactionListItem,
  type TransactionStream,
  type TransactionWait,
  type Withdrawal,
  type WithdrawalLookup,
  type WithdrawalRequest
} from "effect-pix"
import type { NodePayments } from "effect-pix/node"
import type { PayoutItem, PayoutQueue, Payouts } from "effect-pix/payouts"
import type { Sandbox } from "effect-pix/sandbox"
import type { WebhookEvent } from "effect-pix/webhook"
import { oneAttempt } from "../support/policies.ts"

type Operations = Payments["Service"]
type Tags<Operation extends keyof Operations> = Effect.Error<ReturnType<Operations[Operation]>>["_tag"]

type Read =
  | "AuthError"
  | "InvalidRequest"
  | "RateLimited"
  | "RequestRejected"
  | "ServiceUnavailable"
  | "UnexpectedResponse"

type Write =
  | "AuthError"
  | "IdempotencyConflict"
  | "InvalidRequest"
  | "OutcomeUnknown"
  | "RateLimited"
  | "RequestRejected"
  | "ServiceUnavailable"

// An operation names exactly the errors that it can fail with.
{
  expectTypeOf<Tags<"createTransaction">>().toEqualTypeOf<Write>()
  expectTypeOf<Tags<"getTransaction">>().toEqualTypeOf<Read | "TransactionNotFound">()
  expectTypeOf<Tags<"listTransactions">>().toEqualTypeOf<Read>()
  expectTypeOf<Tags<"getBalance">>().toEqualTypeOf<Read>()
  expectTypeOf<Tags<"requestWithdrawal">>().toEqualTypeOf<
    Write | "BelowMinimum" | "InsufficientBalance" | "LimitReached" | "NoPixKey" | "WithdrawalFailed"
  >()
  expectTypeOf<Effect.Error<ReturnType<WithdrawalLookup["Service"]["get"]>>["_tag"]>().toEqualTypeOf<
    Read | "WithdrawalNotFound"
  >()
}

// Each layer of a client has all three services, and a mocked Payments is enough where the five are.
{
  type Both = Payments | WithdrawalLookup | PaymentsClient
  expectTypeOf<Layer.Success<ReturnType<typeof Payments.layer>>>().toEqualTypeOf<Both>()
  expectTypeOf<Layer.Success<typeof Payments.layerEnv>>().toEqualTypeOf<Both>()
  expectTypeOf<Layer.Success<ReturnType<typeof Payments.layerConfig>>>().toEqualTypeOf<Both>()
  expectTypeOf<Layer.Success<typeof Payments.layerEnv>>().toEqualTypeOf<Both>()
  expectTypeOf<Layer.Success<typeof Payments.layerFetch>>().toEqualTypeOf<Both>()
  expectTypeOf<Layer.Success<typeof NodePayments.layer>>().toEqualTypeOf<Both>()
  expectTypeOf<Layer.Success<ReturnType<Merchants["Service"]["get"]>>>().toEqualTypeOf<Both>()
  expectTypeOf<Layer.Success<typeof Sandbox.layerPayments>>().toEqualTypeOf<Both | Sandbox>()
  expectTypeOf(Payments.layerFetch).toExtend<Layer.Layer<Payments, unknown>>()
  const mocked = () => Effect.provide(Payments, Layer.mock(Payments, {}))
  expectTypeOf<Effect.Services<ReturnType<typeof mocked>>>().toBeNever()
  expectTypeOf<keyof Operations>().toEqualTypeOf<
    "createTransaction" | "getTransaction" | "listTransactions" | "getBalance" | "requestWithdrawal"
  >()
}

// Centavos and reais are different types.
{
  type Centavos = readonly [
    CreateTransactionRequest["amount"],
    WithdrawalRequest["amount"],
    CreatedTransaction["amount"],
    TransactionListItem["amount"],
    TransactionDetail["value"],
    Reconcile.Order["amount"]
  ]
  expectTypeOf<Centavos[number]>().toEqualTypeOf<Money.Centavos>()
  expectTypeOf<Withdrawal["value"]>().toEqualTypeOf<Money.Reais>()
  expectTypeOf<number>().not.toExtend<Money.Centavos>()
  expectTypeOf<Money.Reais>().not.toExtend<Money.Centavos>()
  expectTypeOf<Money.Centavos>().not.toExtend<Money.Reais>()
}

// A charge has the fields of its payment method.
{
  type Charge = Pick<PixTransactionRequest, "amount" | "customer">
  type Pix = { readonly pix: { readonly expiresInDays: number } }
  expectTypeOf<Charge & Pix & { readonly paymentMethod: "PIX" }>().toExtend<CreateTransactionRequest>()
  expectTypeOf<Charge & { readonly paymentMethod: "BOLETO" }>().toExtend<CreateTransactionRequest>()
  expectTypeOf<Charge>().not.toExtend<CreateTransactionRequest>()

  const accept = (request: CreateTransactionRequest) => request
  const boleto = (charge: Charge) =>
    // @ts-expect-error `pix` belongs to PIX charges
    accept({ ...charge, paymentMethod: "BOLETO", pix: { expiresInDays: 1 } })
  expectTypeOf(boleto).toBeFunction()
}

// A PIX charge has its code.
{
  const ask = (payments: Operations, pix: PixTransactionRequest, any: CreateTransactionRequest) => ({
    pix: payments.createTransaction(pix),
    written: payments.createTransaction({ amount: pix.amount, paymentMethod: "PIX", customer: pix.customer }),
    any: payments.createTransaction(any)
  })
  type Asked = { readonly [K in keyof ReturnType<typeof ask>]: Effect.Success<ReturnType<typeof ask>[K]> }
  expectTypeOf<Asked["pix"]["pix"]["qrcode"]>().toEqualTypeOf<string>()
  expectTypeOf<Asked["written"]["pix"]["qrcode"]>().toEqualTypeOf<string>()
  expectTypeOf<Asked["any"]>().toEqualTypeOf<CreatedTransaction>()
  expectTypeOf<CreatedPixTransaction>().toExtend<CreatedTransaction>()
  expectTypeOf<CreatedTransaction>().not.toExtend<CreatedPixTransaction>()
}

// A plain PIX key needs its kind, which may be any text, as from a CSV, also for a payout.
{
  type Payout = { readonly amount: Money.Centavos }
  type Line = Payout & { readonly pixKey: string; readonly pixKeyType: string }
  expectTypeOf<Payout>().toExtend<WithdrawalRequest>()
  expectTypeOf<Line>().toExtend<WithdrawalRequest>()
  expectTypeOf<Payout & { readonly pixKey: string }>().not.toExtend<WithdrawalRequest>()
  expectTypeOf<Line & { readonly reference: string }>().toExtend<PayoutItem>()
}
// Every error of a call, an order's charge, a list, a comparison and the queue says what it concerns.
{
  type ErrorOf<F> = F extends (...input: never) => infer Called ? Effect.Error<Called> : never
  type Queue = PayoutQueue["Service"]
  type Failure =
    | { readonly [Name in keyof Operations]: ErrorOf<Operations[Name]> }[keyof Operations]
    | { readonly [Name in keyof Queue]: ErrorOf<Queue[Name]> }[keyof Queue]
    | OrderCharge.OrderChargeError
    | Reconcile.ReconcileError
    | TransactionStream.PaginationError
    | Effect.Error<ReturnType<typeof Payouts.run>>
    | MerchantNotFound
    | MerchantUnavailable
    | TransactionWait.WaitError
  expectTypeOf<Exclude<Failure, { readonly concerns: "Request" | "Balance" | "Setup" | "Service" }>>().toBeNever()
  expectTypeOf<"PayoutNotFound" | "DatabaseError">().toExtend<Failure["_tag"]>()
}

// What an OrderCharge stores cannot be left out by mistake, and only a PIX charge can be asked for.
{
  const order = (request: PixTransactionRequest): OrderCharge.Order => ({ reference: "42", request, last: undefined })
  expectTypeOf(order).toBeFunction()
  expectTypeOf<Omit<OrderCharge.Order, "last">>().not.toExtend<OrderCharge.Order>()
  expectTypeOf<CreateTransactionRequest>().not.toExtend<OrderCharge.Order["request"]>()
  expectTypeOf<typeof OrderCharge.Stored.Encoded>().toExtend<Schema.Json>()
}

// A hint about a withdrawal is the input of what looks it up.
{
  interface Asked {
    readonly withdrawalId?: number
    readonly idempotencyKey?: string
    readonly status: string
    readonly endToEndId?: string
  }
  expectTypeOf<WebhookEvent.WithdrawalHint>().toExtend<Asked>()
}

// A policy cannot be written as an object, nor be a changed copy of another policy.
{
  const provide = (policy: PaymentsPolicy) => Effect.provideService(Effect.void, PaymentsPolicy, policy)
  const changed = [
    provide(PaymentsPolicy.make({ ...oneAttempt, deadline: "5 seconds" })),
    // @ts-expect-error -- a changed copy
    provide({ ...oneAttempt, deadline: "5 seconds" }),
    // @ts-expect-error -- an unchanged copy
    Layer.succeed(PaymentsPolicy, { ...oneAttempt }),
    // @ts-expect-error -- a changed copy
    Effect.updateService(Effect.void, PaymentsPolicy, (policy) => ({ ...policy, writes: "never" as const }))
  ]
  expectTypeOf(changed).toBeArray()
  // @ts-expect-error -- its settings cannot be changed
  const change = (policy: PaymentsPolicy) => (policy.deadline = 1)
  expectTypeOf(change).toBeFunction()
}
