/**
 * The handlers of `PaymentsApi`: they answer from the ledger. The contract decodes requests and encodes answers.
 */
import * as BigDecimal from "effect/BigDecimal"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { type Reais, reais } from "../../pix/Money.ts"
import { PaymentsApi } from "../../contract/PaymentsApi.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import { leadOf } from "./ids.ts"
import { type Ledger, valueOf } from "./ledger.ts"
import type { Write } from "./once.ts"
import * as Refusal from "../Refusal.ts"
import type { Settings } from "../SandboxOptions.ts"
import * as Seen from "./seen.ts"

/** The rows that a request is about, filled in while it is answered. */
export interface Concerns {
  transactionId?: string
  withdrawalId?: number
}

/** The request that is being answered. */
export class Exchange extends Context.Service<
  Exchange,
  {
    readonly ledger: Ledger
    readonly now: DateTime.Utc
    readonly write: Write
    readonly concerns: Concerns
    /** The body as it arrived. */
    readonly body: string
    /** Why a payout fails at once. */
    readonly failure: string | undefined
  }
>()("effect-pix/handlers/Exchange") {}

const toReais = (centavos: number): Reais => reais(BigDecimal.make(BigInt(centavos), 2))

const answer = <A, B>(
  result: Result.Result<A, Refusal.Refusal>,
  show: (value: A) => B
): B | HttpServerResponse.HttpServerResponse => Result.match(result, { onFailure: Refusal.toResponse, onSuccess: show })

const instant = (iso: string) => DateTime.makeUnsafe(iso)

const created = (settings: Settings, concerns: Concerns, isSeen: boolean) => (charge: SandboxTransaction) => {
  const { amount, expiresAt, paymentMethod, qrcode, transactionId } = charge
  concerns.transactionId = transactionId
  if (isSeen) return HttpServerResponse.jsonUnsafe(Seen.createdBody(settings, charge))
  return {
    data: {
      id: transactionId,
      amount,
      paymentMethod,
      status: "WAITING_PAYMENT",
      companyId: settings.companyId,
      extra: {},
      ...(qrcode !== undefined && expiresAt !== undefined && { pix: { qrcode, expirationDate: instant(expiresAt) } })
    },
    status: 200,
    message: "Transação criada com sucesso."
  }
}

const listStatus = {
  Awaiting: "PENDING",
  Paid: "PAID",
  Cancelled: "CANCELLED",
  Failed: "FAILED",
  Refunded: "REFUNDED"
} as const

const row = (charge: SandboxTransaction) => {
  const { createdAt, paymentMethod, rowId, status, transactionId, updatedAt } = charge
  const { document, email, externalRef, name, phone } = charge.customer
  const leadId = leadOf(transactionId)
  return {
    id: rowId,
    leadId,
    lead: {
      id: leadId,
      name,
      email,
      ...(externalRef !== undefined && { externalId: externalRef }),
      ...(phone !== undefined && { phone }),
      ...(document !== undefined && { documentNumber: document.number, documentType: document.type })
    },
    amount: valueOf(charge),
    status: listStatus[status],
    paymentMethod,
    providerTxId: transactionId.replaceAll("-", ""),
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt)
  }
}

const paymentSystem = { PIX: "Pix", BOLETO: "Boleto", CREDIT_CARD: "CreditCard" } as const

const detail = (settings: Settings, concerns: Concerns) => (charge: SandboxTransaction) => {
  concerns.transactionId = charge.transactionId
  const { createdAt, paymentMethod, rowId, status, transactionId, updatedAt } = charge
  const { document, email, name, phone } = charge.customer
  return {
    id: rowId,
    leadId: rowId,
    lead: {
      id: rowId,
      name,
      email,
      ...(phone !== undefined && { phone }),
      ...(document !== undefined && { document: document.number })
    },
    companyId: settings.companyId,
    value: valueOf(charge),
    transactionId,
    enStatusTransaction: status,
    enPaymentSystem: paymentSystem[paymentMethod],
    updateDate: instant(updatedAt),
    createdAt: instant(createdAt)
  }
}

const withdrawn = (settings: Settings, concerns: Concerns, isSeen: boolean) => (withdrawal: SandboxWithdrawal) => {
  const { amount, createdAt, currency, description, id, idempotencyKey, pixKey, pixKeyType } = withdrawal
  concerns.withdrawalId = id
  if (isSeen) return HttpServerResponse.jsonUnsafe(Seen.requestedBody(settings, withdrawal), { status: 201 })
  return {
    id,
    companyId: settings.companyId,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    value: toReais(amount),
    pixKey,
    ...(pixKeyType !== undefined && { pixKeyType }),
    creditorDocument: pixKeyType === "CPF" || pixKeyType === "CNPJ" ? pixKey : settings.creditorDocument,
    ...(description !== undefined && { description }),
    currency,
    enTransaction: withdrawal.failedAtOnce === true ? "Failure" : "Awaiting",
    createdAt: instant(createdAt)
  }
}

const transactions = (settings: Settings) =>
  HttpApiBuilder.group(PaymentsApi, "transactions", (handlers) =>
    handlers.handleAll({
      createTransaction: ({ payload }) =>
        Effect.map(Exchange, ({ body, concerns, ledger, now, write }) =>
          answer(
            ledger.create(payload, write, now, ledger.isSeen ? Seen.sentFields(body) : {}),
            created(settings, concerns, ledger.isSeen)
          )
        ),
      listTransactions: ({ query }) =>
        Effect.map(Exchange, ({ ledger }) => {
          const { page = 1, pageSize = 50, sort = "createdAt_desc" } = query
          const all = ledger.charges()
          const from = (page - 1) * pageSize
          const items =
            sort === "createdAt_asc"
              ? all.slice(from, from + pageSize)
              : all.slice(Math.max(all.length - from - pageSize, 0), Math.max(all.length - from, 0)).toReversed()
          return {
            ok: true,
            res: {
              items: items.map(row),
              totalItems: all.length,
              totalPages: Math.ceil(all.length / pageSize),
              currentPage: page,
              pageSize
            }
          }
        }),
      getTransaction: ({ params }) =>
        Effect.map(Exchange, ({ concerns, ledger }) =>
          answer(
            Result.fromNullishOr(ledger.find(params.transactionId), () => Refusal.transactionNotFound),
            detail(settings, concerns)
          )
        )
    })
  )

const money = (settings: Settings) =>
  HttpApiBuilder.group(PaymentsApi, "money", (handlers) =>
    handlers.handleAll({
      getBalance: ({ params, query }) =>
        Effect.map(Exchange, ({ ledger }) => {
          if (params.companyId !== settings.companyId) return Refusal.toResponse(Refusal.companyNotFound)
          if ((query.currency ?? "BRL") !== "BRL") return Refusal.toResponse(Refusal.notBrl)
          if (ledger.isSeen) return HttpServerResponse.jsonUnsafe(Seen.balanceBody(settings, ledger.balance()))
          return {
            id: settings.companyId,
            companyId: settings.companyId,
            currency: "BRL",
            enBalanceStatus: "Released",
            accBalance: toReais(ledger.balance()),
            accBalanceCredit: toReais(0),
            accBalanceCreditAwaiting: toReais(ledger.awaited())
          }
        }),
      requestWithdrawal: ({ payload }) =>
        Effect.map(Exchange, ({ concerns, failure, ledger, now, write }) =>
          answer(ledger.withdraw(payload, write, now, failure), withdrawn(settings, concerns, ledger.isSeen))
        )
    })
  )

/** The lookup of a payout by its path. It was only seen, so `PaymentsApi` does not have it. */
export const lookup = (settings: Settings, ledger: Ledger, path: string, concerns: Concerns) =>
  answer(
    Result.fromNullishOr(ledger.payouts()[Number(/\/(\d+)$/.exec(path)?.[1]) - 1], () => Refusal.withdrawalNotFound),
    (payout) => {
      concerns.withdrawalId = payout.id
      return HttpServerResponse.jsonUnsafe(Seen.lookupBody(settings, payout))
    }
  )

/** The contract with its handlers. */
export const layer = (settings: Settings) =>
  Layer.provide(HttpApiBuilder.layer(PaymentsApi), [transactions(settings), money(settings)])
