/**
 * Sheets: rows of the queue that a run accepts together, and waits for.
 */
import { assert, describe, expectTypeOf } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Stream } from "effect"
import { Money } from "effect-pix"
import { PayoutQueue, Payouts, type PayoutSheet } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { answering } from "../support/interruptible.ts"
import { poor, refused } from "../support/payoutAnswers.ts"
import { payout, queued, type Script, settle, worldOf } from "../support/payoutQueue.ts"
import { paid, requests, shown } from "../support/payoutSeen.ts"
import { line, listsOf, run, sheet } from "../support/sheets.ts"
import { recordingTracer } from "../support/spans.ts"
import { makeStatements } from "../support/statements.ts"

const asks = Fault.retryAfter
const onceRefused: Script = { refused: [refused] }
const inOrder: Script = { b: [refused], d: poor }

describe("a sheet", () => {
  const { layer: under, spans } = recordingTracer()
  queued("is reported in its order, with what was done before", { script: inOrder, under }, function* () {
    assert.deepStrictEqual(listsOf(yield* Payouts.run(sheet("e", "b"))), { done: ["e"], refused: ["b"] })
    const second = yield* run(sheet("e", "d", "c", "b", "a", "c"), { waitFor: "90 seconds" })
    assert.deepStrictEqual(second, { done: ["e", "c", "a"], refused: ["b"], open: ["d"] })
    assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c", "e"], requests), [1, 1, 1, 1])
    assert.deepStrictEqual(yield* run([]), {})
    const span = spans.filter(({ name }) => name === "Payouts.run")[1]
    const counted = { "payouts.done": 3, "payouts.refused": 1, "payouts.open": 1, "payouts.failed": 0 }
    assert.deepInclude(Object.fromEntries(span?.attributes ?? []), counted)
  })

  const statements = makeStatements()
  queued("is accepted as a whole or not at all, and tried once", { under: statements.layer }, function* () {
    yield* run(sheet("old"))
    statements.texts.length = 0
    const items = [
      line("good"),
      line("small", 1),
      line("old", 2000),
      payout("twin-1", 3000),
      payout("twin-2", 3000),
      { ...line("good"), description: "another" }
    ]
    assert.deepStrictEqual(yield* run(items), [
      [1, "BelowMinimum"],
      [2, "ReferenceConflict"],
      [4, "twin-1"],
      [5, "ReferenceConflict"]
    ])
    assert.isAtMost(statements.texts.filter((text) => text.startsWith("INSERT")).length, items.length)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([yield* shown("good"), yield* requests()], ["absent", 1])
  })

  const doubted: Script = { a: [Fault.resetAfter, poor, refused, Fault.answer(401)], b: [refused] }
  queued("never refuses a line whose answer was lost", { script: doubted }, function* () {
    assert.deepStrictEqual(yield* run(sheet("a", "b"), { waitFor: "0 seconds" }), { open: ["a", "b"] })
    assert.deepStrictEqual(yield* run(sheet("a", "b"), { waitFor: "1 second" }), { refused: ["b"], open: ["a"] })
    assert.deepStrictEqual(yield* run(sheet("a", "b")), { done: ["a"], refused: ["b"] })
    assert.deepStrictEqual([yield* paid, yield* requests("b")], [1, 1])
  })

  const slowly: Script = { b: [asks("50 seconds")], c: poor }
  queued("is waited for until no line has ended for waitFor", { script: slowly }, function* () {
    const fiber = yield* Effect.forkChild(Payouts.run(sheet("a", "b", "c"), { waitFor: "1 minute" }))
    yield* settle
    yield* TestClock.adjust("55 seconds")
    yield* settle
    assert.strictEqual(yield* shown("b"), "posted")
    yield* TestClock.adjust("50 seconds")
    yield* settle
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("10 seconds")
    yield* settle
    assert.deepStrictEqual(listsOf(yield* Fiber.join(fiber)), { done: ["a", "b"], open: ["c"] })
    const sent = yield* requests("c")
    yield* TestClock.adjust("20 minutes")
    assert.strictEqual(yield* shown("c"), "accepted Balance")
    assert.isAbove(yield* requests("c"), sent)
  })

  const again: Script = { a: [refused], b: [asks("20 seconds", { status: 503 })] }
  queued("is reported with what a person sent again meanwhile", { script: again }, function* ({ queue }) {
    const items = sheet("a", "b")
    const fiber = yield* Effect.forkChild(run(items))
    yield* settle
    assert.strictEqual(yield* shown("a"), "refused")
    yield* queue.retry("a")
    // The caller's list may change meanwhile.
    items.length = 0
    assert.deepStrictEqual(yield* Fiber.join(fiber), { done: ["a", "b"] })
  })

  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  queued("is logged, and accepted in no transaction of the caller", { under: logger }, function* ({ sql }) {
    yield* run(sheet("a"))
    const inTransaction = yield* Effect.flip(sql.withTransaction(Payouts.run(sheet("a", "b", "c"))))
    assert.strictEqual(inTransaction._tag, "InvalidRequest")
    assert.deepStrictEqual([yield* shown("b"), yield* requests()], ["absent", 1])
    yield* run(sheet("a", "d", "d"))
    assert.deepStrictEqual(
      lines.filter((text) => text.startsWith("Payouts.run")),
      [
        "Payouts.run: 1 payout(s) (R$ 10,00), of which 0 were stored already.",
        "Payouts.run: 2 payout(s) (R$ 20,00), of which 1 were stored already."
      ]
    )
  })

  effect("is looked at again after the database did not answer, also where nothing is written later", function* () {
    let isAway = false
    const away = new SqlError({ reason: new ConnectionError({ cause: new Error("gone"), message: "", operation: "" }) })
    const looks = (text: string) => text.startsWith('SELECT idempotency_key AS "key"')
    const database = Layer.effect(
      SqlClient.SqlClient,
      Effect.map(SqlClient.SqlClient, (sql) =>
        answering(sql, (text) => (isAway && looks(text) ? Effect.fail(away) : undefined))
      )
    ).pipe(Layer.provideMerge(worldOf()))
    yield* Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Payouts.run(sheet("a")))
      yield* Effect.yieldNow
      isAway = true
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* shown("a"), fiber.pollUnsafe()], ["posted", undefined])
      isAway = false
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(listsOf(yield* Fiber.join(fiber)), { done: ["a"] })
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layer(), database)))
  })

  queued("goes on, and is waited for by a second run of it, where the first one ends", { script: again }, function* () {
    const items = sheet("a", "b", "c")
    const first = yield* Effect.forkChild(Payouts.run(items))
    const second = yield* Effect.forkChild(Payouts.run(items.toReversed()))
    yield* settle
    yield* Fiber.interrupt(first)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(listsOf(yield* Fiber.join(second)), { done: ["c", "b"], refused: ["a"] })
    assert.strictEqual(yield* paid, 2)
  })

  queued("with a wrong option or over a mock of the queue fails", function* () {
    for (const options of [{ waitFor: "soon" }, { waitFor: Number.NaN }, { allowAlike: "a" }, { allowAlike: [1] }]) {
      // A caller without types may give anything.
      const error = yield* Effect.flip(Payouts.run(sheet("a"), options as unknown as Payouts.RunOptions))
      assert.strictEqual(error._tag, "InvalidRequest")
    }
    assert.strictEqual(yield* requests(), 0)
    // A mock of the queue runs no sheet: the compiler says so.
    const mocked = () => Effect.provide(Payouts.run([]), Layer.mock(PayoutQueue, {}))
    expectTypeOf<Effect.Services<ReturnType<typeof mocked>>>().toEqualTypeOf<PayoutSheet>()
  })

  queued("is paid over a decorated queue, which is a copy with a method of its own", function* ({ queue }) {
    const decorated = PayoutQueue.of({ ...queue, submit: (item) => queue.submit(item) })
    const report = yield* Effect.provideService(Payouts.run(sheet("a")), PayoutQueue, decorated)
    assert.deepStrictEqual(listsOf(report), { done: ["a"] })
    assert.strictEqual((yield* decorated.submit(line("a"))).state, "posted")
  })

  queued("is planned by what a run would do, which stores nothing", { script: onceRefused }, function* ({ queue }) {
    assert.deepStrictEqual(yield* Payouts.plan([]), { count: 0, sum: Money.centavos(0), wrong: [], stored: [] })
    yield* run(sheet("done", "refused"))
    yield* queue.setPaused(true)
    yield* run(sheet("left"), { waitFor: 0 })
    yield* queue.park("left")
    yield* queue.setPaused(false)
    const stored = Effect.all([Stream.runCollect(queue.list()), queue.history("left")])
    const before = yield* stored
    const plan = yield* Payouts.plan([
      ...sheet("done", "left", "new", "refused", "new"),
      line("small", 1),
      payout("twin-1", 5000),
      payout("twin-2", 5000)
    ])
    assert.deepStrictEqual(
      [plan.count, plan.sum, plan.wrong.map(({ error, index }) => [index, error._tag])],
      [7, Money.centavos(14_001), [[5, "BelowMinimum"], [7, "LooksAlike"]]] // prettier-ignore
    )
    assert.deepStrictEqual(
      plan.stored.map(({ reference, state }) => [reference, state]),
      [["done", "posted"], ["left", "parked"], ["refused", "refused"]] // prettier-ignore
    )
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(yield* stored, before)
    const tooLarge = [1, 2].map((part) => line(`large-${part}`, Number.MAX_SAFE_INTEGER))
    assert.strictEqual((yield* Effect.flip(Payouts.plan(tooLarge)))._tag, "InvalidRequest")
  })
})

describe("a run that is interrupted", () => {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  const horizon = "1 hour"
  queued(
    "says until when its lines are sent and which step stops that, and they are sent until then",
    { under: logger, horizon, poll: "1 minute", script: { b: Fault.answer(308) } },
    function* ({ queue }) {
      yield* queue.setPaused(true)
      const fiber = yield* Effect.forkChild(Payouts.run(sheet("a", "b")))
      yield* settle
      yield* Fiber.interrupt(fiber)
      const last = lines.filter((text) => text.includes("was interrupted"))
      assert.lengthOf(last, 1)
      for (const words of [
        "2 payout(s)",
        "until 1970-01-01T01:00:00",
        "payouts park REFERENCE --account default",
        "payouts pause"
      ])
        assert.include(last[0], words)
      yield* queue.setPaused(false)
      yield* TestClock.adjust("70 minutes")
      assert.deepStrictEqual([yield* shown("a"), yield* shown("b")], ["posted", "parked WaitedTooLong"])
      const sent = yield* requests("b")
      // A run reports what is parked, and wants it no more.
      assert.deepStrictEqual(yield* run(sheet("a", "b")), { done: ["a"], parked: ["b"] })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* requests("b"), sent)
    }
  )

  queued("leaves what a person parked or settled as it is", function* ({ queue }) {
    yield* queue.setPaused(true)
    const fiber = yield* Effect.forkChild(Payouts.run(sheet("a", "b", "c")))
    yield* settle
    for (const reference of ["a", "b", "c"]) yield* queue.park(reference, { by: "ana" })
    yield* queue.settle("b")
    yield* queue.settle("c", { as: "failed" })
    yield* Fiber.interrupt(fiber)
    yield* queue.setPaused(false)
    assert.deepStrictEqual(yield* run(sheet("a", "b", "c")), { done: ["b"], failed: ["c"], parked: ["a"] })
    assert.strictEqual(yield* requests(), 0)
  })
})
