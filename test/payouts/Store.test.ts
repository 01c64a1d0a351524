/** The contract of the rows of payouts, asked of SQLite and of PostgreSQL. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { PayoutInsert } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { ask, fast, prepare, tagOf } from "../support/databasePayouts.ts"
import { linesOf, payout, payouts, refused, startWorker, stateOf } from "../support/payoutQueue.ts"
import { makeStatements } from "../support/statements.ts"

ask("a payout is accepted in the caller's own transaction, or not at all", function* () {
  const { queue, referencesOf, sql } = yield* prepare
  yield* sql`CREATE TABLE invoices (id VARCHAR(20))`
  const bill = (id: string) => Effect.andThen(sql`INSERT INTO invoices VALUES (${id})`, queue.submit(payout(id)))
  yield* Effect.flip(sql.withTransaction(Effect.andThen(bill("undone"), Effect.fail("no"))))
  yield* sql.withTransaction(bill("done"))
  const other = yield* Effect.provide(
    SqlClient.SqlClient,
    yield* Layer.build(Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })))
  )
  assert.strictEqual(yield* tagOf(other.withTransaction(queue.submit(payout("foreign")))), "ForeignTransaction")
  assert.lengthOf(yield* sql`SELECT * FROM invoices`, 1)
  assert.deepStrictEqual(yield* referencesOf("TRUE"), ["done"])
  assert.deepStrictEqual(yield* queue.history("undone"), [])
})

ask("a reference that is submitted ten times at once is one payout", function* () {
  const { queue } = yield* prepare
  const all = yield* Effect.all(
    Array.from({ length: 10 }, () => queue.submit(payout("invoice-1"))),
    { concurrency: "unbounded" }
  )
  assert.strictEqual(new Set(all.map(({ idempotencyKey }) => idempotencyKey)).size, 1)
  assert.strictEqual(yield* Stream.runCount(queue.list()), 1)
  const conflict = yield* Effect.flip(queue.submit({ ...payout("invoice-1", 2000), description: "another" }))
  assert.deepInclude(conflict, { _tag: "ReferenceConflict", differs: ["amount", "content"] })
})

ask("the published statement inserts a payout once, which is paid once", function* (dialect) {
  const { queue, sql } = yield* prepare
  const { parameters, text } = yield* Effect.fromResult(
    PayoutInsert.make({ ...payout("invoice-1"), by: "ana" }, { dialect })
  )
  yield* Effect.replicateEffect(sql.unsafe(text, parameters), 2)
  yield* startWorker(fast)
  assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
  assert.strictEqual((yield* queue.submit(payout("invoice-1"))).state, "posted")
  assert.deepStrictEqual(yield* linesOf(queue, "invoice-1"), [
    "Submitted by ana > accepted",
    "Marked 1 > accepted, may have left",
    "Answered Recorded 1 > posted"
  ])
  assert.lengthOf(yield* Effect.flatMap(Sandbox, ({ withdrawals }) => withdrawals), 1)
})

ask("a payout that waits is taken by one worker at a time, the oldest first", function* () {
  const { queue, referencesOf, rowOf, set, store } = yield* prepare
  yield* queue.submitMany(payouts(5))
  for (const { reference } of payouts(5)) yield* set(reference, `due_at = ${reference.at(-1)}`)
  yield* set("invoice-5", "state = 'parked'")
  const take = (taker: string, most = 20) => store.due.take(taker, 30_000, most)
  assert.lengthOf(yield* take("one", 2), 2)
  assert.deepStrictEqual(yield* referencesOf("taken_by = 'one'"), ["invoice-1", "invoice-2"])
  assert.lengthOf(yield* take("two"), 2)
  assert.lengthOf(yield* take("three"), 0)
  const { idempotencyKey: key } = yield* rowOf("invoice-1")
  yield* store.due.giveBack({ key, taker: "two" }, 0)
  yield* store.due.renew([{ key, taker: "two" }], 0)
  assert.lengthOf(yield* take("three"), 0)
  yield* store.due.giveBack({ key, taker: "one" }, 0)
  assert.strictEqual(yield* store.due.untilNext, 0)
  assert.lengthOf(yield* take("three"), 1)
  yield* store.due.renew([{ key, taker: "three" }], 0)
  const [again] = yield* take("four")
  assert.deepInclude(yield* store.readTaken(again), { reference: "invoice-1", amount: 1000 })
})

ask("payouts are read in their order by state, key, amount and cause", function* () {
  const { queue, rowOf, set, store } = yield* prepare
  yield* queue.submitMany([...payouts(4), payout("other", 2000)])
  for (const [reference, at, changes] of [
    ["invoice-1", 3, "waits_for = 'DailyCap'"],
    ["invoice-2", 2, "state = 'failed'"],
    ["invoice-3", 1, "state = 'posted'"],
    ["invoice-4", 1, "state = 'parked', parked_because = 'Operator'"],
    ["other", 0, "state = 'posted', amount = NULL"]
  ] as const) {
    yield* set(reference, `submitted_at = ${at}, updated_at = ${at}, ${changes}`)
  }
  const names = (rows: ReadonlyArray<{ readonly reference: string }>) => rows.map(({ reference }) => reference)
  const first = yield* store.list(undefined, { at: -1, key: "" }, 3)
  assert.deepStrictEqual(names(first.slice(0, 2)).toSorted(), ["invoice-3", "invoice-4"])
  assert.strictEqual(first[2]?.reference, "invoice-2")
  const [one, two] = first
  const second = yield* store.list(undefined, { at: 1, key: one?.idempotencyKey ?? "" }, 1)
  assert.strictEqual(second[0]?.reference, two?.reference)
  assert.deepStrictEqual(names(yield* store.list("posted", { at: -1, key: "" }, 9)), ["invoice-3"])
  assert.deepStrictEqual(names(yield* store.ofAmount(1000, 1)).toSorted(), ["invoice-1", "invoice-3", "invoice-4"])
  assert.deepStrictEqual(names(yield* store.ofAmount(1000, 2)), ["invoice-1"])
  const keys = yield* Effect.forEach(["invoice-1", "invoice-2"], (reference) =>
    Effect.map(rowOf(reference), ({ idempotencyKey }) => idempotencyKey)
  )
  assert.deepStrictEqual(yield* store.open([...keys, "none"]), [keys[0]])
  assert.deepStrictEqual(names(yield* store.find([...keys, "none"])).toSorted(), ["invoice-1", "invoice-2"])
  const counts = (yield* store.counts).map((count) => Object.values(count).join(" ")).toSorted()
  assert.deepStrictEqual(counts, ["accepted DailyCap 1 3 1000", "parked Operator 1 1 1000"])
  assert.strictEqual((yield* queue.status("other"))._tag, "None")
})

ask("old payouts that ended lose their request, and then their record", function* () {
  const { queue, referencesOf, rowOf, set, sql, store } = yield* prepare
  yield* queue.submitMany([...payouts(4), payout("young")])
  yield* Effect.forEach(["invoice-2", "invoice-3"], (reference) => queue.park(reference, { by: "ana" }))
  for (const reference of ["invoice-1", "young"]) yield* set(reference, "state = 'posted', payee = '{}'")
  yield* set("invoice-2", "state = 'refused'")
  yield* sql`UPDATE effect_pix_payouts SET submitted_at = 1, updated_at = 1 WHERE reference <> 'young'`
  const { idempotencyKey } = yield* rowOf("invoice-2")
  yield* store.forget(2)
  assert.deepStrictEqual(yield* referencesOf("request IS NULL"), ["invoice-1", "invoice-2"])
  assert.deepStrictEqual(yield* referencesOf("payee IS NOT NULL"), ["young"])
  assert.isUndefined(yield* store.endedState(idempotencyKey))
  yield* store.forgetRecord(2)
  assert.strictEqual(yield* store.endedState(idempotencyKey), "refused")
  assert.lengthOf(yield* store.history(idempotencyKey), 0)
  assert.lengthOf(yield* queue.history("invoice-3"), 2)
  assert.deepStrictEqual(yield* referencesOf("amount IS NOT NULL"), ["invoice-3", "invoice-4", "young"])
})

ask("the table refuses a row that could not be listed or sent", function* () {
  const { sql } = yield* prepare
  const insert = (key: string, amount: string, more = "request") =>
    tagOf(
      sql.unsafe(
        `INSERT INTO effect_pix_payouts (idempotency_key, reference, amount, request_check, ${more}) VALUES ('${key}', 'x', ${amount}, '', '9007199254740991')`
      )
    )
  for (const amount of ["0", "-1", "9007199254740992", "NULL"])
    assert.strictEqual(yield* insert("k", amount), "SqlError", amount)
  assert.strictEqual(yield* insert("k".repeat(65), "1000"), "SqlError")
  for (const column of ["state", "submitted_at", "updated_at"])
    assert.strictEqual(yield* insert("k", "1000", column), "SqlError", column)
})

ask("a payout costs one statement to submit and two writes to send", function* (dialect) {
  const { layer: counting, texts } = makeStatements()
  /** The statements so far, but for takes and renewals, which are of many payouts. */
  const counted = () => {
    const own = texts.splice(0).filter((text) => !text.startsWith('UPDATE "effect_pix_payouts" SET due_at'))
    const isRead = (text: string) => text.startsWith("SELECT")
    return { reads: own.filter(isRead).length, writes: own.filter((text) => !isRead(text)).length }
  }
  const { queue, sql } = yield* prepare
  const begun = { count: 0 }
  const client: SqlClient.SqlClient = new Proxy(sql, {
    get: (target, property) => {
      if (property === "withoutTransforms") return () => client
      if (property === "withTransaction") begun.count += 1
      return Reflect.get(target, property) as unknown
    }
  })
  yield* Effect.provide(Effect.forEach(payouts(50), queue.submit), counting)
  // It looks once whether a worker ever served the account.
  assert.deepStrictEqual(counted(), { reads: 1, writes: 50 })
  yield* (yield* Sandbox).fault("requestWithdrawal", refused)
  const worker = startWorker({ poll: "1 hour", dailyCap: 120_000 }).pipe(
    Effect.provide(counting),
    Effect.provideService(SqlClient.SqlClient, client)
  )
  yield* worker
  begun.count = 0
  yield* Effect.forEach(payouts(50), ({ reference }) => queue.await(reference))
  const { reads, writes } = counted()
  // A worker that begins writes its account.
  assert.strictEqual(Math.floor(writes / 50), dialect === "pg" ? 2 : 5)
  assert.isBelow(reads, 50)
  if (dialect === "pg") assert.strictEqual(begun.count, 0)
})

ask("every change of a payout is an entry", function* () {
  const { queue } = yield* prepare
  const worker = yield* startWorker(fast)
  yield* (yield* Sandbox).fault("requestWithdrawal", [Fault.resetAfter, Fault.none, refused])
  yield* worker.submit(payout("lost"))
  yield* Effect.repeat(stateOf(queue, "lost"), { until: (state) => state === "unknown" })
  yield* queue.park("lost", { by: "ana", note: "the panel shows nothing" })
  yield* queue.resume("lost", { by: "bia", note: "it does now" })
  yield* queue.await("lost")
  yield* worker.submit(payout("refused"))
  yield* queue.await("refused")
  yield* queue.retry("refused", { by: "ana" })
  yield* queue.await("refused")
  yield* queue.settle("refused", { as: "failed", by: "ana", note: "returned by the bank" })
  assert.deepStrictEqual(yield* linesOf(queue, "lost"), [
    "Submitted > accepted",
    "Marked 1 > accepted, may have left",
    "Answered Unknown OutcomeUnknown > unknown, may have left",
    "Parked Operator by ana: the panel shows nothing > parked, may have left",
    "Resumed by bia: it does now > unknown, may have left",
    "Marked 2 > unknown, may have left",
    "Answered Recorded 1 > posted"
  ])
  assert.deepStrictEqual(yield* linesOf(queue, "refused"), [
    "Submitted > accepted",
    "Marked 1 > accepted, may have left",
    "Answered Refused RequestRejected > refused",
    "Retried by ana > accepted",
    "Marked 2 > accepted, may have left",
    "Answered Recorded 2 > posted",
    "Settled by ana: returned by the bank > failed"
  ])
})
