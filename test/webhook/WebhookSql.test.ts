import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Latch, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { databases } from "../support/database.ts"
import { starting, testOn } from "../support/databaseWebhooks.ts"
import { runs } from "../support/seed.ts"

/** A table of shipped goods, in which one charge can be shipped twice. */
const shop = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
  const shipped = Effect.map(sql<{ readonly charge: string }>`SELECT charge FROM shipped ORDER BY charge`, (rows) =>
    rows.map((row) => row.charge)
  )
  return { sql, shipped, ship: (id: string) => sql`INSERT INTO shipped VALUES (${id})` }
})

/** Fails with `problem` after 30 seconds, in place of waiting for ever. */
const soon = <A, E, R>(problem: string, effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(effect, { duration: "30 seconds", orElse: () => Effect.die(new Error(problem)) })

/** How often each delivery about a transaction whose handler never ends is repeated. */
const repeated = runs(25, 250)

const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = [yield* sql`SELECT * FROM effect_pix_webhooks`, yield* sql`SELECT * FROM effect_pix_queue`]
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
})

for (const database of databases) {
  const test = testOn(database)

  describe(`Webhook.layerSql on ${database.name}`, () => {
    test(
      "what a handler writes commits once, with the note that the event was handed out",
      Effect.gen(function* () {
        const { ship, shipped } = yield* shop
        let failures = 2
        const { idle, post } = yield* starting({
          // It writes first and then fails: the write must be rolled back.
          onPaid: ({ transaction }) =>
            Effect.andThen(
              ship(transaction.transactionId),
              Effect.suspend(() => (failures-- > 0 ? Effect.fail("later") : Effect.void))
            ),
          retry: Schedule.recurs(5)
        })
        const id = yield* paidCharge
        for (let n = 0; n < 5; n++) yield* post({ transactionId: id, status: "Paid", n })
        yield* idle
        yield* post({ transactionId: id, status: "Paid" })
        yield* idle
        assert.deepStrictEqual(yield* shipped, [id])
      })
    )

    test(
      "a process that ends in the middle of a handler leaves no writes, and the next process hands the event out once",
      Effect.gen(function* () {
        const { ship, shipped } = yield* shop
        const id = yield* paidCharge
        const wrote = yield* Deferred.make<void>()
        const first = yield* starting({
          onPaid: () => Effect.andThen(ship(id), Effect.andThen(Deferred.succeed(wrote, undefined), Effect.never))
        })
        yield* first.post({ transactionId: id })
        yield* Deferred.await(wrote)
        yield* first.crash
        assert.deepStrictEqual(yield* shipped, [])
        const second = yield* starting({ onPaid: () => ship(id) })
        yield* second.idle
        assert.deepStrictEqual(yield* shipped, [id])
      })
    )

    test(
      "webhooks of different names on one database do not share rows",
      Effect.gen(function* () {
        const one = yield* starting({}, { name: "one" })
        const two = yield* starting({}, { name: "two" })
        const id = yield* paidCharge
        yield* one.post({ transactionId: id })
        yield* one.idle
        assert.deepStrictEqual([one.statuses(), two.statuses()], [["Paid"], []])
        yield* two.post({ transactionId: id })
        yield* two.idle
        assert.deepStrictEqual([one.statuses(), two.statuses()], [["Paid"], ["Paid"]])
      })
    )

    test(
      "a failing handler blocks no other transaction, and its dead letter survives the process",
      Effect.gen(function* () {
        const { ship, shipped } = yield* shop
        const bad = yield* paidCharge
        const good = yield* paidCharge
        const first = yield* starting({
          retry: Schedule.recurs(1),
          onPaid: ({ transaction: { transactionId } }) =>
            Effect.andThen(ship(transactionId), transactionId === bad ? Effect.fail("a bad row") : Effect.void)
        })
        for (let n = 0; n < 50; n++) yield* first.post({ transactionId: bad, n })
        yield* first.post({ transactionId: good })
        yield* first.idle
        assert.deepStrictEqual(yield* shipped, [good])
        yield* first.crash
        const second = yield* starting({ onPaid: ({ transaction }) => ship(transaction.transactionId) })
        const letters = yield* second.deadLetters
        assert.deepStrictEqual(
          letters.map(({ handler, transactionId }) => [handler, transactionId]),
          [["onPaid", bad]]
        )
        for (const { id } of letters) assert.isTrue(yield* second.retry(id))
        // It is no longer a dead letter.
        for (const { id } of letters) {
          assert.deepStrictEqual([yield* second.retry(id), yield* second.discard(id)], [false, false])
        }
        yield* second.idle
        assert.deepStrictEqual(yield* shipped, [bad, good].toSorted())
        assert.deepStrictEqual(yield* second.deadLetters, [])
      })
    )

    test(
      "a statement that fails and whose failure the handler ignores counts as a failure of the handler if the database cannot commit",
      Effect.gen(function* () {
        const { ship, shipped, sql } = yield* shop
        yield* sql`CREATE UNIQUE INDEX once ON shipped (charge)`
        const id = yield* paidCharge
        yield* ship("taken")
        const { deadLetters, idle, post } = yield* starting({
          retry: Schedule.recurs(0),
          onPaid: () => Effect.andThen(Effect.ignore(ship("taken")), Effect.ignore(ship(id)))
        })
        yield* post({ transactionId: id })
        yield* idle
        const isLost = (yield* shipped).length === 1
        assert.strictEqual(isLost, database.name !== "SQLite")
        assert.strictEqual((yield* deadLetters).length, isLost ? 1 : 0)
      })
    )

    test(
      `handlers that never end, and ${4 * repeated} deliveries about their transactions, do not delay a good delivery`,
      Effect.gen(function* () {
        const hanging = new Set(yield* Effect.replicateEffect(paidCharge, 4))
        const good = yield* paidCharge
        const { post, statuses } = yield* starting({
          handlerTimeout: "500 millis",
          onPaid: ({ transaction }) => (hanging.has(transaction.transactionId) ? Effect.never : Effect.void)
        })
        const calls = Array.from({ length: repeated }, (_, n) =>
          Array.from(hanging, (transactionId) => post({ transactionId, n }))
        )
        const answers = yield* Effect.all(calls.flat(), { concurrency: 20 })
        assert.isTrue(answers.every((status) => status === 200))
        assert.strictEqual(yield* post({ transactionId: good }), 200)
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => statuses().length > 0 })
        assert.deepStrictEqual(statuses(), ["Paid"])
      })
    )

    test(
      "a stored delivery has its hint and no text of its body; with a schema of the user's it has the sealed body",
      Effect.gen(function* () {
        const body = (id: string) => ({
          transactionId: id,
          status: "Paid",
          customer: { name: "Maria", cpf: "52998224725" }
        })
        const { post } = yield* starting({
          onPaid: () => Effect.fail("Maria, 52998224725"),
          retry: Schedule.recurs(0)
        })
        const id = yield* paidCharge
        // A delivery that waits, one with more fields than needed, and a dead letter.
        yield* post(body((yield* charge).id))
        const { id: open } = yield* charge
        yield* post({ transactionId: open, status: "52998224725", idempotencyKey: "tx_Maria" })
        yield* post(body(id))
        yield* Effect.repeat(Effect.andThen(Effect.sleep("20 millis"), everything), {
          until: (rows) => rows.includes("Dead")
        })
        assert.notMatch(yield* everything, /Maria|52998224725/)

        const names: Array<string | undefined> = []
        const context = yield* Layer.build(
          Webhook.layerSql({
            name: "sealed",
            poll: "50 millis",
            payload: Schema.Struct({ transactionId: Schema.String, customer: Schema.Struct({ name: Schema.String }) }),
            seal: {
              seal: (text) => Effect.succeed(Buffer.from(text).toString("base64")),
              open: (text) => Effect.succeed(Buffer.from(text, "base64").toString())
            },
            onPaid: ({ untrusted }) => Effect.sync(() => names.push(untrusted.payload?.customer.name))
          })
        )
        const sealed = Context.get(context, Webhook)
        yield* sealed.answer(new Request("https://shop.example", { method: "POST", body: JSON.stringify(body(id)) }))
        assert.notMatch(yield* everything, /Maria|52998224725/)
        yield* sealed.idle
        assert.deepStrictEqual(names, ["Maria"])
      })
    )

    test(
      "a delivery that cannot be recorded is answered with 503",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { post } = yield* starting()
        assert.strictEqual(yield* post({ transactionId: yield* paidCharge }), 200)
        yield* sql`ALTER TABLE effect_pix_webhooks RENAME TO elsewhere`
        assert.strictEqual(yield* post({ transactionId: yield* paidCharge }), 503)
        yield* sql`ALTER TABLE elsewhere RENAME TO effect_pix_webhooks`
        // The row and the element of the queue are written together or not at all.
        const id = "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11"
        yield* sql`ALTER TABLE effect_pix_queue RENAME TO elsewhere`
        assert.strictEqual(yield* post({ transactionId: id }), 503)
        const names = yield* sql<{ readonly name: string }>`SELECT name FROM effect_pix_webhooks`
        assert.isFalse(names.some(({ name }) => name.includes(id)))
        yield* sql`ALTER TABLE elsewhere RENAME TO effect_pix_queue`
        assert.strictEqual(yield* post({ transactionId: yield* paidCharge }), 200)
      })
    )

    test(
      "a delivery whose element of the queue is lost is processed all the same",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* charge
        const first = yield* starting({ confirm: Schedule.spaced("1 hour") })
        yield* first.post({ transactionId: id, status: "Paid" })
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => lookups.pipe(Effect.map((n) => n > 0)) })
        yield* first.crash
        yield* sql`DELETE FROM effect_pix_queue`
        yield* (yield* Sandbox).markPaid(id)
        const second = yield* starting()
        yield* soon("the lost element was not put into the queue again", second.idle)
        assert.deepStrictEqual(second.statuses(), ["Paid"])
      })
    )

    test(
      "a delivery that another version stored is left to a process that can read it",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* charge
        const { idle, post, statuses } = yield* starting({ confirm: Schedule.spaced("100 millis") })
        yield* post({ transactionId: id, status: "Paid" })
        const name = `delivery:${id}`
        const rows = sql<{ readonly value: string }>`SELECT value FROM effect_pix_webhooks WHERE name = ${name}`
        const seen = yield* Effect.repeat(Effect.andThen(Effect.sleep("20 millis"), rows), {
          until: ([row]) => row?.value.includes('"early":1') === true
        })
        yield* sql`UPDATE effect_pix_webhooks SET value = '{"v":2}' WHERE name = ${name}`
        const unread = sql`SELECT id FROM effect_pix_queue WHERE last_failure LIKE '%Unreadable%' AND state = 'pending'`
        yield* Effect.repeat(Effect.andThen(Effect.sleep("20 millis"), unread), { until: (found) => found.length > 0 })
        yield* (yield* Sandbox).markPaid(id)
        yield* sql`UPDATE effect_pix_webhooks SET value = ${seen[0]?.value ?? ""} WHERE name = ${name}`
        yield* idle
        assert.deepStrictEqual(statuses(), ["Paid"])
      })
    )

    test(
      "finished deliveries leave only the note of the statuses that were handed out",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { idle, post } = yield* starting({ confirm: Schedule.recurs(0) })
        const id = yield* paidCharge
        yield* post({ transactionId: id, status: "Paid" })
        yield* post({ transactionId: "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11", status: "Paid" })
        yield* post({ hello: "world" })
        yield* idle
        const rows = yield* sql<{ readonly name: string; readonly state: string; readonly value: string }>`
          SELECT name, state, value FROM effect_pix_webhooks`
        assert.deepStrictEqual(
          rows.map((row) => ({ ...row })),
          [{ name: `handed:${id}`, state: "Kept", value: '["Paid"]' }]
        )
      })
    )
  })
}

const [, onPostgres] = databases

describe.skipIf(onPostgres.skip)("Webhook.layerSql on a PostgreSQL that goes wrong", () => {
  const test = testOn(onPostgres)

  test(
    "a handler whose connection ends each time has failed: the failure is reported, and the delivery is a dead letter in the end",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { deadLetters, failures, idle, post } = yield* starting({
        retry: Schedule.recurs(1),
        onPaid: () => sql`SELECT pg_terminate_backend(pg_backend_pid())`
      })
      yield* post({ transactionId: yield* paidCharge })
      yield* idle
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ attempts, handler }) => [handler, attempts]),
        [["onPaid", 2]]
      )
      assert.deepStrictEqual(
        failures.map(({ handler, isDead }) => [handler, isDead]),
        [
          ["onPaid", false],
          ["onPaid", true]
        ]
      )
    })
  )

  test(
    "a process that is suspended in a handler delays no other transaction, and loses its own after its lease",
    Effect.gen(function* () {
      const { ship, shipped, sql } = yield* shop
      const held = yield* Effect.replicateEffect(paidCharge, 3)
      const others = yield* Effect.replicateEffect(paidCharge, 8)
      const entered = yield* Latch.make()
      const goesOn = yield* Latch.make()
      let waiting = 0
      const first = yield* starting({
        // It cannot be interrupted and takes no other job, like a suspended process.
        concurrency: held.length,
        handlerTimeout: "100 millis",
        onPaid: ({ transaction: { transactionId } }) =>
          Effect.uninterruptible(
            ship(transactionId).pipe(
              Effect.andThen(Effect.sync(() => ++waiting === held.length && entered.openUnsafe())),
              Effect.andThen(goesOn.await)
            )
          )
      })
      // A failed test ends too.
      yield* Effect.addFinalizer(() => goesOn.open)
      for (const transactionId of held) yield* first.post({ transactionId })
      yield* entered.await
      // Its lease is no longer renewed, and another process takes the transaction.
      yield* sql`UPDATE effect_pix_queue SET acquired_at = NULL, acquired_by = NULL WHERE state = 'pending'`
      const second = yield* starting({ onPaid: ({ transaction }) => ship(transaction.transactionId) })
      for (const transactionId of others) yield* second.post({ transactionId })
      yield* Effect.repeat(Effect.andThen(Effect.sleep("50 millis"), shipped), {
        until: (ids) => ids.length === others.length
      })
      assert.deepStrictEqual(yield* shipped, others.toSorted())
      yield* second.idle
      // Waiting for another process is no failure of the handler.
      assert.deepStrictEqual(second.failures, [])
      yield* goesOn.open
      assert.deepStrictEqual(yield* shipped, [...held, ...others].toSorted())
    })
  )

  test(
    "deliveries about a row that another process has locked delay no other delivery, and lost rows are still found",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const known = yield* Effect.replicateEffect(charge, 2)
      const [{ id: held } = assert.fail(), { id: lost } = assert.fail()] = known.toSorted((a, b) =>
        a.id < b.id ? -1 : 1
      )
      const first = yield* starting({ confirm: Schedule.spaced("1 hour") })
      for (const transactionId of [held, lost]) yield* first.post({ transactionId, status: "Paid" })
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => Effect.map(lookups, (count) => count === 2) })
      yield* first.crash
      yield* sql`DELETE FROM effect_pix_queue`
      // A row of another version, whose element is lost too.
      yield* sql`INSERT INTO effect_pix_webhooks VALUES ('default', 'delivery:', 'Open', '{"v":2}', 'none', 0)`
      for (const transactionId of [held, lost]) yield* (yield* Sandbox).markPaid(transactionId)
      const good = yield* paidCharge
      const answers: Array<number> = []
      const isHeld = yield* Latch.make()
      const mayGo = yield* Latch.make()
      const hold = sql`SELECT * FROM effect_pix_webhooks WHERE name = ${`delivery:${held}`} FOR UPDATE`
      const holder = yield* Effect.forkChild(
        sql.withTransaction(hold.pipe(Effect.andThen(isHeld.open), Effect.andThen(mayGo.await)))
      )
      yield* isHeld.await
      const second = yield* starting()
      const found = Effect.repeat(Effect.sleep("20 millis"), { until: () => second.events.length === 1 })
      yield* soon("the lost element was not put into the queue again", found)
      assert.strictEqual(second.events[0]?.id, `${lost}:Paid`)
      const send = (transactionId: string) =>
        Effect.map(second.post({ transactionId }), (status) => answers.push(status))
      const repeated = Effect.all(
        Array.from({ length: 12 }, () => send(held)),
        { concurrency: "unbounded" }
      )
      const calls = yield* Effect.forkChild(repeated, { startImmediately: true })
      yield* send(good)
      yield* Fiber.join(calls)
      yield* mayGo.open
      yield* Fiber.join(holder)
      assert.strictEqual(answers[0], 200)
      assert.include(answers, 503)
    })
  )

  test(
    "a dead letter that is retried in the caller's transaction does not change the settings of that transaction",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { deadLetters, idle, post, retry } = yield* starting({
        retry: Schedule.recurs(0),
        onPaid: () => Effect.fail("a bad row")
      })
      yield* post({ transactionId: yield* paidCharge })
      yield* idle
      const settings = Effect.map(
        sql`SELECT current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle`,
        ([row]) => ({ ...row })
      )
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SET LOCAL lock_timeout = '700ms'`
          const before = yield* settings
          for (const { id } of yield* deadLetters) assert.isTrue(yield* retry(id))
          assert.deepStrictEqual(yield* settings, before)
        })
      )
    })
  )
})
