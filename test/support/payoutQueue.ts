/**
 * A queue of payouts in memory over a sandbox whose script names what each request of a reference meets, and what became of them.
 */
import { Context, Deferred, Effect, Layer, Logger, Option, type Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
import { Credentials, IdempotencyKey, IdempotencyKeyGen, Money, Payments, PaymentsPolicy, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import {
  type PayoutChange,
  type PayoutItem,
  PayoutQueue,
  type PayoutQueueOptions,
  type PayoutStatus
} from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  AuthError,
  IdempotencyConflict,
  InsufficientBalance,
  OutcomeUnknown,
  RateLimited,
  RequestRejected,
  ServiceUnavailable
} from "../../src/contract/PaymentsError.ts"
import { type Met, OwnFault, play } from "../../src/sandbox/internal/reply.ts"
import { effect } from "./effect.ts"

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

const common = (idempotencyKey: string) =>
  ({ operation: "requestWithdrawal", attempts: 1, idempotencyKey, status: 422 }) as const
export const failures = {
  unknown: (key: string) =>
    new OutcomeUnknown({ ...common(key), outcome: "Unknown", reason: "Timeout", idempotencyKey: key }),
  conflict: (key: string) => new IdempotencyConflict({ ...common(key), outcome: "Unknown" }),
  poor: (key: string) => new InsufficientBalance({ ...common(key), outcome: "Rejected" }),
  auth: (key: string, status = 401) => new AuthError({ ...common(key), outcome: "Rejected", status }),
  down: (key: string, reason: "NoConnection" | "OtherClientId" = "NoConnection") =>
    new ServiceUnavailable({ ...common(key), outcome: "NotSent", reason }),
  throttled: (key: string) => new RateLimited({ ...common(key), outcome: "Rejected", status: 429 }),
  redirected: (key: string) => new RequestRejected({ ...common(key), outcome: "Rejected", status: 308 }),
  refused: (key: string) => new RequestRejected({ ...common(key), outcome: "Rejected", serviceMessage: "Recusado" })
}

/** Answers of a gateway. */
export const poor = Fault.refusal(422, "Saldo insuficiente")
export const refused = Fault.refusal(422, "Conta bloqueada")
export const unauthorised = Fault.refusal(401, "Credenciais inválidas")

/** What the requests of a reference meet: one after another, and then nothing; or one fault again and again. */
export type Script = Readonly<Record<string, Met | ReadonlyArray<Met>>>

/** The sandbox, and a client of it whose requests for payouts meet what the script says. */
export const gatewayOf = (script: Script = {}) => {
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
    Layer.provide(Layer.succeed(SandboxOptions, { balance: 100_000_000, keep: 100_000 })),
    Layer.orDie
  )
}

/** A gateway in memory without a script. */
export const gateway = gatewayOf()

const once = PaymentsPolicy.layer(PaymentsPolicy.once)

/** A gateway and a database in memory, whose clients send one request an attempt, or those of another policy. */
export const worldOf = (script: Script = {}, policy: Layer.Layer<never> = once) =>
  Layer.mergeAll(gatewayOf(script), memory, policy)

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

/** A request that arrives, and is not answered until the test says what it meets. */
export const makeHeld = Effect.gen(function* () {
  const arrived = yield* Deferred.make<void>()
  const met = yield* Deferred.make<Fault.Fault>()
  const reply = (execute: Parameters<typeof play>[1]["execute"]) =>
    Deferred.succeed(arrived, undefined).pipe(
      Effect.andThen(Deferred.await(met)),
      Effect.flatMap((fault) => play(fault, { execute, forgetKey: Effect.void, detach: (effect) => effect }))
    )
  return {
    held: { reply },
    arrived: Deferred.await(arrived),
    answer: (fault: Fault.Fault = Fault.none) => Deferred.succeed(met, fault)
  }
})

/** Lets seconds pass in steps, after each of which what waits for the platform goes on: so the times of requests are exact. */
export const pass = (seconds: number) =>
  Effect.repeat(TestClock.adjust("100 millis"), { times: Math.round(seconds * 10) - 1 })

/** How many requests for payouts arrived, of all references or of one. */
export const requests = (reference?: string) =>
  Sandbox.use((sandbox) =>
    Effect.map(
      sandbox.requests,
      (all) =>
        all.filter(
          ({ idempotencyKey, operation }) =>
            operation === "requestWithdrawal" && (reference === undefined || idempotencyKey === keyOf(reference))
        ).length
    )
  )

/** How many payouts the gateway paid. */
export const paid = Sandbox.use((sandbox) => Effect.map(sandbox.withdrawals, ({ length }) => length))

/** All requests from now on meet this, until it is called with nothing. */
export const meetAll = (fault?: Fault.Fault) =>
  Sandbox.use((sandbox) =>
    Effect.andThen(
      sandbox.clearFaults,
      fault === undefined ? Effect.void : sandbox.fault("requestWithdrawal", fault, { times: 1e9 })
    )
  )

/** A worker on the database of the test, until its scope closes. */
export const startWorker = (options: PayoutQueueOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(PayoutQueue.layer(options))), Context.get(PayoutQueue))

/** A process that sends nothing. */
export const startClient = (options: PayoutQueueOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(PayoutQueue.layerClient(options))), Context.get(PayoutQueue))

/** Lets the workers handle what is due, in a hundredth of a second. Each step lets the other fibers run. */
export const settle = Effect.repeat(TestClock.adjust("1 millis"), { times: 9 })

/** The state of a payout, why it is parked or for what it waits, and the step that a first person asked for: `parked Operator`. */
export const stateOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.status(reference), (found) => {
    if (Option.isNone(found)) return "absent"
    const { asked, because, state, waitsFor }: PayoutStatus & Record<string, unknown> = { ...found.value }
    return [state, because, waitsFor, asked?.step].filter(Boolean).join(" ")
  })
export const shown = (reference = "invoice-1") => PayoutQueue.use((queue) => stateOf(queue, reference))

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

/** Whether a request of a payout may have left. */
export const isInDoubt = (reference = "invoice-1") =>
  PayoutQueue.use((queue) =>
    Effect.map(queue.status(reference), (found) => "mayHaveLeftAt" in Option.getOrElse(found, () => ({})))
  )

/** The second at which each request of a payout was about to leave, after its submission. */
export const sentAt = (reference = "invoice-1") =>
  PayoutQueue.use((queue) =>
    Effect.map(queue.history(reference), ([first, ...changes]) =>
      changes
        .filter(({ _tag }) => _tag === "Marked")
        .map(({ at }) => Math.round((at.epochMilliseconds - (first?.at.epochMilliseconds ?? 0)) / 1000))
    )
  )

export const count = (state: "accepted" | "parked" | "posted") =>
  PayoutQueue.use((queue) => Stream.runCount(queue.list({ state })))

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
    const isOther = /^A test is using time, but is not|^PayoutQueue: .* are stored in clear/.test(line)
    if ((log.logLevel === "Warn" || log.logLevel === "Error") && !isOther) lines.push(edit(line, log))
  })
  return { lines, layer: Logger.layer([logger]) }
}
