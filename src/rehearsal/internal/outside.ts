/**
 * What happens outside of a program: the gateway's webhooks, and what becomes of charges and payouts at their banks.
 *
 * - Webhooks go to the processes that receive, by turns. Where none does, the port is closed, and the gateway repeats the webhook.
 * - A charge is paid after a time, and a payout that the gateway shows arrives after a minute, or what a schedule says happens.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SandboxChange } from "../../sandbox/SandboxChange.ts"
import type { RehearsalOptions } from "../RehearsalOptions.ts"
import type { Call } from "./calls.ts"
import type { Stage } from "./disturber.ts"
import type { ChargeDisturbance, HowOf, PayoutDisturbance } from "./schedules.ts"
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

/** A delivery as it arrived. */
interface Sent extends Pick<Request, "url" | "headers"> {
  readonly body: string
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

/** `inProcess` runs an effect in a process, and returns its answer. It never ends where the process dies. */
export const makeDeliveries = (
  { disturber, forkInWorld, sandbox, story }: Stage,
  inProcess: (life: Life, effect: Effect.Effect<Response>) => Effect.Effect<Response>
) => {
  /** The numbers of the deliveries by their bodies: a repeated attempt is the same delivery. */
  const numbers = new Map<string, number>()
  const forged = new Set<string>()
  const handlers = new Map<Life, Handler>()
  const silenced = new Set<number | undefined>()
  let hasReceived = false
  let turn = 0

  /** Passes a delivery to a process. */
  const forward = (name: string, { url, ...request }: Sent) =>
    Effect.suspend(() => {
      const [life, handler] = [...handlers][turn++ % handlers.size] ?? []
      if (life === undefined || handler === undefined) {
        if (hasReceived) story.add(`${name} finds a closed port`, {})
        return Effect.succeed(answerWith(502))
      }
      const to = handlers.size === 1 ? "" : ` to ${life.name}`
      const delivery = {}
      story.add(`${name} is delivered${to}: ${subjectOf(request.body)}`, delivery)
      const handled = handler(new Request(url, { method: "POST", ...request }))
      return Effect.tap(
        inProcess(life, Effect.provideService(handled, CurrentWebhook, numbers.get(request.body))),
        ({ status }) => Effect.sync(() => story.add(`${name} is answered ${status}`, delivery))
      )
    })

  const disturb = (how: HowOf<"Delivery">["how"], name: string, sent: Sent) => {
    switch (how) {
      case "twice":
        return Effect.tap(forward(name, sent), () => forward(`${name}, repeated`, sent))
      case "late":
        story.add(`${name} comes an hour late`)
        forkInWorld(Effect.delay(sandbox.sendWebhook(JSON.parse(sent.body)), late))
        break
      case "never":
        story.add(`${name} never comes`)
        break
      case "once":
        story.add(`${name} comes once, and is not repeated`)
        forkInWorld(forward(name, sent))
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
        const sent = { url: request.url, headers: request.headers, body }
        if (forged.has(body)) return yield* forward("a forged webhook", sent)
        const isNew = !numbers.has(body)
        const number = numbers.get(body) ?? numbers.size + 1
        numbers.set(body, number)
        const name = `webhook ${number}`
        if (silenced.has(payoutOf(body))) {
          if (isNew) story.add(`${name} never comes`)
          return answerWith(200)
        }
        if (isNew && handlers.size > 0) disturber.add({ kind: "webhook", number, name: "", webhook: undefined })
        const disturbed = isNew ? disturber.at("Delivery", "webhook", number) : undefined
        return yield* disturbed === undefined ? forward(name, sent) : disturb(disturbed.how, name, sent)
      }),

    /** A stranger delivers what the gateway would write, and repeats it as the gateway does. */
    forge: (json: Schema.Json): void => {
      forged.add(JSON.stringify(json))
      forkInWorld(sandbox.sendWebhook(json))
    }
  }
}

/** See `makeDeliveries`. */
type Deliveries = ReturnType<typeof makeDeliveries>

/** How long after its payment a charge is refunded: before a program looks at it again. */
const refundAfter = "1 second"

/** How long after its acceptance a payout arrives, and how long after it what a schedule says happens. */
const arrivesAfter: Duration.Input = "1 minute"
const endsAfter = (how: PayoutDisturbance): Duration.Input => (how === "late" ? "20 hours" : "1 hour")

/** When a charge has lapsed for two hours, unless it was made for longer. */
const paidLateAfter: Duration.Input = "26 hours"

/** What is paid of an amount, in centavos, where that is another one. */
const paidOf: { readonly [How in ChargeDisturbance]?: (amount: number) => number } = {
  "pays less": (amount) => Math.max(1, Math.floor(amount / 25)),
  "pays more": (amount) => amount + 100,
  "pays twice": (amount) => amount * 2
}

/** What a stranger delivers about a charge or a payout, as the gateway would write it. */
const forge = ({ amount = 0, payout, transactionId = "" }: Call, says: HowOf<"Forgery">["says"], isSeen: boolean) => {
  const status = says === "failed" ? "failure" : "successful"
  const value = amount / 100
  if (payout !== undefined)
    return { object: "withdraw", type: "cashout", status, withdrawId: payout, value, valueInCents: amount }
  return isSeen
    ? { object: "transaction", type: "cashin", status, transactionId, value: amount, amount: value }
    : { event: "transaction.updated", transactionId, status: "Paid" }
}

export const makePayer = (
  { disturber, sandbox, ...stage }: Stage,
  deliveries: Deliveries,
  { payAfter, sandbox: { as } = {} }: Pick<RehearsalOptions<never>, "payAfter" | "sandbox">
) => {
  /** Payouts whose end a schedule says. */
  const disturbed = new Set<number>()
  /** The payers who wait until another charge is made. */
  const late: Array<Effect.Effect<void>> = []
  /** An act of a bank, and its webhooks: they are sent within a second. */
  const forkInWorld = <E>(act: Effect.Effect<unknown, E>) =>
    stage.forkInWorld(Effect.andThen(Effect.ignore(act), Effect.sleep("1 second")))
  const refund = (transactionId: string) => Effect.ignore(sandbox.refund(transactionId))

  const endOf = (id: number, how: PayoutDisturbance) => {
    const silent = how.endsWith("in silence") ? Effect.sync(() => deliveries.silence(id)) : Effect.void
    if (how.startsWith("fails")) return Effect.andThen(silent, sandbox.rejectWithdrawal(id))
    const arrives = Effect.andThen(silent, sandbox.settleWithdrawal(id))
    return how === "late" ? arrives : Effect.andThen(arrives, sandbox.returnWithdrawal(id))
  }

  /** A charge is paid when another one was made, or late. One that has lapsed is paid where the program hears of it. */
  const payLate = (transactionId: string, wait: Duration.Input) => {
    disturber.waitFor(paidLateAfter)
    const pays = Effect.suspend(() => sandbox.markPaid(transactionId, { late: deliveries.isReceiving() }))
    late.push(Effect.ignore(Effect.delay(Effect.delay(pays, wait), "1 minute")))
    forkInWorld(Effect.delay(pays, paidLateAfter))
  }

  /** The charge of a lookup is refunded, right before the lookup or right after it. */
  const refundAt = ({ number, transactionId }: Call, isAfter: boolean): void => {
    if (transactionId === undefined || disturber.at("Refund", "call", number)?.isAfter !== isAfter) return
    forkInWorld(refund(transactionId))
  }

  /** A payout was accepted. */
  const onPayout = ({ number }: Call, payout: number): void => {
    const how = disturber.at("Payout", "call", number)?.how
    if (how === undefined) return
    // Who hears of a return may have heard before that the payout arrived. Who looks sees its end alone.
    if (how !== "returned" || !deliveries.isReceiving()) disturbed.add(payout)
    if (how === "late") disturber.waitFor(endsAfter(how))
    forkInWorld(Effect.delay(endOf(payout, how), endsAfter(how)))
  }

  /** A charge was created. */
  const onCharge = ({ amount = 0, number }: Call, transactionId: string): void => {
    const how = disturber.at("Charge", "call", number)?.how
    if (payAfter === undefined) return
    for (const pays of late.splice(0)) forkInWorld(pays)
    if (how === "lapses") return
    if (how === "pays late") return payLate(transactionId, payAfter)
    const pays = sandbox.markPaid(transactionId, {
      amount: how === undefined ? amount : (paidOf[how]?.(amount) ?? amount)
    })
    const paid = how === "refunded" ? Effect.andThen(pays, Effect.delay(refund(transactionId), refundAfter)) : pays
    forkInWorld(Effect.delay(Effect.ignore(how === "fails" ? sandbox.fail(transactionId) : paid), payAfter))
  }

  return {
    onLookup: (call: Call): void => refundAt(call, false),

    /** A call was answered. */
    onAnswer: (call: Call): void => {
      const { operation, payout, result, transactionId } = call
      refundAt(call, true)
      if (payout !== undefined) onPayout(call, payout)
      if (operation === "createTransaction" && result === "Succeeded" && transactionId !== undefined)
        onCharge(call, transactionId)
      const forgery = result === "Succeeded" ? disturber.at("Forgery", "call", call.number) : undefined
      if (forgery !== undefined) deliveries.forge(forge(call, forgery.says, as === "seen"))
    },

    /** The ledger changed. */
    onChange: (change: SandboxChange): void => {
      if (as !== "seen" || change._tag !== "Withdrawal" || change.withdrawal.status !== "Awaiting") return
      const { id } = change.withdrawal
      const arrives = Effect.suspend(() => (disturbed.has(id) ? Effect.void : sandbox.settleWithdrawal(id)))
      forkInWorld(Effect.delay(arrives, arrivesAfter))
    }
  }
}
