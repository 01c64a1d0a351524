/** Tests the recipes of docs/limits.md by counting the requests that the gateway received. */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import { Credentials, IdempotencyKeyGen, Merchants, Payments, PaymentsPolicy } from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Context, Duration, Effect, Exit, Fiber, Layer, Redacted, References, Result, Schedule, Scope } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest } from "effect/http"
import { CircuitBreaker, RateLimiter, type Redis } from "effect/persistence"
import { TestClock } from "effect/testing"
import { startFakeRedis } from "../support/fakeRedis.ts"
import { noRedis, startRedis } from "../support/redis.ts"
import { withdrawal } from "../support/operations.ts"
import { effect } from "../support/effect.ts"

/** Fails like a transport that never sent the request. */
const refuseUnsent = (request: HttpClientRequest.HttpClientRequest, description: string) => (cause: unknown) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, description, cause }) })

interface Rate {
  readonly key: string | ((request: HttpClientRequest.HttpClientRequest) => string)
  readonly limit: number
  readonly window: Duration.Input
  /** The longest wait of an attempt for the rate limit. */
  readonly patience: Duration.Input
}
const ten: Rate = { key: "payments", limit: 10, window: "1 second", patience: "5 seconds" }

const rateLimited = ({ key, limit, patience, window }: Rate = ten) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const limiter = yield* RateLimiter.RateLimiter
      const turn = (key: string): Effect.Effect<unknown, RateLimiter.RateLimiterError> =>
        limiter
          .consume({ key, limit, window, algorithm: "token-bucket" })
          .pipe(
            Effect.catchReason("RateLimiterError", "RateLimitExceeded", ({ retryAfter }, error) =>
              Duration.isGreaterThan(retryAfter, Duration.fromInputUnsafe(patience))
                ? Effect.fail(error)
                : Effect.andThen(Effect.sleep(retryAfter), turn(key))
            )
          )
      return HttpClient.transform(client, (send, request) =>
        turn(typeof key === "string" ? key : key(request)).pipe(
          Effect.timeout(patience),
          Effect.mapError(refuseUnsent(request, "no turn in time")),
          Effect.andThen(send)
        )
      )
    })
  )

const guarded = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const breaker = yield* CircuitBreaker.make({
      tripPolicy: CircuitBreaker.consecutive(5),
      openDuration: "30 seconds"
    })
    return HttpClient.transform(client, (send, request) =>
      send.pipe(
        Effect.timeoutOrElse({
          duration: "20 seconds",
          orElse: () => {
            const reason = new HttpClientError.TransportError({ request, cause: { code: "ETIMEDOUT" } })
            return Effect.fail(new HttpClientError.HttpClientError({ reason }))
          }
        }),
        breaker.execute({ key: "payments", classify: HttpClient.circuitBreakerClassifier }),
        Effect.catchTag("CircuitBreakerError", (error) =>
          Effect.fail(refuseUnsent(request, "the circuit is open")(error))
        )
      )
    )
  })
)

const memory = Layer.mergeAll(
  Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory),
  CircuitBreaker.layerStoreMemory()
)

/** A client of the sandbox, through limits. */
const clientOf = <R>(limits: Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient | R>) =>
  Layer.unwrap(
    Effect.map(Sandbox, ({ baseUrl, companyId, credentials }) =>
      Payments.layer({ baseUrl, companyId }).pipe(
        Layer.provide([
          Layer.unwrap(Effect.map(credentials, Credentials.layer)),
          IdempotencyKeyGen.layerSequential,
          limits
        ])
      )
    )
  )

const rich = Layer.provide(Sandbox.layer, Layer.succeed(SandboxOptions, { balance: 1_000_000 }))
const once = Effect.provideService(PaymentsPolicy, PaymentsPolicy.once)
const quiet = Effect.provideService(References.MinimumLogLevel, "None")
const count = Effect.flatMap(Sandbox, (sandbox) => Effect.map(sandbox.requests, (requests) => requests.length))

describe("a rate limit around the HttpClient", () => {
  effect(
    "the limit lets ten attempts a second through, and delays the others instead of failing them",
    clientOf(rateLimited()).pipe(Layer.provide(memory), Layer.provideMerge(rich)),
    function* () {
      const payments = yield* Payments
      const all = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 25 }), () => payments.getBalance(), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(0)
      assert.strictEqual(yield* count, 10)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* count, 20)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(all)).length, 25)
    }
  )

  it.effect("the limit counts retries too", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetBefore, { times: 2 })
      const paid = yield* Effect.forkChild(payments.requestWithdrawal(withdrawal))
      yield* TestClock.adjust(0)
      assert.strictEqual(yield* count, 1)
      yield* TestClock.adjust("1999 millis")
      assert.strictEqual(yield* count, 2)
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(paid)
      assert.strictEqual(yield* count, 3)
    }).pipe(
      Effect.provide(clientOf(rateLimited({ ...ten, limit: 1 })).pipe(Layer.provide(memory), Layer.provideMerge(rich))),
      Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ retryWrites: Schedule.recurs(2) }))
    )
  )

  it.effect("a payout that got no turn in time is NotSent", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      yield* payments.requestWithdrawal(withdrawal)
      const error = yield* Effect.flip(payments.requestWithdrawal(withdrawal))
      assert.strictEqual(error._tag, "ServiceUnavailable")
      assert.strictEqual(error.outcome, "NotSent")
      assert.strictEqual(yield* count, 1)
    }).pipe(
      Effect.provide(
        clientOf(rateLimited({ ...ten, limit: 1, window: "1 hour", patience: "5 seconds" })).pipe(
          Layer.provide(memory),
          Layer.provideMerge(rich)
        )
      ),
      once
    )
  )
})

describe("a circuit breaker around the HttpClient", () => {
  const layer = clientOf(guarded).pipe(Layer.provide(memory), Layer.provideMerge(rich))

  it.effect(
    "the circuit opens after five failures in a row, sends nothing while it is open, and closes by a probe",
    () =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const sandbox = yield* Sandbox
        yield* sandbox.fault("any", Fault.refusal(503, "Fora do ar"), { times: 5 })
        for (let i = 0; i < 5; i++) yield* Effect.flip(payments.getBalance())
        assert.strictEqual(yield* count, 5)

        const refused = yield* Effect.flip(payments.requestWithdrawal(withdrawal))
        assert.strictEqual(refused._tag, "ServiceUnavailable")
        assert.strictEqual(refused.outcome, "NotSent")
        assert.strictEqual(yield* count, 5)

        yield* TestClock.adjust("30 seconds")
        yield* payments.requestWithdrawal(withdrawal)
        yield* payments.requestWithdrawal(withdrawal)
        assert.strictEqual(yield* count, 7)
      }).pipe(Effect.provide(layer), once)
  )

  it.effect(
    "the circuit opens for a service that hangs, since the breaker counts the time limit inside it as a failure",
    () =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const sandbox = yield* Sandbox
        yield* sandbox.fault("requestWithdrawal", Fault.silence(), { times: 5 })
        const hanging = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 5 }), () => Effect.flip(payments.requestWithdrawal(withdrawal)))
        )
        yield* TestClock.adjust("100 seconds")
        const errors = yield* Fiber.join(hanging)
        assert.deepStrictEqual(
          errors.map((error) => (error._tag === "OutcomeUnknown" ? error.reason : error._tag)),
          Array.from({ length: 5 }, () => "Timeout")
        )
        assert.strictEqual((yield* Effect.flip(payments.requestWithdrawal(withdrawal))).outcome, "NotSent")
        assert.strictEqual(yield* count, 5)
      }).pipe(Effect.provide(layer), once, quiet)
  )

  it.effect("the circuit stays closed for refusals, which a healthy service answers too", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Saldo insuficiente"), { times: 9 })
      for (let i = 0; i < 9; i++) yield* Effect.flip(payments.requestWithdrawal(withdrawal))
      yield* payments.requestWithdrawal(withdrawal)
      assert.strictEqual(yield* count, 10)
    }).pipe(Effect.provide(layer), once)
  )

  it.effect("the circuit does not turn an unknown outcome into one that was not sent", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      yield* sandbox.fault("any", Fault.refusal(503, "Fora do ar"), { times: 4 })
      for (let i = 0; i < 4; i++) yield* Effect.flip(once(payments.getBalance()))
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      // The first attempt pays and opens the circuit. The second attempt is not sent.
      const error = yield* Effect.flip(payments.requestWithdrawal(withdrawal))
      assert.strictEqual(error._tag, "OutcomeUnknown")
      assert.strictEqual(error.attempts, 2)
      assert.strictEqual((yield* sandbox.withdrawals).length, 1)
    }).pipe(
      Effect.provide(layer),
      Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ retryWrites: Schedule.recurs(2) })),
      quiet
    )
  )
})

describe("many merchants in one process", () => {
  const companies = [1, 2]
  const credentialsOf = (companyId: number) => ({
    clientId: `client-of-${companyId}`,
    apiKey: Redacted.make(`secret-of-${companyId}`)
  })

  /** A gateway with a sandbox for each company. The client id selects the sandbox, as at the service. */
  class World extends Context.Service<World, { readonly of: (companyId: number) => Sandbox["Service"] }>()("World") {
    static readonly layer = Layer.effectContext(
      Effect.gen(function* () {
        const built = new Map<
          string,
          { readonly sandbox: Sandbox["Service"]; readonly client: HttpClient.HttpClient }
        >()
        for (const companyId of companies) {
          const credentials = credentialsOf(companyId)
          const context = yield* Layer.build(
            Layer.fresh(
              Layer.provide(
                Sandbox.layer,
                Layer.succeed(SandboxOptions, { ...credentials, companyId, balance: 100_000 * companyId })
              )
            )
          )
          built.set(credentials.clientId, {
            sandbox: Context.get(context, Sandbox),
            client: Context.get(context, HttpClient.HttpClient)
          })
        }
        const of = (clientId: string) => built.get(clientId) ?? assert.fail("no company has this client id")
        const router = HttpClient.make((request) => of(request.headers["x-client-id"] ?? "").client.execute(request))
        return Context.make(HttpClient.HttpClient, router).pipe(
          Context.add(World, { of: (companyId) => of(credentialsOf(companyId).clientId).sandbox })
        )
      })
    )
  }

  const merchants = Merchants.layer({
    baseUrl: "https://sandbox.example",
    load: (merchant) => Effect.succeed({ ...credentialsOf(Number(merchant)), companyId: Number(merchant) })
  })

  const as =
    (companyId: number) =>
    <A, E>(effect: Effect.Effect<A, E, Payments>) =>
      Effect.flatMap(Merchants, ({ get }) => Effect.provide(effect, get(`${companyId}`)))
  const layer = merchants.pipe(
    Layer.provide([
      IdempotencyKeyGen.layerSequential,
      // A rate limit for each merchant, by the client id of its requests.
      rateLimited({
        key: ({ headers }) => `payments/${headers["x-client-id"]}`,
        limit: 3,
        window: "1 hour",
        patience: "5 seconds"
      })
    ]),
    Layer.provide(memory),
    Layer.provideMerge(World.layer)
  )
  const pay = Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal))

  effect("each company's payouts are paid with its own credentials, from its own balance", layer, function* () {
    const world = yield* World
    yield* pay.pipe(as(1))
    yield* pay.pipe(as(2))
    yield* pay.pipe(as(2))
    const read = Effect.flatMap(Payments, (payments) => payments.getBalance())
    assert.strictEqual((yield* read.pipe(as(1))).companyId, 1)
    assert.strictEqual((yield* world.of(1).withdrawals).length, 1)
    assert.strictEqual((yield* world.of(2).withdrawals).length, 2)
    assert.strictEqual(yield* world.of(1).balance, 99_000)
    assert.strictEqual(yield* world.of(2).balance, 198_000)
  })

  it.effect("the used-up rate of one company delays no other company", () =>
    Effect.gen(function* () {
      const world = yield* World
      for (let i = 0; i < 3; i++) yield* pay.pipe(as(1))
      const error = yield* Effect.flip(pay.pipe(as(1)))
      assert.strictEqual(error.outcome, "NotSent")
      yield* pay.pipe(as(2))
      assert.strictEqual((yield* world.of(1).requests).length, 3)
      assert.strictEqual((yield* world.of(2).requests).length, 1)
    }).pipe(Effect.provide(layer), once)
  )

  it.effect("each company has its own budget of retries, which later calls share", () =>
    Effect.gen(function* () {
      const world = yield* World
      for (const companyId of companies) {
        yield* world.of(companyId).fault("requestWithdrawal", Fault.resetBefore, { times: 4 })
      }
      // The first call of a company takes the one retry that its budget has; its second has none.
      for (const [companyId, arrived] of [
        [1, 2],
        [1, 3],
        [2, 2]
      ] as const) {
        yield* Effect.flip(pay.pipe(as(companyId)))
        assert.strictEqual((yield* world.of(companyId).requests).length, arrived)
      }
    }).pipe(
      Effect.provide(layer),
      Effect.provideService(
        PaymentsPolicy,
        PaymentsPolicy.make({
          retryWrites: Schedule.recurs(1),
          retryBudget: { capacity: 14, retryCost: 14, throttledRetryCost: 14, refund: 0 }
        })
      ),
      quiet
    )
  )
})

/** The recipes, built on the services of a process. */
type Limits = Layer.Layer<
  HttpClient.HttpClient,
  never,
  HttpClient.HttpClient | RateLimiter.RateLimiter | CircuitBreaker.CircuitBreakerStore
>

/** `missing`: the reason why it cannot run here. */
interface Server {
  readonly server: string
  readonly start: Effect.Effect<{ readonly connection: Layer.Layer<Redis.Redis, Redis.RedisError> }, never, Scope.Scope>
  readonly missing: string | undefined
}

const servers: ReadonlyArray<Server> = [
  { server: "a stand-in for Redis", start: startFakeRedis, missing: undefined },
  {
    server: noRedis === undefined ? "a real Redis" : `a real Redis (skipped: ${noRedis})`,
    start: Effect.map(startRedis, (url) => ({ connection: NodeRedis.layer({ url, disableOfflineQueue: true }) })),
    missing: noRedis
  }
]

for (const { missing, server, start } of servers) {
  describe.skipIf(missing !== undefined)(`limits that are shared over ${server}`, () => {
    /** The services of one process: its own connection, limiter and breaker. All processes share one sandbox. */
    const processOf = (connection: Layer.Layer<Redis.Redis, Redis.RedisError>, limits: Limits) =>
      Layer.fresh(
        clientOf(limits).pipe(
          Layer.provide([
            Layer.provide(RateLimiter.layer, RateLimiter.layerStoreRedis({ prefix: "test:rate:" })),
            CircuitBreaker.layerStoreRedis({ prefix: "test:circuit:" })
          ]),
          Layer.provide(connection)
        )
      )

    it.live("two processes send no more than the limit between them", () =>
      Effect.gen(function* () {
        const { connection } = yield* start
        const limits = rateLimited({ key: "payments", limit: 7, window: "1 hour", patience: "5 seconds" })
        const calls = Effect.gen(function* () {
          const payments = yield* Payments
          return yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.result(payments.getBalance()), {
            concurrency: "unbounded"
          })
        }).pipe(Effect.provide(processOf(connection, limits)))
        const results = yield* Effect.all([calls, calls], { concurrency: 2 })
        assert.strictEqual(results.flat().filter(Result.isSuccess).length, 7)
        assert.strictEqual(yield* count, 7)
      }).pipe(Effect.provide(rich), once)
    )

    it.live("a second process sends nothing during an outage that the first process has met", () =>
      Effect.gen(function* () {
        const { connection } = yield* start
        const sandbox = yield* Sandbox
        yield* sandbox.fault("any", Fault.refusal(503, "Fora do ar"), { times: 5 })
        yield* Effect.gen(function* () {
          const payments = yield* Payments
          for (let i = 0; i < 5; i++) yield* Effect.flip(payments.getBalance())
        }).pipe(Effect.provide(processOf(connection, guarded)))
        const error = yield* Effect.flatMap(Payments, (payments) =>
          Effect.flip(payments.requestWithdrawal(withdrawal))
        ).pipe(Effect.provide(processOf(connection, guarded)))
        assert.strictEqual(error._tag, "ServiceUnavailable")
        assert.strictEqual(error.outcome, "NotSent")
        assert.strictEqual(yield* count, 5)
      }).pipe(Effect.provide(rich), once)
    )

    it.live("a process that cannot reach Redis sends nothing, and its error is NotSent", () =>
      Effect.gen(function* () {
        const redis = yield* Scope.make()
        const { connection } = yield* Scope.provide(start, redis)
        const payments = Context.get(yield* Layer.build(processOf(connection, rateLimited())), Payments)
        yield* payments.requestWithdrawal(withdrawal)
        yield* Scope.close(redis, Exit.void)
        const error = yield* Effect.flip(payments.requestWithdrawal(withdrawal))
        assert.strictEqual(error.outcome, "NotSent")
        assert.strictEqual(yield* count, 1)
      }).pipe(Effect.provide(rich), once, quiet)
    )
  })
}

describe("limits that are shared over a stand-in for Redis, while time passes", () => {
  const twoProcesses = Effect.gen(function* () {
    const { connection } = yield* startFakeRedis
    const stores = Layer.mergeAll(
      Layer.provide(RateLimiter.layer, RateLimiter.layerStoreRedis()),
      CircuitBreaker.layerStoreRedis()
    ).pipe(Layer.provide(connection))
    const processOf = (limits: Limits) =>
      Effect.map(Layer.build(Layer.fresh(Layer.provide(clientOf(limits), stores))), Context.get(Payments))
    return processOf
  })

  it.effect("a bucket that two processes emptied lets each of them send again as it fills", () =>
    Effect.gen(function* () {
      const processOf = yield* twoProcesses
      const limited = rateLimited({ ...ten, limit: 2 })
      const [one, other] = [yield* processOf(limited), yield* processOf(limited)]
      const all = yield* Effect.forkChild(
        Effect.all([one.getBalance(), other.getBalance(), one.getBalance(), other.getBalance()], {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust(0)
      assert.strictEqual(yield* count, 2)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* count, 3)
      yield* TestClock.adjust("500 millis")
      yield* Fiber.join(all)
      assert.strictEqual(yield* count, 4)
    }).pipe(Effect.provide(rich), once)
  )

  it.effect("one process's probe closes the circuit for the other", () =>
    Effect.gen(function* () {
      const processOf = yield* twoProcesses
      const sandbox = yield* Sandbox
      const [one, other] = [yield* processOf(guarded), yield* processOf(guarded)]
      yield* sandbox.fault("any", Fault.refusal(503, "Fora do ar"), { times: 5 })
      for (let i = 0; i < 5; i++) yield* Effect.flip(one.getBalance())
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual((yield* Effect.flip(other.requestWithdrawal(withdrawal))).outcome, "NotSent")
      yield* TestClock.adjust("1 second")
      yield* one.getBalance()
      yield* other.requestWithdrawal(withdrawal)
      assert.strictEqual(yield* count, 7)
    }).pipe(Effect.provide(rich), once)
  )
})
