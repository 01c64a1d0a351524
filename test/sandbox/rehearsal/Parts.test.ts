/** What the library has above the client, and the checkout of the docs, under faults and deaths: in a schedule of each here, in all in `npm run full`. */
import { describe, test } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { type Payments, Rehearsed, TransactionWait } from "effect-pix"
import { PayoutQueue, Payouts } from "effect-pix/payouts"
import type { RehearsalWorld } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { checkout, Orders } from "../../../docs/examples/checkout.ts"
import { budget, isWhole, requireClean } from "../../support/rehearsals.ts"
import { runs } from "../../support/seed.ts"
import { charge, database, declare, invoice, owed, type Play, playing, request, sqlite } from "./programs.ts"

const items = ["invoice-1", "invoice-2"].map((reference) => ({ ...request, reference }))
const sheet = Effect.gen(function* () {
  for (const item of items) yield* Rehearsed.owes(item)
  const { done, open, parked, refused } = yield* Payouts.run(items, { allowAlike: true })
  for (const { reference } of done) yield* declare("paid", reference)
  for (const { reference } of refused) yield* declare("failed", reference)
  for (const { reference } of [...open, ...parked]) yield* declare("parked", reference)
  if (done.length < items.length) return yield* Effect.fail("open" as const)
}).pipe(Effect.provide(PayoutQueue.layer()))

/** Presses the button of the docs' checkout until it answers. */
const press = Effect.gen(function* () {
  const services = yield* Effect.context<Payments | Orders>()
  const orders = yield* Orders
  const app = yield* HttpRouter.toHttpEffect(
    checkout.pipe(HttpRouter.provideRequest(Layer.succeedContext(services)), Layer.provide(HttpServer.layerServices))
  )
  const once = Effect.suspend(() => {
    const sent = HttpServerRequest.fromWeb(new Request("http://localhost/orders/42", { method: "POST" }))
    return Effect.map(Effect.provideService(app, HttpServerRequest.HttpServerRequest, sent), ({ status }) => status)
  })
  yield* Effect.repeat(once, { until: (status) => status === 303, schedule: Schedule.spaced("1 minute") })
  const transactionId = orders.get("42")?.charge?.transactionId ?? ""
  const { enStatusTransaction } = yield* TransactionWait.final(transactionId, { deadline: "2 days" })
  yield* Rehearsed.fact(enStatusTransaction === "Paid" ? "shipped" : "told", { transactionId, amount: 2500 })
}).pipe(Effect.scoped)
const isOneCharge = ({ transactions }: RehearsalWorld) =>
  transactions.length === 1 ? Effect.void : Effect.fail(`There are ${transactions.length} charges of one order.`)

/** How long the queue may repeat a payout in doubt, in hours: an outage lasts longer. */
const horizon = runs(1, 12)
/** Submits an invoice, waits for it, and writes down what became of it. A payout that is parked makes it fail. */
const queue = Effect.gen(function* () {
  const { await: ended, submit } = yield* PayoutQueue
  yield* owed
  yield* submit({ ...request, reference: invoice })
  const { state } = yield* ended(invoice)
  if (state !== "posted" && state !== "refused") return yield* Effect.fail(state)
  yield* declare(state === "posted" ? "paid" : "failed")
}).pipe(Effect.provide(PayoutQueue.layer({ concurrency: 2, poll: "30 seconds", horizon: `${horizon} hours` })))
/** Nothing is sent under a key that was in doubt for longer than the queue's horizon. */
const isWithinHorizon = ({ calls }: RehearsalWorld) => {
  const doubt = calls.find(({ outcome, result }) => outcome === "Unknown" || result === undefined)
  const last = calls.findLast(({ requests }) => requests > 0)
  const hours = ((last?.startedAt ?? 0) - (doubt?.startedAt ?? 0)) / 3_600_000
  return doubt !== undefined && hours > horizon + 0.5
    ? Effect.fail(`A request left ${hours} hours after a doubt.`)
    : Effect.void
}

/** Charges, and asks once for itself, since a webhook may never come. The rest is done by its handler. */
const sqlShop = Effect.gen(function* () {
  const webhook = yield* Webhook
  yield* Effect.delay(webhook.check(yield* charge), "1 hour")
  return yield* Effect.never
}).pipe(
  Effect.provide(
    Webhook.layerSql({
      poll: "1 minute",
      onPaid: Effect.fnUntraced(function* ({ transaction: { transactionId } }) {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO outbox VALUES (${transactionId})`
        // Outside of the database: the carrier knows the key, and ships once for it.
        yield* Rehearsed.fact("shipped", { transactionId, key: transactionId })
      })
    })
  )
)
const isOnce = () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { length } = yield* Effect.orDie(sql`SELECT * FROM outbox`)
    if (length > 1) return yield* Effect.fail(`The event was handed out ${length} times.`)
  })

const rulesOfShop = { payAfter: "1 minute", stopAfter: `${runs(4, 24)} hours`, rules: { isOnce } } as const

/** A true sentence, the schedule that is played in `npm test`, and how. */
const parts: ReadonlyArray<readonly [title: string, schedule: string, play: Play]> = [
  [
    "a sheet of payouts pays each line once, and knows what it paid",
    "call 1 requestWithdrawal: death after it was executed",
    playing(sheet, { stores: sqlite })
  ],
  [
    "the checkout of the docs makes one charge, however often its button is pressed",
    "call 1 createTransaction: executed, answer lost, each request",
    playing(press, { stores: Orders.layer, payAfter: "1 minute", rules: { isOneCharge }, within: "4 days" })
  ],
  [
    "PayoutQueue in two processes pays a reference once, while one stands still",
    "call 1 requestWithdrawal: its process stands still before it is sent",
    playing(queue, { stores: sqlite, rules: { isWithinHorizon }, processes: 2 })
  ],
  [
    "Webhook.layerSql in two processes hands a paid charge out once, while one stands still",
    "call 3 getTransaction: its process stands still before it is sent",
    playing(sqlShop, { stores: database, processes: 2, ...rulesOfShop })
  ]
]

describe("under a fault", () => {
  test.each(parts)("%s", async (_, schedule, play) => {
    requireClean(await Effect.runPromise(play(isWhole ? budget : { only: schedule })), isWhole ? 30 : 1)
  })
})
