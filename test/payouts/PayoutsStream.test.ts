import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { Money, type WithdrawalRequest } from "effect-pix"
import type { PayoutEvent } from "effect-pix/payouts"
import { failures, item, items, keyOf, make, makeModel, resultsOf, yields } from "../support/payouts.ts"

describe("Payouts.stream", () => {
  it.effect("sends nothing for Started events that its reader still handles when the run has stopped", () =>
    Effect.gen(function* () {
      const underWay = yield* Deferred.make<void>()
      const busy = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const model = makeModel()
      const { stream } = make({
        ...model.operations,
        requestWithdrawal: Effect.fnUntraced(function* (request: WithdrawalRequest, options) {
          if (options?.idempotencyKey !== keyOf("invoice-0")) {
            return yield* model.operations.requestWithdrawal(request, options)
          }
          yield* Deferred.succeed(underWay, undefined)
          yield* Deferred.await(busy)
          return yield* Effect.ensuring(
            Effect.fail(failures.unknown(keyOf("invoice-0"))),
            Deferred.succeed(stopped, undefined)
          )
        })
      })
      // The first is under way alone; the others start together, and their reader is busy until the run has stopped.
      const rest = Stream.unwrap(Effect.as(Deferred.await(underWay), Stream.fromIterable(items(60).slice(1))))
      const source = Stream.concat(Stream.make(item("invoice-0")), rest)
      const events: Array<PayoutEvent> = []
      yield* Stream.runForEach(stream(source, { concurrency: 50 }), (event) =>
        Effect.suspend(() => {
          events.push(event)
          return event.index === 0
            ? Effect.void
            : Effect.andThen(Deferred.succeed(busy, undefined), Effect.andThen(Deferred.await(stopped), yields(10)))
        })
      )
      const results = resultsOf(events)
      assert.deepStrictEqual(
        results.map(({ index }) => index).toSorted((a, b) => a - b),
        items(60).map((_, index) => index)
      )
      const started = new Set(events.flatMap(({ _tag, index }) => (_tag === "Started" ? [index] : [])))
      assert.isTrue(results.some(({ _tag, index }) => _tag === "NotStarted" && started.has(index)))
      assert.deepStrictEqual(model.calls, [])
    })
  )

  for (const concurrency of [1, 4, 50]) {
    it.effect(`sends a request only after its reader has handled its Started event, ${concurrency} at a time`, () =>
      Effect.gen(function* () {
        const stored = new Set<string>()
        const early: Array<string> = []
        const model = makeModel({
          script: (_, key) => {
            if (!stored.has(key)) early.push(key)
            return undefined
          }
        })
        yield* Stream.runForEach(model.stream(items(100), { concurrency }), (event) =>
          Effect.andThen(
            yields(3),
            Effect.sync(() => {
              if (event._tag === "Started") stored.add(event.idempotencyKey)
            })
          )
        )
        assert.strictEqual(model.ledger.size, 100)
        assert.deepStrictEqual(early, [])
      })
    )
  }

  it.effect("does not run ahead of a reader that takes nothing", () =>
    Effect.gen(function* () {
      let given = 0
      const model = makeModel()
      const source = Stream.fromIterable(items(1000)).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.sync(() => (given += 1)))
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* yield* Stream.toPull(model.stream(source, { concurrency: 4 }))
          yield* yields(200)
        })
      )
      assert.isAtMost(given, 6)
      assert.deepStrictEqual(model.calls, [])
    })
  )

  it.effect("interrupts the requests that are under way when its reader is interrupted", () =>
    Effect.gen(function* () {
      const underWay = yield* Deferred.make<void>()
      let cutOff = 0
      const model = makeModel()
      const { stream } = make({
        ...model.operations,
        requestWithdrawal: () =>
          Deferred.succeed(underWay, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => (cutOff += 1)))
          )
      })
      const fiber = yield* Effect.forkChild(Stream.runDrain(stream(items(4), { concurrency: 2 })))
      yield* Deferred.await(underWay)
      yield* yields(20)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(cutOff, 2)
    })
  )

  it.effect("emits Started before the request of a payout is sent, and its result after it", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const model = makeModel({
        script: (_, key) => {
          log.push(`sent ${key}`)
          return Effect.fail(failures.refused(key))
        }
      })
      yield* model
        .stream(items(2), { concurrency: 1 })
        .pipe(
          Stream.runForEach((event) =>
            Effect.sync(() => log.push(`${event._tag} ${"idempotencyKey" in event ? event.idempotencyKey : ""}`))
          )
        )
      const [first, second] = items(2).map(({ reference }) => keyOf(reference))
      assert.deepStrictEqual(log, [
        `Started ${first}`,
        `sent ${first}`,
        `Refused ${first}`,
        `Started ${second}`,
        `sent ${second}`,
        `Refused ${second}`
      ])
    })
  )

  it.effect("pays all items again when it is run again, and the gateway repeats no payout", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const stream = model.stream(items(3))
      const first = yield* Stream.runCollect(stream)
      const second = yield* Stream.runCollect(stream)
      const byIndex = (events: ReadonlyArray<PayoutEvent>) => events.toSorted((a, b) => a.index - b.index)
      assert.deepStrictEqual(byIndex(second), byIndex(first))
      assert.strictEqual(model.ledger.size, 3)
    })
  )

  it.effect("finishes what was started when its source fails, and then fails with the source's error", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const slow = make({
        ...model.operations,
        requestWithdrawal: (request, options) =>
          Effect.andThen(yields(5), model.operations.requestWithdrawal(request, options))
      })
      const source = Stream.concat(Stream.fromIterable(items(2)), Stream.fail("the file is damaged" as const))
      const seen: Array<PayoutEvent> = []
      const error = yield* Effect.flip(
        Stream.runForEach(slow.stream(source), (event) => Effect.sync(() => seen.push(event)))
      )
      assert.strictEqual(error, "the file is damaged")
      assert.deepStrictEqual(seen.map(({ _tag }) => _tag).toSorted(), ["Done", "Done", "Started", "Started"])

      const failed = yield* Effect.flip(slow.run(source))
      assert(failed._tag === "PayoutSourceFailed")
      assert.strictEqual(failed.error, "the file is damaged")
      assert.match(failed.message, /same references/)
      assert.strictEqual(failed.report.done.length, 2)
    })
  )

  it.effect("reads a lazy list once, and an endless stream only as far as its reader does", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const endless = Stream.iterate(0, (n) => n + 1).pipe(Stream.map((n) => item(`n-${n}`)))
      const left = yield* model.stream(endless, { maxTotal: Money.centavos(3000), concurrency: 1 }).pipe(
        Stream.takeUntil(({ _tag }) => _tag === "NotStarted"),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        left.filter(({ _tag }) => _tag !== "Started").map(({ _tag, reference }) => [_tag, reference]),
        [
          ["Done", "n-0"],
          ["Done", "n-1"],
          ["Done", "n-2"],
          ["NotStarted", "n-3"]
        ]
      )
      const once = items(3)[Symbol.iterator]()
      const report = yield* model.run(once, { checkBalance: true })
      assert.strictEqual(report.done.length, 3)
    })
  )
})
