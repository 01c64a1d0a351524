/**
 * Subscriptions: each customer is charged once a month, by `bill(month)` of a daily job. A run that died is run again: what
 * was charged stays, what lapsed is charged anew, and who paid is left alone.
 */
import { Array as Arr, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Money, OrderCharge } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"

interface Customer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly monthly: Money.Centavos
}

const Stored = Schema.fromJsonString(OrderCharge.Stored)

const findCharge = SqlSchema.findOneOption({
  Request: Schema.String,
  Result: Schema.Struct({ charge: Stored }),
  execute: (reference) => SqlClient.SqlClient.use((sql) => sql`SELECT charge FROM bills WHERE reference = ${reference}`)
})

const storeCharge = SqlSchema.void({
  Request: Schema.Struct({ reference: Schema.String, charge: Stored }),
  execute: (bill) =>
    SqlClient.SqlClient.use(
      (sql) => sql`INSERT INTO bills ${sql.insert(bill)}
        ON CONFLICT (reference) DO UPDATE SET charge = excluded.charge`
    )
})

/** The month is in the reference, so that a month is charged once, and the next one anew. */
const billOne = Effect.fn("billOne")(function* ({ email, id, monthly, name }: Customer, month: string) {
  const reference = `${month}/${id}`
  const bill = yield* findCharge(reference)
  const answer = yield* OrderCharge.get({
    reference,
    request: { amount: monthly, paymentMethod: "PIX", customer: { name, email }, pix: { expiresInDays: 10 } },
    last: Option.getOrUndefined(bill)?.charge
  })
  // Stored first. Then mail its code, `answer.charge.pix.qrcode`.
  if (answer._tag === "Renewed") yield* storeCharge({ reference, charge: answer.charge })
  return answer._tag
})

/** What came of each. What is wrong with one customer stops no other; an outage ends the run, which is then run again. */
export const bill = (customers: ReadonlyArray<Customer>, month: string) =>
  Effect.forEach(
    customers,
    (customer) =>
      billOne(customer, month).pipe(
        Effect.catchTag("InvalidRequest", ({ _tag, message }) =>
          Effect.as(Effect.logWarning(`Customer ${customer.id}: ${message}`), _tag)
        )
      ),
    { concurrency: 8 }
  )

// A trial: 300 customers, one of whom has no e-mail. Two runs in November, of which 200 pay, and one in December.
const customers = Arr.makeBy(300, (n) => ({
  id: `customer-${n}`,
  name: "Maria Silva",
  email: n === 7 ? "none" : `customer-${n}@example.com`,
  monthly: Money.fromReais("49.90")
}))

const trial = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sandbox = yield* Sandbox
  yield* sql`CREATE TABLE bills (reference TEXT PRIMARY KEY, charge TEXT NOT NULL)`
  const first = yield* bill(customers, "2026-11")
  yield* Effect.forEach((yield* sandbox.transactions).slice(0, 200), ({ transactionId }) =>
    sandbox.markPaid(transactionId)
  )
  const runs = [first, yield* bill(customers, "2026-11"), yield* bill(customers, "2026-12")]
  const charged = (yield* sandbox.transactions).length
  const count = (tags: typeof first, wanted: string) => tags.filter((tag) => tag === wanted).length
  const table = runs.map((tags) => ["Renewed", "Reuse", "Paid", "InvalidRequest"].map((tag) => count(tags, tag)))
  return [...table, charged]
})

const database = NodeSqlite.layer({ filename: ":memory:" }) // PgClient.layer of @effect/sql-pg
const gateway = Sandbox.layerPayments // NodePayments.layer
export const counts = await Effect.runPromise(Effect.provide(trial, [database, gateway])) // => [[299, 0, 0, 1], [0, 99, 200, 1], [299, 0, 0, 1], 598]
