/** What a webhook claims of a payout: whose it is, what is stored of it, and that it changes no state. */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import type { PayoutQueue, PayoutStatus } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { NodeSqlite } from "effect-pix/node"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import refunded from "../fixtures/field/webhook-cashout-refunded.json" with { type: "json" }
import { lookups, numberOf, post, seenWorld, startConfirming } from "../support/confirming.ts"
import { effect } from "../support/effect.ts"
import { makeHeld } from "../support/payoutAnswers.ts"
import {
  keyOf,
  makeWarnings,
  pass,
  payout,
  payouts,
  startClient,
  startWorker,
  worldOf
} from "../support/payoutQueue.ts"
import { requests, stateOf } from "../support/payoutSeen.ts"
import { finish, recording } from "../support/webhooks.ts"

const statusOf = (queue: PayoutQueue["Service"], reference = "invoice-1") =>
  Effect.map(queue.status(reference), (found): Record<string, unknown> => ({ ...Option.getOrThrow(found) }))
/** How many changes a payout and the rows have. */
const versions = SqlClient.SqlClient.use(
  (sql) => sql`SELECT reference, state, version, ended_as, withdrawal_id FROM effect_pix_payouts ORDER BY reference`
)

/** The handler of the page. */
const onWithdrawal = (queue: PayoutQueue["Service"]) => (hint: Parameters<typeof queue.hint>[0]) =>
  Effect.flatMap(queue.hint(hint), Effect.fromOption)

effect("a payout is found by number, key or both, and by nothing that disagrees", seenWorld, function* () {
  const queue = yield* startWorker()
  const [one, two] = [yield* post(queue), yield* post(queue, "invoice-2")]
  yield* queue.setPaused(true)
  yield* queue.submit(payout("waits"))
  const key = keyOf("invoice-1")
  const found = yield* Effect.forEach(
    [
      { withdrawalId: one },
      { idempotencyKey: key },
      { withdrawalId: one, idempotencyKey: key },
      { idempotencyKey: keyOf("waits") },
      { withdrawalId: two, idempotencyKey: key },
      { withdrawalId: two, idempotencyKey: keyOf("waits") },
      { withdrawalId: 99 },
      { idempotencyKey: "payout_unknown" },
      { idempotencyKey: `\0${key}` },
      { withdrawalId: -1 },
      { withdrawalId: one, idempotencyKey: "" }
    ],
    (named) => {
      const status = Effect.all([
        queue.find(named),
        Effect.orElseSucceed(queue.hint({ ...named, status: "pending" }), () => Option.none<PayoutStatus>())
      ])
      return Effect.map(status, (both) =>
        both.map(Option.match({ onNone: () => "none", onSome: ({ reference }) => reference })).join(" ")
      )
    }
  )
  const first = "invoice-1 invoice-1"
  assert.deepStrictEqual(found, [first, first, first, "waits waits", ...Array.from({ length: 7 }, () => "none none")])
})

effect("a wrong hint names its fields, and changes nothing", seenWorld, function* () {
  const queue = yield* startClient()
  const before = yield* versions
  const wrong = [
    { status: "failure" },
    { withdrawalId: 1.5, status: "failure" },
    { withdrawalId: "7", status: 1, endToEndId: 2 },
    null
  ]
  const paths = yield* Effect.forEach(wrong, (hint) =>
    // A program without types may give anything.
    Effect.map(Effect.flip(queue.hint(hint as never)), (error) =>
      error._tag === "InvalidRequest" ? error.issues.map(({ path }) => path).join(" ") : error._tag
    )
  )
  assert.deepStrictEqual(paths, ["withdrawalId", "withdrawalId", "withdrawalId status endToEndId", "options"])
  assert.deepStrictEqual(yield* versions, before)
})

describe("a claim", () => {
  const told = makeWarnings()
  effect(
    "is stored once with its listed word, is told once, and waits for a person",
    Layer.merge(seenWorld, told.layer),
    function* () {
      const queue = yield* startWorker()
      const withdrawalId = yield* post(queue)
      const endToEndId = "E12345678202611271102a1b2c3d4e5f"
      for (const hint of [
        { status: "successful", endToEndId },
        { status: "refunded", endToEndId: "Maria Silva, CPF 529.982.247-25" },
        { status: "refunded", endToEndId: "52998224725" },
        { status: "refunded", endToEndId: "EduardaSilva" },
        { status: "refunded", endToEndId: "1b4e28ba-2fa1-41d2-883f-0016d3cca427" },
        { status: "refunded" },
        { status: "MARIA SILVA" },
        { status: "REFUNDED MARIA" },
        { status: "failure" }
      ])
        yield* queue.hint({ withdrawalId, ...hint })
      assert.deepInclude(yield* statusOf(queue), { state: "posted", withdrawalId, claimed: "failed" })
      const claimed = Stream.runCount(Stream.filter(queue.list({ toCheck: true }), (one) => one.claimed !== undefined))
      assert.deepStrictEqual([yield* claimed, yield* Stream.runCount(queue.list({ toCheck: false }))], [1, 0])
      assert.deepStrictEqual(
        told.lines.filter((line) => line.startsWith("A webhook claims")).map((line) => line.slice(0, 43)),
        ["A webhook claims that a payout returned (re", "A webhook claims that a payout failed (refe"]
      )
      yield* queue.settle("invoice-1", { as: "returned", by: "ana" })
      assert.deepStrictEqual(
        [yield* claimed, yield* stateOf(queue, "invoice-1"), yield* requests()],
        [0, "returned", 1]
      )
      // A claim that denies what a person said waits for one again.
      for (const [as, status, claimed] of [
        ["paid", "refunded", "returned"],
        ["failed", "successful", "paid"],
        ["paid", "successful", undefined],
        ["returned", "successful", undefined]
      ] as const) {
        yield* queue.settle("invoice-1", { as, by: "ana" })
        yield* queue.hint({ withdrawalId, status })
        assert.strictEqual((yield* statusOf(queue))["claimed"], claimed)
      }
    }
  )

  effect("of a return is not replaced by one of success, and one that agrees ends none", seenWorld, function* () {
    const queue = yield* startWorker()
    const withdrawalId = yield* post(queue)
    yield* queue.settle("invoice-1", { as: "failed", by: "ana" })
    const claimed: Array<unknown> = []
    for (const status of ["successful", "refunded", "successful", "failure", "pending", "MARIA SILVA"]) {
      yield* queue.hint({ withdrawalId, status })
      claimed.push((yield* statusOf(queue))["claimed"])
    }
    assert.deepStrictEqual(claimed, ["paid", "returned", "returned", "returned", "returned", "returned"])
    assert.deepInclude(yield* statusOf(queue), { state: "failed", by: "person", toCheck: true })
  })

  effect("is kept of each state", seenWorld, function* () {
    const queue = yield* startClient()
    yield* queue.submitMany(payouts(2))
    yield* queue.park("invoice-1")
    for (const { reference } of payouts(2)) yield* queue.hint({ idempotencyKey: keyOf(reference), status: "failure" })
    for (const as of ["paid", "failed", "returned"] as const) {
      yield* queue.settle("invoice-1", { as, by: "bia" })
      yield* queue.hint({ idempotencyKey: keyOf("invoice-1"), status: "failure" })
      yield* queue.hint({ idempotencyKey: keyOf("invoice-1"), status: `refunded` })
      assert.deepInclude(yield* statusOf(queue), { state: as })
    }
    assert.deepInclude(yield* statusOf(queue), { state: "returned", toCheck: true, claimed: "failed" })
  })

  effect("joins the transaction of its caller, and refuses another client's", seenWorld, function* () {
    const queue = yield* startConfirming()
    const sql = yield* SqlClient.SqlClient
    const withdrawalId = yield* post(queue)
    const hint = queue.hint({ withdrawalId, status: "refunded" })
    yield* Effect.flip(sql.withTransaction(Effect.andThen(hint, Effect.fail("no"))))
    yield* pass(5)
    assert.deepStrictEqual([(yield* statusOf(queue))["claimed"], yield* lookups], [undefined, 0])
    const other = yield* Layer.build(Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })))
    const foreign = SqlClient.SqlClient.use((client) => client.withTransaction(hint))
    assert.strictEqual((yield* Effect.flip(Effect.provide(foreign, other)))._tag, "ForeignTransaction")
  })
})

describe("with confirm", () => {
  const denied = makeWarnings()
  effect(
    "a forged hint costs a lookup and a line, and changes no state",
    Layer.merge(seenWorld, denied.layer),
    function* () {
      const queue = yield* startConfirming()
      const sandbox = yield* Sandbox
      const withdrawalId = yield* post(queue)
      yield* sandbox.settleWithdrawal(withdrawalId)
      yield* pass(31)
      const before = yield* lookups
      for (const status of ["failure", "refunded", "FALHOU", "estornado"]) {
        const looked = yield* lookups
        yield* queue.hint({ withdrawalId, status })
        yield* pass(2)
        assert.deepStrictEqual([yield* stateOf(queue, "invoice-1"), (yield* lookups) - looked], ["paid", 1])
      }
      // The second one of each kind is counted by the line of a minute.
      assert.deepStrictEqual(
        denied.lines.map((line) => line.slice(0, 43)),
        ["failed", "returned"].map((word) => `A webhook claimed that a payout ${word}, and the`.slice(0, 43))
      )
      yield* TestClock.adjust("3 hours")
      assert.isAtMost((yield* lookups) - before, 5)
      assert.deepStrictEqual([yield* requests(), yield* Stream.runCount(queue.list({ toCheck: true }))], [1, 0])
    }
  )

  effect("hints of what is under way make no lookup later", seenWorld, function* () {
    const queue = yield* startConfirming()
    const withdrawalId = yield* post(queue)
    for (let second = 0; second < 6; second++) {
      yield* queue.hint({ withdrawalId, status: "pending" })
      yield* pass(1)
    }
    const before = yield* lookups
    yield* TestClock.adjust("13 minutes")
    // After 30 seconds, 2.5 and 12.5 minutes.
    assert.deepStrictEqual([before, (yield* lookups) - before], [6, 3])
  })

  effect("a returned payout is in the user's books within two seconds of its webhook", seenWorld, function* () {
    const queue = yield* startConfirming()
    const sandbox = yield* Sandbox
    const withdrawalId = yield* post(queue)
    yield* sandbox.settleWithdrawal(withdrawalId)
    yield* pass(31)
    // Another process receives the webhook.
    const client = yield* startClient()
    const webhook = yield* recording({ onWithdrawal: onWithdrawal(client) })
    for (const [by, name] of [
      [client, "another process"],
      [queue, "this process"]
    ] as const) {
      const reference = name === "this process" ? "invoice-2" : "invoice-1"
      const id = name === "this process" ? yield* post(queue, reference) : withdrawalId
      if (name === "this process") yield* sandbox.settleWithdrawal(id)
      yield* sandbox.returnWithdrawal(id)
      if (by === client) assert.strictEqual(yield* webhook.post({ ...refunded, withdrawId: id }), 200)
      else yield* queue.hint({ withdrawalId: id, status: "refunded" })
      yield* pass(2)
      assert.strictEqual(yield* stateOf(queue, reference), "returned", name)
    }
    assert.strictEqual(yield* requests(), 2)
  })

  effect(
    "a webhook that is faster than the answer is called again, and found",
    worldOf({}, undefined, "seen"),
    function* () {
      const { answer, arrived, held } = yield* makeHeld
      yield* (yield* Sandbox).fault("requestWithdrawal", held)
      const queue = yield* startConfirming()
      const webhook = yield* recording({ onWithdrawal: onWithdrawal(queue) })
      yield* queue.submit(payout("invoice-1"))
      yield* arrived
      yield* webhook.post({ ...refunded, withdrawId: 1 })
      yield* pass(5)
      assert.isUndefined((yield* statusOf(queue))["claimed"])
      yield* answer()
      yield* pass(10)
      assert.strictEqual(yield* numberOf(queue), 1)
      assert.strictEqual(yield* lookups, 1)
      yield* finish(webhook)
      assert.deepStrictEqual(webhook.reports, [])
      // One that no payout has is an unconfirmed report after ten minutes.
      yield* webhook.post({ ...refunded, withdrawId: 99 })
      yield* TestClock.adjust("12 minutes")
      assert.deepStrictEqual(webhook.reasons(), ["UnconfirmedWithdrawal"])
    }
  )
})
