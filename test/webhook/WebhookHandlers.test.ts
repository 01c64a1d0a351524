/**
 * Which code of the user is called, and what becomes of a delivery for which it fails.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { Money } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookOptions } from "effect-pix/webhook"
import { delayOf } from "../../src/webhook/internal/schedules.ts"
import { charge, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import {
  edge,
  evenly,
  exhaust,
  finish,
  inSeconds,
  isTransaction,
  kill,
  nobody,
  recorded,
  recording,
  saying,
  unrecorded,
  world
} from "../support/webhooks.ts"

const webhooks = [recorded, unrecorded]

describe("the code of the user", () => {
  for (const { layer, name } of webhooks)
    for (const [says, expected, handlers] of [
      ["Paid", undefined, "onPaid onStatus"],
      ["Refunded", undefined, "onRefunded onStatus"],
      ["Cancelled", undefined, "onClosed onStatus"],
      ["Failed", undefined, "onClosed onStatus"],
      ["Expired", undefined, "onClosed onStatus"],
      ["EXPIRED", undefined, "onClosed onStatus"],
      ["PAID", undefined, "onStatus"],
      ["Unpaid", undefined, "onStatus"],
      ["Paid", 2500, "onPaid onStatus"],
      ["Paid", 2499, "onUnconfirmed"],
      ["Paid", 2501, "onUnconfirmed"],
      ["Cancelled", 2499, "onClosed onStatus"]
    ] as const)
      effect(`${name} of 2500 that is ${says} calls ${handlers} if ${expected} is expected`, world, function* () {
        const called: Array<string> = []
        const note = (handler: string) => () => Effect.sync(() => called.push(handler))
        const [onPaid, onRefunded, onClosed] = [note("onPaid"), note("onRefunded"), note("onClosed")]
        const [onStatus, onUnconfirmed] = [note("onStatus"), note("onUnconfirmed")]
        const expectedAmount = () => Effect.succeed(expected && Money.centavos(expected))
        const options = { onPaid, onRefunded, onClosed, onStatus, onUnconfirmed, expectedAmount }
        const webhook = yield* recording(options, layer).pipe(saying(() => says))
        assert.strictEqual(yield* webhook.claim((yield* charge).id, says), 200)
        yield* webhook.idle
        assert.strictEqual(called.join(" "), handlers)
        const [report] = webhook.reports
        const seen = isTransaction(report) && [report.reason, report.expected, report.transaction?.value]
        assert.deepStrictEqual<unknown>(seen, handlers === "onUnconfirmed" && ["OtherAmount", expected, 2500])
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
    assert.deepStrictEqual([yield* webhook.claim(id), yield* webhook.claim(id)], [200, 200])
    yield* webhook.check(id)
    assert.deepStrictEqual(
      webhook.events.map((event) => [event.id, event.untrusted]),
      [
        [`${id}:Paid`, { status: "Paid" }],
        [`${id}:Paid`, { status: "Paid" }],
        [`${id}:Paid`, {}]
      ]
    )
    assert.deepStrictEqual([yield* webhook.deadLetters, yield* webhook.find(id)], [[], []])
    assert.deepStrictEqual([yield* webhook.retry(id), yield* webhook.discard(id)], [false, false])
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
          const begin = yield* Clock.currentTimeMillis
          const at: Array<number> = []
          let interrupted = 0
          const hangs = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
          const bug = (): Effect.Effect<never> => {
            throw new Error("thrown")
          }
          const ways = [() => Effect.fail("failed"), bug, () => Effect.die("died"), () => hangs]
          const code = () =>
            Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<undefined, string> => {
              at.push(now - begin)
              return ways[at.length - 1]?.() ?? Effect.undefined
            })
          const options = { handlerTimeout: "2 seconds", [handler]: code } as const
          const webhook = yield* recording(options, layer).pipe(
            saying(() => says),
            evenly
          )
          const { id } = yield* charge
          const post = webhook.post(body ?? { transactionId: id, status: says })
          if (layer === undefined) {
            // Repetitions do not shorten the waits.
            for (let second = 0; second < 7; second++) yield* Effect.andThen(post, TestClock.adjust("1 second"))
            yield* finish(webhook)
            assert.deepStrictEqual(inSeconds(at), [0, 1, 3, 7, 17])
          } else {
            for (const status of [503, 503, 503]) assert.strictEqual(yield* post, status)
            const last = yield* Effect.forkChild(post, { startImmediately: true })
            yield* TestClock.adjust("2 seconds")
            assert.deepStrictEqual([yield* Fiber.join(last), yield* post], [503, 200])
          }
          const [event] = handler === "onUnconfirmed" ? webhook.reports : webhook.events
          assert.deepStrictEqual(
            webhook.failures.map(({ attempt, handler, id, isDead }) => [handler, id, attempt, isDead]),
            [1, 2, 3, 4].map((attempt) => [handler, event?.id, layer === undefined ? attempt : 1, false])
          )
          assert.strictEqual(interrupted, 1)
        }
      )

  for (const [reason, tries, first, longest, least, most] of [
    ["early", 6, 1000, 32_000, 63, 63],
    ["outage", 870, 2000, 300_000, 2.4 * 86_400, 3.6 * 86_400],
    ["failed", 295, 1000, 300_000, 0.8 * 86_400, 1.2 * 86_400]
  ] as const)
    effect(`a row that waits as ${reason} waits ${tries} times, from ${first} to ${longest} ms`, function* () {
      const waits: Array<number> = []
      for (let attempt = 1; ; attempt++) {
        const millis = yield* delayOf(reason, attempt).pipe(evenly)
        if (millis === undefined) break
        waits.push(millis)
      }
      assert.deepStrictEqual([waits.length, waits[0], waits[1], waits.at(-1)], [tries, first, first * 2, longest])
      const seconds = waits.reduce((sum, wait) => sum + wait, 0) / 1000
      assert.isTrue(least <= seconds && seconds <= most, `${seconds}`)
    })

  effect(
    "a check that is not recorded ends where a handler fails, after the failure was reported",
    world,
    function* () {
      const { check, failures } = yield* recording({ onPaid: () => Effect.fail("away") }, edge)
      yield* check(yield* paidCharge)
      assert.lengthOf(failures, 1)
    }
  )

  effect("an onFailure that fails itself changes nothing", world, function* () {
    let calls = 0
    const { claim, ...webhook } = yield* recording({}, () =>
      Webhook.layerSql({
        onPaid: () => Effect.suspend(() => (++calls < 2 ? Effect.fail("later") : Effect.void)),
        onFailure: () => Effect.die("a bug")
      })
    )
    yield* claim(yield* paidCharge)
    yield* finish(webhook)
    assert.strictEqual(calls, 2)
  })

  effect("the log has the error of a handler only if the user logs it, and no text of a delivery", world, function* () {
    const logged = Effect.fnUntraced(function* (options: Pick<WebhookOptions, "onFailure">) {
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      const { post, ...webhook } = yield* recording({}, () =>
        Webhook.layerSql({ ...options, onPaid: () => Effect.fail("hush-1") })
      ).pipe(Effect.provide(logger), Effect.provideService(References.MinimumLogLevel, "All"))
      yield* post({ transactionId: nobody(), name: "hush-5" })
      yield* post({ transactionId: yield* paidCharge, metadata: "hush-2", customer: { name: "hush-3" } })
      yield* post({ withdrawalId: 1, metadata: "hush-4" })
      yield* TestClock.adjust("2 minutes")
      yield* kill()
      yield* webhook.idle
      return lines.join("\n")
    })
    const silent = yield* logged({})
    for (const line of [
      "onPaid failed, attempt 1",
      "attempt 1000: it is not called again, see Webhook.deadLetters",
      "UnconfirmedTransaction (NotFound)",
      "UnconfirmedWithdrawal"
    ])
      assert.include(silent, line)
    assert.notInclude(silent, "hush-")
    const loud = yield* logged({ onFailure: ({ cause, handler }) => Effect.logError(handler, cause) })
    assert.include(loud, "hush-1")
    assert.notMatch(loud, /hush-[^1]/)
  })
})

describe("dead letters", () => {
  effect("a dead letter is retried with all tries, at once, by a step or by another delivery", world, function* () {
    const { claim, deadLetters, discard, failures, idle, retry } = yield* recording({
      onPaid: () => Effect.fail("a bad row"),
      poll: "1 hour"
    })
    const id = yield* paidCharge
    for (let n = 0; n < 3; n++) {
      yield* claim(id)
      yield* kill()
      yield* idle
      if (n === 1) assert.isTrue(yield* discard(id))
      assert.lengthOf(yield* deadLetters, n === 1 ? 0 : 1)
    }
    assert.isTrue(yield* retry(id))
    yield* TestClock.adjust("100 millis")
    assert.deepStrictEqual(
      failures.map(({ attempt }) => attempt),
      [1, 1000, 1, 1000, 1, 1000, 1]
    )
  })

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
