import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Money } from "effect-pix"
import { ServiceUnavailable } from "../../src/contract/PaymentsError.ts"
import { start, failing, failures, item, items, keyOf, make, makeModel, referencesOf } from "../support/payouts.ts"

describe("the limits of a run", () => {
  it.effect("do not start a payout above maxAmount, and pay the others", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.run([item("a", 5001), item("b", 5000)], {
        maxAmount: Money.centavos(5000)
      })
      assert.deepStrictEqual(report.notStarted, [
        {
          _tag: "NotStarted",
          index: 0,
          reference: "a",
          at: start,
          idempotencyKey: keyOf("a"),
          amount: Money.centavos(5001),
          reason: "OverAmount"
        }
      ])
      assert.deepStrictEqual(referencesOf(report.done), ["b"])
    })
  )

  it.effect("stop the run at the first item that exceeds maxTotal, even if a later one would fit", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.run([item("a", 2000), item("b", 1000), item("c", 1001), item("d", 1000)], {
        maxTotal: Money.centavos(4000)
      })
      assert.deepStrictEqual(referencesOf(report.done), ["a", "b"])
      assert.deepStrictEqual(
        report.notStarted.map(({ reason, reference }) => [reference, reason]),
        [
          ["c", "OverTotal"],
          ["d", "OverTotal"]
        ]
      )
    })
  )

  it.effect("start nothing of a list for which the balance is one centavo short", () =>
    Effect.gen(function* () {
      const model = makeModel({ balance: "29.99" })
      const report = yield* model.run(items(3), { checkBalance: true })
      assert.deepStrictEqual(
        report.notStarted.map(({ reason }) => reason),
        ["NotCovered", "NotCovered", "NotCovered"]
      )
      assert.deepStrictEqual(model.calls, [])
      assert.strictEqual(model.balances(), 1)
    })
  )

  it.effect(
    "start a list that the balance covers exactly, and count neither repeated items nor items above maxAmount",
    () =>
      Effect.gen(function* () {
        const model = makeModel({ balance: "30" })
        const report = yield* model.run([...items(3), ...items(3), item("big", 9000)], {
          checkBalance: true,
          maxAmount: Money.centavos(2000)
        })
        assert.strictEqual(report.done.length, 3)
        assert.strictEqual(model.balances(), 1)
      })
  )

  it.effect("compare exact reais: a balance that is a tenth of a centavo short does not cover the list", () =>
    Effect.gen(function* () {
      const short = yield* makeModel({ balance: "29.999" }).run(items(3), { checkBalance: true })
      assert.strictEqual(short.done.length, 0)
      const enough = yield* makeModel({ balance: "30.001" }).run(items(3), { checkBalance: true })
      assert.strictEqual(enough.done.length, 3)
    })
  )

  it.effect("stop a stream at the first item with which its sum exceeds the balance", () =>
    Effect.gen(function* () {
      const model = makeModel({ balance: "25" })
      const report = yield* model.run(Stream.fromIterable(items(4)), { checkBalance: true })
      assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-1"])
      assert.deepStrictEqual(
        report.notStarted.map(({ reason }) => reason),
        ["NotCovered", "NotCovered"]
      )
      assert.strictEqual(model.balances(), 1)
    })
  )

  it.effect("read no balance where checkBalance is false", () =>
    Effect.gen(function* () {
      const model = makeModel({ balance: "0" })
      const report = yield* model.run(items(2), { checkBalance: false })
      assert.deepStrictEqual([report.done.length, model.balances()], [2, 0])
    })
  )

  it.effect("read the balance of the company that is named", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const { operations } = makeModel()
      const { run } = make({
        ...operations,
        getBalance: (options) =>
          Effect.suspend(() => {
            asked.push(options)
            return operations.getBalance()
          })
      })
      yield* run(items(1), { checkBalance: { companyId: 7 } })
      assert.deepStrictEqual(asked, [{ companyId: 7 }])
    })
  )

  it.effect("start nothing when the balance cannot be read, and report the error", () =>
    Effect.gen(function* () {
      const { calls, operations } = makeModel()
      const down = new ServiceUnavailable({
        operation: "getBalance",
        attempts: 3,
        outcome: "NoEffect",
        reason: "ServerError"
      })
      const { run } = make({ ...operations, getBalance: () => Effect.fail(down) })
      const report = yield* run(items(2), { checkBalance: true })
      assert.deepStrictEqual(
        report.notStarted.map(({ error, reason }) => [reason, error]),
        [
          ["BalanceUnknown", down],
          ["BalanceUnknown", down]
        ]
      )
      assert.deepStrictEqual(calls, [])
    })
  )

  it.effect(
    "do not count what an earlier run has paid: nothing is sent for it, and the balance need not cover it",
    () =>
      Effect.gen(function* () {
        const first = makeModel({ script: failing({ "invoice-2": failures.poor }) })
        const before = yield* first.run(items(4), { concurrency: 1 })
        assert.deepStrictEqual(referencesOf(before.done), ["invoice-0", "invoice-1"])
        const second = makeModel({ balance: "20" })
        const report = yield* second.run(items(4), {
          checkBalance: true,
          previous: [...before.done, ...before.notStarted]
        })
        assert.deepStrictEqual(referencesOf(report.done), referencesOf(items(4)))
        assert.deepStrictEqual(second.calls.toSorted(), [keyOf("invoice-2"), keyOf("invoice-3")].toSorted())
      })
  )
})
