import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Queue, Stream } from "effect"
import type { RequestWithdrawalError, WithdrawalRequest } from "effect-pix"
import type { PayoutItem, Payouts } from "effect-pix/payouts"
import {
  tagsOf,
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

describe("a stop of a run", () => {
  const one = { concurrency: 1 } as const

  for (const [name, stop] of Object.entries({
    "the first unknown outcome": failures.unknown,
    "an idempotency conflict": failures.conflict,
    "an insufficient balance": failures.poor,
    "refused credentials": failures.auth,
    "a rate limit": failures.throttled,
    "a connection that cannot be made": failures.down,
    "a redirect": failures.redirected
  })) {
    it.effect(`starts nothing more after ${name}, and reports each item that is left`, () =>
      Effect.gen(function* () {
        const model = makeModel({ script: failing({ "invoice-2": stop }) })
        const report = yield* model.run(items(5), one)
        assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-1"])
        assert.deepStrictEqual(
          report.notStarted.map(({ error, idempotencyKey, reason, reference }) => [
            reference,
            reason,
            error,
            idempotencyKey
          ]),
          ["invoice-3", "invoice-4"].map((reference) => [
            reference,
            "Stopped",
            [...report.refused, ...report.unknown][0]?.error,
            keyOf(reference)
          ])
        )
        assert.strictEqual(model.calls.length, 3)
      })
    )
  }

  it.effect("does not happen after a payout that was only refused", () =>
    Effect.gen(function* () {
      const report = yield* makeModel({ script: failing({ "invoice-2": failures.refused }) }).run(items(5), one)
      assert.strictEqual(report.done.length, 4)
    })
  )

  it.effect("happens where `stopOn` says: at a tag, an outcome, or by a predicate", () =>
    Effect.gen(function* () {
      const policies: ReadonlyArray<Payouts.Options["stopOn"]> = [
        ["ServiceUnavailable"],
        ["NotSent"],
        (error) => error._tag === "ServiceUnavailable"
      ]
      for (const stopOn of policies) {
        const script = failing({ "invoice-1": failures.unknown, "invoice-2": failures.down })
        const report = yield* makeModel({ script }).run(items(5), { ...one, stopOn })
        assert.deepStrictEqual(referencesOf(report.unknown), ["invoice-1"])
        assert.deepStrictEqual(referencesOf(report.notStarted), ["invoice-3", "invoice-4"])
      }
    })
  )

  for (const [name, stop] of Object.entries({
    "refused credentials": failures.auth,
    "a redirect": failures.redirected
  })) {
    it.effect(`happens at ${name} whatever stopOn says: every payout would fail alike`, () =>
      Effect.gen(function* () {
        const model = makeModel({ script: failing({ "invoice-0": stop }) })
        const report = yield* model.run(items(3), { ...one, stopOn: () => false })
        assert.strictEqual(report.notStarted.length, 2)
        assert.strictEqual(model.calls.length, 1)
      })
    )
  }

  it.effect("finishes the requests that are under way", () =>
    Effect.gen(function* () {
      const allUnderWay = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const fail = failing({ "invoice-1": failures.unknown })
      const model = makeModel()
      let arrived = 0
      const { run } = make({
        ...model.operations,
        requestWithdrawal: Effect.fnUntraced(function* (request: WithdrawalRequest, options) {
          if (++arrived === 3) yield* Deferred.succeed(allUnderWay, undefined)
          yield* Deferred.await(allUnderWay)
          const failure = fail("", options?.idempotencyKey ?? "")
          if (failure !== undefined) return yield* Effect.ensuring(failure, Deferred.succeed(stopped, undefined))
          yield* Deferred.await(stopped)
          return yield* model.operations.requestWithdrawal(request, options)
        })
      })
      const report = yield* run(items(6), { concurrency: 3 })
      assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-2"])
      assert.deepStrictEqual(referencesOf(report.unknown), ["invoice-1"])
      assert.deepStrictEqual(referencesOf(report.notStarted), ["invoice-3", "invoice-4", "invoice-5"])
      assert.strictEqual(arrived, 3)
    })
  )

  it.effect("has the first failure as its reason, where another one follows immediately", () =>
    Effect.gen(function* () {
      const underWay = yield* Queue.unbounded<Deferred.Deferred<never, RequestWithdrawalError>>()
      const { run } = make({
        requestWithdrawal: () =>
          Effect.gen(function* () {
            const answer = yield* Deferred.make<never, RequestWithdrawalError>()
            yield* Queue.offer(underWay, answer)
            return yield* Deferred.await(answer)
          })
      })
      const running = yield* Effect.forkChild(run(items(5), { concurrency: 2 }))
      const [first, second] = [yield* Queue.take(underWay), yield* Queue.take(underWay)]
      yield* Deferred.fail(first, failures.auth(keyOf("invoice-0")))
      yield* Deferred.fail(second, failures.poor(keyOf("invoice-1")))
      const report = yield* Fiber.join(running)
      assert.deepStrictEqual(
        report.notStarted.map(({ error }) => error?._tag),
        ["AuthError", "AuthError", "AuthError"]
      )
    })
  )

  it.effect("has the service's refusal as its reason, also where the payout stays unknown", () =>
    Effect.gen(function* () {
      const before = yield* makeModel({ script: failing({ "invoice-0": failures.unknown }) }).run(items(1))
      const model = makeModel({ script: failing({ "invoice-0": failures.auth }) })
      const report = yield* model.run(items(2), { ...one, previous: before.unknown })
      assert.deepStrictEqual(tagsOf(report), ["Unknown", "NotStarted"])
      assert.strictEqual(report.notStarted[0]?.error?._tag, "AuthError")
    })
  )

  it.effect("happens after any refusal of a payout that may have been paid, since that payout stays unknown", () =>
    Effect.gen(function* () {
      const before = yield* makeModel({ script: failing({ "invoice-0": failures.unknown }) }).run(items(1))
      const model = makeModel({ script: failing({ "invoice-0": failures.refused }) })
      const report = yield* model.run(items(2), { ...one, previous: before.unknown })
      assert.deepStrictEqual(tagsOf(report), ["Unknown", "NotStarted"])
      assert.strictEqual(report.notStarted[0]?.error, report.unknown[0]?.error)
    })
  )

  it.effect("happens when the caller's predicate throws, and what was paid is in the report", () =>
    Effect.gen(function* () {
      const model = makeModel({ script: failing({ "invoice-1": failures.refused }) })
      const report = yield* model.run(items(4), {
        ...one,
        stopOn: () => {
          throw new Error("a mistake of the caller")
        }
      })
      assert.deepStrictEqual(tagsOf(report), ["Done", "Refused", "NotStarted", "NotStarted"])
    })
  )

  it.effect("happens when the call of a payout dies: it may have been sent, so it is unknown", () =>
    Effect.gen(function* () {
      const model = makeModel({
        script: (_, key) => (key === keyOf("invoice-1") ? Effect.die(new Error("a broken transport")) : undefined)
      })
      const report = yield* model.run(items(4), one)
      assert.deepStrictEqual(tagsOf(report), ["Done", "Unknown", "NotStarted", "NotStarted"])
      assert.strictEqual(report.unknown[0]?.error.idempotencyKey, keyOf("invoice-1"))
    })
  )
})

const circular = () => {
  const metadata: Record<string, unknown> = {}
  metadata["self"] = metadata
  return { ...item("a"), metadata }
}

describe("a run whose items are not what the types say", () => {
  const hostile: ReadonlyArray<readonly [string, unknown]> = [
    ["null", null],
    ["undefined", undefined],
    ["a number", 7],
    ["a text", "invoice-1"],
    ["an empty object", {}],
    ["a reference that is no text", { ...item("a"), reference: 42 }],
    ["metadata that contains itself", circular()],
    [
      "a field that throws",
      {
        ...item("a"),
        get amount() {
          throw new Error("no amount")
        }
      }
    ]
  ]
  for (const [what, wrong] of hostile) {
    it.effect(`refuses ${what} before anything is sent for it, and pays the others`, () =>
      Effect.gen(function* () {
        for (const asStream of [false, true]) {
          const model = makeModel()
          // A caller without types may give anything.
          const list = [item("b"), wrong as PayoutItem, item("c")]
          const report = yield* model.run(asStream ? Stream.fromIterable(list) : list)
          assert.deepStrictEqual(tagsOf(report), ["Done", "Refused", "Done"])
          assert.strictEqual(report.refused[0]?.error._tag, "InvalidRequest")
          assert.strictEqual(model.ledger.size, 2)
        }
      })
    )
  }

  it.effect("pays nothing of a list that throws while it is read", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const list = (function* () {
        yield item("a")
        throw new Error("the file is damaged")
      })()
      const error = yield* Effect.flip(model.run(list))
      assert(error._tag === "PayoutSourceFailed")
      assert.deepStrictEqual(tagsOf(error.report), [])
      assert.deepStrictEqual(model.calls, [])
    })
  )

  for (const [what, end] of Object.entries({
    "that fails": Stream.fail("damaged"),
    "that dies": Stream.die(new Error("damaged")),
    "that interrupts itself": Stream.fromEffect(Effect.interrupt)
  } satisfies Record<string, Stream.Stream<never, string>>)) {
    it.effect(`reports what was paid of a stream ${what}`, () =>
      Effect.gen(function* () {
        for (const concurrency of [1, 4]) {
          const model = makeModel()
          const slow = make({
            ...model.operations,
            requestWithdrawal: (request, options) =>
              Effect.andThen(yields(5), model.operations.requestWithdrawal(request, options))
          })
          const source: Stream.Stream<PayoutItem, string> = Stream.concat(Stream.fromIterable(items(3)), end)
          const error = yield* Effect.flip(slow.run(source, { concurrency }))
          assert(error._tag === "PayoutSourceFailed")
          assert.strictEqual(error.report.done.length, 3)
          assert.strictEqual(model.ledger.size, 3)
        }
      })
    )
  }
})

describe("a run with options that make no sense", () => {
  // A caller without types may give anything.
  for (const [path, wrong] of Object.entries({
    concurrency: [0, 0.5, -1, Number.NaN, "4", Number.POSITIVE_INFINITY],
    kind: ["", "pay out", 7],
    maxAmount: [-1, 0.5, Number.NaN, "1000"],
    maxTotal: [-1, 0.5, Number.NaN],
    checkBalance: ["yes", 1],
    stopOn: ["Unknown", 7],
    hold: ["yes", 1],
    keyHorizon: ["soon", Number.NaN, -1, {}, { hours: Number.NaN }, [Number.NaN, 0]],
    previous: [7, [null], ["Done"], [{ _tag: "Paid" }]]
  }) as ReadonlyArray<[string, ReadonlyArray<unknown>]>) {
    it.effect(`fails with InvalidRequest before anything is sent when ${path} is wrong`, () =>
      Effect.gen(function* () {
        for (const value of wrong) {
          const model = makeModel()
          const options = { [path]: value } as Payouts.Options
          const failure = yield* Effect.flip(model.run(items(1), options))
          assert(failure._tag === "InvalidRequest", `${path} ${String(value)}`)
          assert.deepStrictEqual(
            failure.issues.map((issue) => issue.path),
            [path]
          )
          const streamed = yield* Effect.flip(Stream.runDrain(model.stream(items(1), options)))
          assert.strictEqual(streamed._tag, "InvalidRequest")
          assert.deepStrictEqual(model.calls, [])
        }
      })
    )
  }

  it.effect("fails with InvalidRequest where the options are no object", () =>
    Effect.gen(function* () {
      for (const given of [null, 7, "fast", []] as ReadonlyArray<unknown>) {
        const model = makeModel()
        const error = yield* Effect.flip(model.run(items(1), given as Payouts.Options))
        assert(error._tag === "InvalidRequest", String(given))
        assert.deepStrictEqual([error.issues.map(({ path }) => path), model.calls], [["options"], []])
      }
    })
  )

  it.effect("names all that is wrong at once, also where the items are neither a list nor a stream", () =>
    Effect.gen(function* () {
      const model = makeModel()
      // A caller without types may give anything.
      for (const nothing of [null, undefined, 7, {}] as unknown as ReadonlyArray<ReadonlyArray<PayoutItem>>) {
        const error = yield* Effect.flip(model.run(nothing, { concurrency: 0 }))
        assert(error._tag === "InvalidRequest")
        assert.deepStrictEqual(
          error.issues.map((issue) => issue.path),
          ["items", "concurrency"]
        )
      }
    })
  )
})
