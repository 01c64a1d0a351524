/**
 * The webhook put together: its settings checked, its room, and the workers, or none where work is done inside the call.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Schedule from "effect/Schedule"
import { Payments } from "../../client/Payments.ts"
import * as Settings from "../../contract/Settings.ts"
import { database } from "../../durable/Database.ts"
import { migrate } from "../../durable/Tables.ts"
import { layerQueue, layerQueueMemory, repeatedly, TryAgain, unlimited, work } from "../../durable/Work.ts"
import { growing } from "../../internal/schedule.ts"
import { TransactionHints } from "../../transactions/TransactionHints.ts"
import type { CallInfo, WebhookOptions, WebhookSqlOptions } from "../WebhookOptions.ts"
import { none } from "../WebhookVerifier.ts"
import { type Accept, makeAnswer } from "./answer.ts"
import { makeHandlers } from "./handlers.ts"
import { InRequest } from "./inRequest.ts"
import { type InboxOptions, Job, makeInbox } from "./inbox.ts"
import { makeReader } from "./reader.ts"
import { type Room, roomMemory } from "./room.ts"
import { roomSql, sweepSql, webhookTables } from "./roomSql.ts"

/** How long a caller waits for the database. */
const patience = "10 seconds"

const unsealed = { seal: Effect.succeed<string>, open: Effect.succeed<string> }

type Options<P, M, R> = WebhookOptions<P, M, R> & WebhookSqlOptions

/** All settings, checked, or every one that is wrong. */
const settingsOf = <P, M, R>(
  { name = "default", verifier = none, ...options }: Options<P, M, R>,
  handlerTimeout: Duration.Input = "30 seconds"
) =>
  Settings.all({
    maxBodyBytes: Settings.count("Webhook.maxBodyBytes", options.maxBodyBytes ?? 64 * 1024),
    concurrency: Settings.count("Webhook.concurrency", options.concurrency ?? 4),
    bodyTimeout: Settings.period("Webhook.bodyTimeout", options.bodyTimeout ?? "10 seconds"),
    handlerTimeout: Settings.period("Webhook.handlerTimeout", options.handlerTimeout ?? handlerTimeout),
    lease: Settings.period("Webhook.lease", options.lease ?? "30 seconds"),
    poll: Settings.period("Webhook.poll", options.poll ?? "1 second"),
    retention: Settings.period("Webhook.retention", options.retention ?? "180 days"),
    name: /^[\w-]{1,64}$/.test(name)
      ? Effect.succeed(name)
      : Settings.wrong("Webhook.name", "is not one to 64 letters, digits, _ and -"),
    verifier: verifier.problem === undefined ? Effect.succeed(verifier) : Effect.fail(verifier.problem)
  })

type Checked = Effect.Success<ReturnType<typeof settingsOf>>

const backoff = (first: Duration.Input) => Schedule.jittered(growing({ first, most: "5 minutes" }))

/** The service, by how a call is accepted. */
const serviceOf = Effect.fnUntraced(function* <P, M, R>(
  options: WebhookOptions<P, M, R>,
  settings: Checked,
  room: Room,
  way: Pick<InboxOptions<P, M>, "offer" | "isInRequest">
) {
  const payments = yield* Payments
  const read = makeReader({ payload: options.payload, find: options.find, metadata: options.metadata })
  const keepsBodies = options.payload !== undefined || options.metadata !== undefined
  const hints = yield* TransactionHints
  const scope = yield* Effect.scope
  const inbox = makeInbox({
    ...way,
    room,
    read,
    getTransaction: payments.getTransaction,
    balance: payments.getBalance(),
    // Nobody waits for those who are told of a hint: they may be across a network.
    wake: (id) =>
      Effect.asVoid(
        Effect.forkIn(Effect.timeoutOption(hints.publish(id), patience), scope, { startImmediately: true })
      ),
    handlers: makeHandlers(options, yield* Effect.context<R>(), settings.handlerTimeout),
    seal: keepsBodies ? (options.seal ?? unsealed) : undefined,
    schedules: {
      early: options.confirm ?? Schedule.upTo(Schedule.exponential("1 second"), { times: 6 }),
      outage: options.retryLookup ?? Schedule.upTo(backoff("2 seconds"), { duration: "1 day" }),
      failed: options.retry ?? Schedule.upTo(backoff("1 second"), { duration: "1 day" })
    }
  })
  const service = (accept: Accept<P, M>) => {
    const handle = makeAnswer({ ...settings, read, accept })
    return {
      handle,
      answer: (request: Request, info?: CallInfo) => {
        const call = HttpServerRequest.fromWeb(request)
        const remoteAddress = Option.fromUndefinedOr(info?.remoteAddress)
        return handle.pipe(
          Effect.provideService(
            HttpServerRequest.HttpServerRequest,
            Option.isSome(remoteAddress) ? call.modify({ remoteAddress }) : call
          ),
          Effect.map((response) => HttpServerResponse.toWeb(response))
        )
      },
      idle: inbox.idle,
      deadLetters: inbox.deadLetters,
      retry: inbox.retry
    }
  }
  return { inbox, service }
})

/** Looked up and handed out before it is answered; nothing of another request is waited for. */
const inside = Effect.fnUntraced(function* <P, M, R>(
  options: WebhookOptions<P, M, R>,
  settings: Checked,
  room: Room,
  { later }: InRequest
) {
  const { inbox, service } = yield* serviceOf(options, settings, room, { offer: () => Effect.void, isInRequest: true })
  const goOn = (job: Job, delay: Duration.Duration): Effect.Effect<void> =>
    Effect.andThen(Effect.sleep(delay), inbox.handle(job)).pipe(
      Effect.flatMap(({ next }) => (next === undefined ? Effect.void : goOn(next.job, next.delay))),
      Effect.catchCause(() => Effect.logWarning("Webhook: a call was not looked up again"))
    )
  return service(
    Effect.fnUntraced(function* (body, reading) {
      const job = yield* inbox.accept(body, reading)
      if (job === undefined) return false
      const { isDone, next } = yield* inbox.handle(job)
      if (next !== undefined) later?.(goOn(next.job, next.delay))
      return isDone
    })
  )
})

const queueOf = (name: string) => PersistedQueue.make({ name, schema: Job, maxAttempts: unlimited })

const queueNames = (name: string) => ({
  New: `effect-pix/webhook/${name}/new`,
  Again: `effect-pix/webhook/${name}/again`
})

/** Recorded before it is answered, and worked on beside the requests. */
const beside = Effect.fnUntraced(function* <P, M, R, E>(
  options: WebhookOptions<P, M, R>,
  settings: Checked,
  room: Room,
  sweep: Effect.Effect<void, E, PersistedQueue.PersistedQueueStore>
) {
  const names = queueNames(settings.name)
  const queues = { New: yield* queueOf(names.New), Again: yield* queueOf(names.Again) }
  const { inbox, service } = yield* serviceOf(options, settings, room, {
    offer: (lane, job, delay) => Effect.orDie(queues[lane].offer(job, { id: job.job, delay })),
    isInRequest: false
  })
  const handle = (job: Job) =>
    inbox.handle(job).pipe(
      Effect.asVoid,
      Effect.catchTag("DatabaseError", ({ reason }) => Effect.fail(new TryAgain({ reason })))
    )
  for (const queue of [queues.New, queues.Again]) {
    yield* Effect.forkScoped(work(queue, { name: "Webhook", concurrency: settings.concurrency, handle }))
  }
  yield* Effect.forkScoped(repeatedly("Webhook: the sweep", "10 minutes", sweep))
  return service((body, reading) =>
    Effect.timeoutOrElse(Effect.as(inbox.accept(body, reading), true), {
      duration: patience,
      orElse: () => Effect.succeed(false)
    })
  )
})

const sweepMemory = Effect.flatMap(PersistedQueue.PersistedQueueStore, (store) =>
  store.cleanup({ timeToLive: Duration.zero, failedTimeToLive: Duration.zero })
)

/** The queue in memory compares times: with parts of a millisecond, as `TestClock` has, it may wait for none for ever. */
const wholeMillis = (clock: Clock.Clock): Clock.Clock => ({
  ...clock,
  currentTimeMillisUnsafe: () => Math.floor(clock.currentTimeMillisUnsafe()),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  sleep: (duration) => clock.sleep(duration)
})

/** In memory. */
export const makeMemoryService = Effect.fnUntraced(function* <P, M, R>(options: WebhookOptions<P, M, R>) {
  const settings = yield* settingsOf(options)
  const inRequest = yield* InRequest
  if (inRequest !== undefined) {
    // A request that was cut holds what it changed for no longer than this.
    const lease = Duration.toMillis(settings.handlerTimeout) * 3
    return yield* inside(options, settings, roomMemory(inRequest.memory, lease), inRequest)
  }
  const queue = yield* Effect.updateService(Layer.build(Layer.fresh(layerQueueMemory)), Clock.Clock, wholeMillis)
  return yield* Effect.provideContext(beside(options, settings, roomMemory(), sweepMemory), queue)
})

/** On the ambient `SqlClient`. */
export const makeSqlService = Effect.fnUntraced(function* <P, M, R>(options: Options<P, M, R>) {
  const base = yield* database
  // While a handler runs on SQLite no call can be recorded, and its caller waits.
  const settings = yield* settingsOf(options, base.dialect === "sqlite" ? "5 seconds" : undefined)
  yield* migrate(webhookTables)
  const room = roomSql(base, settings.name)
  const inRequest = yield* InRequest
  if (inRequest !== undefined) return yield* inside(options, settings, room, inRequest)
  const queue = yield* Layer.build(layerQueue({ lease: settings.lease, poll: settings.poll }))
  const sweep = sweepSql(base, settings.name, Object.values(queueNames(settings.name)), settings.retention)
  return yield* Effect.provideContext(beside(options, settings, room, sweep), queue)
})
