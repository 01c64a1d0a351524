import { assert, describe, it } from "@effect/vitest"
import { Payments } from "effect-pix"
import { Fault, Sandbox, type SandboxChange, SandboxOptions, SandboxStateError } from "effect-pix/sandbox"
import { Effect, Exit, Fiber, Layer, Redacted, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { charge } from "../support/charges.ts"
import { charge as request, withdrawal } from "../support/operations.ts"
import { serveRaw } from "../support/RawServer.ts"
import { effect, live } from "../support/effect.ts"

const memory = (options: SandboxOptions = {}) =>
  Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, options))

const payout = (idempotencyKey?: string) =>
  Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal, { idempotencyKey }))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sandbox-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** A server on the options, from its start to its end. */
const served = <A, E>(options: SandboxOptions, use: Effect.Effect<A, E, Sandbox>) =>
  Effect.provide(use, Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, options)))

const steer = Effect.gen(function* () {
  const { baseUrl } = yield* Sandbox
  const answer = yield* Effect.promise(() =>
    fetch(`${baseUrl}/_sandbox/charge`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ amount: 2500 })
    })
  )
  const { transactionId } = yield* Effect.promise(() => answer.json())
  return String(transactionId)
})

/** Uses a server, and then another one on the state file of the first. */
const restarted = <A, B, E, F>(
  options: SandboxOptions,
  before: Effect.Effect<A, E, Sandbox>,
  after: (value: A) => Effect.Effect<B, F, Sandbox>
) =>
  Effect.gen(function* () {
    const stateFile = join(yield* folder, "state.json")
    const value = yield* served({ ...options, stateFile }, before)
    return yield* served({ ...options, stateFile }, after(value))
  })

/** Pays out over HTTP, under a key. */
const withdraw = (key: string) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.promise(async () => {
      const answer = await fetch(`${baseUrl}/api/Withdraw/request`, {
        method: "POST",
        headers: {
          accept: "application/json",
          "content-type": "application/json",
          "x-client-id": "sandbox-client",
          "x-api-key": "sandbox-key",
          "idempotency-key": key
        },
        body: JSON.stringify({ amount: 1000, currency: "BRL" })
      })
      return answer.json()
    })
  )

describe("a restart", () => {
  it.live("a restart keeps the ledger, the credentials and the clock", () =>
    restarted(
      {},
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const { transactionId } = yield* sandbox.charge(2500)
        yield* sandbox.charge(700)
        yield* sandbox.markPaid(transactionId, { amount: 2400 })
        yield* withdraw("wd_kept")
        yield* sandbox.rotateCredentials
        yield* sandbox.advance("1 hour")
        return [yield* sandbox.transactions, yield* sandbox.withdrawals] as const
      }),
      ([charges, payouts]) =>
        Effect.gen(function* () {
          const sandbox = yield* Sandbox
          assert.deepStrictEqual(yield* sandbox.transactions, charges)
          assert.deepStrictEqual(yield* sandbox.withdrawals, payouts)
          const { aheadSeconds, awaited, balance } = yield* sandbox.overview
          assert.deepStrictEqual(
            { aheadSeconds, awaited, balance },
            { aheadSeconds: 3600, awaited: 700, balance: 1400 }
          )
          assert.strictEqual(Redacted.value((yield* sandbox.credentials).apiKey), "sandbox-key-1")
          yield* sandbox.advance("23 hours")
          const [, lapsed] = yield* sandbox.transactions
          assert.strictEqual(lapsed?.status, "Cancelled")
        })
    )
  )

  live("a restart keeps the webhooks to addresses, and those that were taken are not sent again", function* () {
    const target = yield* serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    yield* restarted(
      { webhookUrl: `http://127.0.0.1:${target.port}/hook` },
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* sandbox.sendWebhook({ order: 7 })
        yield* sandbox.awaitWebhooks
      }),
      () =>
        Effect.gen(function* () {
          const sandbox = yield* Sandbox
          yield* sandbox.sendWebhook({ order: 8 })
          yield* sandbox.awaitWebhooks
          assert.deepStrictEqual(
            (yield* sandbox.webhooks).map(({ attempts, state }) => [state, attempts.length]),
            [
              ["Taken", 1],
              ["Taken", 1]
            ]
          )
        })
    )
    assert.strictEqual(target.requests(), 2)
  })

  it.live("a restart keeps the used keys: the same write is answered again, and executed once", () =>
    restarted({ balance: 5000 }, withdraw("wd_kept"), (first) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* withdraw("wd_kept")).id, first.id)
        assert.strictEqual((yield* (yield* Sandbox).withdrawals).length, 1)
      })
    )
  )
})

describe("a state file", () => {
  live("a state file is written whole, and read at the next start, which makes other ids", function* () {
    const path = yield* folder
    const stateFile = join(path, "state.json")
    const first = yield* served({ stateFile }, steer)
    assert.deepStrictEqual(readdirSync(path), ["state.json"])
    assert.strictEqual(JSON.parse(readFileSync(stateFile, "utf8")).version, 2)
    const second = yield* served({ stateFile }, steer)
    assert.notStrictEqual(second, first)
    const ids = yield* served(
      { stateFile },
      Effect.flatMap(Sandbox, ({ transactions }) =>
        Effect.map(transactions, (all) => all.map(({ transactionId }) => transactionId))
      )
    )
    assert.deepStrictEqual(ids, [first, second])
  })

  const broken: ReadonlyArray<[string, string]> = [
    ["is no JSON", "{"],
    ["is of another version", '{"version":1,"state":{}}'],
    ["is something else", "[]"]
  ]
  live.each(broken)("a state file that %s stops the start with one sentence, and is not changed", function* ([, text]) {
    const stateFile = join(yield* folder, "state.json")
    writeFileSync(stateFile, text)
    const error = yield* Effect.flip(served({ stateFile }, Effect.void))
    assert.instanceOf(error, SandboxStateError)
    assert.include(error.message, stateFile)
    assert.strictEqual(readFileSync(stateFile, "utf8"), text)
  })

  live("a state file that cannot be written stops the start", function* () {
    const stateFile = join(yield* folder, "missing", "state.json")
    const error = yield* Effect.flip(served({ stateFile }, Effect.void))
    assert.instanceOf(error, SandboxStateError)
    assert.include(error.message, "cannot be written")
  })

  live("a state file that is a folder stops the start", function* () {
    const error = yield* Effect.flip(served({ stateFile: yield* folder }, Effect.void))
    assert.instanceOf(error, SandboxStateError)
    assert.include(error.message, "cannot be read")
  })
})

describe("ids", () => {
  live("ids are new at each start of a server and after a reset, unless a seed is given", function* () {
    const both = Effect.gen(function* () {
      const before = yield* steer
      yield* (yield* Sandbox).reset
      return [before, yield* steer]
    })
    const ids = [...(yield* served({}, both)), ...(yield* served({}, both))]
    assert.strictEqual(new Set(ids).size, 4)
    const seeded = [...(yield* served({ seed: "s" }, both)), ...(yield* served({ seed: "s" }, both))]
    assert.strictEqual(new Set(seeded).size, 1)
  })
})

describe("bounds", () => {
  effect("the last requests and webhooks can be read, under their first numbers", memory({ keep: 3 }), function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.subscribe(() => Promise.resolve(new Response("thank you")))
    for (let count = 0; count < 5; count++) {
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
    }
    yield* sandbox.awaitWebhooks
    assert.deepStrictEqual(
      (yield* sandbox.requests).map(({ id, status }) => [id, status]),
      [
        [3, 200],
        [4, 200],
        [5, 200]
      ]
    )
    assert.deepStrictEqual(
      (yield* sandbox.webhooks).map(({ id }) => id),
      [3, 4, 5]
    )
    assert.isTrue(Exit.isFailure(yield* Effect.exit(sandbox.resendWebhook(2))))
    assert.isTrue(Result.isSuccess(yield* Effect.result(sandbox.resendWebhook(4))))
  })

  effect("a request that is answered after it was dropped stays dropped", memory({ keep: 1 }), function* () {
    const sandbox = yield* Sandbox
    const payments = yield* Payments
    yield* sandbox.fault("getBalance", Fault.latency("5 seconds"))
    const slow = yield* Effect.forkChild(payments.getBalance(), { startImmediately: true })
    yield* charge
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(slow)
    assert.deepStrictEqual(
      (yield* sandbox.requests).map(({ id, operation }) => [id, operation]),
      [[2, "createTransaction"]]
    )
  })
})

describe("the clock", () => {
  effect(
    "the clock is pushed for the sandbox alone: charges lapse in their order, and webhooks are tried again",
    memory(),
    function* () {
      const sandbox = yield* Sandbox
      const payments = yield* Payments
      let isUp = false
      yield* sandbox.subscribe(() => Promise.resolve(new Response("", { status: isUp ? 200 : 500 })))
      const days = [3, 1, 2, 1]
      for (const expiresInDays of days) {
        yield* payments.createTransaction({ ...request, pix: { expiresInDays } })
      }
      yield* sandbox.advance("2 days")
      assert.deepStrictEqual(
        (yield* sandbox.transactions).map(({ status }) => status),
        ["Awaiting", "Cancelled", "Cancelled", "Cancelled"]
      )
      yield* sandbox.awaitWebhooks
      isUp = true
      yield* sandbox.advance("1 second")
      yield* sandbox.awaitWebhooks
      const webhooks = yield* sandbox.webhooks
      assert.deepStrictEqual(
        webhooks.map(({ attempts, state }) => [state, ...attempts.map(({ status }) => status)]),
        [
          ["Taken", 500, 200],
          ["Taken", 500, 200],
          ["Taken", 500, 200]
        ]
      )
      const ids = (yield* sandbox.transactions).map(({ transactionId }) => transactionId)
      assert.deepStrictEqual(
        webhooks.map(({ transactionId = "" }) => ids.indexOf(transactionId)),
        [1, 3, 2]
      )
      assert.strictEqual(yield* TestClock.testClockWith((clock) => clock.currentTimeMillis), 0)
    }
  )

  effect("thousands of charges lapse, each at its time and once", memory(), function* () {
    const sandbox = yield* Sandbox
    const states = Effect.map(sandbox.transactions, (all) => {
      const cancelled = all.filter(({ status }) => status === "Cancelled").length
      return [cancelled, all.length - cancelled]
    })
    yield* Effect.repeat(charge, { times: 1999 })
    yield* sandbox.advance("12 hours")
    yield* charge
    yield* sandbox.advance("12 hours")
    assert.deepStrictEqual(yield* states, [2000, 1])
    yield* charge
    yield* sandbox.advance("12 hours")
    assert.deepStrictEqual(yield* states, [2001, 1])
  })
})

describe("changes", () => {
  effect("changes are emitted in order, each with the next number", memory(), function* () {
    const sandbox = yield* Sandbox
    const emitted: Array<SandboxChange> = []
    const listening = yield* Effect.forkChild(
      Stream.runForEach(sandbox.changes, (change) => Effect.sync(() => emitted.push(change))),
      { startImmediately: true }
    )
    yield* Effect.yieldNow
    const { id } = yield* charge
    yield* sandbox.markPaid(id)
    yield* payout()
    yield* sandbox.fault("any", Fault.html())
    yield* sandbox.reset
    yield* TestClock.adjust(1)
    yield* Fiber.interrupt(listening)
    assert.deepStrictEqual(
      emitted.map(({ _tag }) => _tag),
      ["Request", "Transaction", "Request", "Transaction", "Request", "Withdrawal", "Request", "Settings", "Reset"]
    )
    const numbers = emitted.map(({ sequence }) => sequence)
    const first = numbers[0] ?? 0
    assert.deepStrictEqual(
      numbers,
      numbers.map((_, index) => first + index)
    )
  })
})

describe("planned faults", () => {
  effect("planned faults can be read, each with the number of requests that it will meet", memory(), function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.fault("getBalance", Fault.html(), { times: 3 })
    yield* sandbox.fault("any", Fault.resetAfter)
    const payments = yield* Payments
    yield* Sandbox.patiently(Effect.exit(payments.listTransactions()))
    assert.deepStrictEqual((yield* sandbox.overview).faults, [
      { operation: "getBalance", fault: Fault.html(), left: 3 }
    ])
    yield* sandbox.clearFaults
    assert.deepStrictEqual((yield* sandbox.overview).faults, [])
  })
})
