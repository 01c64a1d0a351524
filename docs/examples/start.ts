/**
 * What `npm start` runs: a sandbox with its panel, the quickstart against it over HTTP, and a payout whose answer is
 * lost. In a terminal the sandbox then stays up until ctrl-C, so that its panel can be tried.
 *
 * With PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY set it speaks to that gateway instead, and only
 * reads. `npm start -- --write` charges and pays out there too: with real money, if it is a real gateway.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { Credentials, IdempotencyKey, IdempotencyKeyGen, Money, Payments } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { quickstart } from "./quickstart.ts"

/** The gateway pays, and its answers are lost: nobody can know what happened. Asking again with the same key is safe. */
const lostAnswer = Effect.gen(function* () {
  const payments = yield* Payments
  const sandbox = yield* Sandbox
  const request = { amount: Money.centavos(1000) }
  const idempotencyKey = IdempotencyKey.fromReference("payout", "invoice-43")

  yield* Console.log("\n(From here on the sandbox executes payouts and drops every answer.)\n")
  yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: Infinity })
  yield* payments.requestWithdrawal(request, { idempotencyKey }).pipe(
    Effect.catchTag("OutcomeUnknown", (error) =>
      Effect.gen(function* () {
        yield* Console.log(`\n(The program got ${error._tag}, as the client logged it above.)`)
        yield* sandbox.clearFaults
        yield* Console.log("\n(The answers come again. The same payout is asked for with the same key.)\n")
        return yield* payments.requestWithdrawal(request, { after: error })
      })
    )
  )
  const made = (yield* sandbox.withdrawals).filter((payout) => payout.idempotencyKey === idempotencyKey)
  const asked = (yield* sandbox.requests).filter((sent) => sent.idempotencyKey === idempotencyKey)
  yield* Console.log(`The gateway was asked ${asked.length} times and paid ${made.length} time(s).`)
})

const next = (baseUrl: string) => `
What to try next:
  ${baseUrl}/      the panel: press Pay, plan a fault, push the clock
  docs/sandbox.md  its functions over HTTP, for tests in any language
  docs/getting-started.md  your own program`

const onSandbox = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { baseUrl, companyId } = sandbox
  yield* Console.log(`A sandbox gateway listens on ${baseUrl}. No real money is near. Its panel: ${baseUrl}/\n`)
  const payments = Payments.layer({ baseUrl, companyId }).pipe(
    Layer.provide([FetchHttpClient.layer, Credentials.layer(yield* sandbox.credentials), IdempotencyKeyGen.layer])
  )
  const pay = (transactionId: string) =>
    Effect.andThen(sandbox.markPaid(transactionId), Console.log("\n(The sandbox plays the payer, and pays.)\n"))
  yield* Effect.provide(Effect.andThen(quickstart(pay), lostAnswer), payments)
  yield* Console.log(next(baseUrl))
  const ci = yield* Config.option(Config.String("CI"))
  if (process.stdout.isTTY && Option.isNone(ci)) {
    yield* Console.log("\nThe sandbox stays up. Ctrl-C ends it.")
    return yield* Effect.never
  }
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
