/**
 * What the types promise. The compiler does the checking: `expectTypeOf` and `@ts-expect-error` do nothing at run time.
 */
import { describe, expectTypeOf, test } from "@effect/vitest"
import { Effect, type Layer, type Redacted } from "effect"
import type { HttpClient } from "effect/http"
import {
  type ApiCredentials,
  type ConfigurationError,
  type CreatedTransaction,
  type CreateTransactionRequest,
  type Credentials,
  type IdempotencyKeyGen,
  type Money,
  Payments,
  type TransactionDetail,
  type TransactionListItem,
  type Withdrawal,
  type WithdrawalRequest
} from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"

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

describe("the types", () => {
  test("name exactly the errors that an operation can fail with", () => {
    expectTypeOf<Tags<"createTransaction">>().toEqualTypeOf<Write>()
    expectTypeOf<Tags<"getTransaction">>().toEqualTypeOf<Read | "TransactionNotFound">()
    expectTypeOf<Tags<"listTransactions">>().toEqualTypeOf<Read>()
    expectTypeOf<Tags<"getBalance">>().toEqualTypeOf<Read>()
    expectTypeOf<Tags<"requestWithdrawal">>().toEqualTypeOf<
      Write | "BelowMinimum" | "InsufficientBalance" | "NoPixKey"
    >()
  })

  test("let a handled error disappear", () => {
    const handled = (payments: Operations, request: WithdrawalRequest) =>
      Effect.catchTag(payments.requestWithdrawal(request), "NoPixKey", () => Effect.succeed("register a key"))
    expectTypeOf<Effect.Error<ReturnType<typeof handled>>["_tag"]>().toEqualTypeOf<
      Write | "BelowMinimum" | "InsufficientBalance"
    >()
  })

  test("leave an operation no requirement", () => {
    expectTypeOf<Effect.Services<ReturnType<Operations[keyof Operations]>>>().toEqualTypeOf<never>()
  })

  test("say what each layer needs", () => {
    type Needed = Credentials | HttpClient.HttpClient | IdempotencyKeyGen
    expectTypeOf<ReturnType<typeof Payments.layer>>().toEqualTypeOf<Layer.Layer<Payments, ConfigurationError, Needed>>()
    expectTypeOf(Payments.layerConfig).toEqualTypeOf<Layer.Layer<Payments, ConfigurationError, Needed>>()
    expectTypeOf(Payments.layerFetch).toEqualTypeOf<Layer.Layer<Payments, ConfigurationError>>()
    expectTypeOf(Sandbox.layerPayments).toEqualTypeOf<Layer.Layer<Payments | Sandbox>>()
  })

  test("keep centavos and reais apart", () => {
    expectTypeOf<CreateTransactionRequest["amount"]>().toEqualTypeOf<Money.Centavos>()
    expectTypeOf<WithdrawalRequest["amount"]>().toEqualTypeOf<Money.Centavos>()
    expectTypeOf<CreatedTransaction["amount"]>().toEqualTypeOf<Money.Centavos>()
    expectTypeOf<TransactionListItem["amount"]>().toEqualTypeOf<Money.Centavos>()
    expectTypeOf<TransactionDetail["value"]>().toEqualTypeOf<Money.Centavos>()
    expectTypeOf<Withdrawal["value"]>().toEqualTypeOf<Money.Reais>()
    expectTypeOf<number>().not.toExtend<Money.Centavos>()
    expectTypeOf<Money.Reais>().not.toExtend<Money.Centavos>()
    expectTypeOf<Money.Centavos>().not.toExtend<Money.Reais>()
  })

  test("give a charge the fields of its payment method", () => {
    type Charge = {
      readonly amount: Money.Centavos
      readonly customer: { readonly name: string; readonly email: string }
    }
    type Pix = { readonly pix: { readonly expiresInDays: number } }
    expectTypeOf<Charge & Pix & { readonly paymentMethod: "PIX" }>().toExtend<CreateTransactionRequest>()
    expectTypeOf<Charge & { readonly paymentMethod: "BOLETO" }>().toExtend<CreateTransactionRequest>()
    expectTypeOf<Charge>().not.toExtend<CreateTransactionRequest>()

    const accept = (request: CreateTransactionRequest) => request
    const boleto = (charge: Charge) =>
      // @ts-expect-error `pix` belongs to PIX charges
      accept({ ...charge, paymentMethod: "BOLETO", pix: { expiresInDays: 1 } })
    expectTypeOf(boleto).toBeFunction()
  })

  test("want the kind of a plain PIX key said", () => {
    type Payout = { readonly amount: Money.Centavos }
    expectTypeOf<Payout>().toExtend<WithdrawalRequest>()
    expectTypeOf<Payout & { readonly pixKey: string; readonly pixKeyType: "CPF" }>().toExtend<WithdrawalRequest>()
    expectTypeOf<Payout & { readonly pixKey: string }>().not.toExtend<WithdrawalRequest>()
  })

  test("take the secret only redacted", () => {
    expectTypeOf<ApiCredentials["apiKey"]>().toEqualTypeOf<Redacted.Redacted<string>>()
  })
})
