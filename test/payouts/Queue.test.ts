/**
 * What a queue accepts, what it makes of each answer, and what it stores and forgets.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { Money, Payments } from "effect-pix"
import { PayoutInsert, type PayoutItem, PayoutQueue, type PayoutQueueOptions, type Seal } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import {
  isInDoubt,
  keyOf,
  paid,
  payout,
  payouts,
  poor,
  queued,
  refused,
  requests,
  type Script,
  settle,
  shown,
  unauthorised,
  worldOf
} from "../support/payoutQueue.ts"
import { bytes, otherKey } from "../support/rawReplies.ts"

/** Inserts a payout whose stored request is another text. */
const insert = Effect.fnUntraced(function* (change: (text: string) => string, reference = "invoice-1") {
  const sql = yield* SqlClient.SqlClient
  const seal: Seal.Seal = { seal: (text) => Effect.succeed(change(text)), open: Effect.succeed }
  const { parameters, text } = yield* PayoutInsert.makeSealed(payout(reference), { dialect: "sqlite", seal })
  yield* sql.unsafe(text, parameters)
})

describe("submit", () => {
  queued(
    "a payout is posted once, under the key of its reference, which never changes",
    function* ({ queue, sandbox }) {
      assert.strictEqual((yield* queue.submit(payout("invoice-42"))).state, "accepted")
      const posted = yield* queue.await("invoice-42")
      // Frozen: with another key the service would pay again.
      assert.strictEqual(posted.idempotencyKey, "payout_9e27a39736b1fd741e1f6be1de4aa7cac85b921d")
      assert.strictEqual((yield* queue.submit(payout("invoice-42"))).state, "posted")
      const withdrawals = yield* sandbox.withdrawals
      assert.deepStrictEqual(
        withdrawals.map(({ idempotencyKey }) => idempotencyKey),
        [posted.idempotencyKey]
      )
      assert.isTrue(Option.isNone(yield* queue.status("invoice-43")))
      assert.include((yield* Effect.flip(queue.await("invoice-43"))).message, "invoice-43 was submitted")
      assert.strictEqual((yield* Effect.flip(queue.park(" blank ")))._tag, "PayoutNotFound")
    }
  )

  queued("names what differs from the payout of that reference", function* ({ queue }) {
    const first = { ...payout("invoice-1"), metadata: { a: 1, b: { c: 2 } } }
    yield* queue.submit(first)
    assert.strictEqual((yield* queue.submit({ ...first, metadata: { b: { c: 2 }, a: 1 } })).reference, "invoice-1")
    const conflict = (item: PayoutItem) =>
      Effect.map(Effect.flip(queue.submit(item)), (error) => {
        assert(error._tag === "ReferenceConflict")
        return [error.differs, error.earlier.amount, error.message] as const
      })
    const [amount, earlier, message] = yield* conflict({ ...first, amount: Money.centavos(2000) })
    assert.deepStrictEqual([amount, earlier], [["amount"], Money.centavos(1000)])
    assert.include(message, "submitted before, for R$ 10,00, and this payout has another amount (R$ 20,00)")
    assert.deepStrictEqual((yield* conflict({ ...first, metadata: { a: 2 } }))[0], ["content"])
    yield* queue.await("invoice-1")
    assert.strictEqual(yield* requests(), 1)
  })

  queued("accepts many or none, and names each wrong one", function* ({ queue }) {
    yield* queue.submit(payout("invoice-1"))
    const throwing = { reference: "throws", get amount() { throw new Error("no") } } // prettier-ignore
    const many: ReadonlyArray<unknown> = [
      payout("invoice-0"),
      payout("invoice-1", 5000),
      payout("invoice-2", 950),
      { ...payout("invoice-3"), pixKey: "?" },
      { ...payout("invoice-4"), reference: " " },
      { ...payout("invoice-5"), amount: 10.5 },
      { ...payout("invoice-6"), by: "a".repeat(101) },
      null,
      throwing
    ]
    // Callers without types give anything.
    const error = yield* Effect.flip(queue.submitMany(many as ReadonlyArray<PayoutItem>))
    assert(error._tag === "PayoutsNotAccepted")
    assert.deepStrictEqual(
      error.wrong.map(({ amount, error, index, reference }) => [index, reference, amount, error._tag]),
      [
        [1, "invoice-1", Money.centavos(5000), "ReferenceConflict"],
        [2, "invoice-2", Money.centavos(950), "BelowMinimum"],
        [3, "invoice-3", Money.centavos(1000), "InvalidRequest"],
        [4, " ", Money.centavos(1000), "InvalidRequest"],
        [5, "invoice-5", undefined, "InvalidRequest"],
        [6, "invoice-6", Money.centavos(1000), "InvalidRequest"],
        [7, "", undefined, "InvalidRequest"],
        [8, "", undefined, "InvalidRequest"]
      ]
    )
    for (const words of [
      "Correct 8 and submit all of them again",
      "(index 4) reference must be a text that is not blank",
      "invoice-1 (index 1) was submitted before, with another amount",
      "invoice-2 (index 2) asks for R$ 9,50, which is under the minimum of R$ 10,00"
    ])
      assert.include(error.message, words)
    const long = yield* Effect.flip(queue.submitMany(payouts(12, 1)))
    assert.match(long.message, /^No payout was accepted\. Correct 12 .* and 2 more\.$/)
    const listed = yield* Stream.runCollect(queue.list())
    assert.deepStrictEqual(
      listed.map(({ reference }) => reference),
      ["invoice-1"]
    )
  })

  queued("is listed beyond a page, the oldest first and by its state", function* ({ queue }) {
    yield* queue.setPaused(true)
    yield* queue.submitMany(payouts(205))
    yield* TestClock.adjust("1 second")
    yield* queue.submit(payout("last"))
    const listed = yield* Stream.runCollect(queue.list({ state: "accepted" }))
    assert.strictEqual(new Set(listed.map(({ reference }) => reference)).size, 206)
    assert.strictEqual(listed.at(-1)?.reference, "last")
    assert.lengthOf(yield* Stream.runCollect(queue.list({ state: "posted" })), 0)
  })

  effect("fails with each setting that makes no sense", worldOf(), function* () {
    const alike = { within: 0, then: "park" } // oxlint-disable-line no-thenable -- the name of the option
    const options = { concurrency: 0, lease: "Infinity", dailyCap: 0.5, forget: { data: "-1 days" }, alike }
    // A caller without types may give anything.
    const error = yield* Effect.flip(Layer.build(PayoutQueue.layer(options as PayoutQueueOptions)))
    assert(error._tag === "ConfigurationError")
    assert.sameMembers(
      error.settings.map(({ setting }) => setting),
      ["concurrency", "lease", "dailyCap", "forget.data", "alike.within"]
    )
  })
})

describe("a payout", () => {
  const rows: ReadonlyArray<readonly [string, Script[string], ended: string, sent: number, paid: number]> = [
    ["refused", [refused], "refused", 1, 0],
    ["asked to wait, and then refused", [Fault.answer(429), refused], "refused", 2, 0],
    ["refused for its credentials, and then refused", [unauthorised, refused], "refused", 2, 0],
    ["refused for its balance, and then paid", [poor], "posted", 2, 1],
    ["paid, and its answer is lost", [Fault.resetAfter], "posted", 2, 1],
    ["paid, its answer is lost, and then it is refused", [Fault.resetAfter, refused, poor], "posted", 4, 1],
    ["lost, and then refused again and again", [Fault.resetBefore, refused, refused], "posted", 4, 1],
    ["answered about another one", [otherKey()], "posted", 2, 1]
  ]
  for (const [name, met, ended, sent, moved] of rows)
    queued(
      `that is ${name} is sent ${sent} time(s) in an hour, is ${ended} then, and was paid ${moved} time(s)`,
      { script: { "invoice-1": met } },
      function* ({ queue }) {
        yield* queue.submit(payout("invoice-1"))
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual([yield* shown(), yield* requests(), yield* paid], [ended, sent, moved])
        if (ended !== "refused") return
        yield* queue.retry("invoice-1")
        assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
      }
    )

  /** Refusals with words, without words, and with a body that cannot be read. */
  const refusals: ReadonlyArray<readonly [string, Fault.Fault]> = [
    ["in words of a duplicate", Fault.refusal(422, "Requisição duplicada")],
    ["in words that say that it was asked before", Fault.refusal(422, "Saque já solicitado para esta referência")],
    ["in words that say that it is under way", Fault.refusal(422, "Saque em processamento")],
    ["in a code", Fault.answer(422, { body: `{"code":"WITHDRAWAL_ALREADY_REQUESTED"}` })],
    ["with 400, in words that say that it was asked before", Fault.refusal(400, "This payout was already made")],
    ["with 403, in words that say that it was asked before", Fault.refusal(403, "Pagamento já efetuado")],
    ["with 409 and other words", Fault.refusal(409, "Saldo insuficiente")],
    ["without words", Fault.empty(422, { executed: false })],
    ["unreadably, in JSON that does not end", Fault.answer(422, { body: `{"message":"Conta bloq` })],
    ["with 404, unreadably", bytes(404, new Uint8Array([0x4e, 0xe3, 0xff, 0x00]))]
  ]
  queued.each(refusals)(
    "that a single call paid is never refused when the service refuses it %s",
    function* ({ queue, sandbox }, [, refusal]) {
      const payments = yield* Payments
      const { reference, ...request } = payout("invoice-1")
      yield* payments.requestWithdrawal(request, { idempotencyKey: keyOf(reference) })
      yield* sandbox.fault("requestWithdrawal", refusal)
      yield* queue.submit(payout(reference))
      yield* settle
      assert.deepStrictEqual([yield* shown(), yield* isInDoubt(), yield* requests()], ["unknown", true, 2])
      // The next request with the key is answered with the withdrawal of the first call.
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* shown(), yield* paid], ["posted", 1])
    }
  )

  queued.each([
    ["is no JSON", () => "{"],
    ["is not a request", () => "{}"],
    ["is for another amount", (text: string) => text.replace("1000", "9000")]
  ] as const)("whose stored request %s is parked and not sent", function* (_, [, change]) {
    yield* insert(change)
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual([yield* shown(), yield* requests()], ["parked Unreadable", 0])
  })

  queued("of another key, or whose request was dropped, is not sent", function* ({ queue, sql }) {
    // No worker sees them before they are broken.
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* insert((text) => text, "invoice-1")
        yield* insert((text) => text, "invoice-2")
        yield* sql`UPDATE effect_pix_payouts SET reference = 'invoice-9' WHERE reference = 'invoice-1'`
        yield* sql`UPDATE effect_pix_payouts SET request = NULL WHERE reference = 'invoice-2'`
      })
    )
    yield* TestClock.adjust("2 seconds")
    const parked = yield* Stream.runCollect(queue.list({ state: "parked" }))
    assert.deepStrictEqual([parked.length, yield* requests()], [2, 0])
  })
})

queued(
  "a refused payout is subtracted from the day on which it was counted, and not from today",
  { dailyCap: 2000 },
  function* ({ queue, sandbox, sql }) {
    // The test's clock begins at 21:00 in São Paulo.
    yield* TestClock.adjust(3 * 3_600_000 - 500)
    const spent = Effect.map(sql`SELECT spent FROM effect_pix_payout_days ORDER BY day`, (rows) =>
      rows.map((row) => row["spent"])
    )
    yield* sandbox.fault("requestWithdrawal", { ...refused, wait: 1000 }, { times: 2 })
    yield* queue.submitMany(payouts(2))
    yield* settle
    yield* TestClock.adjust("500 millis")
    yield* queue.submitMany(payouts(5).slice(2))
    yield* settle
    assert.deepStrictEqual(yield* spent, [2000, 2000])
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* spent, [0, 2000])
    assert.strictEqual(yield* shown("invoice-5"), "accepted DailyCap")
  }
)

queued("a database that another program changes stops no other payout", function* ({ queue, sandbox, sql }) {
  yield* sandbox.fault("requestWithdrawal", Fault.latency("100 millis"))
  yield* queue.submit(payout("deleted"))
  yield* settle
  yield* sql`DELETE FROM effect_pix_payouts`
  yield* queue.submit(payout("other"))
  yield* TestClock.adjust("1 second")
  assert.strictEqual(yield* shown("other"), "posted")
  yield* sql`UPDATE effect_pix_payouts SET state = 'parked', parked_because = NULL`
  assert.strictEqual(yield* shown("other"), "parked Operator")
  for (const [raised, isRetryable] of [
    ["IGNORE", true],
    ["ABORT, 'maria'", false]
  ] as const) {
    yield* sql.unsafe(`CREATE TRIGGER none BEFORE INSERT ON effect_pix_payouts BEGIN SELECT RAISE(${raised}); END`)
    const error = yield* Effect.flip(queue.submit(payout("new")))
    assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", isRetryable })
    assert.notInclude(JSON.stringify(error), "maria")
    yield* sql`DROP TRIGGER none`
  }
  assert.isTrue(Option.isNone(yield* queue.status("new")))
})

describe("a seal", () => {
  const lost = new Set<string>()
  const seal: Seal.Seal = {
    seal: Effect.succeed,
    open: (sealed, reference) => (lost.has(reference) ? Effect.never : Effect.succeed(sealed))
  }
  queued("that never opens a request stops no other payout", { concurrency: 1, seal }, function* ({ queue }) {
    lost.add("invoice-1")
    yield* queue.submitMany(payouts(2))
    yield* TestClock.adjust("32 seconds")
    assert.strictEqual(yield* shown("invoice-2"), "posted")
    lost.clear()
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* shown("invoice-1"), "posted")
  })

  const other: Seal.Seal = { seal: Effect.succeed, open: () => Effect.succeed("no request") }
  queued("that opens another text leaves the check of a request to compare", { seal: other }, function* ({ queue }) {
    yield* queue.submit(payout("invoice-1"))
    assert.strictEqual((yield* queue.submit(payout("invoice-1"))).reference, "invoice-1")
    const error = yield* Effect.flip(queue.submit({ ...payout("invoice-1"), description: "another one" }))
    assert.isTrue(error._tag === "ReferenceConflict" && error.differs.join() === "content")
  })
})
