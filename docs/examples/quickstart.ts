import { Console, Effect } from "effect"
import { IdempotencyKey, Money, Payments, PixKey, QrCode } from "effect-pix"

const draw = (code: string) => Console.log(QrCode.terminal(code))

/** Charges R$ 25,00, shows the code, waits for `pay`, and pays R$ 10,00 out. */
export const quickstart = <E, R>(pay: (transactionId: string) => Effect.Effect<unknown, E, R>, show = draw) =>
  Effect.gen(function* () {
    const payments = yield* Payments

    const charge = yield* payments.createTransaction({
      amount: Money.centavos(2500),
      paymentMethod: "PIX",
      customer: { name: "Maria Silva", email: "maria@example.com" },
      pix: { expiresInDays: 1 }
    })
    yield* Console.log(`Charged ${Money.format(charge.amount)}. The payer scans the QR code, or copies this line:`)
    yield* show(charge.pix.qrcode)
    yield* Console.log(charge.pix.qrcode)

    yield* pay(charge.id)
    const detail = yield* payments.getTransaction(charge.id)
    yield* Console.log(`The charge is now ${detail.enStatusTransaction}.`)

    const page = yield* payments.listTransactions({ pageSize: 10 })
    yield* Console.log(`The company has ${page.totalItems} transaction(s).`)

    const balance = yield* payments.getBalance({ companyId: charge.companyId })
    yield* Console.log(`Its balance is ${Money.format(balance.accBalance)}.`)

    const payout = yield* payments.requestWithdrawal(
      { amount: Money.centavos(1000), pixKey: PixKey.email("supplier@example.com"), description: "Invoice 42" },
      // The same reference gives the same key in any process: asking again never pays twice.
      // Without a key, each call pays under a new one. To ask again: `IdempotencyKey.retry`.
      { idempotencyKey: IdempotencyKey.fromReference("payout", "invoice-42"), earlier: "None" }
    )
    yield* Console.log(`Paid out ${Money.format(payout.value)}; the payout is ${payout.enTransaction}.`)
  })
