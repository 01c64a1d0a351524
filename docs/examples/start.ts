/**
 * What `npm start` runs: a sandbox with its panel, the quickstart against it over HTTP, and a payout whose answer is
 * lost. In a terminal the sandbox then stays up until ctrl-C, so that its panel can be tried.
 *
 * `npm start -- --as seen` has the sandbox answer as the gateway was seen to, and not as its document says.
 *
 * With PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY set it speaks to that gateway instead, and only
 * reads. `npm start -- --write` charges and pays out there too: with real money, if it is a real gateway.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Logger, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { Credentials, IdempotencyKey, Money, Payments } from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { quickstart } from "./quickstart.ts"

const as = process.argv.includes("seen") ? "seen" : "documented"
const isTerminal = process.stdout.isTTY && !("CI" in process.env)

/** A new paragraph. In a terminal it waits until the one before has been read. */
const tell = (text: string) =>
  Effect.andThen(isTerminal ? Effect.sleep("3 seconds") : Effect.void, Console.log(`\n${text}`))

/** The client's warnings, in their words alone. */
const warnings = Logger.layer([Logger.make(({ message }) => console.log(`  the client's log: ${String(message)}`))])

/** The gateway pays, and its answers are lost: nobody can know what happened. Sending again with the same key is safe. */
const lostAnswer = Effect.gen(function* () {
  const payments = yield* Payments
  const sandbox = yield* Sandbox
  const request = { amount: Money.centavos(1000) }
  const idempotencyKey = IdempotencyKey.fromReference("payout", "invoice-43")

  yield* tell("Now the sandbox executes a payout, and each of its answers is lost:")
  yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: Infinity })
  yield* payments.requestWithdrawal(request, { idempotencyKey, earlier: "None" }).pipe(
    Effect.catchTag("OutcomeUnknown", (error) =>
      Effect.gen(function* () {
        yield* sandbox.clearFaults
        yield* tell("The answers come again. The program sends the same payout once more, with the same key.")
        return yield* payments.requestWithdrawal(request, { after: error })
      })
    )
  )
  const made = (yield* sandbox.withdrawals).filter((payout) => payout.idempotencyKey === idempotencyKey)
  const asked = (yield* sandbox.requests).filter((sent) => sent.idempotencyKey === idempotencyKey)
  return `The gateway was asked ${asked.length} times and paid ${made.length} time(s).`
}).pipe(Effect.provide(warnings))

const onSandbox = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { baseUrl, companyId } = sandbox
  const panel = `${baseUrl}/`
  yield* Console.log(`A sandbox gateway listens on ${baseUrl}. No real money is near. Its panel: ${panel}\n`)
  const payments = Payments.layer({ baseUrl, companyId }).pipe(
    Layer.provide([FetchHttpClient.layer, Credentials.layer(yield* sandbox.credentials)])
  )
  const pay = (transactionId: string) =>
    Effect.andThen(sandbox.markPaid(transactionId), tell("The sandbox plays the payer, and pays."))
  // Nobody can pay it, and it takes a whole screen: the panel draws it beside the charge.
  const show = () => Effect.void
  const point = yield* quickstart(pay, show).pipe(Effect.andThen(lostAnswer), Effect.provide(payments))
  yield* tell(point)
  if (!isTerminal)
    return yield* tell(
      "The sandbox ends with this program. In a terminal (without CI) `npm start` leaves it and its panel up."
    )
  yield* tell(`Next: the panel at ${panel} (the QR code, Pay, faults, the clock), and docs/getting-started.md.`)
  yield* Console.log("The sandbox stays up. Ctrl-C ends it.")
  return yield* Effect.never
}).pipe(Effect.provide(Layer.provide(Sandbox.layerServer, Layer.succeed(SandboxOptions, { as }))))

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
