/**
 * A webhook that records the input of its handlers, on the gateway of the test.
 */
import { it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { type Payments, TransactionHints } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookEvent, type WebhookOptions } from "effect-pix/webhook"

/** A gateway, separate hints, and no log. */
export const world = Layer.mergeAll(Sandbox.layerPayments, TransactionHints.layer, Logger.layer([]))

/** A test on a gateway of its own, under `TestClock`. */
export const testWebhook = <E>(
  name: string,
  effect: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof world>>
): void => it.effect(name, () => effect.pipe(Effect.provide(Layer.fresh(world))))

type Built<R> = (options: WebhookOptions) => Layer.Layer<Webhook, unknown, Payments | R>

const inMemory: Built<never> = (options) => Webhook.layer(options)

/** Starts a webhook, which ends with the test or at its `crash`. */
export const recording = Effect.fnUntraced(function* <R = never>(
  options: WebhookOptions = {},
  layer: Built<R> = inMemory
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
