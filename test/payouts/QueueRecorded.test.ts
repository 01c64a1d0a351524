/**
 * What the record of a withdrawal says of its payee, its company and its state.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, type Scope } from "effect"
import { Document, PaymentsPolicy } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeBank } from "../support/bank.ts"
import { makeWarnings, memory, payout, settle } from "../support/payoutQueue.ts"

/** A queue at a gateway that executes every request. Its records have these fields too. */
const queueAt = (record: (index: number) => object, options: PayoutQueueOptions = {}) =>
  Effect.gen(function* () {
    const bank = makeBank(({ amount, key }, index) => ({
      status: 201,
      body: {
        id: 70 + index,
        companyId: 1,
        idempotencyKey: key,
        value: amount / 100,
        enTransaction: "Awaiting",
        ...record(index)
      }
    }))
    const sql = yield* SqlClient.SqlClient
    const layer = PayoutQueue.layer(options).pipe(
      Layer.provide([
        bank.makeClient("client-a").layer,
        PaymentsPolicy.layer(PaymentsPolicy.once),
        Layer.succeed(SqlClient.SqlClient, sql)
      ])
    )
    return { bank, sql, queue: Context.get(yield* Layer.build(layer), PayoutQueue) }
  })

const test = (name: string, effect: Effect.Effect<void, unknown, Scope.Scope | SqlClient.SqlClient>) =>
  it.effect(name, () => effect.pipe(Effect.scoped, Effect.provide(Layer.fresh(memory))))

const statusOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.status(reference), Option.getOrThrow)

/** `payout` pays maria@example.com. */
const others = { pixKey: "carlos@example.com", creditorDocument: "11144477735" }

describe("a record of a withdrawal", () => {
  const warnings = makeWarnings()
  test(
    "for another PIX key parks the payout at once as OtherPayee, with its doubt, and stops no other payout",
    Effect.gen(function* () {
      const { bank, queue } = yield* queueAt((index) => (index === 0 ? others : {}))
      yield* queue.submit(payout("wrong"))
      yield* settle
      yield* queue.submit(payout("right"))
      yield* settle
      const wrong = yield* statusOf(queue, "wrong")
      assert.deepInclude(wrong, { state: "parked", because: "OtherPayee" })
      assert.isTrue("mayHaveLeftAt" in wrong)
      assert.strictEqual((yield* statusOf(queue, "right")).state, "posted")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(bank.received.length, 2)
      assert.isFalse(yield* queue.isPaused)
      const line = warnings.lines.find((line) => line.includes("another PIX key")) ?? ""
      assert.include(line, "MONEY MAY HAVE MOVED")
      assert.notInclude(warnings.lines.join("\n"), "carlos")
      const changes = yield* queue.history("wrong")
      assert.notInclude(JSON.stringify([wrong, changes]), "carlos")
    }).pipe(Effect.provide(warnings.layer))
  )

  test(
    "for another company than that of the account's first one parks the payout as OtherPayee and pauses the account",
    Effect.gen(function* () {
      const { bank, queue } = yield* queueAt((index) => (index === 0 ? {} : { companyId: 2 }))
      yield* queue.submit(payout("first"))
      yield* settle
      yield* queue.submit(payout("second"))
      yield* settle
      assert.strictEqual((yield* statusOf(queue, "first")).state, "posted")
      assert.deepInclude(yield* statusOf(queue, "second"), { state: "parked", because: "OtherPayee" })
      assert.isTrue(yield* queue.isPaused)
      assert.include((yield* queue.account).lastPause?.note ?? "", "another company")
      yield* queue.submit(payout("third"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(bank.received.length, 2)
    })
  )

  test(
    "names a payee that is stored under the seal, compared with Document.matches, and deleted with the request",
    Effect.gen(function* () {
      const seal = {
        seal: (text: string, reference: string) => Effect.succeed(`${reference}:${btoa(text)}`),
        open: (sealed: string, reference: string) => Effect.sync(() => atob(sealed.slice(reference.length + 1)))
      }
      const { queue, sql } = yield* queueAt(
        () => ({ creditorDocument: "***.982.247-**", pixKey: "maria@example.com" }),
        {
          seal,
          forget: { data: "1 hour" },
          poll: "5 minutes",
          lease: "10 minutes"
        }
      )
      yield* queue.submit(payout("invoice-1"))
      assert.isTrue(Option.isNone(yield* queue.payee("invoice-1")))
      yield* settle
      const payee = Option.getOrThrow(yield* queue.payee("invoice-1"))
      assert.deepStrictEqual(payee, { creditorDocument: "***.982.247-**", pixKey: "maria@example.com" })
      assert.isTrue(Document.matches(payee.creditorDocument, Document.cpf("529.982.247-25")))
      const rows = JSON.stringify(yield* sql`SELECT * FROM effect_pix_payouts, effect_pix_payout_history`)
      assert.notInclude(rows, "982.247")
      assert.notInclude(rows, "maria")
      yield* TestClock.adjust("3 hours")
      assert.isTrue(Option.isNone(yield* queue.payee("invoice-1")))
      assert.isTrue(Option.isNone(yield* queue.payee("never submitted")))
    })
  )

  test(
    "is stored without its payee where the seal fails",
    Effect.gen(function* () {
      let seals = 0
      const seal = {
        seal: (text: string) => (seals++ === 0 ? Effect.succeed(text) : Effect.die("no key service")),
        open: (text: string) => Effect.succeed(text)
      }
      const { queue } = yield* queueAt(() => ({ creditorDocument: "52998224725" }), { seal })
      yield* queue.submit(payout("invoice-1"))
      yield* settle
      assert.deepInclude(yield* statusOf(queue, "invoice-1"), { state: "posted", withdrawalId: 70 })
      assert.isTrue(Option.isNone(yield* queue.payee("invoice-1")))
    })
  )

  for (const [enTransaction, stored] of [
    ["Awaiting", "Awaiting"],
    ["MARIA", undefined],
    ["paid to CPF 52998224725", undefined]
  ] as const) {
    test(
      `of the state "${enTransaction}" is posted, and its status shows ${stored === undefined ? "no such text" : "that word"}`,
      Effect.gen(function* () {
        const { queue } = yield* queueAt(() => ({ enTransaction }))
        yield* queue.submit(payout("invoice-1"))
        yield* settle
        const status = yield* statusOf(queue, "invoice-1")
        assert.strictEqual(status.state, "posted")
        assert.strictEqual("withdrawalStatus" in status ? status.withdrawalStatus : undefined, stored)
      })
    )
  }
})
