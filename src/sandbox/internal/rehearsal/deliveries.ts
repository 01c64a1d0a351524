/**
 * Delivers the gateway's webhooks to the current process, and disturbs one of them. Where no process receives, the gateway
 * is answered with 502 and repeats the webhook.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { waits } from "../webhooks.ts"
import type { Handler } from "./declared.ts"
import type { DeliveryDisturbance } from "./schedules.ts"
import type { Story } from "./story.ts"

/** Bodies are the gateway's own. The forged one has the same form. */
const fromBody = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      transactionId: Schema.optional(Schema.String),
      withdrawalId: Schema.optional(Schema.Int),
      status: Schema.String
    })
  )
)

interface Options {
  readonly story: Story
  /** Runs an effect in the world. */
  readonly forkInWorld: (effect: Effect.Effect<unknown>) => void
  /** Runs an effect in the current process, and returns its answer. It never ends where the process dies. */
  readonly forkInProcess: (effect: Effect.Effect<Response>) => Effect.Effect<Response>
  readonly disturbed?: { readonly delivery: number; readonly how: DeliveryDisturbance } | undefined
}

const answerWith = (status: number) => new Response(undefined, { status })

/** The subject of a body, without the values of the caller. */
const subjectOf = (body: string): string => {
  const { status, transactionId, withdrawalId } = fromBody(body)
  return `${transactionId === undefined ? `payout ${withdrawalId}` : `charge ${transactionId}`} is ${status}`
}

/** How long a late delivery waits, and how long one out of order waits at most for the next. */
const late = "1 hour"

export const makeDeliveries = ({ disturbed, forkInProcess, forkInWorld, story }: Options) => {
  /** The numbers of the deliveries by their bodies: a repeated attempt is the same delivery. */
  const sent = new Map<string, number>()
  let received = 0
  let hasReceived = false
  let handler: Handler | undefined
  let held: Effect.Effect<void> | undefined

  /** Passes a delivery to the process. */
  const forward = (name: string, body: string) =>
    Effect.suspend(() => {
      if (handler === undefined) {
        story.add(`${name} finds no process that receives`)
        return Effect.succeed(answerWith(502))
      }
      const request = new Request("https://shop.example/webhooks/pix", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body
      })
      story.add(`${name} is delivered: ${subjectOf(body)}`)
      return Effect.tap(forkInProcess(handler(request)), ({ status }) =>
        Effect.sync(() => story.add(`${name} is answered ${status}`))
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

  const disturb = (how: DeliveryDisturbance, name: string, body: string) => {
    switch (how) {
      case "twice":
        return Effect.tap(forward(name, body), () => forward(`${name}, repeated`, body))
      case "late":
        forkInWorld(Effect.delay(repeatUntilTaken(`${name}, late`, body), late))
        break
      case "out of order":
        held = repeatUntilTaken(`${name}, out of order`, body)
        forkInWorld(Effect.delay(Effect.suspend(release), late))
        break
      case "never":
        story.add(`${name} never comes`)
    }
    return Effect.succeed(answerWith(200))
  }

  const release = () => {
    const one = held ?? Effect.void
    held = undefined
    return one
  }

  const isReceiving = () => handler !== undefined

  return {
    /** The number of deliveries while a process received, and whether a process ever did. */
    received: () => received,
    hasReceived: () => hasReceived,

    receive: (given: Handler | undefined): void => {
      handler = given
      if (given !== undefined) hasReceived = true
    },

    /** The target of the gateway's webhooks. */
    target: (request: Request): Effect.Effect<Response> =>
      Effect.gen(function* () {
        const body = yield* Effect.promise(() => request.text())
        const number = sent.get(body) ?? sent.size + 1
        const isNew = !sent.has(body)
        sent.set(body, number)
        if (isNew && isReceiving()) received = number
        const name = `webhook ${number}`
        if (disturbed?.delivery === number && isNew) return yield* disturb(disturbed.how, name, body)
        const response = yield* forward(name, body)
        if (isNew) forkInWorld(Effect.suspend(release))
        return response
      }),

    /** Delivers a forged body. */
    forge: (body: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        for (let second = 0; !isReceiving() && second < 60; second++) yield* Effect.sleep("1 second")
        yield* forward("a forged webhook", body)
      })
  }
}
