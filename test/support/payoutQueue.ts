/**
 * A queue of payouts for a test, over a gateway in memory.
 */
import { Context, type Duration, Effect, Layer, Logger, Option } from "effect"
import { Credentials, IdempotencyKeyGen, Money, Payments, PaymentsPolicy, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutChange, type PayoutItem, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
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

/** A database and a gateway in memory, whose clients send each request once. */
export const world = Layer.mergeAll(memory, gateway, PaymentsPolicy.layer(PaymentsPolicy.once))

/** A worker on the database of the test, until its scope closes. */
export const startWorker = (options: PayoutQueueOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(PayoutQueue.layer(options))), Context.get(PayoutQueue))

/** A process that sends nothing. */
export const startClient = (options: PayoutQueueOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(PayoutQueue.layerClient(options))), Context.get(PayoutQueue))

/**
 * A gateway of one client id of one company, and a client of it. The test says whether the client is told the company, and may change
 * its credentials; `onRead` runs at each read of them.
 */
export const makeGateway = Effect.fnUntraced(function* (
  clientId: "client-a" | "client-b",
  options: {
    readonly isKnown?: boolean
    readonly baseUrl?: string
    readonly onRead?: (read: number) => string | undefined
  } = {}
) {
  const companyId = clientId === "client-a" ? 1 : 2
  const sandbox = yield* Layer.build(
    Layer.fresh(
      Layer.provide(Sandbox.layer, Layer.succeed(SandboxOptions, { clientId, companyId, balance: 10_000_000 }))
    )
  )
  let current = yield* Context.get(sandbox, Sandbox).credentials
  let reads = 0
  const credentials = Effect.sync(() => {
    const other = options.onRead?.(++reads)
    if (other !== undefined) current = { ...current, clientId: other }
    return current
  })
  const payments = Payments.layer({
    baseUrl: options.baseUrl ?? "https://sandbox.example",
    ...(options.isKnown !== false && { companyId })
  }).pipe(
    Layer.provide([
      Layer.succeedContext(sandbox),
      Layer.succeed(Credentials, { current: credentials, reload: () => Effect.succeed(false) }),
      IdempotencyKeyGen.layer
    ])
  )
  /** A worker that sends with this client, until its scope closes. */
  const start = (queue?: PayoutQueueOptions) => Effect.provide(startWorker(queue), Layer.fresh(payments))
  return {
    sandbox: Context.get(sandbox, Sandbox),
    start,
    /** The client has these credentials from now on. */
    use: (changed: Partial<typeof current>) => void (current = { ...current, ...changed })
  }
})

/** The state of a payout, why it is parked or for what it waits, and the step that a first person asked for. */
export const stateOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.status(reference), (found) => {
    const status: Record<string, unknown> = { ...Option.getOrThrow(found) }
    const { asked } = Option.getOrThrow(found)
    return [status["state"], status["because"], status["waitsFor"], asked?.step].filter(Boolean).join(" ")
  })

/** A change of the history in one line, without its times. */
const lineOf = ({ _tag, state, ...change }: PayoutChange) => {
  const person = "by" in change ? ` by ${change.by}${"note" in change ? `: ${change.note}` : ""}` : ""
  const answer = "answer" in change ? ` ${change.answer} ${change.error?._tag ?? change.withdrawalId}` : ""
  const rest = "request" in change ? ` ${change.request}` : "because" in change ? ` ${change.because}` : ""
  const said = "notExecuted" in change && change.notExecuted ? " as not executed" : ""
  return `${_tag}${answer}${rest}${said}${person} > ${state}${change.mayHaveLeftAt === undefined ? "" : ", may have left"}`
}
export const linesOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.history(reference), (changes) => changes.map(lineOf))

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
