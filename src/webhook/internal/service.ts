/**
 * The webhook put together: its settings checked, its room, and the workers, or none where work is done inside the call.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Schedule from "effect/Schedule"
import { Payments } from "../../client/Payments.ts"
import * as Settings from "../../contract/Settings.ts"
import { database, naming } from "../../durable/Database.ts"
import { migrate } from "../../durable/Tables.ts"
import { forgetDone, layerQueue, layerQueueMemory, repeatedly, TryAgain, unlimited, work } from "../../durable/Work.ts"
import { growing } from "../../internal/schedule.ts"
import { TransactionHints } from "../../transactions/TransactionHints.ts"
import type { CallInfo, WebhookOptions, WebhookSqlOptions } from "../WebhookOptions.ts"
import { none } from "../WebhookVerifier.ts"
import { makeAnswer } from "./answer.ts"
import { makeHandlers } from "./handlers.ts"
import { InRequest } from "./inRequest.ts"
import { Job, makeInbox } from "./inbox.ts"
import { makeReader } from "./reader.ts"
import { type Room, roomMemory } from "./room.ts"
import { roomSql, webhookTables } from "./roomSql.ts"

/** How long a caller waits for the database. */
const patience = "10 seconds"

type Options<P, M, R> = WebhookOptions<P, M, R> & WebhookSqlOptions

/** All settings, checked, or every one that is wrong. */
const settingsOf = <P, M, R>(
  { name = "default", verifier = none, ...options }: Options<P, M, R>,
  handlerTimeout: Duration.Input = "30 seconds"
) =>
  Settings.all({
    maxBodyBytes: Settings.count("Webhook.maxBodyBytes", options.maxBodyBytes ?? 64 * 1024),
    concurrency: Settings.count("Webhook.concurrency", options.concurrency ?? 3),
    bodyTimeout: Settings.period("Webhook.bodyTimeout", options.bodyTimeout ?? "10 seconds"),
    lookupTimeout: Settings.period("Webhook.lookupTimeout", options.lookupTimeout ?? "10 seconds"),
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

/** The queues by the lanes of the inbox. */
const queuesOf = (name: string) => {
  const queueOf = (lane: string) =>
    PersistedQueue.make({ name: `effect-pix/webhook/${name}/${lane}`, schema: Job, maxAttempts: unlimited })
  return Effect.all({ New: queueOf("new"), Again: queueOf("again"), Unfound: queueOf("unfound") })
}

/** Recorded before it is answered, and worked on beside the requests; or, with `inRequest`, worked on before. */
const serviceOf = Effect.fnUntraced(function* <P, M, R>(
  options: WebhookOptions<P, M, R>,
  settings: Checked,
  room: Room,
  inRequest: InRequest | undefined
) {
  const payments = yield* Payments
  const hints = yield* TransactionHints
  const scope = yield* Effect.scope
  const queues = inRequest === undefined ? yield* queuesOf(settings.name) : undefined
  const read = makeReader(options)
  const { accept, deadLetters, discard, handle, heal, idle, retry } = makeInbox({
    room,
    read,
    lookupTimeout: settings.lookupTimeout,
    payments,
    // Nobody waits for those who are told of a hint: they may be across a network.
    wake: (id) =>
      Effect.asVoid(
        Effect.forkIn(Effect.timeoutOption(hints.publish(id), patience), scope, { startImmediately: true })
      ),
    handlers: makeHandlers(options, yield* Effect.context<R>(), settings.handlerTimeout),
    seal:
      options.payload === undefined && options.metadata === undefined
        ? undefined
        : (options.seal?.seal ?? Effect.succeed),
    schedules: {
      early: options.confirm ?? Schedule.upTo(Schedule.exponential("1 second"), { times: 6 }),
      outage: options.retryLookup ?? Schedule.upTo(backoff("2 seconds"), { duration: "1 day" }),
      failed: options.retry ?? Schedule.upTo(backoff("1 second"), { duration: "1 day" })
    },
    offer:
      queues &&
      ((lane, job, delay) =>
        queues[lane].offer(job, { id: job.job, delay }).pipe(
          naming("webhook"),
          // Two names and a number can always be written.
          Effect.catchTag("SchemaError", Effect.die)
        ))
  })

  if (queues !== undefined) {
    const handleOrTryAgain = (job: Job) =>
      handle(job).pipe(
        Effect.asVoid,
        Effect.catchTag("DatabaseError", ({ reason }) => Effect.fail(new TryAgain({ reason })))
      )
    for (const queue of Object.values(queues)) {
      const worker = work(queue, { name: "Webhook", concurrency: settings.concurrency, handle: handleOrTryAgain })
      yield* Effect.forkScoped(worker)
    }
    yield* Effect.forkScoped(repeatedly("Webhook: healing lost calls", "1 minute", heal))
    yield* Effect.forkScoped(repeatedly("Webhook: forgetting", "1 hour", Effect.andThen(room.forget, forgetDone)))
  }

  /** Goes on after the answer, where the platform lets it. */
  const goOn = (job: Job, delay: Duration.Duration): Effect.Effect<void> =>
    Effect.andThen(Effect.sleep(delay), handle(job)).pipe(
      Effect.flatMap(({ next }) => (next === undefined ? Effect.void : goOn(next.job, next.delay))),
      Effect.catchCause(() => Effect.logWarning("Webhook: a call was not looked up again"))
    )
  const respond = makeAnswer({
    ...settings,
    read,
    accept: Effect.fnUntraced(function* (body, reading) {
      const recorded = yield* Effect.timeoutOption(accept(body, reading), patience)
      if (Option.isNone(recorded) || inRequest === undefined) return Option.isSome(recorded)
      const { isDone, next } = yield* handle(recorded.value)
      // Nothing runs beside the calls, so one of them now and then forgets what is old.
      if ((yield* Random.next) < 0.001) yield* room.forget
      if (next !== undefined) inRequest.later?.(goOn(next.job, next.delay))
      return isDone
    })
  })
  return {
    handle: respond,
    answer: (request: Request, { remoteAddress }: CallInfo = {}) => {
      const call = HttpServerRequest.fromWeb(request)
      return respond.pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          remoteAddress === undefined ? call : call.modify({ remoteAddress: Option.some(remoteAddress) })
        ),
        Effect.map((response) => HttpServerResponse.toWeb(response))
      )
    },
    idle,
    deadLetters,
    retry,
    discard
  }
})

/** In memory. */
export const makeMemoryService = Effect.fnUntraced(function* <P, M, R>(options: WebhookOptions<P, M, R>) {
  const settings = yield* settingsOf(options)
  const inRequest = yield* InRequest
  // A request that was cut holds what it changed for no longer than the lease.
  const lease = Duration.toMillis(settings.handlerTimeout) * 3
  const room = yield* inRequest === undefined ? roomMemory() : roomMemory(inRequest.memory, lease)
  const queue = yield* Layer.build(Layer.fresh(layerQueueMemory))
  return yield* Effect.provideContext(serviceOf(options, settings, room, inRequest), queue)
})

/** On the ambient `SqlClient`. */
export const makeSqlService = Effect.fnUntraced(function* <P, M, R>(options: Options<P, M, R>) {
  const base = yield* database
  // While a handler runs on SQLite no call can be recorded, and its caller waits.
  const settings = yield* settingsOf(options, base.dialect === "sqlite" ? "5 seconds" : undefined)
  yield* naming("migrate")(migrate(webhookTables))
  const room = yield* roomSql(base, settings.name, settings)
  const inRequest = yield* InRequest
  const queue = yield* naming("migrate")(Layer.build(inRequest === undefined ? layerQueue(settings) : layerQueueMemory))
  return yield* Effect.provideContext(serviceOf(options, settings, room, inRequest), queue)
})
