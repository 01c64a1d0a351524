/**
 * A table of the operations for the tests, the five documented ones and the one that was seen: the request, the call and a good
 * answer of each.
 */
import {
  Money,
  type Operation,
  Payments,
  type PaymentsError,
  PixKey,
  WithdrawalLookup,
  type WriteOptions
} from "effect-pix"
import { Effect } from "effect"
import lookup from "../fixtures/field/withdrawal-lookup.json" with { type: "json" }
import answers from "../tables/goodAnswers.json" with { type: "json" }

/** The operations of a client, by their names. */
export type Service = Payments["Service"] & { readonly getWithdrawal: WithdrawalLookup["Service"]["get"] }

/** The operations of the client of a layer. */
export const service: Effect.Effect<Service, never, Payments | WithdrawalLookup> = Effect.gen(function* () {
  const { get } = yield* WithdrawalLookup
  return { ...(yield* Payments), getWithdrawal: get }
})

/** Good answers of the service, as it documents them, and as its lookup of a withdrawal was seen. */
export const { balance, created, detail, listed } = answers
export const withdrawalDetail = lookup
export const transactionId = created.data.id
export const companyId = balance.companyId

/** The minimal PIX charge of the contract. */
export const charge = {
  amount: Money.centavos(2500),
  paymentMethod: "PIX",
  customer: { name: "Maria Silva", email: "maria@example.com" }
} as const

/** A PIX charge with each field of the contract. */
export const fullCharge = {
  amount: Money.centavos(2500),
  currency: "BRL",
  paymentMethod: "PIX",
  installments: 1,
  customer: {
    id: "c-1",
    name: "José D'Ávila \u{1F600}",
    email: "jose+pix@example.com.br",
    document: { number: "52998224725", type: "CPF" },
    phone: "11987654321",
    externalRef: "crm/1"
  },
  items: [
    { title: "Café 500g", unitPrice: Money.centavos(1200), quantity: 2, tangible: true, externalRef: "sku-1" },
    { title: "Frete", unitPrice: Money.centavos(100), quantity: 1, tangible: false }
  ],
  traceable: true,
  ip: "203.0.113.7",
  postbackUrl: "https://shop.example/webhooks/pix/s3cret-path",
  pix: { expiresInDays: 2 }
} as const

/** The smallest withdrawal, to the key that the company has on file. */
export const withdrawal = { amount: Money.centavos(1000) }

/** The same withdrawal to a key that the request names. */
const keyedWithdrawal = { ...withdrawal, pixKey: PixKey.email("maria@example.com") }

/** The two bodies as they are sent: with their currency. */
export const chargeBody = { ...charge, currency: "BRL" }
export const withdrawalBody = { ...withdrawal, currency: "BRL" }

/** The record of a withdrawal, which echoes the key. */
export const record = (idempotencyKey: string) => ({ ...answers.withdrawal, idempotencyKey })

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
  readonly run: Effect.Effect<unknown, PaymentsError, Payments | WithdrawalLookup>
  /** The status and the body of a good answer; ASCII, and without the key of the request. */
  readonly status: number
  readonly answer: string
}

const make = <
  const Entry extends Omit<OperationCall, "run" | "answer" | "call" | "isWrite">,
  A,
  E extends PaymentsError
>(
  entry: Entry & { readonly call: (payments: Payments["Service"], options?: WriteOptions) => Effect.Effect<A, E> },
  answer: object
) => ({
  ...entry,
  isWrite: entry.method === "POST",
  run: Effect.flatMap(Payments, (payments) => entry.call(payments)),
  answer: JSON.stringify(answer)
})

export const lookupPath = (id: string) => `/api/Transaction/transactionByTransactionId/${id}`
export const balancePath = (id: number) => `/api/Balance/balance/${id}`

export const createTransaction = make(
  {
    operation: "createTransaction",
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
    method: "POST",
    path: "/api/Withdraw/request",
    madeKey: "wd_1",
    atStake: "MONEY MAY HAVE MOVED",
    call: (payments, options) => payments.requestWithdrawal(keyedWithdrawal, options),
    status: 201
  },
  answers.withdrawal
)

export const withdrawalPath = (id: number) => `/api/Withdraw/${id}`

export const getWithdrawal = {
  operation: "getWithdrawal",
  isWrite: false,
  method: "GET",
  path: withdrawalPath(lookup.id),
  call: ({ getWithdrawal }: Pick<Service, "getWithdrawal">) => getWithdrawal(lookup.id),
  run: Effect.flatMap(WithdrawalLookup, ({ get }) => get(lookup.id)),
  status: 200,
  answer: JSON.stringify(lookup)
} as const

/** The operations. */
export const operations: Readonly<Record<Operation, OperationCall>> = {
  createTransaction,
  listTransactions,
  getTransaction,
  getBalance,
  requestWithdrawal,
  getWithdrawal
}

const calls = Object.values(operations)
export const writeNames = calls.filter(({ isWrite }) => isWrite).map(({ operation }) => operation)
export const readNames = calls.filter(({ isWrite }) => !isWrite).map(({ operation }) => operation)
