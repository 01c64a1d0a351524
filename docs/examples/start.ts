/**
 * What `npm start` runs: the quickstart against a sandbox in this process, over HTTP on a free loopback port.
 *
 * With PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY set it speaks to that gateway instead, and only
 * reads. `npm start -- --write` charges and pays out there too: with real money, if it is a real gateway.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { Credentials, IdempotencyKeyGen, Money, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { quickstart } from "./quickstart.ts"

const onSandbox = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  yield* Console.log(`A sandbox gateway listens on ${sandbox.baseUrl}. No real money is near.\n`)
  const payments = Payments.layer({ baseUrl: sandbox.baseUrl, companyId: sandbox.companyId }).pipe(
    Layer.provide([FetchHttpClient.layer, Credentials.layer(yield* sandbox.credentials), IdempotencyKeyGen.layer])
  )
  const pay = (transactionId: string) =>
    Effect.andThen(sandbox.markPaid(transactionId), Console.log("\n(The sandbox plays the payer, and pays.)\n"))
  yield* Effect.provide(quickstart(pay), payments)
}).pipe(Effect.provide(Sandbox.layerServer))

const readOnly = Effect.gen(function* () {
  const payments = yield* Payments
  const page = yield* payments.listTransactions({ pageSize: 5 })
  yield* Console.log(`The company has ${page.totalItems} transaction(s). The newest:`)
  for (const { amount, id, status } of page.items) {
    yield* Console.log(`  ${id}  ${Money.format(amount)}  ${status}`)
  }
  const companyId = yield* Config.option(Config.Int("PAYMENTS_COMPANY_ID"))
  if (Option.isNone(companyId)) return yield* Console.log("Set PAYMENTS_COMPANY_ID to read the balance too.")
  const balance = yield* payments.getBalance()
  yield* Console.log(`The balance is ${Money.format(balance.accBalance)}.`)
})

const onGateway = Effect.gen(function* () {
  if (!process.argv.includes("--write")) {
    yield* Console.log("Reading only. `npm start -- --write` also charges and pays out, with real money.\n")
    return yield* readOnly
  }
  yield* quickstart(() => Console.log("\n(Nobody pays in this demonstration: pay the QR code yourself.)\n"))
}).pipe(Effect.provide(Payments.layerFetch))

const program = Effect.gen(function* () {
  const baseUrl = yield* Config.option(Config.String("PAYMENTS_BASE_URL"))
  if (Option.isSome(baseUrl)) return yield* onGateway
  yield* onSandbox
})

NodeRuntime.runMain(program)
