import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, References, Schema } from "effect"
import { IdempotencyKey, Money, PaymentsPolicy, PixKey } from "effect-pix"
import { type PayoutItem, PayoutReport, Payouts } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
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

  it.effect("makes the keys of another kind from the same references", () =>
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

  it.effect("reports what is done, refused and unknown, each with its error and its key", () =>
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
  it.effect("pays an identical item once and reports the index of the first one", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.run([item("a"), item("b"), { ...item("a") }, item("a")])
      assert.deepStrictEqual(referencesOf(report.done), ["a", "b"])
      const repeated = {
        _tag: "Repeated",
        reference: "a",
        at: start,
        idempotencyKey: keyOf("a"),
        amount: Money.centavos(1000),
        first: 0
      } as const
      assert.deepStrictEqual(report.repeated, [
        { ...repeated, index: 2 },
        { ...repeated, index: 3 }
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
      assert.match(
        report.refused[0]?.error.message ?? "",
        /reference a was given before in this run, at index 0, for a different/
      )
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
        assert.match(refused?.error.message ?? "", /reference must be a text that is not blank/)
        assert.isUndefined(refused?.idempotencyKey)
        assert.deepStrictEqual(referencesOf(report.done), ["b"])
      })
    )
  }

  for (const amount of [Number.NaN, -1, 10.5, Number.POSITIVE_INFINITY]) {
    it.effect(`refuses the amount ${amount}, which cannot be compared with a limit`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        // A caller without types may give anything.
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
  it.effect("names the reference and the amount of every payout, whatever became of it", () =>
    Effect.gen(function* () {
      const script = failing({ b: failures.refused, c: failures.unknown })
      const list = [
        item("a"),
        item("b", 1001),
        item("a"),
        item("a", 1002),
        item(" ", 1003),
        item("c", 1004),
        item("d", 1005)
      ]
      const report = yield* makeModel({ script }).run(list, { concurrency: 1 })
      const results = Object.values({ ...report }).flat()
      assert.deepStrictEqual(
        results.toSorted((a, b) => a.index - b.index).map(({ _tag, amount, reference }) => [_tag, reference, amount]),
        [
          ["Done", "a", Money.centavos(1000)],
          ["Refused", "b", Money.centavos(1001)],
          ["Repeated", "a", Money.centavos(1000)],
          ["Refused", "a", Money.centavos(1002)],
          ["Refused", " ", Money.centavos(1003)],
          ["Unknown", "c", Money.centavos(1004)],
          ["NotStarted", "d", Money.centavos(1005)]
        ]
      )
    })
  )

  it.effect("is read as its events where it is the `previous` of a later run", () =>
    Effect.gen(function* () {
      const first = yield* makeModel({ script: failing({ b: failures.refused }) }).run([item("a"), item("b")])
      const model = makeModel()
      const report = yield* model.run([item("a"), item("b")], { previous: first })
      assert.deepStrictEqual(referencesOf(report.done), ["a", "b"])
      assert.deepStrictEqual(model.calls, [keyOf("b")])
    })
  )

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

describe("the log of a run", () => {
  it.effect("names the reference and the amount of the payout that a warning of the client is about", () =>
    Effect.gen(function* () {
      const lines: Array<Record<string, unknown>> = []
      const logger = Logger.make(({ fiber }) => {
        lines.push({ ...fiber.getRef(References.CurrentLogAnnotations) })
      })
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      const run = Payouts.run([item("invoice-7", 2500)]).pipe(
        Effect.provide([PaymentsPolicy.layer(PaymentsPolicy.once), Logger.layer([logger])])
      )
      assert.deepStrictEqual(referencesOf((yield* run).unknown), ["invoice-7"])
      assert.deepStrictEqual(
        lines.map((attributes) => [attributes["payments.reference"], attributes["payments.amount"]]),
        [["invoice-7", 2500]]
      )
    }).pipe(Effect.provide(Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 50_000 }))))
  )
})
