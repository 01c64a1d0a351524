/**
 * The world of a simulation of money: a clock, a database, the gateway of each account, and two processes that use them. A process
 * dies or stands still before a statement, before a request or before its answer. A dead process is started again.
 */
import {
  Clock,
  Context,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Random,
  References,
  Redacted,
  Scheduler,
  Scope
} from "effect"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { type PayoutItem, type PayoutQueue, PayoutQueue as Queue, Payouts } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import { HttpClient } from "effect/http"
import { SqlClient, Statement } from "effect/sql"
import { OnDeath } from "../../src/internal/onDeath.ts"
import { OwnFault } from "../../src/sandbox/Reply.ts"
import { type Life, makeTime } from "../../src/rehearsal/internal/time.ts"
import { secrets } from "../support/canary.ts"
import { type Account, accounts, failedAtOnce, type Plan, usable } from "./moneyPlan.ts"
import { oneAttempt } from "../support/policies.ts"

/** What a process has of one account. */
export interface Services {
  readonly payments: Payments["Service"]
  readonly queue: PayoutQueue["Service"]
  readonly run: (items: ReadonlyArray<PayoutItem>) => Effect.Effect<unknown, unknown>
  readonly webhook: Webhook["Service"] & WebhookClient["Service"]
}

/** What a process has when it has started. */
export type Running = Readonly<Record<Account, Services>> & { readonly sql: SqlClient.SqlClient }

/** A process while it lives. */
export interface Process {
  readonly index: number
  readonly life: Life
  /** Its services, when it has started. */
  services?: Running
  /** Called at its death. */
  readonly onDeath: Set<() => void>
}

/** The database: it outlives the processes. */
export interface Store {
  /** A connection for the life of a process, and what its death undoes. */
  readonly connect: (
    process: number,
    onDeath: (action: () => void) => void
  ) => Effect.Effect<Context.Context<SqlClient.SqlClient>, unknown, Scope.Scope>
  /** Moves the clock of the world until this is done. */
  readonly move: (time: ReturnType<typeof makeTime>, isDone: () => boolean) => Effect.Effect<void>
}

const start = Date.UTC(2026, 0, 31, 12)
const restartAfter = 5000
const hour = 3_600_000

const tables = [
  "CREATE TABLE IF NOT EXISTS shipped (account VARCHAR(32), event VARCHAR(80))",
  "CREATE TABLE IF NOT EXISTS ledger (account VARCHAR(32), entry BIGINT, reference VARCHAR(40), state VARCHAR(20))"
]

/** Counts by name, from 1. */
const makeCounter = () => {
  const counts = new Map<string, number>()
  return (name: string) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count
  }
}

/** Makes the database in the world. */
export type MakeStore = Effect.Effect<Store, never, Scope.Scope>

export type World = Effect.Success<ReturnType<typeof makeWorld>>

export const makeWorld = Effect.fnUntraced(function* (plan: Plan, makeStore: MakeStore) {
  const time = makeTime(start, false)
  const lines: Array<string> = []
  const logger = Logger.make(({ fiber, logLevel, message }) => {
    lines.push(`${logLevel} ${String(message)} ${JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))}`)
  })
  const contextOf = (life: Life) =>
    Context.make(Clock.Clock, time.clock(life)).pipe(
      Context.add(Scheduler.Scheduler, time.scheduler(life)),
      Context.add(Logger.CurrentLoggers, new Set([logger])),
      Context.add(References.TracerEnabled, false)
    )
  const world: Life = { name: "world", isDead: false }
  const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.runForkWith(contextOf(world))(effect)
  const scope = Scope.makeUnsafe()
  /** Builds what outlives the processes. */
  const build = Effect.fnUntraced(function* <A>(effect: Effect.Effect<A, never, Scope.Scope>) {
    const fiber = fork(Scope.provide(effect, scope))
    yield* time.until(() => fiber.pollUnsafe() !== undefined, time.now(), 30_000)
    return yield* Fiber.join(fiber)
  })
  const store = yield* build(makeStore)
  let isCalm = false
  const count = makeCounter()
  const requests: Array<{ readonly account: Account; readonly key: string; readonly at: number }> = []

  const troubles = new Map(
    plan.troubles.map(({ account, at, nth, what }) => [
      [at, account, nth].filter((part) => part !== undefined).join(" "),
      what
    ])
  )
  /** What goes wrong with the next of its kind. */
  const next = (kind: string): string | undefined => (isCalm ? undefined : troubles.get(`${kind} ${count(kind)}`))

  let morning = start
  let nights = 0
  const startAfter = (millis: number, index: number) =>
    void fork(Effect.map(Effect.sleep(millis), () => startProcess(index)))
  const die = (process: Process) => {
    if (process.life.isDead) return
    time.kill(process.life)
    for (const action of process.onDeath) action()
    startAfter(Math.max(morning - time.now(), restartAfter), process.index)
  }
  /** Kills the process or lets it stand still, as the plan says. */
  const strike = (process: Process, kind: "statement" | "request" | "answer") => {
    const trouble = next(kind)
    if (trouble === undefined || process.life.isDead) return
    if (trouble === "the process dies") die(process)
    else time.stall(process.life)
  }
  const transformer =
    (process: Process): Statement.Transformer =>
    (statement) =>
      Effect.suspend(() => {
        strike(process, "statement")
        return process.life.isDead ? Effect.never : Effect.as(Effect.yieldNow, statement)
      })

  const gateways = yield* build(
    Effect.forEach(accounts, (account, index) =>
      Layer.build(
        Layer.provide(
          Layer.fresh(Sandbox.layer),
          Layer.succeed(SandboxOptions, {
            balance: 1_000_000_000,
            companyId: index + 1,
            clientId: `${secrets.clientId}${index}`,
            apiKey: Redacted.make(secrets.apiKey),
            seed: account,
            as: plan.isSeen ? "seen" : "documented"
          })
        )
      )
    )
  )
  const gatewayOf = (account: Account) => gateways[accounts.indexOf(account)]!
  const sandboxes = {
    default: Context.get(gatewayOf("default"), Sandbox),
    market: Context.get(gatewayOf("market"), Sandbox)
  }

  /** The client of a process. A request runs in the world, so that the gateway executes it although the process dies. */
  const transportOf = (process: Process, account: Account) => {
    const gateway = Context.get(gatewayOf(account), HttpClient.HttpClient)
    return HttpClient.make((request) =>
      Effect.suspend(() => {
        strike(process, "request")
        if (process.life.isDead) return Effect.never
        const trouble = next(`${request.method === "POST" ? "write" : "read"} ${account}`)
        const met = [...usable, failedAtOnce].find(({ name }) => name === trouble)
        const sent = Effect.provideService(gateway.execute(request), OwnFault, met?.fault)
        type Sent = Exit.Exit<Effect.Success<typeof sent>, Effect.Error<typeof sent>>
        return Effect.callback<Effect.Success<typeof sent>, Effect.Error<typeof sent>>((resume) => {
          time.enter(process.life, () => {
            if (request.method === "POST")
              requests.push({ account, key: request.headers["idempotency-key"] ?? "", at: time.now() })
            const going = fork(sent)
            going.addObserver((exit: Sent) => {
              strike(process, "answer")
              time.enter(process.life, () => resume(exit))
            })
          })
        })
      })
    )
  }

  const vault: Array<string> = []
  /** A seal without a thread: the stored text is the number of what it stands for. */
  const seal = {
    seal: (text: string) => Effect.sync(() => `sealed ${vault.push(text)}`),
    open: (sealed: string) => Effect.sync(() => vault[Number(sealed.split(" ")[1]) - 1] ?? "")
  }
  const policy = PaymentsPolicy.make({
    ...(plan.isPatient ? {} : oneAttempt),
    maxResponseBytes: 64 * 1024,
    retryBudget: "unlimited"
  })
  const servicesOf = (process: Process, account: Account, sql: SqlClient.SqlClient) =>
    Effect.gen(function* () {
      const { baseUrl, companyId, credentials } = sandboxes[account]
      const ship = ({ id }: { readonly id: string }) =>
        sql`INSERT INTO shipped (account, event) VALUES (${account}, ${id})`
      const client = yield* Layer.build(Payments.layer({ baseUrl, companyId })).pipe(
        Effect.provideService(HttpClient.HttpClient, transportOf(process, account)),
        Effect.provide([Credentials.layer(yield* credentials), IdempotencyKeyGen.layer])
      )
      const payments = Context.get(client, Payments)
      const context = yield* Layer.build(
        Webhook.layerSql({
          name: account,
          poll: "1 minute",
          onPaid: ship,
          onRefunded: ship,
          onClosed: ship,
          onWithdrawal: (hint) => Queue.use((queue) => queue.hint(hint))
        }).pipe(
          Layer.provideMerge(
            Queue.layer({
              account,
              seal,
              poll: "1 minute",
              concurrency: 4,
              confirm: plan.isSeen,
              onState: ({ reference, state }, { id }) =>
                sql`INSERT INTO ledger (account, entry, reference, state) VALUES (${account}, ${id}, ${reference}, ${state})`,
              ...(account === "market" && { dailyCap: plan.dailyCap })
            })
          ),
          Layer.provide([Layer.succeedContext(client), Layer.succeed(SqlClient.SqlClient, sql)])
        )
      )
      return {
        payments,
        queue: Context.get(context, Queue),
        run: (items: ReadonlyArray<PayoutItem>) => Effect.provideContext(Payouts.run(items), context),
        webhook: { ...Context.get(context, Webhook), ...Context.get(context, WebhookClient) }
      }
    })

  const processes: Array<Process> = []
  /** Called when a process has started. */
  const waiting: Array<() => void> = []
  const startProcess = (index: number): void => {
    const wait = morning - time.now()
    if (wait > 0) return startAfter(wait, index)
    const life: Life = { name: `process ${index}`, isDead: false }
    const process: Process = { index, life, onDeath: new Set() }
    processes[index] = process
    const program = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const table of tables) yield* sql.unsafe(table)
      const first = yield* servicesOf(process, "default", sql)
      const second = plan.isOfOneAccount === true ? first : yield* servicesOf(process, "market", sql)
      process.services = { default: first, market: second, sql }
      for (const wake of waiting.splice(0)) wake()
      return yield* Effect.never
    }).pipe(
      Effect.provide(Layer.effectContext(store.connect(index, (action) => void process.onDeath.add(action)))),
      Effect.scoped,
      Random.withSeed(`${plan.seed} ${index} ${count("life")}`)
    )
    Effect.runForkWith(
      contextOf(life).pipe(
        Context.add(Statement.CurrentTransformer, transformer(process)),
        Context.add(OnDeath, (action) => void process.onDeath.add(action)),
        Context.add(PaymentsPolicy, policy)
      )
    )(program).addObserver((exit) => {
      // A start that the other process disturbs, by its locks for example, is made again.
      if (Exit.isFailure(exit)) die(process)
    })
  }

  /** Runs an effect in a process, and returns its exit; `undefined` if the process died. */
  const runIn = <A, E>(index: number, use: (services: Running) => Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const alive = () => {
        const process = processes[index]
        return process?.services === undefined || process.life.isDead
          ? undefined
          : { process, services: process.services }
      }
      let found = alive()
      for (; found === undefined; found = alive()) {
        yield* Effect.callback<void>((resume) => void waiting.push(() => resume(Effect.void)))
      }
      const { process, services } = found
      const { life, onDeath } = process
      return yield* Effect.callback<Exit.Exit<A, E> | undefined>((resume) => {
        const end = (exit?: Exit.Exit<A, E>) => {
          onDeath.delete(end)
          resume(Effect.succeed(exit))
        }
        onDeath.add(end)
        time.enter(life, () => {
          const context = contextOf(life).pipe(
            Context.add(Statement.CurrentTransformer, transformer(process)),
            Context.add(OnDeath, (action) => void process.onDeath.add(action)),
            Context.add(PaymentsPolicy, policy)
          )
          Effect.runForkWith(context)(use(services)).addObserver((exit) => void (life.isDead || end(exit)))
        })
      })
    })

  /** Runs an effect of the world to its end, while the clock moves. */
  const run = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
    const fiber = fork(effect)
    yield* store.move(time, () => fiber.pollUnsafe() !== undefined)
    if (fiber.pollUnsafe() === undefined) return yield* Effect.die(new Error("Nothing moves any more."))
    return yield* Fiber.join(fiber)
  })
  const close = Effect.gen(function* () {
    for (const { life } of processes) time.kill(life)
    yield* build(Scope.close(scope, Exit.void))
    time.kill(world)
  })

  return {
    time,
    lines,
    requests,
    sandboxes,
    next,
    startProcess,
    runIn,
    /** How often the gateway forgot its keys. */
    nights: () => nights,
    /** Lets time pass. For hours no process lives, since their pollers would take long. After half a day the gateway has forgotten its keys. */
    pass: Effect.fnUntraced(function* (millis: number) {
      if (millis >= hour) {
        morning = time.now() + millis
        for (const process of processes) die(process)
      }
      yield* Effect.sleep(millis)
      if (millis < 12 * hour) return
      nights++
      for (const sandbox of Object.values(sandboxes)) yield* sandbox.forgetKeys
    }),
    run,
    close,
    /** Nothing goes wrong from now on. */
    calm: Effect.sync(() => void (isCalm = true))
  }
})
