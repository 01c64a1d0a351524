import { assert, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger, Queue, References, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { TestClock } from "effect/testing"
import { layerQueueMemory, unlimited } from "../../src/durable/Queue.ts"
import { delayInterrupt, repeatedly, TryAgain, work } from "../../src/durable/Work.ts"

const makeQueue = PersistedQueue.make({ name: "test", schema: Schema.String, maxAttempts: unlimited })

/** Every line that is logged, causes included. */
const makeLog = () => {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ cause, message }) => lines.push(`${String(message)} ${String(cause)}`))])
  return { lines, logger }
}

const hold = (queue: PersistedQueue.PersistedQueue<string>, seen: Array<string>) =>
  Effect.forkScoped(
    work(queue, { name: "test", concurrency: 1, handle: (value) => Effect.sync(() => seen.push(value)) })
  )

describe("the queue in memory", () => {
  it.effect("an element with a delay is taken at its time, though the clock counts parts of a millisecond", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("300 micros")
      const queue = yield* makeQueue
      const seen: Array<string> = []
      yield* hold(queue, seen)
      yield* queue.offer("later", { delay: "1 minute" })
      yield* queue.offer("now")
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(seen, ["now"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, ["now", "later"])
    }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect("a failed element is taken again, though the clock counts parts of a millisecond", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("300 micros")
      const queue = yield* makeQueue
      const attempts: Array<number> = []
      const handle = (_: string, metadata: { readonly attempts: number }) => {
        attempts.push(metadata.attempts)
        return metadata.attempts < 3 ? Effect.fail(new TryAgain({ reason: "NotYet" })) : Effect.void
      }
      yield* Effect.forkScoped(work(queue, { name: "test", concurrency: 1, handle }))
      yield* queue.offer("a")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(attempts, [1, 2, 3])
    }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect("an element that fails for a long time is not given up because of the number of its attempts", () =>
    Effect.gen(function* () {
      const queue = yield* makeQueue
      const done: Array<number> = []
      const handle = (_: string, { attempts }: { readonly attempts: number }) =>
        attempts < 50 ? Effect.fail(new TryAgain({ reason: "NotYet" })) : Effect.sync(() => void done.push(attempts))
      yield* Effect.forkScoped(work(queue, { name: "test", concurrency: 1, handle }))
      yield* queue.offer("a")
      for (let n = 0; n < 100; n++) yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(done, [50])
    }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect("a take does not read the elements that wait for later", () =>
    Effect.gen(function* () {
      const queue = yield* makeQueue
      for (let n = 0; n < 1000; n++) yield* queue.offer(`${n}`, { delay: "1 hour" })
      // Effect's store searches all its elements for the next time.
      const looks = vi.spyOn(Math, "min")
      yield* Effect.addFinalizer(() => Effect.sync(() => looks.mockRestore()))
      const seen: Array<string> = []
      yield* hold(queue, seen)
      yield* queue.offer("now")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, ["now"])
      assert.isBelow(looks.mock.calls.length, 1000)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(seen.length, 1001)
    }).pipe(Effect.provide(layerQueueMemory))
  )
})

describe("work", () => {
  it.effect("a queue that dies is polled again, and the message of its defect is not logged", () =>
    Effect.gen(function* () {
      const { lines, logger } = makeLog()
      const queue = yield* makeQueue
      let isBroken = true
      const breaking: typeof queue = {
        ...queue,
        take: (handle) =>
          Effect.suspend(() => {
            if (!isBroken) return queue.take(handle)
            isBroken = false
            return Effect.die("maria@example.com")
          })
      }
      const seen: Array<string> = []
      yield* Effect.provide(hold(breaking, seen), logger)
      yield* queue.offer("a")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(seen, ["a"])
      assert.isTrue(lines.some((line) => line.includes("the queue did not answer")))
      assert.notInclude(lines.join("\n"), "maria")
    }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect("an element is handled once when its handler succeeds", () =>
    Effect.gen(function* () {
      const queue = yield* makeQueue
      const seen = yield* Queue.unbounded<string>()
      yield* Effect.forkScoped(
        work(queue, { name: "test", concurrency: 3, handle: (value) => Effect.asVoid(Queue.offer(seen, value)) })
      )
      yield* queue.offer("a")
      yield* queue.offer("b")
      assert.deepStrictEqual([yield* Queue.take(seen), yield* Queue.take(seen)].toSorted(), ["a", "b"])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Queue.size(seen), 0)
    }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect(
    "a handler that fails with TryAgain, or dies, gets its element again, and the log has no text of the defect",
    () =>
      Effect.gen(function* () {
        const { lines, logger } = makeLog()
        const queue = yield* makeQueue
        const done = yield* Deferred.make<number>()
        const handle = (_: string, { attempts }: { readonly attempts: number }) =>
          attempts === 1
            ? Effect.fail(new TryAgain({ reason: "NotYet" }))
            : attempts === 2
              ? Effect.die(new Error("maria@example.com"))
              : Effect.asVoid(Deferred.succeed(done, attempts))
        yield* Effect.forkScoped(Effect.provide(work(queue, { name: "payouts", concurrency: 1, handle }), logger))
        yield* queue.offer("a")
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* Deferred.await(done), 3)
        assert.isTrue(lines.some((line) => line.includes("payouts: a handler died") && line.includes("Error")))
        assert.notInclude(lines.join("\n"), "maria")
      }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect("a handler that joins an interrupted fiber gets its element again, and the worker continues", () =>
    Effect.gen(function* () {
      const queue = yield* makeQueue
      const seen: Array<string> = []
      const handle = (value: string, { attempts }: { readonly attempts: number }) =>
        attempts === 1 && value === "a"
          ? Effect.flatMap(Effect.forkChild(Effect.interrupt), Fiber.join)
          : Effect.sync(() => void seen.push(value))
      yield* Effect.forkScoped(work(queue, { name: "test", concurrency: 1, handle }))
      yield* queue.offer("a")
      yield* TestClock.adjust("1 millis")
      yield* queue.offer("b")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(seen, ["b", "a"])
    }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect("a worker that is interrupted ends and logs nothing", () =>
    Effect.gen(function* () {
      const { lines, logger } = makeLog()
      const queue = yield* makeQueue
      const begun = yield* Deferred.make<void>()
      const handle = () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      const worker = yield* Effect.forkChild(
        Effect.provide(work(queue, { name: "test", concurrency: 2, handle }), logger)
      )
      yield* queue.offer("a")
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(worker)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(layerQueueMemory))
  )

  it.effect("after a take that dies in the queue itself, another take follows", () =>
    Effect.gen(function* () {
      const queue = yield* makeQueue
      let deaths = 0
      const fragile: typeof queue = {
        ...queue,
        take: (handle) =>
          Effect.suspend(() => (deaths++ < 2 ? Effect.die(new Error("the database was away")) : queue.take(handle)))
      }
      const seen = yield* Deferred.make<string>()
      yield* Effect.forkScoped(
        work(fragile, { name: "test", concurrency: 1, handle: (value) => Effect.asVoid(Deferred.succeed(seen, value)) })
      )
      yield* queue.offer("a")
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Deferred.await(seen), "a")
      assert.isAbove(deaths, 2)
    }).pipe(Effect.provide(layerQueueMemory))
  )
})

describe("the lines of a worker", () => {
  it.effect("a line has the kind of the failure, and the attributes of its element", () =>
    Effect.gen(function* () {
      const lines: Array<Record<string, unknown>> = []
      const logger = Logger.make(({ fiber }) => lines.push({ ...fiber.getRef(References.CurrentLogAnnotations) }))
      const queue = yield* makeQueue
      let isAway = true
      const unreliable: typeof queue = {
        ...queue,
        take: (handle) =>
          Effect.suspend(() => {
            const take = isAway ? Effect.die(new RangeError("maria@example.com")) : queue.take(handle)
            isAway = false
            return take
          })
      }
      const handle = (value: string, { attempts }: { readonly attempts: number }) =>
        attempts > 1 ? Effect.void : value === "a" ? Effect.die(new TypeError("maria@example.com")) : Effect.interrupt
      const attributesOf = (value: string) => ({ "test.element": value })
      yield* Effect.forkScoped(
        Effect.provide(work(unreliable, { name: "test", concurrency: 1, attributesOf, handle }), Logger.layer([logger]))
      )
      for (const value of ["a", "b"]) {
        yield* queue.offer(value)
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(
        lines.map((line) => [
          line["error.type"],
          line["test.element"],
          /^\w+\n +at /.exec(String(line["exception.stacktrace"]))?.[0]
        ]),
        [
          ["RangeError", undefined, "RangeError\n    at "],
          ["TypeError", "a", "TypeError\n    at "],
          ["Interrupted", "b", undefined]
        ]
      )
    }).pipe(Effect.provide(layerQueueMemory))
  )
})

describe("repeatedly", () => {
  it.effect("repeatedly continues after a failure, a defect or an interruption", () =>
    Effect.gen(function* () {
      let runs = 0
      const once = Effect.suspend(() => {
        runs += 1
        return runs === 1 ? Effect.fail("no") : runs === 2 ? Effect.die("no") : Effect.interrupt
      })
      yield* Effect.forkScoped(repeatedly("test", "10 seconds", once))
      yield* TestClock.adjust("35 seconds")
      assert.strictEqual(runs, 4)
    })
  )

  it.effect("repeatedly logs a lasting failure as a warning once a minute", () =>
    Effect.gen(function* () {
      const levels: Array<string> = []
      const logger = Logger.layer([Logger.make(({ logLevel }) => levels.push(logLevel))])
      yield* Effect.forkScoped(
        repeatedly("test", "10 seconds", Effect.fail("no")).pipe(
          Effect.provide(logger),
          Effect.provideService(References.MinimumLogLevel, "All")
        )
      )
      yield* TestClock.adjust("125 seconds")
      assert.strictEqual(levels.length, 13)
      assert.strictEqual(levels.filter((level) => level === "Warn").length, 3)
    })
  )
})

describe("delayInterrupt", () => {
  const begin = (takes: "3 seconds" | "1 hour") =>
    Effect.gen(function* () {
      let ended: "done" | "cut off" | undefined
      const job = Effect.sleep(takes).pipe(
        Effect.andThen(Effect.sync(() => (ended = "done"))),
        Effect.onInterrupt(() => Effect.sync(() => (ended = "cut off")))
      )
      const fiber = yield* Effect.forkChild(delayInterrupt("5 seconds")(job))
      yield* Effect.yieldNow
      yield* TestClock.adjust("1 second")
      const stop = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(stop)
      return ended
    })

  it.effect("an effect that ends soon is finished when its caller is interrupted", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* begin("3 seconds"), "done")
    })
  )

  it.effect("an effect that does not end soon is interrupted", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* begin("1 hour"), "cut off")
    })
  )
})
