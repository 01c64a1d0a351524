/**
 * The gateway, the client and the databases that the runs of one program of the docs share, as two runs of a program in one process
 * share them. The modules beside it give them to a program in the place of what it imports.
 */
import { Context, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { Payments, type PaymentsClient, type PaymentsError, PaymentsPolicy, type WithdrawalLookup } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import type { HttpClient } from "effect/http"
import { SqlClient } from "effect/sql"

/** What a program was told of a write. */
export interface Told {
  readonly key: string | undefined
  readonly operation: "createTransaction" | "requestWithdrawal"
  /** `Executed`, or the outcome of the error. */
  readonly outcome: string
  readonly tag: string
  /** It says that nothing moved, of a key that was executed, and of which no success was told before. */
  readonly isFalse: boolean
}

type Gateway = Payments | WithdrawalLookup | PaymentsClient | Sandbox | HttpClient.HttpClient
type Step = (sandbox: Sandbox["Service"]) => Effect.Effect<unknown>
type WriteOptions = Parameters<Payments["Service"]["requestWithdrawal"]>[1]

const makeWorld = (isCareless: boolean) => ({
  scope: Scope.makeUnsafe(),
  /** Built at its first use, with the options of the program. */
  gateway: undefined as Promise<Context.Context<Gateway>> | undefined,
  /** What happens to the gateway before its first use. */
  before: (() => Effect.void) as Step,
  databases: new Map<string, Promise<Context.Context<SqlClient.SqlClient>>>(),
  mains: [] as Array<Promise<unknown>>,
  told: [] as Array<Told>,
  isCareless,
  saysUnknown: false
})

let world = makeWorld(false)

/** Begins a world of its own. In a careless one, a call says "None" of its key, whatever the program says. */
export const begin = (isCareless: boolean): void => {
  world = makeWorld(isCareless)
}

const executed = ({ transactions, withdrawals }: Sandbox["Service"]) =>
  Effect.map(Effect.all([transactions, withdrawals]), ([charges, payouts]) => ({
    charges: charges.map(({ idempotencyKey }) => idempotencyKey),
    payouts: payouts.map(({ idempotencyKey }) => idempotencyKey)
  }))

/** A wrong input is about the call alone, and says nothing of an earlier one. */
const aboutCall = new Set(["InvalidRequest", "BelowMinimum"])

/** Notes how each write of the program ends. A copy of the client's own service keeps what is hidden in it. */
const noting = (payments: Payments["Service"], sandbox: Sandbox["Service"]): Payments["Service"] => {
  const said = (options: WriteOptions): WriteOptions => {
    const key = options?.idempotencyKey ?? options?.after?.idempotencyKey
    if (key === undefined || options?.earlier === "None") return options
    world.saysUnknown = true
    return world.isCareless ? { idempotencyKey: key, earlier: "None" } : options
  }
  const note = <A extends { readonly idempotencyKey: string }, E extends PaymentsError>(
    operation: Told["operation"],
    call: Effect.Effect<A, E>
  ) => {
    const tell = (key: string | undefined, outcome: string, tag: string, isFalse = false) =>
      void world.told.push({ key, operation, outcome, tag, isFalse })
    return call.pipe(
      Effect.tap(({ idempotencyKey }) => Effect.sync(() => tell(idempotencyKey, "Executed", "Success"))),
      Effect.tapError((error) => {
        const { _tag: tag, outcome } = error
        const key = "idempotencyKey" in error ? error.idempotencyKey : undefined
        const isKnown = world.told.some((one) => one.key === key && one.outcome === "Executed")
        if (outcome === "Unknown" || aboutCall.has(tag) || key === undefined || isKnown)
          return Effect.sync(() => tell(key, outcome, tag))
        return Effect.map(executed(sandbox), ({ charges, payouts }) =>
          tell(key, outcome, tag, [...charges, ...payouts].includes(key))
        )
      })
    )
  }
  return {
    ...payments,
    // The overloads of the method have one implementation.
    createTransaction: ((request: never, options: WriteOptions) =>
      note(
        "createTransaction",
        payments.createTransaction(request, said(options))
      )) as Payments["Service"]["createTransaction"],
    requestWithdrawal: (request, options) =>
      note("requestWithdrawal", payments.requestWithdrawal(request, said(options)))
  }
}

/** Without a wait between the attempts of a call. */
const policy = PaymentsPolicy.layer({ retryWrites: Schedule.recurs(2), retryReads: Schedule.recurs(2) })

const build = (options: typeof SandboxOptions.Service) =>
  Effect.gen(function* () {
    const { before, scope } = world
    const layer = Layer.merge(Sandbox.layerPayments, Sandbox.layer)
    const built = yield* Layer.buildWithScope(
      Layer.provide(layer, [policy, Layer.succeed(SandboxOptions, options)]),
      scope
    )
    const sandbox = Context.get(built, Sandbox)
    // What lacks funds would be no payout.
    yield* sandbox.credit(10_000_000)
    yield* before(sandbox)
    return Context.add(built, Payments, noting(Context.get(built, Payments), sandbox))
  })

export const layerPayments: Layer.Layer<Gateway> = Layer.effectContext(
  Effect.flatMap(SandboxOptions, (options) =>
    Effect.promise(() => (world.gateway ??= Effect.runPromise(Effect.orDie(build(options)))))
  )
)

export const layerSqlite = ({ filename }: { readonly filename: string }) =>
  Layer.effectContext(
    Effect.promise(() => {
      const { databases, scope } = world
      const built =
        databases.get(filename) ??
        Effect.runPromise(Layer.buildWithScope(NodeSqlite.layer({ filename: ":memory:" }), scope))
      databases.set(filename, built)
      return built
    })
  )

/** Runs the main effect of a program, which is then awaited as a part of it. */
export const runMain = <A, E>(main: Effect.Effect<A, E>): void => {
  world.mains.push(Effect.runPromise(main))
}

/** Ends when all of the program's main effects have. */
export const mainsEnd = async (): Promise<void> => {
  await Promise.all(world.mains)
}

export const end = async (): Promise<void> => {
  await Effect.runPromise(Scope.close(world.scope, Exit.void))
}

/** Does it to the gateway now, or before its first use. */
const use = async (step: Step): Promise<void> => {
  const { gateway } = world
  if (gateway === undefined) world.before = step
  else await Effect.runPromise(step(Context.get(await gateway, Sandbox)))
}

/** The first requests of the write are executed, and their answers are lost. */
export const loseAnswers = (write: Told["operation"]) =>
  use(({ fault }) => fault(write, Fault.resetAfter, { times: 3 }))

/** The first request of the write is refused, and the next ones are not disturbed. */
export const refuse = (write: Told["operation"]) =>
  use(({ clearFaults, fault }) => Effect.andThen(clearFaults, fault(write, Fault.refusal(422, "Conta encerrada"))))

/** Nothing is disturbed. */
export const calm = () => use(({ clearFaults }) => clearFaults)

/** The payouts of a database with these states. One without a queue has none. */
const payoutsIn = (states: ReadonlyArray<string>) =>
  SqlClient.SqlClient.use(
    (sql) => sql<{ readonly account: string; readonly reference: string; readonly idempotency_key: string }>`
      SELECT account, reference, idempotency_key FROM effect_pix_payouts WHERE ${sql.in("state", states)}`
  ).pipe(Effect.orElseSucceed(() => []))

/** A worker sends what a program has submitted, where the program ends before it is sent. */
export const work = async (): Promise<void> => {
  const send = Effect.gen(function* () {
    for (const { account, reference } of yield* payoutsIn(["accepted"]))
      yield* PayoutQueue.use((queue) => queue.await(reference)).pipe(
        Effect.provide(Layer.provide(PayoutQueue.layer({ account }), layerPayments))
      )
  })
  for (const database of world.databases.values()) await Effect.runPromise(Effect.provide(send, await database))
}

/** What was executed, what the program was told, and what a queue says was refused and was executed. */
export const seen = async () => {
  const { databases, gateway, saysUnknown, told } = world
  const { charges, payouts } =
    gateway === undefined
      ? { charges: [], payouts: [] }
      : await Effect.runPromise(executed(Context.get(await gateway, Sandbox)))
  const refused: Array<string> = []
  for (const database of databases.values())
    refused.push(
      ...(await Effect.runPromise(Effect.provide(payoutsIn(["refused"]), await database))).map(
        (row) => row.idempotency_key
      )
    )
  return { charges, payouts, told, saysUnknown, refusedFalsely: refused.filter((key) => payouts.includes(key)) }
}
