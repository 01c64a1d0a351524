/**
 * Express, and handlers that are async functions: all of Effect that they need is one runtime. The webhook, the queue of
 * payouts and your queries share its database.
 */
import { Effect, Layer, ManagedRuntime, Result } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { NodeWebhook, Webhook, WebhookClient } from "effect-pix/webhook"
import express from "express"
import { once } from "node:events"

const database = NodeSqlite.layer({ filename: ":memory:" }) // PgClient.layer of @effect/sql-pg
const gateway = Sandbox.layerPayments // NodePayments.layer

const webhook = Webhook.layerSql({
  onPaid: ({ transaction: { transactionId } }) =>
    SqlClient.SqlClient.use((sql) => sql`UPDATE invoices SET state = 'paid' WHERE charge = ${transactionId}`)
})

// Built before the server listens: a wrong setting ends the program here.
const runtime = ManagedRuntime.make(Layer.provideMerge(webhook, [database, gateway]))
const { answer } = await runtime.runPromise(Webhook)
const payments = await runtime.runPromise(Payments)
const sql = await runtime.runPromise(SqlClient.SqlClient)
await runtime.runPromise(sql`CREATE TABLE invoices (id TEXT PRIMARY KEY, charge TEXT, state TEXT)`)

const app = express()
// Before every body parser.
app.all(
  "/webhooks/pix",
  NodeWebhook.toListener((request, info) => runtime.runPromise(answer(request, info)))
)
app.use(express.json())

app.post("/invoices/:id/charge", async ({ params: { id } }, res) => {
  // From your table of invoices, never from the request.
  const request = {
    amount: Money.fromReais("25.00"),
    paymentMethod: "PIX",
    customer: { name: "Maria Silva", email: "maria@example.com" }
  } as const
  const idempotencyKey = IdempotencyKey.fromReference("charge", id)
  const made = await runtime.runPromise(
    Effect.result(payments.createTransaction(request, { idempotencyKey, earlier: "None" }))
  )
  if (Result.isFailure(made)) {
    // The key is the same: asking again is safe, whatever the outcome.
    const { _tag: error, concerns } = made.failure
    return res.status(concerns === "Request" ? 422 : 503).json({ error })
  }
  const { id: charge, pix } = made.success
  await runtime.runPromise(sql`INSERT INTO invoices VALUES (${id}, ${charge}, 'open') ON CONFLICT DO NOTHING`)
  return res.status(201).json({ charge, code: pix.qrcode })
})

app.get("/invoices/:id", async ({ params: { id } }, res) => {
  const [invoice] = await runtime.runPromise(sql`SELECT state FROM invoices WHERE id = ${id}`)
  res.status(invoice === undefined ? 404 : 200).json(invoice)
})

const server = app.listen(0, "127.0.0.1") // your port
await once(server, "listening")
/** On SIGTERM: the server first, then the database and the rest. */
const stop = async () => {
  await server[Symbol.asyncDispose]()
  await runtime.dispose()
}

// A trial: an invoice is charged, the sandbox plays the payer, and its delivery comes in.
const address = server.address()
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`
const charged = await fetch(`${url}/invoices/42/charge`, { method: "POST" })
const { charge: transactionId } = await charged.json()
await runtime.runPromise(Effect.flatMap(Sandbox, ({ markPaid }) => markPaid(transactionId)))
await fetch(`${url}/webhooks/pix`, { method: "POST", body: JSON.stringify({ transactionId, status: "Paid" }) })
await runtime.runPromise(WebhookClient.use(({ idle }) => idle))
export const invoice = await (await fetch(`${url}/invoices/42`)).json() // => { state: "paid" }
await stop()
