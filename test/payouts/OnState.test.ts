/** What `onState` promises, on SQLite and on PostgreSQL: each state once, in order, with the writes of the user's code. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, expectTypeOf } from "@effect/vitest"
import { Context, Effect, Exit, Latch, Layer, Logger, Redacted, Scope } from "effect"
import type { Payments, PaymentsClient } from "effect-pix"
import { type OnState, PayoutQueue, type PayoutQueueOptions, type PayoutSheet } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { databases, postgres } from "../support/database.ts"
import { live } from "../support/effect.ts"
import { makeHeld, refused, unauthorised } from "../support/payoutAnswers.ts"
import { gatewayOnce, payout, payouts, startClient, startWorker } from "../support/payoutQueue.ts"
import { paid } from "../support/payoutSeen.ts"
import { makeStatements } from "../support/statements.ts"

const stores = databases.map(({ client, dialect, name, skip }) => ({
  name,
  dialect,
  test: live.skipIf(skip),
  layer: Layer.mergeAll(Layer.fresh(client()), gatewayOnce, Logger.layer([]))
}))

const fast: PayoutQueueOptions = { poll: "10 millis" }

/** The user's books, in which a state can be written twice. */
const books = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE ledger (entry BIGINT, reference VARCHAR(40), state VARCHAR(20))`
  const write: OnState = ({ reference, state }, { id }) =>
    sql`INSERT INTO ledger VALUES (${id}, ${reference}, ${state})`
  const rows = sql<{ readonly reference: string; readonly state: string }>`SELECT * FROM ledger ORDER BY entry`
  const all = Effect.map(rows, (found) => found.map(({ reference, state }) => `${reference} ${state}`))
  /** The states of a payout, in the order of their entries. */
  const of = (reference: string) =>
    Effect.map(rows, (found) => found.filter((row) => row.reference === reference).map(({ state }) => state))
  /** Hands out what waits, without its waits, until only so many states are left. */
  const settled = (left = 0) =>
    Effect.gen(function* () {
      yield* sql`UPDATE effect_pix_payout_states SET due_at = 0 WHERE state = 'Open' AND taken_by IS NULL`
      yield* Effect.sleep("5 millis")
      return yield* sql`SELECT 1 FROM effect_pix_payout_states WHERE state = 'Open'`
    }).pipe(
      // A worker took or ended a row at the same moment, where transactions are repeatable read.
      Effect.retry({ while: ({ reason }) => reason._tag === "SerializationError" }),
      Effect.repeat({ until: ({ length }) => length === left })
    )
  /** The next failure of each state that waits is the last one. */
  const exhaust = sql`UPDATE effect_pix_payout_states SET failures = 1000 WHERE state = 'Open' AND taken_by IS NULL`
  return { sql, write, all, of, settled, exhaust }
})

/** A process, until its end. */
const starting = Effect.fnUntraced(function* (options: PayoutQueueOptions) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const queue = yield* Scope.provide(startWorker({ ...fast, ...options }), scope)
  return { queue, stop: Scope.close(scope, Exit.void) }
})

describe.each(stores)("onState on $name", ({ dialect, layer, test }) => {
  test(
    "is called once with each end, doubt and wait of a payout, and with what reopens one, in order",
    layer,
    function* () {
      const { of, settled, write } = yield* books
      const sandbox = yield* Sandbox
      const seen: Array<readonly [string, unknown]> = []
      const queue = yield* startWorker({
        ...fast,
        maxAmount: 5000,
        onState: (status, entry) =>
          Effect.andThen(
            write(status, entry),
            Effect.sync(() => seen.push([status.reference, status]))
          )
      })
      yield* queue.submit(payout("posted"))
      yield* queue.await("posted")
      for (const as of ["paid", "failed", "failed"] as const) yield* queue.settle("posted", { as, by: "ana" })
      yield* queue.forget("posted", { by: "ana" })

      yield* sandbox.fault("requestWithdrawal", refused)
      yield* queue.submit(payout("refused"))
      yield* queue.await("refused")
      yield* queue.retry("refused")
      yield* queue.await("refused")

      yield* queue.submit(payout("large", 6000))
      yield* queue.await("large")
      yield* queue.park("large")

      // Tried twice in doubt: one doubt.
      yield* sandbox.fault("requestWithdrawal", Fault.answer(502), { times: 2 })
      yield* queue.submit(payout("unknown"))
      for (let n = 0; n < 2; n++) {
        const isAnswered = (changes: ReadonlyArray<{ readonly _tag: string }>) =>
          changes.filter(({ _tag }) => _tag === "Answered").length > n
        yield* Effect.repeat(queue.history("unknown"), { until: isAnswered })
        yield* queue.retry("unknown")
      }
      yield* queue.await("unknown")

      // A wait for credentials is no state.
      yield* sandbox.fault("requestWithdrawal", unauthorised)
      yield* queue.submit(payout("waits"))
      yield* Effect.repeat(queue.account, { until: ({ refusedSince }) => refusedSince !== undefined })
      yield* queue.retry("waits")
      yield* queue.await("waits")

      const { answer, arrived, held } = yield* makeHeld
      yield* sandbox.fault("requestWithdrawal", held)
      yield* queue.submit(payout("contradicted"))
      yield* arrived
      yield* queue.park("contradicted")
      yield* (yield* SqlClient.SqlClient)`UPDATE effect_pix_payouts SET under_way_until = 0 WHERE reference = 'contradicted'`
      yield* queue.settle("contradicted", { as: "failed" })
      yield* answer()
      yield* Effect.repeat(queue.history("contradicted"), {
        until: (changes) => changes.some(({ _tag }) => _tag === "Contradicted")
      })
      // A person ends it, and the state stays.
      yield* queue.settle("contradicted", { as: "failed" })
      yield* settled()
      const handedOut: Record<string, ReadonlyArray<string>> = {}
      for (const reference of ["posted", "refused", "large", "unknown", "waits", "contradicted"])
        handedOut[reference] = yield* of(reference)
      assert.deepStrictEqual(handedOut, {
        posted: ["posted", "paid", "failed"],
        refused: ["refused", "accepted", "posted"],
        large: ["parked"],
        unknown: ["unknown", "posted"],
        waits: ["posted"],
        contradicted: ["parked", "failed", "failed", "failed"]
      })
      // The status is that of the entry, as `status` answers it.
      const { value } = (yield* queue.status("large")) as { readonly value?: unknown }
      const found = seen.find(([reference]) => reference === "large")?.[1]
      assert.deepInclude(found, { state: "parked", because: "OverCap", amount: 6000 })
      assert.deepInclude(value, { state: "parked", because: "Operator" })
    }
  )

  test("commits what it writes once, and is called again where it fails", layer, function* () {
    const { all, settled, sql, write } = yield* books
    const calls: Array<string> = []
    const queue = yield* startWorker({
      ...fast,
      // It writes first and then fails: the write must be rolled back.
      onState: (status, entry) =>
        Effect.andThen(
          write(status, entry),
          Effect.suspend(() => {
            calls.push(status.reference)
            const isBad = status.reference === "invoice-1" && calls.filter((of) => of === "invoice-1").length < 3
            if (!isBad) return Effect.void
            return calls.length % 2 === 0 ? Effect.die("a defect") : Effect.fail("later")
          })
        )
    })
    yield* queue.submitMany(payouts(3))
    for (const { reference } of payouts(3)) yield* queue.await(reference)
    // The others do not wait for it.
    yield* Effect.repeat(all, { until: ({ length }) => length === 2 })
    const first = sql<{ readonly wait: unknown }>`SELECT due_at - written_at AS "wait" FROM effect_pix_payout_states`
    const [row] = yield* Effect.repeat(first, { until: ([row]) => row !== undefined })
    assert.isAbove(Number(row?.wait), 700, "it waits for a second")
    yield* settled()
    assert.deepStrictEqual((yield* all).toSorted(), ["invoice-1 posted", "invoice-2 posted", "invoice-3 posted"])
    assert.deepStrictEqual(calls.toSorted().join(" "), "invoice-1 invoice-1 invoice-1 invoice-2 invoice-3")
  })

  test("is a dead letter after a day, which holds the later states of its payout alone", layer, function* () {
    const { all, exhaust, of, settled, write } = yield* books
    let isBroken = true
    const queue = yield* startWorker({
      ...fast,
      onState: (status, entry) =>
        isBroken && status.reference !== "good" ? Effect.fail("a bad row") : write(status, entry)
    })
    yield* queue.submitMany([payout("one"), payout("two")])
    for (const reference of ["one", "two"]) yield* queue.await(reference)
    yield* Effect.repeat(Effect.andThen(exhaust, Effect.andThen(settledOnce(), queue.deadLetters)), {
      until: ({ length }) => length === 2
    })
    for (const reference of ["one", "two"]) yield* queue.settle(reference, { by: "ana" })
    yield* queue.submit(payout("good"))
    yield* queue.await("good")
    yield* settled(2)
    assert.deepStrictEqual(yield* all, ["good posted"])
    const letters = yield* queue.deadLetters
    const [one, two] = letters.toSorted((a, b) =>
      String(a.status?.reference).localeCompare(String(b.status?.reference))
    )
    assert.deepInclude(one, { failures: 1001, held: 1 })
    assert.deepInclude(one?.status, { reference: "one", state: "posted" })
    // Only a person ends it, and another process may.
    isBroken = false
    const client = yield* startClient(fast)
    assert.isFalse(yield* client.retryLetter(0))
    for (const wrong of [client.retryLetter(one!.id, { by: " " }), client.retryLetter(Number.NaN)])
      assert.strictEqual((yield* Effect.flip(wrong))._tag, "InvalidRequest")
    assert.isTrue(yield* client.retryLetter(one!.id, { by: "ana" }))
    yield* settled(1)
    assert.deepStrictEqual([yield* of("one"), yield* of("two")], [["posted", "paid"], []])
    assert.isTrue(yield* queue.discardLetter(two!.id))
    assert.isFalse(yield* queue.discardLetter(two!.id))
    yield* settled()
    assert.deepStrictEqual([yield* of("two"), yield* queue.deadLetters], [["paid"], []])
  })

  test("is called for what another process and a step do, and not for what is rolled back", layer, function* () {
    const { of, settled, sql, write } = yield* books
    const before = yield* startClient(fast)
    yield* before.submit(payout("earlier"))
    yield* before.park("earlier")
    const { queue: worker, stop } = yield* starting({ onState: write })
    yield* stop
    // A process without it, as the command.
    const client = yield* startClient(fast)
    yield* client.settle("earlier", { as: "failed" })
    const step = Effect.andThen(client.settle("earlier", { as: "paid" }), Effect.fail("no"))
    yield* Effect.flip(sql.withTransaction(step))
    yield* sql.withTransaction(Effect.andThen(client.submit(payout("both")), client.park("both")))
    yield* client.settle("both")
    assert.lengthOf(yield* sql`SELECT 1 FROM effect_pix_payout_states`, 3)
    yield* starting({ onState: write })
    yield* settled()
    assert.deepStrictEqual(
      [yield* of("earlier"), yield* of("both"), yield* worker.deadLetters],
      [["failed"], ["parked", "paid"], []]
    )
  })

  test("is called by another process where its own ends in the middle", layer, function* () {
    const { all, settled, write } = yield* books
    const begun = yield* Latch.make()
    const first = yield* starting({
      onState: (status, entry) => Effect.andThen(write(status, entry), Effect.andThen(begun.open, Effect.never))
    })
    yield* first.queue.submit(payout("invoice-1"))
    yield* begun.await
    yield* first.stop
    assert.deepStrictEqual(yield* all, [])
    yield* starting({ onState: write })
    yield* settled()
    assert.deepStrictEqual(yield* all, ["invoice-1 posted"])
  })

  test("fails where the database refuses what it wrote", layer, function* () {
    const { all, settled, sql } = yield* books
    yield* sql`CREATE UNIQUE INDEX once ON ledger (reference)`
    yield* sql`INSERT INTO ledger VALUES (1, 'taken', 'posted')`
    const put = (reference: string) => Effect.ignore(sql`INSERT INTO ledger VALUES (2, ${reference}, 'posted')`)
    const queue = yield* startWorker({
      ...fast,
      // A failed statement that it ignores.
      onState: ({ reference }) => Effect.andThen(put("taken"), put(reference))
    })
    yield* queue.submit(payout("invoice-1"))
    yield* queue.await("invoice-1")
    const isLost = dialect === "pg"
    const failed = sql`SELECT 1 FROM effect_pix_payout_states WHERE failures > 1`
    yield* isLost
      ? Effect.repeat(Effect.andThen(settledOnce(), failed), { until: ({ length }) => length > 0 })
      : settled()
    assert.lengthOf(yield* all, isLost ? 1 : 2)
  })

  test("leaves a status that another version wrote to a process that can read it", layer, function* () {
    const { all, settled, sql, write } = yield* books
    const { queue, stop } = yield* starting({ onState: write })
    yield* stop
    const client = yield* startClient(fast)
    yield* client.submit(payout("invoice-1"))
    yield* client.park("invoice-1")
    const [row] = yield* sql<{ readonly status: string }>`SELECT status FROM effect_pix_payout_states`
    yield* sql`UPDATE effect_pix_payout_states SET status = '{"state":"newer"}'`
    yield* starting({ onState: write })
    const tried = sql`SELECT 1 FROM effect_pix_payout_states WHERE tries = 1 AND taken_by IS NULL`
    yield* Effect.repeat(tried, { until: ({ length }) => length === 1 })
    yield* sql`UPDATE effect_pix_payout_states SET state = 'Dead'`
    const [letter] = yield* queue.deadLetters
    assert.deepInclude(letter, { failures: 0, status: undefined })
    yield* sql`UPDATE effect_pix_payout_states SET state = 'Open', status = ${row?.status ?? ""}`
    yield* settled()
    assert.deepStrictEqual(yield* all, ["invoice-1 parked"])
  })

  test("has no row where no worker has it", layer, function* () {
    const { sql } = yield* books
    const client = yield* startClient(fast)
    yield* client.submit(payout("unwatched"))
    yield* client.park("unwatched")
    assert.deepStrictEqual(yield* sql`SELECT * FROM effect_pix_payout_states`, [])
  })

  test("adds no statement to a payout's way to posted on a server, and one to hand it out", layer, function* () {
    const { all, sql, write } = yield* books
    const { stop } = yield* starting({ onState: write })
    yield* stop
    const queue = yield* startClient(fast)
    const { layer: counting, texts } = makeStatements()
    yield* queue.submitMany(payouts(50))
    yield* Effect.provide(startWorker({ poll: "1 hour" }), counting)
    yield* Effect.forEach(payouts(50), ({ reference }) => queue.await(reference))
    const isOfMany = (text: string) =>
      text.startsWith('UPDATE "effect_pix_payouts" SET due_at') && !/version/.test(text)
    const writes = texts.filter((text) => !text.startsWith("SELECT") && !isOfMany(text))
    const begin = "a worker that begins writes its account"
    assert.isAtMost(Math.floor(writes.length / 50), dialect === "pg" ? 2 : 5, begin)
    assert.lengthOf(yield* sql`SELECT 1 FROM effect_pix_payout_states`, 50)
    const { layer: counted, texts: ofHandOut } = makeStatements()
    yield* Effect.provide(startWorker({ poll: "1 hour", onState: write }), counted)
    yield* Effect.repeat(all, { until: ({ length }) => length === 50 })
    const ofStates = ofHandOut.filter((text) => /^(UPDATE|DELETE FROM) "effect_pix_payout_states"/.test(text))
    // Else they are taken four at a time, on SQLite one.
    assert.isAtMost(ofStates.length - 50, 10, "the states are taken many at a time")
  })
})

/** Lets one round of the workers pass. */
const settledOnce = () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE effect_pix_payout_states SET due_at = 0 WHERE state = 'Open' AND taken_by IS NULL`
    yield* Effect.sleep("5 millis")
  })

describe.each(stores.slice(1))("onState on several connections of $name", ({ layer, test }) => {
  test("that never ends delays no send, and no other process calls it meanwhile", layer, function* () {
    const { sql } = yield* books
    const hanging = yield* Effect.replicateEffect(Latch.make(), 4)
    const settings: Array<unknown> = []
    const begun: Array<string> = []
    const queue = yield* startWorker({
      ...fast,
      onState: ({ reference }) =>
        Effect.gen(function* () {
          settings.push(yield* sql`SHOW idle_in_transaction_session_timeout`)
          begun.push(reference)
          yield* Effect.raceAll(hanging.map((latch) => latch.await))
        }).pipe(Effect.uninterruptible)
    })
    // A failed test ends too.
    yield* Effect.addFinalizer(() => hanging[0]!.open)
    yield* queue.submitMany(payouts(4))
    yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => begun.length === 4 })
    yield* queue.submitMany(Array.from({ length: 20 }, (_, index) => payout(`later-${index}`)))
    for (let index = 0; index < 20; index++) yield* queue.await(`later-${index}`)
    assert.strictEqual(yield* paid, 24)
    // PostgreSQL ends the transaction of a process that does not resume.
    assert.deepStrictEqual(settings[0], [{ idle_in_transaction_session_timeout: "35s" }])
    const other: Array<string> = []
    yield* starting({ onState: ({ reference }) => Effect.sync(() => other.push(reference)) })
    yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => other.length === 20 })
    assert.isTrue(other.every((reference) => reference.startsWith("later")))
  })

  test("is called once where transactions are repeatable read and two processes share the work", layer, function* () {
    const { url } = yield* postgres
    const setting = encodeURIComponent("-c default_transaction_isolation=repeatable\\ read")
    const strict = PgClient.layer({ url: Redacted.make(`${url}?options=${setting}`) })
    yield* Effect.gen(function* () {
      const { all, settled, write } = yield* books
      const { queue } = yield* starting({ onState: write })
      yield* starting({ onState: write })
      yield* queue.submitMany(payouts(30))
      for (const { reference } of payouts(30)) yield* queue.await(reference)
      for (const { reference } of payouts(30)) yield* Effect.retry(queue.settle(reference), { times: 9 })
      yield* settled()
      const expected = payouts(30).flatMap(({ reference }) => [`${reference} paid`, `${reference} posted`])
      assert.deepStrictEqual((yield* all).toSorted(), expected.toSorted())
    }).pipe(Effect.provide(Layer.fresh(strict)))
  })

  test("is called for what is in doubt after a failover", layer, function* () {
    const { of, settled, sql, write } = yield* books
    const first = yield* starting({ onState: write })
    yield* first.stop
    yield* (yield* startClient(fast)).submit(payout("invoice-1"))
    yield* sql`UPDATE effect_pix_payout_accounts SET identity = 'x' || identity`
    const { queue } = yield* starting({ onState: write })
    yield* queue.await("invoice-1")
    yield* settled()
    assert.deepStrictEqual(yield* of("invoice-1"), ["unknown", "posted"])
  })
})

live("the services that onState needs are needs of its layer, and without it there are none", function* () {
  class Ledger extends Context.Service<Ledger, string>()("test/Ledger") {}
  const onState = () => Effect.asVoid(Ledger)
  type Provides = PayoutQueue | PayoutSheet
  type Needs = SqlClient.SqlClient | Payments | PaymentsClient
  expectTypeOf(PayoutQueue.layer()).toEqualTypeOf<Layer.Layer<Provides, Failures, Needs>>()
  expectTypeOf(PayoutQueue.layer({ poll: 1 })).toEqualTypeOf<Layer.Layer<Provides, Failures, Needs>>()
  expectTypeOf(PayoutQueue.layerWorker({ onState })).toEqualTypeOf<Layer.Layer<never, Failures, Needs | Ledger>>()
  expectTypeOf(PayoutQueue.layer({ onState })).toEqualTypeOf<Layer.Layer<Provides, Failures, Needs | Ledger>>()
  yield* Effect.void
})
type Failures = Layer.Error<ReturnType<typeof PayoutQueue.layerClient>>
