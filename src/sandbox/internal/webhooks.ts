/**
 * The webhooks of the sandbox: the changes that are sent, their bodies, and their attempts.
 *
 * The service sends webhooks, and documents neither payload nor retries nor signature (`docs/service.md`). All of this is
 * **made up**, except for one thing: a withdrawal's metadata is returned, an object as its JSON text.
 *
 * ```json
 * { "event": "transaction.updated", "transactionId": "9f1c8c52-...", "status": "Paid", "amount": 2500,
 *   "paymentMethod": "PIX", "updatedAt": "2026-01-31T12:00:00.000Z" }
 * { "event": "withdrawal.updated", "withdrawalId": 1, "idempotencyKey": "payout_...", "status": "Settled",
 *   "amount": 1000, "metadata": "{\"batch\":7}", "createdAt": "2026-01-31T12:00:00.000Z" }
 * ```
 *
 * Details:
 *
 * - A charge that becomes `Paid`, `Cancelled`, `Failed` or `Refunded` is sent, and a payout that becomes `Settled` or
 *   `Rejected`. A creation is not sent. A charge that lapses by itself is sent at the next request or steering.
 * - `status` of a charge is the word of the lookup; that of a payout is the sandbox's own. `amount` is in centavos. A body
 *   has no personal data, except in the metadata that you sent.
 * - A webhook is sent until it is answered by a 2xx within 10 seconds: at once, then after 1, 5, 25, 125 and 625 seconds,
 *   by the clock of the caller that made the change, and by `Sandbox.advance`. Redirects are not followed. The
 *   caller never waits for a webhook.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import { SandboxNotFound } from "../SandboxError.ts"
import type { Settings } from "../SandboxOptions.ts"
import type { StoredDelivery } from "../SandboxState.ts"
import type { SandboxWebhook, WebhookTarget } from "../SandboxWebhook.ts"
import type { Changes } from "./changes.ts"
import { makeRecent } from "./recent.ts"
import { type Target, toTarget } from "./send.ts"
import { untraced } from "./untraced.ts"

interface Delivery {
  readonly id: number
  readonly target: Target
  readonly json: Redacted.Redacted<Schema.Json>
  readonly createdAt: number
  readonly attempts: Array<StoredDelivery["attempts"][number]>
  /** When the next attempt is sent, after a failed one. */
  nextAt: number | undefined
}

/** The seconds before each repetition. */
export const waits = [1, 5, 25, 125, 625]

const isTaken = ({ attempts }: Delivery) => {
  const status = attempts.at(-1)?.status
  return status !== undefined && status >= 200 && status < 300
}

const stateOf = (delivery: Delivery): SandboxWebhook["state"] => {
  if (isTaken(delivery)) return "Taken"
  return delivery.attempts.length <= waits.length ? "Pending" : "GivenUp"
}

const showAttempt = ({ at, ...rest }: StoredDelivery["attempts"][number]) => ({ at: DateTime.makeUnsafe(at), ...rest })

const show = (delivery: Delivery): SandboxWebhook => {
  const { attempts, createdAt, id, json, nextAt, target } = delivery
  return {
    id,
    target: target.name,
    state: stateOf(delivery),
    createdAt: DateTime.makeUnsafe(createdAt),
    attempts: attempts.map(showAttempt),
    ...(nextAt !== undefined && { nextAttemptAt: DateTime.makeUnsafe(nextAt) }),
    json
  }
}

const payloadOfTransaction = (transaction: SandboxTransaction): Schema.Json => {
  const { amount, paymentMethod, status, transactionId, updatedAt } = transaction
  const event = "transaction.updated"
  return { event, transactionId, status, amount, paymentMethod, updatedAt: DateTime.formatIso(updatedAt) }
}

const payloadOfWithdrawal = (withdrawal: SandboxWithdrawal): Schema.Json => {
  const { amount, createdAt, id, idempotencyKey, status } = withdrawal
  const metadata = withdrawal.metadata && Redacted.value(withdrawal.metadata)
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

/** The webhooks of a state. */
type Stored = {
  readonly targets: ReadonlyArray<string>
  readonly webhooks: ReadonlyArray<StoredDelivery>
}

/** Whether a target is a handler in this process, which no state can store. */
const isHandler = ({ name }: Target) => name === "handler"

export const make = Effect.fnUntraced(function* (
  settings: Settings,
  now: Effect.Effect<DateTime.Utc>,
  { publish }: Changes
) {
  const { keep, webhookSecret, webhookUrls } = settings
  const nowMillis = Effect.map(now, DateTime.toEpochMillis)
  const headers = webhookSecret === undefined ? {} : { "x-webhook-secret": Redacted.value(webhookSecret) }
  const targetOf = (target: WebhookTarget, setting: string) => toTarget(target, setting, settings.allowedHosts)
  const configured = webhookUrls.map((url) => targetOf(url, "SandboxOptions.webhookUrl"))
  const sending = yield* FiberSet.make<void>()
  const timers = yield* FiberSet.make<void>()
  let targets = configured
  let deliveries = makeRecent<Delivery>(keep)
  /** The deliveries with an attempt to come, now or later. */
  let waiting = new Set<Delivery>()

  const publishDelivery = (delivery: Delivery) => publish({ _tag: "Webhook", webhook: show(delivery) })

  const add = (
    target: Target,
    json: Redacted.Redacted<Schema.Json>,
    createdAt: number,
    attempts: StoredDelivery["attempts"] = []
  ) => {
    const delivery = deliveries.add(
      (id) => ({ id, target, json, createdAt, attempts: [...attempts], nextAt: undefined }),
      JSON.stringify(Redacted.value(json)).length
    )
    if (stateOf(delivery) !== "Pending") return
    waiting.add(delivery)
    publishDelivery(delivery)
  }
  const addToAll = (json: Schema.Json, at: number) => {
    for (const target of targets) add(target, Redacted.make(json, { label: "json" }), at)
  }

  const attempt = Effect.fnUntraced(function* (delivery: Delivery) {
    const at = yield* nowMillis
    const from = yield* Clock.currentTimeMillis
    const sent = yield* delivery.target.send(headers, JSON.stringify(Redacted.value(delivery.json)))
    delivery.attempts.push({ at, millis: (yield* Clock.currentTimeMillis) - from, ...sent })
    const wait = waits[delivery.attempts.length - 1]
    if (wait !== undefined && !isTaken(delivery)) {
      delivery.nextAt = (yield* nowMillis) + wait * 1000
      waiting.add(delivery)
      yield* wake(delivery.nextAt)
    }
    publishDelivery(delivery)
  })

  /** Sends the webhooks that are due, in the background. */
  const flush: Effect.Effect<void> = Effect.suspend(() =>
    waiting.size === 0
      ? Effect.void
      : Effect.flatMap(nowMillis, (millis) => {
          const due = [...waiting].filter(({ nextAt }) => nextAt === undefined || nextAt <= millis)
          return Effect.forEach(
            due,
            (delivery) => {
              waiting.delete(delivery)
              delivery.nextAt = undefined
              return FiberSet.run(sending, untraced(attempt(delivery)), { startImmediately: false })
            },
            { discard: true }
          )
        })
  )

  /** Flushes at this time, unless the clock is pushed before. */
  const wake = (at: number) =>
    Effect.flatMap(nowMillis, (millis) => FiberSet.run(timers, untraced(Effect.delay(flush, Math.max(0, at - millis)))))

  const begin = (next: ReadonlyArray<Target>, stored: ReadonlyArray<StoredDelivery>) =>
    Effect.suspend(() => {
      targets = [...next]
      deliveries = makeRecent<Delivery>(keep)
      waiting = new Set()
      for (const { attempts, createdAt, json, target } of stored) {
        add(targetOf(target, "SandboxState"), Redacted.make(json, { label: "json" }), createdAt, attempts)
      }
      return Effect.all([FiberSet.clear(timers), FiberSet.clear(sending), flush], { discard: true })
    })

  return {
    /** Adds a webhook about a change, to be sent at the next `flush`. */
    addTransaction: (transaction: SandboxTransaction) =>
      addToAll(payloadOfTransaction(transaction), DateTime.toEpochMillis(transaction.updatedAt)),
    addWithdrawal: (withdrawal: SandboxWithdrawal) =>
      addToAll(payloadOfWithdrawal(withdrawal), DateTime.toEpochMillis(withdrawal.createdAt)),
    flush,

    targets: (): ReadonlyArray<string> => targets.map(({ name }) => name),
    /** An address is subscribed once, a handler each time. */
    subscribe: (given: WebhookTarget) => {
      const target = targetOf(given, "Sandbox.subscribe")
      if (isHandler(target) || targets.every(({ name }) => name !== target.name)) targets = [...targets, target]
    },
    unsubscribe: (name: string) => {
      targets = targets.filter((target) => target.name !== name)
    },

    all: (): ReadonlyArray<SandboxWebhook> => deliveries.all().map(show),

    send: (json: Schema.Json) =>
      Effect.flatMap(nowMillis, (at) => {
        addToAll(json, at)
        return flush
      }),

    resend: (id: number): Effect.Effect<void, SandboxNotFound> =>
      Effect.flatMap(nowMillis, (at) => {
        const delivery = deliveries.get(id)
        if (delivery === undefined) return Effect.fail(new SandboxNotFound({ subject: "webhook", id }))
        add(delivery.target, delivery.json, at)
        return flush
      }),

    /** Waits until no attempt is under way. */
    awaitAttempts: FiberSet.awaitEmpty(sending),

    /** The clock was pushed: sends the webhooks that are due by it, and sets new timers for the others. */
    onClockPushed: Effect.gen(function* () {
      yield* FiberSet.clear(timers)
      yield* flush
      yield* Effect.forEach(waiting, ({ nextAt = 0 }) => wake(nextAt), { discard: true })
    }),

    snapshot: (): Stored => ({
      targets: targets.filter((target) => !isHandler(target)).map(({ name }) => name),
      webhooks: deliveries
        .all()
        .filter(({ target }) => !isHandler(target))
        .map(({ attempts, createdAt, json, target }) => ({
          target: target.name,
          json: Redacted.value(json),
          createdAt,
          attempts: [...attempts]
        }))
    }),

    /** Replaces the webhooks by those of a state. Handlers of this process stay subscribed. */
    restore: (stored: Stored) =>
      Effect.suspend(() => {
        const named = stored.targets.map((name) => targetOf(name, "SandboxState"))
        return begin([...named, ...targets.filter(isHandler)], stored.webhooks)
      }),

    reset: begin(configured, [])
  }
})
