/**
 * A table of the five operations for the tests: the request, the call and a good answer of each.
 */
import { Money, type Operation, Payments, type PaymentsError, PixKey, type WriteOptions } from "effect-pix"
import { Effect } from "effect"

type Service = Payments["Service"]

export const transactionId = "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44"
export const companyId = 7

/** The minimal PIX charge of the contract. */
export const charge = {
  amount: Money.centavos(2500),
  paymentMethod: "PIX",
  customer: { name: "Maria Silva", email: "maria@example.com" }
} as const

/** The smallest withdrawal, to the key that the company has on file. */
export const withdrawal = { amount: Money.centavos(1000) }

/** The same withdrawal to a key that the request names. */
export const keyedWithdrawal = { ...withdrawal, pixKey: PixKey.email("maria@example.com") }

/** The two bodies as they are sent: with their currency. */
export const chargeBody = { ...charge, currency: "BRL" }
export const withdrawalBody = { ...withdrawal, currency: "BRL" }

export const created = {
  data: {
    id: transactionId,
    amount: 2500,
    paymentMethod: "PIX",
    status: "WAITING_PAYMENT",
    pix: { qrcode: "00020126580014br.gov.bcb.pix", expirationDate: "2026-11-22T12:00:00.000Z" }
  },
  status: 200,
  message: "created"
}

export const listed = {
  ok: true,
  res: {
    items: [
      {
        id: 91,
        leadId: "0b54e2f6-78c3-4f8a-8b34-6f6f7cf1f1aa",
        lead: {
          id: "0b54e2f6-78c3-4f8a-8b34-6f6f7cf1f1aa",
          externalId: null,
          name: "Maria Silva",
          email: "maria@example.com",
          phone: "11987654321",
          documentNumber: "52998224725",
          documentType: "CPF"
        },
        amount: 2500,
        status: "PENDING",
        paymentMethod: "PIX",
        providerTxId: "prov-1",
        createdAt: "2026-11-21T10:00:00.000Z",
        updatedAt: "2026-11-21T10:05:00.000Z"
      }
    ],
    totalItems: 1,
    totalPages: 1,
    currentPage: 1,
    pageSize: 50
  }
}

export const detail = {
  id: 91,
  leadId: 12,
  lead: { id: 12, name: "Maria Silva", email: "maria@example.com", phone: "11987654321", document: "52998224725" },
  companyId,
  value: 2500,
  transactionId,
  enStatusTransaction: "Awaiting",
  enPaymentSystem: "Pix",
  updateDate: "2026-11-21T07:05:00.000-03:00",
  createdAt: "2026-11-21T10:00:00.000Z"
}

export const balance = {
  id: 3,
  companyId,
  currency: "BRL",
  enBalanceStatus: "Released",
  accBalance: 1234567.89,
  accBalanceCredit: 0.1,
  accBalanceCreditAwaiting: 0
}

/** The record of a withdrawal, which echoes the key. */
export const record = (idempotencyKey: string) => ({ ...recordWithoutKey, idempotencyKey })

const recordWithoutKey = {
  id: 55,
  companyId,
  value: 10,
  pixKey: "maria@example.com",
  pixKeyType: "EMAIL",
  creditorDocument: "52998224725",
  description: "Rent",
  currency: "BRL",
  enTransaction: "Awaiting",
  createdAt: "2026-11-21T10:00:00.000Z"
}

export interface OperationCall {
  readonly operation: Operation
  readonly isWrite: boolean
  readonly method: "GET" | "POST"
  /** Path and query, as they are sent. */
  readonly path: string
  /** The key of a client's first write, where keys are made in sequence. */
  readonly madeKey?: string
  /** What the message of an error with an unknown outcome says of a write. */
  readonly atStake?: string
  readonly call: (payments: Service, options?: WriteOptions) => Effect.Effect<unknown, PaymentsError>
  readonly run: Effect.Effect<unknown, PaymentsError, Payments>
  /** The status and the body of a good answer; ASCII, and without the key of the request. */
  readonly status: number
  readonly answer: string
}

const make = <const Entry extends Omit<OperationCall, "run" | "answer" | "call">, A, E extends PaymentsError>(
  entry: Entry & { readonly call: (payments: Service, options?: WriteOptions) => Effect.Effect<A, E> },
  answer: object
) => ({
  ...entry,
  run: Effect.flatMap(Payments, (payments) => entry.call(payments)),
  answer: JSON.stringify(answer)
})

export const lookupPath = (id: string) => `/api/Transaction/transactionByTransactionId/${id}`
export const balancePath = (id: number) => `/api/Balance/balance/${id}`

export const createTransaction = make(
  {
    operation: "createTransaction",
    isWrite: true,
    method: "POST",
    path: "/api/v1/transactions/create",
    madeKey: "tx_1",
    atStake: "THE CHARGE MAY EXIST",
    call: (payments, options) => payments.createTransaction(charge, options),
    status: 200
  },
  created
)

export const listTransactions = make(
  {
    operation: "listTransactions",
    isWrite: false,
    method: "GET",
    path: "/api/Transaction/company/transactions",
    call: (payments) => payments.listTransactions(),
    status: 200
  },
  listed
)

export const getTransaction = make(
  {
    operation: "getTransaction",
    isWrite: false,
    method: "GET",
    path: lookupPath(transactionId),
    call: (payments) => payments.getTransaction(transactionId),
    status: 200
  },
  detail
)

/** The lookup of another transaction. */
export const lookUp = (id: string) => Effect.flatMap(Payments, (payments) => payments.getTransaction(id))

export const getBalance = make(
  {
    operation: "getBalance",
    isWrite: false,
    method: "GET",
    path: `${balancePath(companyId)}?currency=BRL`,
    call: (payments) => payments.getBalance({ companyId }),
    status: 200
  },
  balance
)

export const requestWithdrawal = make(
  {
    operation: "requestWithdrawal",
    isWrite: true,
    method: "POST",
    path: "/api/Withdraw/request",
    madeKey: "wd_1",
    atStake: "MONEY MAY HAVE MOVED",
    call: (payments, options) => payments.requestWithdrawal(keyedWithdrawal, options),
    status: 201
  },
  recordWithoutKey
)

/** The five operations. */
export const operations: Readonly<Record<Operation, OperationCall>> = {
  createTransaction,
  listTransactions,
  getTransaction,
  getBalance,
  requestWithdrawal
}

const calls = Object.values(operations)
export const writeNames = calls.filter(({ isWrite }) => isWrite).map(({ operation }) => operation)
export const readNames = calls.filter(({ isWrite }) => !isWrite).map(({ operation }) => operation)
