/**
 * Which code of the user is called, and what becomes of a delivery for which it fails.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Data, Effect, Fiber, References } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Money } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { PayoutNotFound } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { delayOf } from "../../src/webhook/internal/work.ts"
import cashIn from "../fixtures/field/webhook-cashin.json" with { type: "json" }
import { charge, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { interruptible } from "../support/interruptible.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { drawn } from "../support/seed.ts"
import {
  decorated,
  edge,
  evenly,
  exhaust,
  finish,
  inSeconds,
  isTransaction,
  knowing,
  nobody,
  recorded,
  recording,
  saying,
  unrecorded,
  world
} from "../support/webhooks.ts"

const webhooks = [recorded, unrecorded, decorated]

describe("the code of the user", () => {
  for (const { layer, name } of webhooks)
    for (const [says, expected, handlers, paid = []] of drawn<
      readonly [string, number | undefined, string, ReadonlyArray<string>?]
    >([
      ["Paid", undefined, "onPaid onStatus"],
      ["Refunded", undefined, "onRefunded onStatus"],
      ["Cancelled", undefined, "onClosed onStatus"],
      ["Failed", undefined, "onClosed onStatus"],
      ["Expired", undefined, "onClosed onStatus"],
      ["EXPIRED", undefined, "onClosed onStatus"],
      ["PAID", undefined, "onPaid onStatus"],
      ["RefundFailed", undefined, "onStatus"],
      ["CANCEL_REQUESTED", undefined, "onStatus"],
      ["Successful", undefined, "onStatus"],
      ["Successful", undefined, "onPaid onStatus", ["successful"]],
      ["Pago", undefined, "onStatus", ["Successful"]],
      ["Em Processamento", undefined, "onPaid onStatus", ["em processamento"]],
      ["Successful", 2499, "onUnconfirmed", ["Successful"]],
      ["refunded", undefined, "onRefunded onStatus"],
      ["Estornado", undefined, "onStatus"],
      ["NAO_REALIZADO", undefined, "onStatus"],
      ["Unpaid", undefined, "onStatus"],
      ["Paid", 2500, "onPaid onStatus"],
      ["Paid", 2499, "onUnconfirmed"],
      ["Paid", 2501, "onUnconfirmed"],
      ["Cancelled", 2499, "onClosed onStatus"]
    ]))
      effect(
        `${name} of 2500 that is ${says} calls ${handlers} if ${expected} is expected and ${paid.join() || "no word"} listed`,
        world,
        function* () {
          const called: Array<string> = []
          const note = (handler: string) => () => Effect.sync(() => called.push(handler))
          const [onPaid, onRefunded, onClosed] = [note("onPaid"), note("onRefunded"), note("onClosed")]
          const [onStatus, onUnconfirmed] = [note("onStatus"), note("onUnconfirmed")]
          const expectedAmount = () => Effect.succeed(expected === undefined ? undefined : Money.centavos(expected))
          const options = { onPaid, onRefunded, onClosed, onStatus, onUnconfirmed, expectedAmount }
          const webhook = yield* recording(options, layer).pipe(
            saying(() => says),
            knowing({ charge: { paid } })
          )
          assert.strictEqual(yield* webhook.claim((yield* charge).id, says), 200)
          yield* webhook.idle
          assert.strictEqual(called.join(" "), handlers)
          const [report] = webhook.reports
          const seen = isTransaction(report) && [report.reason, report.expected, report.transaction?.value]
          assert.deepStrictEqual<unknown>(seen, handlers === "onUnconfirmed" && ["OtherAmount", expected, 2500])
        }
      )

  for (const { layer, name } of webhooks)
    effect(`${name} of the kind that was seen is handed out to onPaid by its lookup alone`, world, function* () {
      const paid: Array<string> = []
      const webhook = yield* recording(
        { onPaid: ({ transaction }) => Effect.sync(() => paid.push(transaction.transactionId)) },
        layer
      )
      const [one, other] = [yield* paidCharge, yield* paidCharge]
      const bodyOf = (transactionId: string) => ({ ...cashIn, transactionId, value: 1, amount: 99_999 })
      assert.strictEqual(
        yield* webhook.post({ data: [bodyOf(one), bodyOf(other)] }, { "x-webhook-event-id": "e-1" }),
        200
      )
      yield* webhook.idle
      assert.sameMembers(paid, [one, other])
      for (const { transaction, untrusted } of webhook.events) {
        assert.strictEqual(transaction.value, Money.centavos(2500))
        assert.deepStrictEqual(untrusted, { status: "successful", endToEndId: cashIn.endToEndId, eventId: "e-1" })
      }
      // The same event again is another reason to look.
      assert.strictEqual(yield* webhook.post(bodyOf(yield* paidCharge), { "x-webhook-event-id": "e-1" }), 200)
      yield* webhook.idle
      assert.lengthOf(paid, 3)
    })

  effect(
    "a word for paid that is listed later is handed out again, to onPaid, as other facts say it",
    world,
    function* () {
      let says = "Successful"
      const paid: Array<string> = []
      const options = { onPaid: ({ id }: { readonly id: string }) => Effect.sync(() => paid.push(id)) }
      const { id } = yield* charge
      const unlisted = yield* recording(options).pipe(saying(() => says))
      yield* unlisted.check(id)
      yield* unlisted.idle
      yield* unlisted.crash
      const listed = yield* recording(options).pipe(
        saying(() => says),
        knowing({ charge: { paid: ["Successful"] } })
      )
      for (const word of [says, says, "refunded", "successful"]) {
        says = word
        yield* listed.check(id)
        yield* finish(listed)
      }
      assert.deepStrictEqual(
        [paid, unlisted.statuses(), listed.statuses()],
        [[`${id}:Successful`], ["Successful"], ["Successful", "refunded"]]
      )
      assert.deepStrictEqual(listed.reasons(), ["WentBack"])
    }
  )

  effect("two words for paid, which a charge has one after the other, are handed to onPaid once", world, function* () {
    let says = "Paid"
    const paid: Array<string> = []
    const { id } = yield* charge
    const webhook = yield* recording({ onPaid: (event) => Effect.sync(() => paid.push(event.id)) }).pipe(
      saying(() => says),
      knowing({ charge: { paid: ["Liquidada", "Compensada"] } })
    )
    for (const word of ["Paid", "Liquidada", "PAID", "compensada", "Refunded", "Liquidada"]) {
      says = word
      yield* webhook.check(id)
      yield* finish(webhook)
    }
    assert.deepStrictEqual(paid, [`${id}:Paid`])
    assert.deepStrictEqual(webhook.statuses(), ["Paid", "Liquidada", "compensada", "Refunded"])
  })

  effect("a delivery that is repeated is handed out where the expected amount is corrected", world, function* () {
    let expected = Money.centavos(1)
    const webhook = yield* recording({ expectedAmount: () => Effect.succeed(expected) })
    const id = yield* paidCharge
    for (expected of [expected, Money.centavos(2500)]) {
      yield* webhook.claim(id)
      yield* webhook.idle
    }
    assert.deepStrictEqual([webhook.statuses(), webhook.reasons()], [["Paid"], ["OtherAmount"]])
  })

  effect("a delivery that is not recorded is handed out each time, with the same event id", world, function* () {
    const webhook = yield* recording({}, edge)
    const id = yield* paidCharge
    const post = webhook.post({ event: "x", data: { id, status: "PAID", amount: 99_999_999 } })
    assert.deepStrictEqual([yield* post, yield* post], [200, 200])
    yield* webhook.check(id)
    assert.deepStrictEqual<unknown>(
      webhook.events.map((event) => [event.id, event.transaction.value, event.untrusted]),
      [
        [`${id}:Paid`, 2500, { status: "PAID" }],
        [`${id}:Paid`, 2500, { status: "PAID" }],
        [`${id}:Paid`, 2500, {}]
      ]
    )
    assert.isFalse(webhook.isRecorded, "there is no WebhookClient")
  })
})

describe("code of the user that fails", () => {
  for (const { layer, name } of webhooks)
    for (const [handler, says, body] of [
      ["onPaid", "Paid"],
      ["onRefunded", "Refunded"],
      ["onClosed", "Cancelled"],
      ["onStatus", "Chargeback"],
      ["expectedAmount", "Paid"],
      ["onUnconfirmed", "Paid", { hello: "world" }]
    ] as const)
      effect(
        `${handler} for ${name} is called again until it succeeds, each time for at most its time`,
        world,
        function* () {
          const at: Array<number> = []
          let interrupted = 0
          const hangs = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
          const bug = (): Effect.Effect<never> => {
            throw new Error("thrown")
          }
          const ways = [() => Effect.fail("failed"), bug, () => Effect.die("died"), () => hangs]
          const code = () =>
            Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<undefined, string> => {
              at.push(now)
              return ways[at.length - 1]?.() ?? Effect.undefined
            })
          const options = { handlerTimeout: "2 seconds", [handler]: code } as const
          const webhook = yield* recording(options, layer).pipe(
            saying(() => says),
            evenly
          )
          const { id } = yield* charge
          // Repetitions do not shorten the waits of a delivery that is recorded.
          const answers = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6], () =>
            Effect.tap(
              Effect.forkChild(webhook.post(body ?? { transactionId: id, status: says })),
              Effect.repeat(TestClock.adjust("50 millis"), { times: 19 })
            )
          )
          yield* finish(webhook)
          const isRecorded = layer !== edge
          // A delivery about a charge waits for the code that is called with it.
          const atOnce = handler === "onUnconfirmed" ? [0, 1, 2, 3, 4, 5, 6] : [0, 1, 2, 3, 5, 5, 6]
          assert.deepStrictEqual(inSeconds(at), isRecorded ? [0, 1, 3, 7, 17] : atOnce)
          const failed = isRecorded ? [] : [503, 503, 503, 503]
          assert.deepStrictEqual(yield* Effect.forEach(answers, Fiber.join), [
            ...failed,
            ...Array(7 - failed.length).fill(200)
          ])
          const [event] = handler === "onUnconfirmed" ? webhook.reports : webhook.events
          assert.deepStrictEqual(
            webhook.failures.map(({ attempt, handler, id, isDead }) => [handler, id, attempt, isDead]),
            [1, 2, 3, 4].map((attempt) => [handler, event?.id, isRecorded ? attempt : 1, false])
          )
          assert.strictEqual(interrupted, 1)
        }
      )

  for (const [reason, tries, first, longest, days] of [
    ["early", 6, 1000, 32_000, 0],
    ["outage", 870, 2000, 300_000, 3],
    ["failed", 295, 1000, 300_000, 1]
  ] as const)
    effect(`a row that waits as ${reason} waits ${tries} times, for about ${days} days`, function* () {
      const waits: Array<number> = []
      for (let millis: number | undefined = 0; millis !== undefined;) {
        millis = yield* evenly(delayOf(reason, waits.length + 1))
        if (millis !== undefined) waits.push(millis)
      }
      assert.deepStrictEqual([waits.length, waits[0], waits[1], waits.at(-1)], [tries, first, first * 2, longest])
      const sum = waits.reduce((sum, wait) => sum + wait, 0)
      assert.strictEqual(Math.round(sum / 86_400_000), days)
    })

  effect("an onFailure that fails itself changes nothing, and a check ends where a handler fails", world, function* () {
    const { layer, lines } = makeWarnings(
      (line, { fiber }) => `${line}: ${String(fiber.getRef(References.CurrentLogAnnotations)["error.type"])}`
    )
    let calls = 0
    const options = { onPaid: () => Effect.fail(`the ${++calls}. time`), onFailure: () => Effect.die("a bug") }
    const { check } = yield* Effect.provide(
      recording({}, () => Webhook.layer(options)),
      layer
    )
    const id = yield* paidCharge
    for (const count of [1, 2]) {
      yield* Effect.provide(check(id), layer)
      assert.strictEqual(calls, count)
    }
    assert.deepStrictEqual(lines, Array(2).fill("Webhook: onFailure failed: Defect"))
  })

  effect("the line of a failure has the tag of an error of this library, and of no other one", world, function* () {
    class Persons extends Data.TaggedError("Maria")<{ readonly concerns: string }> {}
    const own = new PayoutNotFound({ reference: "invoice-42" })
    const { layer, lines } = makeWarnings(
      (_, { fiber }) => fiber.getRef(References.CurrentLogAnnotations)["error.type"]
    )
    const failures = [
      Effect.fail(own),
      Effect.die(own),
      Effect.fail(new Persons({ concerns: "Maria" })),
      Effect.die("a bug")
    ]
    for (const onPaid of failures) {
      const { check } = yield* Effect.provide(
        recording({}, () => Webhook.layer({ onPaid: () => onPaid })),
        layer
      )
      yield* Effect.provide(check(yield* paidCharge), layer)
    }
    assert.deepStrictEqual(lines, ["PayoutNotFound", "PayoutNotFound", "Failure", "Defect"])
  })

  effect("a report that nobody takes is a warning, without a text of the delivery", world, function* () {
    const { layer, lines } = makeWarnings()
    const { idle, post } = yield* Effect.provide(
      recording({}, () => Webhook.layerSql({})),
      layer
    )
    yield* post({ transactionId: nobody(), name: "Maria" })
    yield* post({ withdrawalId: 1, metadata: "Maria" })
    yield* TestClock.adjust("2 minutes")
    yield* idle
    assert.deepStrictEqual(lines.toSorted(), [
      "Webhook: could not be confirmed: UnconfirmedTransaction (NotFound)",
      "Webhook: could not be confirmed: UnconfirmedWithdrawal"
    ])
  })
})

describe("dead letters", () => {
  effect("a delivery while a handler fails for the last time is looked up, and no letter is left", world, function* () {
    const sandbox = yield* Sandbox
    const id = yield* paidCharge
    const { claim, deadLetters, idle, statuses } = yield* recording({
      onPaid: () => Effect.andThen(Effect.sleep("1 second"), Effect.fail("a bad row"))
    })
    yield* claim(id)
    yield* TestClock.adjust("1 second")
    yield* exhaust("failed", 1, TestClock.adjust("10 millis"))
    yield* TestClock.adjust("1500 millis")
    yield* sandbox.refund(id)
    yield* Effect.forkChild(claim(id, "Refunded"))
    yield* TestClock.adjust("3 seconds")
    yield* idle
    assert.deepStrictEqual([statuses(), yield* deadLetters], [["Refunded"], []])
  })

  effect("the reports of two false claims are repeated until each is taken, once", world, function* () {
    const refused: Array<string> = []
    const taken: Array<string> = []
    const { claim, idle } = yield* recording({
      onUnconfirmed: ({ untrusted: { status = "none" } }) =>
        Effect.suspend((): Effect.Effect<unknown, string> => {
          if (!refused.includes(status)) return Effect.fail(`refusal ${refused.push(status)}`)
          return Effect.sync(() => taken.push(status))
        })
    })
    const id = yield* paidCharge
    for (const status of ["Cancelled", "Failed"]) yield* claim(id, status)
    yield* TestClock.adjust("2 minutes")
    yield* idle
    for (const statuses of [refused, taken]) assert.deepStrictEqual(statuses.toSorted(), ["Cancelled", "Failed"])
  })
})

describe("a step of the database that another fiber interrupts", () => {
  effect("after a handler it is no failure of that: the event is handed out again and commits", world, function* () {
    const { client: sql, interrupted, interruptNext } = yield* interruptible
    yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
    let handled = 0
    const webhook = yield* recording({
      onPaid: ({ transaction: { transactionId } }) =>
        sql`INSERT INTO shipped VALUES (${transactionId})`.pipe(
          Effect.andThen(Effect.suspend(() => (++handled === 1 ? interruptNext : Effect.void)))
        )
    }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    yield* webhook.claim(yield* paidCharge)
    yield* finish(webhook)
    assert.deepStrictEqual([handled, interrupted()], [2, 1])
    assert.lengthOf(yield* sql`SELECT charge FROM shipped`, 1)
    assert.deepStrictEqual([webhook.failures, yield* webhook.deadLetters], [[], []])
  })

  effect("before the answer it is answered with 503, and the next try with 200", world, function* () {
    const { client, interruptNext } = yield* interruptible
    const { idle, post } = yield* Effect.provideService(recording(), SqlClient.SqlClient, client)
    yield* idle
    yield* interruptNext
    assert.deepStrictEqual([yield* post({}), yield* post({})], [503, 200])
  })
})

effect("a handler that deletes its own row is rolled back, and that is no failure of it", world, function* () {
  const sql = yield* SqlClient.SqlClient
  let calls = 0
  const { claim, failures, statuses } = yield* recording({
    onPaid: () =>
      Effect.suspend((): Effect.Effect<unknown, unknown> =>
        ++calls === 1 ? sql`DELETE FROM effect_pix_webhooks` : Effect.void
      )
  })
  yield* claim(yield* paidCharge)
  yield* TestClock.adjust("10 minutes")
  assert.deepStrictEqual([statuses(), failures], [["Paid", "Paid"], []])
})

effect("writes that cannot be committed are the failure of the only handler that was called", world, function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE orders (id INTEGER PRIMARY KEY)`
  yield* sql`CREATE TABLE parcels (orderId INTEGER REFERENCES orders DEFERRABLE INITIALLY DEFERRED)`
  const { claim, failures } = yield* recording({ onStatus: () => sql`INSERT INTO parcels VALUES (42)` }).pipe(
    saying(() => "Pago")
  )
  yield* claim(yield* paidCharge)
  yield* TestClock.adjust("1 second")
  assert.strictEqual(failures[0]?.handler, "onStatus")
})
