/** What the sandbox's page does in a browser. What its server writes is in the tests of the page. */
import { AxeBuilder } from "@axe-core/playwright"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import type { Page } from "playwright-core"
import { browse, type Looks, noBrowser } from "../support/chromium.ts"
import { live } from "../support/effect.ts"
import { balancePath } from "../support/operations.ts"
import { serveRaw } from "../support/RawServer.ts"
import { ask, charging, keyed, paying, socket } from "../support/doors.ts"

const served = socket({ balance: 100_000 })
const rows = (page: Page) => page.locator(".rows > li")
const parametersOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
const tab = async (page: Page, name: string) => {
  await page.getByRole("tab", { name }).click()
  await page.getByRole("tab", { name, selected: true }).waitFor()
}

/** Looks at an address of the page, which has no problem and asks no other host. */
const look = <A>(path: string, use: (page: Page) => Promise<A>, looks: Looks = {}) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.promise(() =>
      browse(`${baseUrl}${path}`, looks, async (page, { origins, problems }) => {
        await page
          .getByRole("status")
          .filter({ hasText: /^(?:live|ao vivo)$/ })
          .waitFor()
        const result = await use(page)
        assert.deepStrictEqual([problems, [...origins]], [[], [baseUrl]])
        return result
      })
    )
  )

const sections = ["Charges", "Payouts", "Requests", "Webhooks", "Faults"] as const
/** Opens the rows of each section, and looks at it. */
const inEach = async <A>(page: Page, use: () => Promise<A>) => {
  const found: Array<A> = []
  for (const name of sections) {
    await tab(page, name)
    for (const summary of await page.getByRole("tabpanel").locator("summary").all()) {
      await summary.click()
      await page.locator("details[open] .details > *").first().waitFor()
    }
    found.push(await use())
  }
  return found
}

const sizes = [
  { width: 360, fold: 640, colorScheme: "light" },
  { width: 768, fold: 1024, colorScheme: "dark" },
  { width: 1280, fold: 800, colorScheme: "light" }
] as const

describe.skipIf(noBrowser !== undefined)(
  `the panel in a browser${noBrowser === undefined ? "" : ` (${noBrowser})`}`,
  () => {
    live("a charge appears by itself, and Pay sends its webhook and changes the balance", served, function* () {
      const target = yield* serveRaw((connection) => connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
      yield* (yield* Sandbox).subscribe(`http://127.0.0.1:${target.port}/pix`)
      const context = yield* Effect.context<Sandbox>()
      yield* look("/", async (page) => {
        await Effect.runPromiseWith(context)(Effect.flatMap(Sandbox, ({ charge }) => charge(2500)))
        const row = rows(page).filter({ hasText: "Maria Silva" })
        await row.getByText("Awaiting").waitFor()
        await row.getByRole("button", { name: "Pay: charge 1" }).click()
        await row.getByText("Paid").waitFor()
        // The button that was clicked has the focus.
        await row.locator(".acts").getByText("Refund").waitFor({ timeout: 5000 })
        await page.locator("#balance").filter({ hasText: "1.025,00" }).waitFor()
        await tab(page, "Webhooks")
        await rows(page).filter({ hasText: "Taken" }).getByRole("button", { name: "Send again" }).click()
        await page.getByText("2 of 2").waitFor()
      })
      assert.strictEqual(target.requests(), 2)
    })

    live("an amount is read while it is typed, and a double click is one charge", served, function* () {
      yield* look("/", async (page) => {
        for (const [typed, shown] of [
          ["1.234,56", "R$ 1.234,56"],
          ["25,5", "?"],
          ["2500", "R$ 25,00"]
        ] as const) {
          await page.locator("#chargeAmount").fill(typed)
          const text = await page.locator("output[for=chargeAmount]").textContent()
          assert.strictEqual(text?.replaceAll("\u00a0", " "), shown)
        }
        await button(page, "New charge").dblclick()
        await button(page, "New charge").click()
        await page.getByText("#2", { exact: true }).waitFor()
      })
      const amounts = (yield* (yield* Sandbox).transactions).map(({ amount }) => amount)
      assert.deepStrictEqual(amounts, [2500, 2500])
    })

    live("the form plans any answer, and the switch takes the gateway offline", served, function* () {
      yield* look("/?tab=faults", async (page) => {
        await page.getByLabel("Fault", { exact: true }).selectOption("refusal")
        await page.getByLabel("Status of the answer").fill("409")
        await page.getByLabel("Words or body of the answer").fill("Saque já solicitado")
        await button(page, "Plan").click()
        await page.getByText("answer 409").waitFor()
        for (const state of ["visible", "hidden"] as const) {
          await page.getByRole("switch", { name: "Offline" }).click()
          await page.getByText("The gateway is offline.").waitFor({ state })
        }
      })
      const { json, status } = yield* ask({ path: balancePath(1) })
      assert.deepStrictEqual([status, json], [409, { message: "Saque já solicitado", status: 409 }])
    })

    live("a view is its address, and Back returns to it", served, function* () {
      const sandbox = yield* Sandbox
      for (const name of ["Maria Silva", "João Pereira"]) yield* sandbox.charge(2500, name)
      yield* look("/", async (page) => {
        await button(page, "Awaiting 2").click()
        await page.keyboard.press("/")
        await page.keyboard.type("joão")
        await page.getByText("1 of 1").waitFor()
        await rows(page).first().locator("summary").click()
        await page.getByRole("img", { name: "QR code of charge 2" }).waitFor()
        const address = page.url()
        await page.getByRole("tab", { name: "Charges" }).press("ArrowRight")
        await page.getByText("No payout yet.").waitFor()
        await page.goBack()
        await page.getByRole("img", { name: "QR code of charge 2" }).waitFor()
        assert.strictEqual(page.url(), address)
        assert.strictEqual(await page.getByRole("searchbox").inputValue(), "joão")
        await page.getByRole("link", { name: "Português" }).click()
        await page.getByRole("img", { name: "QR code da cobrança 2" }).waitFor()
        assert.deepInclude(parametersOf(page), { search: "joão", status: "Awaiting", open: "2", lang: "pt" })
      })
    })

    live("a QR code is enlarged, and its code and key are copied", served, function* () {
      yield* ask(charging({}, keyed("order-1001")))
      const [one] = yield* (yield* Sandbox).transactions
      yield* look("/", async (page) => {
        await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
        assert.strictEqual(await page.locator("img").count(), 0)
        await rows(page).first().locator("summary").click()
        for (const [name, text] of [
          ["Copy: PIX text", one?.qrcode],
          ["Copy: Idempotency key", "order-1001"]
        ] as const) {
          await button(page, name).click()
          await page.getByText("Copied.").waitFor()
          // The button that was pressed before has said the same.
          while ((await page.evaluate("navigator.clipboard.readText()")) !== text) {}
        }
        await button(page, "Enlarge").click()
        const large = page.locator("#qr img")
        await large.waitFor()
        assert.isAtLeast((await large.boundingBox())?.width ?? 0, 600)
        await page.keyboard.press("Escape")
        await large.waitFor({ state: "hidden" })
      })
    })

    live.each(sizes)(
      "at $width pixels, $colorScheme, axe finds nothing, nothing is clipped, and the first charge is above the fold",
      socket({ balance: 999_999_999_999 }),
      function* ({ fold, ...looks }) {
        const sandbox = yield* Sandbox
        for (let row = 0; row < 12; row++) yield* sandbox.charge(2500 + row * 1_000_000)
        for (const language of ["en", "pt"])
          yield* look(
            `/?lang=${language}`,
            async (page) => {
              assert.deepStrictEqual(await page.evaluate(clipped), [])
              const bottom = `document.querySelector(".rows > li").getBoundingClientRect().bottom`
              assert.isAtMost(await page.evaluate(bottom), fold)
              // Rows 9 and 10 have numbers of another length, and amounts too.
              const ends = `[...document.querySelectorAll(".amount")].map((amount) => amount.getBoundingClientRect().right)`
              assert.strictEqual(new Set(await page.evaluate<Array<number>>(ends)).size, 1)
            },
            looks
          )
        // A row in each section, with a long name, a long address and large amounts.
        yield* sandbox.subscribe(`http://127.0.0.1:9/${"a".repeat(200)}`)
        const { transactionId } = yield* sandbox.charge(999_999_999_999, "M".repeat(200))
        yield* sandbox.markPaid(transactionId)
        yield* ask(paying({ amount: 100_000_000_000 }))
        const found = yield* look("/", (page) => inEach(page, () => lookAt(page, looks)), looks)
        assert.deepStrictEqual(
          found,
          sections.map(() => [looks.width, []])
        )
      }
    )
  }
)

/** How wide a section is, and what axe finds in it. The scheme changes colours and nothing else. */
const lookAt = async (page: Page, { colorScheme }: Looks) => {
  const axe = new AxeBuilder({ page })
  const { violations } = await (colorScheme === "dark" ? axe.withRules("color-contrast") : axe).analyze()
  const width = await page.evaluate<number>("document.documentElement.scrollWidth")
  return [width, violations.map(({ id, nodes }) => [id, nodes[0]?.html])]
}

/** What is wider than its place, or than the page. */
const clipped = `[...document.querySelectorAll("body *")]
  .filter((element) => !element.closest(".hidden, .skip, select, [popover]"))
  .filter((element) => {
    const { overflowX } = getComputedStyle(element)
    const { right, width } = element.getBoundingClientRect()
    const isCut = overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1
    return width > 0 && (right > innerWidth + 0.5 || isCut)
  })
  .map((element) => element.outerHTML.slice(0, 80))`
