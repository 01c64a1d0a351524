/**
 * What a payout has before it leaves: the time before which it is not sent, the payout in whose place it is paid, and what it is
 * called; and that what never left is cancelled.
 */
import { assert, describe, expect } from "@effect/vitest"
import { DateTime, Effect, Layer, Metric, Option, Redacted, Result, Stream } from "effect"
import { PayoutInsert, type PayoutItem, PayoutQueue, type PayoutQueueOptions, Payouts, Seal } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { database } from "../../src/durable/Database.ts"
import { makeCore } from "../../src/payouts/internal/queue/core.ts"
import type { Event } from "../../src/payouts/internal/queue/events.ts"
import { makeStore } from "../../src/payouts/internal/queue/store.ts"
import { settingsOf } from "../../src/payouts/PayoutQueueOptions.ts"
import { databases, onPostgres, postgres, clientOf } from "../support/database.ts"
import { effect, live } from "../support/effect.ts"
import { lastValues, pointOf } from "../support/exported.ts"
import { poor, meetAll, refused } from "../support/payoutAnswers.ts"
import {
  gatewayOnce,
  keyOf,
  makeWarnings,
  memory,
  payout,
  queued,
  settle,
  startClient,
  startWorker,
  world
} from "../support/payoutQueue.ts"
import { linesOf, paid, requests, sentAt, shown, stateOf } from "../support/payoutSeen.ts"

const by = "ana"
const minute = 60_000
const hour = 60 * minute
const at = (millis: number) => DateTime.makeUnsafe(millis)
/** A poll that does not slow days of the test's clock down. */
const slow: PayoutQueueOptions = { poll: "5 minutes", lease: "10 minutes" }
const statusIn = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.status(reference), Option.getOrThrow)

const ownMetrics = Layer.sync(Metric.MetricRegistry, () => new Map())
const gauges = Effect.map(Metric.snapshot, (metrics) =>
  Object.entries(lastValues(metrics.filter(({ type }) => type === "Gauge").map(pointOf), /^effect_pix_payout_queue_/))
    .filter(([label, value]) => value !== 0 && /delayed |waiting|oldest/.test(label) && !/posted/.test(label))
    .map(([label, value]) => `${label.replace("effect_pix_payout_queue_", "")} ${value}`)
    .toSorted()
)

describe("a payout that is not to be sent before a time", () => {
  queued(
    "waits for it however long that is, is wanted since then, and is counted apart",
    { ...slow, horizon: "10 minutes", under: ownMetrics },
    function* ({ queue, sql }) {
      const later = { ...payout("later"), notBefore: at(30 * minute) }
      const stored = yield* queue.submit(later)
      assert.deepInclude(stored, { state: "accepted", waitsFor: "NotBefore", notBefore: at(30 * minute) })
      // The first one stays, and is no part of what is compared.
      const again = yield* queue.submit({ ...later, notBefore: at(1) })
      assert.deepStrictEqual([again.notBefore, again.updatedAt], [stored.notBefore, stored.updatedAt])
      yield* queue.submit({ ...payout("past"), notBefore: at(0) })
      // Longer than any other wait of a payout.
      const days = yield* queue.submit({ ...payout("days"), notBefore: at(72 * hour) })
      assert.include(Payouts.portuguese(days), "será pago sozinho em 03/01/1970")
      yield* TestClock.adjust("29 minutes")
      assert.deepStrictEqual(yield* gauges, ["delayed NotBefore default {payout} 2"])
      assert.strictEqual(yield* paid, 1)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* sentAt("later"), [30 * 60])
      // Nobody took it meanwhile.
      const [row] = yield* sql`SELECT tries, version, due_at AS due FROM effect_pix_payouts WHERE reference = 'days'`
      assert.deepStrictEqual({ ...row }, { tries: 0, version: 1, due: 72 * hour })
    }
  )

  queued("is given back by who takes it too early, and is in time when it is sent", slow, function* ({ queue, sql }) {
    const notBefore = at(30 * minute)
    const { parameters, text } = Result.getOrThrow(
      PayoutInsert.make({ ...payout("inserted"), notBefore }, { dialect: "sqlite" })
    )
    yield* sql.unsafe(text, parameters)
    assert.strictEqual(yield* shown("inserted"), "accepted NotBefore")
    yield* queue.submit({ ...payout("early"), notBefore })
    yield* queue.submit({ ...payout("other program's") })
    // As a clock that went back, and as a program that knows the column alone.
    yield* sql`UPDATE effect_pix_payouts SET due_at = 0, wanted_at = 0, waits_for = NULL, not_before = ${30 * minute}`
    yield* TestClock.adjust("29 minutes")
    assert.strictEqual(yield* requests(), 0)
    assert.deepStrictEqual(
      (yield* sql`SELECT version, wanted_at AS wanted, waits_for AS waits FROM effect_pix_payouts`).map((row) => ({
        ...row
      })),
      Array.from({ length: 3 }, () => ({ version: 2, wanted: 30 * minute, waits: "NotBefore" }))
    )
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* paid, 3)
  })

  queued("is not sent after its horizon, which begins then", { ...slow, horizon: "10 minutes" }, function* ({ queue }) {
    yield* queue.submit({ ...payout("invoice-1"), notBefore: at(30 * minute) })
    yield* queue.setPaused(true, { by })
    yield* meetAll(poor)
    yield* TestClock.adjust("40 minutes")
    yield* queue.setPaused(false, { by })
    yield* TestClock.adjust("9 minutes")
    assert.strictEqual(yield* shown(), "accepted InsufficientBalance")
    yield* TestClock.adjust("3 minutes")
    assert.strictEqual(yield* shown(), "parked WaitedTooLong")
  })

  queued("is sent at another time by a person, as long as it was never sent", slow, function* ({ queue }) {
    yield* queue.submit({ ...payout("invoice-1"), notBefore: at(30 * minute) })
    yield* queue.reschedule("invoice-1", at(50 * minute), { by })
    yield* TestClock.adjust("49 minutes")
    yield* queue.reschedule("invoice-1", at(0), { by, note: "today" })
    yield* settle
    assert.strictEqual(yield* shown(), "posted")
    assert.deepStrictEqual((yield* linesOf(queue, "invoice-1")).slice(1, 3), [
      "Rescheduled by ana > accepted",
      "Rescheduled by ana: today > accepted"
    ])
    const late = yield* Effect.flip(queue.reschedule("invoice-1", at(60 * minute), { by }))
    assert.strictEqual(late._tag, "PayoutStateConflict")
    for (const time of [new Date(), "2026-11-21", 7, Number.NaN, DateTime.makeUnsafe(-1)]) {
      // A caller without types may give anything.
      const notBefore = time as DateTime.DateTime
      const wrong: ReadonlyArray<Effect.Effect<unknown, object>> = [
        queue.reschedule("invoice-1", notBefore, { by }),
        queue.submit({ ...payout("b"), notBefore })
      ]
      for (const step of wrong)
        assert.deepInclude(yield* Effect.flip(step), {
          issues: [{ path: "notBefore", problem: "must be a DateTime from 1970 on" }]
        })
    }
  })

  onPostgres("waits for it by the clock of a PostgreSQL", gatewayOnce, function* () {
    const { url } = yield* postgres
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* startWorker({ poll: "20 millis" })
      const [row] = yield* sql<{ readonly now: number }>`SELECT CAST(EXTRACT(EPOCH FROM now()) * 1000 AS FLOAT) AS now`
      assert(row !== undefined)
      const { now } = row
      const notBefore = at(Math.ceil(now) + 400)
      const days = at(now + 100 * hour)
      yield* queue.submitMany([
        { ...payout("soon"), notBefore },
        { ...payout("later"), notBefore: days }
      ])
      const inserted = PayoutInsert.make({ ...payout("inserted"), notBefore, label: "one" }, { dialect: "pg" })
      const { parameters, text } = Result.getOrThrow(inserted)
      assert.deepStrictEqual(
        (yield* sql.unsafe(`${text} RETURNING waits_for, wanted_at`, parameters)).map((row) =>
          Object.values(row).join(" ")
        ),
        [`NotBefore ${notBefore.epochMilliseconds}`]
      )
      for (const reference of ["soon", "inserted"]) {
        assert.strictEqual((yield* queue.await(reference)).state, "posted")
        const [, marked] = yield* queue.history(reference)
        assert.isAtLeast(marked!.at.epochMilliseconds, notBefore.epochMilliseconds)
      }
      yield* sql`UPDATE effect_pix_payouts SET due_at = 0 WHERE reference = 'later'`
      yield* Effect.repeat(
        sql`SELECT 1 FROM effect_pix_payouts WHERE reference = 'later' AND version = 2 AND due_at > 1`,
        {
          until: ({ length }) => length === 1
        }
      )
      yield* queue.reschedule("later", at(0), { by })
      assert.strictEqual((yield* queue.await("later")).state, "posted")
    }).pipe(Effect.provide(Layer.fresh(clientOf(url))))
  })
})

/** What happens to the rows of a process that sends nothing, as its worker would say it. */
const coreOf = (of: string) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf({})
    const store = makeStore(yield* database, settings)
    const core = yield* makeCore(store, settings)
    return (event: Event) =>
      Effect.flatMap(store.get(keyOf(of)), (row) =>
        core.stepBy(
          row,
          () => event,
          (_, problem) => Effect.die(problem)
        )
      )
  })
const lookedUp = (meaning: "paid" | "failed" | "returned", now = 1): Event => ({
  _tag: "LookedUp",
  now,
  until: 1e9,
  found: { meaning, word: undefined, endToEndId: undefined, value: "10", updatedAt: undefined }
})

/** Payouts that are over, as SQL, and whether one that names nobody may be paid in their place. */
const over = {
  refused: "",
  cancelled: "",
  returned: "state = 'returned', ended_by = 'lookup'",
  "failed by a lookup": "state = 'failed', ended_by = 'lookup'"
} as const
const named = {
  "failed by an answer": "state = 'failed', ended_by = 'answer'",
  "failed, said a person": "state = 'failed', ended_by = 'person'"
} as const
const never = {
  accepted: "",
  parked: "state = 'parked', parked_because = 'Operator'",
  unknown: "state = 'unknown', may_have_left_at = 1",
  posted: "state = 'posted', withdrawal_id = 7",
  paid: "state = 'paid', ended_by = 'lookup'",
  contradicted: "state = 'failed', ended_by = 'lookup', contradicted = 1"
} as const

describe("a payout that is paid in the place of another one", () => {
  effect("is accepted where the other one is over, and was not paid, and no other way", world, function* () {
    const queue = yield* startClient()
    const sql = yield* SqlClient.SqlClient
    const all = { ...over, ...named, ...never }
    for (const [reference, set] of Object.entries(all)) {
      yield* queue.submit(payout(reference))
      if (set !== "") yield* sql.unsafe(`UPDATE effect_pix_payouts SET ${set} WHERE reference = '${reference}'`)
    }
    yield* sql`UPDATE effect_pix_payouts SET state = 'refused', error = ${"{}"} WHERE reference = 'refused'`
    yield* queue.cancel("cancelled", { by })
    const became: Record<string, string> = {}
    for (const reference of Object.keys(all)) {
      const anew = { ...payout(`${reference} 2`), replaces: reference }
      const first = yield* Effect.result(queue.submit(anew))
      const second = yield* Effect.result(queue.submit({ ...anew, by }))
      const told = [first, second].map((result) =>
        Result.isSuccess(result) ? "accepted" : `${result.failure._tag}: ${Object(result.failure).operation ?? ""}`
      )
      became[reference] = told.join(", ")
      const { replacedBy } = yield* statusIn(queue, reference)
      assert.strictEqual(replacedBy, told[1] === "accepted" ? anew.reference : undefined, reference)
      assert.strictEqual(yield* stateOf(queue, anew.reference), replacedBy === undefined ? "absent" : "accepted")
    }
    const rows = (of: object, told: string) => Object.keys(of).map((reference) => [reference, told])
    assert.deepStrictEqual(
      became,
      Object.fromEntries([
        ...rows(over, "accepted, accepted"),
        ...rows(named, "PayoutStateConflict: replace, accepted"),
        ...rows(never, "PayoutStateConflict: replace, PayoutStateConflict: replace")
      ])
    )
    assert.deepStrictEqual(yield* linesOf(queue, "failed, said a person"), [
      "Submitted > accepted",
      "Replaced by ana > failed"
    ])
  })

  effect("is one, and says what it replaces each time that it is submitted", world, function* () {
    const queue = yield* startClient()
    const sql = yield* SqlClient.SqlClient
    yield* queue.submitMany([payout("a"), payout("b", 3000)])
    yield* queue.cancel("a", { by })
    yield* sql`UPDATE effect_pix_payouts SET state = 'returned', ended_by = 'person' WHERE reference = 'b'`
    yield* queue.submit({ ...payout("a 2"), replaces: "a" })
    const submit = (item: PayoutItem) => Effect.map(Effect.flip(queue.submit(item)), (error) => Object(error))
    const second = yield* submit({ ...payout("a 3", 2000), replaces: "a" })
    expect(second).toMatchObject({
      _tag: "ReferenceConflict",
      reference: "a 3",
      differs: ["replaces"],
      replaced: { reference: "a", by: "a 2" },
      earlier: { idempotencyKey: keyOf("a"), amount: 1000 }
    })
    assert.include(second.message, "The payout a, for R$ 10,00, has another replacement already: a 2.")
    assert.include(Payouts.portuguese(second), "a já foi substituído por a 2")
    for (const item of [payout("a 2"), { ...payout("a 2"), replaces: "b" }]) {
      expect(yield* submit(item)).toMatchObject({ _tag: "ReferenceConflict", differs: ["replaces"] })
    }
    // A caller without types may give anything.
    for (const replaces of ["c", "nobody's", " ", 7 as unknown as string]) {
      expect(yield* submit({ ...payout("c"), replaces })).toMatchObject({
        _tag: "InvalidRequest",
        issues: [{ path: "replaces" }]
      })
    }
    const stated = PayoutInsert.make({ ...payout("c"), replaces: "b" }, { dialect: "pg" })
    expect(yield* Effect.flip(Effect.fromResult(stated))).toMatchObject({ issues: [{ path: "replaces" }] })
    // Lines of one sheet, of which all are accepted or none.
    const refused = yield* Effect.flip(
      queue.submitMany([
        { ...payout("b 2", 3000), replaces: "b" },
        { ...payout("b 3", 3000), replaces: "b" },
        payout("d"),
        { ...payout("d 2"), replaces: "d" }
      ])
    )
    assert(refused._tag === "PayoutsNotAccepted")
    assert.deepStrictEqual(
      refused.wrong.map(({ error, index }) => [index, error._tag]),
      [
        [1, "ReferenceConflict"],
        [3, "PayoutStateConflict"]
      ]
    )
    assert.isUndefined((yield* statusIn(queue, "b")).replacedBy)
    const { stored, wrong: none } = yield* Effect.provideService(
      Payouts.plan([payout("a"), { ...payout("b 2", 3000), replaces: "b" }]),
      PayoutQueue,
      queue
    )
    assert.deepStrictEqual([stored.map(({ reference }) => reference), none], [["a"], []])
    assert.isUndefined((yield* statusIn(queue, "b")).replacedBy)
    // It looks like the one that it replaces, and is no repetition of it.
    yield* Effect.provideService(
      Payouts.run([{ ...payout("b 2", 3000), replaces: "b" }], { waitFor: 0 }),
      PayoutQueue,
      queue
    )
    assert.strictEqual((yield* statusIn(queue, "b")).replacedBy, "b 2")
    assert.strictEqual((yield* statusIn(queue, "b 2")).replaces, "b")
  })

  queued("is sent as any other, and the other one never again", function* ({ queue }) {
    yield* meetAll(refused)
    yield* queue.submit(payout("a"))
    yield* settle
    yield* meetAll()
    const run = Effect.provideService(Payouts.run([{ ...payout("a 2"), replaces: "a" }]), PayoutQueue, queue)
    assert.lengthOf((yield* run).done, 1)
    for (const step of [queue.retry("a", { by }), queue.reschedule("a", at(0), { by })])
      assert.strictEqual((yield* Effect.flip(step))._tag, "PayoutStateConflict")
    yield* queue.park("a", { by })
    assert.include(String(yield* Effect.flip(queue.resume("a", { by }))), "The payout a 2 replaces it")
    assert.strictEqual(yield* requests("a"), 1)
    assert.include(Payouts.portuguese(yield* statusIn(queue, "a")), "Substituído por a 2")
  })

  /** What becomes of a replacement whose original turns out to be executed. */
  const turns: Record<string, readonly [set: string, shown: string, line: RegExp | undefined]> = {
    "never sent": ["sends = 0", "parked ReplacedWasPaid", /The other one is parked: no request/],
    "parked for another reason": [
      "state = 'parked', parked_because = 'OverDailyCap'",
      "parked ReplacedWasPaid",
      /is parked/
    ],
    refused: ["state = 'refused'", "parked ReplacedWasPaid", /is parked/],
    "in doubt": ["state = 'unknown', may_have_left_at = 1", "parked ReplacedWasPaid", /MONEY MAY HAVE MOVED TWICE/],
    posted: ["state = 'posted', withdrawal_id = 8", "posted", /MONEY MAY HAVE MOVED TWICE/],
    cancelled: ["state = 'cancelled'", "cancelled", undefined]
  }
  const original = {
    "a lookup": ["state = 'failed', ended_by = 'lookup', withdrawal_id = 7", lookedUp("paid")],
    "a person": ["state = 'returned', ended_by = 'person', withdrawal_id = 7", undefined]
  } as const
  const warnings = makeWarnings()
  effect(
    "is parked where the other one was executed after all, and otherwise both are named",
    Layer.mergeAll(memory, gatewayOnce, warnings.layer),
    function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* startClient()
      for (const [who, [before, event]] of Object.entries(original)) {
        for (const [title, [set, state, line]] of Object.entries(turns)) {
          const [first, second] = [`${title} by ${who}`, `${title} by ${who}, anew`]
          const update = (reference: string, set: string) =>
            sql.unsafe(`UPDATE effect_pix_payouts SET ${set} WHERE reference = '${reference}'`)
          yield* queue.submit(payout(first))
          yield* update(first, before)
          yield* queue.submit({ ...payout(second), replaces: first })
          yield* update(second, set)
          warnings.lines.splice(0)
          yield* event === undefined
            ? queue.settle(first, { as: "paid", by })
            : Effect.flatMap(coreOf(first), (step) => step(event))
          assert.strictEqual(yield* stateOf(queue, second), state, second)
          const both = warnings.lines.filter(
            (text) => text.includes(`reference ${first},`) && text.includes(`reference ${second},`)
          )
          assert.lengthOf(both, line === undefined ? 0 : 1, second)
          if (line !== undefined) assert.match(both[0] ?? "", line)
        }
      }
    }
  )

  effect("is found behind one that was replaced too", world, function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* startClient()
    yield* queue.submit(payout("a"))
    yield* sql`UPDATE effect_pix_payouts SET state = 'failed', ended_by = 'lookup', withdrawal_id = 7`
    for (const [reference, replaces] of [
      ["b", "a"],
      ["c", "b"]
    ] as const) {
      yield* queue.submit({ ...payout(reference), replaces })
      if (reference === "b") yield* queue.cancel("b", { by })
    }
    yield* Effect.flatMap(coreOf("a"), (step) => step(lookedUp("paid")))
    assert.deepStrictEqual(
      [yield* stateOf(queue, "a"), yield* stateOf(queue, "b"), yield* stateOf(queue, "c")],
      ["failed", "cancelled", "parked ReplacedWasPaid"]
    )
    // Once: a person may resume it.
    yield* queue.resume("c", { by })
    yield* Effect.flatMap(coreOf("a"), (step) => step(lookedUp("paid", 2)))
    assert.strictEqual(yield* stateOf(queue, "c"), "accepted")
  })

  describe.each(databases)("on $name", ({ client, skip }) => {
    live.skipIf(skip)("is one of two that are submitted at a time", Layer.fresh(client()), function* () {
      const queue = yield* startClient()
      const sql = yield* SqlClient.SqlClient
      for (let round = 0; round < 5; round++) {
        const original = `invoice-${round}`
        yield* queue.submit(payout(original))
        yield* sql`UPDATE effect_pix_payouts SET state = 'refused' WHERE reference = ${original}`
        const results = yield* Effect.forEach(
          [1, 2, 3, 4],
          (number) => Effect.result(queue.submit({ ...payout(`${original}/${number}`), replaces: original })),
          { concurrency: 4 }
        )
        assert.lengthOf(results.filter(Result.isSuccess), 1)
        for (const result of results)
          if (Result.isFailure(result)) assert.strictEqual(result.failure._tag, "ReferenceConflict")
        const stored = yield* Stream.runCollect(queue.list({ state: "accepted" }))
        assert.lengthOf(stored, round + 1)
      }
    })
  })
})

queued(
  "what is cancelled has room in the cap of its day for another one",
  { dailyCap: 1500, ...slow },
  function* ({ queue, sql }) {
    yield* sql`INSERT INTO effect_pix_payout_days (account, day, spent) VALUES ('default', '1969-12-31', 1000)`
    yield* queue.submit({ ...payout("a"), notBefore: at(hour) })
    // As of one whose every request was refused, and that is counted still.
    yield* sql`UPDATE effect_pix_payouts SET sends = 1, counted_day = '1969-12-31'`
    yield* queue.submit(payout("b"))
    yield* settle
    assert.strictEqual(yield* stateOf(queue, "b"), "accepted DailyCap")
    yield* queue.cancel("a", { by })
    yield* queue.retry("b", { by })
    yield* settle
    assert.deepStrictEqual([yield* stateOf(queue, "a"), yield* stateOf(queue, "b")], ["cancelled", "posted"])
  }
)

const key = Redacted.make("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
const label = "Salário de Maria, março"
const labels = makeWarnings()
effect(
  "a label is shown where it can be opened, and is stored sealed until it is forgotten",
  Layer.mergeAll(memory, gatewayOnce, labels.layer),
  function* () {
    const sql = yield* SqlClient.SqlClient
    const seal = Seal.aesGcm(key)
    const queue = yield* startWorker({ seal })
    const item = { ...payout("a"), label }
    const run = (items: ReadonlyArray<PayoutItem>) => Effect.provideService(Payouts.run(items), PayoutQueue, queue)
    assert.strictEqual((yield* queue.submit(item)).label, label)
    const insert = yield* PayoutInsert.makeSealed({ ...payout("b"), label }, { dialect: "sqlite", seal: yield* seal })
    yield* sql.unsafe(insert.text, insert.parameters)
    yield* TestClock.adjust("5 seconds")
    // No part of what is compared: the first one stays.
    assert.strictEqual((yield* queue.submit({ ...item, label: "another" })).label, label)
    const { done } = yield* run([item, { ...payout("c", 2000), label: "x" }])
    const plan = yield* Effect.provideService(Payouts.plan([item]), PayoutQueue, queue)
    const shown = [
      ...done,
      ...plan.stored,
      yield* statusIn(queue, "b"),
      yield* queue.await("a"),
      ...(yield* Stream.runCollect(queue.list()))
    ].map((status) => status.label)
    assert.deepStrictEqual(shown, [label, "x", label, label, label, label, "x", label])
    const stored = yield* sql`SELECT * FROM effect_pix_payouts`
    const history = yield* sql`SELECT * FROM effect_pix_payout_history`
    assert.notMatch(JSON.stringify([stored, history, labels.lines]), /Maria|another/)
    // Another process has no key, or a wrong one.
    for (const options of [{}, { seal: Seal.aesGcm(Redacted.make("ff".repeat(32))) }]) {
      const other = yield* startClient(options)
      assert.isUndefined((yield* statusIn(other, "a")).label)
      assert.lengthOf(yield* Stream.runCollect(other.list()), 3)
    }
    // A sealed label is no request, and a sealed request no label.
    yield* sql`UPDATE effect_pix_payouts SET label = request WHERE reference = 'c'`
    assert.isUndefined((yield* statusIn(queue, "c")).label)
    assert.isUndefined((yield* queue.forget("a", { by })).label)
    assert.isNull((yield* sql`SELECT label FROM effect_pix_payouts WHERE reference = 'a'`)[0]?.["label"])
    for (const wrong of ["", " ", "x".repeat(201), "\u200b", 7 as unknown as string])
      assert.deepInclude(yield* Effect.flip(queue.submit({ ...payout("d"), label: wrong })), {
        issues: [{ path: "label", problem: "must be a text of 1 to 200 characters that is not blank" }]
      })
  }
)
