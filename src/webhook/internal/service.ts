/**
 * Builds the webhooks: checks their settings, and starts the workers of the one that is recorded.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { clientOfLayer } from "../../client/PaymentsClient.ts"
import { PaymentsPolicy } from "../../client/PaymentsPolicy.ts"
import { paymentsTag } from "../../client/PaymentsTag.ts"
import { getTransaction } from "../../contract/Endpoints.ts"
import { bothSettings, invalidRequest } from "../../contract/Options.ts"
import { issuesOf } from "../../contract/RequestIssues.ts"
import { database, DatabaseError, mapDatabaseError } from "../../durable/Database.ts"
import { defaultTimeout } from "../../durable/HandOut.ts"
import { migrate, requireNewest } from "../../durable/Tables.ts"
import { repeatedly, workersScope } from "../../durable/Work.ts"
import { beginToReceive } from "../../internal/rehearsal.ts"
import { workRows } from "../../durable/WorkRows.ts"
import { followWrites, makeWrites, type NextWrite, written } from "../../internal/soleWriter.ts"
import type { Lines } from "../../internal/spans.ts"
import { TransactionHints } from "../../transactions/TransactionHints.ts"
import type { StoredDelivery } from "../WebhookEvent.ts"
import {
  checkClient,
  checkSettings,
  type DeadLetterOptions,
  type DeliveryInfo,
  type WebhookClientOptions,
  type WebhookOptions,
  type WebhookSqlOptions
} from "../WebhookOptions.ts"
import { type AnswerOptions, makeAnswer } from "./answer.ts"
import { makeEdge } from "./edge.ts"
import { makeBound, makeFirstLookups, type Starts } from "./firstLookups.ts"
import { makeHandlers } from "./handlers.ts"
import { makeLookUp } from "./lookup.ts"
import { makeReader } from "./reader.ts"
import { nameOf, readRow } from "./row.ts"
import { makeHeld, makeLookupSignals, measures } from "./signals.ts"
import { makeReads, makeStore, type Reads, type Stored, webhookTables } from "./table.ts"
import { makeWork } from "./work.ts"

const states = {
  Done: "Finished",
  Dead: "Dead",
  Open: "Waiting",
  First: "Waiting"
} as const

const deliveryOf = ({ due, name: id, state, value, webhook }: Stored): StoredDelivery => {
  const row = readRow(value, state)
  const at = DateTime.makeUnsafe(Number(due))
  if (row === undefined) return { webhook, id, state: "Unreadable", at, handedOut: [] }
  const { about, deliveries, handedOut, idempotencyKey, transactionId, withdrawalId } = row
  return {
    webhook,
    id,
    about,
    state: states[state],
    at,
    handedOut,
    transactionId,
    withdrawalId,
    idempotencyKey,
    deliveries,
    claimed: row.claims.flatMap(({ isCheck, status }) => (isCheck === true ? [] : [status])),
    waits: row.isFirst === true ? "first" : row.waits,
    failures: row.tries.failed,
    handler: row.dead,
    since: DateTime.makeUnsafe(row.since)
  }
}

const deliveriesOf = Effect.map((found: ReadonlyArray<Stored>) => found.map(deliveryOf))

/** What one webhook has, or all on the database. `wake` runs after a step; `follow` waits for the next row that was handled. */
const makeClient = (
  { find, letters, unfinished }: Reads,
  wake: Effect.Effect<void> = Effect.void,
  follow: Effect.Effect<NextWrite, never, Scope.Scope> = Effect.succeed(Effect.never)
) => ({
  deadLetters: mapDatabaseError("deadLetters")(deliveriesOf(letters.dead)),
  find: (id: string) => mapDatabaseError("find")(deliveriesOf(find(id.startsWith("delivery:") ? id : nameOf(id)))),
  retry: (id: string, options?: DeadLetterOptions) => mapDatabaseError("retry")(letters.retry(wake, id, options)),
  discard: (id: string, options?: DeadLetterOptions) => mapDatabaseError("discard")(letters.discard(wake, id, options)),
  // They are counted after each that was handled, and every second.
  idle: Effect.flatMap(follow, (handled) =>
    mapDatabaseError("idle")(unfinished).pipe(
      Effect.tap((count) => (count > 0 ? Effect.race(handled, Effect.sleep("1 second")) : Effect.void)),
      Effect.repeat({ while: (count) => count > 0 }),
      Effect.asVoid
    )
  ).pipe(Effect.scoped)
})

/** How long a delivery waits for the database. */
const databaseTimeout = "10 seconds"

/** How long a stop waits for a database that does not answer. */
const stopPatience = "4 seconds"

/** What a process shares of all builds of one layer: on some platforms it is built for each request. */
interface ProcessState {
  /** The lines that were logged. */
  readonly lines: Lines
  /** The latest lookups of ids that no lookup had found. */
  readonly starts: Starts
}

export const makeProcessState = (): ProcessState => ({ lines: new Map(), starts: { any: [], known: [] } })

const checkedInput = Schema.decodeUnknownResult(getTransaction.params)

/** The checked settings. The failure names every setting that is wrong. */
const settingsOf = <M, R>(
  { verifier = () => Effect.void, ...options }: WebhookOptions<M, R> & WebhookSqlOptions,
  handlerTimeout: Duration.Input = "30 seconds"
) =>
  Effect.map(
    bothSettings(
      checkSettings({ ...options, handlerTimeout: options.handlerTimeout ?? handlerTimeout }),
      verifier.problem === undefined ? Effect.void : Effect.fail(verifier.problem)
    ),
    ([checked]) => ({ ...checked, verifier })
  )

type Checked = Effect.Success<ReturnType<typeof settingsOf>>

/** What both webhooks are made of. */
const partsOf = Effect.fnUntraced(function* <M, R>(
  options: WebhookOptions<M, R>,
  settings: Checked,
  { lines, starts }: ProcessState
) {
  const hints = yield* TransactionHints
  const scope = yield* Effect.scope
  const { metadataOf, read } = makeReader(options)
  const handlers = makeHandlers(options, metadataOf, yield* Effect.context<R>(), settings, lines)
  const { firstLookupsPerSecond: perSecond, name } = settings
  const signals = makeLookupSignals(name, lines)
  const ownPolicy = Context.getOrUndefined(yield* Effect.context<never>(), PaymentsPolicy)
  return {
    ...settings,
    lookUp: makeLookUp(yield* paymentsTag, yield* clientOfLayer, ownPolicy, signals),
    countUntold: signals.countUntold,
    handlers,
    read,
    lines,
    bound: makeBound({
      name,
      perSecond,
      starts,
      isKnown: handlers.isKnown,
      held: makeHeld(name, perSecond, lines)
    }),
    // A delivery does not wait until its hint is published, because the listeners may be on other machines.
    wake: (id: string) =>
      Effect.asVoid(
        Effect.forkIn(Effect.timeoutOption(hints.publish(id), databaseTimeout), scope, { startImmediately: true })
      )
  }
})

/** The ways in which a webhook is called. */
const callsOf = Effect.fnUntraced(function* (
  options: AnswerOptions,
  check: (transactionId: string) => Effect.Effect<void, DatabaseError>
) {
  const handle = makeAnswer(options)
  const answer = (request: Request, { remoteAddress }: DeliveryInfo = {}) => {
    const delivery = HttpServerRequest.fromWeb(request)
    return handle.pipe(
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        remoteAddress === undefined ? delivery : delivery.modify({ remoteAddress: Option.some(remoteAddress) })
      ),
      Effect.map((response) => HttpServerResponse.toWeb(response))
    )
  }
  yield* Effect.acquireRelease(beginToReceive(answer), (stop) => Effect.sync(stop))
  return {
    handle,
    answer,
    check: Effect.fnUntraced(function* (transactionId: string) {
      const input = checkedInput({ transactionId })
      if (Result.isFailure(input)) return yield* invalidRequest("getTransaction", issuesOf(input.failure))
      yield* check(transactionId)
    })
  }
})

/** Nothing is stored. */
export const makeEdgeService = Effect.fnUntraced(function* <M, R>(
  options: WebhookOptions<M, R>,
  processState: ProcessState
) {
  const parts = yield* partsOf(options, yield* settingsOf(options), processState)
  const edge = makeEdge(parts)
  return yield* callsOf({ ...parts, accept: edge.accept }, edge.check)
})

/** On the ambient `SqlClient`. */
export const makeSqlServices = Effect.fnUntraced(function* <M, R>(
  options: WebhookOptions<M, R> & WebhookSqlOptions,
  processState: ProcessState
) {
  const db = yield* database
  const settings = yield* settingsOf(options, defaultTimeout(db))
  const { concurrency, lease, name, poll, retention } = settings
  yield* mapDatabaseError("migrate")(migrate(webhookTables))
  const parts = yield* partsOf(options, settings, processState)
  const store = makeStore(db, name, lease)
  const isDue = Latch.makeUnsafe()
  const hasNews = Latch.makeUnsafe()
  const firstLookups = makeFirstLookups(store, parts.bound, isDue)
  const work = makeWork({
    ...parts,
    database: db,
    store,
    firstLookups,
    wakeWorkers: Effect.andThen(isDue.open, hasNews.open)
  })
  const handled = yield* makeWrites
  const follow = followWrites(db.writes)
  const workers = yield* workersScope(stopPatience)
  yield* Effect.forkIn(
    workRows({
      name: "Webhook",
      due: firstLookups.due,
      concurrency,
      lease,
      poll,
      isDue,
      followWrites: follow,
      handle: (row) => Effect.ensuring(work.handle(row), Effect.andThen(written(handled), hasNews.open))
    }),
    workers
  )
  yield* Effect.forkIn(measures(name, store, follow, hasNews), workers)
  yield* Effect.forkIn(repeatedly("Webhook: forgetting", "1 hour", store.forget(retention)), workers)

  const webhook = yield* callsOf(
    {
      ...parts,
      accept: Effect.fnUntraced(function* (body, readings) {
        const recorded = yield* Effect.timeoutOption(
          mapDatabaseError("record")(work.record(body, readings)),
          databaseTimeout
        )
        if (Option.isSome(recorded)) return "Finished" as const
        return yield* new DatabaseError({ operation: "record", reason: "Timeout", isRetryable: true })
      })
    },
    (id) => mapDatabaseError("check")(work.check(id))
  )
  return { webhook, client: makeClient(store, isDue.open, followWrites(handled)) }
})

/** What is recorded on the ambient `SqlClient`. It makes no tables, and runs nothing. */
export const makeClientService = Effect.fnUntraced(function* (options: WebhookClientOptions) {
  const db = yield* database
  const { name } = yield* checkClient(options)
  yield* mapDatabaseError("requireTables")(requireNewest(webhookTables))
  return makeClient(makeReads(db, name))
})
