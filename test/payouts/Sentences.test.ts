/** What a queue does with a refusal that nobody knows, until a person judges it, and after that. */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { digestOf } from "../../src/client/internal/words/sentence.ts"
import { meetAll } from "../support/payoutAnswers.ts"
import { payout, payouts, queued } from "../support/payoutQueue.ts"
import { changedJson } from "../support/rawReplies.ts"
import { count, paid, requests, shown } from "../support/payoutSeen.ts"

const own = { poll: "5 minutes", concurrency: 20 } as const
const strange = Fault.refusal(422, "Recusa por convênio vencido, lote 17")
/** Each payout is recorded as failed, with a reason of the account. */
const failingFor = (message: string) =>
  changedJson((json, response) =>
    HttpServerResponse.setBody(response, HttpBody.jsonUnsafe({ ...Object(json), enTransaction: "Failure", message }))
  )
const by = { by: "ana" } as const

const minutes = (count: number) => Effect.repeat(TestClock.adjust("10 seconds"), { times: 6 * count - 1 })
/** The only sentence. */
const sentence = Effect.flatMap(PayoutQueue, (queue) => Effect.map(queue.sentences, ([one]) => one!))
const because = PayoutQueue.use((queue) => Effect.map(queue.account, (account) => account.refusedSince?.because))

describe("a refusal that nobody knows", () => {
  queued("parks three payouts, asks none of them again, and stops the account", own, function* ({ queue }) {
    yield* meetAll(strange)
    yield* queue.submitMany(payouts(40))
    yield* minutes(60)
    assert.deepStrictEqual([yield* count("parked"), yield* count("accepted"), yield* requests()], [3, 37, 3])
    assert.deepStrictEqual([yield* shown("invoice-1"), yield* because], ["parked RefusalUnknown", "RefusalUnknown"])
    const { digest, ...rest } = yield* sentence
    assert.match(digest, /^[\da-f]{64}$/)
    assert.deepInclude(rest, { count: 3, status: 422 })
    assert.match(rest.reference, /^invoice-[123]$/)
  })

  queued("judged as refused ends what it parked, and what it refuses from now on", own, function* ({ queue }) {
    yield* meetAll(strange)
    yield* queue.submitMany(payouts(40))
    yield* minutes(5)
    const { digest } = yield* sentence
    const moved = yield* queue.judge(digest.slice(0, 12), { as: "refused", seen: "invoice-1", ...by })
    assert.strictEqual(moved.length, 3)
    yield* minutes(60)
    // The fuse: ten in a row that an answer ends pause the account.
    assert.strictEqual(yield* queue.isPaused, true)
    assert.isAtMost(yield* requests(), 3 + 10)
    yield* meetAll()
    yield* queue.setPaused(false)
    yield* minutes(60)
    assert.deepStrictEqual([yield* count("parked"), yield* paid], [0, 40 - (yield* count("refused"))])
    // A judgement is no proof.
    assert.strictEqual((yield* Effect.flip(queue.cancel("invoice-1")))._tag, "PayoutStateConflict")
    yield* queue.retry("invoice-1")
    yield* minutes(1)
    assert.strictEqual(yield* shown("invoice-1"), "posted")
  })

  queued(
    "judged to wait is sent again, all of it in two minutes once the gateway takes it",
    own,
    function* ({ queue }) {
      yield* meetAll(strange)
      yield* queue.submitMany(payouts(40))
      yield* minutes(5)
      const { digest } = yield* sentence
      yield* meetAll()
      yield* queue.judge(digest, { as: "wait", seen: "invoice-1", ...by })
      yield* minutes(2)
      assert.deepStrictEqual([yield* count("posted"), yield* paid], [40, 40])
    }
  )

  queued("judged again gives back what the first judgement ended", own, function* ({ queue }) {
    yield* meetAll(strange)
    yield* queue.submit(payout("invoice-1"))
    yield* minutes(1)
    const { digest } = yield* sentence
    yield* queue.judge(digest, { as: "refused", seen: "invoice-1", ...by, note: "not in the panel" })
    assert.strictEqual(yield* shown("invoice-1"), "refused")
    yield* queue.judge(digest, { as: "wait", seen: "invoice-1", ...by })
    assert.strictEqual(yield* shown("invoice-1"), "parked RefusalUnknown")
    const entries = (yield* queue.history("invoice-1")).slice(-2)
    assert.deepStrictEqual(
      entries.map((entry) => [entry._tag, entry.state, "as" in entry ? entry.as : undefined]),
      [
        ["Judged", "refused", "refused"],
        ["Judged", "parked", "wait"]
      ]
    )
  })

  const known = "Saldo insuficiente"
  queued("of a 409 is parked, and judged as any other", own, function* ({ queue }) {
    yield* meetAll(Fault.refusal(409, known))
    yield* queue.submitMany(payouts(5))
    yield* minutes(5)
    assert.deepStrictEqual([yield* count("parked"), yield* requests(), yield* because], [3, 3, "RefusalUnknown"])
    const { digest, oneByOne, status } = yield* sentence
    assert.deepStrictEqual([oneByOne, status], [undefined, 409])
    const moved = yield* queue.judge(digest, { as: "refused", seen: "invoice-1", ...by })
    assert.strictEqual(moved.length, 3)
    yield* minutes(5)
    assert.deepStrictEqual([yield* count("refused"), yield* count("parked")], [5, 0])
    yield* meetAll(Fault.refusal(409, "Chave de idempotência já usada"))
    yield* queue.submit(payout("invoice-9"))
    yield* minutes(1)
    const ofKey = (yield* queue.sentences).find((one) => one.reference === "invoice-9")
    assert.strictEqual(ofKey?.oneByOne, true)
  })

  queued("of a 409 without words is asked again", own, function* ({ queue, sandbox }) {
    yield* sandbox.fault("requestWithdrawal", Fault.empty(409, { executed: true }))
    yield* queue.submit(payout("invoice-1"))
    yield* minutes(5)
    assert.deepStrictEqual([yield* shown("invoice-1"), yield* paid], ["posted", 1])
  })

  queued("is read by its judgement before the client's own table", own, function* ({ queue }) {
    yield* meetAll(Fault.refusal(422, known))
    const sql = yield* SqlClient.SqlClient
    const digest = digestOf("requestWithdrawal", 422, [{ text: known, isCode: false }], [])
    // As a version of this library stored it whose table did not know the sentence.
    yield* sql`INSERT INTO effect_pix_payout_judgements ${sql.insert({
      account: "default",
      digest,
      judgement: JSON.stringify({ digest, as: "refused", seen: "invoice-0", by: "ana", at: "2026-01-01T00:00:00.000Z" })
    })}`
    yield* queue.submit(payout("invoice-1"))
    yield* minutes(5)
    assert.deepStrictEqual([yield* shown("invoice-1"), yield* because], ["refused", undefined])
  })

  queued.each([
    ["no sentence", "00000000", "invoice-1", {}, "digest"],
    ["a payout of no sentence", undefined, "invoice-9", {}, "seen"],
    ["another word", undefined, "invoice-1", { as: "paid" }, "as"],
    ["nobody", undefined, "invoice-1", { by: "" }, "by"]
  ] as const)("is judged by nothing where %s is named", own, function* ({ queue }, [, digest, seen, change, path]) {
    yield* meetAll(strange)
    yield* queue.submit(payout("invoice-1"))
    yield* minutes(1)
    const given = { as: "refused", seen, ...by, ...change } as const
    const wanted = given as Parameters<typeof queue.judge>[1] // as from JavaScript
    const error = yield* Effect.flip(queue.judge(digest ?? (yield* sentence).digest, wanted))
    assert.deepInclude(error, { _tag: "InvalidRequest" })
    assert.deepStrictEqual("issues" in error && error.issues.map((issue) => issue.path), [path])
    assert.strictEqual(yield* shown("invoice-1"), "parked RefusalUnknown")
  })

  queued.each(["Não foi possível realizar o saque", "Saque em processamento"])(
    "that proves nothing of another payout is settled one by one: %s",
    own,
    function* ({ queue }, message) {
      yield* meetAll(Fault.refusal(422, message))
      yield* queue.submit(payout("invoice-1"))
      yield* minutes(1)
      const { digest, oneByOne } = yield* sentence
      assert.strictEqual(oneByOne, true)
      const error = yield* Effect.flip(queue.judge(digest, { as: "refused", seen: "invoice-1", ...by }))
      assert.strictEqual(error._tag, "InvalidRequest")
      yield* queue.settle("invoice-1", { as: "failed" })
    }
  )

  queued("ends its hold by a payout that is taken, and counts anew", own, function* ({ queue, sandbox }) {
    yield* sandbox.fault("requestWithdrawal", [strange, strange])
    yield* queue.submitMany(payouts(5))
    yield* minutes(5)
    assert.deepStrictEqual([yield* count("parked"), yield* count("posted"), yield* because], [2, 3, undefined])
    yield* sandbox.fault("requestWithdrawal", [strange, strange])
    yield* queue.submitMany(payouts(10).slice(5))
    yield* minutes(5)
    assert.deepStrictEqual([yield* count("parked"), yield* count("posted")], [4, 6])
  })
})

describe("a record of failure whose reason is the account's", () => {
  queued("ends three payouts of sixty, and stops the account", own, function* ({ queue }) {
    yield* meetAll(failingFor("Saldo insuficiente"))
    yield* queue.submitMany(payouts(60))
    yield* minutes(60)
    assert.deepStrictEqual([yield* count("failed"), yield* count("accepted"), yield* because], [3, 57, "Balance"])
    yield* meetAll()
    const [one] = yield* Stream.runCollect(queue.list({ state: "accepted" }))
    yield* queue.retry(one!.reference)
    yield* minutes(5)
    assert.strictEqual(yield* count("posted"), 57)
  })

  queued("that nobody knows can be judged, which ends what it parked and what comes", own, function* ({ queue }) {
    yield* meetAll(failingFor("Convênio vencido"))
    yield* queue.submitMany(payouts(5))
    yield* minutes(5)
    assert.deepStrictEqual([yield* count("parked"), yield* shown("invoice-1")], [3, "parked SeeRecord"])
    const { digest } = yield* sentence
    yield* queue.judge(digest, { as: "refused", seen: "invoice-1", ...by })
    yield* minutes(5)
    assert.deepStrictEqual([yield* count("refused"), yield* count("parked")], [5, 0])
  })
})
