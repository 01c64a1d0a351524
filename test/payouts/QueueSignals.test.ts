/** What the queue of payouts measures, and of what it warns. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Layer, Metric, Option, References, Stream } from "effect"
import { Money } from "effect-pix"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { lastValues, pointOf } from "../support/exported.ts"
import { meetAll, poor, refused, unauthorised } from "../support/payoutAnswers.ts"
import {
  gatewayOnce,
  makeWarnings,
  memory,
  payout,
  payouts,
  queued,
  settle,
  startClient,
  startWorker,
  warmUp
} from "../support/payoutQueue.ts"
import { requests } from "../support/payoutSeen.ts"
import { impatient } from "../support/policies.ts"

const ownMetrics = Layer.sync(Metric.MetricRegistry, () => new Map())

/** The gauges of the queue that are not 0, in the order of their names. */
const gauges = Effect.map(Metric.snapshot, (metrics) =>
  Object.entries(lastValues(metrics.filter(({ type }) => type === "Gauge").map(pointOf), /^effect_pix_payout_queue_/))
    .filter(([, value]) => value !== 0)
    .map(([label, value]) => `${label.replace("effect_pix_payout_queue_", "")} ${value}`)
    .toSorted()
)

effect(
  "a process without a worker measures what waits, and a pause makes nothing late",
  Layer.merge(memory, ownMetrics),
  function* () {
    const queue = yield* startClient()
    yield* queue.submitMany(payouts(3, 2500))
    yield* queue.setPaused(true)
    yield* TestClock.adjust("61 seconds")
    assert.deepStrictEqual(yield* gauges, [
      "centavos accepted default {centavo} 7500",
      "delayed Paused default {payout} 3",
      "delayed_centavos Paused default {centavo} 7500",
      "measured_seconds default s 60",
      "paused default {flag} 1",
      "waiting accepted default {payout} 3"
    ])
  }
)

const doubts = makeWarnings((line, { fiber }) => {
  const { "payments.reference": reference } = fiber.getRef(References.CurrentLogAnnotations)
  return typeof reference === "string" ? `${reference} ${line.slice(0, line.indexOf(" "))}` : line
})
queued(
  "the first payout in doubt is warned of at once, and the others by one line with their number and sum, however often they are sent",
  { under: doubts.layer, poll: "1 minute" },
  function* ({ queue, sandbox }) {
    yield* warmUp(queue)
    yield* sandbox.fault("requestWithdrawal", { ...Fault.answer(502), wait: 100 }, { times: 48 })
    yield* queue.submitMany(payouts(12))
    yield* TestClock.adjust("6 seconds")
    assert.isAtLeast(yield* requests(), 12)
    yield* TestClock.adjust("3 minutes")
    assert.deepStrictEqual(doubts.lines, [
      "invoice-1 OutcomeUnknown:",
      "invoice-3 The",
      "11 more payout(s) of the account default, R$ 110,00, may have been paid, or not, and are asked about again under their keys: 502. These are those of the last minute."
    ])
  }
)

const limited = makeWarnings((line) => line.slice(0, line.indexOf(":")))
queued(
  "a payout is warned of under its key that one call leaves in doubt and then is refused as all of the account",
  { under: limited.layer, policy: impatient, script: { "invoice-1": [Fault.resetAfter, unauthorised] } },
  function* ({ queue }) {
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("10 seconds")
    assert.include(limited.lines, "OutcomeUnknown")
  }
)

const parked = makeWarnings((line) => line.replace(/ \(reference.*/, ""))
effect(
  "a process that ends says what it parked within the last minute, and apart what may have left",
  Layer.mergeAll(gatewayOnce, memory, parked.layer),
  function* () {
    const sql = yield* SqlClient.SqlClient
    const client = yield* startClient()
    yield* client.submitMany(payouts(5))
    yield* sql`UPDATE effect_pix_payouts SET request = 'torn'`
    yield* sql`UPDATE effect_pix_payouts SET may_have_left_at = 0, marked_at = 0, sends = 1, state = 'unknown' WHERE reference <> 'invoice-1'`
    yield* Effect.scoped(Effect.andThen(startWorker(), Effect.repeat(settle, { times: 20 })))
    const summary =
      "3 more payout(s) of the account default, R$ 30,00, wait for a person. MONEY MAY HAVE MOVED: Unreadable."
    assert.deepStrictEqual(
      parked.lines.filter((line) => line.includes("Unreadable")),
      [
        "A payout waits for a person: Unreadable. No request of this queue moved money. Why: its stored request cannot be opened.",
        "A payout waits for a person: Unreadable. MONEY MAY HAVE MOVED. Why: its stored request cannot be opened.",
        `${summary} These are those of the last minute.`
      ]
    )
  }
)

const outage = makeWarnings()
queued.each([
  { meets: "an answer of 502", fault: Fault.answer(502) },
  { meets: "a lost connection", fault: Fault.resetAfter },
  { meets: "no connection", fault: Fault.refuse },
  { meets: "a refusal of each payout", fault: refused },
  { meets: "a failure of each payout", fault: Fault.failure() },
  { meets: "a refusal of the account", fault: poor }
])(
  "an outage of 12 seconds with 100 payouts that meet $meets has at most 5 lines",
  { under: outage.layer },
  function* ({ queue, sandbox }, { fault }) {
    outage.lines.length = 0
    yield* sandbox.fault("requestWithdrawal", fault, { times: 1_000_000 })
    yield* queue.submitMany(payouts(100))
    yield* Effect.repeat(TestClock.adjust("1 second"), { times: 12 })
    assert.isNotEmpty(outage.lines)
    yield* TestClock.adjust("1 minute")
    assert.isAtMost(outage.lines.length, 5, outage.lines.join("\n"))
  }
)

// 9:00 in São Paulo.
const morning = 12 * 3_600_000
const held = {
  "its pace": { options: { pace: { most: 1, per: "1 minute" } }, cause: "Pace" },
  "its closed window": { options: { window: { from: "10:00", to: "18:00" } }, cause: "Window" },
  "the cap of the day": { options: { dailyCap: Money.centavos(1000) }, cause: "DailyCap" },
  "its time": { notBefore: DateTime.makeUnsafe(morning + 3 * 3_600_000), cause: "NotBefore" }
} as const
for (const [what, { cause, ...given }] of Object.entries(held)) {
  queued(
    `a payout that waits for ${what} is not late, and has a gauge of its cause`,
    { under: ownMetrics, ...("options" in given && given.options) },
    function* ({ queue }) {
      yield* TestClock.setTime(morning)
      yield* queue.submitMany(payouts(50).map((item) => ({ ...item, ...("notBefore" in given && given) })))
      yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 30 })
      const found = yield* gauges
      const late =
        found.find((line) => line.startsWith("oldest_seconds accepted")) ?? "oldest_seconds accepted default s 0"
      assert.isAtMost(Number(late.split(" ").at(-1)), 60)
      assert.match(found.join("\n"), new RegExp(`^delayed ${cause} default`, "m"))
    }
  )
}

effect(
  "a payout is late from the opening of its window where nobody sends",
  Layer.merge(memory, ownMetrics),
  function* () {
    yield* TestClock.setTime(morning)
    const queue = yield* startClient()
    yield* queue.setLimits({ window: { from: "10:00", to: "18:00" } })
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("59 minutes")
    assert.notInclude((yield* gauges).join("\n"), "oldest_seconds")
    yield* TestClock.adjust("12 minutes")
    assert.include(yield* gauges, "oldest_seconds accepted default s 660")
  }
)

/** A key service that is down. */
const outOfReach = { seal: Effect.succeed, open: () => Effect.die("no key") }
const came = {
  "its time": { item: { notBefore: DateTime.makeUnsafe(morning + 600_000) }, options: {} },
  "its window": { item: {}, options: { window: { from: "09:10", to: "18:00" } } }
} as const
for (const [what, { item, options }] of Object.entries(came)) {
  queued(
    `a payout that a worker cannot open after ${what} came is late from then on`,
    { under: ownMetrics, seal: outOfReach, ...options },
    function* ({ queue }) {
      yield* TestClock.setTime(morning)
      yield* queue.submit({ ...payout("invoice-1"), ...item })
      yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 41 })
      const found = yield* gauges
      // After 31 minutes, and less what passed since the last measure.
      const late = found.find((line) => line.startsWith("oldest_seconds accepted default s "))
      assert.closeTo(Number(late?.split(" ").at(-1)), 31 * 60, 60)
      assert.include(found, "waiting accepted default {payout} 1")
      assert.match(found.join("\n"), /^delayed Unreadable default \{payout\} 1$/m)
    }
  )
}

effect(
  "a time of the next request that a wrong clock wrote holds nothing",
  Layer.merge(memory, ownMetrics),
  function* () {
    const queue = yield* startClient()
    const sql = yield* SqlClient.SqlClient
    yield* queue.setLimits({ pace: { most: 1, per: "1 minute" } })
    yield* sql`UPDATE effect_pix_payout_accounts SET next_at = ${30 * 86_400_000}, set_at = ${29 * 86_400_000}`
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("11 minutes")
    assert.include(yield* gauges, "oldest_seconds accepted default s 660")
  }
)

const waits = makeWarnings((line) => line.replace(/ \(.*/, ""))
queued(
  "each cause of a wait has a gauge with its sum and one line",
  { poll: "5 minutes", lease: "10 minutes", concurrency: 3, under: Layer.merge(waits.layer, ownMetrics) },
  function* ({ queue, sandbox }) {
    yield* sandbox.fault("requestWithdrawal", [Fault.retryAfter("60 seconds"), Fault.retryAfter(0)])
    for (const reference of ["limited", "limited for no time"]) {
      yield* queue.submit(payout(reference))
      yield* TestClock.adjust("30 seconds")
    }
    yield* Effect.repeat(TestClock.adjust("1 second"), { times: 89 })
    yield* meetAll(poor)
    yield* queue.submitMany(payouts(2))
    yield* TestClock.adjust("30 minutes")
    yield* queue.park("invoice-2")
    yield* TestClock.adjust("31 minutes")
    assert.deepStrictEqual(yield* gauges, [
      "centavos accepted default {centavo} 1000",
      "centavos default parked {centavo} 1000",
      "centavos default posted {centavo} 2000",
      "delayed Balance default {payout} 1",
      "delayed_centavos Balance default {centavo} 1000",
      "measured_seconds default s 3755",
      "oldest_seconds accepted default s 3605",
      "oldest_seconds default parked s 3605",
      "oldest_seconds default posted s 3685",
      "served default {flag} 1",
      "waiting accepted default {payout} 1",
      "waiting default parked {payout} 1",
      "waiting default posted {payout} 2"
    ])
    yield* meetAll(refused)
    yield* TestClock.adjust("16 minutes")
    assert.deepStrictEqual(
      waits.lines.map((line) => line.split(/[.:](?= )/)[0]),
      [
        "The service takes no more requests now",
        "The service refuses the payouts of the account default",
        "The service takes no more requests now",
        "The service refuses the payouts of the account default",
        "1 payout(s) wait for a person",
        "A payout was refused, and is not sent again"
      ]
    )
  }
)

queued(
  "what a person has to check has a gauge by its cause, and each end a counter by who said so",
  { under: ownMetrics },
  function* ({ queue, sql }) {
    const ends = ["claimed", "back", "paid after all", "contradicted", "given up", "old", "settled"]
    yield* TestClock.adjust("40 days")
    yield* queue.submitMany(ends.map((reference) => payout(reference, 1500)))
    yield* Effect.forEach(ends, (reference) => queue.await(reference))
    const set = (reference: string, change: string) =>
      sql.unsafe(`UPDATE effect_pix_payouts SET ${change} WHERE reference = '${reference}'`)
    yield* set("claimed", "ended_as = 'failed'")
    yield* set("back", "ended_as = 'returned'")
    yield* set("paid after all", "ended_as = 'paid', state = 'failed'")
    yield* set("contradicted", "contradicted = 1, ended_as = 'failed', state = 'paid'")
    yield* set("given up", "lookups = NULL")
    // Where nothing says how payouts ended, all of them stay posted: only what is to be checked is counted, however old it is.
    yield* set("old", `marked_at = ${4 * 86_400_000}, lookups = NULL`)
    yield* queue.settle("settled", { as: "returned", by: "ana" })
    yield* TestClock.adjust("3 hours")
    const found = yield* gauges
    assert.deepStrictEqual(
      found.filter((line) => /^to_check |posted/.test(line)),
      [
        "centavos default posted {centavo} 4500",
        "oldest_seconds default posted s 10745",
        "to_check Claimed default {payout} 3",
        "to_check Contradicted default {payout} 1",
        "to_check Unconfirmed default {payout} 2",
        "waiting default posted {payout} 3"
      ]
    )
    assert.include(found, "to_check_centavos Contradicted default {centavo} 1500")
    const metrics = yield* Metric.snapshot
    assert.deepStrictEqual(
      lastValues(metrics.filter(({ type }) => type === "Counter").map(pointOf), /^effect_pix_payout_queue_ends/),
      {
        "effect_pix_payout_queue_ends_total default person returned {payout}": 1,
        "effect_pix_payout_queue_ends_centavos_total default person returned {centavo}": 1500
      }
    )
  }
)

effect(
  "the gauges follow what this process changed after 5 seconds, and read nothing meanwhile",
  Layer.merge(memory, ownMetrics),
  function* () {
    const queue = yield* startClient()
    yield* TestClock.adjust("3 minutes")
    const accepted = Effect.map(gauges, (lines) => lines.filter((line) => line.startsWith("waiting accepted")))
    for (const [at, reference] of ["first", "second"].entries()) {
      yield* queue.submit(payout(reference))
      yield* TestClock.adjust("4 seconds")
      const before = at === 0 ? [] : [`waiting accepted default {payout} ${at}`]
      assert.deepStrictEqual(yield* accepted, before)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* accepted, [`waiting accepted default {payout} ${at + 1}`])
    }
  }
)

/** That the database refuses each change of the row of a payout. */
const refuseRow = (reference: string) =>
  `CREATE TRIGGER refuse BEFORE UPDATE ON effect_pix_payouts WHEN NEW.reference = '${reference}' BEGIN SELECT RAISE(ABORT, 'no'); END`

const settings = {
  "without a pace": {},
  "with a pace": { pace: { most: 60, per: "1 minute" } },
  "with a cap of the day": { dailyCap: 1_000_000 }
} as const
for (const [setting, options] of Object.entries(settings))
  for (const reference of ["invoice-1", "invoice-10"]) {
    const told = makeWarnings()
    effect(
      `a payout (${reference}) whose row the database refuses stops none of nineteen others of an account ${setting}, and leaves when the database takes it`,
      Layer.mergeAll(memory, gatewayOnce, told.layer, ownMetrics),
      function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* startWorker(options)
        yield* sql.unsafe(refuseRow(reference))
        yield* queue.submitMany(payouts(20))
        yield* TestClock.adjust("50 seconds")
        assert.strictEqual(yield* requests(), 19)
        assert.deepStrictEqual(told.lines, [
          `The database refuses 1 row(s) of effect_pix_payouts, as ${reference} (ConstraintError refuse). They wait, and are tried once a minute; no other row waits for them.`
        ])
        const waiting = yield* Stream.runCollect(queue.list({ state: "accepted", because: "Database" }))
        assert.deepStrictEqual(
          waiting.map((status) => [status.reference, "because" in status && status.because]),
          [[reference, "Database"]]
        )
        assert.include(yield* gauges, "delayed Database default {payout} 1")
        yield* sql`DROP TRIGGER refuse`
        yield* TestClock.adjust("70 seconds")
        assert.strictEqual(yield* requests(), 20)
        assert.isTrue(Option.exists(yield* queue.status(reference), ({ state }) => state === "posted"))
      }
    )
  }

const refusing = makeWarnings((line, { fiber }) => {
  const { "payments.reference": reference } = fiber.getRef(References.CurrentLogAnnotations)
  return `${String(reference)}: ${line}`
})
effect(
  "a payout that the database refuses is a warning once a minute with its reference, and no other one waits for it",
  Layer.mergeAll(gatewayOnce, memory, refusing.layer),
  function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* startWorker()
    yield* sql.unsafe(`CREATE TRIGGER refuse BEFORE UPDATE OF sends ON effect_pix_payouts WHEN NEW.reference = 'invoice-1'
      BEGIN SELECT RAISE(ABORT, 'maria@example.com is refused'); END`)
    yield* queue.submitMany(payouts(2))
    yield* TestClock.adjust("150 seconds")
    assert.strictEqual(yield* requests(), 1)
    // Its mark is refused, and not why it waits: so each process reads that.
    const status = Option.getOrThrow(yield* (yield* startClient()).status("invoice-1"))
    assert.deepInclude(status, { state: "accepted", because: "Database" })
    const told = refusing.lines.filter((line) => line.includes("The database refuses a payout"))
    assert.deepStrictEqual(
      told,
      Array.from(
        { length: 3 },
        () => "invoice-1: The database refuses a payout of the account default, which is tried again"
      )
    )
  }
)
