/**
 * Builds the webhook: checks its settings, makes its store, and starts its workers. Inside requests there are no workers.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Random from "effect/Random"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { Payments } from "../../client/Payments.ts"
import { receive } from "../../client/Rehearsed.ts"
import { invalidRequest } from "../../contract/CallChecks.ts"
import { getTransaction } from "../../contract/Endpoints.ts"
import { issuesOf } from "../../contract/RequestIssues.ts"
import * as Settings from "../../contract/Settings.ts"
import { database, DatabaseError, mapDatabaseError } from "../../durable/Database.ts"
import { migrate } from "../../durable/Tables.ts"
import { forgetDone, layerQueue, layerQueueMemory, unlimited } from "../../durable/Queue.ts"
import { orTryAgain, repeatedly, TryAgain, work } from "../../durable/Work.ts"
import { boundedExponential } from "../../internal/schedule.ts"
import { followWrites, makeWrites } from "../../internal/soleWriter.ts"
import { log } from "../../internal/spans.ts"
import { TransactionHints } from "../../transactions/TransactionHints.ts"
import type { DeliveryInfo, WebhookOptions, WebhookSqlOptions } from "../WebhookOptions.ts"
import { none } from "../WebhookVerifier.ts"
import { makeAnswer } from "./answer.ts"
import { type Due, Job } from "./changes.ts"
import { makeFirstLookups } from "./firstLookups.ts"
import { makeHandlers } from "./handlers.ts"
import { InRequest } from "./inRequest.ts"
import { makeReader } from "./reader.ts"
import { causeType, measures } from "./signals.ts"
import { makeMemory, memoryStore, type Store, unfinished } from "./store.ts"
import { queueNameOf, sqlStore, webhookTables } from "./storeSql.ts"
import { makeWork } from "./work.ts"

/** How long a delivery waits for the database. */
const patience = "10 seconds"

type Options<P, M, R> = WebhookOptions<P, M, R> & WebhookSqlOptions

const checkedInput = Schema.decodeUnknownResult(getTransaction.params)

/** The checked settings. The failure names every setting that is wrong. */
const settingsOf = <P, M, R>(
  { name = "default", verifier = none, ...options }: Options<P, M, R>,
  handlerTimeout: Duration.Input = "30 seconds"
) =>
  Settings.all({
    maxBodyBytes: Settings.count("Webhook.maxBodyBytes", options.maxBodyBytes ?? 64 * 1024),
    concurrency: Settings.count("Webhook.concurrency", options.concurrency ?? 8),
    firstLookupsPerSecond: Settings.count("Webhook.firstLookupsPerSecond", options.firstLookupsPerSecond ?? 20),
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

const backoff = (first: Duration.Input) => Schedule.jittered(boundedExponential({ first, most: "5 minutes" }))

/** Records each delivery before the answer and processes it in the background; with `inRequest`, before the answer too. */
const serviceOf = Effect.fnUntraced(function* <P, M, R>(
  options: WebhookOptions<P, M, R>,
  settings: Checked,
  store: Store,
  inRequest: InRequest | undefined
) {
  const payments = yield* Payments
  const hints = yield* TransactionHints
  const scope = yield* Effect.scope
  const queue = yield* PersistedQueue.make({ name: queueNameOf(settings.name), schema: Job, maxAttempts: unlimited })
  const handled = yield* makeWrites
  const forgetOld = store.forget("Kept", settings.retention)
  const read = makeReader(options)
  const handlers = makeHandlers(options, yield* Effect.context<R>(), settings.handlerTimeout)
  const firstLookups = makeFirstLookups({
    name: settings.name,
    perSecond: settings.firstLookupsPerSecond,
    starts: inRequest?.starts ?? [],
    store,
    isKnown: handlers.isKnown,
    isInRequest: inRequest !== undefined,
    // A lookup, and three handlers one after the other.
    lease: Duration.toMillis(settings.lookupTimeout) + 3 * Duration.toMillis(settings.handlerTimeout) + 5000
  })
  const { check, deadLetters, discard, heal, process, processTaken, record, retry } = makeWork({
    name: settings.name,
    store,
    read,
    lookupTimeout: settings.lookupTimeout,
    payments,
    // A delivery does not wait until its hint is published, because the listeners may be on other machines.
    wake: (id) =>
      Effect.asVoid(
        Effect.forkIn(Effect.timeoutOption(hints.publish(id), patience), scope, { startImmediately: true })
      ),
    handlers,
    firstLookups,
    schedules: {
      early: options.confirm ?? Schedule.upTo(Schedule.exponential("1 second"), { times: 6 }),
      outage: options.retryLookup ?? Schedule.upTo(backoff("2 seconds"), { duration: "3 days" }),
      failed: options.retry ?? Schedule.upTo(backoff("1 second"), { duration: "1 day" })
    },
    offer: inRequest
      ? undefined
      : ({ job, millis }) =>
          queue.offer(job, { id: job.job, delay: millis }).pipe(
            mapDatabaseError("webhook"),
            // The encoding of two names and a number does not fail.
            Effect.catchTag("SchemaError", Effect.die),
            Effect.asVoid
          )
  })

  if (inRequest === undefined) {
    const places = yield* Semaphore.make(settings.concurrency)
    /** Work in the background, `concurrency` of it at a time. */
    const inPlace = <A>(effect: Effect.Effect<A, DatabaseError>) =>
      effect.pipe(
        Effect.catchTag("DatabaseError", ({ reason }) => Effect.fail(new TryAgain({ reason }))),
        Effect.ensuring(PubSub.publish(handled, undefined)),
        (handling) => places.withPermit(handling)
      )
    const handle = (job: Job) => Effect.asVoid(inPlace(process(job)))
    const attributesOf = ({ name }: Job) => ({ "webhook.name": settings.name, "webhook.id": name })
    yield* Effect.forkScoped(work(queue, { name: "Webhook", concurrency: settings.concurrency, attributesOf, handle }))
    const isTraced = yield* References.TracerEnabled
    const takeTurns = Effect.flatMap(firstLookups.take, (names) =>
      Effect.forEach(
        names,
        (name) =>
          processTaken(name).pipe(
            inPlace,
            orTryAgain("Webhook", { "webhook.name": settings.name, "webhook.id": name }),
            // The row is taken again.
            Effect.ignore,
            Effect.ensuring(firstLookups.end(name)),
            Effect.provideService(References.TracerEnabled, isTraced),
            Effect.forkIn(scope)
          ),
        { discard: true }
      )
    )
    yield* Effect.forkScoped(repeatedly("Webhook: first lookups", "1 second", takeTurns))
    // Rows of a process that died may wait too.
    const healAll = Effect.andThen(heal, firstLookups.look)
    yield* Effect.forkScoped(repeatedly("Webhook: healing lost rows", "1 minute", healAll, store.followWrites))
    yield* Effect.forkScoped(measures(settings.name, store))
    yield* Effect.forkScoped(repeatedly("Webhook: forgetting", "1 hour", Effect.andThen(forgetOld, forgetDone)))
  }

  /** Processes the next jobs of a row after the answer, as long as the platform allows. */
  const processLater = ({ job, millis }: Due): Effect.Effect<void> =>
    Effect.andThen(Effect.sleep(millis), process(job)).pipe(
      Effect.flatMap(({ due }) => (due === undefined ? Effect.void : processLater(due))),
      Effect.catchCause((cause) =>
        log("Warn", "Webhook: a transaction was not looked up again", {
          "webhook.name": settings.name,
          "error.type": causeType(cause)
        })
      )
    )
  /** Processes a job before the answer. */
  const processInRequest = Effect.fnUntraced(function* ({ later }: InRequest, job: Job) {
    const { due, isFinal } = yield* process(job)
    // Nothing runs in the background, so one request of a thousand deletes old rows. Only the next delivery or check about
    // a row works on it, and begins anew where it was deleted.
    if ((yield* Random.next) < 0.001) yield* Effect.andThen(forgetOld, store.forget("Open", Duration.weeks(1)))
    if (due !== undefined) later?.(processLater(due))
    return isFinal
  })
  const respond = makeAnswer({
    ...settings,
    refusals: inRequest?.refusals ?? new Map(),
    read,
    accept: Effect.fnUntraced(function* (body, hint) {
      const recorded = yield* Effect.timeoutOption(record(body, hint), patience)
      if (Option.isNone(recorded)) {
        return yield* new DatabaseError({ operation: "record", reason: "Timeout", isRetryable: true })
      }
      return inRequest === undefined || (yield* processInRequest(inRequest, recorded.value))
    })
  })
  const answer = (request: Request, { remoteAddress }: DeliveryInfo = {}) => {
    const delivery = HttpServerRequest.fromWeb(request)
    return respond.pipe(
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        remoteAddress === undefined ? delivery : delivery.modify({ remoteAddress: Option.some(remoteAddress) })
      ),
      Effect.map((response) => HttpServerResponse.toWeb(response))
    )
  }
  yield* receive(answer)
  return {
    handle: respond,
    answer,
    check: Effect.fnUntraced(function* (transactionId: string) {
      const input = checkedInput({ transactionId })
      if (Result.isFailure(input)) {
        return yield* invalidRequest("getTransaction", issuesOf(input.failure))
      }
      const job = yield* check(transactionId)
      if (inRequest !== undefined) yield* processInRequest(inRequest, job)
    }),
    idle: Effect.gen(function* () {
      const nextHandled = yield* followWrites(handled)
      while ((yield* store.count(unfinished)) > 0) {
        yield* Effect.race(nextHandled, Effect.sleep("1 second"))
      }
    }).pipe(Effect.scoped),
    deadLetters,
    retry,
    discard
  }
})

/** In memory. */
export const makeMemoryService = Effect.fnUntraced(function* <P, M, R>(options: WebhookOptions<P, M, R>) {
  const settings = yield* settingsOf(options)
  const inRequest = yield* InRequest
  // A request that the platform ended locks its note only for the time that its handlers may take.
  const lease = Duration.toMillis(settings.handlerTimeout) * 3
  const store = memoryStore(inRequest?.memory ?? makeMemory(), lease, inRequest ? undefined : yield* makeWrites)
  const queue = yield* Layer.build(Layer.fresh(layerQueueMemory))
  return yield* Effect.provideContext(serviceOf(options, settings, store, inRequest), queue)
})

/** On the ambient `SqlClient`. */
export const makeSqlService = Effect.fnUntraced(function* <P, M, R>(options: Options<P, M, R>) {
  const base = yield* database
  // While a handler runs on SQLite, no delivery can be recorded, and the service waits for its answer.
  const settings = yield* settingsOf(options, base.dialect === "sqlite" ? "5 seconds" : undefined)
  yield* mapDatabaseError("migrate")(migrate(webhookTables))
  const store = yield* sqlStore(base, settings.name, settings.handlerTimeout)
  const inRequest = yield* InRequest
  const queue = yield* mapDatabaseError("migrate")(
    Layer.build(inRequest === undefined ? layerQueue(queueNameOf(settings.name), settings) : layerQueueMemory)
  )
  return yield* Effect.provideContext(serviceOf(options, settings, store, inRequest), queue)
})
