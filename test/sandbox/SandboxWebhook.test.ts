/** The webhooks of the sandbox: what is sent, to whom and how often. And what a sandbox keeps of its requests and changes. */
import { assert, describe } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Redacted, type Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Fault, Sandbox, type SandboxChange } from "effect-pix/sandbox"
import { inspect } from "node:util"
import { effect } from "../support/effect.ts"
import { lookupPath } from "../support/operations.ts"
import { ask, charging, keyed, memory, paying } from "../support/doors.ts"

const secret = Redacted.make("a-shared-secret")
const rich = memory({ balance: 100_000, webhookSecret: secret })
const charge = Effect.map(ask(charging()), ({ json }) => String(json.data.id))
const payout = (metadata?: Schema.Json) =>
  Effect.map(ask(paying({ metadata }, keyed("wd_42"))), ({ json }) => Number(json.id))

/** Subscribes a receiver that answers with the given statuses in turn, and then with 200. */
const receive = Effect.fnUntraced(function* (...statuses: ReadonlyArray<number>) {
  const bodies: Array<Schema.Json> = []
  yield* (yield* Sandbox).subscribe(async (request) => {
    const status = statuses[bodies.length] ?? 200
    bodies.push(await request.json())
    return new Response(null, { status })
  })
  return { bodies }
})

/** Pays a new charge, and waits for the attempts to say so. */
const sell = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const paid = yield* sandbox.markPaid(yield* charge)
  yield* sandbox.awaitWebhooks
  return paid
})

const statusesOf = Effect.flatMap(Sandbox, ({ webhooks }) =>
  Effect.map(webhooks, (all) => all.map(({ attempts, state }) => [state, ...attempts.map(({ status }) => status)]))
)

const changed = (transactionId: string, status: string, at: string) => ({
  event: "transaction.updated",
  transactionId,
  status,
  amount: 2500,
  paymentMethod: "PIX",
  updatedAt: `1970-01-${at}:00:00.000Z`
})

describe("a webhook", () => {
  effect("every change of a charge is sent once, with its time, and its creation is not", rich, function* () {
    const { awaitWebhooks, cancel, fail, markPaid, refund, webhooks } = yield* Sandbox
    const { bodies } = yield* receive()
    const [paid, cancelled, failed, lapsed] = yield* Effect.all([charge, charge, charge, charge])
    yield* TestClock.adjust("12 hours")
    for (const step of [markPaid(paid), markPaid(paid), cancel(cancelled), fail(failed), refund(paid)]) yield* step
    yield* Effect.andThen(TestClock.adjust("36 hours"), awaitWebhooks)
    assert.lengthOf(bodies, 4)
    for (let times = 2; times > 0; times--) yield* ask({ path: lookupPath(lapsed) })
    yield* Effect.andThen(markPaid(lapsed, { late: true, amount: 100 }), awaitWebhooks)
    assert.deepStrictEqual(bodies, [
      changed(paid, "Paid", "01T12"),
      changed(cancelled, "Cancelled", "01T12"),
      changed(failed, "Failed", "01T12"),
      changed(paid, "Refunded", "01T12"),
      changed(lapsed, "Cancelled", "02T00"),
      { ...changed(lapsed, "Paid", "03T00"), amount: 100 }
    ])
    assert.notInclude(inspect(yield* webhooks, { depth: 10 }), "a-shared-secret")
  })

  effect("the end of a payout is sent, with its key and its metadata as a text", rich, function* () {
    const { awaitWebhooks, forgetKeys, rejectWithdrawal, settleWithdrawal, webhooks } = yield* Sandbox
    const { bodies } = yield* receive()
    const settled = yield* Effect.tap(payout({ batch: 7, tags: ["a"] }), awaitWebhooks)
    assert.deepStrictEqual(bodies, [])
    for (let times = 2; times > 0; times--) yield* settleWithdrawal(settled)
    yield* forgetKeys
    yield* rejectWithdrawal(yield* payout("batch-8"))
    yield* rejectWithdrawal((yield* ask(paying())).json.id)
    yield* awaitWebhooks
    const ended = { event: "withdrawal.updated", amount: 1000, createdAt: "1970-01-01T00:00:00.000Z" }
    const keyed = { ...ended, idempotencyKey: "wd_42" }
    assert.deepStrictEqual(bodies, [
      { ...keyed, withdrawalId: 1, status: "Settled", metadata: '{"batch":7,"tags":["a"]}' },
      { ...keyed, withdrawalId: 2, status: "Rejected", metadata: "batch-8" },
      { ...ended, withdrawalId: 3, status: "Rejected" }
    ])
    assert.strictEqual((yield* webhooks).map(({ withdrawalId }) => withdrawalId).join(), "1,2,3")
  })

  effect("a webhook is sent at once, and after 1, 5, 25, 125 and 625 seconds, until the first 2xx", rich, function* () {
    const { awaitWebhooks, webhooks } = yield* Sandbox
    const { bodies } = yield* receive(500, 404, 302, 503, 429, 400, 500)
    yield* sell
    const next: Array<number | undefined> = []
    for (const wait of [0, 1, 5, 25, 125, 625, 3125]) {
      yield* Effect.andThen(TestClock.adjust(wait * 1000), awaitWebhooks)
      const at = (yield* webhooks)[0]?.nextAttemptAt
      next.push(at === undefined ? undefined : Date.parse(at) / 1000)
    }
    assert.deepStrictEqual(yield* statusesOf, [["GivenUp", 500, 404, 302, 503, 429, 400]])
    const attempts = (yield* webhooks)[0]?.attempts.map(({ at }) => Date.parse(at) / 1000)
    assert.deepStrictEqual(attempts, [0, 1, 6, 31, 156, 781])
    assert.deepStrictEqual(next, [1, 6, 31, 156, 781, undefined, undefined])
    assert.deepStrictEqual(bodies, Array<unknown>(6).fill(bodies[0]))
  })

  effect("a webhook is sent again after any failure, and its answer is shown in part", rich, function* () {
    const sandbox = yield* Sandbox
    const thanks = "thank you, ".repeat(200)
    const answers: Array<() => Promise<Response> | Effect.Effect<Response, unknown>> = [
      () => {
        throw new Error("thrown")
      },
      () => Promise.reject(new Error("rejected")),
      () => Effect.fail("failed"),
      () => Effect.never,
      () => Effect.succeed(new Response(thanks, { status: 206 }))
    ]
    yield* sandbox.subscribe(() => answers.shift()?.() ?? Effect.never)
    yield* sell
    for (const wait of [1, 5, 25, 10, 125]) {
      yield* TestClock.adjust(wait * 1000)
      // The fourth is under way until its ten seconds are over.
      if (wait !== 25) yield* sandbox.awaitWebhooks
    }
    yield* TestClock.adjust("1 hour")
    const [webhook] = yield* sandbox.webhooks
    assert.strictEqual(webhook?.state, "Taken")
    const failed = [0, "the target could not be reached", undefined, ""]
    assert.deepStrictEqual(
      webhook?.attempts.map(({ answer, error, millis, status }) => [millis, error, status, answer]),
      [
        failed,
        failed,
        failed,
        [10_000, "no answer within 10 seconds", undefined, ""],
        [0, undefined, 206, thanks.slice(0, 1024)]
      ]
    )
  })

  effect("the change of a charge does not wait for its webhook", rich, function* () {
    const sandbox = yield* Sandbox
    const open = yield* Deferred.make<void>()
    yield* sandbox.subscribe(() => Effect.as(Deferred.await(open), new Response()))
    assert.strictEqual((yield* sandbox.markPaid(yield* charge)).status, "Paid")
    const resting = yield* Effect.forkChild(sandbox.awaitWebhooks, { startImmediately: true })
    assert.deepStrictEqual([yield* statusesOf, resting.pollUnsafe()], [[["Pending"]], undefined])
    yield* Deferred.succeed(open, undefined)
    yield* Fiber.join(resting)
    assert.deepStrictEqual(yield* statusesOf, [["Taken", 200]])
  })

  effect("a reset ends all attempts: nothing more is sent, and nobody is subscribed", rich, function* () {
    const { bodies } = yield* receive(500)
    yield* sell
    yield* (yield* Sandbox).reset
    yield* Effect.andThen(TestClock.adjust("1 hour"), sell)
    assert.lengthOf(bodies, 1)
    assert.deepStrictEqual(yield* statusesOf, [])
  })

  effect("a pushed clock lapses charges in their order, and sends webhooks again", rich, function* () {
    const { advance, awaitWebhooks, transactions, webhooks } = yield* Sandbox
    yield* receive(500, 500, 500)
    for (const expiresInDays of [3, 1, 4, 2, 1]) yield* ask(charging({ pix: { expiresInDays } }))
    for (const time of ["2 days", "1 day"] as const) yield* Effect.andThen(advance(time), awaitWebhooks)
    const ends = (yield* statusesOf).map((one) => one.join(" "))
    assert.deepStrictEqual(ends, ["Taken 500 200", "Taken 500 200", "Taken 500 200", "Taken 200"])
    const charges = yield* transactions
    const lapsed = (yield* webhooks).map((sent) => charges.findIndex((one) => one.transactionId === sent.transactionId))
    assert.deepStrictEqual([charges[2]?.status, lapsed], ["Awaiting", [1, 4, 3, 0]])
    assert.strictEqual(yield* Clock.currentTimeMillis, 0)
  })
})

describe("a sandbox that runs", () => {
  effect("a sandbox has the last requests and webhooks alone", memory({ keep: 3 }), function* () {
    const { awaitWebhooks, markPaid, requests, resendWebhook, subscribe, webhooks } = yield* Sandbox
    yield* subscribe(() => Effect.succeed(new Response("thank you")))
    for (let count = 0; count < 5; count++) yield* Effect.flatMap(charge, (id) => markPaid(id))
    yield* awaitWebhooks
    for (const rows of [yield* requests, yield* webhooks])
      assert.deepStrictEqual(rows.map(({ id }) => id).join(), "3,4,5")
    assert.strictEqual((yield* Effect.flip(resendWebhook(2)))._tag, "SandboxNotFound")
    yield* resendWebhook(4)
  })

  effect("each change of a sandbox is emitted in order, with the next number", memory({ balance: 1000 }), function* () {
    const { changes, fault, markPaid, overview, reset } = yield* Sandbox
    const emitted: Array<SandboxChange> = []
    const listen = Stream.runForEach(changes, (change) => Effect.sync(() => emitted.push(change)))
    yield* Effect.forkChild(listen, { startImmediately: true })
    yield* Effect.yieldNow
    const { sequence } = yield* overview
    yield* Effect.flatMap(charge, (id) => markPaid(id))
    yield* Effect.andThen(payout(), fault("any", Fault.html()))
    yield* Effect.andThen(reset, TestClock.adjust(1))
    const tags = "Request Transaction Request Transaction Request Withdrawal Request Settings Reset".split(" ")
    assert.deepStrictEqual(
      emitted.map((change) => [change._tag, change.sequence]),
      tags.map((tag, index) => [tag, sequence + index + 1])
    )
  })
})
