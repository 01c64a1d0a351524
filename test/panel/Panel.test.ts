/** What the sandbox's page does in a browser. */
import { AxeBuilder } from "@axe-core/playwright"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { IdempotencyKey } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import type { Page } from "playwright-core"
import { browse, type Looks, noBrowser } from "../support/chromium.ts"
import { live } from "../support/effect.ts"
import { balancePath, lookupPath } from "../support/operations.ts"
import { serveRaw } from "../support/RawServer.ts"
import { ask, charging, keyed, paying, socket } from "../support/doors.ts"

const served = socket({ balance: 100_000 })
const rows = (page: Page) => page.locator(".row")
const parametersOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
const says = (page: Page, text: string) => page.locator("#toast").filter({ hasText: text }).waitFor()
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
          .filter({ hasText: /^(?:Connected|Conectado)$/ })
          .waitFor()
        const result = await use(page)
        assert.deepStrictEqual([problems, [...origins]], [[], [baseUrl]])
        return result
      })
    )
  )

const sections = {
  en: ["Charges", "Payouts", "Requests", "Webhooks", "Faults"],
  pt: ["Cobranças", "Saques", "Requisições", "Webhooks", "Falhas"]
} as const
/** Opens the newest row of each section, and what is folded, and looks at it. */
const inEach = async <A>(page: Page, language: keyof typeof sections, use: () => Promise<A>) => {
  const found: Array<A> = []
  for (const name of sections[language]) {
    await tab(page, name)
    if (name !== sections[language].at(-1)) {
      await rows(page).first().locator("[aria-expanded]").click()
      await page.locator(".details > *").first().waitFor()
    }
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    found.push(await use())
  }
  return found
}

const sizes = [
  { width: 360, fold: 640, colorScheme: "light", hasAxe: true },
  { width: 390, fold: 844, colorScheme: "light", hasAxe: false },
  { width: 414, fold: 896, colorScheme: "light", hasAxe: false },
  { width: 600, fold: 800, colorScheme: "light", hasAxe: false },
  { width: 768, fold: 1024, colorScheme: "dark", hasAxe: true },
  { width: 820, fold: 1180, colorScheme: "light", hasAxe: false },
  { width: 1024, fold: 768, colorScheme: "light", hasAxe: false },
  { width: 1440, fold: 900, colorScheme: "light", hasAxe: true }
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
        await row.getByRole("button", { name: "Pay: Charge 1" }).click()
        await row.getByText("Paid").waitFor()
        await says(page, "Charge #1 is paid, R$ 25,00; the webhook was answered 200")
        await page.locator("#balance").filter({ hasText: "1.025,00" }).waitFor()
        await tab(page, "Webhooks")
        await rows(page).filter({ hasText: "Sent" }).getByRole("button", { name: "Send again" }).click()
        await says(page, "Webhook #1 is sent again; the webhook was answered 200")
        await page.getByText("2 of 2").waitFor()
        await page.locator("#webhooks").filter({ hasText: "2 sent" }).waitFor()
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
        await page.locator("#row-2").waitFor()
      })
      const amounts = (yield* (yield* Sandbox).transactions).map(({ amount }) => amount)
      assert.deepStrictEqual(amounts, [2500, 2500])
    })

    live("the form plans any answer, and the switch takes the gateway offline", served, function* () {
      yield* look("/?tab=faults", async (page) => {
        const fields = page.locator("#plan input:visible")
        const shown = () => fields.evaluateAll((inputs) => inputs.map(({ id }) => id))
        const faultField = page.getByLabel("Fault", { exact: true })
        assert.deepStrictEqual(await shown(), ["times"])
        for (const [fault, used, sees] of [
          ["latency", ["seconds"], "The answer comes late"],
          ["silence", [], "until the client's time is over"],
          ["refusal", ["status", "message"], "A 5xx is OutcomeUnknown"]
        ] as const) {
          await faultField.selectOption(fault)
          await page.locator("#sees").filter({ hasText: sees }).waitFor()
          assert.deepStrictEqual(await shown(), ["times", ...used])
        }
        await page.getByLabel("Status of the answer").fill("409")
        await page.getByLabel("Words or body of the answer").fill("Saque já solicitado")
        await button(page, "Plan").click()
        await says(page, "refusal is planned for any")
        await page.getByText("answer 409").waitFor()
        for (const [state, word] of [
          ["visible", "On"],
          ["hidden", "Off"]
        ] as const) {
          await page.getByRole("switch", { name: "Offline" }).click()
          await page.getByText("The gateway is offline.").waitFor({ state })
          await page.getByRole("switch").getByText(word).waitFor()
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
        await rows(page).first().getByText("João Pereira").click()
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
        assert.strictEqual(await page.locator("main img").count(), 0)
        await rows(page).first().getByText("25,00").click()
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

    live("a payout is asked for, found by its reference, settled and returned", served, function* () {
      const key = IdempotencyKey.fromReference("payout", "invoice-2")
      yield* ask(paying({}, keyed(key)))
      yield* look("/?tab=withdrawals", async (page) => {
        await page.locator("#payoutAmount").fill("15,00")
        await button(page, "New payout").click()
        await rows(page).filter({ hasText: "15,00" }).waitFor()
        await page.getByRole("searchbox").fill("invoice-2")
        await page.getByText("1 of 1").waitFor()
        await button(page, "Complete: Payout 1").click()
        await says(page, "Payout #1 has arrived, R$ 10,00")
        await rows(page).first().locator("[aria-expanded]").press("Enter")
        await page.getByText(key, { exact: true }).first().waitFor()
        await button(page, "Send back: Payout 1").click()
        await rows(page).locator(".line").getByText("Returned").waitFor()
        await page.locator("#balance").filter({ hasText: "985,00" }).waitFor()
      })
    })

    live("Connect shows what a program needs, and copies it", served, function* () {
      yield* look(
        "/?lang=pt",
        async (page) => {
          await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
          await button(page, "Conectar").click()
          await button(page, "Copiar: Em um arquivo .env").click()
          await page.getByText("Copiado.").waitFor()
          const text = String(await page.evaluate("navigator.clipboard.readText()"))
          assert.match(
            text,
            /^PAYMENTS_BASE_URL=http:.*\nPAYMENTS_CLIENT_ID=.*\nPAYMENTS_API_KEY=.*\nPAYMENTS_COMPANY_ID=1$/
          )
          assert.deepStrictEqual(await page.evaluate(clippedIn("#connect *")), [])
          await page.keyboard.press("Escape")
          await page.locator("#connect").waitFor({ state: "hidden" })
        },
        { width: 360 }
      )
    })

    live.each(sizes)(
      "at $width pixels, $colorScheme, nothing is clipped or small, axe finds nothing, and the first charge is above the fold",
      socket({ balance: 999_999_999_999 }),
      function* ({ fold, hasAxe, ...looks }) {
        const sandbox = yield* Sandbox
        for (let row = 0; row < 12; row++) yield* sandbox.charge(2500 + row * 1_000_000)
        for (const language of ["en", "pt"])
          yield* look(
            `/?lang=${language}`,
            async (page) => {
              const bottom = `document.querySelector(".row").getBoundingClientRect().bottom`
              assert.isAtMost(await page.evaluate(bottom), fold)
              // Rows 9 and 10 have numbers of another length, and amounts too.
              const ends = `[...document.querySelectorAll(".amount")].map((amount) => amount.getBoundingClientRect().right)`
              assert.strictEqual(new Set(await page.evaluate<Array<number>>(ends)).size, 1)
            },
            looks
          )
        // Rows in each section, with a long name, a long address, large amounts, each operation and a fault.
        yield* sandbox.subscribe(`http://127.0.0.1:9/${"a".repeat(200)}`)
        const { transactionId } = yield* sandbox.charge(999_999_999_999, "M".repeat(200))
        yield* sandbox.markPaid(transactionId)
        for (let lookups = 0; lookups < 4; lookups++) yield* ask({ path: lookupPath(transactionId) })
        yield* sandbox.fault("requestWithdrawal", Fault.resetBefore)
        yield* Effect.exit(ask(paying()))
        yield* ask(paying({ amount: 100_000_000_000 }))
        yield* ask(paying())
        yield* sandbox.settleWithdrawal(2)
        for (const language of ["en", "pt"] as const) {
          const seen = yield* look(
            `/?lang=${language}`,
            (page) => inEach(page, language, () => lookAt(page, looks, hasAxe && language === "en")),
            looks
          )
          assert.deepStrictEqual(
            seen,
            sections[language].map(() => [looks.width, [], [], []])
          )
        }
      }
    )
  }
)

/** How wide a section is, what is clipped or small in it, and what axe finds. The scheme changes colours, and the language words. */
const lookAt = async (page: Page, { colorScheme }: Looks, hasAxe: boolean) => {
  const width = await page.evaluate<number>("document.documentElement.scrollWidth")
  const found = [width, await page.evaluate(clippedIn("body *")), await page.evaluate(smallTargets)]
  if (!hasAxe) return [...found, []]
  const axe = new AxeBuilder({ page })
  const { violations } = await (colorScheme === "dark" ? axe.withRules("color-contrast") : axe).analyze()
  return [...found, violations.map(({ id, nodes }) => [id, nodes[0]?.html])]
}

/** What is wider than its place or than the page, and words and labels that are broken inside. */
const clippedIn = (selector: string) => `[...document.querySelectorAll("${selector}")]
  .filter((element) => !element.closest(".hidden, .skip, select, [popover]:not(:popover-open)"))
  .filter((element) => {
    const { overflowX } = getComputedStyle(element)
    const { height, right, width } = element.getBoundingClientRect()
    const isLabel = element.matches("button, summary, label, .pill, .name, .number, .amount, [role=tab], h1, h2")
    const isCut = (overflowX !== "visible" || isLabel) && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
    const isBroken = isLabel && !element.closest(".line .amount") && element.matches(".pill, .name, .number, button, [role=tab]") && height > 50
    return width > 0 && (right > innerWidth + 0.5 || isCut || isBroken)
  })
  .map((element) => element.outerHTML.slice(0, 80))`

/** What a finger cannot hit: a target below 24 pixels in one direction. */
const smallTargets = `[...document.querySelectorAll("a, button, summary, input, select, .line, [tabindex]")]
  .filter((element) => !element.closest(".skip"))
  .filter((element) => {
    const { height, width } = element.getBoundingClientRect()
    return width > 0 && (height < 24 || width < 24)
  })
  .map((element) => element.outerHTML.slice(0, 80))`
