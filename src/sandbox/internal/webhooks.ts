/**
 * The sandbox's webhooks: which changes are told, in what shape, and how often they are tried.
 *
 * The service sends webhooks and shows neither payload nor retries nor signature (service interface, section 6). All of
 * this is **made up**, but for one thing: a withdrawal's metadata is returned, an object as its JSON text.
 *
 * ```json
 * { "event": "transaction.updated", "transactionId": "9f1c8c52-...", "status": "Paid", "amount": 2500,
 *   "paymentMethod": "PIX", "updatedAt": "2026-01-31T12:00:00.000Z" }
 * { "event": "withdrawal.updated", "withdrawalId": 1, "idempotencyKey": "payout_...", "status": "Settled",
 *   "amount": 1000, "metadata": "{\"batch\":7}", "createdAt": "2026-01-31T12:00:00.000Z" }
 * ```
 *
 * - Told are changes: of a charge to `Paid`, `Cancelled`, `Failed` and `Refunded`, of a payout to `Settled` and
 *   `Rejected`. Not their creation. A charge that lapses by itself is told of at the next request or steering.
 * - `status` is the detail's word; a payout's is the sandbox's own. `amount` is in centavos. Nothing is of a person, but
 *   what you put into the metadata.
 * - A webhook is sent until it is answered by a 2xx within 10 seconds: at once, then after 1, 5, 25, 125 and 625 seconds,
 *   by the clock of whoever made the change. Redirects are not followed. What makes the change never waits for it.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import { constTrue } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import { isLoopback } from "../../internal/loopback.ts"
import { wrong } from "../../contract/Settings.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "./ledger.ts"
import { SandboxNotFound } from "../SandboxError.ts"
import type { Settings } from "../SandboxOptions.ts"
import { unseen } from "./unseen.ts"

/** Where webhooks go: a loopback address, or a handler in this process, as `Webhook.answer` or any web handler. */
export type WebhookTarget = string | URL | ((request: Request) => Promise<Response> | Effect.Effect<Response, unknown>)

/** One webhook to one target. */
export interface SandboxWebhook {
  /** Its number, from 1. */
  readonly id: number
  /** `Pending`: under way, or waiting for its next attempt. `Taken`: answered by a 2xx. `GivenUp`: never. */
  readonly state: "Pending" | "Taken" | "GivenUp"
  /** Each attempt that has ended, and the status that answered it; `undefined` for none. */
  readonly attempts: ReadonlyArray<{ readonly at: DateTime.Utc; readonly status: number | undefined }>
  /** The body, as sent at every attempt. */
  readonly json: Redacted.Redacted<Schema.Json>
}

/** Sends once, and gives the status of the answer; `undefined` for none. */
type Send = (headers: Readonly<Record<string, string>>, body: string) => Effect.Effect<number | undefined>

interface Delivery extends Pick<SandboxWebhook, "id" | "json"> {
  readonly attempts: Array<SandboxWebhook["attempts"][number]>
  readonly send: Send
}

const mostAttempts = 6
const retries = Schedule.upTo(Schedule.exponential("1 second", 5), { times: mostAttempts - 1 })

const isTaken = (status: number | undefined) => status !== undefined && status >= 200 && status < 300

const stateOf = (attempts: SandboxWebhook["attempts"]): SandboxWebhook["state"] => {
  if (isTaken(attempts.at(-1)?.status)) return "Taken"
  return attempts.length < mostAttempts ? "Pending" : "GivenUp"
}

const toStatus = {
  onSuccess: ({ status }: { readonly status: number }) => status,
  onFailure: () => undefined
}

const toUrl =
  (url: URL): Send =>
  (headers, body) =>
    HttpClient.HttpClient.pipe(
      Effect.flatMap((client) => {
        const request = HttpClientRequest.post(url, { headers })
        return HttpClient.withScope(client).execute(HttpClientRequest.bodyText(request, body, "application/json"))
      }),
      Effect.matchCause(toStatus),
      Effect.scoped,
      Effect.provide(FetchHttpClient.layer),
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.provideService(HttpClient.TracerDisabledWhen, constTrue)
    )

const toHandler =
  <E>(handler: (request: Request) => Promise<Response> | Effect.Effect<Response, E>): Send =>
  (headers, body) =>
    Effect.suspend(() => {
      const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body }
      const answer = handler(new Request("https://shop.example/webhooks/pix", init))
      return Effect.isEffect(answer)
        ? Effect.matchCause(answer, toStatus)
        : Effect.matchCause(
            Effect.tryPromise(() => answer),
            toStatus
          )
    }).pipe(Effect.catchDefect(() => Effect.undefined))

const toSend = (target: WebhookTarget, setting: string): Send => {
  if (Predicate.isFunction(target)) return toHandler(target)
  const url = Result.getOrUndefined(Result.try(() => new URL(target)))
  if (url === undefined || !/^https?:$/.test(url.protocol) || !isLoopback(url.hostname)) {
    throw wrong(setting, "must be a loopback address, as http://127.0.0.1:3000/webhooks")
  }
  return toUrl(url)
}

const payloadOfTransaction = (transaction: SandboxTransaction): Schema.Json => {
  const { amount, paymentMethod, status, transactionId, updatedAt } = transaction
  const event = "transaction.updated"
  return { event, transactionId, status, amount, paymentMethod, updatedAt: DateTime.formatIso(updatedAt) }
}

const payloadOfWithdrawal = (withdrawal: SandboxWithdrawal): Schema.Json => {
  const { amount, createdAt, id, idempotencyKey, status } = withdrawal
  const metadata = Redacted.value(withdrawal.metadata)
  return {
    event: "withdrawal.updated",
    withdrawalId: id,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    status,
    amount,
    ...(metadata !== undefined && { metadata: Predicate.isString(metadata) ? metadata : JSON.stringify(metadata) }),
    createdAt: DateTime.formatIso(createdAt)
  }
}

export const make = Effect.fnUntraced(function* ({ webhookSecret, webhookUrl }: Settings) {
  const fibers = yield* FiberSet.make<void>()
  const headers = webhookSecret === undefined ? {} : { "x-webhook-secret": Redacted.value(webhookSecret) }
  const configured = webhookUrl === undefined ? [] : [toSend(webhookUrl, "SandboxOptions.webhookUrl")]

  const makeState = () => {
    const deliveries: Array<Delivery> = []
    const queue: Array<Delivery> = []
    return { targets: [...configured], deliveries, queue, underWay: 0, rest: Latch.makeUnsafe(true) }
  }
  let state = makeState()

  const enter = (here: typeof state) => {
    here.underWay += 1
    here.rest.closeUnsafe()
  }
  const leave = (here: typeof state) => {
    here.underWay -= 1
    if (here.underWay === 0) here.rest.openUnsafe()
  }

  const enqueue = (send: Send, json: Redacted.Redacted<Schema.Json>) => {
    const delivery: Delivery = { id: state.deliveries.length + 1, attempts: [], json, send }
    state.deliveries.push(delivery)
    state.queue.push(delivery)
    // Before its fiber runs: whoever waits for a rest must not find one now.
    enter(state)
  }
  const enqueueAll = (json: Schema.Json) => {
    for (const send of state.targets) enqueue(send, Redacted.make(json, { label: "json" }))
  }

  const attempt = Effect.fnUntraced(function* (delivery: Delivery) {
    const at = yield* DateTime.now
    const answer = delivery.send(headers, JSON.stringify(Redacted.value(delivery.json)))
    const status = Option.getOrUndefined(yield* Effect.timeoutOption(answer, "10 seconds"))
    delivery.attempts.push({ at, status })
    return isTaken(status)
  })

  const deliver = (delivery: Delivery, here: typeof state) => {
    let isFirst = true
    return Effect.suspend(() => {
      if (!isFirst) enter(here)
      isFirst = false
      return Effect.ensuring(
        attempt(delivery),
        Effect.sync(() => leave(here))
      )
    }).pipe(
      Effect.filterOrFail((taken) => taken),
      Effect.retry(retries),
      Effect.ignore
    )
  }

  /** Sets out what was noted, in the background. */
  const flush = Effect.suspend(() => {
    const here = state
    return Effect.forEach(
      here.queue.splice(0),
      (delivery) => FiberSet.run(fibers, unseen(deliver(delivery, here)), { startImmediately: false }),
      { discard: true }
    )
  })

  return {
    /** Notes a change, to be told at the next `flush`. */
    noteTransaction: (transaction: SandboxTransaction) => enqueueAll(payloadOfTransaction(transaction)),
    noteWithdrawal: (withdrawal: SandboxWithdrawal) => enqueueAll(payloadOfWithdrawal(withdrawal)),
    flush,

    subscribe: (target: WebhookTarget) => {
      state.targets.push(toSend(target, "Sandbox.subscribe"))
    },

    all: (): ReadonlyArray<SandboxWebhook> =>
      state.deliveries.map(({ attempts, id, json }) => ({
        id,
        state: stateOf(attempts),
        attempts: [...attempts],
        json
      })),

    send: (json: Schema.Json) =>
      Effect.suspend(() => {
        enqueueAll(json)
        return flush
      }),

    resend: (id: number): Effect.Effect<void, SandboxNotFound> =>
      Effect.suspend(() => {
        const delivery = state.deliveries[id - 1]
        if (delivery === undefined) return Effect.fail(new SandboxNotFound({ subject: "webhook", id }))
        enqueue(delivery.send, delivery.json)
        return flush
      }),

    rest: Effect.suspend(() => state.rest.await),

    reset: Effect.suspend(() => {
      state.rest.openUnsafe()
      state = makeState()
      return FiberSet.clear(fibers)
    })
  }
})
