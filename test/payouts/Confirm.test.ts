/** What lookups make of posted payouts: how they end, when they are asked, and what never changes a row. */
import { assert, describe, expectTypeOf, test } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Metric, Option, Scope, Stream } from "effect"
import type { WithdrawalLookup } from "effect-pix"
import { Money, type Payments, type PaymentsClient } from "effect-pix"
import { type PayoutConfirmingOptions, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { WithdrawalNotFound } from "../../src/contract/PaymentsError.ts"
import type { WithdrawalDetail } from "../../src/contract/Withdrawal.ts"
import { lookups, numberOf, post, seenWorld, startConfirming } from "../support/confirming.ts"
import { effect } from "../support/effect.ts"
import { lastValues, pointOf } from "../support/exported.ts"
import { answering } from "../support/interruptible.ts"
import { makeHeld } from "../support/payoutAnswers.ts"
import { keyOf, makeWarnings, pass, payout, payouts, settle, startClient, startWorker } from "../support/payoutQueue.ts"
import { linesOf, paid, requests, stateOf } from "../support/payoutSeen.ts"
import { drawn } from "../support/seed.ts"

const minute = 60_000
const fields = (queue: PayoutQueue["Service"], reference = "invoice-1") =>
  Effect.map(queue.status(reference), (found): Record<string, unknown> => ({ ...Option.getOrThrow(found) }))

/** The lookup answers with these fields in the place of its own. */
const showing =
  (changes: () => Partial<WithdrawalDetail> | undefined) =>
  (get: WithdrawalLookup["Service"]["get"]): WithdrawalLookup["Service"]["get"] =>
  (id) =>
    Effect.map(get(id), (detail) => {
      const { idempotencyKey, amount, ...rest } = { ...detail, ...changes() }
      return {
        ...rest,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(amount !== undefined && { amount })
      }
    })

const unknown = (withdrawalId: number) =>
  new WithdrawalNotFound({ operation: "getWithdrawal", attempts: 1, outcome: "Rejected", status: 404, withdrawalId })

test("a queue needs the lookup by type only with confirm, and says so to a program without types", async () => {
  type Needed = SqlClient.SqlClient | Payments | PaymentsClient
  type Needs<L> = L extends Layer.Layer<infer _A, infer _E, infer R> ? R : never
  const plain = () => [PayoutQueue.layer(), PayoutQueue.layer({ confirm: false }), PayoutQueue.layer({ dailyCap: 1 })]
  expectTypeOf<Needs<ReturnType<typeof plain>[number]>>().toEqualTypeOf<Needed>()
  const given = (options: PayoutQueueOptions) => PayoutQueue.layerWorker(options)
  expectTypeOf<Needs<ReturnType<typeof given>>>().toEqualTypeOf<Needed>()
  const confirming = (options: PayoutConfirmingOptions) => [
    PayoutQueue.layer({ confirm: true }),
    PayoutQueue.layer({ confirm: { until: "2 days" } }),
    PayoutQueue.layer(options)
  ]
  expectTypeOf<Needs<ReturnType<typeof confirming>[number]>>().toEqualTypeOf<Needed | WithdrawalLookup>()
})

effect(
  "an end that the record shows is stored, with who said so, its word, end-to-end id and value",
  seenWorld,
  function* () {
    const queue = yield* startConfirming()
    const sandbox = yield* Sandbox
    yield* queue.submitMany(payouts(3))
    yield* settle
    const [paidId, failedId] = [yield* numberOf(queue), yield* numberOf(queue, "invoice-2")]
    yield* sandbox.settleWithdrawal(paidId)
    yield* sandbox.rejectWithdrawal(failedId, { reason: "Conta encerrada" })
    yield* pass(29)
    assert.strictEqual(yield* lookups, 0)
    yield* pass(2)
    assert.deepStrictEqual([yield* lookups, yield* requests()], [3, 3])
    const status = yield* fields(queue)
    assert.deepInclude(status, { state: "paid", by: "lookup", withdrawalId: paidId, withdrawalStatus: "Successful" })
    assert.match(String(status["endToEndId"]), /^E\d{16}/)
    assert.deepStrictEqual(status["value"], Money.toReais(Money.centavos(1000)))
    assert.deepInclude(yield* fields(queue, "invoice-2"), {
      state: "failed",
      by: "lookup",
      withdrawalStatus: "Failure"
    })
    assert.deepInclude(yield* fields(queue, "invoice-3"), { state: "posted", withdrawalStatus: "Pending" })
    assert.include((yield* linesOf(queue, "invoice-2")).at(-1), "LookedUp")
    yield* TestClock.adjust("2 days")
    assert.deepStrictEqual([yield* requests(), yield* stateOf(queue, "invoice-2")], [3, "failed"])
  }
)

effect("without confirm nothing is looked up", seenWorld, function* () {
  const queue = yield* startWorker()
  yield* post(queue)
  yield* TestClock.adjust("2 hours")
  assert.strictEqual(yield* lookups, 0)
})

const untold = makeWarnings()
effect(
  "what stays open is looked up ever more seldom, and told once when the time is over",
  Layer.merge(seenWorld, untold.layer),
  function* () {
    const at: Array<number> = []
    const start = yield* DateTime.now
    const queue = yield* startConfirming(
      { confirm: { until: "20 hours" } },
      (get) => (id) =>
        Effect.tap(get(id), () =>
          Effect.map(DateTime.now, (now) => at.push((now.epochMilliseconds - start.epochMilliseconds) / minute))
        )
    )
    yield* post(queue)
    yield* TestClock.adjust("50 hours")
    assert.deepStrictEqual(
      at.map((minutes) => Math.round(minutes * 10) / 10),
      [0.5, 2.5, 12.5, 72.5, 432.5, 1872.5]
    )
    assert.deepInclude(yield* fields(queue), { state: "posted", unconfirmed: true })
    assert.lengthOf(
      untold.lines.filter((line) => line.startsWith("No lookup said within 20h how a payout ended")),
      1
    )
    const gauges = lastValues(
      (yield* Metric.snapshot).filter(({ type }) => type === "Gauge").map(pointOf),
      /^effect_pix_payout_queue_to_check$/
    )
    assert.deepStrictEqual(
      Object.entries(gauges).filter(([, value]) => value > 0),
      [["effect_pix_payout_queue_to_check Unconfirmed default {payout}", 1]]
    )
  }
)

describe("a record", () => {
  const reais = (centavos: number) => Money.toReais(Money.centavos(centavos))
  effect.each<readonly [string, Partial<WithdrawalDetail>, string, string]>([
    ["of the payout", {}, "paid", ""],
    ["without an amount whose value is the payout's", { amount: undefined } as never, "paid", ""],
    ["without a PIX key or a company", { pixKey: undefined, companyId: undefined } as never, "paid", ""],
    ["with a fee in its value", { value: reais(1100) }, "paid", ""],
    ["of another key", { idempotencyKey: "payout_x" }, "posted", "idempotencyKey"],
    ["without a key", { idempotencyKey: undefined } as never, "posted", "idempotencyKey"],
    ["of another amount", { amount: Money.centavos(1001) }, "posted", "amount"],
    ["without an amount, of another value", { amount: undefined, value: reais(1100) } as never, "posted", "amount"],
    ["of another PIX key", { pixKey: "joao@example.com" }, "posted", "pixKey"],
    ["of another company and key", { companyId: 99, idempotencyKey: "x" }, "posted", "idempotencyKey, companyId"],
    ["with an unlisted word", { enTransaction: "EmAnalise" }, "posted", ""],
    ["with a word for under way", { enTransaction: "Processing" }, "posted", ""],
    ["with a word for money that came back", { enTransaction: "REFUNDED" }, "returned", ""],
    ["with a word that begins like one for money that came back", { enTransaction: "RefundFailed" }, "posted", ""]
  ])("%s moves the payout, or is an error line: %s", function* ([, changes, state, others]) {
    const warnings = makeWarnings()
    yield* Effect.gen(function* () {
      const queue = yield* startConfirming(
        {},
        showing(() => changes)
      )
      yield* (yield* Sandbox).settleWithdrawal(yield* post(queue))
      yield* pass(31)
      assert.deepStrictEqual([yield* stateOf(queue, "invoice-1"), yield* lookups], [state, 1])
      const lines = warnings.lines.filter((line) => line.includes("shows another one"))
      assert.lengthOf(lines, others === "" ? 0 : 1)
      if (others !== "") assert.include(lines[0], `another one: ${others} (`)
      yield* pass(110)
      assert.strictEqual(yield* lookups, 1)
    }).pipe(Effect.provide(Layer.merge(seenWorld, warnings.layer)))
  })

  const later = makeWarnings()
  effect(
    "takes nothing back, and one that contradicts an end is one error line",
    Layer.merge(seenWorld, later.layer),
    function* () {
      let changes: Partial<WithdrawalDetail> = {}
      const queue = yield* startConfirming(
        {},
        showing(() => changes)
      )
      const withdrawalId = yield* post(queue)
      yield* (yield* Sandbox).settleWithdrawal(withdrawalId)
      const look = (more: Partial<WithdrawalDetail>) =>
        Effect.gen(function* () {
          changes = more
          yield* queue.hint({ withdrawalId, status: "failure" })
          yield* pass(2)
          return [yield* stateOf(queue, "invoice-1"), (yield* fields(queue))["contradicted"]]
        })
      const date = (hours: number) => DateTime.makeUnsafe(hours * 60 * minute)
      assert.deepStrictEqual(yield* look({ updateDate: date(20) }), ["paid", undefined])
      assert.deepStrictEqual(yield* look({ enTransaction: "Processing", updateDate: date(21) }), ["paid", undefined])
      assert.deepStrictEqual(yield* look({ enTransaction: "Refunded", updateDate: date(2) }), ["paid", undefined])
      for (const _ of [1, 2]) {
        assert.deepStrictEqual(yield* look({ enTransaction: "Failure", updateDate: date(22) }), ["paid", true])
      }
      const errors = later.lines.filter((line) => line.includes("MONEY MAY HAVE MOVED"))
      assert.lengthOf(errors, 1)
      assert.include(errors[0], "which is stored as paid. MONEY MAY HAVE MOVED")
      assert.deepStrictEqual(yield* look({ enTransaction: "Refunded", updateDate: date(23) }), ["returned", undefined])
      assert.deepStrictEqual(yield* look({ enTransaction: "Successful", updateDate: date(24) }), [
        "returned",
        undefined
      ])
      assert.strictEqual(yield* requests(), 1)
    }
  )
})

effect(
  "at most five lookups a second leave, by all workers together, and sends do not wait for them",
  seenWorld,
  function* () {
    const times: Array<number> = []
    const noted = (get: WithdrawalLookup["Service"]["get"]) => (id: number) =>
      Effect.flatMap(DateTime.now, (now) => {
        times.push(now.epochMilliseconds)
        return get(id)
      })
    const queue = yield* startConfirming({}, noted)
    yield* startConfirming({}, noted)
    yield* queue.submitMany(payouts(60))
    yield* pass(32)
    yield* queue.submitMany(payouts(80).slice(60))
    yield* settle
    assert.strictEqual(yield* paid, 80)
    yield* pass(14)
    assert.isAtLeast(times.length, 60)
    for (const [index, at] of times.slice(5).entries()) assert.isAtLeast(at - (times[index] ?? 0), 1000)
  }
)

describe("lookups that fail", () => {
  const failing = makeWarnings()
  effect("are repeated with a back-off, and told once a minute", Layer.merge(seenWorld, failing.layer), function* () {
    const queue = yield* startConfirming()
    const sandbox = yield* Sandbox
    yield* sandbox.settleWithdrawal(yield* post(queue))
    yield* sandbox.fault("getWithdrawal", Fault.answer(503), { times: 4 })
    yield* pass(48)
    assert.deepStrictEqual([yield* lookups, yield* stateOf(queue, "invoice-1")], [5, "paid"])
    assert.lengthOf(
      failing.lines.filter((line) => line.startsWith("Lookups of withdrawals of the account default fail")),
      1
    )
  })

  const unknowing = makeWarnings()
  effect(
    "with 404 are repeated ever more seldom, and for what was named an hour ago with a line a minute",
    Layer.merge(seenWorld, unknowing.layer),
    function* () {
      let isThere = false
      const look = (get: WithdrawalLookup["Service"]["get"]) => (id: number) =>
        isThere ? get(id) : Effect.andThen(Effect.ignore(get(id)), Effect.fail(unknown(id)))
      const told = () => unknowing.lines.filter((line) => line.startsWith("Lookups of withdrawals")).length
      const queue = yield* startConfirming({}, look)
      yield* queue.submitMany(payouts(30))
      yield* settle
      yield* TestClock.adjust("60 minutes")
      assert.deepStrictEqual([told(), yield* lookups], [0, 90])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([told(), yield* lookups], [1, 120])
      isThere = true
      for (const { reference } of payouts(30)) {
        yield* (yield* Sandbox).settleWithdrawal(yield* numberOf(queue, reference))
      }
      yield* TestClock.adjust("6 hours")
      assert.strictEqual(yield* Stream.runCount(queue.list({ state: "paid" })), 30)
    }
  )
})

describe("credentials of another account", () => {
  const foreign = makeWarnings()
  effect("look nothing up", Layer.merge(seenWorld, foreign.layer), function* () {
    const queue = yield* startClient()
    yield* startConfirming()
    yield* post(queue)
    const sql = yield* SqlClient.SqlClient
    const withdrawalId = yield* numberOf(queue)
    yield* sql`UPDATE effect_pix_payout_accounts SET fingerprint = ${"a".repeat(40)}`
    // A worker reads its account once a second.
    yield* pass(2)
    const before = yield* lookups
    yield* queue.hint({ withdrawalId, status: "failure" })
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual(yield* lookups, before)
    const told = foreign.lines.filter((line) => line.startsWith("Lookups of withdrawals of the account default fail"))
    assert.isAtLeast(told.length, 1)
  })
})

effect(
  "a worker that dies before any of its statements leaves a payout that another one confirms: one request",
  seenWorld,
  function* () {
    const base = yield* SqlClient.SqlClient
    const queue = yield* startClient()
    const sandbox = yield* Sandbox
    let statements: ReadonlyArray<number> = [0]
    for (let at = 0; at < statements.length; at++) {
      const dies = statements[at] ?? 0
      const reference = `invoice-${dies}`
      let count = 0
      let life: "calm" | "counted" | "dead" = "calm"
      const client = answering(base, () => {
        if (life === "dead") return Effect.fail("dead")
        if (life === "calm" || ++count !== dies) return undefined
        life = "dead"
        return Effect.never
      })
      const scope = yield* Scope.fork(yield* Effect.scope)
      yield* startConfirming({ drain: "1 millis" }).pipe(
        Effect.provideService(SqlClient.SqlClient, client),
        Effect.provideService(Scope.Scope, scope)
      )
      const withdrawalId = yield* post(queue, reference)
      yield* sandbox.settleWithdrawal(withdrawalId)
      life = "counted"
      yield* queue.hint({ withdrawalId, status: "successful" })
      yield* pass(3)
      // The first life counts them.
      if (dies === 0) statements = [0, ...drawn(Array.from({ length: count }, (_, one) => one + 1))]
      yield* Effect.all([TestClock.adjust("1 second"), Scope.close(scope, Exit.void)], { concurrency: 2 })
      yield* Effect.scoped(Effect.andThen(startConfirming({ drain: "1 millis" }), pass(40)))
      assert.deepStrictEqual(
        [yield* stateOf(queue, reference), yield* requests(reference)],
        ["paid", 1],
        `statement ${dies}`
      )
    }
  }
)

const late = makeWarnings()
effect.each([
  { enTransaction: "Failure", as: "paid", state: "paid", entry: "Contradicted", fields: { contradicted: true } },
  {
    enTransaction: "Cancelado",
    as: undefined,
    state: "parked",
    entry: "Answered",
    fields: { because: "SeeRecord" }
  }
] as const)(
  "a record of $enTransaction that comes after a person's step is stored with its number, and is looked up",
  function* ({ as, enTransaction, entry, fields: found, state }) {
    yield* Effect.gen(function* () {
      const { answer, arrived, held } = yield* makeHeld
      yield* (yield* Sandbox).fault("requestWithdrawal", held)
      const queue = yield* startConfirming()
      yield* queue.submit(payout("invoice-1"))
      yield* arrived
      yield* queue.park("invoice-1", { by: "ana" })
      // Its deadline is over.
      yield* (yield* SqlClient.SqlClient)`UPDATE effect_pix_payouts SET under_way_until = 0`
      if (as !== undefined) yield* queue.settle("invoice-1", { as, by: "ana" })
      const body = JSON.stringify({ id: 7184, idempotencyKey: keyOf("invoice-1"), value: 10, enTransaction })
      yield* answer(Fault.answer(201, { headers: { "content-type": "application/json" }, body }))
      yield* pass(1)
      assert.deepInclude(yield* fields(queue), { state, withdrawalId: 7184, ...found })
      assert.strictEqual((yield* queue.history("invoice-1")).at(-1)?._tag, entry)
      assert.strictEqual(late.lines.filter((line) => line.startsWith("The service says that")).length, 1)
      yield* pass(31)
      assert.deepStrictEqual([yield* lookups, yield* requests()], [1, 1])
    }).pipe(Effect.provide(Layer.merge(Layer.fresh(seenWorld), late.layer)))
  }
)
