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
import type { RehearsalWorld } from "../RehearsalWorld.ts"
import { Sandbox } from "../../sandbox/Sandbox.ts"
import type { SandboxChange } from "../../sandbox/SandboxChange.ts"
import { SandboxOptions } from "../../sandbox/SandboxOptions.ts"
import { type Called, makeCalls } from "./calls.ts"
import { makeDeclarations } from "./declarations.ts"
import { CurrentWebhook, makeDeliveries } from "./deliveries.ts"
import { makeDisturber } from "./disturber.ts"
import { forge, makePayer } from "./payer.ts"
import { endOf, hasEnded, lastOf, type Running, wordsOf } from "./processes.ts"
import type { Schedule, Trace } from "./schedules.ts"
import { OnStep } from "./steps.ts"
import type { Tables } from "./tables.ts"
import { buildStores } from "./stores.ts"
import { type Line, makeStory, noteChange, type ShortName } from "./story.ts"
import { type Life, makeTime } from "./time.ts"
import { makeTransport } from "./transport.ts"

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
/** A program that is meant to end, and takes longer or makes more calls, does not end. */
const longest = "3 days"
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
  return { time, world, contextOf, forkInWorld, inWorld }
}

/** What is around a program in one run, and the record of what it does. */
const makeWorld = Effect.fnUntraced(function* <S>(
  options: RehearsalOptions<S>,
  schedule: Schedule,
  tables: Tables | undefined,
  isSlow: boolean
) {
  const patience = Duration.toMillis(Duration.fromInputUnsafe(options.stopAfter ?? longest))
  /** When the run is stopped at the latest. */
  const end = { at: start + patience }
  const times = makeTimes(isSlow, () => disturber.prolonging())
  const { contextOf, forkInWorld, inWorld, time } = times
  const story = makeStory(time.now, options.processes ?? 1)
  const disturber = makeDisturber(schedule, { now: time.now, story, calls: () => calls.all(), end: () => end.at })
  const scope = Scope.makeUnsafe()
  const settings = Layer.succeed(SandboxOptions, { balance: 100_000_000, ...options.sandbox })
  const gateway = yield* inWorld(Layer.buildWithScope(Layer.provide(Sandbox.layer, settings), scope))
  const sandbox = Context.get(gateway, Sandbox)

  const isSeen = options.sandbox?.as === "seen"
  const deliveries = makeDeliveries({
    story,
    disturber,
    forkInWorld,
    forkInProcess: (life, effect) =>
      Effect.callback((resume) => {
        time.enter(life, () =>
          Effect.runForkWith(contextOf(life))(effect).addObserver((exit) => {
            if (!life.isDead) resume(exit)
          })
        )
      })
  })
  const payer = makePayer({ sandbox, disturber, forkInWorld, payAfter: options.payAfter, isSeen, deliveries })
  const calls = makeCalls({
    now: time.now,
    story,
    onBegin: (call, context) => {
      const { number, operation } = call
      disturber.add({ kind: "call", number, name: operation, webhook: Context.get(context, CurrentWebhook) })
      payer.onLookup(call)
    },
    onEnd: (call) => {
      const forgery = disturber.at("Forgery", "call", call.number)
      payer.onAnswer(call)
      if (forgery !== undefined && call.result === "Succeeded")
        forkInWorld(deliveries.forge(forge(call, forgery.says, isSeen)))
    }
  })
  const note = noteChange(story)
  const follow = (change: SandboxChange) =>
    Effect.andThen(
      note(change),
      Effect.sync(() => payer.onChange(change))
    )
  const following = yield* inWorld(
    Effect.tap(Effect.forkIn(Stream.runForEach(sandbox.changes, follow), scope), Effect.yieldNow)
  )
  // Without stores the program needs none: `S` is never.
  const layer = options.stores ?? (Layer.empty as Layer.Layer<S>)
  // The same random numbers in each schedule: a run goes on as another one until it is disturbed.
  const built = Random.withSeed(buildStores(layer, options.processes ?? 1, tables), "stores")
  const stores = yield* inWorld(Scope.provide(Effect.provideService(built, Sandbox, sandbox), scope))
  yield* inWorld(sandbox.subscribe(deliveries.target))
  return {
    ...times,
    ...stores,
    options,
    patience,
    end,
    story,
    disturber,
    scope,
    sandbox,
    http: Context.get(gateway, HttpClient.HttpClient),
    credentials: Credentials.layer(yield* inWorld(sandbox.credentials)),
    deliveries,
    calls,
    declarations: makeDeclarations({ now: time.now, story, disturber }),
    following
  }
})

type World<S> = Effect.Success<ReturnType<typeof makeWorld<S>>>

/** The processes of a run: they start, die, and are started again. */
const makeProcesses = <A, E, S>(program: Effect.Effect<A, E, Called | S>, world: World<S>) => {
  const { calls, connections, contextOf, declarations, deliveries, disturber, story, time } = world
  const running: Array<Running<A, E>> = []
  let started = 0

  const die = (life: Life) => (why: string) => {
    if (life.isDead) return
    story.add(`${life.name} dies ${why}`)
    time.kill(life)
    deliveries.forget(life)
    for (const action of connections[running.findIndex((one) => one.life === life)]?.onDeath ?? []) action()
  }

  const clientOf = (life: Life) => {
    const { baseUrl, companyId } = world.sandbox
    const stall = (why: string) => {
      story.add(`${life.name} stands still ${why}`)
      time.stall(life)
    }
    const transport = makeTransport({
      gateway: world.http,
      enter: (run) => time.enter(life, run),
      disturber,
      forkInWorld: world.forkInWorld,
      die: die(life),
      stall,
      story
    })
    return Effect.scoped(Layer.build(Payments.layer({ baseUrl, companyId }))).pipe(
      Effect.provideService(HttpClient.HttpClient, transport),
      Effect.provideService(IdempotencyKeyGen, calls.keys),
      Effect.provide(world.credentials),
      Effect.orDie
    )
  }

  /** Starts a process at an index of those that run. */
  const start = Effect.fnUntraced(function* (index: number) {
    const number = ++started
    const life: Life = { name: `process ${number}`, isDead: false }
    story.add(`${life.name} starts`)
    if (world.options.stopAfter === undefined) world.end.at = time.now() + world.patience
    const client = yield* world.inWorld(clientOf(life))
    const services = Context.merge(
      contextOf(life),
      Context.merge(connections[index]?.stores ?? world.stores, calls.count(client, number))
    ).pipe(
      Context.add(OnStep, declarations.onStep(life, die(life))),
      Context.add(OnDeath, (action) => void connections[index]?.onDeath.push(action)),
      Context.add(CurrentRehearsal, {
        ...declarations.of(number, die(life)),
        receive: (handler) => {
          if (life.isDead) return constVoid
          story.add(`${life.name} receives webhooks`)
          return deliveries.receive(life, handler)
        }
      })
    )
    const one: Running<A, E> = { number, life }
    running[index] = one
    one.fiber = Effect.runForkWith(services)(Random.withSeed(program, life.name))
    one.fiber.addObserver(() => deliveries.forget(life))
  })
  return { running, start }
}

/** Runs a program until it has ended, or has to: its exit, and the number of the process that says how it ended. */
const runToEnd = Effect.fnUntraced(function* <A, E, S>(program: Effect.Effect<A, E, Called | S>, world: World<S>) {
  const { calls, contextOf, deliveries, end, options, patience, story, time } = world
  const processes = options.processes ?? 1
  const stopAt = options.stopAfter === undefined ? Infinity : end.at
  const { running, start } = makeProcesses(program, world)
  if (stopAt < Infinity) Effect.runForkWith(contextOf(world.world))(Effect.sleep(patience))
  const isOver = () => time.now() >= stopAt
  for (let index = 0; index < processes; index++) yield* start(index)
  for (;;) {
    const isDone = () =>
      running.some(({ life }) => life.isDead) || running.every(hasEnded) || calls.all().length > mostCalls || isOver()
    yield* time.until(isDone, end.at)
    const dead = running.findIndex(({ life }) => life.isDead)
    if (dead === -1) break
    yield* world.inWorld(Effect.sleep(restartAfter))
    world.disturber.waitFor(recovery)
    yield* start(dead)
  }
  const last = lastOf(running)
  const exit = last?.fiber?.pollUnsafe()
  const isStopped = exit === undefined && isOver()
  if (isStopped) {
    for (const { fiber } of running) fiber?.interruptUnsafe()
    yield* time.until(() => running.every(hasEnded), time.now() + tail)
  }
  for (const one of running)
    story.add(`${one.life.name} ${isStopped ? "is stopped" : wordsOf(one.fiber?.pollUnsafe())}`)
  const endedAt = time.now()
  for (const { life } of running) {
    deliveries.forget(life)
    time.kill(life)
  }
  // The gateway still executes late requests.
  yield* time.until(() => false, time.now() + tail, 0)
  const number = last?.number ?? 0
  const isExcused = number <= processes || world.disturber.excuses(number)
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
  const { calls, declarations, disturber, inWorld, sandbox, story } = world
  const { end, endedAt, exit, isExcused } = yield* runToEnd(program, world)

  const unfollowed = world.following.pollUnsafe()
  if (unfollowed !== undefined) {
    const cause = Exit.isFailure(unfollowed) ? Cause.squash(unfollowed.cause) : undefined
    return yield* Effect.die(new Error("Rehearsal: the gateway's changes were not followed to the end.", { cause }))
  }

  const ledger: RehearsalWorld = {
    schedule: schedule.name,
    calls: calls.all(),
    facts: declarations.facts,
    notes: declarations.notes,
    owed: declarations.owed,
    end,
    endedAt,
    result: exit && (Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)),
    transactions: yield* inWorld(sandbox.transactions),
    withdrawals: yield* inWorld(sandbox.withdrawals)
  }
  const played: Played = {
    ...ledger,
    calls: calls.all(),
    isExcused,
    places: disturber.places(),
    receives: world.deliveries.hasReceived(),
    isPaid: options.payAfter !== undefined,
    isSeen: options.sandbox?.as === "seen",
    processes: options.processes ?? 1,
    story: story.lines(),
    legend: story.legend(),
    own: yield* checkOwn(ledger, world),
    tables: tables ?? (yield* inWorld(world.readTables))
  }
  yield* inWorld(Scope.close(world.scope, Exit.void))
  world.time.kill(world.world)
  return played
})
