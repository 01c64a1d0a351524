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
 * - With `as: "seen"` the bodies are those that were seen (`seen.ts`), with the header `x-webhook-event-id`: a charge's, to
 *   its `postbackUrl` where that is local, and a payout's, that of its creation too.
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
import { parseLocalUrl } from "../../internal/loopback.ts"
import { SandboxNotFound } from "../SandboxError.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import type { Settings } from "../SandboxOptions.ts"
import { type SandboxWebhook, waits, type WebhookAttempt, type WebhookTarget } from "../SandboxWebhook.ts"
import type { Changes } from "./changes.ts"
import { valueOf } from "./ledger.ts"
import { makeRecent } from "./recent.ts"
import { cashInBody, cashOutBody, eventId } from "./seen.ts"
import { type Target, toTarget } from "./send.ts"
import type { SandboxState } from "../SandboxState.ts"
import { untraced } from "./untraced.ts"

/** A webhook with its target. The row is replaced at each change. */
interface Delivery {
  readonly target: Target
  row: SandboxWebhook
}

/** What a webhook is about, and whether the charge named its target. */
type More = Pick<SandboxWebhook, "transactionId" | "withdrawalId" | "isPostback">

const stateOf = (attempts: SandboxWebhook["attempts"]): SandboxWebhook["state"] => {
  const status = attempts.at(-1)?.status
  if (status !== undefined && status >= 200 && status < 300) return "Taken"
  return attempts.length <= waits.length ? "Pending" : "GivenUp"
}

const payloadOfTransaction = (transaction: SandboxTransaction): Schema.Json => {
  const { paymentMethod, status, transactionId, updatedAt } = transaction
  return { event: "transaction.updated", transactionId, status, amount: valueOf(transaction), paymentMethod, updatedAt }
}

const payloadOfWithdrawal = ({
  amount,
  createdAt,
  id,
  idempotencyKey,
  metadata,
  status
}: SandboxWithdrawal): Schema.Json => ({
  event: "withdrawal.updated",
  withdrawalId: id,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
  status,
  amount,
  ...(metadata !== undefined && { metadata: Predicate.isString(metadata) ? metadata : JSON.stringify(metadata) }),
  createdAt
})

/** The target that a charge names itself, if the sandbox may send to it. */
const postbackOf = ({ postbackUrl }: SandboxTransaction, { allowedHosts }: Settings): Target | undefined =>
  postbackUrl !== undefined && parseLocalUrl(postbackUrl, allowedHosts) !== undefined
    ? toTarget(postbackUrl, "postbackUrl", allowedHosts)
    : undefined

/** The webhooks of a state. */
type Stored = Pick<SandboxState, "targets" | "webhooks">

/** Whether a target is a handler in this process, which no state can store. */
const isHandler = ({ name }: Target) => name === "handler"

export const make = Effect.fnUntraced(function* (
  settings: Settings,
  now: Effect.Effect<DateTime.Utc>,
  { publish }: Changes,
  isSeen: () => boolean
) {
  const { keep, webhookSecret, webhookUrls } = settings
  const headers = webhookSecret === undefined ? {} : { "x-webhook-secret": Redacted.value(webhookSecret) }
  const targetOf = (target: WebhookTarget, setting: string) => toTarget(target, setting, settings.allowedHosts)
  const configured = webhookUrls.map((url) => targetOf(url, "SandboxOptions.webhookUrl"))
  const sending = yield* FiberSet.make<void>()
  const timers = yield* FiberSet.make<void>()
  let targets = configured
  let deliveries = makeRecent<Delivery>(keep)
  /** The deliveries with an attempt to come, now or later. */
  let waiting = new Set<Delivery>()

  const change = (delivery: Delivery, row: SandboxWebhook) => {
    delivery.row = row
    publish({ _tag: "Webhook", webhook: row })
  }

  const add = (target: Target, row: Omit<SandboxWebhook, "id" | "target" | "state">) => {
    const state = stateOf(row.attempts)
    const delivery = deliveries.add(
      (id) => ({ target, row: { ...row, id, target: target.name, state } }),
      JSON.stringify(row.json).length
    )
    if (state !== "Pending") return
    waiting.add(delivery)
    publish({ _tag: "Webhook", webhook: delivery.row })
  }
  const addTo = (to: ReadonlyArray<Target>, json: Schema.Json, createdAt: string, more: More = {}) => {
    const event = isSeen() ? { eventId: eventId(settings, json, createdAt) } : {}
    for (const target of to) add(target, { ...more, ...event, json, createdAt, attempts: [] })
  }

  const attempt = Effect.fnUntraced(function* (delivery: Delivery) {
    const at = DateTime.formatIso(yield* now)
    const from = yield* Clock.currentTimeMillis
    const { eventId, json } = delivery.row
    const named = eventId === undefined ? headers : { ...headers, "x-webhook-event-id": eventId }
    const sent = yield* delivery.target.send(named, JSON.stringify(json))
    const ended: WebhookAttempt = { at, millis: (yield* Clock.currentTimeMillis) - from, ...sent }
    const attempts = [...delivery.row.attempts, ended]
    const state = stateOf(attempts)
    const wait = waits[attempts.length - 1]
    const row = { ...delivery.row, attempts, state }
    if (state !== "Pending" || wait === undefined) return change(delivery, row)
    const next = DateTime.add(yield* now, { seconds: wait })
    change(delivery, { ...row, nextAttemptAt: DateTime.formatIso(next) })
    waiting.add(delivery)
    yield* wake(DateTime.toEpochMillis(next))
  })

  const dueAt = ({ row }: Delivery) => (row.nextAttemptAt === undefined ? 0 : Date.parse(row.nextAttemptAt))

  /** Sends the webhooks that are due, in the background. */
  const flush: Effect.Effect<void> = Effect.suspend(() =>
    waiting.size === 0
      ? Effect.void
      : Effect.flatMap(now, (utc) =>
          Effect.forEach(
            [...waiting].filter((delivery) => dueAt(delivery) <= DateTime.toEpochMillis(utc)),
            (delivery) => {
              waiting.delete(delivery)
              const { nextAttemptAt: _, ...row } = delivery.row
              delivery.row = row
              return FiberSet.run(sending, untraced(attempt(delivery)), { startImmediately: false })
            },
            { discard: true }
          )
        )
  )

  /** Flushes at this time, unless the clock is pushed before. */
  const wake = (at: number) =>
    Effect.flatMap(now, (utc) =>
      FiberSet.run(timers, untraced(Effect.delay(flush, Math.max(0, at - DateTime.toEpochMillis(utc)))))
    )

  const begin = (next: ReadonlyArray<Target>, stored: Stored["webhooks"]) =>
    Effect.suspend(() => {
      targets = [...next]
      deliveries = makeRecent<Delivery>(keep)
      waiting = new Set()
      // A webhook that waited when the state was stored is sent at once.
      for (const { nextAttemptAt: _, ...row } of stored) add(targetOf(row.target, "stateFile"), row)
      return Effect.all([FiberSet.clear(timers), FiberSet.clear(sending), flush], { discard: true })
    })

  return {
    /** Adds a webhook about a change, to be sent at the next `flush`. */
    addTransaction: (transaction: SandboxTransaction) => {
      const { transactionId, updatedAt } = transaction
      if (!isSeen()) return addTo(targets, payloadOfTransaction(transaction), updatedAt, { transactionId })
      const postback = postbackOf(transaction, settings)
      addTo(postback === undefined ? targets : [postback], cashInBody(settings, transaction), updatedAt, {
        transactionId,
        ...(postback !== undefined && { isPostback: true })
      })
    },
    addWithdrawal: (withdrawal: SandboxWithdrawal, isNew: boolean) => {
      const json = isSeen() ? cashOutBody(settings, withdrawal) : isNew ? undefined : payloadOfWithdrawal(withdrawal)
      if (json !== undefined) addTo(targets, json, withdrawal.updatedAt, { withdrawalId: withdrawal.id })
    },
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

    all: (): ReadonlyArray<SandboxWebhook> => deliveries.all().map(({ row }) => row),

    send: (json: Schema.Json) =>
      Effect.flatMap(now, (utc) => {
        addTo(targets, json, DateTime.formatIso(utc))
        return flush
      }),

    resend: (id: number): Effect.Effect<void, SandboxNotFound> =>
      Effect.flatMap(now, (utc) => {
        const delivery = deliveries.get(id)
        if (delivery === undefined) return Effect.fail(new SandboxNotFound({ subject: "webhook", id }))
        const { nextAttemptAt: _, ...row } = delivery.row
        add(delivery.target, { ...row, createdAt: DateTime.formatIso(utc), attempts: [] })
        return flush
      }),

    /** Waits until no attempt is under way. */
    awaitAttempts: FiberSet.awaitEmpty(sending),

    /** The clock was pushed: sends the webhooks that are due by it, and sets new timers for the others. */
    onClockPushed: Effect.gen(function* () {
      yield* FiberSet.clear(timers)
      yield* flush
      yield* Effect.forEach(waiting, (delivery) => wake(dueAt(delivery)), { discard: true })
    }),

    snapshot: (): Stored => ({
      targets: targets.filter((target) => !isHandler(target)).map(({ name }) => name),
      webhooks: deliveries.all().flatMap(({ row, target }) => (isHandler(target) ? [] : [row]))
    }),

    /** Replaces the webhooks by those of a state. Handlers of this process stay subscribed. */
    restore: (stored: Stored) =>
      Effect.suspend(() => {
        const named = stored.targets.map((name) => targetOf(name, "stateFile"))
        return begin([...named, ...targets.filter(isHandler)], stored.webhooks)
      }),

    reset: begin(configured, [])
  }
})
