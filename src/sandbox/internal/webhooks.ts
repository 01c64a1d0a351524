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
 *   by the clock of whoever made the change and of
 *   `Sandbox.advance`. Redirects are not followed. What makes the change never waits for it.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxBooks.ts"
import { SandboxNotFound } from "../SandboxError.ts"
import type { Settings } from "../SandboxOptions.ts"
import type { KeptDelivery } from "../SandboxState.ts"
import type { SandboxWebhook, WebhookTarget } from "../SandboxWebhook.ts"
import type { Changes } from "./changes.ts"
import { makeRecent } from "./recent.ts"
import { type Target, toTarget } from "./send.ts"
import { unseen } from "./unseen.ts"

interface Delivery {
  readonly id: number
  readonly target: Target
  readonly json: Redacted.Redacted<Schema.Json>
  readonly createdAt: number
  readonly attempts: Array<KeptDelivery["attempts"][number]>
  nextAt: number | undefined
  /** Whether an attempt is under way, or about to be. */
  isBusy: boolean
}

/** The seconds before each repetition. */
const waits = [1, 5, 25, 125, 625]

const isTaken = ({ attempts }: Delivery) => {
  const status = attempts.at(-1)?.status
  return status !== undefined && status >= 200 && status < 300
}

const stateOf = (delivery: Delivery): SandboxWebhook["state"] => {
  if (isTaken(delivery)) return "Taken"
  return delivery.attempts.length <= waits.length ? "Pending" : "GivenUp"
}

const showAttempt = ({ at, ...rest }: KeptDelivery["attempts"][number]) => ({ at: DateTime.makeUnsafe(at), ...rest })

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

/** What is kept of the webhooks. */
type Kept = {
  readonly targets: ReadonlyArray<string>
  readonly webhooks: ReadonlyArray<KeptDelivery>
}

export const make = Effect.fnUntraced(function* (
  settings: Settings,
  now: Effect.Effect<DateTime.Utc>,
  { tell }: Changes
) {
  const { keep: limit, webhookSecret, webhookUrls } = settings
  const fibers = yield* FiberSet.make<void>()
  const headers = webhookSecret === undefined ? {} : { "x-webhook-secret": Redacted.value(webhookSecret) }
  const configured = webhookUrls.map((url) => toTarget(url, "SandboxOptions.webhookUrl"))

  const makeState = (targets: ReadonlyArray<Target>) => {
    const queue: Array<Delivery> = []
    return {
      targets: [...targets],
      deliveries: makeRecent<Delivery>(limit),
      queue,
      underWay: 0,
      rest: Latch.makeUnsafe(true)
    }
  }
  let state = makeState(configured)
  let pushed = Latch.makeUnsafe(false)

  const enter = (here: typeof state, delivery: Delivery) => {
    if (delivery.isBusy) return
    delivery.isBusy = true
    here.underWay += 1
    here.rest.closeUnsafe()
  }
  const leave = (here: typeof state, delivery: Delivery) => {
    delivery.isBusy = false
    here.underWay -= 1
    if (here.underWay === 0) here.rest.openUnsafe()
  }
  const tellOf = (delivery: Delivery) => tell((sequence) => ({ _tag: "Webhook", sequence, webhook: show(delivery) }))

  const add = (
    target: Target,
    json: Redacted.Redacted<Schema.Json>,
    createdAt: number,
    attempts: KeptDelivery["attempts"] = []
  ) => {
    const delivery = state.deliveries.add(
      (next) => ({ id: next, target, json, createdAt, attempts: [...attempts], nextAt: undefined, isBusy: false }),
      JSON.stringify(Redacted.value(json)).length
    )
    if (stateOf(delivery) !== "Pending") return
    state.queue.push(delivery)
    // Before its fiber runs: whoever waits for a rest must not find one now.
    enter(state, delivery)
    tellOf(delivery)
  }
  const addAll = (json: Schema.Json, at: number) => {
    for (const target of state.targets) add(target, Redacted.make(json, { label: "json" }), at)
  }

  const attempt = Effect.fnUntraced(function* (delivery: Delivery) {
    const at = DateTime.toEpochMillis(yield* now)
    const from = yield* Clock.currentTimeMillis
    const sent = yield* delivery.target.send(headers, JSON.stringify(Redacted.value(delivery.json)))
    const millis = (yield* Clock.currentTimeMillis) - from
    delivery.attempts.push({ at, millis, ...sent })
    const wait = waits[delivery.attempts.length - 1]
    const ended = DateTime.toEpochMillis(yield* now)
    delivery.nextAt = wait === undefined || isTaken(delivery) ? undefined : ended + wait * 1000
  })

  /** Waits until the clock, which may be pushed, is there. */
  const until = (at: number): Effect.Effect<void> =>
    Effect.flatMap(now, (utc) => {
      const left = at - DateTime.toEpochMillis(utc)
      return left <= 0
        ? Effect.void
        : Effect.andThen(Effect.timeoutOrElse(pushed.await, { duration: left, orElse: () => Effect.void }), until(at))
    })

  const deliver = (delivery: Delivery, here: typeof state): Effect.Effect<void> =>
    attempt(delivery).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          leave(here, delivery)
          tellOf(delivery)
        })
      ),
      Effect.andThen(
        Effect.suspend(() => {
          const { nextAt } = delivery
          return nextAt === undefined
            ? Effect.void
            : Effect.andThen(
                until(nextAt),
                Effect.suspend(() => {
                  enter(here, delivery)
                  return deliver(delivery, here)
                })
              )
        })
      )
    )

  /** Sets out what was noted, in the background. */
  const flush = Effect.suspend(() => {
    const here = state
    return Effect.forEach(
      here.queue.splice(0),
      (delivery) => FiberSet.run(fibers, unseen(deliver(delivery, here)), { startImmediately: false }),
      { discard: true }
    )
  })

  const begin = (targets: ReadonlyArray<Target>, kept: ReadonlyArray<KeptDelivery>) =>
    Effect.suspend(() => {
      state.rest.openUnsafe()
      state = makeState(targets)
      for (const { attempts, createdAt, json, target } of kept) {
        add(toTarget(target, "SandboxState"), Redacted.make(json, { label: "json" }), createdAt, attempts)
      }
      return Effect.andThen(FiberSet.clear(fibers), flush)
    })

  return {
    /** Notes a change, to be told at the next `flush`. */
    noteTransaction: (transaction: SandboxTransaction) =>
      addAll(payloadOfTransaction(transaction), DateTime.toEpochMillis(transaction.updatedAt)),
    noteWithdrawal: (withdrawal: SandboxWithdrawal, at: number) => addAll(payloadOfWithdrawal(withdrawal), at),
    hasTargets: () => state.targets.length > 0,
    flush,

    targets: (): ReadonlyArray<string> => state.targets.map(({ name }) => name),
    subscribe: (target: WebhookTarget) => {
      state.targets.push(toTarget(target, "Sandbox.subscribe"))
    },
    unsubscribe: (name: string) => {
      state.targets = state.targets.filter((target) => target.name !== name)
    },

    all: (): ReadonlyArray<SandboxWebhook> => state.deliveries.all().map(show),

    send: (json: Schema.Json) =>
      Effect.flatMap(now, (utc) => {
        addAll(json, DateTime.toEpochMillis(utc))
        return flush
      }),

    resend: (id: number): Effect.Effect<void, SandboxNotFound> =>
      Effect.flatMap(now, (utc) => {
        const delivery = state.deliveries.get(id)
        if (delivery === undefined) return Effect.fail(new SandboxNotFound({ subject: "webhook", id }))
        add(delivery.target, delivery.json, DateTime.toEpochMillis(utc))
        return flush
      }),

    rest: Effect.suspend(() => state.rest.await),

    /** The clock was pushed: whoever waits looks at it again. What is due is under way from now on. */
    push: Effect.map(now, (utc) => {
      for (const delivery of state.deliveries.all()) {
        if (delivery.nextAt !== undefined && delivery.nextAt <= DateTime.toEpochMillis(utc)) enter(state, delivery)
      }
      const before = pushed
      pushed = Latch.makeUnsafe(false)
      before.openUnsafe()
    }),

    keep: (): Kept => ({
      targets: state.targets.map(({ name }) => name).filter((name) => name !== "handler"),
      webhooks: state.deliveries
        .all()
        .filter(({ target }) => target.name !== "handler")
        .map(({ attempts, createdAt, json, target }) => ({
          target: target.name,
          json: Redacted.value(json),
          createdAt,
          attempts: [...attempts]
        }))
    }),

    /** Handlers of this process stay subscribed: no state names them. */
    restore: (kept: Kept) =>
      Effect.suspend(() => {
        const named = kept.targets.map((name) => toTarget(name, "SandboxState"))
        return begin([...named, ...state.targets.filter(({ name }) => name === "handler")], kept.webhooks)
      }),

    reset: begin(configured, [])
  }
})
