import { assert, describe, it } from "@effect/vitest"
import { Payments } from "effect-pix"
import { Fault, Sandbox, type SandboxChange, SandboxOptions, SandboxState, SandboxStateError } from "effect-pix/sandbox"
import { Effect, Exit, Fiber, Layer, Redacted, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { charge } from "../support/charges.ts"
import { charge as request, withdrawal } from "../support/operations.ts"
import { serveRaw } from "../support/RawServer.ts"

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
    fetch(`${baseUrl}/_sandbox/transactions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ amount: 2500 })
    })
  )
  const { transactionId } = yield* Effect.promise(() => answer.json())
  return String(transactionId)
})

describe("a snapshot", () => {
  it.effect("a snapshot has a boleto, which never lapses, and can be paid after the snapshot is restored", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const { id } = yield* payments.createTransaction({ ...request, paymentMethod: "BOLETO" })
      yield* sandbox.restore(yield* sandbox.snapshot)
      yield* sandbox.advance("400 days")
      assert.strictEqual((yield* sandbox.markPaid(id)).status, "Paid")
    }).pipe(Effect.provide(memory()))
  )

  it.effect("a snapshot has the ledger, keys, credentials, PIX key and clock, and another sandbox can restore it", () =>
    Effect.gen(function* () {
      const state = yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const { id } = yield* charge
        yield* charge
        yield* sandbox.markPaid(id)
        yield* payout("wd_kept")
        yield* sandbox.removePixKey
        yield* sandbox.rotateCredentials
        yield* sandbox.advance("1 hour")
        return yield* sandbox.snapshot
      }).pipe(Effect.provide(memory()))
      const json = yield* Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(SandboxState)))(state)
      const read = yield* Schema.decodeEffect(Schema.fromJsonString(Schema.toCodecJson(SandboxState)))(json)
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* sandbox.restore(read)
        assert.strictEqual(yield* sandbox.balance, 1500)
        assert.deepStrictEqual(
          (yield* sandbox.transactions).map(({ status }) => status),
          ["Paid", "Awaiting"]
        )
        assert.strictEqual(Redacted.value((yield* sandbox.credentials).apiKey), "sandbox-key-1")
        assert.deepStrictEqual(Redacted.value((yield* sandbox.snapshot).state), Redacted.value(read.state))
        yield* TestClock.adjust("23 hours")
        const [, lapsed] = yield* sandbox.transactions
        assert.strictEqual(lapsed?.status, "Cancelled")
      }).pipe(Effect.provide(memory()))
    })
  )

  it.live("a snapshot has the webhooks, and those that were taken are not sent again", () =>
    Effect.gen(function* () {
      const target = yield* serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* sandbox.sendWebhook({ order: 7 })
        yield* sandbox.awaitWebhooks
        yield* sandbox.restore(yield* sandbox.snapshot)
        yield* sandbox.sendWebhook({ order: 8 })
        yield* sandbox.awaitWebhooks
        assert.deepStrictEqual(
          (yield* sandbox.webhooks).map(({ attempts, state }) => [state, attempts.length]),
          [
            ["Taken", 1],
            ["Taken", 1]
          ]
        )
      }).pipe(Effect.provide(memory({ webhookUrl: `http://127.0.0.1:${target.port}/hook` })))
      assert.strictEqual(target.requests(), 2)
    })
  )

  it.effect("a snapshot has the used keys: the same write is answered again, and executed once", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const first = yield* payout("wd_kept")
      yield* sandbox.restore(yield* sandbox.snapshot)
      assert.strictEqual((yield* payout("wd_kept")).id, first.id)
      assert.strictEqual((yield* sandbox.withdrawals).length, 1)
    }).pipe(Effect.provide(memory({ balance: 5000 })))
  )

  it.effect("a snapshot prints none of its content", () =>
    Effect.gen(function* () {
      yield* charge
      const state = yield* (yield* Sandbox).snapshot
      assert.notMatch(`${inspect(state, { depth: 9 })}${JSON.stringify(state)}`, /Maria|sandbox-key|2500/)
    }).pipe(Effect.provide(memory()))
  )
})

describe("a state file", () => {
  it.live("a state file is written whole, and read at the next start, which makes other ids", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const stateFile = join(path, "state.json")
      const first = yield* served({ stateFile }, steer)
      assert.deepStrictEqual(readdirSync(path), ["state.json"])
      assert.strictEqual(JSON.parse(readFileSync(stateFile, "utf8")).version, 1)
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
  )

  const broken: ReadonlyArray<[string, string]> = [
    ["is no JSON", "{"],
    ["is of another version", '{"version":2,"state":{}}'],
    ["is something else", "[]"]
  ]
  it.live.each(broken)("a state file that %s stops the start with one sentence, and is not changed", ([, text]) =>
    Effect.gen(function* () {
      const stateFile = join(yield* folder, "state.json")
      writeFileSync(stateFile, text)
      const error = yield* Effect.flip(served({ stateFile }, Effect.void))
      assert.instanceOf(error, SandboxStateError)
      assert.include(error.message, stateFile)
      assert.strictEqual(readFileSync(stateFile, "utf8"), text)
    })
  )

  it.live("a state file that cannot be written stops the start", () =>
    Effect.gen(function* () {
      const stateFile = join(yield* folder, "missing", "state.json")
      const error = yield* Effect.flip(served({ stateFile }, Effect.void))
      assert.instanceOf(error, SandboxStateError)
      assert.include(error.message, "cannot be written")
    })
  )

  it.live("a state file that is a folder stops the start", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(served({ stateFile: yield* folder }, Effect.void))
      assert.instanceOf(error, SandboxStateError)
      assert.include(error.message, "cannot be read")
    })
  )
})

describe("ids", () => {
  it.live("ids are new at each start of a server and after a reset, unless a seed is given", () =>
    Effect.gen(function* () {
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
  )
})

describe("bounds", () => {
  it.effect("the last requests and webhooks can be read, under their first numbers", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(memory({ keep: 3 })))
  )

  it.effect("a request that is answered after it was dropped stays dropped", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(memory({ keep: 1 })))
  )
})

describe("the clock", () => {
  it.effect(
    "the clock is pushed for the sandbox alone: charges lapse in their order, and webhooks are tried again",
    () =>
      Effect.gen(function* () {
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
        assert.strictEqual(yield* TestClock.testClockWith((clock) => clock.currentTimeMillis), 0)
      }).pipe(Effect.provide(memory()))
  )

  it.effect("thousands of charges lapse, each at its time and once", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(memory()))
  )
})

describe("changes", () => {
  it.effect("changes are emitted in order, each with the next number", () =>
    Effect.gen(function* () {
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
        [
          "Request",
          "Transaction",
          "Request",
          "Transaction",
          "Balance",
          "Request",
          "Withdrawal",
          "Balance",
          "Request",
          "Settings",
          "Reset"
        ]
      )
      const numbers = emitted.map(({ sequence }) => sequence)
      const first = numbers[0] ?? 0
      assert.deepStrictEqual(
        numbers,
        numbers.map((_, index) => first + index)
      )
    }).pipe(Effect.provide(memory()))
  )
})

describe("planned faults", () => {
  it.effect("planned faults can be read, each with the number of requests that it will meet", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.fault("getBalance", Fault.html(), { times: 3 })
      yield* sandbox.fault("any", Fault.resetAfter)
      const payments = yield* Payments
      yield* Sandbox.patiently(Effect.exit(payments.listTransactions()))
      assert.deepStrictEqual(yield* sandbox.faults, [{ operation: "getBalance", fault: Fault.html(), left: 3 }])
      yield* sandbox.clearFaults
      assert.deepStrictEqual(yield* sandbox.faults, [])
    }).pipe(Effect.provide(memory()))
  )
})
