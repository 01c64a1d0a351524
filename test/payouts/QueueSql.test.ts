import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Schedule, type Scope, Stream } from "effect"
import { type Payments, PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutInsert, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { gateway, payout, payouts } from "../support/payoutQueue.ts"
import { database } from "../../src/durable/Database.ts"
import { makeStore } from "../../src/payouts/internal/queue/store.ts"
import { databases } from "../support/database.ts"
import { makeStatements } from "../support/statements.ts"
import { noPostgres } from "../support/postgres.ts"
import { live } from "../support/effect.ts"

const absent = noPostgres()

const fast: PayoutQueueOptions = { poll: "50 millis", lease: "2 seconds" }

const print = (rows: ReadonlyArray<unknown>) =>
  JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))

const paid = Effect.flatMap(Sandbox, (sandbox) => sandbox.withdrawals)

for (const { client, dialect, name, skip } of databases) {
  const layer = (options: PayoutQueueOptions = {}) =>
    PayoutQueue.layer({ ...fast, ...options }).pipe(
      Layer.provideMerge(Layer.mergeAll(client(), gateway, PaymentsPolicy.layer(PaymentsPolicy.once)))
    )
  const test = (
    title: string,
    effect: Effect.Effect<unknown, unknown, PayoutQueue | SqlClient.SqlClient | Sandbox | Payments | Scope.Scope>,
    options?: PayoutQueueOptions
  ) => it.live.skipIf(skip)(title, () => Effect.provide(Effect.scoped(effect), layer(options)))

  describe(`PayoutQueue on ${name}`, () => {
    test(
      "a payout is accepted with the caller's rows, or not at all",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        yield* sql`CREATE TABLE invoices (id VARCHAR(20))`
        const bill = (id: string) => Effect.andThen(sql`INSERT INTO invoices VALUES (${id})`, queue.submit(payout(id)))
        yield* Effect.flip(sql.withTransaction(Effect.andThen(bill("invoice-1"), Effect.fail("no"))))
        yield* sql.withTransaction(bill("invoice-2"))
        yield* queue.await("invoice-2")
        assert.isTrue(Option.isNone(yield* queue.status("invoice-1")))
        assert.strictEqual((yield* sql`SELECT * FROM invoices`).length, 1)
        assert.strictEqual((yield* paid).length, 1)
      })
    )

    it.live.skipIf(skip)(
      "a paid payout costs one statement to submit, and two writes with their entries to send",
      () => {
        const { layer: counting, texts } = makeStatements()
        /** The statements so far, but for takes and renewals, which are of many payouts. */
        const counted = () => {
          const own = texts.splice(0).filter((text) => !text.startsWith('UPDATE "effect_pix_payouts" SET due_at'))
          const isRead = (text: string) => text.startsWith("SELECT")
          return { reads: own.filter(isRead).length, writes: own.filter((text) => !isRead(text)).length }
        }
        const worker = PayoutQueue.layerWorker(fast).pipe(Layer.provide([counting, gateway]))
        const all = payouts(100)
        return Effect.gen(function* () {
          const queue = yield* PayoutQueue
          yield* Effect.provide(Effect.forEach(all, queue.submit), counting)
          // It looks once whether a worker ever served the account.
          assert.deepStrictEqual(counted(), { reads: 1, writes: 100 })
          yield* Layer.build(worker)
          yield* Effect.forEach(all, ({ reference }) => queue.await(reference))
          const { reads, writes } = counted()
          const perPayout = dialect === "pg" ? 2 : 4
          // A worker that begins writes its account.
          assert.strictEqual(Math.floor(writes / 100), perPayout)
          assert.isBelow(reads, 50)
        }).pipe(
          Effect.scoped,
          Effect.provide(Layer.provideMerge(PayoutQueue.layerClient({ poll: "50 millis" }), client()))
        )
      }
    )

    // SQLite has one connection, so every other statement waits for the commit.
    if (dialect === "pg")
      test(
        "await ends when a change is committed, and not before",
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const queue = yield* PayoutQueue
          yield* queue.setPaused(true)
          yield* queue.submit(payout("invoice-1"))
          const parked = yield* Deferred.make<void>()
          const waiting = yield* Effect.forkChild(queue.await("invoice-1"))
          const looks = yield* Effect.forkChild(
            Effect.andThen(Deferred.await(parked), Effect.replicateEffect(queue.status("invoice-1"), 20))
          )
          yield* sql.withTransaction(
            queue
              .park("invoice-1")
              .pipe(Effect.andThen(Deferred.succeed(parked, undefined)), Effect.andThen(Fiber.join(looks)))
          )
          assert.strictEqual((yield* Fiber.join(waiting)).state, "parked")
        }),
        { poll: "1 hour" }
      )

    test(
      "a submit in a transaction of another client writes nothing",
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const other = yield* Effect.provide(
          SqlClient.SqlClient,
          yield* Layer.build(Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })))
        )
        const error = yield* Effect.flip(other.withTransaction(queue.submit(payout("invoice-1"))))
        assert.strictEqual(error._tag, "ForeignTransaction")
        assert.isTrue(Option.isNone(yield* queue.status("invoice-1")))
      })
    )

    test(
      "the same reference submitted at the same time is one payout, and another content is a conflict",
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const all = yield* Effect.all(
          Array.from({ length: 10 }, () => queue.submit(payout("invoice-1"))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(all.map(({ idempotencyKey }) => idempotencyKey)).size, 1)
        assert.strictEqual((yield* Effect.flip(queue.submit(payout("invoice-1", 2000))))._tag, "ReferenceConflict")
        yield* queue.await("invoice-1")
        assert.strictEqual((yield* paid).length, 1)
      })
    )

    test(
      "a row that another program inserted with the published statement is paid, and inserted twice it is paid once",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        const { parameters, text } = yield* Effect.fromResult(PayoutInsert.make(payout("invoice-1"), { dialect }))
        yield* sql.unsafe(text, parameters)
        yield* sql.unsafe(text, parameters)
        assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
        assert.strictEqual((yield* queue.submit(payout("invoice-1"))).state, "posted")
        assert.strictEqual((yield* paid).length, 1)
      })
    )

    test(
      "every state is stored and read again, and no stored error has a person's data",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        const sandbox = yield* Sandbox
        yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave maria@example.com bloqueada."))
        yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
        yield* sandbox.fault("requestWithdrawal", Fault.refusal(401, "Não."))
        for (const { reference } of payouts(3)) {
          yield* queue.submit(payout(reference))
          yield* Effect.repeat(queue.status(reference), {
            until: (status) => Option.isSome(status) && "error" in status.value && status.value.error !== undefined
          })
        }
        yield* queue.park("invoice-3")
        yield* queue.submit(payout("invoice-4"))
        yield* queue.await("invoice-4")
        yield* queue.settle("invoice-4", { as: "failed" })
        const listed = yield* Stream.runCollect(queue.list())
        const [first, , third, fourth] = payouts(4).map(
          ({ reference }) => listed.find((status) => status.reference === reference)?.state
        )
        assert.deepStrictEqual([first, third, fourth], ["refused", "parked", "failed"])
        const rows = yield* sql`SELECT error, state FROM effect_pix_payouts`
        assert.notInclude(print(rows), "maria")
      })
    )

    test(
      "the table refuses a row that could not be listed or queued, since it would block the others",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const insert = (key: string, amount: string) =>
          sql.unsafe(
            `INSERT INTO effect_pix_payouts (idempotency_key, reference, amount, request_check) VALUES ('${key}', 'x', ${amount}, '')`
          )
        for (const amount of ["0", "-1", "9007199254740992"]) {
          assert.strictEqual((yield* Effect.flip(insert("k", amount)))._tag, "SqlError")
        }
        assert.strictEqual((yield* Effect.flip(insert("k".repeat(65), "1000")))._tag, "SqlError")
      })
    )

    test(
      "a sealed request is stored nowhere in plain text, and is opened for a send and for a comparison",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        yield* queue.submit(payout("invoice-1"))
        yield* queue.await("invoice-1")
        yield* queue.submit(payout("invoice-1"))
        assert.notInclude(print(yield* sql`SELECT * FROM effect_pix_payouts`), "maria")
        const [withdrawal] = yield* paid
        assert.strictEqual(withdrawal?.amount, 1000)
      }),
      {
        seal: {
          seal: (request, reference) => Effect.succeed(Buffer.from(`${reference}:${request}`).toString("base64")),
          open: (sealed, reference) => {
            const text = Buffer.from(sealed, "base64").toString()
            return text.startsWith(`${reference}:`)
              ? Effect.succeed(text.slice(reference.length + 1))
              : Effect.die("not sealed for it")
          }
        }
      }
    )

    test(
      "the request is forgotten after its time, and the reference is remembered longer",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        yield* queue.submit(payout("invoice-1"))
        yield* queue.await("invoice-1")
        yield* sql`UPDATE effect_pix_payouts SET updated_at = updated_at - 60000`
        // A worker forgets when it starts, and every hour.
        yield* Layer.build(PayoutQueue.layerWorker({ ...fast, forget: { data: "1 second" } }))
        yield* Effect.repeat(sql`SELECT * FROM effect_pix_payouts WHERE request IS NULL`, {
          until: (rows) => rows.length === 1,
          schedule: Schedule.spaced("20 millis")
        })
        assert.strictEqual((yield* queue.submit(payout("invoice-1"))).state, "posted")
        assert.strictEqual((yield* Effect.flip(queue.submit(payout("invoice-1", 3000))))._tag, "ReferenceConflict")
      })
    )

    test(
      "nothing is counted of a payout that changed meanwhile or may not be sent, or where the cap is reached",
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        yield* queue.setPaused(true)
        const { idempotencyKey } = yield* queue.submit(payout("invoice-1", 2000))
        const store = makeStore(yield* database, { account: "default", lease: 30_000 })
        const row = yield* Effect.flatMap(store.get(idempotencyKey), Effect.fromNullishOr)
        const spent = Effect.map(sql`SELECT spent AS "spent" FROM effect_pix_payout_days`, (rows) =>
          rows.map((found) => Number(found["spent"]))
        )
        const change = (cap: number, only?: Fragment) =>
          store.update(row, { ...row, sends: 1, version: row.version + 1 }, "{}", { cap, only })
        assert.isUndefined(
          yield* change(2000, yield* store.maySend(idempotencyKey, undefined, (yield* store.accounts.get).session))
        )
        assert.strictEqual(yield* change(1999), row)
        assert.deepStrictEqual(yield* spent, [])
        const counted = yield* change(3000)
        assert.deepStrictEqual(yield* store.get(idempotencyKey), counted)
        assert.match(String(counted?.countedDay), /^\d{4}-\d\d-\d\d$/)
        assert.isUndefined(yield* change(9000))
        assert.deepStrictEqual(yield* spent, [2000])
        assert.lengthOf(yield* store.history(idempotencyKey), 1)
        if (counted === undefined) return
        const free = (from: typeof row) =>
          store.update(from, { ...from, countedDay: null, version: from.version + 1 }, "{}", {})
        assert.isUndefined(yield* free({ ...counted, version: 1 }))
        assert.deepStrictEqual(yield* spent, [2000])
        assert.isDefined(yield* free(counted))
        assert.deepStrictEqual(yield* spent, [0])
      })
    )

    test(
      "two workers with a cap together send no more than the cap",
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* Layer.build(PayoutQueue.layerWorker({ ...fast, dailyCap: 20_000 }))
        yield* queue.submitMany(payouts(40))
        const sql = yield* SqlClient.SqlClient
        // Each is either paid by now, or waits for another day.
        const finished = sql`SELECT 1 FROM effect_pix_payouts WHERE state = 'posted' OR waits_for = 'DailyCap'`
        yield* Effect.repeat(finished, { until: (rows) => rows.length === 40, schedule: Schedule.spaced("50 millis") })
        assert.strictEqual((yield* paid).length, 20)
      }),
      { dailyCap: 20_000 }
    )
  })
}

describe("a worker that is suspended while it counts against the cap of a day", () => {
  /** The client, and how many transactions were begun with it. */
  const observed = (sql: SqlClient.SqlClient) => {
    const begun = { count: 0 }
    const client: SqlClient.SqlClient = new Proxy(sql, {
      get: (target, property) => {
        if (property === "withoutTransforms") return () => client
        if (property === "withTransaction") begun.count += 1
        return Reflect.get(target, property) as unknown
      }
    })
    return { client, begun }
  }

  // What PostgreSQL locks for a statement that is a transaction by itself does not wait for the process.
  live.skipIf(absent !== undefined)(
    "holds no lock: a payout costs two statements and no transaction",
    PayoutQueue.layerClient({ poll: "50 millis" }).pipe(
      Layer.provideMerge(Layer.mergeAll(gateway, databases[1].client()))
    ),
    function* () {
      const { layer: counting, texts } = makeStatements()
      const queue = yield* PayoutQueue
      const { begun, client } = observed(yield* SqlClient.SqlClient)
      yield* Layer.build(
        PayoutQueue.layerWorker({ ...fast, dailyCap: 120_000 }).pipe(
          Layer.provide([counting, Layer.succeed(SqlClient.SqlClient, client)])
        )
      )
      begun.count = 0
      texts.length = 0
      const sandbox = yield* Sandbox
      // It counts no more: that is of the statement that stores its answer.
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave PIX bloqueada"))
      const all = payouts(100)
      yield* Effect.forEach(all, queue.submit)
      const ended = yield* Effect.forEach(all, ({ reference }) => queue.await(reference))
      assert.lengthOf(
        ended.filter(({ state }) => state === "refused"),
        1
      )
      const writes = texts.filter((text) => /^(INSERT|WITH)/.test(text))
      assert.strictEqual(writes.length, 200)
      assert.strictEqual(begun.count, 0)
    }
  )
})
