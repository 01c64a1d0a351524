/** A `Payments` without a gateway, and what its lookups may answer. */
import { Duration, Layer } from "effect"
import { Money, Payments, PaymentsClient, type TransactionDetail } from "effect-pix"
import * as PaymentsError from "../../src/contract/PaymentsError.ts"

/** A `Payments` with only the operations that a test defines. A call of another operation is a defect. */
export const mockPayments = (operations: Partial<Payments["Service"]>): Layer.Layer<Payments | PaymentsClient> =>
  Layer.merge(Layer.mock(Payments, operations), Layer.orDie(PaymentsClient.layerMock))

export type GetTransaction = Payments["Service"]["getTransaction"]

export const detailOf = (transactionId: string, enStatusTransaction = "Paid"): TransactionDetail => ({
  id: 1,
  value: Money.centavos(2500),
  transactionId,
  enStatusTransaction
})

const called = { operation: "getTransaction", attempts: 1 } as const
const refusal = { ...called, outcome: "Rejected" } as const
const page = { ...called, outcome: "NoEffect", reason: "Unreadable", status: 200, issues: [] } as const

/** The errors of a lookup. */
export const unavailable = new PaymentsError.ServiceUnavailable({
  ...called,
  outcome: "NoEffect",
  reason: "ServerError"
})
export const unreadable = new PaymentsError.UnexpectedResponse(page)
export const unauthorized = new PaymentsError.AuthError({ ...refusal, status: 401 })
export const missing = new PaymentsError.TransactionNotFound({ ...refusal, status: 404, transactionId: "t" })
export const rejected = (status: number) => new PaymentsError.RequestRejected({ ...refusal, status })
export const limited = (seconds?: number) =>
  new PaymentsError.RateLimited({
    ...refusal,
    status: 429,
    ...(seconds !== undefined && { retryAfter: Duration.seconds(seconds) })
  })
