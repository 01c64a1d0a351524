/** What happens when the gateway says that something happened. Each handler runs in a transaction of the shop's own database. */
import { Config, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook, type WebhookEvent, WebhookVerifier } from "effect-pix/webhook"
import { findByCharge, type Order } from "./orders.ts"

/** The payout of the seller's share: of an order one, however often it is asked for. */
const payOut = (order: Order) =>
  PayoutQueue.use((queue) =>
    queue.submit({ reference: `order/${order.id}`, amount: order.share, pixKey: order.seller, by: "shop" })
  ).pipe(
    // What can be refused must not undo the mark that the order is paid: the share is held, for a person or a later sum.
    Effect.catchTags({ BelowMinimum: ({ _tag }) => hold(order, _tag), InvalidRequest: ({ _tag }) => hold(order, _tag) })
  )

const hold = Effect.fn("hold")(function* (order: Order, why: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE orders SET held = ${why} WHERE id = ${order.id}`
  yield* Effect.logWarning(`The share of order ${order.id} is held: ${why}`)
})

const mark = Effect.fn("mark")(function* ({ transaction }: WebhookEvent.Confirmed, state: Order["state"]) {
  const sql = yield* SqlClient.SqlClient
  // Fails where no order has the charge: then it is called again.
  const order = yield* Effect.flatMap(findByCharge(transaction.transactionId), Effect.fromOption)
  yield* sql`UPDATE orders SET state = ${state} WHERE id = ${order.id}`
  return order
})

export const webhook = Webhook.layerSql({
  verifier: WebhookVerifier.pathSecret({ secret: Config.Redacted("WEBHOOK_SECRET") }),
  isKnown: (id) => Effect.map(findByCharge(id), Option.isSome),
  expectedAmount: ({ transactionId }) =>
    Effect.map(findByCharge(transactionId), (order) => Option.getOrUndefined(Option.map(order, ({ total }) => total))),
  onPaid: (event) => Effect.flatMap(mark(event, "paid"), payOut),
  onRefunded: Effect.fn("onRefunded")(function* (event) {
    const { id } = yield* mark(event, "refunded")
    yield* Effect.logWarning(`Order ${id} was refunded: has its seller been paid?`)
  }),
  onStatus: ({ transaction: { enStatusTransaction, transactionId } }) =>
    SqlClient.SqlClient.use(
      (sql) => sql`UPDATE charges SET status = ${enStatusTransaction} WHERE id = ${transactionId}`
    ),
  // A claim: it is stored, or a reason to look the payout up.
  onWithdrawal: (hint) => PayoutQueue.use((queue) => Effect.flatMap(queue.hint(hint), Effect.fromOption))
})
