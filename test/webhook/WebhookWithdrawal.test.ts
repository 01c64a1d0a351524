import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Schedule, type Scope } from "effect"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { centavos } from "../../src/pix/Money.ts"
import { charge, lookups } from "../support/charges.ts"
import { isWithdrawal, recording, world } from "../support/webhooks.ts"

const test = (name: string, effect: Effect.Effect<void, unknown, Scope.Scope | Layer.Success<typeof world>>) =>
  it.effect(name, () => effect.pipe(Effect.provide(world)))

describe("a hint about a withdrawal", () => {
  test(
    "it is never confirmed, whatever it claims and whatever transaction it names",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post, reports } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const calls = [
        { id: 1, idempotencyKey: "wd_1", enTransaction: "Paid" },
        { withdrawalId: 1, status: "Paid", transactionId: id },
        { event: "withdrawal.paid", data: { id, status: "Paid" } },
        { withdrawal: { id: 1, status: "Paid" }, transaction: { id, status: "Paid" } },
        { transactionId: id, idempotencyKey: "wd_2", status: "Paid" }
      ]
      for (const call of calls) assert.strictEqual(yield* post(call), 200)
      yield* idle
      assert.deepStrictEqual(events, [])
      assert.strictEqual(reports.length, calls.length)
      assert.isTrue(reports.every(isWithdrawal))
      assert.strictEqual(yield* lookups, 0)
    })
  )

  test(
    "it comes with the evidence there is: the user's note, whether the metadata is the same, and the balance",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      yield* sandbox.credit(5000)
      const note = { amount: centavos(1000), metadata: { invoice: "A-42" } }
      const { id } = yield* payments.requestWithdrawal(
        { ...note, pixKey: "maria@example.com", pixKeyType: "EMAIL" },
        { idempotencyKey: "payout-key" }
      )
      const { events, idle, post, reports } = yield* recording({
        noted: ({ idempotencyKey, withdrawalId }) =>
          Effect.succeed(idempotencyKey === "payout-key" || withdrawalId === id ? note : undefined)
      })
      const other = yield* charge
      yield* sandbox.markPaid(other.id)
      const depth = 10_000
      const calls = [
        { idempotencyKey: "payout-key", status: "Paid", metadata: '{"invoice":"A-42"}' },
        { withdrawalId: id, status: "Paid", metadata: { invoice: "B-1" } },
        `{"withdrawalId":${id},"metadata":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`,
        { transactionId: other.id, idempotencyKey: "payout-key" },
        { withdrawalId: id + 1, metadata: {} }
      ]
      for (const call of calls) {
        assert.strictEqual(yield* post(call), 200)
        yield* idle
      }
      assert.deepStrictEqual(events, [])
      const evidence = reports.filter(isWithdrawal).map((report) => report.evidence)
      assert.deepStrictEqual(
        evidence.map(({ noted, sameMetadata }) => ({ noted, sameMetadata })),
        [
          { noted: note, sameMetadata: true },
          { noted: note, sameMetadata: false },
          { noted: note, sameMetadata: false },
          { noted: note, sameMetadata: undefined },
          { noted: undefined, sameMetadata: undefined }
        ]
      )
      const balance = yield* evidence[0]?.balance ?? Effect.die("no evidence")
      assert.strictEqual(String(balance.companyId), String(sandbox.companyId))
    })
  )

  test(
    "a call that is repeated is reported again, with the same id",
    Effect.gen(function* () {
      const { idle, post, reports } = yield* recording()
      for (const status of ["Paid", "Paid", "Failed"]) {
        yield* post({ withdrawalId: 9, status })
        yield* idle
      }
      assert.deepStrictEqual(
        reports.map((report) => report.untrusted.status),
        ["Paid", "Paid", "Failed"]
      )
      const [first, second, third] = reports.map(({ id }) => id)
      assert.strictEqual(first, second)
      assert.notStrictEqual(second, third)
    })
  )

  test(
    "a report that nobody takes is a dead letter",
    Effect.gen(function* () {
      const { deadLetters, idle, post } = yield* recording({
        onUnconfirmed: () => Effect.fail("never"),
        retry: Schedule.recurs(0)
      })
      yield* post({ withdrawalId: 9 })
      yield* idle
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ about, handler }) => [about, handler]),
        [["Withdrawal", "onUnconfirmed"]]
      )
    })
  )
})
