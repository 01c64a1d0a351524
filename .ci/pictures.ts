/**
 * Takes the pictures of the docs: `npm run pictures`. The sandbox's page, and the timeline of a payout whose answer was lost.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { Effect, Layer, Schedule } from "effect"
import { FetchHttpClient } from "effect/http"
import { Credentials, IdempotencyKey, IdempotencyKeyGen, Money, Payments } from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import type { Page } from "playwright-core"
import { launch } from "../test/support/browser.ts"
import { libraries, unpacked } from "../test/support/debian.ts"

const browser = Effect.acquireRelease(Effect.promise(launch), (one) => Effect.promise(() => one.close()))

/** The same picture in 64 colours, since the package carries it: `node test/support/debian.ts pngquant` brings the program. */
const reduce = (file: string) => {
  const dir = unpacked("pngquant") ?? "/"
  const env = { LD_LIBRARY_PATH: libraries(dir) }
  const { error, status, stderr } = spawnSync(
    join(dir, "usr/bin/pngquant"),
    ["--force", "--strip", "--output", file, "64", file],
    { env, encoding: "utf8" }
  )
  if (status !== 0) throw new Error(`pngquant: ${error?.message ?? stderr}`)
}

const shoot = Effect.fnUntraced(function* (
  file: string,
  viewport: { readonly width: number; readonly height: number },
  show: (page: Page) => Promise<unknown>
) {
  const opened = yield* browser
  yield* Effect.promise(async () => {
    const page = await opened.newPage({ viewport })
    await show(page)
    await page.screenshot({ path: `docs/${file}` })
    reduce(`docs/${file}`)
  })
})

/** Three charges, of which one is paid. */
const charges = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const payments = yield* Payments
  for (const [name, amount] of [
    ["Maria Silva", 2500],
    ["João Souza", 12_990],
    ["Ana Lima", 8000]
  ] as const) {
    const customer = { name, email: "customer@example.com" }
    const { id } = yield* payments.createTransaction({ amount: Money.centavos(amount), paymentMethod: "PIX", customer })
    if (name === "João Souza") yield* sandbox.markPaid(id)
  }
})

/** A payout whose first answer is lost: it is sent again under its key, and paid once. */
const payout = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const payments = yield* Payments
  const key = IdempotencyKey.fromReference("payout", "invoice-43")
  yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
  yield* IdempotencyKey.retry({ idempotencyKey: key, earlier: "None" }, Schedule.recurs(3), (options) =>
    payments.requestWithdrawal({ amount: Money.centavos(1000) }, options)
  )
  for (const { id } of yield* sandbox.withdrawals) yield* sandbox.settleWithdrawal(id)
})

const panel = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { baseUrl, companyId } = sandbox
  const payments = Payments.layer({ baseUrl, companyId }).pipe(
    Layer.provide([FetchHttpClient.layer, Credentials.layer(yield* sandbox.credentials), IdempotencyKeyGen.layer])
  )
  const open = (path: string) => async (page: Page) => {
    await page.goto(`${baseUrl}/${path}`)
    await page.locator("#state.good").waitFor()
  }
  yield* Effect.provide(charges, payments)
  yield* shoot("panel.png", { width: 1180, height: 444 }, open("?lang=en"))
  yield* shoot("painel.png", { width: 1180, height: 444 }, open("?lang=pt"))
  yield* Effect.provide(payout, payments)
  yield* shoot("timeline.png", { width: 1180, height: 820 }, async (page) => {
    await open("?lang=en&tab=withdrawals")(page)
    await page.locator(".row [aria-expanded]").first().click()
    await page.locator(".timeline").waitFor()
    await page.evaluate("scrollTo(0, 0)")
  })
}).pipe(
  Effect.scoped,
  Effect.provide(Sandbox.layerServer),
  Effect.provideService(SandboxOptions, { balance: 100_000, port: 4010 })
)

await Effect.runPromise(panel)
