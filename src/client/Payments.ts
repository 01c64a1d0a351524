/**
 * The client: the payment gateway's five operations as Effects with typed errors. Reading all
 * transactions, waiting for one and paying many out are functions that require `Payments`.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Money, Payments } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const charge = yield* payments.createTransaction({
 *     amount: Money.centavos(2500),
 *     paymentMethod: "PIX",
 *     customer: { name: "Maria Silva", email: "maria@example.com" }
 *   })
 *   return charge.status
 * })
 *
 * const status = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => "WAITING_PAYMENT"
 * ```
 */

import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Balance, BalanceOptions } from "../contract/Balance.ts"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import { bothSettings, checkSettingsBy, readConfigs, readSettingsBy, reading } from "../contract/Options.ts"
import { type ApiCredentials, checkCredentials, Credentials, credentialsOfEnvironment } from "./Credentials.ts"
import type { WriteOptions } from "../contract/WriteOptions.ts"
import { orRandom } from "./IdempotencyKeyGen.ts"
import { baseUrlSetting, warnIfExposed } from "./internal/baseUrl.ts"
import { currentFacts } from "./GatewayFacts.ts"
import * as ClientTransport from "./internal/transport/clientTransport.ts"
import * as FetchTransport from "./internal/transport/fetchTransport.ts"
import { makeClient } from "./internal/call/client.ts"
import { make as makeCreateTransaction } from "./internal/operations/createTransaction.ts"
import { make as makeGetBalance } from "./internal/operations/getBalance.ts"
import { make as makeGetTransaction } from "./internal/operations/getTransaction.ts"
import { make as makeGetWithdrawal } from "./internal/operations/getWithdrawal.ts"
import { make as makeListTransactions } from "./internal/operations/listTransactions.ts"
import { make as makeRequestWithdrawal } from "./internal/operations/requestWithdrawal.ts"
import { zoneSetting } from "./internal/zone.ts"
import { make as makePaymentsClient, PaymentsClient } from "./PaymentsClient.ts"
import { WithdrawalLookup } from "./WithdrawalLookup.ts"
import type { Transport } from "../internal/transport.ts"
import { IntegerId } from "../internal/wire.ts"
import type {
  CreateTransactionError,
  GetBalanceError,
  GetTransactionError,
  ListTransactionsError,
  RequestWithdrawalError
} from "../contract/PaymentsError.ts"
import type {
  CreatedPixTransaction,
  CreatedTransaction,
  CreateTransactionRequest,
  ListOptions,
  PixTransactionRequest,
  TransactionDetail,
  TransactionPage
} from "../contract/Transaction.ts"
import type { Withdrawal, WithdrawalRequest } from "../contract/Withdrawal.ts"

/** The settings of a client. */
export interface PaymentsOptions {
  /**
   * Where the service is: https, or http on a loopback address (see `insecure`); without user name, query or fragment. A
   * path prefix is kept.
   */
  readonly baseUrl: string | URL
  /** The company whose balance `getBalance` reads if the call names none. Default: none, so each call must name one. */
  readonly companyId?: number | undefined
  /**
   * The zone of the times that the service writes without an offset, in every answer: the name of a zone, as
   * `America/Sao_Paulo`, or an offset, as `-03:00`. Default: UTC. Gateways were seen that write the time of Brasília:
   * `effect-pix doctor` says whether yours does.
   */
  readonly zone?: string | undefined
  /**
   * Allows plain http to a host that is not this machine, for a sandbox in another container. Whoever is on the network
   * can then read the credentials and change payouts: a warning says so when the client is built. Default: false.
   */
  readonly insecure?: boolean | undefined
}

/** How a charge is created: see `Payments`. */
export interface CreateTransaction {
  /**
   * Creates a charge. Amounts are in centavos. `pix.qrcode` of a PIX charge is always present: an answer without it, or with
   * codes that ask for different things, is `OutcomeUnknown`, with the charge's id under `seen`.
   *
   * Fails with `InvalidRequest` before anything is sent; with `AuthError`, `RateLimited`, `RequestRejected` or
   * `ServiceUnavailable` when nothing was executed; and with `OutcomeUnknown` or `IdempotencyConflict` when the charge may
   * exist. Repeat it then with the error's `idempotencyKey`.
   *
   * Gotcha: without an `idempotencyKey` each run of this Effect makes a new key. `Effect.retry` around it can then create
   * several charges. Use `IdempotencyKey.retry`.
   */
  (request: PixTransactionRequest, options?: WriteOptions): Effect.Effect<CreatedPixTransaction, CreateTransactionError>
  /** The same for any payment method, with the same errors. The `paymentMethod` decides whether the charge has `pix`. */
  (request: CreateTransactionRequest, options?: WriteOptions): Effect.Effect<CreatedTransaction, CreateTransactionError>
}

/**
 * The payment gateway: its five operations. A layer decides which gateway, with which credentials and over which
 * transport. In a test, `Layer.mock(Payments, { ... })` or the sandbox replaces it.
 *
 * Errors of writes have no `isRetryable`: another attempt is safe only under the same key and after the same doubt, which the
 * client itself sees to, and `outcome` says what is proved. It is no client that Effect derives from `PaymentsApi`
 * (`HttpApiClient`), since that one has no word for a request that may have been executed: a lost answer is an error like any
 * other there.
 */
export class Payments extends Context.Service<
  Payments,
  {
    /** Creates a charge, or fails with a `CreateTransactionError`: see its two forms. */
    readonly createTransaction: CreateTransaction
    /**
     * Looks a charge up by the id that its creation returned. Its `value` is in centavos.
     *
     * Fails with `TransactionNotFound`, with `InvalidRequest` for a text that is not an id (1 to 64 letters, digits, `_` and `-`), and as every read does:
     * `AuthError`, `RateLimited`, `RequestRejected`, `ServiceUnavailable`, `UnexpectedResponse`. A read changes
     * nothing: call again.
     *
     * Gotcha: the `id` of a row of the list is another id.
     */
    readonly getTransaction: (transactionId: string) => Effect.Effect<TransactionDetail, GetTransactionError>
    /**
     * One page of the company's transactions. Amounts are in centavos. `TransactionStream.stream` reads all of them.
     *
     * Fails with `InvalidRequest` if an option is wrong, and as every read does: `AuthError`, `RateLimited`,
     * `RequestRejected`, `ServiceUnavailable`, `UnexpectedResponse`.
     */
    readonly listTransactions: (options?: ListOptions) => Effect.Effect<TransactionPage, ListTransactionsError>
    /**
     * The company's balance, in reais: `accBalance` is the amount available for withdrawals.
     *
     * Pay out only while `enBalanceStatus` is `Released`. With another word, such as the seen `Pending`, the balance is not
     * available yet: read it again later, and treat a word that you do not know like `Pending`.
     *
     * Fails with `InvalidRequest` if no company is named, and as every read does: `AuthError`, `RateLimited`,
     * `RequestRejected`, `ServiceUnavailable`, `UnexpectedResponse`.
     */
    readonly getBalance: (options?: BalanceOptions) => Effect.Effect<Balance, GetBalanceError>
    /**
     * Pays out by PIX. The amount is in centavos, at least 1000. Without `pixKey` the money goes to the
     * key registered on the company's account. Give an `idempotencyKey` that outlives the process: see
     * `IdempotencyKey.fromReference`. The `value` of the withdrawal is in reais. The withdrawal is accepted then: that
     * does not prove that it is paid.
     *
     * Fails with `InvalidRequest` or `BelowMinimum` before anything is sent; with `NoPixKey`, `InsufficientBalance`,
     * `LimitReached`, `AuthError`, `RateLimited`, `RequestRejected` or `ServiceUnavailable` when nothing was executed; with
     * `WithdrawalFailed` when the service recorded it as a `Failure`, and no money moved; and with `OutcomeUnknown` or
     * `IdempotencyConflict` when **money may have moved**. Never send it under another key then: repeat
     * it with the error's `idempotencyKey`.
     *
     * Gotcha: without an `idempotencyKey` each run of this Effect makes a new key. `Effect.retry` around it can then
     * pay several times. Use `IdempotencyKey.retry`.
     */
    readonly requestWithdrawal: (
      request: WithdrawalRequest,
      options?: WriteOptions
    ) => Effect.Effect<Withdrawal, RequestWithdrawalError>
  }
>()("effect-pix/Payments") {
  /**
   * The client, on the `HttpClient` and the `Credentials` of the context: every request is sent by that `HttpClient`, with
   * all that you put around it. Keys of writes are random, or of the `IdempotencyKeyGen` of the context. Fails with
   * `ConfigurationError`, which names every setting that is wrong.
   *
   * It provides `WithdrawalLookup` too, which was seen and is not documented, and `PaymentsClient`, as each layer here does.
   */
  static readonly layer = (
    options: PaymentsOptions
  ): Layer.Layer<
    Payments | WithdrawalLookup | PaymentsClient,
    ConfigurationError,
    HttpClient.HttpClient | Credentials
  > => Layer.effectContext(Effect.flatMap(checkOptions(options), (settings) => build(settings, ClientTransport.make)))

  /**
   * The client with a `Config` for each setting, for a second gateway in one process: names and sources are yours. Fails
   * with `ConfigurationError`, which names every setting that is missing or wrong.
   *
   * ```ts
   * import { Config } from "effect"
   * import { Payments } from "effect-pix"
   *
   * const Second = Payments.layerConfig({
   *   baseUrl: Config.String("SECOND_BASE_URL"),
   *   clientId: Config.String("SECOND_CLIENT_ID"),
   *   apiKey: Config.Redacted("SECOND_API_KEY")
   * })
   * ```
   */
  static readonly layerConfig = (
    options: Config.Wrap<PaymentsOptions & ApiCredentials>
  ): Layer.Layer<Payments | WithdrawalLookup | PaymentsClient, ConfigurationError, HttpClient.HttpClient> =>
    Layer.unwrap(
      Effect.map(
        readConfigs(options, (given) => bothSettings(checkOptions(given), checkCredentials(given))),
        ([settings, credentials]) =>
          Layer.effectContext(build(settings, ClientTransport.make)).pipe(Layer.provide(Credentials.layer(credentials)))
      )
    )

  /**
   * The client with all its settings from the environment, over the `HttpClient` of the context: `PAYMENTS_BASE_URL`,
   * `PAYMENTS_CLIENT_ID`, `PAYMENTS_API_KEY` and, where they are set, `PAYMENTS_COMPANY_ID`, `PAYMENTS_ZONE` and `PAYMENTS_INSECURE`.
   * Fails with `ConfigurationError`, which lists all wrong settings.
   */
  static readonly layerEnv: Layer.Layer<
    Payments | WithdrawalLookup | PaymentsClient,
    ConfigurationError,
    HttpClient.HttpClient
  > = Layer.suspend(() => fromEnvironment(ClientTransport.make))

  /**
   * The client with all its settings from the environment, over fetch and no `HttpClient` of yours (see `layerEnv` for
   * that): `PAYMENTS_BASE_URL`, `PAYMENTS_CLIENT_ID`, `PAYMENTS_API_KEY` and, where they are set, `PAYMENTS_COMPANY_ID`, `PAYMENTS_ZONE` and `PAYMENTS_INSECURE`. Fails with
   * `ConfigurationError`, which lists all wrong settings.
   *
   * On Node a write is `NotSent` where fetch never took its bytes: no connection, no TLS, a proxy that refused. Elsewhere only
   * some codes of errors prove that, and Deno has none.
   */
  static readonly layerFetch: Layer.Layer<Payments | WithdrawalLookup | PaymentsClient, ConfigurationError> =
    Layer.suspend(() => fromEnvironment(FetchTransport.make))
}

const isIntegerId = Schema.is(IntegerId)

const toCompany = (companyId: number | null): Result.Result<number | undefined, string> =>
  companyId === null || isIntegerId(companyId)
    ? Result.succeed(companyId ?? undefined)
    : Result.fail("must be a whole number from 0")

const checkOf = (insecure: boolean) =>
  checkSettingsBy(
    Schema.Struct({
      baseUrl: baseUrlSetting(insecure),
      companyId: Schema.optional(reading(toCompany)),
      zone: Schema.optional(zoneSetting)
    })
  )
// A schema is compiled when it is used first.
const checkSecure = checkOf(false)
const checkInsecure = checkOf(true)
const checkOptions = (options: PaymentsOptions) =>
  options?.insecure === true ? checkInsecure(options) : checkSecure(options)

const companyText = reading((text: string) => toCompany(/^\d+$/.test(text) ? Number(text) : Number.NaN))

/** A value that cannot be read counts as false: the error of the base URL then names the setting. */
const flag = reading((text: string) => Result.succeed(/^(?:true|yes|on|1|y)$/.test(text)))
const isInsecure = readSettingsBy(Schema.Struct({ PAYMENTS_INSECURE: Schema.optional(flag) })).pipe(
  Effect.match({ onSuccess: (read) => read.PAYMENTS_INSECURE === true, onFailure: () => false })
)

const fromConfig = Effect.flatMap(isInsecure, (insecure) =>
  Effect.map(
    readSettingsBy(
      Schema.Struct({
        PAYMENTS_BASE_URL: baseUrlSetting(insecure),
        PAYMENTS_COMPANY_ID: Schema.optional(companyText),
        PAYMENTS_ZONE: Schema.optional(zoneSetting)
      })
    ),
    ({ PAYMENTS_BASE_URL: baseUrl, PAYMENTS_COMPANY_ID: companyId, PAYMENTS_ZONE: zone }) => ({
      baseUrl,
      companyId,
      zone
    })
  )
)

type Settings = Effect.Success<ReturnType<typeof checkOptions>>

const build = Effect.fnUntraced(function* <R>(
  { baseUrl, companyId, zone }: Settings,
  transport: Effect.Effect<Transport, never, R>
) {
  yield* warnIfExposed(baseUrl)
  const client = yield* makeClient({
    transport: yield* transport,
    credentials: yield* Credentials,
    facts: yield* currentFacts,
    keys: yield* orRandom,
    baseUrl,
    companyId,
    zone
  })
  const payments = Payments.of({
    createTransaction: makeCreateTransaction(client),
    getTransaction: makeGetTransaction(client),
    listTransactions: makeListTransactions(client),
    getBalance: makeGetBalance(client),
    requestWithdrawal: makeRequestWithdrawal(client)
  })
  return Context.make(Payments, payments).pipe(
    Context.add(WithdrawalLookup, { get: makeGetWithdrawal(client) }),
    Context.add(PaymentsClient, yield* makePaymentsClient(Effect.map(client.credentials.current, client.senderWith)))
  )
})

/** The client with all its settings from the environment. */
const fromEnvironment = <R>(transport: Effect.Effect<Transport, never, R>) =>
  Layer.unwrap(
    Effect.map(bothSettings(fromConfig, credentialsOfEnvironment), ([client, credentials]) =>
      Layer.effectContext(build(client, transport)).pipe(Layer.provide(Credentials.layer(credentials)))
    )
  )
