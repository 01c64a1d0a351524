/** What a webhook promises of its database, on SQLite and on PostgreSQL. */
import { assert, describe } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { settled, shop, starting, stores } from "../support/databaseWebhooks.ts"
import { exhaust, lookingUp, nobody, timing } from "../support/webhooks.ts"

const all = { concurrency: "unbounded", discard: true } as const

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

  test(
    "a process that ends in the middle of a handler leaves no writes, and the next process hands the event out once",
    layer,
    function* () {
      const { onPaid, ship, shipped } = yield* shop
      const id = yield* paidCharge
      const wrote = yield* Latch.make()
      const first = yield* starting({
        onPaid: () => Effect.andThen(ship(id), Effect.andThen(wrote.open, Effect.never))
      })
      yield* first.claim(id)
      yield* wrote.await
      yield* first.crash
      assert.deepStrictEqual(yield* shipped, [])
      yield* starting({ onPaid })
      yield* settle
      assert.deepStrictEqual(yield* shipped, [id])
    }
  )

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
    assert.deepStrictEqual(lists, [[mid, oldest, newest], [oldest, newest], []])
    assert.deepStrictEqual(
      [yield* next.deadLetters, yield* any.find(oldest.toUpperCase())],
      [letters, letters.slice(0, 1)]
    )
    assert.deepStrictEqual([yield* one.find(mid), yield* one.find(nobody())], [[], []])
    const [letter] = letters
    assert.deepStrictEqual<unknown>(letter, {
      at: letter?.at,
      since: letter?.since,
      webhook: "shop",
      id: oldest,
      about: "Transaction",
      state: "Dead",
      handedOut: [],
      transactionId: oldest,
      withdrawalId: undefined,
      idempotencyKey: undefined,
      deliveries: 1,
      claimed: ["Paid"],
      waits: undefined,
      failures: 1000,
      handler: "onPaid"
    })
    assert.strictEqual((yield* Effect.flip(any.retry(mid, { by: " " })))._tag, "InvalidRequest")
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
    assert.propertyVal(yield* Effect.flip(client.deadLetters), "operation", "find")
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
    const ids = yield* Effect.replicateEffect(paidCharge, 3)
    const [recent = "", old = "", bad = ""] = ids
    const { claim, crash } = yield* starting({
      onPaid: ({ transaction }) => (transaction.transactionId === bad ? Effect.fail("a bad row") : Effect.void)
    })
    for (const id of ids) yield* claim(id)
    yield* die()
    const other = yield* starting({ name: "other" })
    yield* other.claim(old)
    yield* settle
    yield* crash
    yield* other.crash
    const { id: waiting } = yield* charge
    const again = yield* starting({ poll: "1 hour" })
    yield* again.claim(waiting)
    yield* again.crash
    yield* sql`UPDATE effect_pix_webhooks SET due_at = due_at - 5300000`
    yield* sql`UPDATE effect_pix_webhooks SET due_at = due_at - 200000 WHERE name <> ${recent}`
    yield* starting({ retention: "90 minutes" })
    const names = Effect.map(sql<{ readonly name: string }>`SELECT name FROM effect_pix_webhooks`, (rows) =>
      rows.map(({ name }) => name).toSorted()
    )
    yield* Effect.repeat(Effect.andThen(pause, names), { until: ({ length }) => length < 5 })
    assert.deepStrictEqual(yield* names, [recent, old, bad, waiting].toSorted())
  })

  test("a sweep and simultaneous deliveries in two processes hand each charge out once", layer, function* () {
    const { onPaid, shipped } = yield* shop
    const [one, two] = [yield* starting({ onPaid }), yield* starting({ onPaid })]
    const ids = yield* Effect.replicateEffect(paidCharge, 5)
    yield* Effect.forEach(ids, (id) => Effect.all([one.check(id), two.claim(id), two.check(id)], all), all)
    yield* settle
    yield* Effect.forEach(ids, two.check, all)
    yield* settle
    assert.deepStrictEqual(yield* shipped, ids.toSorted())
    assert.deepStrictEqual([...one.reports, ...two.reports], [])
  })

  test("a check in the caller's transaction is rolled back with it", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const { check, statuses } = yield* starting()
    const id = yield* paidCharge
    yield* Effect.flip(sql.withTransaction(Effect.andThen(check(id), Effect.fail("undone"))))
    yield* settle
    assert.deepStrictEqual([statuses(), yield* lookups], [[], 0])
    yield* sql.withTransaction(check(id))
    yield* settle
    assert.deepStrictEqual(statuses(), ["Paid"])
  })

  test("a delivery about a charge that an open transaction checks is recorded when that ends", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const { check, claim, statuses } = yield* starting()
    const id = yield* paidCharge
    yield* claim(id)
    yield* settle
    yield* (yield* Sandbox).refund(id)
    const order: Array<string> = []
    const checked = yield* Latch.make()
    const ends = yield* Latch.make()
    const open = sql.withTransaction(Effect.andThen(check(id), Effect.andThen(checked.open, ends.await)))
    const transaction = yield* Effect.forkChild(open)
    yield* checked.await
    const delivery = yield* Effect.forkChild(
      Effect.tap(claim(id, "Refunded"), () => Effect.sync(() => order.push("answered")))
    )
    for (let n = 0; n < 5; n++) yield* pause
    order.push("ended")
    yield* ends.open
    yield* Fiber.join(transaction)
    assert.strictEqual(yield* Fiber.join(delivery), 200)
    yield* settle
    assert.deepStrictEqual([order.join(), statuses().join()], ["ended,answered", "Paid,Refunded"])
  })

  test("two processes share a flood: each begins at most its bound, and nothing rightful is lost", layer, function* () {
    const times: ReadonlyArray<Array<number>> = [[], []]
    const begin = yield* Clock.currentTimeMillis
    const [one, two] = yield* Effect.forEach(times, (at) => starting({ firstLookupsPerSecond: 10 }).pipe(timing(at)))
    const ids = yield* Effect.replicateEffect(paidCharge, 4)
    const forged = Array.from({ length: 24 }, (_, n) => nobody(n))
    for (const [n, id] of [...forged, ...ids].entries()) yield* (n % 2 === 0 ? one : two)!.claim(id)
    yield* Effect.repeat(pause, { until: () => one!.events.length + two!.events.length === 4 })
    const seconds = Math.floor(((yield* Clock.currentTimeMillis) - begin) / 1000)
    for (const at of times) assert.isAtMost(at.length, 10 * (seconds + 1))
  })
})
