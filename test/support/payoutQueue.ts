/**
 * A queue of payouts in memory over a sandbox whose script names what each request of a reference meets, and what became of them.
 */
import { Context, Effect, Layer, Logger, type Scope } from "effect"
import { HttpClient } from "effect/http"
import { Credentials, IdempotencyKey, IdempotencyKeyGen, Money, Payments, PaymentsPolicy, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutItem, PayoutQueue, type PayoutQueueOptions, Payouts } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Met, OwnFault } from "../../src/sandbox/Reply.ts"
import { effect } from "./effect.ts"
import { oneAttempt } from "./policies.ts"

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

/** A SQLite database in memory, which follows the test's clock. */
export const memory = Layer.orDie(NodeSqlite.layer({ filename: ":memory:" }))

export const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)

/** What the requests of a reference meet: one after another, and then nothing; or one fault again and again. */
export type Script = Readonly<Record<string, Met | ReadonlyArray<Met>>>

type SandboxAs = "documented" | "seen"

/** The sandbox, and a client of it whose requests for payouts meet what the script says. */
const gatewayOf = (script: Script = {}, as: SandboxAs = "documented") => {
  const turns = new Map<string, number>()
  const byKey = new Map<string, Script[string]>(
    Object.entries(script).map(([reference, met]) => [keyOf(reference), met])
  )
  const meet = (key: string) => {
    const turn = turns.get(key) ?? 0
    turns.set(key, turn + 1)
    const met = byKey.get(key)
    // The compiler does not narrow a readonly array by `isArray`.
    return Array.isArray(met) ? (met as ReadonlyArray<Met>)[turn] : (met as Met | undefined)
  }
  const wrapped = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (inner) =>
      HttpClient.make((request) =>
        Effect.suspend(() =>
          Effect.provideService(inner.execute(request), OwnFault, meet(request.headers["idempotency-key"] ?? ""))
        )
      )
    )
  )
  return Layer.unwrap(
    Effect.gen(function* () {
      const { baseUrl, companyId, credentials } = yield* Sandbox
      return Layer.provide(Payments.layer({ baseUrl, companyId }), [
        Credentials.layer(yield* credentials),
        IdempotencyKeyGen.layerSequential,
        wrapped
      ])
    })
  ).pipe(
    Layer.provideMerge(Sandbox.layer),
    Layer.provide(Layer.succeed(SandboxOptions, { as, balance: 100_000_000, keep: 100_000 })),
    Layer.orDie
  )
}

/** A gateway in memory without a script. */
export const gateway = gatewayOf()

const once = Layer.orDie(PaymentsPolicy.layer(oneAttempt))

/** A gateway whose clients send one request an attempt. */
export const gatewayOnce = Layer.merge(gateway, once)

/** A gateway and a database in memory, whose clients send one request an attempt, or those of another policy. */
export const worldOf = (script: Script = {}, policy: Layer.Layer<never> = once, as?: SandboxAs) =>
  Layer.mergeAll(gatewayOf(script, as), memory, policy)

export const world = worldOf()

/** The settings of a queue, and of its world. */
interface World extends PayoutQueueOptions {
  readonly script?: Script
  readonly policy?: Layer.Layer<never>
  /** A logger, or what else all of it runs under. */
  readonly under?: Layer.Layer<never>
}

/** A process that submits and sends, in that world. */
export const queueOver = ({ policy, script, under = Layer.empty, ...options }: World = {}) =>
  Layer.orDie(PayoutQueue.layer(options)).pipe(Layer.provideMerge(worldOf(script, policy)), Layer.provideMerge(under))

interface Services {
  readonly queue: PayoutQueue["Service"]
  readonly sandbox: Sandbox["Service"]
  readonly sql: SqlClient.SqlClient
}
type Needs = Layer.Success<ReturnType<typeof queueOver>> | Scope.Scope
type Body<Args extends Array<unknown>> = (
  services: Services,
  ...args: Args
) => Generator<Effect.Effect<unknown, unknown, Needs>, unknown, never>
type Given<Args extends Array<unknown>> = readonly [Body<Args>] | readonly [World, Body<Args>]

/** The layer of a test, and its body with the services. */
const prepare = <Args extends Array<unknown>>(...[first, second]: Given<Args>) => {
  // The types of the arguments say which one is the world.
  const [world, body] = second === undefined ? [{}, first as Body<Args>] : [first as World, second]
  const run = function* (...args: Args) {
    const services = { queue: yield* PayoutQueue, sandbox: yield* Sandbox, sql: yield* SqlClient.SqlClient }
    yield* Effect.gen(() => body(services, ...args))
  }
  return [queueOver(world), run] as const
}

/** Tests of a process that submits and sends, under `TestClock`. */
export const queued = Object.assign((title: string, ...given: Given<[]>) => effect(title, ...prepare(...given)), {
  each:
    <Case>(cases: ReadonlyArray<Case>) =>
    (title: string, ...given: Given<[Case]>) =>
      effect.each(cases)(title, ...prepare(...given))
})

/** Lets seconds pass in steps, after each of which what waits for the platform goes on: so the times of requests are exact. */
export const pass = (seconds: number) =>
  Effect.repeat(TestClock.adjust("100 millis"), { times: Math.round(seconds * 10) - 1 })

/** Five payouts that the service takes: then the worker has up to 20 requests under way. */
export const warmUp = (queue: PayoutQueue["Service"]) =>
  Effect.forEach([1, 2, 3, 4, 5], (at) =>
    Effect.andThen(queue.submit(payout(`warm-up-${at}`)), Effect.andThen(settle, queue.await(`warm-up-${at}`)))
  )

/** A worker on the database of the test, until its scope closes. */
export const startWorker = (options: PayoutQueueOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(PayoutQueue.layer(options))), Context.get(PayoutQueue))

/** A process that sends nothing. */
export const startClient = (options: PayoutQueueOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(PayoutQueue.layerClient(options))), Context.get(PayoutQueue))

/** A process that sends nothing, and runs sheets. */
export const startSheets = (options: PayoutQueueOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(PayoutQueue.layerClient(options))), (context) => ({
    queue: Context.get(context, PayoutQueue),
    run: (...given: Parameters<typeof Payouts.run>) => Effect.provideContext(Payouts.run(...given), context),
    plan: (...given: Parameters<typeof Payouts.plan>) => Effect.provideContext(Payouts.plan(...given), context)
  }))

/** Lets the workers handle what is due, in a hundredth of a second. Each step lets the other fibers run. */
export const settle = Effect.repeat(TestClock.adjust("1 millis"), { times: 9 })

/**
 * The warnings and errors that are logged under the layer, but for those of a queue without a `seal`, and of a `TestClock` which
 * no test moved for a second of the machine's time.
 */
export const makeWarnings = <Line = string>(
  // Without an edit the lines are texts.
  edit: (line: string, log: Logger.Options<unknown>) => Line = (line) => line as Line
) => {
  const lines: Array<Line> = []
  const logger = Logger.make((log) => {
    const line = String(log.message)
    const isOther =
      /^A test is using time, but is not|^A fiber woken by the test clock|^PayoutQueue: .* are stored in clear/.test(
        line
      )
    if ((log.logLevel === "Warn" || log.logLevel === "Error") && !isOther) lines.push(edit(line, log))
  })
  return { lines, layer: Logger.layer([logger]) }
}
