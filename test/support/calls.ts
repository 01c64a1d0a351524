/**
 * The five operations, as a suite that goes through all of them calls them, and a good answer to each.
 */
import { Effect } from "effect"
import { Money, type Operation, Payments, type PaymentsError, PixKey } from "effect-pix"
import { charge } from "./Wire.ts"

export interface OperationCall {
  readonly operation: Operation
  readonly isWrite: boolean
  /** Calls it; the id is for the lookup. */
  readonly run: (transactionId: string) => Effect.Effect<unknown, PaymentsError, Payments>
  /** The status and the body of a good answer. */
  readonly status: number
  readonly answer: string
}

type Service = Payments["Service"]

const call =
  <A, E extends PaymentsError>(run: (payments: Service, transactionId: string) => Effect.Effect<A, E>) =>
  (transactionId: string): Effect.Effect<unknown, PaymentsError, Payments> =>
    Effect.flatMap(Payments, (payments) => run(payments, transactionId))

/** An id that no sandbox knows. */
export const noTransaction = "8b3da2f3-9a41-40d1-a91a-bd93113bd441"

export const calls: ReadonlyArray<OperationCall> = [
  {
    operation: "createTransaction",
    isWrite: true,
    run: call((payments) => payments.createTransaction(charge)),
    status: 200,
    answer: JSON.stringify({
      data: {
        id: noTransaction,
        amount: 2500,
        paymentMethod: "PIX",
        status: "WAITING_PAYMENT",
        pix: { qrcode: "00020101", expirationDate: "2026-11-22T00:00:00.000Z" }
      },
      status: 200,
      message: "ok"
    })
  },
  {
    operation: "getTransaction",
    isWrite: false,
    run: call((payments, transactionId) => payments.getTransaction(transactionId)),
    status: 200,
    answer: JSON.stringify({
      id: 1,
      value: 2500,
      transactionId: noTransaction,
      enStatusTransaction: "Paid",
      enPaymentSystem: "Pix"
    })
  },
  {
    operation: "listTransactions",
    isWrite: false,
    run: call((payments) => payments.listTransactions({ page: 1, pageSize: 10 })),
    status: 200,
    answer: JSON.stringify({ ok: true, res: { items: [], totalItems: 0, totalPages: 0, currentPage: 1, pageSize: 10 } })
  },
  {
    operation: "getBalance",
    isWrite: false,
    run: call((payments) => payments.getBalance({ companyId: 1 })),
    status: 200,
    answer: JSON.stringify({
      id: 1,
      companyId: 1,
      currency: "BRL",
      enBalanceStatus: "Released",
      accBalance: 10.5,
      accBalanceCredit: 0,
      accBalanceCreditAwaiting: 0
    })
  },
  {
    operation: "requestWithdrawal",
    isWrite: true,
    run: call((payments) =>
      payments.requestWithdrawal({
        amount: Money.centavos(1000),
        pixKey: PixKey.evp("123e4567-e12b-12d1-a456-426655440000")
      })
    ),
    status: 201,
    answer: JSON.stringify({ id: 1, value: 10, currency: "BRL", enTransaction: "Awaiting" })
  }
]
