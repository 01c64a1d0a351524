import { assert, describe } from "@effect/vitest"
import { type ApiCredentials, Credentials, CredentialsReload, IdempotencyKeyGen, Payments } from "effect-pix"
import {
  Cause,
  ConfigProvider,
  Data,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Redacted,
  Ref,
  References,
  Scope
} from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { json, makeGateway } from "../support/Gateway.ts"
import { balance } from "../support/operations.ts"
import { respond, scripted } from "../support/Wire.ts"
import { effect, live } from "../support/effect.ts"

const secret = "canary-7f3e"

class NoVault extends Data.TaggedError("NoVault")<{ readonly message: string }> {}

const pair = (clientId: string, apiKey: string): ApiCredentials => ({ clientId, apiKey: Redacted.make(apiKey) })

const current = Effect.flatMap(Credentials, (credentials) => credentials.current)

/** All texts that a program may print of a failure. */
const printed = (cause: Cause.Cause<unknown>) =>
  [
    Cause.pretty(cause),
    inspect(cause, { depth: 9 }),
    inspect(cause, { depth: 9, customInspect: false }),
    JSON.stringify(cause)
  ].join()

const refused = Effect.fnUntraced(function* (layer: Layer.Layer<Credentials, unknown>) {
  const exit = yield* Effect.exit(Effect.provide(current, layer))
  assert.isTrue(Exit.isFailure(exit))
  if (!Exit.isFailure(exit)) return "nothing"
  assert.notInclude(printed(exit.cause), secret)
  return Cause.pretty(exit.cause)
})

const unfit: ReadonlyArray<readonly [string, string]> = [
  ["is empty", ""],
  ["is blank", "   "],
  ["ends in a line break", `${secret}\n`],
  ["holds CR and LF", `${secret}\r\nX-Evil: 1`],
  ["holds NUL", `${secret}\0`],
  ["holds DEL", `${secret}\u007F`],
  ["begins with a space", ` ${secret}`],
  ["goes beyond ASCII", `${secret}é`],
  ["goes beyond Latin-1", `${secret}€`],
  ["is longer than any header takes", secret.repeat(400)]
]

describe("Credentials.layer with wrong values", () => {
  effect.each(unfit)(
    "credentials are refused when the layer is built, and never shown, where one %s",
    function* ([, value]) {
      assert.include(yield* refused(Credentials.layer(pair(value, "key"))), "clientId")
      assert.include(yield* refused(Credentials.layer(pair("client", value))), "apiKey")
      assert.include(yield* refused(CredentialsReload.layer({ load: Effect.succeed(pair(value, "key")) })), "clientId")
      const env = (clientId: string, apiKey: string) =>
        Layer.provide(
          Credentials.layerConfig,
          ConfigProvider.layer(ConfigProvider.fromUnknown({ PAYMENTS_CLIENT_ID: clientId, PAYMENTS_API_KEY: apiKey }))
        )
      assert.include(yield* refused(env(value, "key")), "PAYMENTS_CLIENT_ID")
      assert.include(yield* refused(env("client", value)), "PAYMENTS_API_KEY")
    }
  )
})

describe("Credentials.layer with absent values", () => {
  effect(
    "credentials that are absent, as process.env may leave them, are refused when the layer is built",
    function* () {
      const absent = undefined as unknown as string // what `process.env["X"]!` is
      assert.include(yield* refused(Credentials.layer(pair(absent, "key"))), "clientId is not set")
      assert.include(yield* refused(Credentials.layer(pair("client", absent))), "apiKey is not set")
    }
  )
})

describe("Credentials.layer in plain JavaScript", () => {
  effect("credentials of plain JavaScript that do not wrap the key are refused when the layer is built", function* () {
    const plain = { clientId: "client", apiKey: secret } as never // what no compiler checked
    for (const layer of [Credentials.layer(plain), CredentialsReload.layer({ load: Effect.succeed(plain) })]) {
      assert.include(yield* refused(layer), "apiKey must be wrapped: Redacted.make(...)")
    }
    const nothing = undefined as never // what no compiler checked
    assert.include(yield* refused(Credentials.layer(nothing)), "credentials must be { clientId, apiKey }")
    const keyless = { clientId: "client" } as never // what no compiler checked
    assert.include(yield* refused(Credentials.layer(keyless)), "apiKey is not set")
  })

  effect("credentials of plain JavaScript whose key was wiped are refused when the layer is built", function* () {
    const wiped = Redacted.make(secret)
    Redacted.wipeUnsafe(wiped)
    assert.include(yield* refused(Credentials.layer({ clientId: "client", apiKey: wiped })), "apiKey is not set")
  })
})

describe("Credentials.layerConfig", () => {
  const env = (values: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromUnknown(values))

  effect("credentials from the environment are PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY", function* () {
    const { apiKey, clientId } = yield* Effect.provide(
      current,
      Layer.provide(Credentials.layerConfig, env({ PAYMENTS_CLIENT_ID: "client", PAYMENTS_API_KEY: secret }))
    )
    assert.deepStrictEqual([clientId, Redacted.value(apiKey)], ["client", secret])
    assert.notInclude(inspect(apiKey), secret)
  })

  effect("credentials from the environment that are missing are named", function* () {
    const without = (values: Record<string, string>) => refused(Layer.provide(Credentials.layerConfig, env(values)))
    assert.include(yield* without({ PAYMENTS_API_KEY: secret }), "PAYMENTS_CLIENT_ID is not set")
    assert.include(yield* without({ PAYMENTS_CLIENT_ID: "client" }), "PAYMENTS_API_KEY is not set")
  })

  effect("credentials from the environment print the name of their setting in the place of the key", function* () {
    const { apiKey } = yield* Effect.provide(
      current,
      Layer.provide(Credentials.layerConfig, env({ PAYMENTS_CLIENT_ID: "client", PAYMENTS_API_KEY: secret }))
    )
    assert.strictEqual(inspect(apiKey), "<redacted:PAYMENTS_API_KEY>")
  })

  live("Payments.layerFetch needs only the credentials and the address from the environment", function* () {
    const gateway = yield* makeGateway
    gateway.script(json(balance))
    const asked = Effect.flatMap(Payments, (payments) => payments.getBalance())
    const all = {
      PAYMENTS_BASE_URL: `${gateway.url}/pix/`,
      PAYMENTS_CLIENT_ID: "client",
      PAYMENTS_API_KEY: secret,
      PAYMENTS_COMPANY_ID: "7"
    }
    yield* Effect.provide(asked, Layer.provide(Payments.layerFetch, env(all)))
    const [request] = gateway.requests
    assert.strictEqual(request?.path, "/pix/api/Balance/balance/7?currency=BRL")
    assert.deepStrictEqual([request?.headers["x-client-id"], request?.headers["x-api-key"]], ["client", secret])

    for (const [name, value] of [
      ["PAYMENTS_BASE_URL", undefined],
      ["PAYMENTS_BASE_URL", "http://gateway.example"],
      ["PAYMENTS_COMPANY_ID", "seven"],
      ["PAYMENTS_COMPANY_ID", "-7"],
      ["PAYMENTS_COMPANY_ID", "7.5"],
      ["PAYMENTS_CLIENT_ID", undefined],
      ["PAYMENTS_API_KEY", undefined]
    ] as const) {
      const { [name]: _, ...rest } = all
      const values: Record<string, string> = value === undefined ? rest : { ...rest, [name]: value }
      const exit = yield* Effect.exit(Effect.provide(asked, Layer.provide(Payments.layerFetch, env(values))))
      assert.isTrue(Exit.isFailure(exit))
      if (!Exit.isFailure(exit)) return
      assert.include(Cause.pretty(exit.cause), name)
      assert.notInclude(printed(exit.cause), secret)
    }
    assert.strictEqual(gateway.requests.length, 1)
  })

  effect("a client from the environment can be built without a company", function* () {
    const { layer, sent } = scripted(respond(200, balance))
    const payments = Payments.layerConfig.pipe(
      Layer.provide([layer, Credentials.layer(pair("client", "key")), IdempotencyKeyGen.layer]),
      Layer.provide(env({ PAYMENTS_BASE_URL: "https://gateway.example" }))
    )
    const error = yield* Effect.flip(Effect.flatMap(Payments, (service) => service.getBalance())).pipe(
      Effect.provide(payments)
    )
    assert.deepStrictEqual([error._tag, sent.length], ["InvalidRequest", 0])
  })
})

/** Loads `key-1`, `key-2` and so on; `outcomes` may replace a load. */
const loader = Effect.fnUntraced(function* (
  outcomes: Readonly<Record<number, Effect.Effect<ApiCredentials, NoVault>>> = {}
) {
  const loads = yield* Ref.make(0)
  const load = Effect.flatMap(
    Ref.updateAndGet(loads, (count) => count + 1),
    (count): Effect.Effect<ApiCredentials, NoVault> => outcomes[count] ?? Effect.succeed(pair("client", `key-${count}`))
  )
  return { load, loads: Ref.get(loads) }
})

const key = Effect.map(current, ({ apiKey }) => Redacted.value(apiKey))

const capture = () => {
  const lines: Array<readonly [string, string]> = []
  const logger = Logger.make((options) => {
    lines.push([options.logLevel, `${String(options.message)} ${inspect(options.message)} ${printed(options.cause)}`])
  })
  return { lines, layer: Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "All")) }
}

describe("CredentialsReload.layer", () => {
  effect("fails with ConfigurationError, and shows no value, where `load` is missing or no Effect", function* () {
    const secret = "sk_live_7f3e"
    const wrong: ReadonlyArray<unknown> = [{}, { load: secret }, { load: null }, { load: () => Effect.void }, undefined]
    for (const options of wrong) {
      const layer = CredentialsReload.layer(options as CredentialsReload.CredentialsReloadOptions<never, never>) // a caller without types
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.strictEqual(error._tag, "ConfigurationError")
      assert.include(error.message, "load")
      assert.notInclude(error.message, secret)
    }
  })

  effect("credentials that reload are loaded when the layer is built, and again at the interval", function* () {
    const { load, loads } = yield* loader()
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* key, "key-1")
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* key, "key-1")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* key, "key-2")
      yield* TestClock.adjust("3 minutes")
      assert.strictEqual(yield* key, "key-5")
    }).pipe(Effect.provide(CredentialsReload.layer({ load, every: "1 minute" })))
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(yield* loads, 5)
  })

  effect("credentials that reload are loaded only once if there is no interval and no 401", function* () {
    const { load, loads } = yield* loader()
    yield* Effect.andThen(TestClock.adjust("30 days"), key).pipe(Effect.provide(CredentialsReload.layer({ load })))
    assert.strictEqual(yield* loads, 1)
  })

  effect("credentials that reload fail the layer when the first load fails, with the load's own error", function* () {
    const layer = CredentialsReload.layer({ load: Effect.fail("no vault" as const) })
    assert.strictEqual(yield* Effect.flip(Effect.provide(key, layer)), "no vault")
  })

  effect(
    "credentials that reload stay unchanged after a later load fails, dies or returns wrong values, with a warning that shows no cause",
    function* () {
      const { load } = yield* loader({
        2: Effect.fail(new NoVault({ message: secret })),
        3: Effect.die(new Error(secret)),
        4: Effect.succeed(pair("client", `${secret}\n`))
      })
      const { layer, lines } = capture()
      yield* Effect.gen(function* () {
        for (const minute of [1, 2, 3]) {
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(yield* key, "key-1", `after ${minute}`)
        }
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* key, "key-5")
      }).pipe(Effect.provide(Layer.provideMerge(CredentialsReload.layer({ load, every: "1 minute" }), layer)))
      assert.deepStrictEqual(
        lines.map(([level]) => level),
        ["Warn", "Warn", "Warn", "Info"]
      )
      assert.notInclude(lines.join(), secret)
      assert.deepStrictEqual(
        lines.slice(0, 3).map(([, line]) => /failed \((.*?)\)/.exec(line)?.[1]),
        ["NoVault", "a defect", "ConfigurationError"]
      )
    }
  )

  effect(
    "credentials that reload are loaded once for many calls that are refused at the same time, and used by each",
    function* () {
      const gate = yield* Deferred.make<void>()
      const { load, loads } = yield* loader({
        2: Effect.as(Deferred.await(gate), pair("client", "key-2"))
      })
      yield* Effect.gen(function* () {
        const credentials = yield* Credentials
        const used = yield* credentials.current
        const fiber = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 20 }, () => credentials.reload(used)),
            { concurrency: "unbounded" }
          )
        )
        yield* TestClock.adjust("1 second")
        yield* Deferred.succeed(gate, undefined)
        assert.deepStrictEqual(new Set(yield* Fiber.join(fiber)), new Set([true]))
        assert.strictEqual(yield* key, "key-2")
        // A late call that was refused with credentials that were replaced since starts no load either.
        assert.isTrue(yield* credentials.reload(used))
        assert.strictEqual(yield* loads, 2)
      }).pipe(Effect.provide(CredentialsReload.layer({ load })))
    }
  )

  effect(
    "credentials that reload are loaded once for many calls that are refused at the same time, also if that load fails",
    function* () {
      const { load, loads } = yield* loader({
        2: Effect.delay(Effect.fail(new NoVault({ message: secret })), "1 second")
      })
      yield* Effect.gen(function* () {
        const credentials = yield* Credentials
        const used = yield* credentials.current
        const fiber = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 20 }, () => credentials.reload(used)),
            { concurrency: "unbounded" }
          )
        )
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(new Set(yield* Fiber.join(fiber)), new Set([false]))
        assert.strictEqual(yield* loads, 2)
        // A call that is refused later starts another load.
        assert.isTrue(yield* credentials.reload(used))
        assert.strictEqual(yield* key, "key-3")
      }).pipe(Effect.provide(Layer.provideMerge(CredentialsReload.layer({ load }), Logger.layer([]))))
    }
  )

  for (const [how, hung] of Object.entries({
    "that never ends": Effect.never,
    "that cannot be interrupted": Effect.uninterruptible(Effect.never)
  })) {
    effect(`credentials that reload are rotated by the next load after a load ${how}`, function* () {
      const { load, loads } = yield* loader({ 2: hung })
      const { layer, lines } = capture()
      yield* Effect.gen(function* () {
        const credentials = yield* Credentials
        const used = yield* credentials.current
        const calls = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 1000 }, () => credentials.reload(used)),
            { concurrency: "unbounded" }
          )
        )
        yield* TestClock.adjust("4 seconds")
        assert.strictEqual(yield* loads, 2)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(new Set(yield* Fiber.join(calls)), new Set([false]))
        assert.include(lines.join(), "TimeoutError")
        yield* TestClock.adjust("2 seconds")
        assert.isTrue(yield* credentials.reload(used))
        assert.deepStrictEqual([yield* key, yield* loads], ["key-3", 3])
      }).pipe(Effect.provide(Layer.provideMerge(CredentialsReload.layer({ load, loadTimeout: "5 seconds" }), layer)))
    })
  }

  effect("credentials that reload rotate by the interval after a load that never ends", function* () {
    const { load } = yield* loader({ 2: Effect.never })
    yield* Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      yield* TestClock.adjust("70 seconds")
      assert.strictEqual(yield* key, "key-3")
    }).pipe(Effect.provide(Layer.provideMerge(CredentialsReload.layer({ load, every: "1 minute" }), Logger.layer([]))))
  })

  effect("credentials that reload fail the layer when the first load gives nothing within its time", function* () {
    const built = yield* Effect.forkChild(
      Effect.flip(Effect.provide(key, CredentialsReload.layer({ load: Effect.never })))
    )
    yield* TestClock.adjust("10 seconds")
    const error = yield* Fiber.join(built)
    assert.strictEqual(error.message, "load gave no credentials within 10s")
  })

  effect("credentials that reload are loaded once for a thousand consecutive calls if the load fails", function* () {
    const { load, loads } = yield* loader({ 2: Effect.fail(new NoVault({ message: secret })) })
    yield* Effect.gen(function* () {
      const credentials = yield* Credentials
      const used = yield* credentials.current
      for (let call = 0; call < 1000; call++) assert.isFalse(yield* credentials.reload(used))
      assert.strictEqual(yield* loads, 2)
    }).pipe(Effect.provide(Layer.provideMerge(CredentialsReload.layer({ load }), Logger.layer([]))))
  })

  effect("credentials that are loaded again with the same values cause no second request", function* () {
    const loads = yield* Ref.make(0)
    const load = Effect.as(
      Ref.update(loads, (count) => count + 1),
      pair("client", "key")
    )
    const { layer: transport, sent } = scripted(respond(401))
    const payments = Payments.layer({ baseUrl: "https://gateway.example", companyId: 7 }).pipe(
      Layer.provide([transport, CredentialsReload.layer({ load }), IdempotencyKeyGen.layer])
    )
    const asked = Effect.flatMap(Payments, (service) => Effect.flip(service.getBalance()))
    const errors = yield* Effect.replicateEffect(asked, 50).pipe(Effect.provide(payments))
    assert.deepStrictEqual(new Set(errors.map(({ _tag, attempts }) => `${_tag} ${attempts}`)), new Set(["AuthError 1"]))
    assert.deepStrictEqual([sent.length, yield* Ref.get(loads)], [50, 2])
  })

  effect(
    "credentials that reload with a wrong interval or a wrong time limit fail with a ConfigurationError",
    function* () {
      const { load } = yield* loader()
      const error = yield* Effect.flip(
        Effect.provide(key, CredentialsReload.layer({ load, every: 0, loadTimeout: "soon" as never }))
      )
      assert.strictEqual(
        error.message,
        "every must be a duration above zero; loadTimeout must be a duration above zero"
      )
    }
  )

  live("credentials that reload use a rotated key over a socket: twenty calls, one load, twenty answers", function* () {
    const { load, loads } = yield* loader()
    const gateway = yield* makeGateway
    gateway.script((response, request) => {
      const isOld = request.headers["x-api-key"] === "key-1"
      json(isOld ? { message: "Chave revogada" } : balance, isOld ? 401 : 200)(response, request)
    })
    const payments = Payments.layer({ baseUrl: gateway.url, companyId: 7 }).pipe(
      Layer.provide([FetchHttpClient.layer, CredentialsReload.layer({ load }), IdempotencyKeyGen.layer])
    )
    const balances = yield* Effect.flatMap(Payments, (service) =>
      Effect.all(
        Array.from({ length: 20 }, () => service.getBalance()),
        { concurrency: "unbounded" }
      )
    ).pipe(Effect.provide(payments))
    assert.strictEqual(balances.length, 20)
    assert.strictEqual(yield* loads, 2)
    assert.strictEqual(gateway.requests.filter(({ headers }) => headers["x-api-key"] === "key-2").length, 20)
  })

  effect("a 401 is an AuthError after one request if the credentials cannot be loaded again", function* () {
    const { load } = yield* loader({ 2: Effect.fail(new NoVault({ message: secret })) })
    const { layer: transport, sent } = scripted(respond(401))
    const { layer, lines } = capture()
    const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
      Layer.provide([transport, CredentialsReload.layer({ load }), IdempotencyKeyGen.layer])
    )
    const error = yield* Effect.flip(Effect.flatMap(Payments, (service) => service.listTransactions())).pipe(
      Effect.provide(Layer.provideMerge(payments, layer))
    )
    assert.deepStrictEqual([error._tag, error.attempts, sent.length], ["AuthError", 1, 1])
    assert.deepStrictEqual(
      lines.map(([level]) => level),
      ["Warn"]
    )
    assert.notInclude(lines.join(), secret)
  })

  effect(
    "credentials that reload stop reloading when their scope closes, also in the middle of a load, without a warning",
    function* () {
      const { load, loads } = yield* loader({ 2: Effect.never })
      const { layer, lines } = capture()
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Layer.provide(CredentialsReload.layer({ load, every: "1 minute" }), layer), scope)
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* loads, 2)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* loads, 2)
      assert.deepStrictEqual(lines, [])
    }
  )
})
