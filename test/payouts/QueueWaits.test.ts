/**
 * Payouts that cannot be sent now: what they wait for, for how long, and what a person may say of one that may have left.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Metric, Option, References, Scope, Stream } from "effect"
import { Money, PaymentsPolicy } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions, Payouts } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeBank, type Misbehaviour } from "../support/bank.ts"
import { databases } from "../support/database.ts"
import { makeWarnings, memory, payout, payouts, settle } from "../support/payoutQueue.ts"

const broke: Misbehaviour = { status: 422, body: { message: "Saldo insuficiente" } }
const unauthorised: Misbehaviour = { status: 401, body: { message: "Não autorizado" } }
const redirected: Misbehaviour = { status: 301 }
const forbidden: Misbehaviour = { status: 403, body: { message: "Proibido" } }
const limited: Misbehaviour = { status: 429 }

interface World {
  readonly queue: PayoutQueue["Service"]
  readonly bank: ReturnType<typeof makeBank>
  /** What the gateway does from now on. */
  readonly answer: (next: Misbehaviour | undefined) => void
  readonly lines: Array<string>
}

/** A queue over a gateway that does what the test says. */
const test = (
  name: string,
  use: (world: World) => Effect.Effect<void, unknown, Scope.Scope | SqlClient.SqlClient>,
  options: PayoutQueueOptions = {}
) =>
  it.effect(name, () => {
    let next: Misbehaviour | undefined
    const bank = makeBank(() => next)
    // Without the amounts and keys of their payouts.
    const { layer, lines } = makeWarnings((line) => line.replace(/ \(reference.*$/, ""))
    const answer = (misbehaviour: Misbehaviour | undefined) => {
      next = misbehaviour
    }
    return Effect.flatMap(PayoutQueue, (queue) => use({ queue, bank, answer, lines })).pipe(
      Effect.scoped,
      Effect.provide(
        PayoutQueue.layer(options).pipe(
          Layer.provide(bank.makeClient("client-a", { companyId: 1 }).layer),
          Layer.provideMerge(PaymentsPolicy.layer(PaymentsPolicy.once)),
          Layer.provideMerge(Layer.fresh(memory)),
          Layer.provideMerge(layer)
        )
      ),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  })

const statusOf = (queue: PayoutQueue["Service"], reference = "invoice-1") =>
  Effect.map(queue.status(reference), Option.getOrThrow)
const shownOf = (queue: PayoutQueue["Service"], reference = "invoice-1") =>
  Effect.map(statusOf(queue, reference), (status) =>
    [status.state, "because" in status ? status.because : undefined, "waitsFor" in status ? status.waitsFor : undefined]
      .filter((word) => word !== undefined)
      .join(" ")
  )
const count = (queue: PayoutQueue["Service"], state: "accepted" | "parked" | "posted") =>
  Stream.runCount(queue.list({ state }))

/** How many payouts are delayed and how much, by their cause. */
const delayed = Effect.map(Metric.snapshot, (metrics) => {
  const found: Record<string, Array<unknown>> = {}
  for (const { attributes, id, state, type } of metrics) {
    if (!id.startsWith("effect_pix_payout_queue_delayed") || type !== "Gauge" || Number(state.value) === 0) continue
    const cause = String(attributes?.["cause"])
    found[cause] = id.endsWith("centavos")
      ? [...(found[cause] ?? []), state.value]
      : [state.value, ...(found[cause] ?? [])]
  }
  return found
})

/** How many payouts are counted as parked for a person. */
const parked = Effect.map(Metric.snapshot, (metrics) => {
  const found = metrics.find(
    ({ attributes, id }) => id === "effect_pix_payout_queue_waiting" && attributes?.["state"] === "parked"
  )
  return found?.type === "Gauge" ? Number(found.state.value) : undefined
})

/** A poll that does not slow hours of the test's clock down. */
const slow = { poll: "5 minutes", lease: "10 minutes" } as const

describe("a line of a sheet whose run has ended", () => {
  test("waits for the next run, and is not counted with the payouts that wait for a person", ({ lines, queue }) =>
    Effect.gen(function* () {
      yield* queue.submit(payout("invoice-1"))
      yield* queue.setPaused(true)
      yield* queue.park("invoice-1")
      const run = yield* Effect.forkChild(
        Effect.provideService(Payouts.run([payout("line-1", 2000)]), PayoutQueue, queue)
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(run)
      yield* queue.setPaused(false)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* shownOf(queue, "line-1"), "parked RunEnded")
      assert.deepStrictEqual(yield* delayed, { RunEnded: [1, 2000] })
      assert.strictEqual(yield* parked, 1)
      assert.sameMembers(lines, [
        "A payout is not sent: the run of its sheet is over",
        '1 payout(s) wait for a person: list({ state: "parked" }) names them.'
      ])
    }))
})

describe("a payout above the limit", () => {
  test("waits for a second person, and is not counted with the payouts that are an alarm", ({ lines, queue }) =>
    Effect.gen(function* () {
      yield* queue.setFourEyes(Money.centavos(1500), { by: "carla" })
      yield* queue.submit({ ...payout("invoice-1", 2000), by: "ana" })
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* delayed, { NeedsApproval: [1, 2000] })
      assert.strictEqual(yield* parked, 0)
      assert.deepStrictEqual(lines, ["A payout waits for a person: NeedsApproval"])
    }))
})

describe("an account without a balance", () => {
  test(
    "ends no payout: they wait, are asked for less and less often, and are paid when it has one",
    ({ answer, bank, lines, queue }) =>
      Effect.gen(function* () {
        answer(broke)
        yield* queue.submitMany(payouts(20))
        yield* TestClock.adjust("2 hours")
        assert.strictEqual(yield* count(queue, "accepted"), 20)
        assert.strictEqual(yield* shownOf(queue), "accepted InsufficientBalance")
        assert.deepStrictEqual(yield* delayed, { InsufficientBalance: [20, 20_000] })
        // At first after 1, 2, 4, 8 and then every 15 minutes.
        assert.isAtMost(bank.received.length, 20 * 13)
        assert.deepStrictEqual(lines, ["The balance of the account default does not cover a payout"])
        answer(undefined)
        yield* TestClock.adjust("16 minutes")
        assert.strictEqual(yield* count(queue, "posted"), 20)
        assert.strictEqual(bank.paid.size, 20)
      }),
    slow
  )
})

describe("waiting has an end", () => {
  for (const [name, misbehaviour] of [
    ["a balance", broke],
    ["the right credentials", unauthorised],
    ["the right base URL", redirected],
    ["a right to pay", forbidden],
    ["the end of a rate limit", limited],
    ["a connection", "no connection"]
  ] as const) {
    test(
      `for ${name}: after the horizon the payout is parked, and nothing is sent until a person resumes it`,
      ({ answer, bank, queue }) =>
        Effect.gen(function* () {
          answer(misbehaviour)
          yield* queue.submit(payout("invoice-1"))
          yield* TestClock.adjust("55 minutes")
          assert.strictEqual((yield* statusOf(queue)).state, "accepted")
          yield* TestClock.adjust("20 minutes")
          assert.strictEqual((yield* queue.await("invoice-1")).state, "parked")
          assert.strictEqual(yield* shownOf(queue), "parked WaitedTooLong")
          const sent = bank.received.length
          answer(undefined)
          yield* TestClock.adjust("1 day")
          assert.strictEqual(bank.received.length, sent)
          yield* queue.resume("invoice-1", { by: "ana" })
          yield* TestClock.adjust("6 minutes")
          assert.strictEqual(yield* shownOf(queue), "posted")
          assert.strictEqual(bank.paid.size, 1)
        }),
      { ...slow, horizon: "1 hour" }
    )
  }

  test(
    "counts again from a step of a person who wants it sent",
    ({ answer, queue }) =>
      Effect.gen(function* () {
        answer(broke)
        yield* queue.submit(payout("invoice-1"))
        yield* TestClock.adjust("50 minutes")
        yield* queue.retry("invoice-1")
        yield* TestClock.adjust("50 minutes")
        assert.strictEqual(yield* shownOf(queue), "accepted InsufficientBalance")
        yield* TestClock.adjust("25 minutes")
        assert.strictEqual(yield* shownOf(queue), "parked WaitedTooLong")
      }),
    { ...slow, horizon: "1 hour" }
  )

  test(
    "does not count a pause, nor the wait for the next day of a cap",
    ({ answer, bank, queue }) =>
      Effect.gen(function* () {
        // The test's clock begins at 21:00 in São Paulo.
        answer(broke)
        yield* queue.submit(payout("paused", 2000))
        yield* settle
        yield* queue.setPaused(true)
        yield* TestClock.adjust("2 hours")
        assert.strictEqual((yield* statusOf(queue, "paused")).state, "accepted")
        answer(undefined)
        yield* queue.setPaused(false)
        yield* TestClock.adjust("6 minutes")
        assert.strictEqual(yield* shownOf(queue, "paused"), "posted")
        // The cap of 3,000 has room for no other 2,000 today, and the payout has been tried before.
        answer(broke)
        yield* queue.submit(payout("capped", 1000))
        yield* settle
        answer(undefined)
        yield* queue.submit(payout("other", 1000))
        yield* TestClock.adjust("30 minutes")
        const posted = [...bank.paid.values()].length
        assert.strictEqual(posted, 2)
        const waiting = (yield* Stream.runCollect(queue.list({ state: "accepted" }))).map(({ reference }) => reference)
        assert.deepStrictEqual(waiting, ["capped"])
        assert.strictEqual(yield* shownOf(queue, "capped"), "accepted DailyCap")
        yield* TestClock.adjust("26 hours")
        assert.strictEqual(yield* shownOf(queue, "capped"), "posted")
      }),
    { ...slow, horizon: "1 hour", dailyCap: 3000 }
  )

  test(
    "ends at the horizon of the mark where money may have moved, whatever a step says",
    ({ answer, bank, queue }) =>
      Effect.gen(function* () {
        answer("lose the answer")
        yield* queue.submit(payout("invoice-1"))
        yield* settle
        answer(broke)
        yield* TestClock.adjust("50 minutes")
        yield* queue.retry("invoice-1")
        yield* TestClock.adjust("15 minutes")
        assert.strictEqual(yield* shownOf(queue), "parked PastHorizon")
        const sent = bank.received.length
        assert.strictEqual((yield* Effect.flip(queue.resume("invoice-1")))._tag, "PayoutStateConflict")
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(bank.received.length, sent)
      }),
    { ...slow, horizon: "1 hour" }
  )
})

describe("credentials that the service refuses", () => {
  for (const [name, misbehaviour] of [
    ["a 401", unauthorised],
    ["a redirect", redirected]
  ] as const) {
    test(
      `after ${name} one payout is tried at a time until another answer comes, and one warning says so`,
      ({ answer, bank, lines, queue }) =>
        Effect.gen(function* () {
          answer(misbehaviour)
          yield* queue.submitMany(payouts(300))
          yield* settle
          const first = bank.received.length
          // Those that were under way when the first one was answered.
          assert.isAtMost(first, 20)
          yield* TestClock.adjust("1 hour")
          // After 1, 2, 4 seconds and so on up to 5 minutes.
          assert.isAtMost(bank.received.length - first, 22)
          assert.isAtLeast(bank.received.length - first, 10)
          assert.lengthOf(
            lines.filter((line) => line.startsWith("The service refuses every payout")),
            1
          )
          assert.deepStrictEqual(lines.slice(1), [])
          assert.strictEqual(
            (yield* queue.account).refusedSince?.because,
            misbehaviour === redirected ? "Redirect" : "AuthError"
          )
          answer(undefined)
          yield* TestClock.adjust("11 minutes")
          assert.strictEqual(yield* count(queue, "posted"), 300)
          assert.isUndefined((yield* queue.account).refusedSince)
          assert.strictEqual(bank.paid.size, 300)
        }),
      { poll: "1 minute", lease: "10 minutes" }
    )
  }

  test("of a payout in doubt count too, and it stays in doubt", ({ answer, bank, queue }) =>
    Effect.gen(function* () {
      answer("lose the answer")
      yield* queue.submit(payout("lost"))
      yield* settle
      answer(unauthorised)
      yield* TestClock.adjust("3 seconds")
      const { refusedSince } = yield* queue.account
      assert.strictEqual(refusedSince?.because, "AuthError")
      assert.strictEqual((yield* statusOf(queue, "lost")).state, "unknown")
      const before = bank.received.length
      yield* queue.submitMany(payouts(50))
      yield* TestClock.adjust("1 minute")
      assert.isAtMost(bank.received.length - before, 7)
      answer(undefined)
      yield* TestClock.adjust("6 minutes")
      assert.strictEqual((yield* statusOf(queue, "lost")).state, "posted")
      assert.strictEqual(bank.paid.size, 51)
    }))

  test("with 403 hold nobody up: each payout is asked for by itself", ({ answer, bank, queue }) =>
    Effect.gen(function* () {
      answer(forbidden)
      yield* queue.submitMany(payouts(60))
      yield* settle
      yield* TestClock.adjust("5 seconds")
      assert.isUndefined((yield* queue.account).refusedSince)
      assert.isAtLeast(bank.received.length, 60)
    }))

  test(
    "are tried again at once when a person retries a payout",
    ({ answer, bank, queue }) =>
      Effect.gen(function* () {
        answer(unauthorised)
        yield* queue.submitMany(payouts(5))
        yield* TestClock.adjust("1 hour")
        answer(undefined)
        const before = bank.received.length
        yield* queue.retry("invoice-3")
        yield* TestClock.adjust("3 seconds")
        assert.isAbove(bank.received.length, before)
        assert.isUndefined((yield* queue.account).refusedSince)
      }),
    slow
  )

  for (const { client: database, name, skip } of databases) {
    it.live.skipIf(skip)(`are tried by another process when the one with the permit dies, on ${name}`, () =>
      Effect.gen(function* () {
        let next: Misbehaviour | undefined = unauthorised
        const bank = makeBank(() => next)
        const sql = yield* SqlClient.SqlClient
        const begin = Effect.gen(function* () {
          const layer = PayoutQueue.layer({ poll: "50 millis", lease: "2 seconds" }).pipe(
            Layer.provide([
              bank.makeClient("client-a", { companyId: 1 }).layer,
              PaymentsPolicy.layer(PaymentsPolicy.once),
              Layer.succeed(SqlClient.SqlClient, sql)
            ])
          )
          return Context.get(yield* Layer.build(layer), PayoutQueue)
        })
        const first = yield* Scope.fork(yield* Effect.scope)
        const queue = yield* Scope.provide(begin, first)
        yield* queue.submit(payout("invoice-1"))
        yield* Effect.repeat(queue.account, { until: ({ refusedSince }) => refusedSince !== undefined })
        yield* Scope.close(first, Exit.void)
        next = undefined
        // As if the process had died with the permit.
        yield* sql`UPDATE effect_pix_payout_accounts SET probe_key = 'another', probe_at = probe_at + 1000`
        const other = yield* begin
        yield* other.submit(payout("invoice-2"))
        assert.strictEqual((yield* other.await("invoice-2")).state, "posted")
      }).pipe(Effect.scoped, Effect.provide(database()), Effect.provideService(References.MinimumLogLevel, "None"))
    )
  }
})

describe("a refused payout", () => {
  test("is named in a warning with its reference, its amount and the cause", ({ answer, lines, queue }) =>
    Effect.gen(function* () {
      answer({ status: 422, body: { message: "Chave PIX bloqueada" } })
      yield* queue.submit(payout("invoice-1"))
      yield* settle
      assert.strictEqual(yield* shownOf(queue), "refused")
      assert.deepStrictEqual(lines, ["A payout was refused, and is not sent again: RequestRejected"])
    }))
})

describe("notExecuted", () => {
  test(
    "is refused while a request may be under way, and while the service still knows the key",
    ({ answer, bank, queue }) =>
      Effect.gen(function* () {
        answer("lose the answer")
        yield* queue.submit(payout("invoice-1"))
        yield* settle
        yield* queue.park("invoice-1")
        const early = yield* Effect.flip(queue.resume("invoice-1", { notExecuted: true }))
        assert.include(early.message, "may be under way until")
        yield* TestClock.adjust("15 minutes")
        const known = yield* Effect.flip(queue.resume("invoice-1", { notExecuted: true }))
        assert.include(known.message, "Resume it without notExecuted")
        assert.strictEqual((yield* statusOf(queue)).state, "parked")
        yield* TestClock.adjust("12 hours")
        answer(undefined)
        yield* queue.resume("invoice-1", { notExecuted: true })
        yield* TestClock.adjust("6 minutes")
        assert.strictEqual(yield* shownOf(queue), "posted")
        assert.strictEqual(bank.received.length, 2)
      }),
    slow
  )

  test(
    "is refused for as long as the last request may be under way, not the first one",
    ({ answer, queue }) =>
      Effect.gen(function* () {
        answer("lose the answer")
        yield* queue.submit(payout("invoice-1"))
        yield* TestClock.adjust("58 minutes")
        yield* queue.retry("invoice-1")
        yield* settle
        yield* queue.park("invoice-1")
        yield* TestClock.adjust("3 minutes")
        // The first request left longer ago than the horizon, the last one a moment ago.
        const early = yield* Effect.flip(queue.resume("invoice-1", { notExecuted: true }))
        assert.include(early.message, "may be under way until")
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual((yield* queue.resume("invoice-1", { notExecuted: true })).state, "accepted")
      }),
    { ...slow, horizon: "1 hour" }
  )
})
