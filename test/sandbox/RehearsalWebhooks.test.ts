import { describe, expect } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Rehearsed } from "effect-pix"
import { Rehearsal, Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { chargeOrder, schedulesOf } from "../support/rehearsals.ts"
import { live } from "../support/effect.ts"

/** The orders and what was shipped, in memory that outlives the process. */
class Shop extends Context.Service<
  Shop,
  { readonly shipped: Set<string>; readonly deliveries: Array<string>; order?: string }
>()("test/Shop") {}
const stores = Layer.sync(Shop, () => ({ shipped: new Set<string>(), deliveries: [] }))

const ship = (transactionId: string) =>
  Effect.andThen(
    Rehearsed.fact("shipped", { transactionId, amount: 2500 }),
    Shop.use(({ shipped }) => Effect.sync(() => void shipped.add(transactionId)))
  )

const shipOnce = (transactionId: string) =>
  Shop.use(({ shipped }) => (shipped.has(transactionId) ? Effect.void : ship(transactionId)))

/** Sells one order, and does a thing each hour of the day after. */
const sell = <E, R>(eachHour: (transactionId: string) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const shop = yield* Shop
    const id = (shop.order ??= (yield* chargeOrder).id)
    for (let hour = 0; hour < 26 && !shop.shipped.has(id); hour++) {
      yield* Effect.sleep("1 hour")
      yield* eachHour(id)
    }
  })

const received = (request: Request) =>
  Effect.promise((): Promise<{ readonly transactionId: string; readonly status: string }> => request.json())

const byItsWord = Effect.andThen(
  Rehearsed.receive((request) =>
    Effect.gen(function* () {
      const { status, transactionId } = yield* received(request)
      if (status === "Paid") yield* ship(transactionId)
      return new Response()
    })
  ),
  sell(() => Effect.void)
)

const byLookup = Effect.gen(function* () {
  const webhook = yield* Webhook
  yield* sell(webhook.check)
}).pipe(Effect.provide(Webhook.layer({ onPaid: ({ transaction }) => shipOnce(transaction.transactionId) })))

describe("webhooks in a rehearsal", () => {
  live(
    "a shop that believes a webhook has findings for a forged one, a repeated one, and one that is never delivered",
    function* () {
      const report = yield* Rehearsal.run(byItsWord, { stores, payAfter: "1 minute" })
      expect(schedulesOf(report, "shipped-unpaid")).toEqual(["call 1 createTransaction: a forged webhook says Paid"])
      expect(schedulesOf(report, "shipped-twice")).toContain("webhook 1: twice")
      expect(schedulesOf(report, "not-shipped")).toEqual([
        "webhook 1: never",
        "fact 1 shipped: death before it, and webhook 1 is not repeated"
      ])
      expect(schedulesOf(report, "shipped-unchecked")).toContain("undisturbed")
    }
  )

  live("a shop that looks each webhook up, and its open orders each hour, has no finding", function* () {
    const report = yield* Rehearsal.run(byLookup, { stores, payAfter: "1 minute" })
    expect(report.findings).toEqual([])
    expect(report.rules.filter(({ notChecked }) => notChecked === undefined).length).toBeGreaterThan(6)
  })

  live(
    "webhooks are delivered as their schedule says: late, out of order, and again after an answer that is no 2xx",
    function* () {
      const deliveries = new Map<string, ReadonlyArray<string>>()
      let answers = 0
      const program = Effect.gen(function* () {
        yield* Rehearsed.receive((request) =>
          Effect.gen(function* () {
            const { status } = yield* received(request)
            yield* Shop.use((shop) => Effect.sync(() => void shop.deliveries.push(status)))
            answers += 1
            return yield* answers % 2 === 1 ? Effect.fail("busy") : Effect.succeed(new Response())
          })
        )
        yield* chargeOrder
        yield* Effect.sleep("6 hours")
      })
      const collect = ({ schedule }: { readonly schedule: string }) => {
        answers = 0
        return Shop.use((shop) => Effect.sync(() => deliveries.set(schedule, shop.deliveries)))
      }
      const refund = Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* Effect.sleep("10 minutes")
        for (const { transactionId } of yield* sandbox.transactions) yield* sandbox.refund(transactionId)
      })
      yield* Rehearsal.run(program, { stores, payAfter: "1 minute", meanwhile: refund, rules: { collect } })
      expect(deliveries.get("undisturbed")).toEqual(["Paid", "Paid", "Refunded", "Refunded"])
      expect(deliveries.get("webhook 1: late")).toEqual(["Refunded", "Refunded", "Paid", "Paid"])
      expect(deliveries.get("webhook 1: out of order")).toEqual(["Refunded", "Paid", "Refunded", "Refunded"])
      expect(deliveries.get("webhook 2: never")).toEqual(["Paid", "Paid"])
      expect(deliveries.get("webhook 2: twice")?.length).toBe(6)
    }
  )
})
