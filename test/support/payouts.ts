/**
 * A queue of payouts in memory over a sandbox whose script names what each request of a reference meets, and the failures of
 * requests.
 */
import { Deferred, Effect, Layer, Option, type Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
import { Credentials, IdempotencyKey, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
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
import { memory } from "./payoutQueue.ts"

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

const once = PaymentsPolicy.layer(PaymentsPolicy.once)

/** A gateway and a database in memory, whose clients send one request an attempt, or those of another policy. */
export const worldOf = (script: Script = {}, policy: Layer.Layer<never> = once) =>
  Layer.mergeAll(gatewayOf(script), Layer.fresh(memory), policy)

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

/** The state of a payout, and why it is parked or what it waits for: `parked Operator`. */
export const shown = (reference = "invoice-1") =>
  PayoutQueue.use((queue) =>
    Effect.map(queue.status(reference), (found) => {
      if (Option.isNone(found)) return "absent"
      const { because, state, waitsFor }: Record<string, unknown> = { ...found.value }
      return [state, because ?? waitsFor].filter(Boolean).join(" ")
    })
  )

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
