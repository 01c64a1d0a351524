/**
 * The gateway, the client and the databases that the runs of one program of the docs share, as two runs of a program in one process
 * share them. `sandbox.ts` and `node.ts` beside it give them to a program in the place of what it imports.
 */
import { Context, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { Payments, type PaymentsError, PaymentsPolicy, type WithdrawalLookup } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Fault, Sandbox } from "effect-pix/sandbox"
import type { SqlClient } from "effect/sql"

/** What a program was told of a write. */
export interface Told {
  readonly key: string | undefined
  /** `Executed`, the outcome of the error, or what ended the call. */
  readonly outcome: string
  readonly tag: string
}

const told: Array<Told> = []

/** Notes how each write of the program ends. A copy of the client's own service keeps what is hidden in it. */
const noting = (payments: Payments["Service"]): Payments["Service"] => {
  const note = <A extends { readonly idempotencyKey: string }, E extends PaymentsError>(call: Effect.Effect<A, E>) =>
    call.pipe(
      Effect.tap(({ idempotencyKey: key }) =>
        Effect.sync(() => told.push({ key, outcome: "Executed", tag: "Success" }))
      ),
      Effect.tapError((error) =>
        Effect.sync(() => {
          const { _tag: tag, outcome } = error
          told.push({ key: "idempotencyKey" in error ? error.idempotencyKey : undefined, outcome, tag })
        })
      )
    )
  return {
    ...payments,
    // The overloads of the method have one implementation.
    createTransaction: ((request: never, options: never) =>
      note(payments.createTransaction(request, options))) as Payments["Service"]["createTransaction"],
    requestWithdrawal: (request, options) => note(payments.requestWithdrawal(request, options))
  }
}

/** Without a wait between the attempts of a call. */
const policy = PaymentsPolicy.layer({ retryWrites: Schedule.recurs(2), retryReads: Schedule.recurs(2) })

type Gateway = Payments | WithdrawalLookup | Sandbox

let gateway: Context.Context<Gateway> | undefined
let scope = Scope.makeUnsafe()
const databases = new Map<string, Promise<Layer.Layer<SqlClient.SqlClient>>>()

export const layerPayments: Layer.Layer<Gateway> = Layer.suspend(() => {
  if (gateway === undefined) throw new Error("no program is played")
  return Layer.succeedContext(gateway)
})

export const layerSqlite = ({ filename }: { readonly filename: string }) =>
  Layer.unwrap(
    Effect.promise(() => {
      const built =
        databases.get(filename) ??
        Effect.runPromise(
          Effect.map(Layer.buildWithScope(NodeSqlite.layer({ filename: ":memory:" }), scope), Layer.succeedContext)
        )
      databases.set(filename, built)
      return built
    })
  )

/** Begins a world of its own. */
export const begin = async (): Promise<void> => {
  const built = await Effect.runPromise(Layer.buildWithScope(Layer.provide(Sandbox.layerPayments, policy), scope))
  gateway = Context.add(built, Payments, noting(Context.get(built, Payments)))
  // What lacks funds would be no payout.
  await use(({ credit }) => credit(1_000_000))
}

export const end = async (): Promise<void> => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  scope = Scope.makeUnsafe()
  gateway = undefined
  databases.clear()
  told.length = 0
}

const use = <A, E>(f: (sandbox: Sandbox["Service"]) => Effect.Effect<A, E>): Promise<A> => {
  if (gateway === undefined) throw new Error("no program is played")
  return Effect.runPromise(f(Context.get(gateway, Sandbox)))
}

const writes = ["createTransaction", "requestWithdrawal"] as const

/** The first requests of each write are executed, and their answers are lost. */
export const loseAnswers = (times: number) =>
  use(({ fault }) => Effect.forEach(writes, (write) => fault(write, Fault.resetAfter, { times })))

/** The first request of each write is refused, and the next ones are not disturbed. */
export const refuse = () =>
  use(({ clearFaults, fault }) =>
    Effect.andThen(
      clearFaults,
      Effect.forEach(writes, (write) => fault(write, Fault.refusal(422, "Conta encerrada")))
    )
  )

/** The keys of what was executed, the writes that were sent, and what the program was told. */
export const seen = () =>
  use(({ requests, transactions, withdrawals }) =>
    Effect.map(Effect.all([requests, transactions, withdrawals]), ([sent, charges, payouts]) => ({
      executed: [...charges, ...payouts].map(({ idempotencyKey }) => idempotencyKey),
      paid: payouts.length,
      sent: sent.filter(({ operation }) => writes.some((write) => write === operation)).length,
      told: [...told]
    }))
  )
