/**
 * A REST API on the queue of payouts. `POST /payouts` is safe to call again: one reference is one payout. It answers 202 and the
 * address of its status, before anything is sent. `node rest-api.ts` plays a trial, and then serves on port 3000.
 */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Option, Schedule, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, type PayoutStatus } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { NodeWebhook } from "effect-pix/webhook"
import { createServer } from "node:http"

const { empty, json } = HttpServerResponse

const NewPayout = Schema.Struct({ reference: Schema.String, amount: Money.Centavos, payee: PixKey.FromPair })

/** What a caller has to know of each state. `isFinal`: nothing changes any more, unless a payment comes back. */
const said = {
  accepted: { means: "it will be sent", isFinal: false },
  unknown: { means: "in doubt: it may have been paid, and is asked again", isFinal: false },
  parked: { means: "it waits for a person, and may have been paid", isFinal: false },
  posted: { means: "sent, and not confirmed yet", isFinal: false },
  paid: { means: "paid", isFinal: true },
  returned: { means: "it was paid, and came back", isFinal: true },
  failed: { means: "not paid", isFinal: true },
  refused: { means: "not paid, unless a person sends it again", isFinal: false },
  cancelled: { means: "not paid", isFinal: true }
} as const

const view = ({ amount, reference, state }: PayoutStatus) => ({ reference, amount, state, ...said[state] })
const refused = (status: 400 | 409 | 422) => (error: { readonly _tag: string }) =>
  json({ error: error._tag }, { status })

const post = Effect.gen(function* () {
  const { amount, payee, reference } = yield* HttpServerRequest.schemaBodyJson(NewPayout)
  const queue = yield* PayoutQueue
  const payout = yield* queue.submit({ reference, amount, pixKey: payee, by: "api" })
  const location = `/payouts/${encodeURIComponent(reference)}`
  return yield* json(view(payout), { status: 202, headers: { location } })
}).pipe(
  Effect.catchTags({
    // The body is not JSON, or it broke off.
    HttpServerError: refused(400),
    // The caller has to correct it. Nothing was stored.
    SchemaError: refused(422),
    InvalidRequest: refused(422),
    BelowMinimum: refused(422),
    // The reference is another payout's, of another amount or payee.
    ReferenceConflict: refused(409)
  }),
  // The database: it may be stored, or not. Called again, it is the same payout.
  Effect.tapError((error) => Effect.logError("No answer", error)),
  Effect.orElseSucceed(() => empty({ status: 503, headers: { "retry-after": "5" } }))
)

const get = Effect.gen(function* () {
  const { reference } = yield* HttpRouter.schemaPathParams(Schema.Struct({ reference: Schema.String }))
  const payout = yield* PayoutQueue.use((queue) => queue.status(reference))
  return yield* Option.match(payout, {
    onNone: () => Effect.succeed(empty({ status: 404 })),
    onSome: (found) => json(view(found))
  })
}).pipe(Effect.orElseSucceed(() => empty({ status: 503, headers: { "retry-after": "5" } })))

/** Yours to add: who may ask. */
export const routes = Layer.mergeAll(
  HttpRouter.add("POST", "/payouts", post),
  HttpRouter.add("GET", "/payouts/:reference", get)
)

/** Not `HttpRouter.serve`, whose server may listen before its routes are there. */
const server = NodeWebhook.layerServe(routes, NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 3000 }))

// In your API: `PayoutQueue.layerClient`, on PostgreSQL, and a worker in a process of its own.
const queue = PayoutQueue.layer().pipe(
  Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" })), // PgClient.layer of @effect/sql-pg
  Layer.provideMerge(Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 500_000 })))
)

// A trial: every answer that the API has, and two answers of the gateway that are lost.
const trial = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const services = yield* Effect.context<PayoutQueue>()
  const { dispose, handler } = HttpRouter.toWebHandler(
    routes.pipe(HttpRouter.provideRequest(Layer.succeedContext(services)), Layer.provide(HttpServer.layerServices)),
    { disableLogger: true }
  )
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const call = (method: string, path: string, body?: object | string) =>
    Effect.promise(async () => {
      const text = typeof body === "object" ? JSON.stringify(body) : body
      const init = text === undefined ? { method } : { method, body: text }
      const answer = await handler(new Request(`http://localhost${path}`, init))
      const answered = await answer.text()
      return { status: answer.status, state: answered === "" ? undefined : JSON.parse(answered).state }
    })

  yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: 2 })
  const payee = { pixKey: "maria@example.com", pixKeyType: "EMAIL" }
  const invoice = { reference: "invoice/42", amount: 2500, payee }
  const first = yield* call("POST", "/payouts", invoice) // its caller never sees the answer
  const again = yield* call("POST", "/payouts", invoice)
  const other = yield* call("POST", "/payouts", { ...invoice, amount: 9900 })
  const small = yield* call("POST", "/payouts", { ...invoice, reference: "invoice/43", amount: 900 })
  const wrong = yield* call("POST", "/payouts", { ...invoice, payee: { ...payee, pixKey: "maria(at)example.com" } })
  const broken = yield* call("POST", "/payouts", '{"reference":')
  const none = yield* call("GET", "/payouts/invoice%2F44")
  const end = yield* Effect.repeat(call("GET", "/payouts/invoice%2F42"), {
    while: ({ state }) => state === "accepted" || state === "unknown",
    schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))
  })
  const statuses = [first, again, other, small, wrong, broken, none, end].map(({ status }) => status)
  return { statuses, paid: (yield* sandbox.withdrawals).length }
})

const { paid, statuses } = await Effect.runPromise(Effect.scoped(Effect.provide(trial, queue)))
export const answered = statuses // => [202, 202, 409, 422, 422, 400, 404, 200]
export const payouts = paid // => 1

if (import.meta.main) NodeRuntime.runMain(Layer.launch(Layer.provide(server, queue)))
