/**
 * Which code of the user is called, and what becomes of a delivery for which it fails.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Logger, References } from "effect"
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
  isTransaction,
  kill,
  nobody,
  type Options,
  recording,
  saying,
  world
} from "../support/webhooks.ts"

const webhooks = [
  { name: "of a recorded delivery", layer: undefined },
  { name: "of a delivery that is not recorded", layer: edge }
]

describe("the code of the user", () => {
  for (const { layer, name } of webhooks) {
    effect(`a lookup ${name} calls the handler of the status, then onStatus, and no other`, world, function* () {
      const called: Array<string> = []
      const note = (handler: string) => () => Effect.sync(() => called.push(handler))
      const [onPaid, onRefunded, onClosed] = [note("onPaid"), note("onRefunded"), note("onClosed")]
      let status = ""
      const webhook = yield* recording({ onPaid, onRefunded, onClosed, onStatus: note("onStatus") }, layer).pipe(
        saying(() => status)
      )
      const handlers: Record<string, string> = {}
      for (status of ["Paid", "Refunded", "Cancelled", "Failed", "Expired", "EXPIRED", "PAID", "Unpaid", "Awaiting"]) {
        yield* webhook.claim((yield* charge).id, status)
        yield* webhook.idle
        handlers[status] = called.splice(0).join()
      }
      assert.deepStrictEqual(handlers, {
        Paid: "onPaid,onStatus",
        Refunded: "onRefunded,onStatus",
        Cancelled: "onClosed,onStatus",
        Failed: "onClosed,onStatus",
        Expired: "onClosed,onStatus",
        EXPIRED: "onClosed,onStatus",
        PAID: "onStatus",
        Unpaid: "onStatus",
        Awaiting: ""
      })
    })

    for (const [says, expected, handedOut] of [
      ["Paid", 2499, []],
      ["Paid", 2501, []],
      ["Paid", 2500, ["onPaid", "onStatus"]],
      ["Paid", undefined, ["onPaid", "onStatus"]],
      ["Cancelled", 2499, ["onStatus"]]
    ] as const)
      effect(
        `a charge of 2500 ${name} that is ${says} calls ${handedOut.join(" and ") || "only onUnconfirmed"} where ${expected ?? "nothing"} is expected`,
        world,
        function* () {
          const called: Array<string> = []
          const webhook = yield* recording(
            {
              expectedAmount: () => Effect.succeed(expected && Money.centavos(expected)),
              onPaid: () => Effect.sync(() => called.push("onPaid")),
              onStatus: () => Effect.sync(() => called.push("onStatus"))
            },
            layer
          ).pipe(saying(() => says))
          const { id } = yield* charge
          assert.strictEqual(yield* webhook.claim(id, says), 200)
          yield* webhook.idle
          assert.deepStrictEqual(called, [...handedOut])
          const [report] = webhook.reports
          const seen = isTransaction(report) ? [report.reason, report.expected, report.transaction?.value] : []
          assert.deepStrictEqual<unknown>(seen, handedOut.length === 0 ? ["OtherAmount", expected, 2500] : [])
        }
      )
  }

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

/** A piece of the user's code that fails in each way, until it is mended. */
const breaking = () => {
  let calls = 0
  let interrupted = 0
  let isMended = false
  return {
    interrupted: () => interrupted,
    mend: () => void (isMended = true),
    code: (): Effect.Effect<undefined, string> => {
      calls++
      if (isMended || calls > 4) return Effect.undefined
      if (calls === 1) throw new Error("thrown")
      if (calls === 2) return Effect.fail("failed")
      return calls === 3 ? Effect.die("died") : Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
    }
  }
}

describe("code of the user that fails", () => {
  for (const [handler, says] of [
    ["onPaid", "Paid"],
    ["onRefunded", "Refunded"],
    ["onClosed", "Cancelled"],
    ["onStatus", "Chargeback"],
    ["expectedAmount", "Paid"],
    ["onUnconfirmed", "Another"]
  ] as const) {
    const options = (code: () => Effect.Effect<undefined, string>): Options => ({
      handlerTimeout: "2 seconds",
      [handler]: code
    })
    const send = { hello: "world" }

    effect(`${handler} is called again after 1, 2, 4 and 8 seconds, and for at most its time`, world, function* () {
      const begin = yield* Clock.currentTimeMillis
      const { code, interrupted } = breaking()
      const at: Array<number> = []
      const noted = () =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          at.push(Math.round((now - begin) / 1000))
          return code()
        })
      const { failures, post, ...webhook } = yield* recording(options(noted)).pipe(
        saying(() => says),
        evenly
      )
      const { id } = yield* charge
      yield* post(handler === "onUnconfirmed" ? send : { transactionId: id, status: says })
      yield* TestClock.adjust("8900 millis")
      assert.strictEqual(interrupted(), 0)
      yield* finish(webhook)
      assert.deepStrictEqual([at, interrupted()], [[0, 1, 3, 7, 17], 1])
      const [event] = handler === "onUnconfirmed" ? webhook.reports : webhook.events
      assert.deepStrictEqual(
        failures.map(({ attempt, handler, id, isDead }) => [handler, id, attempt, isDead]),
        [1, 2, 3, 4].map((attempt) => [handler, event?.id, attempt, false])
      )
    })

    effect(`${handler} of a delivery that is not recorded fails once: it is answered with 503`, world, function* () {
      const { code, mend } = breaking()
      const { failures, post } = yield* recording(options(code), edge).pipe(saying(() => says))
      const { id } = yield* charge
      const body = handler === "onUnconfirmed" ? send : { transactionId: id, status: says }
      assert.strictEqual(yield* post(body), 503)
      assert.deepStrictEqual(
        failures.map(({ attempt, handler, isDead }) => [handler, attempt, isDead]),
        [[handler, 1, false]]
      )
      mend()
      assert.strictEqual(yield* post(body), 200)
    })
  }

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
  effect("a dead letter is retried with all tries by another delivery, also if it was discarded", world, function* () {
    const { claim, deadLetters, discard, failures, idle } = yield* recording({
      onPaid: () => Effect.fail("a bad row")
    })
    const id = yield* paidCharge
    for (let n = 0; n < 3; n++) {
      yield* claim(id)
      yield* kill()
      yield* idle
      if (n === 1) assert.isTrue(yield* discard(id))
      assert.lengthOf(yield* deadLetters, n === 1 ? 0 : 1)
    }
    assert.deepStrictEqual(
      failures.map(({ attempt }) => attempt),
      [1, 1000, 1, 1000, 1, 1000]
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
