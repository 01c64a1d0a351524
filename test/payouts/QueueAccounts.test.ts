/**
 * Several accounts on one database: whose payouts they are, and under which client id they are sent.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { IdempotencyKey, PaymentsPolicy } from "effect-pix"
import { PayoutInsert, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeBank } from "../support/bank.ts"
import { databases } from "../support/database.ts"
import { makeWarnings, memory, payout, payouts, settle } from "../support/payoutQueue.ts"
import { live } from "../support/effect.ts"

type Client = ReturnType<ReturnType<typeof makeBank>["makeClient"]>

/** A worker of a client on the database of the test; it ends with the scope. */
const begin = (client: Client, options: PayoutQueueOptions = {}) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const layer = PayoutQueue.layer(options).pipe(
      Layer.provide([client.layer, PaymentsPolicy.layer(PaymentsPolicy.once), Layer.succeed(SqlClient.SqlClient, sql)])
    )
    return Context.get(yield* Layer.build(layer), PayoutQueue)
  })

/** Runs a worker until it is stopped. */
const stoppable = (client: Client, options: PayoutQueueOptions = {}) =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const queue = yield* Scope.provide(begin(client, options), scope)
    return { queue, stop: Scope.close(scope, Exit.void) }
  })

const stateOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.status(reference), (found) => {
    const status = Option.getOrThrow(found)
    return "because" in status ? `${status.state} ${status.because}` : status.state
  })

const test = (name: string, effect: Effect.Effect<void, unknown, Scope.Scope | SqlClient.SqlClient>) =>
  it.effect(name, () => effect.pipe(Effect.scoped, Effect.provide(Layer.fresh(memory))))

describe("two accounts", () => {
  for (const { client: database, name, skip } of databases) {
    live.skipIf(skip)(
      `on one database are each paid by their own client id, each payout once, on ${name}`,
      database(),
      function* () {
        // Every third answer is lost.
        const bank = makeBank((_, index) => (index % 3 === 0 ? "lose the answer" : undefined))
        const shops = yield* begin(bank.makeClient("client-a"), { account: "shops", poll: "50 millis" })
        const ours = yield* begin(bank.makeClient("client-b"), { poll: "50 millis" })
        yield* shops.submitMany(payouts(10))
        yield* ours.submitMany(payouts(10, 2000))
        for (const queue of [shops, ours]) {
          for (const { reference } of payouts(10)) {
            assert.strictEqual((yield* queue.await(reference)).state, "posted")
          }
          assert.strictEqual(yield* Stream.runCount(queue.list()), 10)
        }
        const amounts = (clientId: string) =>
          [...bank.paid.values()].filter((one) => one.clientId === clientId).map(({ amount }) => amount)
        assert.deepStrictEqual(
          amounts("client-a"),
          Array.from({ length: 10 }, () => 1000)
        )
        assert.deepStrictEqual(
          amounts("client-b"),
          Array.from({ length: 10 }, () => 2000)
        )
        assert.strictEqual(new Set([...bank.paid.values()].map(({ key }) => key)).size, 20)
      }
    )
  }

  test(
    "have their own pause, their own history and their own cap of a day",
    Effect.gen(function* () {
      const bank = makeBank()
      const shops = yield* begin(bank.makeClient("client-a"), { account: "shops", dailyCap: 1000 })
      const ours = yield* begin(bank.makeClient("client-b"), { dailyCap: 1000 })
      yield* shops.setPaused(true, { by: "ana", note: "a wrong sheet" })
      yield* Effect.forEach([shops, ours], (queue) => queue.submitMany(payouts(2)))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(
        bank.received.map(({ clientId }) => clientId),
        ["client-b"]
      )
      yield* shops.setPaused(false)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(
        bank.received.map(({ clientId }) => clientId),
        ["client-b", "client-a"]
      )
      const { lastPause } = yield* shops.account
      assert.isFalse(lastPause?.paused)
      assert.isUndefined((yield* ours.account).lastPause)
      const changes = yield* Effect.forEach([shops, ours], (queue) =>
        Effect.forEach(payouts(2), ({ reference }) => queue.history(reference))
      )
      assert.deepStrictEqual(
        changes.map((ofAccount) => ofAccount.flat().filter(({ _tag }) => _tag === "Marked").length),
        [1, 1]
      )
    })
  )

  test(
    "of one client id are refused: the second worker does not start",
    Effect.gen(function* () {
      const bank = makeBank()
      yield* begin(bank.makeClient("client-a", { companyId: 1 }), { account: "shops" })
      const error = yield* Effect.flip(begin(bank.makeClient("client-a", { companyId: 1 }), { account: "outlet" }))
      assert(error._tag === "ConfigurationError")
      assert.include(error.message, "those of the account shops")
      // Nobody serves it: a submit to it has to be logged.
      const outlet = yield* Effect.provide(PayoutQueue, PayoutQueue.layerClient({ account: "outlet" }))
      assert.isUndefined((yield* outlet.account).servedAt)
    })
  )
})

describe("two accounts whose company is not known", () => {
  test(
    "are named in an error when the first withdrawals show that it is one company",
    Effect.gen(function* () {
      const bank = makeBank()
      const { layer, lines } = makeWarnings()
      const [one, other] = [bank.makeClient("client-a"), bank.makeClient("client-a")]
      yield* other.use("client-a", "sk_2")
      yield* Effect.gen(function* () {
        const shops = yield* begin(one, { account: "shops" })
        const outlet = yield* begin(other, { account: "outlet" })
        for (const queue of [shops, outlet]) {
          yield* queue.submit(payout("invoice-1"))
          assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
        }
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(lines, ["The accounts outlet and shops are paid by one company."])
    })
  )
})

describe("the key of a reference", () => {
  test(
    "differs in each account, whatever the names and the references are",
    Effect.gen(function* () {
      const bank = makeBank()
      const keys = new Set<string>()
      const references = ["b", "a/b", "a.b", "payout-account", "b/c", "a/b/c"]
      const accounts = [undefined, "a", "a.b", "A", "b"]
      for (const account of accounts) {
        const queue = yield* Effect.provide(PayoutQueue, PayoutQueue.layerClient({ account }))
        for (const reference of references) {
          const { idempotencyKey } = yield* queue.submit(payout(reference))
          keys.add(idempotencyKey)
          const { parameters } = yield* Effect.fromResult(
            PayoutInsert.make(payout(reference), { dialect: "sqlite", account })
          )
          assert.deepStrictEqual(parameters.slice(0, 3), [account ?? "default", idempotencyKey, reference])
        }
      }
      assert.strictEqual(keys.size, references.length * accounts.length)
      assert.strictEqual(bank.received.length, 0)
      // Frozen: with another key the service would pay again.
      const queue = yield* Effect.provide(PayoutQueue, PayoutQueue.layerClient({ account: "a" }))
      assert.strictEqual(
        (yield* queue.submit(payout("b"))).idempotencyKey,
        IdempotencyKey.fromReference("payout-account", "a/b")
      )
      assert.strictEqual(
        IdempotencyKey.fromReference("payout-account", "a/b"),
        "payout-account_4f62575fce831d212295a51591ed5cc307863c5a"
      )
    })
  )

  test(
    "needs a name of the account without a slash, a space or an accent",
    Effect.gen(function* () {
      for (const account of ["", "a/b", " a", "ação", "-a", "x".repeat(33)]) {
        const error = yield* Effect.flip(Effect.provide(PayoutQueue, PayoutQueue.layerClient({ account })))
        assert(error._tag === "ConfigurationError")
        assert.strictEqual(error.settings[0]?.setting, "account")
        const refused = yield* Effect.flip(
          Effect.fromResult(PayoutInsert.make(payout("b"), { dialect: "pg", account }))
        )
        assert.strictEqual(refused._tag, "InvalidRequest")
      }
    })
  )
})

describe("a worker of another client id", () => {
  for (const [name, other] of [
    ["client id", (bank: ReturnType<typeof makeBank>) => bank.makeClient("client-b", { companyId: 1 })],
    ["company", (bank: ReturnType<typeof makeBank>) => bank.makeClient("client-a", { companyId: 2 })],
    [
      "base URL",
      (bank: ReturnType<typeof makeBank>) =>
        bank.makeClient("client-a", { companyId: 1, baseUrl: "https://staging.example" })
    ]
  ] as const) {
    test(
      `does not start where the account has another ${name}, and names both fingerprints and the step`,
      Effect.gen(function* () {
        const bank = makeBank()
        const { queue, stop } = yield* stoppable(bank.makeClient("client-a", { companyId: 1 }))
        const { fingerprint } = yield* queue.account
        yield* stop
        const client = yield* Effect.provide(PayoutQueue, PayoutQueue.layerClient())
        yield* client.submit(payout("invoice-1"))
        const sql = yield* SqlClient.SqlClient
        const stored = sql`SELECT * FROM effect_pix_payout_accounts`
        const before = yield* stored
        const error = yield* Effect.flip(begin(other(bank), { horizon: "1 minute" }))
        assert(error._tag === "ConfigurationError")
        assert.include(error.message, `fingerprint ${fingerprint}`)
        assert.include(error.message, "effect-pix payouts change-sender")
        // Not the horizon either, by which an operator's steps are judged.
        assert.deepStrictEqual(yield* stored, before)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(bank.received.length, 0)
      })
    )
  }

  test(
    "starts after an operator's change, which is stored once with who and why",
    Effect.gen(function* () {
      const bank = makeBank()
      const { queue, stop } = yield* stoppable(bank.makeClient("client-a", { companyId: 1 }))
      yield* queue.submit(payout("invoice-1"))
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
      yield* stop
      const other = bank.makeClient("client-b", { companyId: 2 })
      const error = yield* Effect.flip(begin(other))
      const fingerprint = /than those of this worker \(([0-9a-f]{40})\)/.exec(error.message)?.[1] ?? ""
      const client = yield* Effect.provide(PayoutQueue, PayoutQueue.layerClient())
      for (const wrong of ["", "client-b", "F".repeat(40)]) {
        assert.strictEqual((yield* Effect.flip(client.changeSender(wrong)))._tag, "InvalidRequest")
      }
      for (const by of ["ana", "bia"]) yield* client.changeSender(fingerprint, { by, note: "ticket 812" })
      const { changes, ...account } = yield* client.account
      assert.strictEqual(account.fingerprint, fingerprint)
      const shops = yield* Effect.provide(PayoutQueue, PayoutQueue.layerClient({ account: "shops" }))
      const taken = yield* Effect.flip(shops.changeSender(fingerprint))
      assert.include(taken.message, "is that of the account default")
      assert.deepStrictEqual(
        changes.map(({ by, note, step }) => [step, by, note]),
        [["Changed", "ana", "ticket 812"]]
      )
      const again = yield* begin(other)
      yield* again.submit(payout("invoice-2"))
      assert.strictEqual((yield* again.await("invoice-2")).state, "posted")
      assert.strictEqual(
        (yield* Effect.flip(begin(bank.makeClient("client-a", { companyId: 1 }))))._tag,
        "ConfigurationError"
      )
    })
  )
})

describe("a running worker that has just read its account", () => {
  test(
    "sends nothing from the moment at which a pause or another sender is stored",
    Effect.gen(function* () {
      const bank = makeBank()
      const queue = yield* begin(bank.makeClient("client-a", { companyId: 1 }))
      const sendOne = (reference: string) =>
        Effect.gen(function* () {
          yield* queue.submit(payout(reference))
          yield* settle
          return bank.received.length
        })
      assert.strictEqual(yield* sendOne("first"), 1)
      yield* queue.setPaused(true)
      assert.strictEqual(yield* sendOne("paused"), 1)
      yield* queue.setPaused(false)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* sendOne("second"), 3)
      yield* queue.changeSender("a".repeat(40))
      assert.strictEqual(yield* sendOne("third"), 3)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(bank.received.length, 3)
    })
  )
})

describe("credentials that change while a worker runs", () => {
  test(
    "send nothing under another client id: what is in doubt is parked, and the rest waits for the right ones",
    Effect.gen(function* () {
      let isDown = true
      const bank = makeBank(() => (isDown ? "lose the answer" : undefined))
      const client = bank.makeClient("client-a", { companyId: 1 })
      const queue = yield* begin(client)
      yield* queue.submit(payout("lost"))
      yield* settle
      assert.strictEqual(yield* stateOf(queue, "lost"), "unknown")
      isDown = false
      yield* client.use("client-b")
      yield* queue.submit(payout("new"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* stateOf(queue, "lost"), "parked OtherClientId")
      const waiting = Option.getOrThrow(yield* queue.status("new"))
      assert.isTrue(waiting._tag === "Accepted" && waiting.waitsFor === "OtherClientId")
      assert.deepStrictEqual([...new Set(bank.received.map(({ clientId }) => clientId))], ["client-a"])
      yield* client.use("client-a")
      yield* TestClock.adjust("6 minutes")
      assert.strictEqual(yield* stateOf(queue, "new"), "posted")
      yield* queue.resume("lost")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(queue, "lost"), "posted")
      assert.strictEqual(bank.paid.size, 2)
    })
  )

  test(
    "between the mark and the request send nothing: they are compared before the first byte",
    Effect.gen(function* () {
      const bank = makeBank()
      // A worker reads them when it starts and before the mark. The attempt reads them again.
      const client = bank.makeClient("client-a", {
        companyId: 1,
        onRead: (read) => (read === 3 ? "client-b" : undefined)
      })
      const queue = yield* begin(client)
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("1 minute")
      const waiting = Option.getOrThrow(yield* queue.status("invoice-1"))
      assert.isTrue(waiting._tag === "Accepted" && waiting.waitsFor === "OtherClientId")
      assert.isTrue(waiting._tag === "Accepted" && waiting.mayHaveLeftAt === undefined)
      assert.strictEqual(bank.received.length, 0)
    })
  )

  test(
    "between the mark and the repeated request of one in doubt send nothing, and it is parked",
    Effect.gen(function* () {
      const bank = makeBank(() => "lose the answer")
      const client = bank.makeClient("client-a", {
        companyId: 1,
        onRead: (read) => (read === 5 ? "client-b" : undefined)
      })
      const queue = yield* begin(client)
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* stateOf(queue, "invoice-1"), "parked OtherClientId")
      assert.strictEqual(bank.received.length, 1)
    })
  )

  test(
    "of a meant change leave what is in doubt parked, until a person says that it was not executed",
    Effect.gen(function* () {
      const bank = makeBank(({ clientId }) => (clientId === "client-a" ? "no connection" : undefined))
      const lost = makeBank(() => "lose the answer")
      const { queue: first, stop } = yield* stoppable(lost.makeClient("client-a", { companyId: 1 }))
      yield* first.submit(payout("lost"))
      yield* settle
      yield* stop
      const other = bank.makeClient("client-b", { companyId: 2 })
      const error = yield* Effect.flip(begin(other))
      const fingerprint = /than those of this worker \(([0-9a-f]{40})\)/.exec(error.message)?.[1] ?? ""
      yield* (yield* Effect.provide(PayoutQueue, PayoutQueue.layerClient())).changeSender(fingerprint)
      const queue = yield* begin(other)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* stateOf(queue, "lost"), "parked OtherClientId")
      yield* queue.resume("lost")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(queue, "lost"), "parked OtherClientId")
      assert.strictEqual(bank.received.length, 0)
      yield* TestClock.adjust("2 minutes")
      yield* queue.resume("lost", { notExecuted: true, by: "ana" })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(queue, "lost"), "posted")
      assert.deepStrictEqual(
        [...bank.paid.values()].map(({ clientId }) => clientId),
        ["client-b"]
      )
    })
  )

  test(
    "of a new secret change nothing once a withdrawal has shown the company",
    Effect.gen(function* () {
      let isDown = false
      const bank = makeBank(() => (isDown ? "lose the answer" : undefined))
      const client = bank.makeClient("client-a")
      const { queue, stop } = yield* stoppable(client)
      const before = (yield* queue.account).fingerprint
      yield* queue.submit(payout("first"))
      assert.strictEqual((yield* queue.await("first")).state, "posted")
      const { companyId, fingerprint } = yield* queue.account
      assert.strictEqual(companyId, 1)
      assert.notStrictEqual(fingerprint, before)
      isDown = true
      yield* queue.submit(payout("lost"))
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* stateOf(queue, "lost"), "unknown")
      isDown = false
      yield* client.use("client-a", "sk_2")
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* stateOf(queue, "lost"), "posted")
      assert.strictEqual(bank.paid.size, 2)
      yield* stop
      yield* begin(client)
    })
  )

  test(
    "of a new secret send nothing again that is in doubt while no company is known",
    Effect.gen(function* () {
      let isDown = true
      const bank = makeBank(() => (isDown ? "lose the answer" : undefined))
      const client = bank.makeClient("client-a")
      const queue = yield* begin(client)
      yield* queue.submit(payout("lost"))
      yield* settle
      isDown = false
      yield* client.use("client-a", "sk_2")
      const sent = bank.received.length
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* stateOf(queue, "lost"), "parked OtherClientId")
      assert.strictEqual(bank.received.length, sent)
    })
  )
})

describe("an account that no worker ever served", () => {
  test(
    "is named in a warning when a payout is submitted to it, once a minute",
    Effect.gen(function* () {
      const { layer, lines } = makeWarnings()
      const submitting = Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* Effect.forEach(payouts(5), queue.submit)
      }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient({ account: "shosp" }), layer)))
      yield* submitting
      assert.deepStrictEqual(lines, ["Payouts are submitted to the account shosp, which no worker ever served."])
      lines.length = 0
      yield* begin(makeBank().makeClient("client-a"), { account: "shosp" })
      yield* submitting
      assert.deepStrictEqual(lines, [])
    })
  )
})
