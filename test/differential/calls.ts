/** The calls of the operations, and the good answers of the gateway. */
import { Effect } from "effect"
import { earlierUnknown, Money, Payments, PixKey, type Service } from "./doors.ts"
import { type Arrived, type Answer, keyOf } from "./gateway.ts"
import { person } from "./secrets.ts"

/**
 * The keys of a write: the call makes one, the caller gives one, or the caller gives one with an earlier call in doubt.
 */
export const keyModes = ["made", "given", "given, earlier Unknown"] as const
export type KeyMode = (typeof keyModes)[number]

export const givenKey = "order-4711-canary"
export const charged = "8b3da2f3-9a41-40d1-a91a-bd93113bd441"

const optionsOf = (mode: KeyMode) =>
  mode === "made" ? {} : { idempotencyKey: givenKey, ...(mode === "given" ? {} : earlierUnknown) }

export interface OperationCall {
  readonly operation: string
  readonly isWrite: boolean
  readonly run: (mode: KeyMode) => Effect.Effect<unknown, unknown, Payments>
  readonly good: (request: Arrived) => Answer
}

const on = <A, E>(run: (payments: Service) => Effect.Effect<A, E>): Effect.Effect<A, E, Payments> =>
  Effect.flatMap(Payments, run)

export const json = (status: number, body: unknown): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

const customer = {
  id: person.customerId,
  name: person.name,
  email: person.email,
  document: { number: person.cpf, type: "CPF" },
  phone: person.phone,
  externalRef: person.reference
}
const charge = {
  amount: Money.centavos(2500),
  customer,
  items: [{ title: person.item, unitPrice: Money.centavos(2500), quantity: 1 }],
  ip: person.ip
}
const payout = {
  amount: Money.centavos(1000),
  description: person.description,
  metadata: { of: person.metadata }
}

export const withdrawn = (request: Arrived, id = 7): Answer =>
  json(201, {
    id,
    companyId: 1,
    idempotencyKey: keyOf(request),
    value: Number(/"amount":(\d+)/.exec(request.body)?.[1] ?? 0) / 100,
    currency: "BRL",
    enTransaction: "Awaiting"
  })

export const detail = (status: string, transactionId = charged, value = 2500): Answer =>
  json(200, {
    id: 91,
    companyId: 1,
    value,
    transactionId,
    enStatusTransaction: status,
    enPaymentSystem: "Pix",
    updateDate: "2026-11-21T07:05:00.000-03:00",
    createdAt: "2026-11-21T10:00:00.000Z"
  })

const created = () =>
  json(200, {
    data: {
      id: charged,
      amount: 2500,
      paymentMethod: "PIX",
      status: "WAITING_PAYMENT",
      pix: { qrcode: "00020101", expirationDate: "2026-11-22T00:00:00.000Z" }
    },
    status: 200,
    message: "ok"
  })

export const calls: ReadonlyArray<OperationCall> = [
  {
    operation: "createTransaction",
    isWrite: true,
    run: (mode) => on((payments) => payments.createTransaction({ ...charge, paymentMethod: "PIX" }, optionsOf(mode))),
    good: created
  },
  {
    operation: "requestWithdrawal",
    isWrite: true,
    run: (mode) =>
      on((payments) => payments.requestWithdrawal({ ...payout, pixKey: PixKey.evp(person.evp) }, optionsOf(mode))),
    good: (request) => withdrawn(request)
  },
  {
    operation: "requestWithdrawal without pixKey",
    isWrite: true,
    run: (mode) => on((payments) => payments.requestWithdrawal(payout, optionsOf(mode))),
    good: (request) => withdrawn(request)
  },
  {
    operation: "getTransaction",
    isWrite: false,
    run: () => on((payments) => payments.getTransaction(charged)),
    good: () => detail("Paid")
  },
  {
    operation: "listTransactions",
    isWrite: false,
    run: () => on((payments) => payments.listTransactions({ page: 1, pageSize: 10 })),
    good: () => json(200, { ok: true, res: { items: [], totalItems: 0, totalPages: 0, currentPage: 1, pageSize: 10 } })
  },
  {
    operation: "getBalance",
    isWrite: false,
    run: () => on((payments) => payments.getBalance({ companyId: 1 })),
    good: () =>
      json(200, {
        id: 1,
        companyId: 1,
        currency: "BRL",
        enBalanceStatus: "Released",
        accBalance: 10.5,
        accBalanceCredit: 0,
        accBalanceCreditAwaiting: 0
      })
  }
]
