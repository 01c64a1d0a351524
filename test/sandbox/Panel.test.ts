import { AxeBuilder } from "@axe-core/playwright"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments, TransactionWait } from "effect-pix"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { charge } from "../support/charges.ts"
import { charge as request, withdrawal } from "../support/operations.ts"
import { browse, noBrowser } from "../support/chromium.ts"

const served = (options: SandboxOptions = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { baseUrl, companyId, credentials } = yield* Sandbox
      return Layer.provide(Payments.layer({ baseUrl, companyId }), [
        FetchHttpClient.layer,
        Credentials.layer(yield* credentials),
        IdempotencyKeyGen.layer
      ])
    })
  ).pipe(Layer.provideMerge(Layer.fresh(Sandbox.layerServer)), Layer.provide(Layer.succeed(SandboxOptions, options)))

const live = (page: Page) =>
  page
    .getByRole("status")
    .filter({ hasText: /^live$/ })
    .waitFor()

/** Does something with a page while it is open, and gives the effect's result. */
const withPage = <A, E, R>(
  options: { readonly colorScheme: "light" | "dark" },
  use: (page: Page) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* Sandbox
    const context = yield* Effect.context<R>()
    return yield* Effect.promise(() =>
      browse(baseUrl, options, async (page, looked) => {
        await live(page)
        const result = await Effect.runPromiseWith(context)(use(page))
        assert.deepStrictEqual(looked.problems, [])
        assert.deepStrictEqual([...looked.origins], [baseUrl])
        return result
      })
    )
  })

const doing = (effect: () => Promise<unknown>) => Effect.promise(effect)

/** A receiver of webhooks that takes them all, and keeps their bodies. */
const receiver = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly bodies: Array<string>; readonly close: () => void }>((resume) => {
    const bodies: Array<string> = []
    const server = createServer((request, response) => {
      request.setEncoding("utf8")
      request.on("data", (text: string) => bodies.push(text))
      request.on("end", () => response.end("thank you"))
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/pix`, bodies, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

describe.skipIf(noBrowser !== undefined)(
  `the panel in a browser${noBrowser === undefined ? "" : ` (${noBrowser})`}`,
  () => {
    it.live(
      "a charge of the client appears by itself, and Pay ends the wait, sends the webhook and changes the balance",
      () =>
        Effect.gen(function* () {
          const { bodies, url } = yield* receiver
          yield* (yield* Sandbox).subscribe(url)
          yield* withPage({ colorScheme: "light" }, (page) =>
            Effect.gen(function* () {
              const { id } = yield* charge
              const row = page.locator("[data-rows=transactions] > li").filter({ hasText: "Maria Silva" })
              yield* doing(() => row.getByText("Awaiting").waitFor())
              const waiting = yield* Effect.forkChild(TransactionWait.final(id))
              yield* doing(() => row.getByRole("button", { name: "Pay: charge 1" }).click())
              yield* doing(() => row.getByText("Paid").waitFor())
              // The button that was clicked has the focus.
              yield* doing(() => row.locator(".acts").getByText("Refund").waitFor({ timeout: 5000 }))
              assert.strictEqual((yield* Fiber.join(waiting)).enStatusTransaction, "Paid")
              yield* doing(() => page.locator("#balance").filter({ hasText: "25,00" }).waitFor())
              yield* doing(() => page.getByRole("tab", { name: "Webhooks" }).click())
              const webhook = page.locator("[data-rows=webhooks] > li").filter({ hasText: "Taken" })
              yield* doing(() => webhook.waitFor())
              assert.include(bodies[0], id)
              yield* doing(() => webhook.getByRole("button", { name: "Send again" }).click())
              yield* doing(() => page.getByText("2 of 2").waitFor())
            })
          )
        }).pipe(Effect.provide(served()))
    )

    it.live("a double click on New charge makes one charge", () =>
      Effect.provide(
        withPage({ colorScheme: "light" }, (page) =>
          Effect.gen(function* () {
            const sandbox = yield* Sandbox
            yield* doing(() => page.getByRole("button", { name: "New charge" }).dblclick())
            yield* doing(() => page.getByRole("button", { name: "New charge" }).click())
            yield* doing(() => page.getByText("#2", { exact: true }).waitFor())
            assert.lengthOf(yield* sandbox.transactions, 2)
          })
        ),
        served()
      )
    )

    it.live("a name that a caller sent is shown as text, never as markup", () =>
      withPage({ colorScheme: "dark" }, (page) =>
        Effect.gen(function* () {
          const payments = yield* Payments
          const name = "<img src=x onerror=alert(1)>"
          yield* payments.createTransaction({ ...request, customer: { ...request.customer, name } })
          yield* doing(() => page.getByText(name).waitFor())
        })
      ).pipe(Effect.provide(served()))
    )

    it.live("offline leaves the page reachable, and the switch makes the gateway reachable again", () =>
      withPage({ colorScheme: "light" }, (page) =>
        Effect.gen(function* () {
          yield* doing(() => page.getByRole("tab", { name: "Faults" }).click())
          yield* doing(() => page.getByRole("switch", { name: "Offline" }).click())
          yield* doing(() => page.getByText("The gateway is offline.").waitFor())
          const payments = yield* Payments
          const error = yield* Effect.flip(payments.getBalance())
          assert.strictEqual(error._tag, "ServiceUnavailable")
          yield* doing(() => page.getByRole("switch", { name: "Offline" }).click())
          yield* doing(() => page.getByText("The gateway is offline.").waitFor({ state: "hidden" }))
          assert.strictEqual((yield* payments.getBalance()).companyId, 1)
        })
      ).pipe(Effect.provide(served()))
    )

    it.live("the panel shows the same charges after a restart", () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "sandbox-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true }))
        )
        const options = { stateFile: join(folder, "state.json") }
        yield* Effect.provide(charge, served(options))
        yield* withPage({ colorScheme: "dark" }, (page) =>
          doing(() => page.getByRole("button", { name: "Pay: charge 1" }).click())
        ).pipe(Effect.provide(served(options)))
        yield* withPage({ colorScheme: "dark" }, (page) =>
          doing(() => page.locator("[data-rows=transactions] > li").filter({ hasText: "Paid" }).waitFor())
        ).pipe(Effect.provide(served(options)))
      })
    )

    it.live.each(["light", "dark"] as const)("axe finds nothing in any section, %s", (colorScheme) =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const { id } = yield* charge
        yield* sandbox.subscribe((yield* receiver).url)
        yield* sandbox.markPaid(id)
        yield* sandbox.credit(5000)
        yield* Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal))
        yield* withPage({ colorScheme }, (page) =>
          Effect.forEach(["Charges", "Payouts", "Requests", "Webhooks", "Faults"], (name) =>
            Effect.gen(function* () {
              yield* doing(() => page.getByRole("tab", { name }).click())
              yield* doing(() => page.getByRole("tab", { name, selected: true }).waitFor())
              const panel = page.getByRole("tabpanel")
              if (name !== "Faults") yield* doing(() => panel.locator(".rows > li").first().waitFor())
              for (const summary of yield* Effect.promise(() => panel.locator("summary").all())) {
                yield* doing(() => summary.click())
                yield* doing(() => panel.locator("details[open] .details > *").first().waitFor())
              }
              const axe = new AxeBuilder({ page })
              // The scheme changes colours and nothing else.
              const { violations } = yield* Effect.promise(() =>
                (colorScheme === "dark" ? axe.withRules("color-contrast") : axe).analyze()
              )
              assert.deepStrictEqual(
                violations.map(({ id: rule, nodes }) => [rule, nodes[0]?.html]),
                []
              )
            })
          )
        )
      }).pipe(Effect.provide(served()))
    )
  }
)
