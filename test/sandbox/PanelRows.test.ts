/** The panel with many rows, large amounts and small screens. */
import { AxeBuilder } from "@axe-core/playwright"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { browse, noBrowser } from "../support/chromium.ts"
import { live } from "../support/effect.ts"

const served = (options: SandboxOptions = {}) =>
  Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, options))

const json = { "content-type": "application/json", accept: "application/json" }
const auth = { ...json, "x-client-id": "sandbox-client", "x-api-key": "sandbox-key" }

const ask = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.promise(() =>
      fetch(`${baseUrl}${path}`, { method, headers: auth, ...(body !== undefined && { body: JSON.stringify(body) }) })
    )
  )

const charges = (count: number, amount = 2500) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) => ask("POST", "/_sandbox/charge", { amount, name: `Maria Aparecida ${index}` }),
    { discard: true }
  )

/** Looks at the panel of the sandbox. */
const look = <A>(
  use: (page: Page) => Promise<A>,
  options: { readonly colorScheme: "light" | "dark"; readonly width?: number } = { colorScheme: "light" }
) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.promise(() =>
      browse(baseUrl, options, async (page, looked) => {
        await page
          .getByRole("status")
          .filter({ hasText: /^live$/ })
          .waitFor()
        const result = await use(page)
        assert.deepStrictEqual(looked.problems, [])
        return result
      })
    )
  )

const rowsOf = (page: Page, name: string) => page.locator(`[data-rows=${name}] > li`)
const tab = async (page: Page, name: string) => {
  await page.getByRole("tab", { name }).click()
  await page.getByRole("tab", { name, selected: true }).waitFor()
}
const widthOf = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth")

/** The file of a state with so many charges, every second of them paid. */
const stateOf = (count: number): string => {
  const at = new Date().toISOString()
  const row = { amount: 2500, currency: "BRL", paymentMethod: "PIX", createdAt: at, updatedAt: at }
  const customer = { name: "Maria Silva", email: "maria@example.com" }
  const charges = Array.from({ length: count }, (_, index) => ({
    ...row,
    customer,
    rowId: index + 1,
    transactionId: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    status: index % 2 === 0 ? "Awaiting" : "Paid"
  }))
  const ledger = { charges, payouts: [], keys: [], balance: 0 }
  return JSON.stringify({ version: 2, ahead: 0, rotations: 0, ledger, targets: [], webhooks: [] })
}

describe.skipIf(noBrowser !== undefined)(
  `the rows of the panel${noBrowser === undefined ? "" : ` (${noBrowser})`}`,
  () => {
    live(
      "fifteen charges are shown on a screen of 800 pixels, and a QR code is drawn only when its row is opened",
      served({ balance: 999_999_999_999 }),
      function* () {
        yield* charges(20, 99_999_999_999)
        yield* look(async (page) => {
          await rowsOf(page, "transactions").nth(19).waitFor()
          const ends = await rowsOf(page, "transactions").evaluateAll((rows) =>
            rows.map((row) => row.getBoundingClientRect().bottom)
          )
          assert.isAtLeast(ends.filter((end) => end <= 800).length, 15)
          assert.strictEqual(await page.locator("img").count(), 0)
          await rowsOf(page, "transactions").first().locator("summary").click()
          await page.getByRole("img", { name: "QR code of charge 20" }).waitFor()
        })
      }
    )

    it.live.each([
      ["2500", "R$ 25,00"],
      ["25,00", "R$ 25,00"],
      ["1.234,56", "R$ 1.234,56"],
      ["25,5", "?"]
    ] as const)("the panel parses %s as %s while it is typed, as the command does", ([typed, shown]) =>
      look(async (page) => {
        await page.locator("#chargeAmount").fill(typed)
        const text = await page.locator("output[for=chargeAmount]").textContent()
        assert.strictEqual(text?.replaceAll("\u00a0", " "), shown)
      }).pipe(Effect.provide(served()))
    )

    live("a charge is created with the amount that is shown: 2500 makes a charge of R$ 25,00", served(), function* () {
      yield* look(async (page) => {
        await page.locator("#chargeAmount").fill("2500")
        await page.getByRole("button", { name: "New charge" }).click()
        await rowsOf(page, "transactions").filter({ hasText: "25,00" }).waitFor()
      })
      const [created] = yield* (yield* Sandbox).transactions
      assert.strictEqual(created?.amount, 2500)
    })

    live("rows are filtered by status, with counts, and the filter is removed again", served(), function* () {
      yield* charges(3)
      const sandbox = yield* Sandbox
      const [first] = yield* sandbox.transactions
      yield* sandbox.markPaid(first?.transactionId ?? "")
      yield* look(async (page) => {
        await page.getByRole("button", { name: "Awaiting 2" }).waitFor()
        await page.getByRole("button", { name: "Paid 1" }).click()
        await page.getByText("1 of 1").waitFor()
        assert.strictEqual(await rowsOf(page, "transactions").count(), 1)
        await page.getByRole("button", { name: "all 3" }).click()
        await page.getByText("3 of 3").waitFor()
      })
    })

    live("a request is shown with its answer", served(), function* () {
      yield* ask("GET", "/api/Transaction/transactionByTransactionId/nobody")
      yield* look(async (page) => {
        await tab(page, "Requests")
        await rowsOf(page, "requests").first().locator("summary").click()
        await page.getByText("Transação não encontrada.").waitFor()
      })
    })

    live("a fault is planned with a status and a message of one's own", served(), function* () {
      yield* look(async (page) => {
        await tab(page, "Faults")
        await page.getByLabel("Fault", { exact: true }).selectOption("refusal")
        await page.getByLabel("Status of the answer").fill("409")
        await page.getByLabel("Words or body of the answer").fill("Saque já solicitado")
        await page.getByRole("button", { name: "Plan", exact: true }).click()
        await page.getByText("answer 409").waitFor()
      })
      const answer = yield* ask("GET", "/api/Balance/balance/1")
      assert.deepStrictEqual(
        [answer.status, yield* Effect.promise(() => answer.json())],
        [409, { message: "Saque já solicitado", status: 409 }]
      )
    })

    live(
      "the rows are no wider than a phone in any section, also with long names and large amounts",
      served(),
      function* () {
        yield* ask("POST", "/_sandbox/charge", { amount: 999_999_999_999, name: "M".repeat(200) })
        const sandbox = yield* Sandbox
        const [created] = yield* sandbox.transactions
        yield* sandbox.subscribe(`http://127.0.0.1:9/${"a".repeat(200)}`)
        yield* sandbox.markPaid(created?.transactionId ?? "")
        yield* ask("POST", "/api/Withdraw/request", { amount: 100_000_000_000, currency: "BRL" })
        const widths = yield* look(
          async (page) => {
            const found: Array<number> = []
            for (const name of ["Charges", "Payouts", "Requests", "Webhooks", "Faults"]) {
              await tab(page, name)
              if (name !== "Faults")
                await rowsOf(page, await rowsName(page))
                  .first()
                  .locator("summary")
                  .click()
              if (name !== "Faults") await page.locator("details[open] .details > *").first().waitFor()
              found.push(await widthOf(page))
            }
            return found
          },
          { colorScheme: "dark", width: 360 }
        )
        assert.deepStrictEqual(widths, [360, 360, 360, 360, 360])
      }
    )

    live("axe finds nothing in the rows of 50,000 charges, and they are counted", function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "sandbox-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const stateFile = join(folder, "state.json")
      writeFileSync(stateFile, stateOf(50_000))
      yield* look(
        async (page) => {
          await page.getByRole("button", { name: "Awaiting 25,000" }).waitFor()
          await rowsOf(page, "transactions").nth(50).waitFor()
          const { violations } = await new AxeBuilder({ page }).analyze()
          assert.deepStrictEqual(
            violations.map(({ id: rule, nodes }) => [rule, nodes[0]?.html]),
            []
          )
        },
        { colorScheme: "dark" }
      ).pipe(Effect.provide(served({ stateFile })))
    })
  }
)

/** The name of the list in the section that is shown. */
const rowsName = async (page: Page) =>
  (await page.getByRole("tabpanel").locator("[data-rows]").getAttribute("data-rows")) ?? ""
