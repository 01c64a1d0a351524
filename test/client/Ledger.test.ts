import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Array as Arr, Effect, Layer, Logger, Random, Schedule } from "effect"
import {
  Credentials,
  IdempotencyKey,
  IdempotencyKeyGen,
  Money,
  Payments,
  PaymentsPolicy,
  PixKey,
  type RequestWithdrawalError,
  type Withdrawal
} from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { runs, seed } from "../support/seed.ts"
import * as Raw from "../support/rawReplies.ts"

/**
 * The faults of a gateway and of the connection to it. After some of them the payout was executed, after others it was
 * not.
 */
const faults: Arr.NonEmptyReadonlyArray<Fault.Fault> = [
  Fault.refuse,
  Fault.resetBefore,
  Fault.resetAfter,
  Raw.hangUpBefore,
  Raw.hangUpAfter,
  Fault.truncated,
  Raw.truncatedByReset,
  Fault.latency("1 millis"),
  Fault.answer(500),
  Fault.answer(500, { executed: true }),
  Fault.answer(502, { executed: true }),
  Fault.html(503),
  Fault.html(504, { executed: true }),
  Fault.html(200, { executed: true }),
  Fault.empty(),
  Fault.empty(204),
  Raw.malformed(201),
  Fault.answer(408, { executed: true }),
  Fault.answer(409, { executed: true }),
  Fault.answer(524, { executed: true }),
  Fault.answer(425),
  Fault.refusal(429, "Devagar"),
  Fault.retryAfter("1 hour"),
  Fault.refusal(401, "Credenciais inválidas"),
  Fault.refusal(422, "Saldo insuficiente"),
  Fault.refusal(400, "Pedido inválido"),
  Fault.redirect("https://elsewhere.example/"),
  Fault.answer(303, { headers: { location: "/result" }, executed: true }),
  Raw.oversize(128 * 1024),
  Raw.otherKey()
]

/** The faults that end only with the time limit of the attempt. */
const stalls: Arr.NonEmptyReadonlyArray<Fault.Fault> = [
  Fault.silence(),
  Fault.silence({ executed: true }),
  Raw.headersThenSilence,
  Raw.drip("2 hours"),
  Fault.latency("2 hours", { executed: true })
]

interface Order {
  readonly key: IdempotencyKey.IdempotencyKey
  readonly amount: Money.Centavos
}

const orders = Effect.fnUntraced(function* (count: number) {
  const made: Array<Order> = []
  for (let index = 0; index < count; index++) {
    const amount = Money.centavos(yield* Random.nextIntBetween(1000, 50_000))
    made.push({ key: IdempotencyKey.fromReference("payout", `invoice-${index}`), amount })
  }
  return made
})

/** A random script, the same for the same seed: two of five requests meet no fault. */
const script = (faults: Arr.NonEmptyReadonlyArray<Fault.Fault>, count: number) =>
  Effect.replicateEffect(
    Effect.flatMap(Random.next, (part) => (part < 0.4 ? Effect.succeed(Fault.none) : Random.choice(faults))),
    count
  )

const bounds = {
  attemptTimeout: "1 hour",
  deadline: "10 hours",
  maxResponseBytes: 64 * 1024,
  retryBudget: "unlimited"
} as const

/** The policies of calls: some repeat a failed attempt, others leave this to the caller. */
const policies: Arr.NonEmptyReadonlyArray<PaymentsPolicy> = [
  PaymentsPolicy.make({ ...bounds, retryWrites: Schedule.recurs(2) }),
  PaymentsPolicy.make({ ...bounds, retryWrites: Schedule.recurs(1), writes: "only-unsent" }),
  PaymentsPolicy.make({ ...bounds, writes: "never" })
]

const maxCalls = 300

/**
 * A caller that follows the outcomes: after an unknown outcome it repeats the call with the same key, until there is an
 * answer. After a refusal or a call that was not sent, it checks that the payout was not executed, and orders it with a
 * new key.
 */
const payOut = ({ amount, key }: Order, isPaid: (key: string) => Effect.Effect<boolean>) =>
  Effect.gen(function* () {
    const payments = yield* Payments
    let mayBePaid = false
    for (let calls = 1; calls <= maxCalls; calls++) {
      const policy = yield* Random.choice(policies)
      const result: Withdrawal | RequestWithdrawalError = yield* payments
        .requestWithdrawal({ amount, pixKey: PixKey.phone("+5511999990000") }, { idempotencyKey: key })
        .pipe(
          Effect.provideService(PaymentsPolicy, policy),
          Effect.catch((error: RequestWithdrawalError) => Effect.succeed(error))
        )
      if (!("_tag" in result)) return { key, amount, id: result.id }
      assert.strictEqual(result.idempotencyKey, key)
      if (result.outcome === "Unknown") mayBePaid = true
      else if (!mayBePaid) {
        assert.isFalse(yield* isPaid(key), `${result._tag} means that nothing was executed, but ${key} was executed`)
      }
    }
    return yield* Effect.die(new Error(`${key} had no answer after ${maxCalls} calls`))
  })

const run = (count: number, faults: Arr.NonEmptyReadonlyArray<Fault.Fault>) =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const before = yield* sandbox.balance
    const wanted = yield* orders(count)
    yield* sandbox.fault("requestWithdrawal", yield* script(faults, count * 2))
    const isPaid = (key: string) =>
      Effect.map(sandbox.withdrawals, (paid) => paid.some(({ idempotencyKey }) => idempotencyKey === key))
    const answers = yield* Effect.forEach(
      wanted,
      (order) => Random.withSeed(payOut(order, isPaid), `${seed} ${order.key}`),
      { concurrency: 16 }
    )

    const paid = yield* sandbox.withdrawals
    const inBooks = paid.map(({ amount, id, idempotencyKey }) => ({ key: idempotencyKey, amount, id }))
    const byKey = <A extends { readonly key: string | undefined }>(records: ReadonlyArray<A>) =>
      records.toSorted((a, b) => ((a.key ?? "") < (b.key ?? "") ? -1 : 1))
    // Each reference has one payout of the right amount, and each caller got the answer of its own payout.
    assert.deepStrictEqual<unknown>(byKey(inBooks), byKey(answers))
    assert.strictEqual(new Set(answers.map(({ id }) => id)).size, count)
    const sum = wanted.reduce((total, { amount }) => total + amount, 0)
    assert.strictEqual(before - (yield* sandbox.balance), sum)
    assert.isAbove((yield* sandbox.requests).length, count * 2, "the faults were met")
  }).pipe(
    Random.withSeed(seed),
    Effect.onError(() => Effect.sync(() => process.stderr.write(`the seed of the run that failed: ${seed}\n`)))
  )

const rich = Layer.succeed(SandboxOptions, { balance: 1_000_000_000, keep: 20_000 })
const quiet = Logger.layer([])

const overSocket = <E>(client: Layer.Layer<HttpClient.HttpClient, E>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { baseUrl, credentials } = yield* Sandbox
      return Layer.provide(Payments.layer({ baseUrl }), [
        client,
        Credentials.layer(yield* credentials),
        IdempotencyKeyGen.layerSequential
      ])
    })
  ).pipe(Layer.provideMerge(Layer.provide(Sandbox.layerServer, rich)))

describe("withdrawals that meet faults and are repeated with the same key until there is an answer", () => {
  const title = (count: number) =>
    `${count} withdrawals that meet faults become ${count} payouts, each with its answer (seed ${seed})`

  describe("in memory", () => {
    const count = runs(200, 2000)
    it.effect(title(count), () =>
      Sandbox.patiently(run(count, [...faults, ...stalls])).pipe(
        Effect.provide([Layer.provide(Sandbox.layerPayments, rich), quiet])
      )
    )
  })
  for (const [name, transport] of [
    ["fetch", FetchHttpClient.layer],
    ["undici", NodeHttpClient.layerUndici]
  ] as const)
    describe(`over ${name}`, () => {
      const count = runs(40, 200)
      it.live(title(count), () => run(count, faults).pipe(Effect.provide([overSocket(transport), quiet])))
    })
})
