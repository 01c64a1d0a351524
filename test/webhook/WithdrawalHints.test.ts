/** `onWithdrawal`: what a delivery claims of a withdrawal, handed out as a hint. */
import { assert, describe } from "@effect/vitest"
import { Cause, Clock, Effect, Option, Schema } from "effect"
import { Metadata } from "effect-pix"
import type { WebhookEvent } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import failure from "../fixtures/field/webhook-cashout-failure.json" with { type: "json" }
import refunded from "../fixtures/field/webhook-cashout-refunded.json" with { type: "json" }
import successful from "../fixtures/field/webhook-cashout-successful.json" with { type: "json" }
import { lookups } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { edge, finish, inSeconds, kill, recorded, recording, stored, until, world } from "../support/webhooks.ts"

const Reference = Metadata.codec(Schema.Struct({ reference: Schema.String }))

/** Collects the hints, and the times at which they came. */
const collecting = (
  take: (hint: WebhookEvent.WithdrawalHint) => Effect.Effect<unknown, unknown> = () => Effect.void
) => {
  const hints: Array<WebhookEvent.WithdrawalHint> = []
  const times: Array<number> = []
  const onWithdrawal = (hint: WebhookEvent.WithdrawalHint) =>
    Effect.gen(function* () {
      hints.push(hint)
      times.push(yield* Clock.currentTimeMillis)
      yield* take(hint)
    })
  return { hints, times, onWithdrawal }
}

const both = [
  [recorded.name, undefined],
  ["a delivery that is not recorded", edge]
] as const

describe("a hint about a withdrawal", () => {
  for (const [name, layer] of both)
    effect(
      `of ${name} has what was seen of it and nothing else, and nothing is looked up or reported`,
      world,
      function* () {
        const { hints, onWithdrawal } = collecting()
        const { idle, post, reports } = yield* recording({ metadata: Reference, onWithdrawal }, layer)
        for (const body of [failure, successful, refunded]) {
          assert.strictEqual(yield* post(body, { "x-webhook-event-id": "evt-77" }), 200)
        }
        yield* post({ withdrawalId: 8, idempotencyKey: "wd_1", status: "Settled" })
        yield* idle
        const about = { withdrawalId: 7184, eventId: "evt-77", metadata: { reference: "invoice-42" } }
        const { endToEndId } = successful
        assert.sameDeepMembers(
          hints.map(({ id, ...hint }): unknown => {
            assert.match(id, /^delivery:[\da-f]{64}$/)
            return hint
          }),
          [
            { ...about, status: "failure" },
            { ...about, endToEndId, status: "successful" },
            { ...about, endToEndId, status: "refunded" },
            { withdrawalId: 8, idempotencyKey: "wd_1", status: "Settled" }
          ]
        )
        assert.deepStrictEqual([reports, yield* lookups], [[], 0])
      }
    )

  for (const [name, layer] of both)
    effect(`of ${name} is none without number and key, or without a status: it is reported`, world, function* () {
      const { hints, onWithdrawal } = collecting()
      const { idle, post, reasons } = yield* recording({ onWithdrawal }, layer)
      const bodies = [
        { withdrawId: 7 },
        { object: "withdraw", status: "failure" },
        { withdrawId: 7, status: "MARIA SILVA" }
      ]
      for (const body of bodies) assert.strictEqual(yield* post(body), 200)
      yield* idle
      assert.deepStrictEqual([hints, reasons()], [[], bodies.map(() => "UnconfirmedWithdrawal")])
    })

  effect("is handed out once with the writes of the handler, however often its body is sent", world, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE claims (withdrawal INTEGER, status TEXT)`
    const { hints, onWithdrawal } = collecting(
      ({ status, withdrawalId = 0 }) => sql`INSERT INTO claims VALUES (${withdrawalId}, ${status})`
    )
    const webhook = yield* recording({ onWithdrawal })
    for (const body of [successful, successful, refunded, successful]) {
      yield* webhook.post(body)
      yield* webhook.idle
    }
    const rows = yield* sql<{ readonly status: string }>`SELECT status FROM claims`
    assert.deepStrictEqual([rows.map(({ status }) => status), hints.length], [["successful", "refunded"], 2])
    assert.notMatch(yield* stored, /EXEMPLO|52998224725|successful/)
  })

  effect("that no payout has yet is handed out again, and its writes are undone until one has", world, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE claims (status TEXT)`
    let isThere = false
    const { onWithdrawal, times } = collecting(({ status }) =>
      Effect.andThen(
        sql`INSERT INTO claims VALUES (${status})`,
        Effect.suspend(() => Effect.fromOption(isThere ? Option.some("invoice-42") : Option.none()))
      )
    )
    const webhook = yield* recording({ onWithdrawal })
    yield* webhook.post(failure)
    yield* TestClock.adjust("20 seconds")
    isThere = true
    yield* finish(webhook)
    assert.deepStrictEqual(inSeconds(times), [0, 1, 3, 7, 15, 31])
    assert.strictEqual((yield* sql`SELECT * FROM claims`).length, 1)
    assert.deepStrictEqual([webhook.reports, webhook.failures, yield* webhook.deadLetters], [[], [], []])
  })

  effect("that no payout ever has is reported once after ten minutes, and is no dead letter", world, function* () {
    let isTaken = false
    const { onWithdrawal, times } = collecting(() => Effect.fail("none"))
    const onUnconfirmed = () => Effect.suspend(() => (isTaken ? Effect.void : Effect.fail("the disk is full")))
    const webhook = yield* recording({ metadata: Reference, onUnconfirmed, onWithdrawal })
    yield* webhook.post(failure)
    yield* TestClock.adjust("602 seconds")
    assert.deepStrictEqual([times.length, webhook.reports.length], [15, 0])
    yield* TestClock.adjust("2 seconds")
    // A report that fails is repeated alone.
    assert.isAbove(webhook.reports.length, 0)
    isTaken = true
    yield* finish(webhook)
    assert.deepStrictEqual([times.length, inSeconds(times).at(-1)], [16, 603])
    const [report] = webhook.reports
    assert.deepStrictEqual<unknown>(report, {
      _tag: "UnconfirmedWithdrawal",
      id: report?.id,
      withdrawalId: 7184,
      idempotencyKey: undefined,
      untrusted: { status: "failure", metadata: { reference: "invoice-42" } }
    })
    assert.deepStrictEqual(yield* webhook.deadLetters, [])
    // Nothing of it is stored: sent again, it has its ten minutes again.
    assert.strictEqual(yield* stored, "[]")
    yield* webhook.post(failure)
    yield* until(() => times.length === 17)
    yield* TestClock.adjust("5 seconds")
    assert.isAbove(times.length, 17)
  })

  effect("whose report is never taken is a dead letter of the report", world, function* () {
    const { onWithdrawal } = collecting(() => Effect.fail("none"))
    const webhook = yield* recording({ onUnconfirmed: () => Effect.fail("never"), onWithdrawal })
    yield* webhook.post(failure)
    yield* TestClock.adjust("10 millis")
    yield* kill()
    yield* webhook.idle
    const letters = yield* webhook.deadLetters
    assert.deepStrictEqual(
      letters.map(({ handler, withdrawalId }) => [handler, withdrawalId]),
      [["onUnconfirmed", 7184]]
    )
  })

  const untaken: ReadonlyArray<readonly [why: string, failed: Effect.Effect<never, unknown>, told: number]> = [
    ["since no payout has it yet", Effect.fail(new Cause.NoSuchElementError()), 0],
    ["since the code failed", Effect.fail("none"), 1]
  ]
  effect.each(untaken)(
    "that is not recorded and not taken %s is answered with 503, and no report is made",
    world,
    function* ([, failed, told]) {
      const { onWithdrawal } = collecting(() => failed)
      const { failures, post, reports } = yield* recording({ onWithdrawal }, edge)
      assert.strictEqual(yield* post(failure), 503)
      assert.deepStrictEqual([failures.map(({ handler }) => handler), reports], [Array(told).fill("onWithdrawal"), []])
    }
  )
})
