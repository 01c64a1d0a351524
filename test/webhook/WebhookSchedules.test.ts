/**
 * False, repeated, early, late and unordered deliveries, in schedules that a seed decides, while charges change,
 * lookups fail, and the user's code fails.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Payments, TransactionHints } from "effect-pix"
import { Webhook } from "effect-pix/webhook"
import { centavos } from "../../src/pix/Money.ts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { runs, seeded } from "../support/seed.ts"

interface Charge {
  readonly id: string
  /** Every status of the charge, in order. */
  readonly history: Array<string>
  /** The statuses that the user's code accepted, in order. */
  readonly taken: Array<string>
}

const faults = [
  Fault.refusal(404, "não encontrada"),
  Fault.refusal(503, "Fora do ar"),
  Fault.retryAfter("30 seconds"),
  Fault.latency("3 seconds"),
  Fault.resetBefore,
  Fault.malformed(),
  Fault.html()
] as const

const schedule = Effect.fnUntraced(function* (seed: number) {
  const { next, pick } = seeded(seed)
  const payments = yield* Payments
  const sandbox = yield* Sandbox
  const charges: Array<Charge> = []
  const byId = (id: string) => charges.find((charge) => charge.id === id) ?? assert.fail(`seed ${seed}: unknown id`)
  const untrue: Array<string> = []
  let withdrawals = 0
  let failing = 0.2

  const context = yield* Layer.build(
    Webhook.layer({
      onStatus: Effect.fnUntraced(function* ({ transaction }) {
        const charge = byId(transaction.transactionId)
        const status = transaction.enStatusTransaction
        if (!charge.history.includes(status) || status === "Awaiting") untrue.push(status)
        if (next() < 0.5) yield* Effect.sleep(Math.round(next() * 2000))
        if (next() < failing) return yield* Effect.fail("later")
        charge.taken.push(status)
      }),
      onUnconfirmed: (report) =>
        Effect.sync(() => {
          if (report._tag === "UnconfirmedWithdrawal") withdrawals++
        })
    })
  )
  const webhook = Context.get(context, Webhook)

  const bodies: [string, ...Array<string>] = ["{}"]
  const send = (payload: unknown) => {
    const body = typeof payload === "string" ? payload : JSON.stringify(payload)
    bodies.push(body)
    return Effect.map(
      webhook.answer(new Request("https://shop.example/webhooks/pix", { method: "POST", body })),
      ({ status }) => assert.strictEqual(status, 200, `seed ${seed}`)
    )
  }

  for (let i = 0; i < 4; i++) {
    const { id } = yield* payments.createTransaction({
      amount: centavos(2500),
      paymentMethod: "PIX",
      customer: { name: "Maria Silva", email: "maria@example.com" }
    })
    charges.push({ id, history: ["Awaiting"], taken: [] })
  }
  const [first = assert.fail("no charge"), ...others] = charges
  const anyCharge = () => pick([first, ...others])
  const words = ["Paid", "PAID", "Refunded", "Cancelled", "Awaiting", "WAITING_PAYMENT", "Failed"] as const
  let sentWithdrawals = 0

  const change = Effect.suspend(() => {
    const charge = anyCharge()
    const [status, act] = pick([
      ["Paid", sandbox.markPaid(charge.id)],
      ["Paid", sandbox.markPaid(charge.id)],
      ["Refunded", sandbox.refund(charge.id)],
      ["Cancelled", sandbox.cancel(charge.id)],
      ["Failed", sandbox.fail(charge.id)]
    ] as const)
    return Effect.match(act, {
      onSuccess: () => void (charge.history.at(-1) === status || charge.history.push(status)),
      onFailure: () => undefined
    })
  })
  const steps = [
    change,
    change,
    Effect.suspend(() => {
      const { history, id } = anyCharge()
      return send({ transactionId: id, status: pick([history.at(-1), undefined]), at: Math.floor(next() * 3) })
    }),
    Effect.suspend(() => send({ transactionId: anyCharge().id, status: pick(words) })),
    Effect.suspend(() => send(pick(bodies))),
    Effect.suspend(() => {
      const withdrawalId = sentWithdrawals++
      return send({ withdrawalId, transactionId: anyCharge().id, status: "Paid" })
    }),
    Effect.suspend(() => send({ transactionId: "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11", status: pick(words) })),
    Effect.suspend(() => sandbox.fault("getTransaction", pick(faults), { times: pick([1, 3]) })),
    Effect.suspend(() => TestClock.adjust(Math.round(next() * 10_000))),
    Effect.suspend(() => TestClock.adjust(Math.round(next() * 200)))
  ] as const
  for (let i = 0; i < 60; i++) yield* pick(steps)

  // At the end the service sends a delivery about every charge, and nothing fails.
  yield* sandbox.clearFaults
  failing = 0
  for (const { id } of charges) yield* send({ transactionId: id, last: true })
  for (let hour = 0; hour < 26; hour++) yield* TestClock.adjust("1 hour")
  yield* webhook.idle

  for (const { history, taken } of charges) {
    const said = `seed ${seed}: was ${history.join(", ")}; taken ${taken.join(", ")}`
    const last = history.at(-1)
    assert.isTrue(last === "Awaiting" ? taken.length === 0 : taken.includes(last ?? ""), said)
    const firsts = [...new Set(taken)]
    assert.deepStrictEqual(
      firsts,
      history.filter((status) => firsts.includes(status)),
      said
    )
    assert.strictEqual(taken.length, firsts.length, said)
  }
  assert.deepStrictEqual(untrue, [], `seed ${seed}`)
  assert.isAtLeast(withdrawals, sentWithdrawals, `seed ${seed}`)
  assert.deepStrictEqual(yield* webhook.deadLetters, [], `seed ${seed}`)
})

const world = Layer.mergeAll(Sandbox.layerPayments, TransactionHints.layer, Logger.layer([]))

/** `WEBHOOK_SEED=7 npx vitest run test/webhook/WebhookSchedules.test.ts` runs one schedule again. */
const given = Number(process.env["WEBHOOK_SEED"] ?? 0)
const seeds = given > 0 ? [given] : Array.from({ length: runs(8, 60) }, (_, i) => i + 1)

describe("webhooks in any order", () => {
  it.effect(
    "deliveries in any order hand out each status of a lookup exactly once, the last one always, and nothing else",
    () =>
      Effect.forEach(seeds, (seed) => schedule(seed).pipe(Effect.scoped, Effect.provide(Layer.fresh(world))), {
        discard: true
      })
  )
})
