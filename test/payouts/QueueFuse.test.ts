/**
 * Answers that may be the fault of a rule, of a deploy or of the credentials, and not of the payouts: many payouts that end in a row hold
 * the account, and what a balancer answers ends none.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Fault } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { meetAll, refused } from "../support/payoutAnswers.ts"
import { makeWarnings, payout, payouts, queued, settle } from "../support/payoutQueue.ts"
import { count, paid, requests, shown } from "../support/payoutSeen.ts"

const one = { concurrency: 1 } as const
const { layer, lines } = makeWarnings()

describe("ten payouts in a row that an answer ends", () => {
  queued("hold the account, with an error line, until a person continues", { under: layer }, function* ({ queue }) {
    yield* meetAll(refused)
    yield* queue.submitMany(payouts(30))
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([yield* requests(), yield* queue.isPaused], [10, true])
    assert.include((yield* queue.account).lastPause?.note, "10 payouts in a row were refused or failed")
    assert.lengthOf(
      lines.filter((line) => line.includes("are paused")),
      1
    )
    yield* queue.setPaused(false, { by: "ana" })
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([yield* requests(), yield* queue.isPaused], [20, true])
    yield* meetAll()
    yield* queue.setPaused(false, { by: "ana" })
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* paid, 10)
  })

  queued("hold nothing where one was taken between them", one, function* ({ queue }) {
    for (const row of [1, 2, 3]) {
      yield* meetAll(refused)
      yield* queue.submitMany(payouts(9).map(({ reference }) => payout(`${reference}-${row}`)))
      yield* TestClock.adjust("1 minute")
      yield* meetAll()
      yield* queue.submit(payout(`taken-${row}`))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shown(`taken-${row}`), "posted")
    }
    assert.isFalse(yield* queue.isPaused)
  })
})

const page = "<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1><hr>nginx</body></html>"
describe("an answer of a balancer", () => {
  queued.each<readonly [title: string, fault: Fault.Fault]>([
    ["an empty 404", Fault.answer(404)],
    ["a page with 404", Fault.answer(404, { body: page })],
    ["the text of an ingress", Fault.answer(404, { body: "default backend - 404" })],
    [
      "JSON that repeats the status",
      Fault.answer(404, {
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ statusCode: 404, error: "Not Found" })
      })
    ],
    ...[405, 410, 415, 417, 421, 426, 428, 451].map((status) => [`an empty ${status}`, Fault.answer(status)] as const)
  ])("ends no payout, also of one without a PIX key: %s", { poll: "1 minute" }, function* ({ queue }, [, fault]) {
    yield* meetAll(fault)
    const items = payouts(20)
    yield* queue.submitMany(
      items.map(({ amount, reference }, at) => (at % 2 === 0 ? payout(reference) : { reference, amount }))
    )
    yield* TestClock.adjust("20 seconds")
    assert.strictEqual(yield* shown("invoice-1"), "accepted Setup")
    assert.strictEqual(yield* count("accepted"), 20)
    yield* meetAll()
    yield* TestClock.adjust("20 minutes")
    assert.deepStrictEqual([yield* count("posted"), yield* queue.isPaused], [20, false])
  })

  queued("with words of the service is about the payout, and ends it", function* ({ queue }) {
    yield* meetAll(Fault.refusal(404, "Chave não encontrada"))
    yield* queue.submit(payout("invoice-1"))
    yield* settle
    assert.strictEqual(yield* shown(), "refused")
  })
})

describe("a 403", () => {
  queued("is its payout's, and the account's after three payouts", { ...one, poll: "1 minute" }, function* ({ queue }) {
    yield* meetAll(Fault.refusal(403, "Acesso negado"))
    const refusedSince = Effect.map(queue.account, (account) => account.refusedSince?.because)
    for (const [at, because] of [undefined, undefined, "Credentials"].entries()) {
      yield* queue.submit(payout(`invoice-${at + 1}`))
      yield* settle
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* refusedSince, because)
    }
    yield* meetAll()
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual([yield* paid, yield* refusedSince], [3, undefined])
  })
})
