/**
 * A queue of payouts for a test, over a gateway in memory.
 */
import { type Duration, Effect, Layer, Logger } from "effect"
import { Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutItem, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"

export const payout = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email("maria@example.com")
})

export const payouts = (count: number, amount = 1000): ReadonlyArray<PayoutItem> =>
  Array.from({ length: count }, (_, index) => payout(`invoice-${index + 1}`, amount))

/** A refusal as the table has it. */
export const storedRefusal = JSON.stringify({
  _tag: "RequestRejected",
  outcome: "Rejected",
  operation: "requestWithdrawal",
  idempotencyKey: "k",
  attempts: 1,
  status: 400
})

export const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 10_000_000 }))

/** A SQLite database in memory, which follows the test's clock. */
export const memory = Layer.orDie(NodeSqlite.layer({ filename: ":memory:" }))

export const layerMemory = (options: PayoutQueueOptions = {}) =>
  PayoutQueue.layer(options).pipe(Layer.provideMerge(gateway), Layer.provideMerge(memory))

/** Lets the workers handle what is due, in a hundredth of a second. Each step lets the other fibers run. */
export const settle = Effect.repeat(TestClock.adjust("1 millis"), { times: 9 })

/** Submits a payout whose first requests are answered with 429 and this `Retry-After`. */
export const submitRateLimited = (retryAfter: Duration.Input, times = 1) =>
  Effect.gen(function* () {
    const queue = yield* PayoutQueue
    const sandbox = yield* Sandbox
    yield* sandbox.fault("requestWithdrawal", Fault.retryAfter(retryAfter), { times })
    yield* queue.submit(payout("invoice-1"))
    return { queue, sandbox }
  })

/** Submits a payout while the workers are paused, and parks it, so that the queue logs a warning. */
export const parkOne = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  yield* queue.setPaused(true)
  yield* queue.submit(payout("parked"))
  yield* queue.park("parked")
})

/** The line that the queue logs about the parked payout within a minute. */
export const parkedLine = '1 payout(s) wait for a person: list({ state: "parked" }) names them.'

/** The line of a queue without a `seal`, which most queues of tests are. */
export const isOfNoSeal = (line: string): boolean => /^PayoutQueue: .* are stored in clear/.test(line)

/**
 * The warnings and errors that are logged under the layer, but for those of a queue without a `seal`, and of a `TestClock` which
 * no test moved for a second of the machine's time.
 */
export const makeWarnings = (edit: (line: string) => string = (line) => line) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    const line = String(message)
    const isOfClock = line.startsWith("A test is using time, but is not advancing the test clock")
    if ((logLevel === "Warn" || logLevel === "Error") && !isOfClock && !isOfNoSeal(line)) lines.push(edit(line))
  })
  return { lines, layer: Logger.layer([logger]) }
}
