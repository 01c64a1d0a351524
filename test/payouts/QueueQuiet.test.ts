/**
 * What a queue asks its database while there is nothing to do, and while the database cannot be reached.
 */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { AuthenticationError, ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { charge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { answering } from "../support/interruptible.ts"
import { gatewayOnce, makeWarnings, memory, payout, payouts, queued, worldOf } from "../support/payoutQueue.ts"
import { recordingTracer } from "../support/spans.ts"
import { makeStatements } from "../support/statements.ts"

describe("await", () => {
  const { layer, texts } = makeStatements()
  queued("reads the database once in each poll interval", { under: layer }, function* ({ queue, sql }) {
    yield* queue.setPaused(true)
    // Any write may concern an awaited payout.
    const write = sql`UPDATE effect_pix_payout_accounts SET refusals = refusals`
    yield* Effect.forkScoped(Effect.repeat(write, Schedule.spaced("100 millis")))
    yield* queue.submitMany(payouts(100))
    const fibers = yield* Effect.forEach(payouts(100), ({ reference }) => Effect.forkChild(queue.await(reference)))
    yield* TestClock.adjust("2 seconds")
    texts.length = 0
    yield* TestClock.adjust("10 seconds")
    assert.lengthOf(
      texts.filter((text) => text.startsWith("SELECT") && text.includes("idempotency_key")),
      10
    )
    yield* queue.setPaused(false)
    yield* TestClock.adjust("5 seconds")
    for (const fiber of fibers) assert.strictEqual((yield* Fiber.join(fiber)).state, "posted")
  })

  queued("ends after another process changed or deleted the payout", function* ({ queue, sql }) {
    yield* queue.setPaused(true)
    yield* queue.submitMany(payouts(3))
    const fibers = yield* Effect.forEach(payouts(3), ({ reference }) => Effect.forkChild(queue.await(reference)))
    yield* TestClock.adjust("1 second")
    yield* sql`UPDATE effect_pix_payouts SET state = 'posted', version = version + 1 WHERE reference = 'invoice-1'`
    yield* sql`DELETE FROM effect_pix_payouts WHERE reference = 'invoice-2'`
    yield* TestClock.adjust("1 second")
    const [posted, deleted, waiting] = fibers
    assert.strictEqual((yield* Fiber.join(posted!)).state, "posted")
    assert.strictEqual((yield* Effect.flip(Fiber.join(deleted!)))._tag, "PayoutNotFound")
    assert.isUndefined(waiting?.pollUnsafe())
  })
})

const tracer = recordingTracer()
const statements = makeStatements()
effect(
  "a queue and a webhook with nothing to do make no spans, and send the statements of their hourly sweeps alone; what waits wakes nobody",
  Layer.mergeAll(PayoutQueue.layer(), Webhook.layerSql({})).pipe(
    Layer.provideMerge(worldOf()),
    Layer.provide([statements.layer, tracer.layer])
  ),
  function* () {
    const queue = yield* PayoutQueue
    const webhook = yield* Webhook
    const pay = Effect.fnUntraced(function* (reference: string) {
      yield* queue.submit(payout(reference))
      assert.strictEqual((yield* queue.await(reference)).state, "posted")
      const { id } = yield* charge
      yield* (yield* Sandbox).markPaid(id)
      yield* webhook.check(id)
      yield* (yield* WebhookClient).idle
      // The queue looks once more after a write.
      yield* TestClock.adjust("2 minutes")
      statements.texts.length = 0
      tracer.spans.length = 0
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(tracer.spans, [])
      assert.isAtMost(statements.texts.length, 2 * 6, statements.texts.join("\n"))
    })
    yield* pay("invoice-1")
    yield* pay("invoice-2")
    yield* queue.setPaused(true)
    yield* queue.submit(payout("invoice-3"))
    yield* Effect.forkScoped(queue.await("invoice-3"))
    yield* TestClock.adjust("10 seconds")
    tracer.spans.length = 0
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(tracer.spans, [])
    statements.texts.length = 0
    yield* TestClock.adjust("1 hour")
    const count = (words: string) => statements.texts.filter((text) => text.includes(words)).length
    // A worker is seen each minute while something waits, and neither that nor a renewed lease wakes who awaits a payout.
    assert.deepStrictEqual([count("served_at = CASE"), count('SELECT idempotency_key AS "key"')], [60, 0])
  }
)

const looks = makeStatements()
/** A database that other processes may write to. */
const shared = Layer.provide(Layer.effect(SqlClient.SqlClient, SqlClient.SqlClient), memory)
effect(
  "a queue that confirms and hands out asks a shared database one question in a second in which nothing is due",
  PayoutQueue.layer({ confirm: true, onState: () => Effect.void }).pipe(
    Layer.provide([shared, gatewayOnce, looks.layer])
  ),
  function* () {
    yield* TestClock.adjust("10 seconds")
    looks.texts.length = 0
    yield* TestClock.adjust("1 minute")
    assert.lengthOf(
      looks.texts.filter((text) => text.includes("MIN(due_at)")),
      60
    )
    // The gauges are measured once a minute.
    assert.isAtMost(looks.texts.length, 66, looks.texts.join("\n"))
  }
)

describe("a database that cannot be reached", () => {
  const props = { message: "query", operation: "query" }
  const sentence = "The database cannot be reached. This is retried until it can."
  const refusing = new ConnectionError({ ...props, cause: new Error("ECONNREFUSED") })
  const starting = new UnknownError({ ...props, cause: Object.assign(new Error("starting up"), { code: "57P03" }) })

  /** SQLite, whose first question whether it answers fails for each of these reasons. */
  const failing = (reasons: Array<SqlError["reason"]>) =>
    Layer.effect(
      SqlClient.SqlClient,
      Effect.map(SqlClient.SqlClient, (sql) => {
        const fail = Effect.suspend(() => {
          const next = reasons.shift()
          return next === undefined ? Effect.succeed([]) : Effect.fail(new SqlError({ reason: next }))
        })
        return answering(sql, (text) => (text === "SELECT 1" && reasons.length > 0 ? fail : undefined))
      })
    ).pipe(Layer.provide(memory))

  effect("is waited for at the start, with a line a minute, unless it refuses the credentials", function* () {
    const { layer, lines } = makeWarnings()
    const reasons = [refusing, starting]
    const build = (reasons: Array<SqlError["reason"]>) =>
      Layer.build(Layer.provide(PayoutQueue.layer(), [worldOf(), failing(reasons), layer]))
    const starts = yield* Effect.forkChild(build(reasons), { startImmediately: true })
    yield* TestClock.adjust("1 second")
    assert.isUndefined(starts.pollUnsafe())
    yield* TestClock.adjust("2 seconds")
    const queue = Context.get(yield* Fiber.join(starts), PayoutQueue)
    assert.deepStrictEqual([reasons.length, [...new Set(lines)]], [0, [sentence]])
    yield* queue.submit(payout("invoice-1"))
    assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    const denied = new AuthenticationError({ ...props, cause: new Error("no") })
    assert.include((yield* Effect.flip(build([denied]))).message, "AuthenticationError")
  })
})
