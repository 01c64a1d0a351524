/**
 * Plays one schedule in a fresh world with its own time, gateway and stores. A process that dies is started again with the
 * same stores. The gateway finishes the requests that it began.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as References from "effect/References"
import { Scheduler } from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Credentials } from "../../../client/Credentials.ts"
import { IdempotencyKeyGen } from "../../../client/IdempotencyKeyGen.ts"
import { Payments } from "../../../client/Payments.ts"
import { OnDeath } from "../../../internal/onDeath.ts"
import type { RehearsalOptions } from "../../RehearsalOptions.ts"
import type { RehearsalDebt, RehearsalEnd, RehearsalFact, RehearsalWorld } from "../../RehearsalWorld.ts"
import { Sandbox } from "../../Sandbox.ts"
import type { SandboxChange } from "../../SandboxChange.ts"
import { SandboxOptions } from "../../SandboxOptions.ts"
import { type Call, makeCalls, nameOfFailure } from "./calls.ts"
import { Rehearsed } from "./declared.ts"
import { makeDeliveries } from "./deliveries.ts"
import type { Schedule } from "./schedules.ts"
import { makeStory, type Story, type StoryLine } from "./story.ts"
import { type Life, makeTime } from "./time.ts"
import { makeTransport } from "./transport.ts"

/** The result of a run. */
export interface Played extends RehearsalWorld {
  readonly calls: ReadonlyArray<Call>
  readonly deliveries: number
  readonly receives: boolean
  readonly story: ReadonlyArray<StoryLine>
  /** The problems that the user's own rules found, by the name of the rule. */
  readonly own: Readonly<Record<string, string | undefined>>
}

const start = Date.UTC(2026, 0, 31, 12)
const restartAfter = 5000
const tail = Duration.toMillis("1 hour")

/** How long the real work of a store may take, such as loading a driver: in real milliseconds. */
const worldWait = 30_000

/** Plays a schedule. Its clock is the rehearsal's, and the caller's context is not used. */
export const play = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Payments | S>,
  options: RehearsalOptions<S>,
  schedule: Schedule,
  isSlow = false
) {
  const time = makeTime(start, isSlow)
  const story = makeStory(time.now)
  const world: Life = { name: "world", isDead: false }
  const { disturbance } = schedule

  const contextOf = (life: Life) =>
    Context.make(Clock.Clock, time.clock(life)).pipe(
      Context.add(Scheduler, time.scheduler(life)),
      Context.add(References.MinimumLogLevel, "None")
    )
  const forkInWorld = <B, F>(effect: Effect.Effect<B, F>): Fiber.Fiber<B, F> =>
    Effect.runForkWith(contextOf(world))(effect)
  /** Runs an effect of the world to its end. */
  const inWorld = Effect.fnUntraced(function* <B>(effect: Effect.Effect<B>) {
    const fiber = forkInWorld(effect)
    yield* time.until(() => fiber.pollUnsafe() !== undefined, Infinity, worldWait)
    return yield* fiber.pollUnsafe() ?? Effect.die(new Error("Rehearsal: the world stopped. Does a store never end?"))
  })

  const seeded = <B, F, R>(effect: Effect.Effect<B, F, R>, part: string) =>
    Random.withSeed(effect, `${options.seed ?? ""}/${schedule.name}/${part}`)

  // The world has the gateway, and the stores that survive a process.
  const scope = Scope.makeUnsafe()
  const onDeath: Array<() => void> = []
  const gateway = yield* inWorld(
    Layer.buildWithScope(
      Layer.provide(Sandbox.layer, Layer.succeed(SandboxOptions, { balance: 100_000_000, ...options.sandbox })),
      scope
    )
  )
  const sandbox = Context.get(gateway, Sandbox)
  // Without stores the program needs none: `S` is never.
  const layer = options.stores ?? (Layer.empty as Layer.Layer<S>)
  const stores = yield* inWorld(
    Layer.buildWithScope(layer, scope).pipe(
      Effect.orDie,
      Effect.provideService(OnDeath, (action) => void onDeath.push(action)),
      (build) => seeded(build, "stores")
    )
  )
  const credentials = Credentials.layer(yield* inWorld(sandbox.credentials))

  yield* inWorld(
    Effect.gen(function* () {
      yield* Effect.forkIn(Stream.runForEach(sandbox.changes, noteChange(story)), scope)
      yield* Effect.yieldNow
    })
  )

  // The current process.
  const facts: Array<RehearsalFact> = []
  const owed: Array<RehearsalDebt> = []
  let process = 0
  let life: Life = { name: "no process", isDead: true }
  const die = (why: string) => {
    story.add(`${life.name} dies ${why}`)
    time.kill(life)
    deliveries.receive(undefined)
    for (const action of onDeath) action()
  }

  const forge = (transactionId: string) => {
    const text = JSON.stringify({ event: "transaction.updated", transactionId, status: "Paid" })
    forkInWorld(deliveries.forge(text))
  }
  const pay = (call: number, transactionId: string, after: Duration.Input) => {
    const how = disturbance?._tag === "Charge" && disturbance.call === call ? disturbance.how : undefined
    if (how === "lapses") return
    const step = how === "fails" ? sandbox.fail : sandbox.markPaid
    forkInWorld(Effect.delay(Effect.ignore(step(transactionId)), after))
  }
  const calls = makeCalls({
    now: time.now,
    story,
    onEnd: ({ number, operation, result, transactionId }) => {
      if (operation !== "createTransaction" || result !== "Succeeded" || transactionId === undefined) return
      if (disturbance?._tag === "Forgery" && disturbance.call === number) forge(transactionId)
      if (options.payAfter !== undefined) pay(number, transactionId, options.payAfter)
    }
  })
  const deliveries = makeDeliveries({
    story,
    forkInWorld,
    forkInProcess: (effect) =>
      Effect.callback((resume) => {
        const here = life
        Effect.runForkWith(contextOf(here))(effect).addObserver((exit) => {
          if (!here.isDead) resume(exit)
        })
      }),
    disturbed: disturbance?._tag === "Delivery" ? disturbance : undefined
  })
  yield* inWorld(sandbox.subscribe(deliveries.target))
  if (options.meanwhile !== undefined) {
    const outside = Context.merge(contextOf(world), Context.add(stores, Sandbox, sandbox))
    Effect.runForkWith(outside)(seeded(options.meanwhile, "meanwhile")).addObserver((exit) => {
      if (Exit.isFailure(exit)) story.add(`what runs meanwhile failed with ${nameOfFailure(exit.cause)}`)
    })
  }

  /** Starts a process, and returns its fiber. */
  const startProcess = Effect.fnUntraced(function* () {
    process += 1
    const number = process
    life = { name: `process ${number}`, isDead: false }
    const here = life
    story.add(`${here.name} starts`)
    const transport = makeTransport({
      gateway: Context.get(gateway, HttpClient.HttpClient),
      life: here,
      disturbance,
      forkInWorld,
      die,
      story
    })
    const client = yield* inWorld(
      Payments.make({ baseUrl: sandbox.baseUrl, companyId: sandbox.companyId }).pipe(
        Effect.provideService(HttpClient.HttpClient, transport),
        Effect.provideService(IdempotencyKeyGen, calls.keys),
        Effect.provide(credentials),
        Effect.orDie
      )
    )
    const services = Context.merge(contextOf(here), Context.add(stores, Payments, calls.count(client, number))).pipe(
      Context.add(Rehearsed, {
        fact: (name, detail) => {
          facts.push({ name, detail, at: time.now(), process: number })
          story.add(`fact ${name}: ${JSON.stringify(detail)}`)
        },
        owes: (reference, amount) => {
          if (owed.some((debt) => debt.reference === reference)) return
          owed.push({ reference, amount, at: time.now() })
          story.add(`owed: ${amount} centavos for ${JSON.stringify(reference)}`)
        },
        receive: (handler) => {
          if (here.isDead) return
          deliveries.receive(handler)
          story.add(`${here.name} receives webhooks`)
        }
      })
    )
    return Effect.runForkWith(services)(seeded(program, here.name))
  })

  const most = options.mostCalls ?? 10_000
  const patience = Duration.toMillis(Duration.fromInputUnsafe(options.stopAfter ?? options.within ?? "2 days"))
  const stopAt = options.stopAfter === undefined ? undefined : time.now() + patience
  if (stopAt !== undefined) forkInWorld(Effect.sleep(patience))
  let exit: Exit.Exit<A, E> | undefined
  let isStopped = false
  for (;;) {
    const fiber = yield* startProcess()
    const here = life
    const isOver = () => stopAt !== undefined && time.now() >= stopAt
    yield* time.until(
      () => here.isDead || fiber.pollUnsafe() !== undefined || calls.all().length > most || isOver(),
      stopAt ?? time.now() + patience
    )
    if (here.isDead) {
      yield* inWorld(Effect.sleep(restartAfter))
      continue
    }
    exit = fiber.pollUnsafe()
    isStopped = exit === undefined && isOver()
    if (isStopped) {
      fiber.interruptUnsafe()
      yield* time.until(() => fiber.pollUnsafe() !== undefined, time.now() + tail)
      story.add(`${here.name} is stopped`)
    }
    break
  }

  const end = endOf(exit, isStopped)
  const cause = exit !== undefined && Exit.isFailure(exit) ? exit.cause : undefined
  if (end === "NotEnded") story.add(`${life.name} does not end`)
  else if (end !== "Stopped") {
    story.add(`${life.name} ends: ${cause === undefined ? "it succeeded" : `it failed with ${nameOfFailure(cause)}`}`)
  }
  const endedAt = time.now()
  deliveries.receive(undefined)
  time.kill(life)
  // The gateway still executes late requests.
  yield* time.until(() => false, time.now() + tail, 0)

  const ledger: RehearsalWorld = {
    schedule: schedule.name,
    calls: calls.all(),
    facts,
    owed,
    end,
    endedAt,
    result: exit !== undefined && Exit.isSuccess(exit) ? exit.value : cause && Cause.squash(cause),
    transactions: yield* inWorld(sandbox.transactions),
    withdrawals: yield* inWorld(sandbox.withdrawals)
  }
  const own: Record<string, string | undefined> = {}
  for (const [name, rule] of Object.entries(options.rules ?? {})) {
    const checked = Effect.provideContext(
      Effect.match(rule(ledger), { onFailure: String, onSuccess: () => undefined }),
      stores
    )
    own[name] = yield* inWorld(checked)
  }
  yield* inWorld(Scope.close(scope, Exit.void))
  time.kill(world)
  const played: Played = {
    ...ledger,
    calls: calls.all(),
    deliveries: deliveries.received(),
    receives: deliveries.hasReceived(),
    story: story.lines(),
    own
  }
  return played
})

/** Writes the changes of the ledger into the story. */
const noteChange = (story: Story) => (change: SandboxChange) =>
  Effect.sync(() => {
    if (change._tag === "Withdrawal") {
      const { amount, id, idempotencyKey, status } = change.withdrawal
      const executed = status === "Awaiting" ? "is executed" : `is ${status}`
      story.add(`ledger: payout ${id} of ${amount} centavos ${executed}, key ${idempotencyKey}`)
    }
    if (change._tag === "Transaction") {
      const { amount, status, transactionId } = change.transaction
      story.add(`ledger: charge ${transactionId} of ${amount} centavos is ${status}`)
    }
  })

const endOf = (exit: Exit.Exit<unknown, unknown> | undefined, isStopped: boolean): RehearsalEnd => {
  if (exit === undefined) return isStopped ? "Stopped" : "NotEnded"
  return Exit.isSuccess(exit) ? "Succeeded" : "Failed"
}
