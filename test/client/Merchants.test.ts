/** Counts the loads, the requests and the released clients of `Merchants`. */
import { assert, describe } from "@effect/vitest"
import {
  GatewayFacts,
  IdempotencyKeyGen,
  type Merchant,
  Merchants,
  type MerchantsOptions,
  Payments,
  PaymentsClient,
  PaymentsPolicy
} from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Cause, Context, Data, Deferred, Effect, Fiber, Layer, Redacted, References, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { balance, createTransaction } from "../support/operations.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { oneAttempt } from "../support/policies.ts"
import { respond, scripted } from "../support/Wire.ts"

const secret = "canary-7f3e"

class Blip extends Data.TaggedError("Blip")<{ readonly message: string }> {}
const failed = Effect.fail(new Blip({ message: `password ${secret}` }))

const row = (name: string, apiKey = `key-of-${name}`, companyId = 1): Merchant => ({
  clientId: `client-of-${name}`,
  apiKey: Redacted.make(apiKey),
  companyId
})

const getBalance = Effect.flatMap(Payments, (payments) => payments.getBalance())

/** `Merchants` over a table that counts its reads, whose next reads `plays` replaces. */
const setUp = Effect.fnUntraced(function* (
  more: Partial<MerchantsOptions<never, never>> = {},
  gateway: ReturnType<typeof scripted> = scripted(respond(200, balance))
) {
  const rows = new Map(["padaria", "mercado"].map((name) => [name, row(name)]))
  const loads: Array<string> = []
  const plays: Array<Effect.Effect<Merchant | undefined, Blip>> = []
  const load = (merchant: string) =>
    Effect.suspend(() => {
      loads.push(merchant)
      return plays.shift() ?? Effect.sync(() => rows.get(merchant))
    })
  const layer = Merchants.layer({ baseUrl: "https://gateway.example", ...more, load })
  const context = yield* Layer.build(Layer.provide(layer, [gateway.layer, IdempotencyKeyGen.layerSequential]))
  const { get, invalidate } = Context.get(context, Merchants)
  const callAs = (merchant: string) => Effect.provide(getBalance, get(merchant))
  /** Another use of the merchant, which lasts until the end of the test. */
  const holdAs = Effect.fnUntraced(function* (merchant: string) {
    const held = yield* Deferred.make<void>()
    yield* Effect.forkScoped(
      Effect.provide(Effect.andThen(Deferred.succeed(held, undefined), Effect.never), get(merchant))
    )
    yield* Deferred.await(held)
  })
  return { rows, loads, plays, sent: gateway.sent, get, invalidate, callAs, holdAs }
})

const company = ({ url }: { readonly url: string }) => new URL(url).pathname.split("/").at(-1)

describe("the client of a merchant", () => {
  effect(
    "is built once for all calls, which carry its own credentials and use the transport of the layer",
    function* () {
      const { callAs, loads, sent } = yield* setUp()
      const another = scripted(respond(200, balance))
      for (const merchant of ["padaria", "mercado", "padaria"]) yield* Effect.provide(callAs(merchant), another.layer)
      assert.deepStrictEqual([loads, another.sent.length], [["padaria", "mercado"], 0])
      assert.deepStrictEqual(
        sent.map((one) => [one.headers["x-client-id"], one.headers["x-api-key"], company(one)]),
        ["padaria", "mercado", "padaria"].map((name) => [`client-of-${name}`, `key-of-${name}`, "1"])
      )
    }
  )

  effect("has the policy and the facts of the layer of the merchants, and not those of its first user", function* () {
    const { get, holdAs, sent } = yield* setUp({}, scripted(respond(503)))
    const never = PaymentsPolicy.layer({ retryReads: Schedule.recurs(0) })
    const own = Effect.provide(Layer.build(get("padaria")), never)
    const first = yield* own
    yield* Effect.flip(Sandbox.patiently(Effect.provideContext(getBalance, first)))
    assert.strictEqual(sent.length, 3)
    const facts = GatewayFacts.layer({ statuses: { charge: { paid: ["Liquidada"] } } })
    yield* holdAs("mercado")
    for (const merchant of ["padaria", "mercado", "unused"]) {
      const error = yield* Effect.flip(Effect.provide(getBalance, Layer.provide(get(merchant), facts)))
      assert.strictEqual(error._tag, merchant === "unused" ? "MerchantNotFound" : "MerchantUnavailable")
      assert.include(
        error.message,
        merchant === "unused" ? "no merchant" : "GatewayFacts must be provided to the layer of Merchants"
      )
    }
    const known = yield* Layer.build(
      Layer.provide(
        Merchants.layer({ baseUrl: "https://gateway.example", load: (name) => Effect.succeed(row(name)) }),
        [scripted(respond(200, balance)).layer, facts]
      )
    )
    const client = yield* Layer.build(Layer.provide(Context.get(known, Merchants).get("padaria"), facts))
    assert.deepStrictEqual(Context.get(client, PaymentsClient).facts.statuses, { charge: { paid: ["Liquidada"] } })
  })

  effect("has another sender than the next merchant", function* () {
    const { get } = yield* setUp()
    const fingerprints = yield* Effect.forEach(["padaria", "mercado"], (merchant) =>
      Effect.gen(function* () {
        const { sender } = yield* PaymentsClient
        return (yield* sender).fingerprint()
      }).pipe(Effect.provide(get(merchant)))
    )
    assert.strictEqual(new Set(fingerprints).size, 2)
  })

  effect("is loaded once for a hundred first calls, and once more for their hundred retries", function* () {
    const { callAs, loads, plays, sent } = yield* setUp()
    plays.push(Effect.andThen(Effect.sleep("1 second"), failed))
    const once = Effect.retry(callAs("padaria"), { times: 1, while: ({ _tag }) => _tag === "MerchantUnavailable" })
    const calls = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: 100 }, () => once),
        { concurrency: "unbounded" }
      )
    )
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(calls)
    assert.deepStrictEqual([loads.length, sent.length], [2, 100])
  })

  effect("stays where an earlier build of it fails late", function* () {
    const { callAs, invalidate, loads, plays } = yield* setUp()
    plays.push(Effect.andThen(Effect.sleep("5 seconds"), failed))
    const late = yield* Effect.forkChild(Effect.exit(callAs("padaria")))
    yield* TestClock.adjust("1 second")
    yield* invalidate("padaria")
    yield* callAs("padaria")
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(late)
    yield* callAs("padaria")
    assert.lengthOf(loads, 2)
  })

  effect("is named in each line of its calls", function* () {
    const { layer, lines } = makeWarnings((line, { fiber }) => [
      line.slice(0, 20),
      fiber.getRef(References.CurrentLogAnnotations)["payments.merchant"]
    ])
    const refused = scripted(respond(429, {}), respond(401, {}), respond(422, { message: "no" }), respond(500, ""))
    const { get } = yield* setUp({}, refused)
    const charge = Effect.flatMap(Payments, (payments) => Effect.exit(createTransaction.call(payments)))
    const calls = Effect.forEach([1, 2, 3, 4], () => charge)
    const policy = Layer.succeed(PaymentsPolicy, oneAttempt)
    yield* Effect.provide(calls, Layer.mergeAll(get("padaria"), layer, policy))
    assert.isAtLeast(lines.length, 4)
    assert.deepStrictEqual([...new Set(lines.map(([, merchant]) => merchant))], ["padaria"])
  })

  effect("is released after its idle time, unless it is in use", function* () {
    const { callAs, holdAs, loads } = yield* setUp({ idleTimeToLive: "10 minutes" })
    yield* holdAs("mercado")
    for (const time of ["0 millis", "9 minutes", "9 minutes"] as const) {
      yield* TestClock.adjust(time)
      yield* callAs("padaria")
    }
    assert.deepStrictEqual(loads, ["mercado", "padaria"])
    yield* TestClock.adjust("10 minutes")
    for (const merchant of ["padaria", "mercado"]) yield* callAs(merchant)
    assert.deepStrictEqual(loads, ["mercado", "padaria", "padaria"])
  })

  effect("that was invalidated is loaded again by the next call, also while it is in use", function* () {
    const { callAs, holdAs, invalidate, loads, rows, sent } = yield* setUp()
    yield* callAs("padaria")
    yield* holdAs("padaria")
    rows.set("padaria", row("padaria", "new-key", 2))
    yield* invalidate("padaria")
    yield* callAs("padaria")
    assert.deepStrictEqual([loads.length, sent[1]?.headers["x-api-key"], sent.map(company)], [2, "new-key", ["1", "2"]])
  })

  effect("repeats a call that is refused because the credentials were rotated, with those of a new load", function* () {
    const { callAs, loads, rows, sent } = yield* setUp(
      {},
      scripted(respond(200, balance), respond(401), respond(200, balance))
    )
    yield* callAs("padaria")
    rows.set("padaria", row("padaria", "new-key"))
    yield* callAs("padaria")
    const keys = sent.map(({ headers }) => headers["x-api-key"])
    assert.deepStrictEqual([loads.length, keys], [2, ["key-of-padaria", "key-of-padaria", "new-key"]])
  })
})

describe("a build that failed", () => {
  effect("is not kept for the next call, also while other uses of the same merchant last", function* () {
    const { callAs, get, loads, plays, sent } = yield* setUp()
    plays.push(failed, failed)
    // The scope of these failed uses stays open until the end of the test.
    const use = Layer.buildWithMemoMap(get("padaria"), yield* Layer.makeMemoMap, yield* Effect.scope)
    for (const _ of plays.slice()) assert.strictEqual((yield* Effect.flip(use))._tag, "MerchantUnavailable")
    assert.deepStrictEqual([loads.length, sent.length], [2, 0])
    yield* Effect.provideContext(getBalance, yield* use)
    yield* callAs("padaria")
    assert.deepStrictEqual([loads.length, sent.length], [3, 2])
  })

  const unavailable = "MerchantUnavailable"
  const unseen = "apiKey may hold visible ASCII characters only"
  const wrapped = "No client could be built for the merchant padaria: load failed (Blip)"
  // `null` is what many databases give.
  const none = null as unknown as undefined
  type Failure = readonly [what: string, load: Effect.Effect<Merchant | undefined, Blip>, ...words: Array<string>]
  const failures: ReadonlyArray<Failure> = [
    ["no row", Effect.undefined, "MerchantNotFound"],
    ["null for a row", Effect.succeed(none), "MerchantNotFound"],
    ["a key with a line break", Effect.succeed(row("padaria", `${secret}\n`)), unavailable, unseen],
    ["a company below 0", Effect.succeed(row("padaria", "key", -1)), unavailable, "companyId must be a whole number"],
    ["an error", failed, unavailable, wrapped],
    ["an interruption", Effect.interrupt, unavailable, "load was interrupted"],
    ["a defect", Effect.die("a bug"), "a bug"]
  ]
  effect.each(failures)(
    "because load gave %s fails with its reason and no secret, and works at the next load",
    function* ([, play, ...words]) {
      const { callAs, loads, plays, sent } = yield* setUp()
      plays.push(play)
      const cause = yield* Effect.flip(Effect.sandbox(callAs("padaria")))
      const printed = Cause.pretty(cause) + JSON.stringify(cause)
      for (const word of words) assert.include(printed, word)
      assert.notInclude(printed, secret)
      assert.strictEqual(sent.length, 0)
      yield* callAs("padaria")
      assert.deepStrictEqual([loads.length, sent.length], [2, 1])
    }
  )
})

describe("a load that hangs", () => {
  effect("delays only its own merchant, and at most until its time limit", function* () {
    const { callAs, loads, plays, sent } = yield* setUp({ loadTimeout: "5 seconds" })
    plays.push(Effect.never)
    const hanging = yield* Effect.forkChild(Effect.flip(callAs("padaria")), { startImmediately: true })
    yield* callAs("mercado")
    assert.strictEqual(sent.length, 1)
    yield* TestClock.adjust("5 seconds")
    assert.include((yield* Fiber.join(hanging)).message, "no credentials within 5s")
    yield* Effect.provideService(callAs("padaria"), References.MinimumLogLevel, "None")
    assert.deepStrictEqual(loads, ["padaria", "mercado", "padaria"])
  })

  effect("serves the callers that wait with a first one that is interrupted", function* () {
    const { callAs, loads, plays, sent } = yield* setUp()
    const gate = yield* Deferred.make<Merchant>()
    plays.push(Deferred.await(gate))
    const [first, second] = [
      yield* Effect.forkChild(callAs("padaria"), { startImmediately: true }),
      yield* Effect.forkChild(callAs("padaria"), { startImmediately: true })
    ]
    yield* Fiber.interrupt(first)
    yield* Deferred.succeed(gate, row("padaria"))
    yield* Fiber.join(second)
    assert.deepStrictEqual([loads.length, sent.length], [1, 1])
  })
})
