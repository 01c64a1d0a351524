/**
 * What the queue of payouts traces, logs and measures; its metrics are compared with docs/observability.md.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Logger, Option, Schedule, Stream } from "effect"
import { Money, PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutConfirmingOptions, PayoutQueue, Payouts, type Seal } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { leaksIn, person } from "../support/canary.ts"
import { documentedMetrics, exportedMetrics } from "../support/documented.ts"
import { unread } from "../support/unread.ts"
import { exportedBy } from "../support/exported.ts"
import { keys } from "../support/marked.ts"
import { makeHeld } from "../support/payoutAnswers.ts"
import { effect } from "../support/effect.ts"
import { oneAttempt } from "../support/policies.ts"

const cap = 1_000_000

const payout = (reference: string, amount = 1000) => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: keys.EMAIL,
  description: person.description
})

/** A seal that dies once for one reference, and is interrupted once for another. */
const brokenSeal = (): Seal.Seal => {
  const failed = new Set<string>()
  return {
    seal: Effect.succeed,
    open: (sealed, { reference }) => {
      if (failed.has(reference) || !/^(?:defect|interrupted)$/.test(reference)) return Effect.succeed(sealed)
      failed.add(reference)
      return reference === "defect" ? Effect.die(new Error(person.name)) : Effect.interrupt
    }
  }
}

const until = (reference: string, tag: string) =>
  Effect.repeat(
    PayoutQueue.use((queue) => queue.history(reference)),
    {
      until: (changes) => changes.some(({ _tag }) => _tag === tag),
      schedule: Schedule.spaced("10 millis")
    }
  )

const operator = { by: "ana-canary-operator", note: "note-canary-of-a-step" }

/** Everything that the queue logs, traces and measures. */
const incidents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sandbox = yield* Sandbox
  const options: PayoutConfirmingOptions = {
    confirm: true,
    poll: "20 millis",
    dailyCap: cap,
    maxAmount: cap,
    seal: brokenSeal(),
    onState: ({ reference }) => (reference === "resumed" ? Effect.fail(person.name) : Effect.void)
  }
  const hasFailedAgain = Latch.makeUnsafe()
  const failures = Logger.make(({ logLevel, message }) => {
    // After the warning.
    if (logLevel === "Debug" && String(message).includes("failed, and will run again")) hasFailedAgain.openUnsafe()
  })
  // An earlier process has left a parked payout, and two that wait.
  yield* Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* queue.submitMany([payout("parked"), payout("waiting"), payout("resumed")])
    yield* queue.park("resumed", operator)
    yield* queue.resume("resumed", operator)
    const { idempotencyKey } = yield* queue.park("parked", operator)
    yield* queue.hint({ idempotencyKey, status: "failure" })
  }).pipe(Effect.provide(Layer.fresh(PayoutQueue.layerClient())))
  yield* Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* queue.submit(payout("posted"))
    for (const reference of ["posted", "waiting", "resumed"]) yield* queue.await(reference)
    yield* Effect.repeat(
      sql`UPDATE effect_pix_payout_states SET failures = 1000, due_at = 0 WHERE failures = 1 RETURNING id`,
      {
        until: ({ length }) => length === 1,
        schedule: Schedule.spaced("10 millis")
      }
    )
    const [letter] = yield* Effect.repeat(queue.deadLetters, {
      until: ({ length }) => length === 1,
      schedule: Schedule.spaced("10 millis")
    })
    yield* queue.retryLetter(letter?.id ?? 0, { by: "bia" })
    yield* sql`UPDATE effect_pix_payout_states SET state = 'Dead', taken_by = NULL`
    yield* queue.discardLetter(letter?.id ?? 0, { by: "bia" })
    yield* queue.submit(payout("too much", cap + 1))
    yield* queue.await("too much")
    yield* queue.submit(payout("tomorrow", cap))
    yield* queue.submitMany([payout("defect"), payout("interrupted")])
    for (const reference of ["defect", "interrupted"]) yield* queue.await(reference)
    // The client has warned of the doubt; the limit is the queue's own warning.
    yield* sandbox.fault("requestWithdrawal", Fault.answer(502))
    yield* sandbox.fault("requestWithdrawal", Fault.retryAfter("1 second"))
    yield* queue.submit(payout("limited"))
    yield* queue.await("limited")
    yield* sandbox.fault("requestWithdrawal", Fault.refusal(401, person.name))
    yield* queue.submit(payout("unauthorised"))
    yield* queue.await("unauthorised")
    yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Saldo insuficiente"))
    yield* queue.submit(payout("not covered"))
    yield* until("not covered", "Answered")
    yield* queue.retry("not covered", operator)
    yield* queue.await("not covered")
    const { answer, arrived, held } = yield* makeHeld
    yield* sandbox.fault("requestWithdrawal", held)
    yield* queue.submit(payout("contradicted"))
    yield* arrived
    yield* queue.park("contradicted", operator)
    // As a process that was suspended for longer than its request may take.
    yield* sql`UPDATE effect_pix_payouts SET under_way_until = 0 WHERE reference = 'contradicted'`
    yield* queue.settle("contradicted", { as: "failed", ...operator })
    yield* answer()
    yield* until("contradicted", "Contradicted")
    const posted = Option.getOrThrow(yield* queue.status("posted"))
    yield* queue.find(posted)
    yield* queue.hint({ idempotencyKey: posted.idempotencyKey, status: "failure" })
    // The lookup of a sandbox that answers as documented knows none.
    yield* Effect.repeat(sandbox.requests, {
      until: (all) => all.some(({ operation, path }) => operation === "getWithdrawal" || path.includes("/Withdraw/")),
      schedule: Schedule.spaced("10 millis")
    })
    const body = JSON.stringify({ message: "Chave inválida", detail: person.name })
    yield* sandbox.fault("requestWithdrawal", Fault.answer(422, { body }))
    yield* queue.submit(payout("refused"))
    yield* queue.await("refused")
    yield* queue.retry("refused", operator)
    yield* queue.await("refused")
    yield* Payouts.run([payout("once", 3000)])
    yield* queue.setPaused(true, operator)
    const run = yield* Effect.forkChild(Payouts.run([payout("left", 4000)]))
    yield* Effect.repeat(queue.status("left"), { until: Option.isSome, schedule: Schedule.spaced("10 millis") })
    yield* Fiber.interrupt(run)
    yield* queue.isPaused
    yield* queue.account
    yield* Stream.runDrain(queue.list())
    assert.isTrue(Option.isSome(yield* queue.status("posted")))
    // The database may not grow any more.
    yield* sql`PRAGMA max_page_count = 1`
    let more = 0
    const full = yield* Effect.flip(
      Effect.forever(Effect.suspend(() => queue.submit(payout(`more than fits ${more++}`))))
    )
    assert.deepInclude(full, { _tag: "DatabaseError", reason: "DiskFull" })
    yield* sql`PRAGMA max_page_count = 1000000`
    yield* Effect.forkChild(queue.await("tomorrow"), { startImmediately: true })
    yield* queue.status("tomorrow")
    yield* sql`ALTER TABLE effect_pix_payouts RENAME TO effect_pix_elsewhere`
    // The payouts that somebody waits for are looked for after a write.
    yield* sql`UPDATE effect_pix_payout_accounts SET refusals = refusals`
    yield* hasFailedAgain.await
  }).pipe(
    Effect.provide(
      Layer.provide(PayoutQueue.layer(options), [
        PaymentsPolicy.layer(oneAttempt),
        Logger.layer([failures], { mergeWithExisting: true })
      ])
    )
  )
}).pipe(
  Effect.provide([
    Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })),
    Layer.fresh(Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 10 * cap })))
  ]),
  Effect.scoped
)

const metric = /^effect_pix_(?:payout|database|dead_letters)/

/** One run for all tests, during which the test's clock moves on. */
const exported = Effect.runSync(
  Effect.cached(exportedBy(Effect.raceFirst(incidents, Effect.forever(TestClock.adjust("10 millis")))))
)

describe("what the queue of payouts exports", () => {
  effect("the metrics are those of the page, with their units and attributes", function* () {
    const { metrics } = yield* exported
    assert.deepStrictEqual(exportedMetrics(metrics, metric), documentedMetrics("payouts", "both", "letters"))
  })

  effect("every alert and panel finds what it reads under Effect's Prometheus exporter and under OTLP", function* () {
    const { count, missing } = unread((yield* exported).exporting, metric)
    assert.isAbove(count, 5)
    assert.deepStrictEqual(missing, [])
  })

  effect(
    "a line about one payout that a worker handles has the trace of its send, and the attributes that its span has",
    function* () {
      const { lines, spans } = yield* exported
      const about = lines.filter(
        ({ attributes, message }) =>
          "payments.reference" in attributes &&
          /payout|Payouts/.test(message) &&
          !message.startsWith("A webhook claims")
      )
      assert.isAtLeast(about.length, 8)
      for (const { attributes, message, traceId } of about) {
        const send = spans.find((span) => span.name === "PayoutQueue.send" && span.traceId === traceId)
        for (const name of ["payments.reference", "payments.operation", "payments.idempotency_key_hash"]) {
          assert.strictEqual(send?.attributes[name], attributes[name], message)
        }
      }
    }
  )

  effect("a state whose code fails waits, is dead after its last try, and is finished otherwise", function* () {
    const { spans } = yield* exported
    const outcomes = spans
      .filter(({ name }) => name === "PayoutQueue.handOut")
      .map(({ attributes }) => `${String(attributes["payments.reference"])} ${String(attributes["payouts.outcome"])}`)
    assert.includeMembers(outcomes, ["resumed Waits", "resumed Dead", "posted Finished"])
  })

  effect("no span, line or metric has the words of an operator's step, or a payee's data", function* () {
    const { text } = yield* exported
    for (const word of Object.values(operator)) assert.notInclude(text, word)
    assert.deepStrictEqual(leaksIn(text), [])
  })
})
