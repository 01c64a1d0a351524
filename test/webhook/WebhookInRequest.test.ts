/**
 * Work inside the request, as on platforms where nothing runs beside a request.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Logger, Random, Schedule, type Scope } from "effect"
import { Money, type Payments, TransactionHints } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookEvent, type WebhookOptions } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { folder } from "../support/operated.ts"
import { isTransaction, nobody } from "../support/webhooks.ts"

const world = Layer.mergeAll(Sandbox.layerPayments, TransactionHints.layer, Logger.layer([]))

const test = (name: string, effect: Effect.Effect<void, unknown, Scope.Scope | Layer.Success<typeof world>>) =>
  it.live(name, () => effect.pipe(Effect.scoped, Effect.provide(Layer.fresh(world))))

/** A handler that works inside the request, and the promises that `waitUntil` received. */
const inside = Effect.fnUntraced(function* (options: WebhookOptions & { readonly waits?: boolean } = {}) {
  const services = yield* Effect.context<Payments>()
  const events: Array<string> = []
  const reports: Array<WebhookEvent.Unconfirmed> = []
  const waiting: Array<Promise<unknown>> = []
  const { waits, ...rest } = options
  const layer = Webhook.layer({
    ...rest,
    onStatus: (event) =>
      Effect.andThen(
        Effect.sync(() => events.push(event.id)),
        rest.onStatus?.(event) ?? Effect.void
      ),
    onUnconfirmed: (report) => Effect.sync(() => reports.push(report))
  }).pipe(Layer.provide(Layer.succeedContext(services)))
  const webhook = Webhook.toWebHandler(
    layer,
    waits === true ? { waitUntil: (work) => void waiting.push(work) } : { inRequest: true }
  )
  const send = (body: unknown, signal?: AbortSignal) =>
    webhook
      .handler(
        new Request("https://shop.example/webhooks/pix", {
          method: "POST",
          body: JSON.stringify(body),
          ...(signal === undefined ? {} : { signal })
        })
      )
      .then(({ status }) => status)
  return { ...webhook, send, post: (body: unknown) => Effect.promise(() => send(body)), events, reports, waiting }
})

describe("a handler that works inside the request", () => {
  test(
    "50 deliveries at once are each handed out before they are answered with 200",
    Effect.gen(function* () {
      const { events, send } = yield* inside()
      const ids = yield* Effect.replicateEffect(paidCharge, 50)
      const answered = yield* Effect.promise(() =>
        Promise.all(
          ids.map(async (id) => {
            const status = await send({ transactionId: id, status: "Paid" })
            return [status, events.includes(`${id}:Paid`)] as const
          })
        )
      )
      assert.deepStrictEqual(
        answered,
        ids.map(() => [200, true])
      )
      assert.strictEqual(events.length, 50)
    })
  )

  test(
    "a repeated delivery is looked up again, and is not handed out again",
    Effect.gen(function* () {
      const { dispose, events, idle, post } = yield* inside()
      const id = yield* paidCharge
      assert.deepStrictEqual([yield* post({ transactionId: id }), yield* post({ transactionId: id })], [200, 200])
      assert.strictEqual(yield* lookups, 2)
      yield* (yield* Sandbox).refund(id)
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      assert.deepStrictEqual(events, [`${id}:Paid`, `${id}:Refunded`])
      // Nothing runs after the answer, and nothing is locked.
      yield* Effect.promise(idle)
      yield* Effect.promise(dispose)
    })
  )

  test(
    "a delivery that is early, whose handler fails, or whose lookup has no answer is answered with 503, and a later delivery finishes it",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      let broken = true
      const { events, post } = yield* inside({ onPaid: () => (broken ? Effect.fail("away") : Effect.void) })
      const { id } = yield* charge
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 503)
      yield* sandbox.markPaid(id)
      yield* sandbox.fault("getTransaction", Fault.refusal(401, "não"), { times: 1 })
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 503)
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 503)
      broken = false
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 200)
      assert.deepStrictEqual(events, [`${id}:Paid`])
    })
  )

  test(
    "a delivery whose report is final is answered with 200",
    Effect.gen(function* () {
      const { post, reports } = yield* inside({ expectedAmount: () => Effect.succeed(Money.centavos(1)) })
      const id = yield* paidCharge
      for (const body of [{ hello: "world" }, { withdrawalId: 7 }, { transactionId: id, status: "Paid" }]) {
        assert.strictEqual(yield* post(body), 200)
      }
      assert.deepStrictEqual(
        reports.map((report) => ("reason" in report ? report.reason : report._tag)),
        ["Unrecognised", "UnconfirmedWithdrawal", "OtherAmount"]
      )
    })
  )

  test(
    "false deliveries about a transaction do not prevent that a true one is handed out and answered with 200",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, post, reports } = yield* inside({ confirm: Schedule.recurs(1) })
      const { id } = yield* charge
      for (let n = 0; n < 5; n++) assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 503)
      assert.isAtLeast(reports.length, 1)
      yield* sandbox.markPaid(id)
      assert.strictEqual(yield* post({ transactionId: id, status: "Refunded" }), 503)
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 200)
      assert.deepStrictEqual(events, [`${id}:Paid`])
    })
  )

  test(
    "a delivery that is finished is answered with 200, though an earlier one about the transaction still waits",
    Effect.gen(function* () {
      const { events, post } = yield* inside()
      const id = yield* paidCharge
      assert.strictEqual(yield* post({ transactionId: id, status: "Refunded" }), 503)
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 200)
      yield* (yield* Sandbox).refund(id)
      assert.strictEqual(yield* post({ transactionId: id, status: "Refunded" }), 200)
      assert.deepStrictEqual(events, [`${id}:Paid`, `${id}:Refunded`])
    })
  )

  test(
    "in memory the latest 500 transactions that are not finished are remembered, and the oldest is forgotten",
    Effect.gen(function* () {
      const { post, reports } = yield* inside({ confirm: Schedule.recurs(1) })
      const early = (n: number) =>
        Effect.map(post({ transactionId: nobody(n) }), (status) => assert.strictEqual(status, 503))
      for (let n = 0; n <= 500; n++) yield* early(n)
      // The second lookup of a remembered transaction is its last one.
      for (const n of [500, 0, 2]) yield* early(n)
      assert.deepStrictEqual(
        reports.map((report) => isTransaction(report) && report.transactionId),
        [nobody(500), nobody(2)]
      )
    })
  )

  test(
    "with waitUntil an early delivery is answered with 503, and is looked up until it is confirmed",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, post, waiting } = yield* inside({ waits: true, confirm: Schedule.spaced("20 millis") })
      const { id } = yield* charge
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 503)
      assert.strictEqual(waiting.length, 1)
      yield* sandbox.markPaid(id)
      yield* Effect.promise(() => Promise.all(waiting))
      assert.deepStrictEqual(events, [`${id}:Paid`])
    })
  )

  const caller = new AbortController()
  test(
    "a delivery whose caller closes the connection leaves nothing locked",
    Effect.gen(function* () {
      let hangs = true
      const { events, post, send } = yield* inside({
        handlerTimeout: "1 hour",
        onStatus: () =>
          hangs
            ? Effect.andThen(
                Effect.sync(() => caller.abort()),
                Effect.never
              )
            : Effect.void
      })
      const id = yield* paidCharge
      const other = yield* paidCharge
      const gone = send({ transactionId: id }, caller.signal)
      assert.strictEqual(yield* Effect.promise(() => gone), 499)
      hangs = false
      assert.strictEqual(yield* post({ transactionId: other }), 200)
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      assert.deepStrictEqual(events, [`${id}:Paid`, `${other}:Paid`, `${id}:Paid`])
    })
  )

  test(
    "a delivery about a transaction whose handler still runs for another request is answered with 503 at once",
    Effect.gen(function* () {
      const began = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const { events, post, send } = yield* inside({
        onStatus: () => Effect.andThen(Deferred.succeed(began, undefined), Deferred.await(mayEnd))
      })
      const id = yield* paidCharge
      const first = send({ transactionId: id, status: "Paid" })
      yield* Deferred.await(began)
      assert.strictEqual(yield* post({ transactionId: id }), 503)
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Effect.promise(() => first)
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      assert.deepStrictEqual(events, [`${id}:Paid`])
    })
  )

  test(
    "on a database of the request the note is in the database",
    Effect.gen(function* () {
      const services = yield* Effect.context<Payments>()
      const database = yield* Layer.build(NodeSqlite.layer({ filename: ":memory:" }))
      const events: Array<string> = []
      const post = (body: unknown) =>
        Effect.promise(() =>
          // The client is made for this request, as with bindings of a worker.
          Webhook.toWebHandler(
            Webhook.layerSql({ onPaid: ({ id }) => Effect.sync(() => events.push(id)) }).pipe(
              Layer.provide(Layer.succeedContext(services)),
              Layer.provide(Layer.succeedContext(database))
            ),
            { inRequest: true }
          ).handler(new Request("https://shop.example", { method: "POST", body: JSON.stringify(body) }))
        )
      const id = yield* paidCharge
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* post({ transactionId: id })).status, 200)
      assert.deepStrictEqual(events, [`${id}:Paid`])
    })
  )

  test(
    "simultaneous deliveries that each open the same SQLite file are each handed out, and the file is closed at the end",
    Effect.gen(function* () {
      const services = yield* Effect.context<Payments>()
      const filename = join(yield* folder, "shop.db")
      const events: Array<string> = []
      const layer = Webhook.layerSql({ onPaid: ({ id }) => Effect.sync(() => events.push(id)) }).pipe(
        Layer.provide(NodeSqlite.layer({ filename })),
        Layer.provide(Layer.succeedContext(services))
      )
      const { handler } = Webhook.toWebHandler(layer, { inRequest: true })
      const ids = yield* Effect.replicateEffect(paidCharge, 8)
      const statuses = yield* Effect.promise(() =>
        Promise.all(
          ids.map(async (transactionId) => {
            const body = JSON.stringify({ transactionId, status: "Paid" })
            return (await handler(new Request("https://shop.example", { method: "POST", body }))).status
          })
        )
      )
      assert.deepStrictEqual(
        statuses,
        Array.from(ids, () => 200)
      )
      assert.sameMembers(
        events,
        ids.map((id) => `${id}:Paid`)
      )
      // While the file is open, SQLite has two more files.
      assert.deepStrictEqual(readdirSync(dirname(filename)), ["shop.db", "shop.db-lock"])
    })
  )

  test(
    "on a database a row without a delivery for a week is deleted, and no other row is",
    Effect.gen(function* () {
      const services = yield* Effect.context<Payments>()
      const database = yield* Layer.build(NodeSqlite.layer({ filename: ":memory:" }))
      const { handler } = Webhook.toWebHandler(
        Webhook.layerSql({}).pipe(
          Layer.provide(Layer.succeedContext(services)),
          Layer.provide(Layer.succeedContext(database)),
          // Each request deletes old rows, and not only one of a thousand.
          Layer.provideMerge(Layer.succeed(Random.Random, { nextDoubleUnsafe: () => 0, nextIntUnsafe: () => 0 }))
        ),
        { inRequest: true }
      )
      const post = (transactionId: string) =>
        Effect.promise(() =>
          handler(new Request("https://shop.example", { method: "POST", body: JSON.stringify({ transactionId }) }))
        )
      const sql = Context.get(database, SqlClient.SqlClient)
      for (const n of [1, 2]) assert.strictEqual((yield* post(nobody(n))).status, 503)
      const days = (count: number) => count * 86_400_000
      yield* sql`UPDATE effect_pix_webhooks SET updated_at = updated_at - ${days(8)} WHERE name = ${`delivery:${nobody(1)}`}`
      yield* sql`UPDATE effect_pix_webhooks SET updated_at = updated_at - ${days(6)} WHERE name = ${`delivery:${nobody(2)}`}`
      yield* post(nobody(3))
      const left = yield* sql<{
        readonly name: string
      }>`SELECT name FROM effect_pix_webhooks WHERE state = 'Open' ORDER BY name`
      assert.deepStrictEqual(
        left.map(({ name }) => name),
        [`delivery:${nobody(2)}`, `delivery:${nobody(3)}`]
      )
    })
  )

  it("what its layer holds is given back before the delivery is answered", async () => {
    let held = 0
    const resource = Layer.effectDiscard(
      Effect.acquireRelease(
        Effect.sync(() => held++),
        () => Effect.sync(() => held--)
      )
    )
    const { handler } = Webhook.toWebHandler(
      Webhook.layer({ onUnconfirmed: () => Effect.sync(() => assert.strictEqual(held, 1)) }).pipe(
        Layer.provide(resource),
        Layer.provide(world)
      ),
      { inRequest: true }
    )
    for (let n = 0; n < 2; n++) {
      const { status } = await handler(new Request("https://shop.example", { method: "POST", body: "{}" }))
      assert.deepStrictEqual([status, held], [200, 0])
    }
  })
})

describe("a handler that works beside the deliveries", () => {
  it("its layer is built before any delivery comes", async () => {
    const built = Deferred.makeUnsafe<void>()
    const { dispose } = Webhook.toWebHandler(
      Webhook.layer({}).pipe(
        Layer.provide(Layer.effectDiscard(Deferred.succeed(built, undefined))),
        Layer.provide(world)
      )
    )
    await Effect.runPromise(Deferred.await(built))
    await dispose()
  })
})
