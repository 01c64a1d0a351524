/** Programs of the documentation under every fault and death. */
import { describe, test } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { type Payments, Rehearsed, TransactionWait } from "effect-pix"
import { Rehearsal } from "effect-pix/sandbox"
import { budget, requireClean } from "../../support/rehearsals.ts"
import { checkout, Orders } from "../../../docs/examples/checkout.ts"

describe("under every fault and death", () => {
  test("the checkout of the docs makes one charge, though its button is pressed until it answers", async () => {
    const program = Effect.gen(function* () {
      const services = yield* Effect.context<Payments | Orders>()
      const orders = yield* Orders
      const app = yield* HttpRouter.toHttpEffect(
        checkout.pipe(
          HttpRouter.provideRequest(Layer.succeedContext(services)),
          Layer.provide(HttpServer.layerServices)
        )
      )
      const press = Effect.gen(function* () {
        const request = HttpServerRequest.fromWeb(new Request("http://localhost/orders/42", { method: "POST" }))
        const { status } = yield* Effect.provideService(app, HttpServerRequest.HttpServerRequest, request)
        return status
      })
      yield* Effect.repeat(press, { until: (status) => status === 303, schedule: Schedule.spaced("1 minute") })
      const transactionId = orders.get("42")?.charge?.transactionId ?? ""
      const { enStatusTransaction } = yield* TransactionWait.final(transactionId, { deadline: "2 days" })
      const name = enStatusTransaction === "Paid" ? "shipped" : "told"
      yield* Rehearsed.fact(name, { transactionId, amount: 2500 })
    }).pipe(Effect.scoped)
    const isOneCharge = ({ transactions }: { readonly transactions: ReadonlyArray<unknown> }) =>
      transactions.length === 1 ? Effect.void : Effect.fail(`There are ${transactions.length} charges of one order.`)
    const report = await Effect.runPromise(
      Rehearsal.run(program, {
        stores: Orders.layer,
        payAfter: "1 minute",
        rules: { isOneCharge },
        within: "4 days",
        ...budget
      })
    )
    requireClean(report, 30)
  })
})
