import { assert, describe } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Context, Deferred, Effect, Latch, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Sandbox } from "effect-pix/sandbox"
import { charge, paidCharge } from "../support/charges.ts"
import { databases, postgres } from "../support/database.ts"
import { starting, testOn } from "../support/databaseWebhooks.ts"
import { runs } from "../support/seed.ts"
import { exhaust, nobody } from "../support/webhooks.ts"

/** A table of shipped goods, in which one charge can be shipped twice. */
const shop = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
  const shipped = Effect.map(sql<{ readonly charge: string }>`SELECT charge FROM shipped ORDER BY charge`, (rows) =>
    rows.map((row) => row.charge)
  )
  return { sql, shipped, ship: (id: string) => sql`INSERT INTO shipped VALUES (${id})` }
})

/** How often each delivery about a transaction whose handler never ends is repeated. */
const repeated = runs(25, 250)

const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT * FROM effect_pix_webhooks`
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
})

for (const database of databases) {
  const test = testOn(database)

  describe(`Webhook.layerSql on ${database.name}`, () => {
    test(
      "what a handler writes commits once, with the status that was handed out",
      Effect.gen(function* () {
        const { ship, shipped } = yield* shop
        let failures = 2
        const { idle, post } = yield* starting({
          // It writes first and then fails: the write must be rolled back.
          onPaid: ({ transaction }) =>
            Effect.andThen(
              ship(transaction.transactionId),
              Effect.suspend(() => (failures-- > 0 ? Effect.fail("later") : Effect.void))
            )
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
          onPaid: ({ transaction: { transactionId } }) =>
            Effect.andThen(ship(transactionId), transactionId === bad ? Effect.fail("a bad row") : Effect.void)
        })
        for (let n = 0; n < 50; n++) yield* first.post({ transactionId: bad, n })
        yield* first.post({ transactionId: good })
        yield* exhaust("failed")
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
          onPaid: () => Effect.andThen(Effect.ignore(ship("taken")), Effect.ignore(ship(id)))
        })
        yield* post({ transactionId: id })
        const isLost = database.name !== "SQLite"
        if (isLost) yield* exhaust("failed")
        yield* idle
        assert.strictEqual((yield* shipped).length === 1, isLost)
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
      "a stored delivery has its hint and no text of its body",
      Effect.gen(function* () {
        const body = (id: string) => ({
          transactionId: id,
          status: "Paid",
          customer: { name: "Maria", cpf: "52998224725" }
        })
        const { idle, post } = yield* starting({ onPaid: () => Effect.fail("Maria, 52998224725") })
        // A dead letter, a delivery that waits, and one with more fields than needed.
        yield* post(body(yield* paidCharge))
        yield* exhaust("failed")
        yield* idle
        yield* post(body((yield* charge).id))
        const { id: open } = yield* charge
        yield* post({ transactionId: open, status: "52998224725", idempotencyKey: "tx_Maria" })
        const rows = yield* everything
        assert.include(rows, "Dead")
        assert.notMatch(rows, /Maria|52998224725/)
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
        assert.strictEqual(yield* post({ transactionId: yield* paidCharge }), 200)
      })
    )

    test(
      "a row that another version wrote is left to a process that can read it: its deliveries are answered with 503",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* charge
        const { idle, post, statuses } = yield* starting()
        yield* post({ transactionId: id, status: "Paid" })
        const rows = sql<{ readonly value: string; readonly tries: number }>`
          SELECT value, tries FROM effect_pix_webhooks WHERE name = ${id}`
        const [seen] = yield* Effect.repeat(Effect.andThen(Effect.sleep("20 millis"), rows), {
          until: ([row]) => row?.value.includes('"early":1') === true
        })
        yield* sql`UPDATE effect_pix_webhooks SET value = '{"v":2}', due_at = 0 WHERE name = ${id}`
        yield* Effect.repeat(Effect.andThen(Effect.sleep("20 millis"), rows), { until: ([row]) => row?.tries === 1 })
        assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 503)
        yield* (yield* Sandbox).markPaid(id)
        yield* sql`UPDATE effect_pix_webhooks SET value = ${seen?.value ?? ""}, due_at = 0 WHERE name = ${id}`
        yield* idle
        assert.deepStrictEqual(statuses(), ["Paid"])
      })
    )

    test(
      "a finished transaction is one row with the statuses that were handed out, and what is unknown leaves none",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { idle, post } = yield* starting()
        const id = yield* paidCharge
        yield* post({ transactionId: id, status: "Paid" })
        yield* post({ hello: "world" })
        yield* post({ transactionId: nobody(), status: "Paid" })
        yield* exhaust("early")
        yield* idle
        const rows = yield* sql<{ readonly name: string; readonly state: string; readonly value: string }>`
          SELECT name, state, value FROM effect_pix_webhooks`
        assert.deepStrictEqual(
          rows.map(({ name, state, value }) => [name, state, /"handedOut":\[[^\]]*\]/.exec(value)?.[0]]),
          [[id, "Done", '"handedOut":["Paid"]']]
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
        onPaid: () => sql`SELECT pg_terminate_backend(pg_backend_pid())`
      })
      yield* post({ transactionId: yield* paidCharge })
      yield* exhaust("failed")
      yield* idle
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ failures, handler }) => [handler, failures]),
        [["onPaid", 1000]]
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
    "a process that is suspended in a handler delays no other transaction, and another one takes its own over after its lease",
    Effect.gen(function* () {
      const { ship, shipped, sql } = yield* shop
      const held = yield* Effect.replicateEffect(paidCharge, 3)
      const others = yield* Effect.replicateEffect(paidCharge, 8)
      const entered = yield* Latch.make()
      const goesOn = yield* Latch.make()
      let waiting = 0
      const limits: Array<unknown> = []
      const first = yield* starting({
        // It cannot be interrupted and takes no other job, like a suspended process.
        concurrency: held.length,
        handlerTimeout: "20 seconds",
        onPaid: ({ transaction: { transactionId } }) =>
          Effect.uninterruptible(
            ship(transactionId).pipe(
              Effect.andThen(sql`SHOW idle_in_transaction_session_timeout`),
              Effect.map(([row]) => void limits.push(row?.["idle_in_transaction_session_timeout"])),
              Effect.andThen(Effect.sync(() => ++waiting === held.length && entered.openUnsafe())),
              Effect.andThen(goesOn.await)
            )
          )
      })
      // A failed test ends too.
      yield* Effect.addFinalizer(() => goesOn.open)
      for (const transactionId of held) yield* first.post({ transactionId })
      yield* entered.await
      // PostgreSQL ends the transaction of a process that does not resume, after three handlers and 5 seconds.
      assert.deepStrictEqual(limits, ["65s", "65s", "65s"])
      // Its lease is no longer renewed, and another process takes the transaction.
      yield* sql`UPDATE effect_pix_webhooks SET due_at = 0, taken_by = NULL`
      const second = yield* starting({ onPaid: ({ transaction }) => ship(transaction.transactionId) })
      for (const transactionId of others) yield* second.post({ transactionId })
      yield* Effect.repeat(Effect.andThen(Effect.sleep("50 millis"), shipped), {
        until: (ids) => ids.length === held.length + others.length
      })
      yield* second.idle
      assert.deepStrictEqual(second.failures, [])
      // It resumes and ends its handlers: what they wrote is rolled back.
      yield* goesOn.open
      const begun = sql`SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'`
      yield* Effect.repeat(begun, { until: ({ length }) => length === 0 })
      yield* first.crash
      assert.deepStrictEqual(first.failures, [])
      assert.deepStrictEqual(yield* shipped, [...held, ...others].toSorted())
    })
  )

  test(
    "a handler that runs for longer than its lease hands out once where transactions are repeatable read",
    Effect.gen(function* () {
      const { url } = yield* postgres
      const setting = encodeURIComponent("-c default_transaction_isolation=repeatable\\ read")
      const strict = PgClient.layer({ url: Redacted.make(`${url}?options=${setting}`) })
      const sql = Context.get(yield* Layer.build(Layer.fresh(strict)), SqlClient.SqlClient)
      const elsewhere = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SHOW transaction_isolation`, [{ transaction_isolation: "repeatable read" }])
      yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
      const begun = yield* Deferred.make<void>()
      const start = starting(
        {
          onPaid: ({ transaction }) =>
            sql`INSERT INTO shipped VALUES (${transaction.transactionId})`.pipe(
              Effect.andThen(Deferred.succeed(begun, undefined)),
              Effect.andThen(elsewhere`SELECT pg_sleep(1.5)`)
            )
        },
        { lease: "500 millis" }
      ).pipe(Effect.provideService(SqlClient.SqlClient, sql))
      const [one, two] = yield* Effect.all([start, start])
      const [id = "", ...ids] = yield* Effect.replicateEffect(paidCharge, 3)
      assert.strictEqual(yield* one.post({ transactionId: id, status: "Paid" }), 200)
      yield* Deferred.await(begun)
      // A delivery during the handler waits for its end, and is recorded then.
      for (const transactionId of [...ids, id]) {
        assert.strictEqual(yield* two.post({ transactionId, status: "Paid" }), 200)
      }
      yield* Effect.all([one.idle, two.idle])
      assert.deepStrictEqual([...one.failures, ...two.failures], [])
      const shipped = yield* sql<{ readonly charge: string }>`SELECT charge FROM shipped ORDER BY charge`
      assert.deepStrictEqual(
        shipped.map((row) => row.charge),
        [id, ...ids].toSorted()
      )
    })
  )
})
