/**
 * A write after the error of an earlier one: it has the key, the doubt, the time of the first request, and the sender
 * under which the key may have been executed.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, DateTime, Effect, Fiber, Layer, Redacted, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Credentials,
  IdempotencyConflict,
  IdempotencyKeyGen,
  OutcomeUnknown,
  Payments,
  PaymentsPolicy,
  type RequestWithdrawalError,
  type WriteOptions
} from "effect-pix"
import { type Sender, SenderCheck, senderOf } from "../../src/internal/sender.ts"
import { apiKey, clientId, lostConnection, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"
import { charge, record, withdrawal } from "../support/operations.ts"
import { effect } from "../support/effect.ts"

type Replies = readonly [Reply, ...ReadonlyArray<Reply>]

const gateway = "https://gateway.example"

/** A client whose credentials may be changed, and the requests that it sent. */
const makeClient = (options: { readonly baseUrl?: string; readonly companyId?: number }, ...replies: Replies) => {
  const { layer, sent } = scripted(...replies)
  let current = { clientId, apiKey: Redacted.make(apiKey) }
  const credentials = Layer.succeed(Credentials, {
    current: Effect.sync(() => current),
    reload: () => Effect.succeed(true)
  })
  const payments = Payments.layer({ baseUrl: gateway, ...options }).pipe(
    Layer.provide([layer, credentials, IdempotencyKeyGen.layerSequential])
  )
  return {
    sent,
    payments,
    use: (clientId: string, apiKey: string) =>
      Effect.sync(() => {
        current = { clientId, apiKey: Redacted.make(apiKey) }
      })
  }
}

const withdraw = (options?: WriteOptions) =>
  Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal, options))
const charging = (options?: WriteOptions) =>
  Effect.flatMap(Payments, (payments) => payments.createTransaction(charge, options))

/** The error of a write, which must be one that can be given as `after`. */
const doubtOf = <A, R>(write: Effect.Effect<A, RequestWithdrawalError, R>) =>
  Effect.map(Effect.flip(write), (error) => {
    assert(error._tag === "OutcomeUnknown" || error._tag === "IdempotencyConflict", error._tag)
    return error
  })

const once = Effect.provideService(PaymentsPolicy, PaymentsPolicy.once)

const stored = Schema.toCodecJson(Schema.Union([OutcomeUnknown, IdempotencyConflict]))
/** The same error after it was stored as JSON. */
const readBack = (error: OutcomeUnknown | IdempotencyConflict) =>
  Schema.decodeUnknownSync(stored)(JSON.parse(JSON.stringify(Schema.encodeSync(stored)(error))))

describe("a write after the error of an earlier one", () => {
  effect(
    "the error has the key, the time of the first request and a fingerprint, also after it was stored",
    function* () {
      for (const [reply, tag] of [
        [respond(503), "OutcomeUnknown"],
        [lostConnection, "OutcomeUnknown"],
        [respond(409), "IdempotencyConflict"]
      ] as const) {
        yield* TestClock.setTime(Date.UTC(2026, 0, 1))
        const { payments } = makeClient({ companyId: 7 }, reply)
        const error = yield* doubtOf(once(withdraw())).pipe(Effect.provide(payments))
        assert.deepStrictEqual(
          [error._tag, error.idempotencyKey, error.firstSentAt && DateTime.formatIso(error.firstSentAt)],
          [tag, "wd_1", "2026-01-01T00:00:00.000Z"]
        )
        assert.match(error.fingerprint ?? "", /^[0-9a-f]{40}$/)
        const back = readBack(error)
        assert.deepStrictEqual(
          [back._tag, back.idempotencyKey, back.fingerprint, back.firstSentAt],
          [tag, "wd_1", error.fingerprint, error.firstSentAt]
        )
      }
    }
  )

  effect(
    "the next call sends the same key, and its refusal stays unknown with the first time and fingerprint",
    function* () {
      const { payments, sent } = makeClient(
        { companyId: 7 },
        respond(503),
        respond(422, { message: "Saldo insuficiente" }),
        refusedConnection,
        respond(201, record("wd_1"))
      )
      yield* Effect.gen(function* () {
        const first = yield* doubtOf(withdraw())
        yield* TestClock.adjust("1 hour")
        const second = yield* doubtOf(withdraw({ after: readBack(first) }))
        yield* TestClock.adjust("1 hour")
        const third = yield* doubtOf(withdraw({ after: second, idempotencyKey: "wd_1", earlier: "Unknown" }))
        for (const { fingerprint, firstSentAt } of [second, third]) {
          assert.deepStrictEqual([fingerprint, firstSentAt], [first.fingerprint, first.firstSentAt])
        }
        assert.strictEqual((yield* withdraw({ after: third })).idempotencyKey, "wd_1")
      }).pipe(once, Effect.provide(payments))
      assert.deepStrictEqual(
        sent.map(({ headers }) => headers["idempotency-key"]),
        ["wd_1", "wd_1", "wd_1", "wd_1"]
      )
    }
  )

  effect("the report of a call that a time limit cut off can be given to the next call", function* () {
    const { payments, sent } = makeClient({ companyId: 7 }, "silence", respond(201, record("wd_1")))
    const reports: Array<OutcomeUnknown> = []
    const policy = PaymentsPolicy.make({
      onInterruptedWrite: (report) => Effect.sync(() => reports.push(report))
    })
    yield* Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.timeout(withdraw(), "1 second")))
      yield* TestClock.adjust("1 second")
      assert.isTrue(Cause.isTimeoutError(yield* Fiber.join(fiber)))
      yield* withdraw({ after: reports[0] })
    }).pipe(Effect.provideService(PaymentsPolicy, policy), Effect.provide(payments))
    assert.deepStrictEqual(
      sent.map(({ headers }) => headers["idempotency-key"]),
      ["wd_1", "wd_1"]
    )
  })

  effect("nothing is sent under another client id, base URL or company, and the outcome stays unknown", function* () {
    const first = makeClient({ companyId: 7 }, respond(503))
    const error = yield* doubtOf(once(withdraw())).pipe(Effect.provide(first.payments))
    const same = makeClient({ companyId: 7 }, respond(201, record("wd_1")))
    yield* same.use("client-other", apiKey)
    for (const { payments, sent } of [
      same,
      makeClient({ companyId: 8 }, respond(201, record("wd_1"))),
      makeClient({ companyId: 7, baseUrl: `${gateway}/v2` }, respond(201, record("wd_1")))
    ]) {
      const other = yield* doubtOf(withdraw({ after: error })).pipe(Effect.provide(payments))
      assert(other._tag === "OutcomeUnknown")
      assert.deepStrictEqual(
        [other.reason, other.attempts, other.fingerprint, other.firstSentAt, other.concerns, sent.length],
        ["OtherClientId", 0, error.fingerprint, error.firstSentAt, "Setup", 0]
      )
      assert.include(other.message, "another client id")
      assert.include(other.message, "MONEY MAY HAVE MOVED")
    }
  })

  effect.each([
    ["another client id", { companyId: 7 }, "client-other", apiKey, "OtherClientId"],
    ["another secret of a known company", { companyId: 7 }, clientId, "sk_live_rotated", undefined],
    ["another secret of an unknown company", {}, clientId, "sk_live_rotated", "OtherClientId"]
  ] as const)(
    "under %s a write in doubt is sent as its fingerprint says, also within one call",
    function* ([, options, id, secret, reason]) {
      const reasonOf = (result: Result.Result<unknown, object>) =>
        Result.isFailure(result) && "reason" in result.failure ? result.failure.reason : undefined
      const { payments, sent, use } = makeClient(options, respond(503), respond(201, record("wd_1")))
      const fiber = yield* Effect.forkChild(Effect.result(Effect.provide(withdraw(), payments)))
      yield* TestClock.adjust(0)
      yield* use(id, secret)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([reasonOf(yield* Fiber.join(fiber)), sent.length], [reason, reason === undefined ? 2 : 1])

      const second = makeClient(options, respond(503), respond(201, record("wd_1")))
      yield* Effect.gen(function* () {
        const after = yield* doubtOf(withdraw())
        yield* second.use(id, secret)
        assert.strictEqual(reasonOf(yield* Effect.result(withdraw({ after }))), reason)
        yield* second.use(clientId, apiKey)
        assert.strictEqual((yield* withdraw({ after })).idempotencyKey, "wd_1")
      }).pipe(once, Effect.provide(second.payments))
    }
  )

  effect.each([
    ["a 401", respond(401)],
    ["a 429", respond(429)],
    ["a refused connection", refusedConnection]
  ] as const)("after %s a write is sent again under another client id", function* ([, reply]) {
    const { payments, sent, use } = makeClient({}, reply, respond(201, record("k")))
    const fiber = yield* Effect.forkChild(Effect.provide(withdraw({ idempotencyKey: "k" }), payments))
    yield* use("client-other", apiKey)
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(fiber)
    assert.strictEqual(sent.length, 2)
  })

  effect("nothing is sent after the horizon, nor by a clock that lies about the first request", function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 10))
    const { payments, sent } = makeClient({ companyId: 7 }, respond(201, record("wd_1")))
    const at = (firstSentAt: string) =>
      new OutcomeUnknown({
        operation: "requestWithdrawal",
        attempts: 1,
        idempotencyKey: "wd_1",
        outcome: "Unknown",
        reason: "Timeout",
        firstSentAt: DateTime.makeUnsafe(firstSentAt)
      })
    for (const time of ["2026-01-09T11:59:59Z", "2025-01-10T00:00:00Z", "2026-01-10T12:00:01Z"]) {
      const error = yield* doubtOf(withdraw({ after: at(time) })).pipe(Effect.provide(payments))
      assert(error._tag === "OutcomeUnknown")
      assert.deepStrictEqual([error.reason, error.firstSentAt, sent.length], ["PastHorizon", at(time).firstSentAt, 0])
    }
    const short = PaymentsPolicy.make({ horizon: "1 minute" })
    const error = yield* doubtOf(withdraw({ after: at("2026-01-09T23:58:59Z") })).pipe(
      Effect.provideService(PaymentsPolicy, short),
      Effect.provide(payments)
    )
    assert.deepStrictEqual(["reason" in error && error.reason, sent.length], ["PastHorizon", 0])
    yield* withdraw({ after: at("2026-01-09T12:00:01Z") }).pipe(Effect.provide(payments))
    assert.strictEqual(sent.length, 1)
  })

  effect("a call that waits past the horizon sends nothing more", function* () {
    const { payments, sent } = makeClient({ companyId: 7 }, respond(503), respond(201, record("wd_1")))
    const policy = PaymentsPolicy.make({ horizon: "100 millis", writes: "same-key" })
    const fiber = yield* Effect.forkChild(
      doubtOf(withdraw()).pipe(Effect.provideService(PaymentsPolicy, policy), Effect.provide(payments))
    )
    yield* TestClock.adjust("1 minute")
    const error = yield* Fiber.join(fiber)
    assert.deepStrictEqual(["reason" in error && error.reason, sent.length], ["ServerError", 1])
  })

  effect("an `after` that contradicts the other options is InvalidRequest, and nothing is sent", function* () {
    const { payments, sent } = makeClient({}, respond(503))
    const after = yield* doubtOf(once(withdraw())).pipe(Effect.provide(payments))
    const conflict = new IdempotencyConflict({
      operation: "requestWithdrawal",
      attempts: 1,
      status: 409,
      outcome: "Unknown"
    })
    const unsafe = new OutcomeUnknown({
      operation: "requestWithdrawal",
      attempts: 1,
      idempotencyKey: "wd 1\r\nx: y",
      outcome: "Unknown",
      reason: "Timeout"
    })
    const plain: unknown = JSON.parse(JSON.stringify(after))
    for (const [options, words] of [
      [{ after, idempotencyKey: "wd_2" }, "idempotencyKey of `after`"],
      [{ after, earlier: "None" }, "earlier call may have been executed"],
      [{ after: conflict }, "idempotencyKey of `after`"],
      [{ after: unsafe }, "valid key"],
      [{ after: plain }, "decoded by its schema"],
      [{ after: new Error("lost") }, "OutcomeUnknown"],
      [{ after: "wd_1" }, "OutcomeUnknown"],
      [{ after: null }, "OutcomeUnknown"],
      [{ earlier: "Unknown" }, "earlier"],
      [{ idempotencyKey: "wd_1", earlier: "Rejected" }, "earlier"]
    ] as const) {
      const error = yield* Effect.flip(withdraw(options as WriteOptions)).pipe(Effect.provide(payments)) // from a caller without types
      assert.strictEqual(error._tag, "InvalidRequest", words)
      assert.include(error.message, words)
    }
    const other = yield* Effect.flip(charging({ after })).pipe(Effect.provide(payments))
    assert.strictEqual(other._tag, "InvalidRequest")
    assert.include(other.message, "after must be of an earlier createTransaction")
    assert.strictEqual(sent.length, 1)
  })
})

describe("the sender of a client", () => {
  const checking = (isAllowed: (sender: Sender) => boolean) => Effect.provideService(SenderCheck, isAllowed)

  effect("the check sees the sender of each attempt of a write, and none of a read", function* () {
    const client = makeClient({}, respond(401), respond(401), respond(200))
    const seen: Array<string> = []
    yield* Effect.gen(function* () {
      const payments = yield* Payments
      const current = senderOf(payments)
      assert(current !== undefined)
      const before = (yield* current).fingerprint()
      yield* Effect.exit(withdraw())
      yield* Effect.exit(payments.getBalance({ companyId: 1 }))
      assert.deepStrictEqual(seen, [before, before])
      yield* client.use("client-other", apiKey)
      assert.notStrictEqual((yield* current).fingerprint(), before)
    }).pipe(
      checking((sender) => seen.push(sender.fingerprint()) > 0),
      Effect.provide(client.payments)
    )
  })

  effect(
    "a write that the check refuses is not sent: not in doubt it is NotSent, in doubt it stays unknown",
    function* () {
      const client = makeClient({}, respond(503), respond(201, record("wd_1")))
      const after = yield* doubtOf(once(withdraw())).pipe(Effect.provide(client.payments))
      const refused = checking(() => false)
      const clean = yield* Effect.flip(withdraw({ idempotencyKey: "wd_9" })).pipe(
        refused,
        Effect.provide(client.payments)
      )
      assert(clean._tag === "ServiceUnavailable")
      assert.deepStrictEqual([clean.outcome, clean.reason, clean.attempts], ["NotSent", "OtherClientId", 0])
      for (const options of [{ after }, { idempotencyKey: "wd_1", earlier: "Unknown" }] as const) {
        const error = yield* doubtOf(withdraw(options)).pipe(refused, Effect.provide(client.payments))
        assert.deepStrictEqual(["reason" in error && error.reason, error.attempts], ["OtherClientId", 0])
      }
      assert.strictEqual(client.sent.length, 1)
    }
  )

  effect("a known company replaces the secret in the fingerprint, and the client's own is used first", function* () {
    const senderAt = Effect.fnUntraced(function* (options: { readonly companyId?: number }, secret: string) {
      const client = makeClient(options, respond(503))
      yield* client.use(clientId, secret)
      const payments = yield* Effect.provide(Payments, client.payments)
      return yield* senderOf(payments) ?? Effect.die("no sender")
    })
    const own = yield* senderAt({ companyId: 7 }, "one")
    const none = yield* senderAt({}, "one")
    assert.strictEqual(own.fingerprint(8), own.fingerprint())
    assert.strictEqual(none.fingerprint(7), own.fingerprint())
    assert.strictEqual((yield* senderAt({}, "two")).fingerprint(7), own.fingerprint())
    assert.notStrictEqual((yield* senderAt({}, "two")).fingerprint(), none.fingerprint())
    assert.isUndefined(
      senderOf(Payments.of({ ...(yield* Effect.provide(Payments, makeClient({}, respond(503)).payments)) }))
    )
  })
})
