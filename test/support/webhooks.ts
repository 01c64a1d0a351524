/**
 * Webhooks that record the input of their handlers, on a sandbox of the test.
 */
import { Clock, Context, Effect, Exit, Fiber, Layer, Logger, Option, Random, Scope } from "effect"
import { GatewayFacts, Payments, PaymentsClient } from "effect-pix"
import { TransactionHints } from "../../src/transactions/TransactionHints.ts"
import { Sandbox } from "effect-pix/sandbox"
import { NodeSqlite } from "effect-pix/node"
import {
  Webhook,
  WebhookClient,
  type WebhookEvent,
  type WebhookOptions,
  type WebhookSqlOptions
} from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { nextTurn } from "./effect.ts"

/** A gateway, separate hints, a database in memory, and no log: new ones for each test. */
export const world = Layer.fresh(
  Layer.mergeAll(
    Sandbox.layerPayments,
    TransactionHints.layer,
    NodeSqlite.layer({ filename: ":memory:" }),
    Logger.layer([])
  )
)

export type Options = WebhookOptions & WebhookSqlOptions

type Built<R> = (options: Options) => Layer.Layer<Webhook, unknown, Payments | PaymentsClient | R>

const onDatabase: Built<SqlClient.SqlClient> = (options) => Webhook.layerSql(options)

/** The webhook that stores nothing. */
export const edge: Built<never> = (options: WebhookOptions) => Webhook.layer(options)

/** A webhook of which a user has made a copy, to change a member. */
const copied: Built<SqlClient.SqlClient> = (options) =>
  Layer.effect(
    Webhook,
    Effect.map(Webhook, (webhook) => Webhook.of({ ...webhook, answer: (...args) => webhook.answer(...args) }))
  ).pipe(Layer.provideMerge(onDatabase(options)))

/** What a webhook has that records nothing. */
const noClient: WebhookClient["Service"] = {
  idle: Effect.void,
  deadLetters: Effect.succeed([]),
  find: () => Effect.succeed([]),
  retry: () => Effect.die("nothing is recorded"),
  discard: () => Effect.die("nothing is recorded")
}

/** What the user of the gateway says of its status words. */
export const knowing = (statuses: GatewayFacts["statuses"]) =>
  Effect.updateService(PaymentsClient, (client) => ({ ...client, facts: GatewayFacts.make({ statuses }) }))

/** A webhook that records deliveries, and when it looks one up that is never confirmed, in seconds. */
export const recorded = { name: "a recorded delivery", layer: undefined, times: [0, 1, 3, 7, 15, 31, 63] }
/** The same of a copy of the service. */
export const decorated = { ...recorded, name: "a delivery to a decorated webhook", layer: copied }
/** The same of one that stores nothing. */
export const unrecorded = { name: "a delivery that is not recorded", layer: edge, times: [0, 1, 3, 7] }

export const delivery = (body: unknown, init: RequestInit = {}) =>
  new Request("https://shop.example/webhooks/pix", {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init
  })

/** Starts a webhook, which ends with the test or at its `crash`. */
export const recording = Effect.fnUntraced(function* <R = SqlClient.SqlClient>(
  options: Options = {},
  layer: Built<R | SqlClient.SqlClient> = onDatabase
) {
  const events: Array<WebhookEvent.Confirmed> = []
  const reports: Array<WebhookEvent.Unconfirmed> = []
  const failures: Array<WebhookEvent.HandlerFailure> = []
  const scope = yield* Scope.fork(yield* Effect.scope)
  const context = yield* Layer.buildWithScope(
    layer({
      ...options,
      onStatus: (event) =>
        Effect.andThen(
          Effect.sync(() => events.push(event)),
          options.onStatus?.(event) ?? Effect.void
        ),
      onUnconfirmed: (report) =>
        Effect.andThen(
          Effect.sync(() => reports.push(report)),
          options.onUnconfirmed?.(report) ?? Effect.void
        ),
      onFailure: (failure) => Effect.sync(() => failures.push(failure))
    }),
    scope
  )
  const webhook = Context.get(context, Webhook)
  const client = Context.getOption(context, WebhookClient)
  /** Sends a body, and returns the status. */
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    Effect.map(
      Effect.suspend(() => webhook.answer(delivery(body, { headers }))),
      ({ status }) => status
    )
  return {
    ...webhook,
    ...Option.getOrElse(client, () => noClient),
    isRecorded: Option.isSome(client),
    post,
    /** Sends a delivery that claims a status of a transaction. */
    claim: (transactionId: string, status = "Paid") => post({ transactionId, status }),
    events,
    reports,
    failures,
    statuses: () => events.map(({ transaction }) => transaction.enStatusTransaction),
    reasons: () => reports.map((report) => ("reason" in report ? report.reason : report._tag)),
    /** Ends the process of the webhook. */
    crash: Scope.close(scope, Exit.void)
  }
})

/** Lets time pass until nothing waits. */
export const finish = Effect.fnUntraced(function* <E>({ idle }: { readonly idle: Effect.Effect<void, E> }) {
  const fiber = yield* Effect.forkChild(idle, { startImmediately: true })
  yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => fiber.pollUnsafe() !== undefined, times: 1000 })
  yield* Fiber.join(fiber)
})

/** Lets the work of this moment end. No time passes. */
export const until = (isOver: () => boolean) => Effect.repeat(TestClock.adjust(0), { until: isOver, times: 5000 })

type Lookup = ReturnType<Payments["Service"]["getTransaction"]>

/** Changes what lookups answer. The sandbox knows an id in small letters alone. */
export const lookingUp =
  (look: (answer: Lookup, id: string) => Lookup) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideServiceEffect(
      effect,
      Payments,
      Effect.map(Payments, (payments) => ({
        ...payments,
        getTransaction: (id: string) => look(payments.getTransaction(id.toLowerCase()), id)
      }))
    )

/** Lookups that answer this status. */
export const saying = (status: () => string) =>
  lookingUp((answer) => Effect.map(answer, (detail) => ({ ...detail, enStatusTransaction: status() })))

/** Notes the time of each lookup, in milliseconds since the webhook was started. */
export const timing =
  (at: Array<number>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.currentTimeMillis, (begin) =>
      lookingUp((answer) =>
        Effect.andThen(
          Effect.map(Clock.currentTimeMillis, (now) => at.push(now - begin)),
          answer
        )
      )(effect)
    )

export const inSeconds = (at: ReadonlyArray<number>) => at.map((millis) => Math.round(millis / 1000))

/** Waits are neither shortened nor lengthened. */
export const evenly = Effect.provideService(Random.Random, { nextDoubleUnsafe: () => 0.5, nextIntUnsafe: () => 0 })

export const isTransaction = (
  report: WebhookEvent.Unconfirmed | undefined
): report is WebhookEvent.UnconfirmedTransaction => report?._tag === "UnconfirmedTransaction"

/** An id of no transaction. */
export const nobody = (n = 0): string => `9f1c8c52-6a3e-4b1f-9d57-${String(n).padStart(12, "0")}`

/** All that the table of the webhook has, as text. */
export const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT * FROM effect_pix_webhooks`
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
})

/** Looks until so many rows wait for this reason, and makes their next try the last one, which is due now. */
export const exhaust = Effect.fnUntraced(function* (
  reason: "early" | "outage" | "failed",
  rows = 1,
  pause: Effect.Effect<void> = nextTurn
) {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql<{ readonly webhook: string; readonly name: string; readonly value: string }>`
    SELECT webhook, name, value FROM effect_pix_webhooks WHERE value LIKE ${`%"waits":"${reason}"%`}`
  const found = yield* Effect.repeat(Effect.andThen(pause, waiting), { until: ({ length }) => length >= rows })
  for (const { name, value, webhook } of found) {
    const last = value.replace(new RegExp(`"${reason}":\\d+`), `"${reason}":999`)
    yield* sql`UPDATE effect_pix_webhooks SET value = ${last}, due_at = 0 WHERE webhook = ${webhook} AND name = ${name}`
  }
})

/** Fails what waits because of the user's code for the last time. */
export const kill = (rows = 1) =>
  Effect.andThen(exhaust("failed", rows, TestClock.adjust("10 millis")), TestClock.adjust("1 second"))
