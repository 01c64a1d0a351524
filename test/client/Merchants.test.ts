/** Counts the loads, the requests and the released clients of `Merchants`. */
import { assert, describe, it } from "@effect/vitest"
import {
  ConfigurationError,
  IdempotencyKeyGen,
  type Merchant,
  Merchants,
  type MerchantsOptions,
  Payments
} from "effect-pix"
import { Cause, Data, Deferred, Effect, Fiber, Layer, Redacted, References } from "effect"
import { TestClock } from "effect/testing"
import { balance } from "../support/operations.ts"
import { respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const secret = "canary-7f3e"

class Blip extends Data.TaggedError("Blip")<{ readonly message: string }> {}
const failedLoad = Effect.fail(new Blip({ message: `password ${secret}` }))

const row = (name: string, apiKey = `key-of-${name}`): Merchant => ({
  clientId: `client-of-${name}`,
  apiKey: Redacted.make(apiKey),
  companyId: 1
})

/** A table of merchants that counts its reads, and can fail for some of them. */
const makeTable = (...names: ReadonlyArray<string>) => {
  const rows = new Map(names.map((name) => [name, row(name)]))
  const loads: Array<string> = []
  /** Effects that replace the next reads. */
  const plays: Array<Effect.Effect<Merchant | undefined, Blip>> = []
  const load = (merchant: string) =>
    Effect.suspend(() => {
      loads.push(merchant)
      return plays.shift() ?? Effect.sync(() => rows.get(merchant))
    })
  return { load, loads, plays, rows }
}

const setUp = (
  table: ReturnType<typeof makeTable>,
  more: Partial<MerchantsOptions<never, never>> = {},
  gateway = scripted(respond(200, balance))
) => ({
  sent: gateway.sent,
  layer: Merchants.layer({ baseUrl: "https://gateway.example", ...more, load: table.load }).pipe(
    Layer.provide([gateway.layer, IdempotencyKeyGen.layerSequential])
  )
})

/** One call as a merchant. */
const callAs = Effect.fnUntraced(function* (merchant: string) {
  const { get } = yield* Merchants
  const call = Effect.flatMap(Payments, (payments) => payments.getBalance())
  return yield* Effect.provide(call, get(merchant))
})

/** Another use of the merchant, which lasts until the end of the test. */
const holdAs = Effect.fnUntraced(function* (merchant: string) {
  const held = yield* Deferred.make<void>()
  const use = Effect.andThen(Deferred.succeed(held, undefined), Effect.never)
  const { get } = yield* Merchants
  yield* Effect.forkChild(Effect.provide(use, get(merchant)))
  yield* Deferred.await(held)
})

const tagOf = (merchant: string) => Effect.map(Effect.flip(callAs(merchant)), ({ _tag }) => _tag)

/** The company whose balance was requested. */
const companyOf = ({ url }: { readonly url: string }) => new URL(url).pathname.split("/").at(-1)

describe("the client of a merchant", () => {
  it.effect("a merchant is loaded once for all its calls, and its calls carry its own credentials", () => {
    const table = makeTable("padaria", "mercado")
    const { layer, sent } = setUp(table)
    return Effect.gen(function* () {
      for (const merchant of ["padaria", "mercado", "padaria"]) yield* callAs(merchant)
      assert.deepStrictEqual(table.loads, ["padaria", "mercado"])
      assert.deepStrictEqual(
        sent.map(({ headers }) => [headers["x-client-id"], headers["x-api-key"]]),
        ["padaria", "mercado", "padaria"].map((name) => [`client-of-${name}`, `key-of-${name}`])
      )
      assert.deepStrictEqual(sent.map(companyOf), ["1", "1", "1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "a hundred concurrent first calls share one load, and their hundred retries after its failure share one more",
    () => {
      const table = makeTable("padaria")
      const { layer, sent } = setUp(table)
      return Effect.gen(function* () {
        table.plays.push(Effect.andThen(Effect.sleep("1 second"), failedLoad))
        const calls = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 100 }),
            () =>
              callAs("padaria").pipe(Effect.retry({ times: 1, while: ({ _tag }) => _tag === "MerchantUnavailable" })),
            { concurrency: "unbounded" }
          )
        )
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(calls)
        assert.deepStrictEqual([table.loads.length, sent.length], [2, 100])
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("a merchant's calls use the transport of the layer, and not the transport in its caller's context", () => {
    const table = makeTable("padaria")
    const { layer, sent } = setUp(table)
    const another = scripted(respond(200, balance))
    return Effect.gen(function* () {
      yield* Effect.provide(callAs("padaria"), another.layer)
      assert.deepStrictEqual([sent.length, another.sent.length], [1, 0])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a client that nobody has used for its idle time is released, and one that is in use is not", () => {
    const table = makeTable("padaria", "mercado")
    const { layer } = setUp(table, { idleTimeToLive: "10 minutes" })
    return Effect.gen(function* () {
      yield* callAs("padaria")
      yield* holdAs("mercado")
      yield* TestClock.adjust("9 minutes")
      yield* callAs("padaria")
      yield* TestClock.adjust("9 minutes")
      yield* callAs("padaria")
      assert.deepStrictEqual(table.loads, ["padaria", "mercado"])
      yield* TestClock.adjust("10 minutes")
      for (const merchant of ["padaria", "mercado"]) yield* callAs(merchant)
      assert.deepStrictEqual(table.loads, ["padaria", "mercado", "padaria"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a client that was invalidated is loaded again by the next call", () => {
    const table = makeTable("padaria")
    const { layer, sent } = setUp(table)
    return Effect.gen(function* () {
      yield* callAs("padaria")
      yield* holdAs("padaria")
      table.rows.set("padaria", { ...row("padaria", "new-key"), companyId: 2 })
      yield* Effect.flatMap(Merchants, ({ invalidate }) => invalidate("padaria"))
      yield* callAs("padaria")
      assert.strictEqual(table.loads.length, 2)
      assert.strictEqual(sent[1]?.headers["x-api-key"], "new-key")
      assert.deepStrictEqual(sent.map(companyOf), ["1", "2"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a call that is refused because the credentials were rotated is repeated with those of a new load", () => {
    const table = makeTable("padaria")
    const { layer, sent } = setUp(table, {}, scripted(respond(200, balance), respond(401), respond(200, balance)))
    return Effect.gen(function* () {
      yield* callAs("padaria")
      table.rows.set("padaria", row("padaria", "new-key"))
      yield* callAs("padaria")
      assert.strictEqual(table.loads.length, 2)
      assert.deepStrictEqual(
        sent.map(({ headers }) => headers["x-api-key"]),
        ["key-of-padaria", "key-of-padaria", "new-key"]
      )
    }).pipe(Effect.provide(layer))
  })
})

describe("options from a program without types", () => {
  const refused = (options: unknown) =>
    Effect.flip(
      Effect.scoped(
        Layer.build(
          // A program without types may give anything.
          Layer.provide(Merchants.layer(options as MerchantsOptions<never, never>), [
            scripted(respond(200, balance)).layer,
            IdempotencyKeyGen.layerSequential
          ])
        )
      )
    )

  effect("are named where they are none, or have no function that loads", function* () {
    const none = yield* refused(undefined)
    assert.include(none.message, "options")
    const noLoad = yield* refused({ baseUrl: "https://pay.example", load: "a table" })
    assert.include(noLoad.message, "load")
    assert.notInclude(noLoad.message, "a table")
  })
})

describe("a build that failed", () => {
  it.effect(
    "a merchant whose load failed once is loaded again by the next call, also while other uses of it last",
    () => {
      const table = makeTable("padaria")
      const { layer, sent } = setUp(table)
      return Effect.gen(function* () {
        table.plays.push(failedLoad, failedLoad)
        const { get } = yield* Merchants
        const same = get("padaria")
        const memo = yield* Layer.makeMemoMap
        // The scope of these failed uses stays open until the end of the test.
        const use = Layer.buildWithMemoMap(same, memo, yield* Effect.scope)
        for (let i = 0; i < 2; i++) assert.strictEqual((yield* Effect.flip(use))._tag, "MerchantUnavailable")
        assert.deepStrictEqual([table.loads.length, sent.length], [2, 0])
        const call = Effect.flatMap(Payments, (payments) => payments.getBalance())
        yield* Effect.provideContext(call, yield* use)
        yield* callAs("padaria")
        assert.deepStrictEqual([table.loads.length, sent.length], [3, 2])
      }).pipe(Effect.scoped, Effect.provide(layer))
    }
  )

  it.effect("a merchant that is inserted after a first miss is found by the next call", () => {
    const table = makeTable()
    const { layer, sent } = setUp(table)
    return Effect.gen(function* () {
      assert.deepStrictEqual(
        [yield* tagOf("padaria"), yield* tagOf("padaria")],
        ["MerchantNotFound", "MerchantNotFound"]
      )
      assert.deepStrictEqual([table.loads.length, sent.length], [2, 0])
      table.rows.set("padaria", row("padaria"))
      yield* callAs("padaria")
      yield* callAs("padaria")
      assert.deepStrictEqual([table.loads.length, sent.length], [3, 2])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a wrong row fails with its mistake, and works after it was corrected", () => {
    const table = makeTable()
    const { layer } = setUp(table)
    return Effect.gen(function* () {
      table.rows.set("padaria", row("padaria", `${secret}\n`))
      const error = yield* Effect.flip(callAs("padaria"))
      assert.strictEqual(error._tag, "MerchantUnavailable")
      assert.include(error.message, "apiKey may hold visible ASCII characters only")
      table.rows.set("padaria", { ...row("padaria"), companyId: -1 })
      assert.include((yield* Effect.flip(callAs("padaria"))).message, "companyId must be a whole number")
      table.rows.set("padaria", row("padaria"))
      yield* callAs("padaria")
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "a defect of the load stays a defect, an interruption of the load is a failure, and neither is cached",
    () => {
      const table = makeTable("padaria")
      const { layer } = setUp(table)
      return Effect.gen(function* () {
        table.plays.push(Effect.die("a bug"), Effect.interrupt)
        const defect = yield* Effect.flip(Effect.sandbox(callAs("padaria")))
        assert.deepStrictEqual(
          defect.reasons.map((reason) => (Cause.isDieReason(reason) ? reason.defect : reason._tag)),
          ["a bug"]
        )
        assert.include((yield* Effect.flip(callAs("padaria"))).message, "load was interrupted")
        yield* callAs("padaria")
        assert.strictEqual(table.loads.length, 3)
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("the error of a failed load shows its tag, and nothing that its message holds", () => {
    const table = makeTable("padaria")
    const { layer } = setUp(table)
    return Effect.gen(function* () {
      table.plays.push(failedLoad)
      const cause = yield* Effect.flip(Effect.sandbox(callAs("padaria")))
      assert.include(Cause.pretty(cause), "No client could be built for the merchant padaria: load failed (Blip)")
      assert.notInclude(Cause.pretty(cause) + JSON.stringify(cause), secret)
    }).pipe(Effect.provide(layer))
  })
})

describe("a load that hangs", () => {
  it.effect("a load that hangs delays only its own merchant, and at most until its time limit", () => {
    const table = makeTable("padaria", "mercado")
    const { layer, sent } = setUp(table, { loadTimeout: "5 seconds" })
    return Effect.gen(function* () {
      table.plays.push(Effect.never)
      const hanging = yield* Effect.forkChild(Effect.flip(callAs("padaria")), { startImmediately: true })
      yield* callAs("mercado")
      assert.strictEqual(sent.length, 1)
      yield* TestClock.adjust("5 seconds")
      const error = yield* Fiber.join(hanging)
      assert.strictEqual(error._tag, "MerchantUnavailable")
      assert.include(error.message, "no credentials within 5s")
      yield* callAs("padaria")
      assert.deepStrictEqual(table.loads, ["padaria", "mercado", "padaria"])
    }).pipe(Effect.provide(layer), Effect.provideService(References.MinimumLogLevel, "None"))
  })

  it.effect("the interruption of one caller, even the first, does not interrupt the callers that wait with it", () => {
    const table = makeTable("padaria")
    const { layer, sent } = setUp(table)
    return Effect.gen(function* () {
      const gate = yield* Deferred.make<Merchant>()
      table.plays.push(Deferred.await(gate))
      const first = yield* Effect.forkChild(callAs("padaria"), { startImmediately: true })
      const second = yield* Effect.forkChild(callAs("padaria"), { startImmediately: true })
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, row("padaria"))
      yield* Fiber.join(second)
      assert.deepStrictEqual([table.loads.length, sent.length], [1, 1])
    }).pipe(Effect.provide(layer))
  })
})

describe("the settings of the merchants' layer", () => {
  effect("each setting that is wrong is named in one error, before anything is loaded", function* () {
    const { layer } = setUp(makeTable(), { baseUrl: "gateway", loadTimeout: -1, idleTimeToLive: Number.NaN })
    const error = yield* Effect.flip(Layer.build(layer))
    assert.instanceOf(error, ConfigurationError)
    assert.deepStrictEqual(
      error.settings.map(({ setting }) => setting),
      ["baseUrl", "loadTimeout", "idleTimeToLive"]
    )
  })
})
