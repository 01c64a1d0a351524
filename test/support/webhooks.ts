/**
 * A webhook that records the input of its handlers, on the gateway of the test.
 */
import { it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { type Payments, TransactionHints } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { NodeSqlite } from "effect-pix/node"
import { Webhook, type WebhookEvent, type WebhookOptions, type WebhookSqlOptions } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"

/** A gateway, separate hints, a database in memory, and no log. */
export const world = Layer.mergeAll(
  Sandbox.layerPayments,
  TransactionHints.layer,
  NodeSqlite.layer({ filename: ":memory:" }),
  Logger.layer([])
)

/** A test on a gateway of its own, under `TestClock`. */
export const testWebhook = <E>(
  name: string,
  effect: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof world>>
): void => it.effect(name, () => effect.pipe(Effect.provide(Layer.fresh(world))))

type Built<R> = (options: WebhookOptions & WebhookSqlOptions) => Layer.Layer<Webhook, unknown, Payments | R>

const recorded: Built<SqlClient.SqlClient> = (options) => Webhook.layerSql(options)

/** The webhook that stores nothing. */
export const edge: Built<never> = (options: WebhookOptions) => Webhook.layer(options)

/** Starts a webhook, which ends with the test or at its `crash`. */
export const recording = Effect.fnUntraced(function* <R = SqlClient.SqlClient>(
  options: WebhookOptions & WebhookSqlOptions = {},
  layer: Built<R | SqlClient.SqlClient> = recorded
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
  return {
    ...webhook,
    /** Sends a body, and returns the status. */
    post: (body: unknown, headers: Record<string, string> = {}) =>
      Effect.map(
        webhook.answer(
          new Request("https://shop.example/webhooks/pix", {
            method: "POST",
            headers,
            body: typeof body === "string" ? body : JSON.stringify(body)
          })
        ),
        ({ status }) => status
      ),
    events,
    reports,
    failures,
    statuses: () => events.map(({ transaction }) => transaction.enStatusTransaction),
    reasons: () => reports.map((report) => ("reason" in report ? report.reason : report._tag)),
    /** Ends the process of the webhook. */
    crash: Scope.close(scope, Exit.void)
  }
})

export const isTransaction = (
  report: WebhookEvent.Unconfirmed | undefined
): report is WebhookEvent.UnconfirmedTransaction => report?._tag === "UnconfirmedTransaction"

export const isWithdrawal = (
  report: WebhookEvent.Unconfirmed | undefined
): report is WebhookEvent.UnconfirmedWithdrawal => report?._tag === "UnconfirmedWithdrawal"

/** An id of no transaction. */
export const nobody = (n = 0): string => `9f1c8c52-6a3e-4b1f-9d57-${String(n).padStart(12, "0")}`

/** Waits until so many rows wait for this reason, and makes their next try the last one, which is due now. */
export const exhaust = Effect.fnUntraced(function* (
  reason: "early" | "outage" | "failed",
  rows = 1,
  pause: Effect.Effect<void> = Effect.sleep("20 millis")
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
