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
import { constVoid } from "effect/Function"
import type * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as References from "effect/References"
import { Scheduler } from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Credentials } from "../../client/Credentials.ts"
import { IdempotencyKeyGen } from "../../client/IdempotencyKeyGen.ts"
import { Payments } from "../../client/Payments.ts"
import { OnDeath } from "../../internal/onDeath.ts"
import { CurrentRehearsal } from "../../internal/rehearsal.ts"
import type { RehearsalOptions } from "../RehearsalOptions.ts"
import type { RehearsalEnd, RehearsalWorld } from "../RehearsalWorld.ts"
import { Sandbox } from "../../sandbox/Sandbox.ts"
import { SandboxOptions } from "../../sandbox/SandboxOptions.ts"
import { type Called, makeCalls, nameOfFailure } from "./calls.ts"
import { makeDeclarations } from "./declarations.ts"
import { makeDisturber, makeTransport, type Stage } from "./disturber.ts"
import { CurrentWebhook, makeDeliveries, makePayer } from "./outside.ts"
import type { Schedule, Trace } from "./schedules.ts"
import { buildStores, type Connected, OnStep, type Tables } from "./stores.ts"
import { type Line, makeStory, noteChange, type ShortName } from "./story.ts"
import { type Life, makeTime } from "./time.ts"

/** The result of a run. */
export interface Played extends RehearsalWorld, Trace {
  readonly calls: Trace["calls"]
  /** Whether a failure of the program is one that somebody hears of. */
  readonly isExcused: boolean
  readonly story: ReadonlyArray<Line>
  readonly legend: ReadonlyArray<ShortName>
  /** The problems that the user's own rules found, by the name of the rule. */
  readonly own: Readonly<Record<string, string | undefined>>
  /** The library's own tables, as the program left them. */
  readonly tables: Tables | undefined
}

const start = Date.UTC(2026, 0, 31, 12)
const restartAfter = 5000
/** What a process has taken before its death is free again after this time. */
const recovery = "30 minutes"
/** A program that is meant to end, and takes longer or makes more calls, does not end. An outage prolongs its waits by a day. */
const longest = "4 days"
const mostCalls = 10_000

const tail = Duration.toMillis("1 hour")

/** How long the real work of a store may take, such as loading a driver: in real milliseconds. */
const worldWait = 30_000

/** The clock of a run, and how effects run by it. */
const makeTimes = (isSlow: boolean, prolonging: () => number) => {
  const time = makeTime(start, isSlow, prolonging)
  const world: Life = { name: "world", isDead: false, isExact: true }
  const contextOf = (life: Life) =>
    Context.make(Clock.Clock, time.clock(life)).pipe(
      Context.add(Scheduler, time.scheduler(life)),
      // Nobody reads logs or spans of a rehearsal: a tenth of its time.
      Context.add(References.MinimumLogLevel, "None"),
      Context.add(References.TracerEnabled, false)
    )
  const forkInWorld = <B, F>(effect: Effect.Effect<B, F>): Fiber.Fiber<B, F> =>
    Effect.runForkWith(contextOf(world))(effect)
  /** Runs an effect of the world to its end. */
  const inWorld = Effect.fnUntraced(function* <B>(effect: Effect.Effect<B>) {
    const fiber = forkInWorld(effect)
    yield* time.until(() => fiber.pollUnsafe() !== undefined, Infinity, worldWait)
    return yield* fiber.pollUnsafe() ?? Effect.die(new Error("Rehearsal: the world stopped. Does a store never end?"))
  })
  return { time, contextOf, forkInWorld, inWorld, endWorld: () => time.kill(world) }
}

/** What is around a program in one run, and the record of what it does. */
const makeWorld = Effect.fnUntraced(function* <S>(
  options: RehearsalOptions<S>,
  schedule: Schedule,
  tables: Tables | undefined,
  isSlow: boolean
) {
  const { processes = 1, stopAfter = longest } = options
  const patience = Duration.toMillis(Duration.fromInputUnsafe(stopAfter))
  /** When the run is stopped at the latest. */
  const end = { at: start + patience }
  const times = makeTimes(isSlow, () => disturber.prolonging())
  const { contextOf, forkInWorld, inWorld, time } = times
  const { now } = time
  const story = makeStory(now, processes)
  const disturber = makeDisturber(
    schedule,
    now,
    story,
    () => calls.all(),
    () => end.at
  )
  const scope = Scope.makeUnsafe()
  const settings = Layer.succeed(SandboxOptions, { balance: 100_000_000, ...options.sandbox })
  const gateway = yield* inWorld(Layer.buildWithScope(Layer.provide(Sandbox.layer, settings), scope))
  const sandbox = Context.get(gateway, Sandbox)
  const stage: Stage = { now, story, disturber, sandbox, forkInWorld }
  const deliveries = makeDeliveries(stage, (life, effect) =>
    Effect.callback((resume) => {
      time.enter(life, () =>
        Effect.runForkWith(contextOf(life))(effect).addObserver((exit) => {
          if (!life.isDead) resume(exit)
        })
      )
    })
  )
  const payer = makePayer(stage, deliveries, options)
  const calls = makeCalls(now, story, {
    onBegin: (call, context) => {
      const { number, operation } = call
      disturber.add({ kind: "call", number, name: operation, webhook: Context.get(context, CurrentWebhook) })
      payer.onLookup(call)
    },
    onEnd: payer.onAnswer
  })
  const followed = Stream.runForEach(sandbox.changes, (change) =>
    Effect.sync(() => {
      noteChange(story, change)
      payer.onChange(change)
    })
  )
  const following = yield* inWorld(Effect.tap(Effect.forkIn(followed, scope), Effect.yieldNow))
  // Without stores the program needs none: `S` is never.
  const layer = options.stores ?? (Layer.empty as Layer.Layer<S>)
  // The same random numbers in each schedule: a run goes on as another one until it is disturbed.
  const built = Random.withSeed(buildStores(layer, processes, tables), "stores")
  const stores = yield* inWorld(Scope.provide(Effect.provideService(built, Sandbox, sandbox), scope))
  yield* inWorld(sandbox.subscribe(deliveries.target))
  return {
    ...times,
    ...stores,
    options,
    patience,
    end,
    stage,
    scope,
    http: Context.get(gateway, HttpClient.HttpClient),
    credentials: Credentials.layer(yield* inWorld(sandbox.credentials)),
    deliveries,
    calls,
    declarations: makeDeclarations(stage),
    following
  }
})

type World<S> = Effect.Success<ReturnType<typeof makeWorld<S>>>

/** A process that runs, or has ended. */
interface Running<A, E, S> {
  readonly number: number
  readonly life: Life
  readonly connected: Connected<S>
  /** It may die before its first wait, and then it has none. */
  fiber?: Fiber.Fiber<A, E>
}

const exitOf = <A, E, S>({ fiber }: Running<A, E, S>): Exit.Exit<A, E> | undefined => fiber?.pollUnsafe()
const hasEnded = <A, E, S>(one: Running<A, E, S>): boolean => exitOf(one) !== undefined

/** The process that says how the program ended: first one that does not end, then one that failed. */
const lastOf = <A, E, S>(running: ReadonlyArray<Running<A, E, S>>) =>
  running.find((one) => !hasEnded(one)) ?? running.find((one) => exitOf(one)?._tag === "Failure") ?? running[0]

/** The end of a process in words. */
const wordsOf = (exit: Exit.Exit<unknown, unknown> | undefined): string => {
  if (exit === undefined) return "does not end"
  return Exit.isSuccess(exit) ? "ends: it succeeded" : `ends: it failed with ${nameOfFailure(exit.cause)}`
}

const endOf = (exit: Exit.Exit<unknown, unknown> | undefined, isStopped: boolean): RehearsalEnd => {
  if (exit === undefined) return isStopped ? "Stopped" : "NotEnded"
  return Exit.isSuccess(exit) ? "Succeeded" : "Failed"
}

/** Starts processes of a program, each with a number of its own. */
const makeStart = <A, E, S>(program: Effect.Effect<A, E, Called | S>, world: World<S>) => {
  const { calls, contextOf, declarations, deliveries, stage, time } = world
  let started = 0

  const clientOf = (life: Life, die: (why: string) => Effect.Effect<never>) => {
    const { baseUrl, companyId } = stage.sandbox
    const transport = makeTransport(world.http, stage, {
      enter: (run) => time.enter(life, run),
      die,
      stall: (why) => {
        stage.story.add(`${life.name} stands still ${why}`)
        time.stall(life)
      }
    })
    return Effect.scoped(Layer.build(Payments.layer({ baseUrl, companyId }))).pipe(
      Effect.provideService(HttpClient.HttpClient, transport),
      Effect.provideService(IdempotencyKeyGen, calls.keys),
      Effect.provide(world.credentials),
      Effect.orDie
    )
  }

  return Effect.fnUntraced(function* (connected: Connected<S>) {
    const number = ++started
    const life: Life = { name: `process ${number}`, isDead: false }
    const one: Running<A, E, S> = { number, life, connected }
    const die = (why: string) => {
      if (!life.isDead) {
        stage.story.add(`${life.name} dies ${why}`)
        time.kill(life)
        deliveries.forget(life)
        for (const action of connected.onDeath) action()
      }
      return Effect.never
    }
    stage.story.add(`${life.name} starts`)
    if (world.options.stopAfter === undefined) world.end.at = time.now() + world.patience
    const client = calls.count(yield* world.inWorld(clientOf(life, die)), number)
    const services = Context.merge(contextOf(life), Context.merge(connected.stores, client)).pipe(
      Context.add(OnStep, declarations.onStep(life, die)),
      Context.add(OnDeath, (action) => void connected.onDeath.push(action)),
      Context.add(CurrentRehearsal, {
        ...declarations.of(number, die),
        receive: (handler) => {
          if (life.isDead) return constVoid
          stage.story.add(`${life.name} receives webhooks`)
          return deliveries.receive(life, handler)
        }
      })
    )
    one.fiber = Effect.runForkWith(services)(Random.withSeed(program, life.name))
    one.fiber.addObserver(() => deliveries.forget(life))
    return one
  })
}

/** Runs a program until it has ended, or has to: its exit, and whether a failure is one that somebody hears of. */
const runToEnd = Effect.fnUntraced(function* <A, E, S>(program: Effect.Effect<A, E, Called | S>, world: World<S>) {
  const { calls, connections, deliveries, end, options, stage, time } = world
  const isOver = () => options.stopAfter !== undefined && time.now() >= end.at
  if (options.stopAfter !== undefined) world.forkInWorld(Effect.sleep(world.patience))
  const start = makeStart(program, world)
  const running: Array<Running<A, E, S>> = []
  for (const connected of connections) running.push(yield* start(connected))
  const hasDied = () => running.findIndex(({ life }) => life.isDead)
  const isDone = () => hasDied() >= 0 || running.every(hasEnded) || calls.all().length > mostCalls || isOver()
  for (;;) {
    yield* time.until(isDone, end.at)
    const index = hasDied()
    const dead = running[index]
    if (dead === undefined) break
    yield* world.inWorld(Effect.sleep(restartAfter))
    stage.disturber.waitFor(recovery)
    running[index] = yield* start(dead.connected)
  }
  const last = lastOf(running)
  const exit = last && exitOf(last)
  const isStopped = exit === undefined && isOver()
  if (isStopped) {
    for (const { fiber } of running) fiber?.interruptUnsafe()
    yield* time.until(() => running.every(hasEnded), time.now() + tail)
  }
  const endedAt = time.now()
  for (const one of running) {
    stage.story.add(`${one.life.name} ${isStopped ? "is stopped" : wordsOf(exitOf(one))}`)
    deliveries.forget(one.life)
    time.kill(one.life)
  }
  // The gateway still executes late requests.
  yield* time.until(() => false, time.now() + tail, 0)
  const number = last?.number ?? 0
  const isExcused = number <= connections.length || stage.disturber.excuses(number)
  return { exit, end: endOf(exit, isStopped), endedAt, isExcused }
})

/** Checks the user's own rules: the problem of each, by its name. */
const checkOwn = Effect.fnUntraced(function* <S>(ledger: RehearsalWorld, { inWorld, options, stores }: World<S>) {
  const own: Record<string, string | undefined> = {}
  for (const [name, rule] of Object.entries(options.rules ?? {})) {
    const checked = Effect.match(rule(ledger), { onFailure: String, onSuccess: () => undefined })
    own[name] = yield* inWorld(Effect.provideContext(checked, stores))
  }
  return own
})

/** Plays a schedule. Its clock is the rehearsal's, and the caller's context is not used. */
export const play = Effect.fnUntraced(function* <A, E, S>(
  program: Effect.Effect<A, E, Called | S>,
  options: RehearsalOptions<S>,
  schedule: Schedule,
  tables: Tables | undefined,
  isSlow = false
) {
  const world = yield* makeWorld(options, schedule, tables, isSlow)
  const { inWorld, stage } = world
  const { exit, ...ended } = yield* runToEnd(program, world)
  const cause = world.following.pollUnsafe()
  if (cause !== undefined)
    return yield* Effect.die(new Error("Rehearsal: the gateway's changes were not followed to the end.", { cause }))

  const { facts, notes, owed } = world.declarations
  const ledger = {
    ...ended,
    schedule: schedule.name,
    calls: world.calls.all(),
    facts,
    notes,
    owed,
    result: exit && (Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)),
    transactions: yield* inWorld(stage.sandbox.transactions),
    withdrawals: yield* inWorld(stage.sandbox.withdrawals)
  }
  const played: Played = {
    ...ledger,
    places: stage.disturber.places(),
    receives: world.deliveries.hasReceived(),
    story: stage.story.lines(),
    legend: stage.story.legend(),
    own: yield* checkOwn(ledger, world),
    tables: tables ?? (yield* inWorld(world.readTables))
  }
  yield* inWorld(Scope.close(world.scope, Exit.void))
  world.endWorld()
  return played
})
