/**
 * A write after the error of an earlier one: it has the key, the doubt, the time of the first request, and the sender
 * under which the key may have been executed.
 */
import { assert, describe } from "@effect/vitest"
import { Context, DateTime, Effect, Fiber, Layer, Logger, Redacted, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Credentials,
  IdempotencyConflict,
  IdempotencyKeyGen,
  OutcomeUnknown,
  Payments,
  PaymentsClient,
  PaymentsPolicy,
  type RequestWithdrawalError,
  type WriteOptions
} from "effect-pix"
import { Caller } from "../../src/internal/caller.ts"
import { effect, live } from "../support/effect.ts"
import { codec, reasonOf } from "../support/failing.ts"
import { balance, charge, record, withdrawal } from "../support/operations.ts"
import { apiKey, clientId, lostConnection, refusedConnection, respond, type Script, scripted } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

const gateway = "https://gateway.example"
const paid = respond(201, record("wd_1"))
const company = { companyId: 7 }

/** A client whose credentials may be changed, its withdrawals, and the requests that it sent. */
const makeClient = Effect.fnUntraced(function* (
  options: { readonly baseUrl?: string; readonly companyId?: number },
  ...replies: Script
) {
  const { layer, sent } = scripted(...replies)
  let current = { clientId, apiKey: Redacted.make(apiKey) }
  const credentials = Layer.succeed(Credentials, {
    current: Effect.sync(() => current),
    reload: () => Effect.succeed(true)
  })
  const context = yield* Layer.build(
    Payments.layer({ baseUrl: gateway, ...options }).pipe(
      Layer.provide([layer, credentials, IdempotencyKeyGen.layerSequential])
    )
  )
  const payments = yield* Effect.provide(Payments, context)
  const withdraw = (options?: WriteOptions) => payments.requestWithdrawal(withdrawal, options)
  const use = (clientId: string, apiKey: string) => {
    current = { clientId, apiKey: Redacted.make(apiKey) }
  }
  const { sender } = Context.get(context, PaymentsClient)
  return { payments, sender, sent, use, withdraw, once: (options?: WriteOptions) => once(withdraw(options)) }
})

const under = (settings: Partial<PaymentsPolicy>) =>
  Effect.provideService(PaymentsPolicy, PaymentsPolicy.make(settings))
const once = Effect.provideService(PaymentsPolicy, oneAttempt)

/** The error of a write, which must be one that can be given as `after`. */
const doubtOf = <A, R>(write: Effect.Effect<A, RequestWithdrawalError, R>) =>
  Effect.map(Effect.flip(write), (error) => {
    assert(error._tag === "OutcomeUnknown" || error._tag === "IdempotencyConflict", error._tag)
    return error
  })

/** The same error after it was stored as JSON. */
const readBack = (error: OutcomeUnknown | IdempotencyConflict) => {
  const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
  assert(back._tag === "OutcomeUnknown" || back._tag === "IdempotencyConflict")
  return back
}

const unknown = { operation: "requestWithdrawal", attempts: 1, outcome: "Unknown", reason: "Timeout" } as const

describe("a write after the error of an earlier one", () => {
  effect.each([
    [respond(503), "OutcomeUnknown"],
    [lostConnection, "OutcomeUnknown"],
    [respond(409), "IdempotencyConflict"]
  ] as const)(
    "sends its key, and stays unknown with its time and its fingerprint until there is a success",
    function* ([reply, tag]) {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const refusal = respond(422, { message: "Saldo insuficiente" })
      const { once, sent } = yield* makeClient(company, reply, refusal, refusedConnection, paid)
      const first = yield* doubtOf(once())
      const doubt = [first.idempotencyKey, first.fingerprint, first.firstSentAt] as const
      assert.deepStrictEqual([first._tag, doubt[0]], [tag, "wd_1"])
      // It never changes: errors and rows hold it.
      assert.strictEqual(doubt[1], "996f832064d73779d5301c5ae2ad247145ed4ccd")
      assert.strictEqual(doubt[2] && DateTime.formatIso(doubt[2]), "2026-01-01T00:00:00.000Z")
      yield* TestClock.adjust("1 hour")
      const second = yield* doubtOf(once({ after: readBack(first) }))
      yield* TestClock.adjust("1 hour")
      const third = yield* doubtOf(once({ after: second }))
      for (const { fingerprint, firstSentAt, idempotencyKey } of [second, third])
        assert.deepStrictEqual([idempotencyKey, fingerprint, firstSentAt], doubt)
      assert.strictEqual((yield* once({ after: third })).idempotencyKey, "wd_1")
      assert.deepStrictEqual(
        sent.map(({ headers }) => headers["idempotency-key"]),
        ["wd_1", "wd_1", "wd_1", "wd_1"]
      )
    }
  )

  effect("sends nothing under another client id, base URL or company, and stays unknown", function* () {
    const error = yield* doubtOf((yield* makeClient(company, respond(503))).once())
    const same = yield* makeClient(company, paid)
    same.use("client-other", apiKey)
    for (const { sent, withdraw } of [
      same,
      yield* makeClient({ companyId: 8 }, paid),
      yield* makeClient({ ...company, baseUrl: `${gateway}/v2` }, paid)
    ]) {
      const other = yield* doubtOf(withdraw({ after: error }))
      assert.deepInclude(other, { reason: "OtherClientId", attempts: 0, concerns: "Setup" })
      assert.deepStrictEqual([other.fingerprint, other.firstSentAt], [error.fingerprint, error.firstSentAt])
      assert.include(other.message, "another client id")
      assert.include(other.message, "MONEY MAY HAVE MOVED")
      assert.strictEqual(sent.length, 0)
    }
  })

  effect.each([
    ["another client id", company, "client-other", apiKey, "OtherClientId"],
    ["another secret of a known company", company, clientId, "sk_live_rotated", undefined],
    ["another secret of an unknown company", {}, clientId, "sk_live_rotated", "OtherClientId"]
  ] as const)(
    "is sent under %s as its fingerprint says, also within one call",
    function* ([, options, id, secret, reason]) {
      const reasonIn = (result: Result.Result<unknown, RequestWithdrawalError>) =>
        Result.isFailure(result) ? reasonOf(result.failure) : undefined
      const { once, sent, use, withdraw } = yield* makeClient(options, respond(503), respond(503), paid)
      const after = yield* doubtOf(once())
      const fiber = yield* Effect.forkChild(Effect.result(withdraw({ idempotencyKey: "wd_1", earlier: "None" })))
      yield* TestClock.adjust(0)
      use(id, secret)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([reasonIn(yield* Fiber.join(fiber)), sent.length], [reason, reason === undefined ? 3 : 2])
      assert.strictEqual(reasonIn(yield* Effect.result(once({ after }))), reason)
      use(clientId, apiKey)
      assert.strictEqual((yield* once({ after })).idempotencyKey, "wd_1")
    }
  )

  effect("is sent under another client id only where no earlier request may have been executed", function* () {
    for (const reply of [respond(429), refusedConnection]) {
      for (const [options, ids] of [
        [{ idempotencyKey: "k", earlier: "None" }, [clientId, "client-other"]],
        [{ idempotencyKey: "k", earlier: "Unknown" }, [clientId]]
      ] as const) {
        const { sent, use, withdraw } = yield* makeClient({}, reply, respond(201, record("k")))
        const fiber = yield* Effect.forkChild(Effect.exit(withdraw(options)))
        yield* TestClock.adjust(0)
        use("client-other", apiKey)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(fiber))._tag, ids.length === 2 ? "Success" : "Failure")
        const found = sent.map(({ headers }) => headers["x-client-id"])
        assert.deepStrictEqual(found, [...ids])
      }
    }
  })

  effect("sends nothing after the horizon, nor by a clock that lies about the first request", function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 10))
    const { sent, withdraw } = yield* makeClient(company, paid)
    const at = (time: string) =>
      new OutcomeUnknown({ ...unknown, idempotencyKey: "wd_1", firstSentAt: DateTime.makeUnsafe(time) })
    for (const [time, horizon] of [
      ["2026-01-09T11:59:59Z", "12 hours"],
      ["2025-01-10T00:00:00Z", "12 hours"],
      ["2026-01-10T12:00:01Z", "12 hours"],
      ["2026-01-09T23:58:59Z", "1 minute"]
    ] as const) {
      const error = yield* under({ horizon })(doubtOf(withdraw({ after: at(time) })))
      assert.deepStrictEqual([reasonOf(error), error.firstSentAt], ["PastHorizon", at(time).firstSentAt])
      assert.strictEqual(sent.length, 0)
    }
    yield* withdraw({ after: at("2026-01-09T12:00:01Z") })
    assert.strictEqual(sent.length, 1)
  })

  effect("sends nothing where its options contradict each other, and is InvalidRequest", function* () {
    const { once, payments, sent, withdraw } = yield* makeClient({}, respond(503))
    const after = yield* doubtOf(once())
    const withoutKey = new IdempotencyConflict({
      operation: "requestWithdrawal",
      attempts: 1,
      status: 409,
      outcome: "Unknown"
    })
    const plain: unknown = JSON.parse(JSON.stringify(after))
    for (const [options, words] of [
      [{ after, idempotencyKey: "wd_2" }, "idempotencyKey of `after`"],
      [{ after, earlier: "None" }, "earlier call may have been executed"],
      [{ after: withoutKey }, "idempotencyKey of `after`"],
      [{ after: new OutcomeUnknown({ ...unknown, idempotencyKey: "wd 1\r\nx: y" }) }, "valid key"],
      [{ after: plain }, "decoded by its schema"],
      [{ after: new Error("lost") }, "OutcomeUnknown"],
      [{ after: "wd_1" }, "OutcomeUnknown"],
      [{ after: null }, "OutcomeUnknown"],
      [{ earlier: "Unknown" }, "must have an idempotencyKey or `after`"],
      [{ idempotencyKey: undefined, earlier: "None" }, "must have an idempotencyKey or `after`"],
      [{ after: undefined }, "must have an idempotencyKey or `after`"],
      [{}, "must have an idempotencyKey or `after`"],
      [{ idempotencyKey: "wd_1", earlier: "Rejected" }, "earlier"]
    ] as const) {
      const error = yield* Effect.flip(withdraw(options as WriteOptions)) // from a caller without types
      assert.strictEqual(error._tag, "InvalidRequest", words)
      assert.include(error.message, words)
    }
    const other = yield* Effect.flip(payments.createTransaction(charge, { after }))
    assert.strictEqual(other._tag, "InvalidRequest")
    assert.include(other.message, "after must be of an earlier createTransaction")
    assert.strictEqual(sent.length, 1)
  })
})

describe("the sender of a client", () => {
  const senderWith = Effect.fnUntraced(function* (options: { readonly companyId?: number }, secret: string) {
    const { sender, use } = yield* makeClient(options, respond(503))
    use(clientId, secret)
    return yield* sender
  })

  effect(
    "that is refused sends nothing: a read or a write that is not in doubt is NotSent, another stays unknown",
    function* () {
      const { once, payments, sent } = yield* makeClient({}, respond(503), respond(200, balance))
      const after = yield* doubtOf(once())
      const refused = Effect.updateService(Caller, (caller) => ({ ...caller, isSender: () => false }))
      const clean = yield* Effect.flip(refused(once({ idempotencyKey: "wd_9", earlier: "None" })))
      assert.deepInclude(clean, {
        _tag: "ServiceUnavailable",
        outcome: "NotSent",
        reason: "OtherClientId",
        attempts: 0
      })
      for (const options of [{ after }, { idempotencyKey: "wd_1", earlier: "Unknown" }] as const) {
        assert.deepInclude(yield* doubtOf(refused(once(options))), { reason: "OtherClientId", attempts: 0 })
      }
      assert.deepInclude(yield* Effect.flip(refused(payments.getBalance({ companyId: 7 }))), {
        reason: "OtherClientId"
      })
      assert.strictEqual(sent.length, 1)
    }
  )

  effect(
    "has a fingerprint of the company in place of the secret, and of the client's own company first",
    function* () {
      const own = yield* senderWith(company, "one")
      const [one, two] = [yield* senderWith({}, "one"), yield* senderWith({}, "two")]
      assert.deepStrictEqual(
        [own.fingerprint(8), one.fingerprint(7), two.fingerprint(7)],
        [own.fingerprint(), own.fingerprint(), own.fingerprint()]
      )
      assert.notStrictEqual(two.fingerprint(), one.fingerprint())
    }
  )
})

describe("a key whose call ended in doubt", () => {
  const refusal = respond(422, { message: "Conta encerrada" })
  const none = (idempotencyKey: string) => ({ idempotencyKey, earlier: "None" }) as const

  effect(
    'is in doubt for the next call that says "None", with a warning without the key, until it succeeds',
    function* () {
      const lines: Array<readonly [level: string, text: string]> = []
      const logger = Logger.make(({ logLevel, message }) => void lines.push([logLevel, String(message)]))
      const { once, sent } = yield* makeClient({}, respond(503), refusal, paid, refusal)
      yield* Effect.gen(function* () {
        yield* doubtOf(once(none("wd_1")))
        assert.strictEqual(reasonOf(yield* doubtOf(once(none("wd_1")))), "RefusedAfterUnknown")
        assert.strictEqual((yield* once(none("wd_1"))).idempotencyKey, "wd_1")
        assert.deepInclude(yield* Effect.flip(once(none("wd_1"))), { _tag: "RequestRejected", outcome: "Rejected" })
      }).pipe(Effect.provide(Logger.layer([logger])))
      assert.strictEqual(sent.length, 4)
      const line =
        'requestWithdrawal was called with earlier: "None", and an earlier call with its key may have been executed. It counts as "Unknown".'
      assert.deepStrictEqual(
        lines.filter(([, text]) => text.includes('"None"')),
        [
          ["Warn", line],
          ["Warn", line]
        ]
      )
    }
  )

  effect("is in doubt after an interruption, after a conflict, and not for the other operation", function* () {
    const { once, payments, withdraw } = yield* makeClient({}, "silence", refusal, respond(409), refusal)
    const fiber = yield* Effect.forkChild(withdraw(none("interrupted")))
    yield* TestClock.adjust(0)
    yield* Fiber.interrupt(fiber)
    yield* doubtOf(once(none("interrupted")))
    assert.strictEqual((yield* doubtOf(once(none("conflict"))))._tag, "IdempotencyConflict")
    assert.strictEqual((yield* doubtOf(once(none("conflict"))))._tag, "OutcomeUnknown")
    const other = yield* Effect.flip(payments.createTransaction(charge, none("conflict")))
    assert.strictEqual(other.outcome, "Rejected")
  })

  effect("is in doubt for a call that was under way", function* () {
    const { once, withdraw } = yield* makeClient({}, respond(429), respond(503), refusal)
    const waiting = yield* Effect.forkChild(withdraw(none("wd_1")))
    yield* TestClock.adjust(0)
    yield* doubtOf(once(none("wd_1")))
    yield* TestClock.adjust("1 minute")
    const error = Result.getOrThrow(Result.flip(yield* Effect.result(Fiber.join(waiting))))
    assert.strictEqual(error.outcome, "Unknown")
  })

  effect('is not sent under another client id where the caller says "None"', function* () {
    const { once, sent, use } = yield* makeClient({}, respond(503), paid)
    yield* doubtOf(once(none("wd_1")))
    use("client-other", apiKey)
    assert.deepInclude(yield* doubtOf(once(none("wd_1"))), { reason: "OtherClientId", attempts: 0 })
    assert.strictEqual(sent.length, 1)
  })

  live("is remembered over ten thousand keys, and no longer", Logger.layer([]), function* () {
    const { withdraw } = yield* makeClient({}, refusal)
    const outcomeOf = (n: number, earlier: "None" | "Unknown") =>
      Effect.map(Effect.flip(withdraw({ idempotencyKey: `wd_${n}`, earlier })), ({ outcome }) => outcome)
    // A call that sends nothing costs least, and this one stays in doubt.
    const doubted = Effect.updateService(Caller, (caller) => ({ ...caller, isSender: () => false }))
    const doubt = Effect.gen(function* () {
      for (let n = 0; n <= 10_001; n++) assert.strictEqual(yield* outcomeOf(n, "Unknown"), "Unknown")
    })
    yield* once(doubted(doubt))
    const outcomes = Effect.forEach([0, 1, 2], (n) => outcomeOf(n, "None"))
    assert.deepStrictEqual(yield* once(outcomes), ["Rejected", "Rejected", "Unknown"])
  })

  effect("that a program without types gives alone has an unknown past", function* () {
    const { once } = yield* makeClient({}, refusal)
    const options: unknown = { idempotencyKey: "wd_1" }
    const error = yield* doubtOf(once(options as WriteOptions)) // from a caller without types
    assert.strictEqual(reasonOf(error), "RefusedAfterUnknown")
  })
})
