/** What a webhook promises of its database, on SQLite and on PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Latch, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import { charge, paidCharge } from "../support/charges.ts"
import { databases, postgres } from "../support/database.ts"
import { effect, live, nextTurn } from "../support/effect.ts"
import { exhaust, lookingUp, nobody, type Options, recording, world } from "../support/webhooks.ts"

/** Where a webhook stores its rows. A test of each has its own. */
const stores = databases.map(({ client, dialect, name, skip }) => ({
  name,
  dialect,
  test: dialect === "sqlite" ? effect.skipIf(false) : live.skipIf(skip),
  layer: Layer.mergeAll(world, Layer.fresh(client())),
  /** Lets the workers go on, for as short a time as they need. */
  pause: dialect === "sqlite" ? TestClock.adjust("100 millis") : nextTurn
}))

/** Starts a webhook on the database of the test, as a process of its own. */
const starting = (options: Options = {}) => recording({ poll: "50 millis", ...options })

/** A table of shipped goods, in which one charge can be shipped twice. */
const shop = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
  const rows = sql<{ readonly charge: string }>`SELECT charge FROM shipped ORDER BY charge`
  const ship = (id: string) => sql`INSERT INTO shipped VALUES (${id})`
  return {
    sql,
    ship,
    onPaid: ({ transaction }: { readonly transaction: { readonly transactionId: string } }) =>
      ship(transaction.transactionId),
    shipped: Effect.map(rows, (found) => found.map((row) => row.charge))
  }
})

/** Processes each row that waits, without its waits, until none is left. */
const settled = (pause: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hurry = Effect.retry(
      sql`UPDATE effect_pix_webhooks SET due_at = 0 WHERE state = 'Open' AND taken_by IS NULL`,
      // A worker took a row at the same moment, where transactions are repeatable read.
      { while: ({ reason }) => reason._tag === "SerializationError" }
    )
    const waiting = sql`SELECT 1 FROM effect_pix_webhooks WHERE state NOT IN ('Done', 'Dead')`
    yield* Effect.repeat(Effect.andThen(hurry, Effect.andThen(pause, waiting)), { until: ({ length }) => length === 0 })
  })

describe.each(stores)("Webhook.layerSql on $name", ({ dialect, layer, pause, test }) => {
  const settle = settled(pause)
  const die = (rows = 1) => Effect.andThen(exhaust("failed", rows, pause), settle)

  test("what a handler writes commits once, with the status that was handed out", layer, function* () {
    const { ship, shipped } = yield* shop
    let failures = 2
    const { claim } = yield* starting({
      // It writes first and then fails: the write must be rolled back.
      onPaid: ({ transaction }) =>
        Effect.andThen(
          ship(transaction.transactionId),
          Effect.suspend(() => (failures-- > 0 ? Effect.fail("later") : Effect.void))
        )
    })
    const id = yield* paidCharge
    for (let n = 0; n < 5; n++) yield* claim(id)
    yield* settle
    yield* claim(id)
    yield* settle
    assert.deepStrictEqual([failures, yield* shipped], [-1, [id]])
  })

  test("a process that lost its row to another one hands out nothing of its older lookup", layer, function* () {
    const { onPaid, shipped, sql } = yield* shop
    const id = yield* paidCharge
    const answered = yield* Latch.make()
    const arrives = yield* Latch.make()
    // A process whose only worker waits takes no other row.
    const first = yield* starting({ onPaid, concurrency: 1 }).pipe(
      lookingUp((answer) => Effect.tap(answer, Effect.andThen(answered.open, arrives.await)))
    )
    yield* first.claim(id)
    yield* answered.await
    // While the answer Paid is on its way, the lease ends, and another process looks the charge up.
    yield* (yield* Sandbox).refund(id)
    yield* sql`UPDATE effect_pix_webhooks SET due_at = 0, taken_by = NULL`
    const second = yield* starting({ onPaid })
    yield* settle
    yield* second.crash
    yield* arrives.open
    const next = yield* paidCharge
    yield* first.claim(next)
    yield* settle
    assert.deepStrictEqual(
      [yield* shipped, second.statuses(), first.statuses()],
      [[next], ["Refunded"], ["Paid", "Paid"]]
    )
    assert.deepStrictEqual([...first.reports, ...first.failures, ...second.reports], [])
  })

  test("dead letters survive their process: a client lists the oldest first, and retries it once", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const clientOf = (name?: string) =>
      Effect.map(Layer.build(Webhook.layerClient({ name })), (context) => Context.get(context, WebhookClient))
    let isBroken = true
    const onPaid = () => (isBroken ? Effect.fail("a bad row") : Effect.void)
    const [shop, other] = [yield* starting({ name: "shop", onPaid }), yield* starting({ name: "other", onPaid })]
    // The order is not that of the ids.
    const ids = (yield* Effect.replicateEffect(paidCharge, 3)).toSorted().toReversed()
    const [oldest = "", mid = "", newest = ""] = ids
    for (const id of ids) {
      yield* (id === mid ? other : shop).claim(id)
      yield* die()
    }
    const letters = yield* shop.deadLetters
    yield* shop.crash
    const next = yield* starting({ name: "shop", onPaid })
    const [any, one, none] = [yield* clientOf(), yield* clientOf("shop"), yield* clientOf("none")]
    const listed = ({ deadLetters }: typeof any) => Effect.map(deadLetters, (letters) => letters.map(({ id }) => id))
    const lists = [yield* listed(any), yield* listed(one), yield* listed(none)]
    assert.deepStrictEqual(lists, [[oldest, mid, newest], [oldest, newest], []])
    assert.deepStrictEqual(yield* any.find(oldest.toUpperCase()), letters.slice(0, 1))
    assert.deepStrictEqual([yield* one.find(mid), yield* one.find(nobody())], [[], []])
    assert.deepInclude(letters[0], {
      webhook: "shop",
      id: oldest,
      transactionId: oldest,
      about: "Transaction",
      state: "Dead",
      handedOut: [],
      deliveries: 1,
      claimed: ["Paid"],
      failures: 1000,
      handler: "onPaid"
    })
    assert.strictEqual((yield* Effect.flip(any.retry(mid, { by: " " })))._tag, "InvalidRequest")
    // After a step and after another delivery a letter is due at once, and has all its tries.
    yield* Effect.andThen(next.retry(newest), die())
    yield* Effect.andThen(next.claim(newest), die())
    assert.deepStrictEqual(
      next.failures.map(({ attempt }) => attempt),
      [1, 1000, 1, 1000]
    )
    isBroken = false
    const retried = [yield* none.retry(mid), yield* any.retry(mid, { by: "ana" }), yield* any.retry(mid)]
    assert.deepStrictEqual(
      [retried, yield* one.discard(oldest), yield* one.discard(oldest)],
      [[false, true, false], true, false]
    )
    // Webhooks of different names share no rows.
    yield* next.claim(mid)
    yield* settle
    assert.deepStrictEqual([yield* listed(any), other.statuses(), next.statuses()], [[newest], ["Paid"], ["Paid"]])
    yield* sql`UPDATE effect_pix_webhooks SET value = '{"of":"a newer version"}' WHERE name = ${newest}`
    assert.deepStrictEqual(
      (yield* any.find(newest)).map(({ handedOut, state }) => [state, handedOut]),
      [["Unreadable", []]]
    )
  })

  test("handlers that never end delay neither deliveries about them nor other transactions", layer, function* () {
    const hanging = yield* Effect.replicateEffect(paidCharge, 4)
    const good = yield* paidCharge
    const { claim, statuses } = yield* starting({
      onPaid: ({ transaction }) => (hanging.includes(transaction.transactionId) ? Effect.never : Effect.void)
    })
    const each = hanging.flatMap((id) => Array.from({ length: 5 }, () => claim(id)))
    const answers = yield* Effect.forkChild(Effect.all([...each, claim(good)], { concurrency: "unbounded" }))
    yield* Effect.repeat(pause, { until: () => answers.pollUnsafe() !== undefined && statuses().length > 0 })
    assert.deepStrictEqual([new Set(yield* Fiber.join(answers)), statuses()], [new Set([200]), ["Paid"]])
  })

  test(
    "a failed statement that a handler ignores is its failure where the database cannot commit",
    layer,
    function* () {
      const { ship, shipped, sql } = yield* shop
      yield* sql`CREATE UNIQUE INDEX once ON shipped (charge)`
      const id = yield* paidCharge
      yield* ship("taken")
      const { claim, deadLetters, failures } = yield* starting({
        onPaid: () => Effect.andThen(Effect.ignore(ship("taken")), Effect.ignore(ship(id)))
      })
      yield* claim(id)
      const isLost = dialect === "pg"
      if (isLost) yield* exhaust("failed", 1, pause)
      yield* settle
      assert.deepStrictEqual(
        [yield* shipped, (yield* deadLetters).length, failures.map(({ handler }) => handler)],
        isLost ? [["taken"], 1, ["onPaid", "onPaid"]] : [[id, "taken"].toSorted(), 0, []]
      )
    }
  )

  test("a delivery that cannot be recorded is answered with 503", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const { check, claim } = yield* starting()
    const client = Context.get(yield* Layer.build(Webhook.layerClient()), WebhookClient)
    const id = yield* paidCharge
    yield* sql`ALTER TABLE effect_pix_webhooks RENAME TO elsewhere`
    assert.strictEqual(yield* claim(id), 503)
    assert.propertyVal(yield* Effect.flip(check(id)), "operation", "check")
    assert.propertyVal(yield* Effect.flip(client.deadLetters), "operation", "deadLetters")
    yield* sql`ALTER TABLE elsewhere RENAME TO effect_pix_webhooks`
    assert.strictEqual(yield* claim(id), 200)
  })

  test("a row of another version is left to a process that can read it, and deliveries get a 503", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const { id } = yield* charge
    const { claim, statuses } = yield* starting()
    yield* claim(id)
    const read = sql<{ readonly value: string; readonly tries: number }>`
      SELECT value, tries FROM effect_pix_webhooks WHERE name = ${id}`
    const [seen] = yield* Effect.repeat(Effect.andThen(pause, read), {
      until: ([row]) => row?.value.includes('"waits":"early"') === true
    })
    yield* sql`UPDATE effect_pix_webhooks SET value = '{"v":2}', due_at = 0 WHERE name = ${id}`
    yield* Effect.repeat(Effect.andThen(pause, read), { until: ([row]) => row?.tries === 1 })
    assert.strictEqual(yield* claim(id), 503)
    yield* (yield* Sandbox).markPaid(id)
    yield* sql`UPDATE effect_pix_webhooks SET value = ${seen?.value ?? ""}, due_at = 0 WHERE name = ${id}`
    yield* settle
    assert.deepStrictEqual(statuses(), ["Paid"])
  })

  test("a row is forgotten `retention` after it ended, but no dead letter and none that waits", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const [recent = "", old = "", bad = ""] = yield* Effect.replicateEffect(paidCharge, 3)
    const { id: waiting } = yield* charge
    const one = yield* starting({
      onPaid: ({ transaction }) => (transaction.transactionId === bad ? Effect.fail("a bad row") : Effect.void)
    })
    for (const id of [recent, old, bad]) yield* one.claim(id)
    yield* die()
    const other = yield* starting({ name: "other" })
    yield* other.claim(old)
    yield* settle
    yield* one.claim(waiting)
    for (const { crash } of [one, other]) yield* crash
    yield* sql`UPDATE effect_pix_webhooks SET due_at = due_at - 5300000`
    yield* sql`UPDATE effect_pix_webhooks SET due_at = due_at - 200000 WHERE name <> ${recent}`
    yield* starting({ retention: "90 minutes" })
    const names = Effect.map(sql<{ readonly name: string }>`SELECT name FROM effect_pix_webhooks`, (rows) =>
      rows.map(({ name }) => name)
    )
    yield* Effect.repeat(Effect.andThen(pause, names), { until: ({ length }) => length < 5 })
    assert.sameMembers(yield* names, [recent, old, bad, waiting])
  })

  test("a check in a transaction is rolled back with it, and a delivery is recorded when it ends", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const { check, claim, find, statuses } = yield* starting()
    const [id, other] = [yield* paidCharge, yield* paidCharge]
    const checked = yield* Latch.make()
    const ends = yield* Latch.make()
    const open = Effect.andThen(
      check(id),
      Effect.andThen(checked.open, Effect.andThen(ends.await, Effect.fail("undone")))
    )
    const undone = yield* Effect.forkChild(Effect.flip(sql.withTransaction(open)))
    yield* checked.await
    const delivery = yield* Effect.forkChild(claim(id))
    const blocked = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    yield* dialect === "pg" ? Effect.repeat(blocked, { until: ({ length }) => length > 0 }) : pause
    assert.isUndefined(delivery.pollUnsafe())
    yield* ends.open
    assert.deepStrictEqual([yield* Fiber.join(undone), yield* Fiber.join(delivery)], ["undone", 200])
    yield* sql.withTransaction(check(other))
    yield* settle
    assert.deepStrictEqual(statuses(), ["Paid", "Paid"])
    const [row] = yield* find(id)
    assert.strictEqual(row?.deliveries, 1, "the delivery, and no check")
  })
})

describe.each(stores.slice(1))("Webhook.layerSql on several connections of $name", ({ layer, pause, test }) => {
  const settle = settled(pause)

  test("a process that is suspended in a handler delays no other one, and writes nothing later", layer, function* () {
    const { onPaid, ship, shipped, sql } = yield* shop
    const [held = "", ...others] = yield* Effect.replicateEffect(paidCharge, 3)
    const entered = yield* Deferred.make<unknown>()
    const goesOn = yield* Latch.make()
    const first = yield* starting({
      // It cannot be interrupted and takes no other row, like a suspended process.
      concurrency: 1,
      handlerTimeout: "20 seconds",
      onPaid: ({ transaction }) =>
        Effect.gen(function* () {
          yield* ship(transaction.transactionId)
          yield* Deferred.succeed(entered, yield* sql`SHOW idle_in_transaction_session_timeout`)
          yield* goesOn.await
        }).pipe(Effect.uninterruptible)
    })
    // A failed test ends too.
    yield* Effect.addFinalizer(() => goesOn.open)
    yield* first.claim(held)
    // PostgreSQL ends the transaction of a process that does not resume, after three handlers and 5 seconds.
    assert.deepStrictEqual(yield* Deferred.await(entered), [{ idle_in_transaction_session_timeout: "65s" }])
    // Its lease is no longer renewed, and another process takes the transaction.
    yield* sql`UPDATE effect_pix_webhooks SET due_at = 0, taken_by = NULL`
    const second = yield* starting({ onPaid })
    for (const transactionId of others) yield* second.claim(transactionId)
    yield* settle
    yield* second.crash
    yield* goesOn.open
    const next = yield* paidCharge
    yield* first.claim(next)
    yield* Effect.repeat(Effect.andThen(pause, shipped), { until: (ids) => ids.includes(next) })
    assert.deepStrictEqual([...first.failures, ...second.failures], [])
    assert.deepStrictEqual(yield* shipped, [held, next, ...others].toSorted())
  })

  test("a handler locks its row where transactions are repeatable read, and hands out once", layer, function* () {
    const { url } = yield* postgres
    const setting = encodeURIComponent("-c default_transaction_isolation=repeatable\\ read")
    const strict = PgClient.layer({ url: Redacted.make(`${url}?options=${setting}`) })
    yield* Effect.gen(function* () {
      const { onPaid, shipped, sql } = yield* shop
      assert.deepStrictEqual(yield* sql`SHOW transaction_isolation`, [{ transaction_isolation: "repeatable read" }])
      const begun = yield* Latch.make()
      const ends = yield* Latch.make()
      const webhook = yield* starting({
        onPaid: (event) => Effect.andThen(onPaid(event), Effect.andThen(begun.open, ends.await))
      })
      const id = yield* paidCharge
      yield* webhook.claim(id)
      yield* begun.await
      const free = sql`SELECT name FROM effect_pix_webhooks FOR UPDATE SKIP LOCKED`
      assert.deepStrictEqual(yield* free, [])
      const delivery = yield* Effect.forkChild(webhook.claim(id))
      const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      yield* Effect.repeat(Effect.andThen(pause, waiting), { until: ({ length }) => length > 0 })
      yield* ends.open
      assert.strictEqual(yield* Fiber.join(delivery), 200)
      yield* settle
      assert.deepStrictEqual([yield* shipped, webhook.failures], [[id], []])
    }).pipe(Effect.provide(Layer.fresh(strict)))
  })
})
