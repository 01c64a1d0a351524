/** The orders of the shop, as the database has them. */
import { DateTime, Effect, Result, Schema, SchemaGetter } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { BrCode, Money, OrderCharge, PaymentsPolicy, PixKey } from "effect-pix"

/** A BIGINT: PostgreSQL answers with a bigint, and SQLite, on which the tests run, with a number. */
export const Amount = Schema.Union([Schema.BigInt, Schema.Int]).pipe(
  Schema.decodeTo(Money.Centavos, { decode: SchemaGetter.transform(Number), encode: SchemaGetter.transform(Number) })
)
const Customer = Schema.Struct({ name: Schema.NonEmptyString, email: Schema.NonEmptyString })

/** What the shop sends, as JSON: amounts in centavos, and the seller's PIX key with its kind. */
export const NewOrder = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^[\w-]{1,64}$/)),
  total: Money.Centavos,
  /** What the seller gets of it. */
  share: Money.Centavos,
  customer: Customer,
  seller: PixKey.FromPair
})

const Order = Schema.Struct({
  ...NewOrder.fields,
  total: Amount,
  share: Amount,
  customer: Schema.fromJsonString(Customer),
  seller: Schema.fromJsonString(PixKey.FromPair),
  state: Schema.Literals(["open", "paid", "refunded"]),
  charge: Schema.NullOr(Schema.fromJsonString(OrderCharge.Stored))
})
export type Order = typeof Order.Type

export const create = SqlSchema.void({
  Request: Schema.Struct({
    ...NewOrder.fields,
    customer: Order.fields.customer,
    seller: Order.fields.seller
  }),
  execute: (row) => SqlClient.SqlClient.use((sql) => sql`INSERT INTO orders ${sql.insert(row)} ON CONFLICT DO NOTHING`)
})

export const find = SqlSchema.findOneOption({
  Request: Schema.String,
  Result: Order,
  execute: (id) => SqlClient.SqlClient.use((sql) => sql`SELECT * FROM orders WHERE id = ${id}`)
})

/** The order of a charge, also of one that the order had before. */
export const findByCharge = SqlSchema.findOneOption({
  Request: Schema.String,
  Result: Order,
  execute: (id) =>
    SqlClient.SqlClient.use(
      (sql) => sql`SELECT orders.* FROM orders JOIN charges ON order_id = orders.id WHERE charges.id = ${id}`
    )
})

const store = Effect.fn("store")(
  function* (order: Order, charge: OrderCharge.Stored) {
    const sql = yield* SqlClient.SqlClient
    const encoded = yield* Schema.encodeEffect(Schema.fromJsonString(OrderCharge.Stored))(charge)
    const expiry = charge.pix.expirationDate ?? DateTime.add(yield* DateTime.now, { days: 1 })
    const row = {
      id: charge.transactionId,
      order_id: order.id,
      amount: charge.amount,
      sweep_until: DateTime.formatIso(DateTime.add(expiry, { days: 90 }))
    }
    yield* sql`INSERT INTO charges ${sql.insert(row)} ON CONFLICT DO NOTHING`
    // Another tab may have been faster: it has stored the same charge, since the key is the same.
    yield* sql`UPDATE orders SET charge = ${encoded}, charges = ${charge.number}
    WHERE id = ${order.id} AND charges < ${charge.number}`
  },
  (effect) => SqlClient.SqlClient.use((sql) => sql.withTransaction(effect))
)

/** Whether a code is undamaged and asks for this amount. One with a URL may leave the amount to it. */
const mayBeShown = (payload: string, asked: Money.Centavos) => {
  const code = Result.getOrUndefined(BrCode.parse(payload))
  if (code === undefined || code.problems.length > 0) return false
  const amount = BrCode.checkAmount(code, asked)
  return amount === "same" || (amount === "not stated" && code.url !== undefined)
}

class CodeNotSound extends Schema.TaggedError<CodeNotSound>()("CodeNotSound", {}) {}

/** A person waits: an answer within ten seconds. */
const interactive = PaymentsPolicy.make({
  attemptTimeout: "6 seconds",
  deadline: "10 seconds",
  maxRetryAfter: "2 seconds"
})

/** The code to show to the payer. Pressing the button twice is one charge; its code is shown only after it is stored. */
export const chargeFor = Effect.fn("chargeFor")(
  function* (order: Order) {
    const answer = yield* OrderCharge.get({
      reference: order.id,
      request: { amount: order.total, paymentMethod: "PIX", customer: order.customer, pix: { expiresInDays: 1 } },
      last: order.charge ?? undefined
    })
    if (answer._tag === "Paid") return answer
    if (!mayBeShown(answer.charge.pix.qrcode, order.total)) return yield* new CodeNotSound()
    if (answer._tag === "Renewed") yield* store(order, answer.charge)
    return answer
  },
  Effect.provideService(PaymentsPolicy, interactive)
)
