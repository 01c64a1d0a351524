/** Takes the pictures of the sandbox's page that the READMEs show: `npm run pictures`. */
import { Effect, Layer } from "effect"
import { Sandbox, SandboxOptions } from "../src/sandbox/index.ts"
import { launch } from "../test/support/browser.ts"

const take = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const post = (path: string, body: unknown) =>
    Effect.promise(() =>
      fetch(`${sandbox.baseUrl}/_sandbox/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    )
  for (const [name, amount] of [
    ["Maria Silva", 2500],
    ["João Souza", 12_990],
    ["Ana Lima", 8000]
  ]) {
    yield* post("charge", { name, amount })
  }
  const [, second] = yield* sandbox.transactions
  yield* sandbox.markPaid(second?.transactionId ?? "")
  const browser = yield* Effect.acquireRelease(Effect.promise(launch), (one) => Effect.promise(() => one.close()))
  for (const [lang, file] of [
    ["en", "docs/panel.png"],
    ["pt", "docs/painel.png"]
  ]) {
    yield* Effect.promise(async () => {
      const page = await browser.newPage({ viewport: { width: 1180, height: 430 } })
      await page.goto(`${sandbox.baseUrl}/?lang=${lang}`)
      await page.locator("#state.live").waitFor()
      await page.screenshot({ path: file })
    })
  }
})

const options = Layer.succeed(SandboxOptions, { balance: 100_000, port: 4010 })
await Effect.runPromise(Effect.scoped(Effect.provide(take, Layer.provide(Sandbox.layerServer, options))))
