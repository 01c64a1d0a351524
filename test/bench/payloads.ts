/**
 * The bytes that every client sends and receives: a full PIX charge and its answer, a lookup, a payout, and pages of 100
 * rows.
 */
import { type CreateTransactionRequest, Money, PixKey, type WithdrawalRequest } from "effect-pix"

export const paths = {
  create: "/api/v1/transactions/create",
  list: "/api/Transaction/company/transactions",
  lookup: "/api/Transaction/transactionByTransactionId/6f1d2f0a-3a0e-4c7e-9a53-1f6f0a4b7c11",
  withdraw: "/api/Withdraw/request"
}
export const rows = 100

export const credentials = { clientId: "bench-client", apiKey: "bench-key" }

/** The charge. With the currency added it is also the body that the other clients send. */
export const charge = {
  amount: Money.centavos(2500),
  currency: "BRL",
  paymentMethod: "PIX",
  installments: 1,
  customer: {
    id: "customer-1042",
    name: "Maria Silva",
    email: "maria@example.com",
    document: { number: "11144477735", type: "CPF" },
    phone: "11987654321",
    externalRef: "order-1042"
  },
  items: [{ title: "Plano mensal", unitPrice: Money.centavos(2500), quantity: 1, tangible: false }],
  pix: { expiresInDays: 2 },
  traceable: true,
  ip: "203.0.113.7"
} as const satisfies CreateTransactionRequest

/** A payout as the input of a program, and as the body of its request. */
export const withdrawal: WithdrawalRequest = {
  amount: Money.centavos(1000),
  pixKey: PixKey.email("maria@example.com"),
  description: "Invoice 42"
}
export const withdrawalBody = {
  amount: 1000,
  currency: "BRL",
  pixKey: "maria@example.com",
  pixKeyType: "EMAIL",
  description: "Invoice 42"
}

export const chargeId = "6f1d2f0a-3a0e-4c7e-9a53-1f6f0a4b7c11"
export const withdrawalId = 4711

const row = (index: number) => ({
  id: 9000 + index,
  leadId: `0b9c3d3e-52b7-4a5f-8f0e-${String(index).padStart(12, "0")}`,
  lead: {
    id: `0b9c3d3e-52b7-4a5f-8f0e-${String(index).padStart(12, "0")}`,
    externalId: index % 2 === 0 ? null : `customer-${index}`,
    name: `João da Conceição ${index}`,
    email: `customer${index}@example.com`,
    phone: "11987654321",
    documentNumber: "11144477735",
    documentType: "CPF"
  },
  amount: 2500 + (index % 1000),
  status: "PENDING",
  paymentMethod: "PIX",
  providerTxId: `E18236120202611211200s${String(index).padStart(10, "0")}`,
  createdAt: new Date(1_763_000_000_000 + index * 1000).toISOString(),
  updatedAt: "2026-11-21T12:00:01.456Z"
})

/** The first page of a list. */
const pageOf = (write: (item: ReturnType<typeof row>, index: number) => object): string => {
  const items = Array.from({ length: rows }, (_, index) => write(row(index), index))
  return JSON.stringify({ ok: true, res: { items, totalItems: 4200, totalPages: 42, currentPage: 1, pageSize: rows } })
}

/** How services write times. */
const times = [
  "2026-10-21T12:00:00.123Z",
  "2026-10-31T12:00:00.123Z",
  "2026-10-21T12:00:00-03:00",
  "2026-10-21T12:00:00",
  "2026-10-21T12:00:00.1234567",
  "2026-10-21T12:00:00.123456Z"
]

/** A page whose rows have times like this one: each row has two of its own. */
const pageLike = (time: string): string => {
  const at = (index: number) =>
    time.slice(0, 11) + new Date(index * 61_000).toISOString().slice(11, 19) + time.slice(19)
  return pageOf((item, index) => ({ ...item, createdAt: at(index), updatedAt: at(index + rows) }))
}

/** Pages of the list, by an example of their times. */
export const pages: ReadonlyArray<readonly [time: string, body: string]> = times.map((time) => [time, pageLike(time)])

/** The answer of the server to each operation. */
export const answers = {
  create: JSON.stringify({
    data: {
      id: chargeId,
      amount: 2500,
      paymentMethod: "PIX",
      status: "WAITING_PAYMENT",
      pix: {
        qrcode:
          "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D",
        expirationDate: "2026-12-01T12:00:00.000Z"
      },
      companyId: 7
    },
    status: 200,
    message: "Transação criada com sucesso"
  }),
  lookup: JSON.stringify({
    id: 1,
    leadId: 2,
    lead: { id: 2, name: "Maria Silva", email: "maria@example.com", phone: "11987654321", document: "11144477735" },
    companyId: 7,
    value: 2500,
    transactionId: chargeId,
    enStatusTransaction: "Paid",
    enPaymentSystem: "Pix",
    updateDate: "2026-11-21T12:00:01.456-03:00",
    createdAt: "2026-11-21T12:00:00.123Z"
  }),
  list: pageOf((item) => item),
  withdraw: JSON.stringify({
    id: withdrawalId,
    companyId: 7,
    value: 10.0,
    pixKey: "maria@example.com",
    pixKeyType: "EMAIL",
    creditorDocument: "11144477735",
    description: "Invoice 42",
    currency: "BRL",
    enTransaction: "Awaiting",
    createdAt: "2026-11-21T12:00:00.123Z"
  })
}

export type Call = keyof typeof answers

/** The values that identify each answer, so that a failing client is never measured. */
export const expected: Record<Call, unknown> = {
  create: chargeId,
  lookup: "Paid",
  list: rows,
  withdraw: withdrawalId
}
