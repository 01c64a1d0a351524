/** Credentials that are loaded again: at an interval, and after a 401. */
import { assert, describe } from "@effect/vitest"
import {
  type ApiCredentials,
  Credentials,
  CredentialsReload,
  IdempotencyKeyGen,
  Payments,
  PaymentsPolicy
} from "effect-pix"
import { Data, Deferred, Effect, Exit, Fiber, Layer, Logger, Redacted, References, Scope } from "effect"
import type { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { record } from "../support/operations.ts"
import { pay, underTestClock } from "../support/played.ts"
import { respond, scripted } from "../support/Wire.ts"

const secret = "canary-7f3e"

class NoVault extends Data.TaggedError("NoVault")<{ readonly message: string }> {}
const noVault = Effect.fail(new NoVault({ message: secret }))

const pair = (apiKey: string): ApiCredentials => ({ clientId: "client", apiKey: Redacted.make(apiKey) })
type Load = Effect.Effect<ApiCredentials, NoVault>

/** Loads `key-1`, `key-2` and so on, but for the loads that are given by their number. */
const loader = (given: Readonly<Record<number, Load>> = {}) => {
  const state = { count: 0 }
  const load: Load = Effect.suspend(() => given[++state.count] ?? Effect.succeed(pair(`key-${state.count}`)))
  return { load, state }
}

const key = Effect.flatMap(Credentials, ({ current }) => Effect.map(current, ({ apiKey }) => Redacted.value(apiKey)))

/** Calls that are refused at the same time, with the first credentials. Whether each is to be repeated. */
const refusedTogether = Effect.flatMap(Credentials, ({ current, reload }) =>
  Effect.flatMap(current, (used) =>
    Effect.all(
      Array.from({ length: 100 }, () => reload(used)),
      { concurrency: "unbounded" }
    )
  )
)

/** The lines that are logged, which never show a secret. */
const logging = () => {
  const lines: Array<string> = []
  const logger = Logger.make((options) => {
    const line = Logger.formatJson.log(options)
    assert.notInclude(line, secret)
    lines.push(`${options.logLevel} ${String(options.message)}`)
  })
  return { lines, layer: Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "All")) }
}

const clientOn = (transport: Layer.Layer<HttpClient.HttpClient>, credentials: Layer.Layer<Credentials, unknown>) =>
  Payments.layer({ baseUrl: "https://gateway.example", companyId: 7 }).pipe(
    Layer.provide([transport, Layer.orDie(credentials), IdempotencyKeyGen.layerSequential])
  )

describe("CredentialsReload.layer", () => {
  effect("loads when it is built, again at the interval, and no more when its scope has ended", function* () {
    const { load, state } = loader()
    yield* Effect.gen(function* () {
      for (const [time, expected] of [
        ["0 millis", 1],
        ["59 seconds", 1],
        ["1 second", 2],
        ["3 minutes", 5]
      ] as const) {
        yield* TestClock.adjust(time)
        assert.strictEqual(yield* key, `key-${expected}`)
      }
    }).pipe(Effect.provide(CredentialsReload.layer({ load, every: "1 minute" })))
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(state.count, 5)
  })

  const timedOut = "load gave no credentials within 10s"
  const periods = "every must be a duration above zero; loadTimeout must be a duration above zero"
  const wrong: ReadonlyArray<readonly [what: string, tag: string, words: string, options: unknown]> = [
    ["no load", "ConfigurationError", "load is not set", {}],
    ["a load that is a text", "ConfigurationError", "load must be an Effect", { load: secret }],
    ["a load that is no effect", "ConfigurationError", "load must be an Effect", { load: () => Effect.void }],
    ["no options", "ConfigurationError", "options must be", undefined],
    ["wrong times", "ConfigurationError", periods, { load: loader().load, every: 0, loadTimeout: "soon" }],
    ["a first load that fails", "NoVault", secret, { load: noVault }],
    ["a first load that never ends", "ConfigurationError", timedOut, { load: Effect.never }]
  ]
  effect.each(wrong)("of %s fails with a %s: %s", function* ([, tag, words, options]) {
    const layer = CredentialsReload.layer(options as CredentialsReload.CredentialsReloadOptions<NoVault, never>) // as from JavaScript
    const built = yield* Effect.forkChild(Effect.flip(Effect.scoped(Layer.build(layer))))
    yield* TestClock.adjust("10 seconds")
    const error = yield* Fiber.join(built)
    assert.strictEqual(error._tag, tag)
    assert.include(error.message, words)
    if (tag === "ConfigurationError") assert.notInclude(error.message, secret)
  })

  effect(
    "keeps the last good credentials after a load that fails, dies or gives wrong ones, and logs its tag alone",
    function* () {
      const { load } = loader({
        2: noVault,
        3: Effect.die(new Error(secret)),
        4: Effect.succeed(pair(`${secret}\n`)),
        5: Effect.fail(secret as never), // as from JavaScript
        6: Effect.fail({ _tag: `no key ${secret}` } as never), // as from JavaScript
        7: Effect.interrupt
      })
      const { layer, lines } = logging()
      yield* Effect.gen(function* () {
        for (const expected of ["key-1", "key-1", "key-1", "key-1", "key-1", "key-1", "key-8"]) {
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(yield* key, expected)
        }
      }).pipe(Effect.provide(Layer.provideMerge(CredentialsReload.layer({ load, every: "1 minute" }), layer)))
      const shown = lines.map((line) => /^Warn .*failed \((.*?)\)/.exec(line)?.[1] ?? line.slice(0, 4))
      const untagged = "an error without a tag"
      assert.deepStrictEqual(shown, [
        "NoVault",
        "a defect",
        "ConfigurationError",
        untagged,
        untagged,
        "an interruption",
        "Info"
      ])
    }
  )

  effect("loads once for a hundred calls that are refused together, which all use the new credentials", function* () {
    const gate = yield* Deferred.make<ApiCredentials>()
    const { load, state } = loader({ 2: Deferred.await(gate) })
    yield* Effect.gen(function* () {
      const credentials = yield* Credentials
      const used = yield* credentials.current
      const calls = yield* Effect.forkChild(refusedTogether)
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(gate, pair("key-2"))
      assert.deepStrictEqual(new Set(yield* Fiber.join(calls)), new Set([true]))
      assert.strictEqual(yield* key, "key-2")
      // A late call that was refused with credentials that were replaced since starts no load either.
      assert.isTrue(yield* credentials.reload(used))
      assert.strictEqual(state.count, 2)
    }).pipe(Effect.provide(CredentialsReload.layer({ load })))
  })

  effect.each([
    ["fails", noVault, "NoVault", 0],
    ["never ends", Effect.never, "TimeoutError", "5 seconds"],
    ["cannot be interrupted", Effect.uninterruptible(Effect.never), "TimeoutError", "5 seconds"],
    ["gives the same credentials", Effect.succeed(pair("key-1")), "", 0]
  ] as const)(
    "repeats none of a hundred calls after a load that %s, and loads again after two seconds",
    function* ([, second, tag, takes]) {
      const { load, state } = loader({ 2: second })
      const { layer, lines } = logging()
      yield* Effect.gen(function* () {
        const credentials = yield* Credentials
        const used = yield* credentials.current
        const calls = yield* Effect.forkChild(refusedTogether)
        yield* TestClock.adjust(takes)
        assert.deepStrictEqual(new Set(yield* Fiber.join(calls)), new Set([false]))
        assert.include(lines.join(), tag)
        yield* TestClock.adjust("1999 millis")
        for (let call = 0; call < 100; call++) assert.isFalse(yield* credentials.reload(used))
        assert.strictEqual(state.count, 2)
        yield* TestClock.adjust("1 millis")
        assert.isTrue(yield* credentials.reload(used))
        assert.deepStrictEqual([yield* key, state.count], ["key-3", 3])
      }).pipe(Effect.provide(Layer.provideMerge(CredentialsReload.layer({ load, loadTimeout: "5 seconds" }), layer)))
    }
  )

  effect("ends a load that is under way when its scope closes, without a warning", function* () {
    let ended = 0
    const { load, state } = loader({ 2: Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended++)) })
    const { layer, lines } = logging()
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.provide(CredentialsReload.layer({ load, every: "1 minute" }), layer), scope)
    yield* TestClock.adjust("61 seconds")
    yield* Scope.close(scope, Exit.void)
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual([state.count, ended, lines], [2, 1, []])
  })
})

describe("a 401", () => {
  const other = Effect.succeed({ ...pair("key-1"), clientId: "other" })
  const rotations: ReadonlyArray<readonly [what: string, loads: Parameters<typeof loader>[0], ...Array<string>]> = [
    ["another key", {}, "client", "key-2", "wd_1"],
    ["another client id", { 2: other }, "other", "key-1", "wd_1"]
  ]
  effect.each(rotations)(
    "repeats the call once with %s, the same idempotency key and the same bytes",
    function* ([, loads, ...second]) {
      const { layer, sent } = scripted(respond(401), respond(201, record("wd_1")))
      yield* Effect.provide(pay, clientOn(layer, CredentialsReload.layer(loader(loads))))
      assert.deepStrictEqual(
        sent.map(({ headers }) => ["x-client-id", "x-api-key", "idempotency-key"].map((name) => headers[name])),
        [["client", "key-1", "wd_1"], second]
      )
      assert.deepStrictEqual(sent[1]?.bytes, sent[0]?.bytes)
    }
  )

  effect("loads other credentials for the next call, where no write is repeated", function* () {
    const { layer, sent } = scripted(respond(401), respond(201, record("wd_2")))
    const { load, state } = loader()
    const twice = Effect.all([Effect.flip(pay), pay], { concurrency: 1 }).pipe(
      Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ writes: "never" }))
    )
    const [{ attempts }] = yield* Effect.provide(twice, clientOn(layer, CredentialsReload.layer({ load })))
    assert.deepStrictEqual([attempts, state.count], [1, 2])
    assert.deepStrictEqual(
      sent.map(({ headers }) => [headers["idempotency-key"], headers["x-api-key"]]),
      [
        ["wd_1", "key-1"],
        ["wd_2", "key-2"]
      ]
    )
  })

  effect("to the repetition too fails the call, and a 403 loads nothing", function* () {
    for (const [status, count] of [
      [401, 2],
      [403, 1]
    ] as const) {
      const { load, state } = loader()
      const { layer, sent } = scripted(respond(status))
      const error = yield* Effect.flip(pay).pipe(Effect.provide(clientOn(layer, CredentialsReload.layer({ load }))))
      assert.deepStrictEqual([error._tag, error.attempts, sent.length, state.count], ["AuthError", count, count, count])
    }
  })

  effect("sends nothing past the deadline, however long the reload takes", function* () {
    for (const reload of [Effect.never, Effect.sleep("10 minutes"), Effect.sleep("90 seconds")]) {
      const { layer, sent } = scripted(respond(401))
      const slow = Layer.succeed(Credentials, {
        current: Effect.succeed(pair("key")),
        reload: () => Effect.as(reload, true)
      })
      const error = yield* underTestClock(Effect.flip(pay)).pipe(Effect.provide(clientOn(layer, slow)))
      assert.deepStrictEqual([error._tag, error.outcome, sent.length], ["AuthError", "Rejected", 1])
    }
  })
})
