/**
 * What a queue accepts, what it makes of each answer, and what it stores and forgets.
 */
import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Stream } from "effect"
import { Money, OutcomeUnknown, Payments, PaymentsPolicy, PixKey } from "effect-pix"
import { type PayoutItem, PayoutQueue, type PayoutQueueOptions, type Seal } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import seenFailure from "../fixtures/field/withdrawal-201-failure.json" with { type: "json" }
import { failures, refused } from "../support/payoutAnswers.ts"
import {
  keyOf,
  makeWarnings,
  payout,
  payouts,
  pass,
  queued,
  settle,
  warmUp,
  startWorker,
  world,
  worldOf
} from "../support/payoutQueue.ts"
import { count, isInDoubt, linesOf, paid, requests, shown, stateOf } from "../support/payoutSeen.ts"
import { oneAttempt } from "../support/policies.ts"
import { wordsOf } from "../support/payoutStore.ts"

describe("submit", () => {
  queued("a payout is posted once, under a key that never changes", function* ({ queue, sandbox }) {
    assert.strictEqual((yield* queue.submit(payout("invoice-42"))).state, "accepted")
    const posted = yield* queue.await("invoice-42")
    // Frozen: with another key the service would pay again.
    assert.strictEqual(posted.idempotencyKey, "payout_9e27a39736b1fd741e1f6be1de4aa7cac85b921d")
    assert.strictEqual((yield* queue.submit(payout("invoice-42"))).state, "posted")
    const withdrawals = yield* sandbox.withdrawals
    assert.deepStrictEqual(
      withdrawals.map(({ idempotencyKey }) => idempotencyKey),
      [posted.idempotencyKey]
    )
    assert.isTrue(Option.isNone(yield* queue.status("invoice-43")))
    assert.include((yield* Effect.flip(queue.await("invoice-43"))).message, "invoice-43 was submitted")
    assert.strictEqual((yield* Effect.flip(queue.park(" blank ")))._tag, "PayoutNotFound")
  })

  queued("names what differs from the payout of that reference", function* ({ queue }) {
    const first = { ...payout("invoice-1"), metadata: { a: 1, b: { c: 2 } } }
    yield* queue.submit(first)
    assert.strictEqual((yield* queue.submit({ ...first, metadata: { b: { c: 2 }, a: 1 } })).reference, "invoice-1")
    for (const [differs, item, words] of [
      ["amount", { ...first, amount: Money.centavos(2000) }, "another amount (R$ 20,00)"],
      ["content", { ...first, metadata: { a: 2 } }, "another PIX key, description or metadata"]
    ] as const) {
      const error = yield* Effect.flip(queue.submit(item))
      assert.deepInclude(error, { _tag: "ReferenceConflict", differs: [differs], concerns: "Request" })
      assert.include(error.message, `submitted before, for R$ 10,00, and this payout has ${words}`)
    }
    yield* queue.await("invoice-1")
    assert.strictEqual(yield* requests(), 1)
  })

  queued("accepts many or none, and names each wrong one", function* ({ queue }) {
    yield* queue.submit(payout("invoice-1"))
    const throwing = { reference: "throws", get amount() { throw new Error("no") } } // prettier-ignore
    const many: ReadonlyArray<unknown> = [
      payout("invoice-0"),
      payout("invoice-1", 5000),
      payout("invoice-2", 950),
      { ...payout("invoice-3"), pixKey: "?" },
      { ...payout("invoice-4"), reference: " " },
      { ...payout("invoice-5"), amount: 10.5 },
      { ...payout("invoice-6"), by: "a".repeat(101) },
      null,
      throwing
    ]
    // Callers without types give anything.
    const error = yield* Effect.flip(queue.submitMany(many as ReadonlyArray<PayoutItem>))
    assert(error._tag === "PayoutsNotAccepted" && error.concerns === "Request")
    assert.deepStrictEqual(
      error.wrong.map(({ amount, error, index, reference }) => [index, reference, amount, error._tag].join()),
      [
        "1,invoice-1,5000,ReferenceConflict",
        "2,invoice-2,950,BelowMinimum",
        "3,invoice-3,1000,InvalidRequest",
        "4, ,1000,InvalidRequest",
        "5,invoice-5,,InvalidRequest",
        "6,invoice-6,1000,InvalidRequest",
        "7,,,InvalidRequest",
        "8,,,InvalidRequest"
      ]
    )
    for (const words of [
      "Correct 8 and submit all of them again",
      "(index 4) reference must be a text that is not blank",
      "invoice-1 (index 1) was submitted before, with another amount",
      "invoice-2 (index 2) asks for R$ 9,50, which is under the minimum of R$ 10,00"
    ])
      assert.include(error.message, words)
    const long = yield* Effect.flip(queue.submitMany(payouts(12, 1)))
    assert.match(long.message, /^No payout was accepted\. Correct 12 .* and 2 more\.$/)
    assert.lengthOf(yield* Stream.runCollect(queue.list()), 1)
  })

  effect("fails with each setting that makes no sense", worldOf(), function* () {
    const options = {
      concurrency: 0,
      lease: "Infinity",
      dailyCap: 0.5,
      forget: { data: "-1 days" },
      pace: { most: 1, per: "2 days" },
      window: { from: "25:00", to: "8h" },
      confirm: { until: "-1 days" }
    }
    // A caller without types may give anything.
    const error = yield* Effect.flip(Layer.build(PayoutQueue.layer(options as unknown as PayoutQueueOptions)))
    assert(error._tag === "ConfigurationError")
    assert.sameMembers(
      error.settings.map(({ setting }) => setting),
      ["concurrency", "lease", "dailyCap", "forget.data", "pace.per", "window.from", "window.to", "confirm.until"]
    )
    const sameTimes = PayoutQueue.layer({ window: { from: "08:00", to: "08:00" } })
    assert.include((yield* Effect.flip(Layer.build(sameTimes))).message, "must have two different times")
  })
})

describe("a payout", () => {
  const refusals: Readonly<Record<string, Fault.Fault>> = {
    "a duplicate": Fault.refusal(422, "Requisição duplicada"),
    "asked before": Fault.refusal(422, "Saque já solicitado para esta referência"),
    "asked before, with 403": Fault.refusal(403, "Pagamento já efetuado"),
    "a 409 with other words": Fault.refusal(409, "Saldo insuficiente"),
    "a 422 without words": Fault.empty(422, { executed: false }),
    "a 422 that cannot be read": Fault.answer(422, { body: `{"message":"Conta bloq` })
  }
  queued(
    "that a single call paid is never refused by what the service says of its key",
    function* ({ queue, sandbox }) {
      const payments = yield* Payments
      for (const [reference, refusal] of Object.entries(refusals)) {
        const { reference: _, ...request } = payout(reference)
        yield* payments.requestWithdrawal(request, { idempotencyKey: keyOf(reference), earlier: "None" })
        yield* sandbox.fault("requestWithdrawal", refusal)
        const { state } = yield* queue.submit({ ...payout(reference), earlier: "Unknown" })
        assert.strictEqual(state, "unknown")
        yield* settle
        const seen = [yield* shown(reference), yield* isInDoubt(reference), yield* requests(reference)]
        assert.deepStrictEqual(seen, ["unknown", true, 2], reference)
      }
      // The next request with the key is answered with the withdrawal of the first call.
      yield* TestClock.adjust("1 minute")
      for (const reference of Object.keys(refusals)) assert.strictEqual(yield* shown(reference), "posted")
      assert.strictEqual(yield* paid, Object.keys(refusals).length)
    }
  )

  queued(
    "that a single call left in doubt is asked for under its time, and is one payout",
    function* ({ queue, sandbox }) {
      const { requestWithdrawal } = yield* Payments
      const { reference, ...request } = payout("lost")
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      const once = Effect.provideService(PaymentsPolicy, oneAttempt)
      const options = { idempotencyKey: keyOf(reference), earlier: "None" } as const
      const after = yield* Effect.flip(once(requestWithdrawal(request, options)))
      assert(after._tag === "OutcomeUnknown")
      yield* TestClock.adjust("1 hour")
      const begun = yield* queue.submit({ ...payout(reference), after })
      assert(begun.state === "unknown")
      assert.deepStrictEqual(begun.mayHaveLeftAt, after.firstSentAt)
      assert.strictEqual((yield* queue.submit({ ...payout(reference), after })).reference, reference)
      assert.strictEqual((yield* queue.await(reference)).state, "posted")
      assert.deepStrictEqual([yield* paid, (yield* sandbox.withdrawals).length], [1, 1])
      // A doubt of longer ago than the horizon is for a person.
      const old = { ...payout("old"), after: new OutcomeUnknown({ ...after, idempotencyKey: keyOf("old") }) }
      yield* TestClock.adjust("12 hours")
      yield* queue.submit(old)
      assert.deepInclude(yield* queue.await("old"), { state: "parked", because: "PastHorizon" })
      assert.strictEqual(yield* paid, 1)
    }
  )

  queued("of a single call has its own key and nothing that speaks against it", function* ({ queue }) {
    yield* queue.setPaused(true)

    const now = yield* DateTime.now
    for (const [change, path] of [
      [{ after: failures.unknown(keyOf("other")) }, "after"],
      [{ after: failures.refused(keyOf("mine")) }, "after"],
      [{ earlier: "None" }, "earlier"],
      [{ earlier: "Unknown", notBefore: DateTime.add(now, { hours: 1 }) }, "notBefore"]
    ] as const) {
      const item = { ...payout("mine"), ...change } as PayoutItem // as from JavaScript
      const error = yield* Effect.flip(queue.submit(item))
      assert(error._tag === "InvalidRequest")
      assert.deepStrictEqual(
        error.issues.map((issue) => issue.path),
        [path]
      )
    }
    assert.isTrue(Option.isNone(yield* queue.status("mine")))
    // What was submitted as one that no call began does not become one: a person looks.
    yield* queue.submit(payout("mine"))
    const late = yield* Effect.flip(queue.submit({ ...payout("mine"), earlier: "Unknown" }))
    assert.include(late.message, "was submitted as one that no call began")
  })

  queued("that the table does not have as it was submitted is parked and not sent", function* ({ queue, sql }) {
    const set = (reference: string, changes: string) =>
      sql.unsafe(`UPDATE effect_pix_payouts SET ${changes} WHERE reference = '${reference}'`)
    const broken = {
      "no JSON": "request = '{'",
      "no request": "request = '{}'",
      "another amount": "request = REPLACE(request, '1000', '9000')",
      "no request any more": "request = NULL",
      "another reference": "reference = 'invoice-9'"
    }
    // No worker sees them before they are broken.
    yield* sql.withTransaction(
      Effect.forEach(Object.entries(broken), ([reference, changes]) =>
        Effect.andThen(queue.submit(payout(reference)), set(reference, changes))
      )
    )
    yield* TestClock.adjust("2 seconds")
    const parked = yield* Stream.runCollect(queue.list({ state: "parked" }))
    assert.deepStrictEqual([parked.length, yield* requests()], [5, 0])
    assert.strictEqual(yield* shown("another amount"), "parked Unreadable")
  })
})

queued(
  "a refused payout is subtracted from the day on which it was counted",
  { dailyCap: 8000 },
  function* ({ queue, sandbox, sql }) {
    yield* warmUp(queue)
    // The test's clock begins at 21:00 in São Paulo.
    yield* TestClock.adjust(3 * 3_600_000 - 20_000)
    yield* queue.submit(payout("warm"))
    yield* queue.await("warm")
    yield* pass(19.5)
    const spent = Effect.map(sql`SELECT spent FROM effect_pix_payout_days ORDER BY day`, (rows) =>
      rows.map((row) => row["spent"])
    )
    yield* sandbox.fault("requestWithdrawal", { ...refused, wait: 1000 }, { times: 2 })
    yield* queue.submitMany(payouts(2))
    yield* settle
    yield* pass(0.5)
    yield* queue.submitMany(payouts(11).slice(2))
    yield* settle
    assert.deepStrictEqual(yield* spent, [8000, 8000])
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* spent, [6000, 8000])
    assert.strictEqual(yield* count("accepted"), 1)
  }
)

queued("a database that another program changes stops no other payout", function* ({ queue, sandbox, sql }) {
  yield* sandbox.fault("requestWithdrawal", Fault.latency("100 millis"))
  yield* queue.submit(payout("deleted"))
  yield* settle
  yield* sql`DELETE FROM effect_pix_payouts`
  yield* queue.submit(payout("other"))
  yield* TestClock.adjust("1 second")
  assert.strictEqual(yield* shown("other"), "posted")
  yield* sql`CREATE TRIGGER none BEFORE INSERT ON effect_pix_payouts BEGIN SELECT RAISE(IGNORE); END`
  const error = yield* Effect.flip(queue.submit(payout("new")))
  assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", isRetryable: true })
})

describe("a seal", () => {
  const lost = new Set<string>()
  const seal: Seal.Seal = {
    seal: Effect.succeed,
    open: (sealed, { reference }) => (lost.has(reference) ? Effect.never : Effect.succeed(sealed))
  }
  queued("that never opens a request stops no other payout", { concurrency: 1, seal }, function* ({ queue }) {
    lost.add("invoice-1")
    yield* queue.submitMany(payouts(2))
    yield* TestClock.adjust("32 seconds")
    assert.strictEqual(yield* shown("invoice-2"), "posted")
    lost.clear()
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* shown("invoice-1"), "posted")
  })

  let opened: string | undefined = "no request"
  const other: Seal.Seal = { seal: Effect.succeed, open: (sealed) => Effect.succeed(opened ?? sealed) }
  const described = (description: string) => ({ ...payout("invoice-1"), description })
  queued("that opens another text is a conflict with what is submitted again", { seal: other }, function* ({ queue }) {
    for (const text of ["no request", '{"amount":2500}']) {
      opened = undefined
      yield* queue.submit(described("a change"))
      opened = text
      const error = yield* Effect.flip(queue.submit(described("a change")))
      assert.isTrue(error._tag === "ReferenceConflict" && error.differs.join() === "content")
    }
    // And `forget` deletes what is there: then the amount alone is compared.
    opened = undefined
    yield* TestClock.adjust("1 second")
    yield* queue.forget("invoice-1")
    assert.strictEqual((yield* queue.history("invoice-1")).at(-1)?._tag, "Forgotten")
    assert.strictEqual((yield* queue.submit(described("another one"))).reference, "invoice-1")
  })
})

describe("a payout whose record says that it failed", () => {
  const item: PayoutItem = {
    reference: "invoice-1",
    amount: Money.centavos(2500),
    pixKey: PixKey.cpf("529.982.247-25")
  }
  const recordWith = (fields: object) =>
    Fault.answer(201, {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...seenFailure, companyId: 1, idempotencyKey: keyOf("invoice-1"), ...fields })
    })
  const name = "ZULMIRA"
  const failed = [
    "failed",
    "Não pago: recusado pelo gateway (saque nº 7184)",
    "Answered Refused WithdrawalFailed > failed"
  ]
  const parked = [
    "parked SeeRecord",
    "A conferir: pode ter sido pago, não pagar por outro meio antes",
    "Answered Unknown OutcomeUnknown > parked, may have left"
  ]
  const refusedThen = [Fault.resetAfter, recordWith({})]

  effect.each<readonly [string, ReadonlyArray<Fault.Fault>, ReadonlyArray<string>, word: string, requests: number]>([
    ["by Failure", [recordWith({})], failed, "Failure", 1],
    [
      "by failure, with a reason",
      [recordWith({ enTransaction: "failure", motivo: "Chave inexistente", details: name })],
      failed,
      "failure",
      1
    ],
    ["by Failure after a lost answer", refusedThen, parked, "Failure", 2],
    ["by REJEITADO", [recordWith({ enTransaction: "REJEITADO", motivo: name })], parked, "REJEITADO", 1],
    ["by a word for return", [recordWith({ enTransaction: "refunded" })], parked, "refunded", 1],
    ["by Failure of another amount", [recordWith({ value: 24 })], parked, "Failure", 1]
  ])(
    "%s ends at once, with its number and its word, and is not asked again",
    world,
    function* ([, faults, ...expected]) {
      const [[state, words, line], word, count] = expected
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", faults)
      const { layer, lines } = makeWarnings()
      const queue = yield* Effect.provide(startWorker(), layer)
      yield* queue.submit(item)
      yield* TestClock.adjust("10 minutes")
      const status = Option.getOrThrow(yield* queue.status("invoice-1"))
      assert.deepStrictEqual([yield* stateOf(queue, "invoice-1"), wordsOf(status)], [state, words])
      assert.strictEqual((yield* linesOf(queue, "invoice-1")).at(-1), line)
      assert.strictEqual(yield* requests(), count)
      const seen =
        status.state === "failed" ? { id: `${status.withdrawalId}`, status: status.withdrawalStatus } : undefined
      const error = "error" in status ? status.error : undefined
      assert.deepInclude(seen ?? (error?._tag === "OutcomeUnknown" ? error.seen : {}), { id: "7184", status: word })
      const history = JSON.stringify(yield* queue.history("invoice-1"))
      for (const text of ["7184", word]) assert.include(history, text)
      assert.notInclude(history + JSON.stringify(status), name)
      const waits = /A payout waits for a person: SeeRecord\. MONEY MAY HAVE MOVED/
      assert.match(lines.join(), status.state === "failed" ? /No request of this queue moved money/ : waits)
    }
  )
})
