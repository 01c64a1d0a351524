import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { IdempotencyKey, Money, PixKey } from "effect-pix"
import { type PayoutItem, PayoutReport } from "effect-pix/payouts"
import {
  start,
  failing,
  failures,
  item,
  items,
  keyOf,
  make,
  makeModel,
  referencesOf,
  yields
} from "../support/payouts.ts"

describe("Payouts.run", () => {
  it.effect("pays each reference of a list under the key of its reference and reports in the order of the list", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.run(items(20))
      assert.deepStrictEqual(referencesOf(report.done), referencesOf(items(20)))
      assert.deepStrictEqual(
        report.done.map(({ idempotencyKey }) => idempotencyKey),
        items(20).map(({ reference }) => keyOf(reference))
      )
      assert.deepStrictEqual(
        [...model.ledger.keys()].toSorted(),
        report.done.map((done) => done.withdrawal.idempotencyKey).toSorted()
      )
      assert.deepStrictEqual(
        { ...report, done: [] },
        { done: [], refused: [], unknown: [], notStarted: [], repeated: [] }
      )
      assert.strictEqual(model.balances(), 0)
    })
  )

  it.effect("sends the request without its reference, so that what is sent stays within the contract", () =>
    Effect.gen(function* () {
      const model = makeModel()
      yield* model.run([item("invoice-1")])
      const [held] = model.ledger.values()
      const { reference: _, ...request } = item("invoice-1")
      assert.deepStrictEqual(held?.request, request)
    })
  )

  it.effect("makes other keys for another kind of reference", () =>
    Effect.gen(function* () {
      const model = makeModel()
      yield* model.run([item("42")], { kind: "refund" })
      assert.deepStrictEqual(model.calls, [IdempotencyKey.fromReference("refund", "42")])
    })
  )

  for (const concurrency of [undefined, 1, 7]) {
    it.effect(`has at most ${concurrency ?? "4 by default"} requests under way`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        let open = 0
        let most = 0
        const counted = make({
          ...model.operations,
          requestWithdrawal: (request, options) =>
            Effect.gen(function* () {
              most = Math.max(most, ++open)
              yield* yields(5)
              open -= 1
              return yield* model.operations.requestWithdrawal(request, options)
            })
        })
        yield* counted.run(items(30), { concurrency })
        assert.strictEqual(most, concurrency ?? 4)
      })
    )
  }

  it.effect("accounts for a mixed run: done, refused, unknown with its key, not started", () =>
    Effect.gen(function* () {
      const model = makeModel({
        script: failing({
          "invoice-1": failures.refused,
          "invoice-2": failures.unknown,
          "invoice-3": failures.conflict
        })
      })
      const report = yield* model.run(items(6), { stopOn: [] })
      assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-4", "invoice-5"])
      assert.deepStrictEqual(
        report.refused.map(({ error, index, reference }) => [index, reference, error._tag]),
        [[1, "invoice-1", "RequestRejected"]]
      )
      assert.deepStrictEqual(
        report.unknown.map(({ amount, error, idempotencyKey }) => [error._tag, idempotencyKey, amount]),
        [
          ["OutcomeUnknown", keyOf("invoice-2"), 1000],
          ["IdempotencyConflict", keyOf("invoice-3"), 1000]
        ]
      )
    })
  )
})

describe("references", () => {
  it.effect("pays an identical item once and says where the first one stands", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.run([item("a"), item("b"), { ...item("a") }, item("a")])
      assert.deepStrictEqual(referencesOf(report.done), ["a", "b"])
      assert.deepStrictEqual(report.repeated, [
        { _tag: "Repeated", index: 2, reference: "a", at: start, first: 0 },
        { _tag: "Repeated", index: 3, reference: "a", at: start, first: 0 }
      ])
      assert.strictEqual(model.calls.length, 2)
    })
  )

  it.effect("refuses the same reference for another request, and pays the first", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const other: PayoutItem = {
        reference: "a",
        amount: Money.centavos(1000),
        pixKey: PixKey.email("joao@example.com")
      }
      const report = yield* model.run([item("a"), item("a", 2000), other])
      assert.deepStrictEqual(
        report.refused.map(({ error, index }) => [index, error._tag, error.outcome]),
        [
          [1, "DuplicateReference", "NotSent"],
          [2, "DuplicateReference", "NotSent"]
        ]
      )
      assert.match(report.refused[0]?.error.message ?? "", /stands twice in this run, for two different requests/)
      assert.deepStrictEqual(
        [...model.ledger.values()].map(({ record }) => Money.format(record.value)),
        ["R$ 10,00"]
      )
    })
  )

  for (const reference of ["", " \n"]) {
    it.effect(`refuses the blank reference ${JSON.stringify(reference)} and goes on`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        const report = yield* model.run([item(reference), item("b")])
        const [refused] = report.refused
        assert.strictEqual(refused?.error._tag, "InvalidRequest")
        assert.match(refused?.error.message ?? "", /reference: must be a text that is not blank/)
        assert.isUndefined(refused?.idempotencyKey)
        assert.deepStrictEqual(referencesOf(report.done), ["b"])
      })
    )
  }

  for (const amount of [Number.NaN, -1, 10.5, Number.POSITIVE_INFINITY]) {
    it.effect(`refuses the amount ${amount}, which no limit could be held against`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        // What a caller without types may give.
        const wrong = { ...item("a"), amount: amount as Money.Centavos }
        const report = yield* model.run([wrong, item("b")], { maxTotal: Money.centavos(1000) })
        assert.deepStrictEqual(
          report.refused.map(({ error }) => error._tag),
          ["InvalidRequest"]
        )
        assert.deepStrictEqual(referencesOf(report.done), ["b"])
        assert.deepStrictEqual(model.calls, [keyOf("b")])
      })
    )
  }
})

describe("the report", () => {
  it.effect("can be stored as JSON and read back, with its errors", () =>
    Effect.gen(function* () {
      const model = makeModel({ script: failing({ "invoice-1": failures.refused, "invoice-2": failures.unknown }) })
      const report = yield* model.run([...items(4), item("invoice-0"), item("invoice-0", 2000)], {
        concurrency: 1
      })
      const codec = Schema.toCodecJson(PayoutReport)
      const json = JSON.stringify(yield* Schema.encodeEffect(codec)(report))
      const back = yield* Schema.decodeUnknownEffect(codec)(JSON.parse(json))
      expect(back).toEqual(report)
      assert.strictEqual(back.unknown[0]?.error.message, report.unknown[0]?.error.message)
      assert.notInclude(json, "maria@example.com")
    })
  )
})
