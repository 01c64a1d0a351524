/** What a gateway answers to requests for payouts, and what a call fails with then. */
import { Deferred, Effect } from "effect"
import { Fault, Sandbox } from "effect-pix/sandbox"
import {
  AuthError,
  IdempotencyConflict,
  InsufficientBalance,
  LimitReached,
  OutcomeUnknown,
  RateLimited,
  RequestRejected,
  ServiceUnavailable
} from "../../src/contract/PaymentsError.ts"
import { play } from "../../src/sandbox/Reply.ts"

const common = (idempotencyKey: string) =>
  ({ operation: "requestWithdrawal", attempts: 1, idempotencyKey, status: 422 }) as const
export const failures = {
  unknown: (key: string) =>
    new OutcomeUnknown({ ...common(key), outcome: "Unknown", reason: "Timeout", idempotencyKey: key }),
  conflict: (key: string) => new IdempotencyConflict({ ...common(key), outcome: "Unknown" }),
  poor: (key: string) => new InsufficientBalance({ ...common(key), outcome: "Rejected" }),
  limited: (key: string) => new LimitReached({ ...common(key), outcome: "Rejected" }),
  auth: (key: string, status = 401) => new AuthError({ ...common(key), outcome: "Rejected", status }),
  down: (key: string, reason: "NoConnection" | "OtherClientId" = "NoConnection") =>
    new ServiceUnavailable({ ...common(key), outcome: "NotSent", reason }),
  throttled: (key: string) => new RateLimited({ ...common(key), outcome: "Rejected", status: 429 }),
  redirected: (key: string, status = 308) => new RequestRejected({ ...common(key), outcome: "Rejected", status }),
  refused: (key: string) => new RequestRejected({ ...common(key), outcome: "Rejected", serviceMessage: "Recusado" })
}

/** Answers of a gateway. */
export const poor = Fault.refusal(422, "Saldo insuficiente")
export const refused = Fault.refusal(422, "Conta encerrada")
export const unauthorised = Fault.refusal(401, "Credenciais inválidas")

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
    // The plan of a gateway takes it, as those of `rawReplies.ts`. A program can make records only.
    held: { reply } as unknown as Fault.Fault,
    arrived: Deferred.await(arrived),
    answer: (fault: Fault.Fault = Fault.none) => Deferred.succeed(met, fault)
  }
})

/** All requests from now on meet this, until it is called with nothing. */
export const meetAll = (fault?: Fault.Fault) =>
  Sandbox.use((sandbox) =>
    Effect.andThen(
      sandbox.clearFaults,
      fault === undefined ? Effect.void : sandbox.fault("requestWithdrawal", fault, { times: 1e9 })
    )
  )
