/**
 * The bytes that every client sends and receives: a full PIX charge, its answer, and a page of 100 rows.
 */
import { Money } from "effect-pix"
import type { CreateTransactionRequest } from "effect-pix"

export const createPath = "/api/v1/transactions/create"
export const listPath = "/api/Transaction/company/transactions"
export const rows = 100

export const credentials = { clientId: "bench-client", apiKey: "bench-key" }

/** What is charged. With the currency written out it is also the body, as the other clients send it. */
export const charge: CreateTransactionRequest = {
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
}

export const chargeId = "6f1d2f0a-3a0e-4c7e-9a53-1f6f0a4b7c11"

export const created = JSON.stringify({
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
})

export const page = JSON.stringify({
  ok: true,
  res: {
    items: Array.from({ length: rows }, (_, index) => ({
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
      amount: 2500 + index,
      status: "PENDING",
      paymentMethod: "PIX",
      providerTxId: `E18236120202611211200s${String(index).padStart(10, "0")}`,
      createdAt: "2026-11-21T12:00:00.123Z",
      updatedAt: index % 2 === 0 ? "2026-11-21T12:00:01.456Z" : "2026-11-21T12:00:01"
    })),
    totalItems: 4200,
    totalPages: 42,
    currentPage: 1,
    pageSize: rows
  }
})
