import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { KeyValueStore, Redis } from "effect/persistence"
import { Webhook } from "../../src/webhook/Webhook.ts"
import { WebhookStore } from "../../src/webhook/WebhookStore.ts"
import { Money, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { noRedis, startRedis } from "../support/redis.ts"

const promises = Effect.gen(function* () {
  const store = yield* WebhookStore
  assert.deepStrictEqual(yield* store.unfinished, [])
  const first = { id: "1", body: '{"nome":"João \\"x\\"","n":[1,2]}' }
  const second = { id: "2", body: "" }
  yield* store.record(first)
  yield* store.record(second)
  yield* store.record(first)
  const byId = (yield* store.unfinished).toSorted((a, b) => a.id.localeCompare(b.id))
  assert.deepStrictEqual(byId, [first, second])
  yield* store.finish("1")
  yield* store.finish("1")
  yield* store.finish("never recorded")
  assert.deepStrictEqual(yield* store.unfinished, [second])

  assert.isUndefined(yield* store.get("2"))
  yield* store.set("note:x", "value")
  yield* store.set("note:x", "value 2")
  assert.strictEqual(yield* store.get("note:x"), "value 2")
  assert.deepStrictEqual(yield* store.unfinished, [second])
})

/** Two processes after each other: the first ends before it is done, the second does the rest. */
const restart = <E>(store: Layer.Layer<WebhookStore, E>) =>
  Effect.gen(function* () {
    const payments = yield* Payments
    const sandbox = yield* Sandbox
    const charge = yield* payments.createTransaction({
      amount: Money.centavos(2500),
      paymentMethod: "PIX",
      customer: { name: "Maria Silva", email: "maria@example.com" }
    })
    yield* sandbox.markPaid(charge.id)
    const body = JSON.stringify({ transactionId: charge.id })
    const events: Array<string> = []
    const run = <A>(code: Effect.Effect<A>, use: (webhook: Webhook["Service"]) => Effect.Effect<unknown>) =>
      Effect.flatMap(Webhook, use).pipe(
        Effect.provide(
          Layer.fresh(
            Webhook.layerStore({
              onConfirmed: ({ id }) =>
                Effect.andThen(
                  Effect.sync(() => events.push(id)),
                  code
                )
            }).pipe(Layer.provide(store))
          )
        )
      )
    const call = new Request("https://shop.example/webhooks/pix", { method: "POST", body })
    yield* run(Effect.never, ({ answer }) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* answer(call)).status, 200)
        while (events.length === 0) yield* Effect.yieldNow
      })
    )
    yield* run(Effect.void, ({ idle }) => idle)
    yield* run(Effect.void, ({ idle }) => idle)
    assert.deepStrictEqual(events, [`${charge.id}:Paid`, `${charge.id}:Paid`])
  }).pipe(Effect.provide(Sandbox.layerPayments))

describe("WebhookStore", () => {
  it.effect("in memory keeps its promises", () => promises.pipe(Effect.provide(WebhookStore.layerMemory)))

  it.effect("in memory keeps the latest hundred thousand notes, counting those that are read", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      yield* store.set("first", "1")
      yield* store.set("second", "2")
      for (let i = 0; i < 99_998; i++) yield* store.set(String(i), "")
      assert.strictEqual(yield* store.get("first"), "1")
      yield* store.set("one more", "")
      assert.strictEqual(yield* store.get("first"), "1")
      assert.isUndefined(yield* store.get("second"))
    }).pipe(Effect.provide(WebhookStore.layerMemory))
  )

  it.effect("says which of its methods failed, and nothing of what it was given", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const failures = [
        store.record({ id: "1", body: "hush" }),
        store.finish("1"),
        store.unfinished,
        store.get("k"),
        store.set("k", "hush")
      ]
      for (const [index, method] of ["record", "finish", "unfinished", "get", "set"].entries()) {
        const error = yield* Effect.flip<unknown, { readonly method: string; readonly message: string }, never>(
          failures[index] ?? Effect.void
        )
        assert.strictEqual(error.method, method)
        assert.include(error.message, method)
        assert.notInclude(error.message, "hush")
      }
    }).pipe(
      Effect.provide(WebhookStore.layerKeyValueStore),
      Effect.provideServiceEffect(
        KeyValueStore.KeyValueStore,
        Effect.sync(() => {
          const fail = () => Effect.fail(new KeyValueStore.KeyValueStoreError({ message: "down", method: "any" }))
          return KeyValueStore.makeStringOnly({
            get: fail,
            set: fail,
            remove: fail,
            clear: fail(),
            size: fail(),
            keys: fail()
          })
        })
      )
    )
  )

  it.effect("takes no harm from a call that another process finishes while the calls are listed", () =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      yield* store.record({ id: "1", body: "{}" })
      yield* store.record({ id: "2", body: "{}" })
      assert.deepStrictEqual(yield* store.unfinished, [{ id: "2", body: "{}" }])
    }).pipe(
      Effect.provide(WebhookStore.layerKeyValueStore),
      Effect.provideServiceEffect(
        KeyValueStore.KeyValueStore,
        Effect.gen(function* () {
          const real = yield* KeyValueStore.KeyValueStore
          const racing = Effect.tap(real.keys, (keys) => Effect.forEach(keys.slice(0, 1), real.remove))
          return { ...real, keys: racing }
        }).pipe(Effect.provide(KeyValueStore.layerMemory))
      )
    )
  )

  it.effect(
    "in a KeyValueStore lists no call whose writer was killed before it wrote, and takes it when it comes",
    () =>
      Effect.gen(function* () {
        const keyValue = yield* KeyValueStore.KeyValueStore
        const store = yield* WebhookStore
        yield* store.record({ id: "1", body: "{}" })
        const [key = ""] = yield* keyValue.keys
        yield* keyValue.set(key, "")
        assert.deepStrictEqual(yield* store.unfinished, [])
        yield* store.record({ id: "1", body: "{}" })
        assert.deepStrictEqual(yield* store.unfinished, [{ id: "1", body: "{}" }])
      }).pipe(Effect.provide(Layer.provideMerge(WebhookStore.layerKeyValueStore, KeyValueStore.layerMemory)))
  )

  it.effect("in a KeyValueStore writes a call once: what is recorded already is not put at risk", () => {
    const written: Array<string> = []
    return Effect.gen(function* () {
      const store = yield* WebhookStore
      yield* store.record({ id: "1", body: "{}" })
      yield* store.record({ id: "1", body: "{}" })
      assert.deepStrictEqual(written, ["{}"])
      assert.deepStrictEqual(yield* store.unfinished, [{ id: "1", body: "{}" }])
    }).pipe(
      Effect.provide(WebhookStore.layerKeyValueStore),
      Effect.provideServiceEffect(
        KeyValueStore.KeyValueStore,
        Effect.gen(function* () {
          const real = yield* KeyValueStore.KeyValueStore
          const set: typeof real.set = (key, value) => {
            written.push(String(value))
            return real.set(key, value)
          }
          return { ...real, set }
        }).pipe(Effect.provide(KeyValueStore.layerMemory))
      )
    )
  })

  it.live("lets a second process on the same store finish what the first began", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(WebhookStore.layerMemory)
      yield* restart(Layer.succeedContext(context))
    })
  )
})

describe.skipIf(noRedis !== undefined)(`WebhookStore on Redis${noRedis === undefined ? "" : `: ${noRedis}`}`, () => {
  const withRedis = <A, E>(use: (redis: Layer.Layer<Redis.Redis>) => Effect.Effect<A, E, Scope.Scope>) =>
    Effect.flatMap(startRedis, (url) => use(Layer.orDie(NodeRedis.layer({ url }))))

  it.live("keeps its promises, and shares nothing with another prefix", () =>
    withRedis((redis) =>
      Effect.gen(function* () {
        yield* promises.pipe(Effect.provide(WebhookStore.layerRedis()))
        yield* promises.pipe(Effect.provide(WebhookStore.layerRedis({ prefix: "other:" })))
      }).pipe(Effect.provide(redis))
    )
  )

  it.live("lets a second process finish what the first began", () =>
    withRedis((redis) => restart(Layer.provide(WebhookStore.layerRedis(), redis)))
  )

  it.live("forgets what was handed out when its time is over, and never what is unfinished", () =>
    withRedis((redis) =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { send } = yield* Redis.Redis
        yield* store.set("k", "v")
        yield* store.record({ id: "1", body: "{}" })
        assert.strictEqual(yield* send<number>("TTL", "effect-pix:webhook:note:k"), 3600)
        assert.strictEqual(yield* send<number>("TTL", "effect-pix:webhook:calls"), -1)
      }).pipe(Effect.provide(Layer.provideMerge(WebhookStore.layerRedis({ retention: "1 hour" }), redis)))
    )
  )
})
