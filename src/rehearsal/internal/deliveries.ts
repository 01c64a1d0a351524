/**
 * Delivers the gateway's webhooks to the processes that receive, by turns, and disturbs one of them. Where no process receives,
 * the port is closed, and the gateway repeats the webhook.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { waits } from "../../sandbox/SandboxWebhook.ts"
import type { Disturber } from "./disturber.ts"
import type { How } from "./schedules.ts"
import type { Story } from "./story.ts"
import type { Life } from "./time.ts"

/** The number of the webhook that the current fiber handles. A reference, since the user's handler lies between it and its calls. */
export const CurrentWebhook = Context.Reference<number | undefined>("effect-pix/RehearsalWebhook", {
  defaultValue: () => undefined
})

/** Bodies are the gateway's own. The forged one has the same form. */
const fromBody = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      transactionId: Schema.optional(Schema.String),
      withdrawalId: Schema.optional(Schema.Int),
      withdrawId: Schema.optional(Schema.Int),
      status: Schema.String
    })
  )
)

/** Answers a webhook in the process. */
type Handler = (request: Request) => Effect.Effect<Response>

interface Options {
  readonly story: Story
  readonly disturber: Disturber
  /** Runs an effect in the world. */
  readonly forkInWorld: (effect: Effect.Effect<unknown>) => void
  /** Runs an effect in a process, and returns its answer. It never ends where the process dies. */
  readonly forkInProcess: (life: Life, effect: Effect.Effect<Response>) => Effect.Effect<Response>
}

const answerWith = (status: number) => new Response(undefined, { status })

/** The payout that a body is about: as documented by the sandbox, or as seen. */
const payoutOf = (body: string): number | undefined => {
  const { withdrawId, withdrawalId = withdrawId } = fromBody(body)
  return withdrawalId
}

/** The subject of a body, without the values of the caller. */
const subjectOf = (body: string): string => {
  const { status, transactionId } = fromBody(body)
  return `${transactionId === undefined ? `payout ${payoutOf(body)}` : `charge ${transactionId}`} is ${status}`
}

/** How long a late delivery waits: another one may come before it. */
const late = "1 hour"

export const makeDeliveries = ({ disturber, forkInProcess, forkInWorld, story }: Options) => {
  /** The numbers of the deliveries by their bodies: a repeated attempt is the same delivery. */
  const sent = new Map<string, number>()
  const handlers = new Map<Life, Handler>()
  const silenced = new Set<number>()
  let hasReceived = false
  let turn = 0

  /** Passes a delivery to a process. */
  const forward = (name: string, body: string) =>
    Effect.suspend(() => {
      const [life, handler] = [...handlers][turn++ % handlers.size] ?? []
      if (life === undefined || handler === undefined) {
        if (hasReceived) story.add(`${name} finds a closed port`, {})
        return Effect.succeed(answerWith(502))
      }
      const request = new Request("https://shop.example/webhooks/pix", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body
      })
      const to = handlers.size === 1 ? "" : ` to ${life.name}`
      const delivery = {}
      story.add(`${name} is delivered${to}: ${subjectOf(body)}`, delivery)
      const handled = Effect.provideService(handler(request), CurrentWebhook, sent.get(body))
      return Effect.tap(forkInProcess(life, handled), ({ status }) =>
        Effect.sync(() => story.add(`${name} is answered ${status}`, delivery))
      )
    })

  /** Repeats a delivery until it is taken, as the gateway does. */
  const repeatUntilTaken = (name: string, body: string) =>
    Effect.gen(function* () {
      for (const wait of waits) {
        const { status } = yield* forward(name, body)
        if (status < 300) return
        yield* Effect.sleep(`${wait} seconds`)
      }
      yield* forward(name, body)
    })

  const disturb = (how: Extract<How, { readonly _tag: "Delivery" }>["how"], name: string, body: string) => {
    switch (how) {
      case "twice":
        return Effect.tap(forward(name, body), () => forward(`${name}, repeated`, body))
      case "late":
        forkInWorld(Effect.delay(repeatUntilTaken(`${name}, late`, body), late))
        break
      case "never":
        story.add(`${name} never comes`)
        break
      case "once":
        story.add(`${name} comes once, and is not repeated`)
        forkInWorld(forward(name, body))
    }
    return Effect.succeed(answerWith(200))
  }

  return {
    /** Whether a process ever received. */
    hasReceived: () => hasReceived,

    /** Whether a process receives now. */
    isReceiving: (): boolean => handlers.size > 0,

    /** No webhook of a payout comes from now on. */
    silence: (payout: number): void => void silenced.add(payout),

    /** A process receives, until it no longer wants to. */
    receive: (life: Life, handler: Handler): (() => void) => {
      handlers.set(life, handler)
      hasReceived = true
      return () => void (handlers.get(life) === handler && handlers.delete(life))
    },

    /** A process no longer receives. */
    forget: (life: Life): void => void handlers.delete(life),

    /** The target of the gateway's webhooks. */
    target: (request: Request): Effect.Effect<Response> =>
      Effect.gen(function* () {
        const body = yield* Effect.promise(() => request.text())
        const number = sent.get(body) ?? sent.size + 1
        const isNew = !sent.has(body)
        sent.set(body, number)
        const name = `webhook ${number}`
        if (silenced.has(payoutOf(body) ?? Number.NaN)) {
          if (isNew) story.add(`${name} never comes`)
          return answerWith(200)
        }
        if (isNew && handlers.size > 0) disturber.add({ kind: "webhook", number, name: "", webhook: undefined })
        const disturbed = isNew ? disturber.at("Delivery", "webhook", number) : undefined
        if (disturbed !== undefined) return yield* disturb(disturbed.how, name, body)
        return yield* forward(name, body)
      }),

    /** Delivers a forged body. */
    forge: (body: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        for (let second = 0; handlers.size === 0 && second < 60; second++) yield* Effect.sleep("1 second")
        yield* forward("a forged webhook", body)
      })
  }
}

/** See `makeDeliveries`. */
export type Deliveries = ReturnType<typeof makeDeliveries>
