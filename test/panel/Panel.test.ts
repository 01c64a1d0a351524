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
  // A page of 1280 pixels that is enlarged four times.
  { width: 320, fold: 720, colorScheme: "light", hasAxe: true },
  { width: 360, fold: 640, colorScheme: "light", hasAxe: false },
  { width: 390, fold: 844, colorScheme: "light", hasAxe: false },
  { width: 600, fold: 800, colorScheme: "light", hasAxe: false },
  { width: 768, fold: 1024, colorScheme: "dark", hasAxe: true },
  { width: 1024, fold: 768, colorScheme: "light", hasAxe: false },
  { width: 1440, fold: 900, colorScheme: "light", hasAxe: true },
  { width: 1920, fold: 1080, colorScheme: "light", hasAxe: false }
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
        assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "QR code and details #1")
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

    live(
      "a charge is paid late and refunded, its webhooks come twice and out of order, and its timeline says so",
      served,
      function* () {
        const target = yield* serveRaw((connection) => connection.write("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"))
        const sandbox = yield* Sandbox
        const { id } = (yield* ask(charging({}, keyed("order-1")))).json.data
        yield* ask({ path: lookupPath(id) })
        yield* look("/?open=1", async (page) => {
          await page.getByRole("link", { name: "Add an address for webhooks" }).click()
          await page.getByLabel("Local address for webhooks").fill(`http://127.0.0.1:${target.port}/pix`)
          await button(page, "Add address").click()
          await says(page, "Webhooks go to http://127.0.0.1")
          await page.goBack()
          for (const [name, text] of [
            ["Pay late", "Charge #1 is paid, R$ 25,00; the webhook was answered 500"],
            ["Refund", "Charge #1 is refunded, R$ 25,00; the webhook was answered 500"],
            ["Deliver twice", "Webhook #3 is sent again; the webhook was answered 500"],
            ["Deliver out of order", "An earlier status is sent; the webhook was answered 500"]
          ] as const) {
            await button(page, `${name}: Charge 1`).click()
            await says(page, text)
          }
          const story = await page.locator(".timeline li > span").allInnerTexts()
          const expected = [
            /^Asked for: Request #1 200\s+order-1\s+\{/,
            /^Created$/,
            /^Looked up: Request #2 200\s+\{/,
            /^Cancelled$/,
            /^Paid$/,
            /^Sent to http:\S+: Webhook #1 500 \d+ ms/
          ]
          for (const [index, words] of expected.entries()) assert.match(story[index]?.trim() ?? "", words)
          await page.getByRole("link", { name: "Webhook #1", exact: true }).first().click()
          await page.locator(".details").getByRole("link", { name: "Charge #1" }).click()
          await page.getByRole("img", { name: "QR code of charge 1" }).waitFor()
        })
        const sent = (yield* sandbox.webhooks).map(({ json }) => Object(json).status)
        assert.deepStrictEqual(sent, ["Cancelled", "Paid", "Refunded", "Refunded", "Paid"])
      }
    )

    live("whatever a caller or an address says is text on the page, and never markup", served, function* () {
      const attack = `"'><img/src=x/onerror=alert(1)>&lt;`
      const sandbox = yield* Sandbox
      yield* sandbox.subscribe("http://127.0.0.1:9/'><script>")
      const customer = { name: attack, email: "maria@example.com", externalRef: attack }
      const made = yield* ask(charging({ customer }, { ...keyed(attack), "x-odd": attack }))
      const paid = yield* ask(paying({ description: attack }, keyed(attack)))
      assert.deepStrictEqual([made.status, paid.status], [200, 201])
      yield* ask({ path: `/api/${encodeURIComponent(attack)}?${attack}` })
      const forged = { __b: 1, type: "img", props: { dangerouslySetInnerHTML: { __html: attack }, src: "x" } }
      yield* sandbox.sendWebhook({ event: forged, status: attack, [attack]: attack })
      yield* sandbox.fault("any", Fault.answer(200, { body: attack, headers: { "x-odd": attack } }))
      const odd = encodeURIComponent(attack)
      yield* look("/", async (page) => {
        const origin = new URL(page.url()).origin
        for (const [path, shown] of [
          ["open=1", attack],
          ["tab=withdrawals&open=1", attack],
          ["tab=requests&open=1", attack],
          ["tab=requests&open=3", "/api/%22"],
          ["tab=webhooks&open=1", "dangerouslySetInnerHTML"],
          ["tab=faults", "answer 200"],
          [`search=${odd}&status=${odd}&open=${odd}&page=${odd}&tab=${odd}&lang=${odd}`, attack]
        ] as const) {
          await page.goto(`${origin}/?${path}`)
          await page.locator("main").getByText(shown).first().waitFor()
          assert.strictEqual(await page.locator("img[src^=x], script:not([src^='/panel/'])").count(), 0, path)
        }
      })
    })

    live(
      "the path of a charge's own address for webhooks may be a secret, and is not shown",
      socket({ as: "seen" }),
      function* () {
        const { json } = yield* ask(charging({ postbackUrl: "http://127.0.0.1:9/a-secret?key=path" }))
        yield* (yield* Sandbox).markPaid(json.data.id)
        yield* look("/", async (page) => {
          for (const path of ["?open=1", "?tab=requests&open=1", "?tab=webhooks&open=1", "?tab=webhooks"]) {
            await page.goto(new URL(path, page.url()).href)
            await page
              .getByText(/127\.0\.0\.1:9/)
              .first()
              .waitFor()
            assert.notInclude(await page.content(), "a-secret", path)
          }
        })
      }
    )

    live(
      "five thousand charges are usable: by pages, by a search, by a link to the oldest, and live",
      served,
      function* () {
        const sandbox = yield* Sandbox
        for (let row = 1; row <= 5000; row++) yield* sandbox.charge(100 + row, `Maria ${row}`)
        const context = yield* Effect.context<Sandbox>()
        yield* look("/?open=1", async (page) => {
          await page.getByRole("img", { name: "QR code of charge 1" }).waitFor()
          await page.getByText("4,901–5,000 of 5,000").first().waitFor()
          await page.getByRole("link", { name: "Newer" }).click()
          await page.getByText("4,801–4,900 of 5,000").first().waitFor()
          await page.getByRole("searchbox").fill("maria 4999")
          await page.getByText("1 of 1").waitFor()
          await page.getByRole("searchbox").fill("")
          await page.getByText("1–100 of 5,000").first().waitFor()
          assert.strictEqual(await rows(page).count(), 100)
          await Effect.runPromiseWith(context)(Effect.flatMap(Sandbox, ({ charge }) => charge(2500)))
          await page.getByText("1–100 of 5,001").first().waitFor()
          assert.strictEqual(await page.title(), "(5,001) effect-pix sandbox")
        })
      }
    )

    live(
      "on a phone, requests of one kind are folded behind the newest of them, but for the open one",
      served,
      function* () {
        for (const id of ["a", "b", "c", "d"]) yield* ask({ path: lookupPath(id) })
        yield* (yield* Sandbox).fault("getTransaction", Fault.answer(404))
        yield* ask({ path: lookupPath("e") })
        const shown = (page: Page) =>
          page.locator(".row, .alike").evaluateAll((all) => all.map(({ id, textContent }) => id || textContent?.trim()))
        yield* look(
          "/?tab=requests",
          async (page) => {
            await rows(page).first().waitFor()
            assert.deepStrictEqual(await shown(page), ["row-5", "row-4", "3 more like it"])
            await button(page, "3 more like it").click()
            assert.deepStrictEqual(await shown(page), ["row-5", "row-4", "row-3", "row-2", "row-1"])
          },
          { width: 390 }
        )
        const all = ["row-5", "row-4", "row-3", "row-2", "row-1"]
        yield* look(
          "/?tab=requests&open=3",
          async (page) => assert.deepStrictEqual((await rows(page).last().waitFor(), await shown(page)), all),
          { width: 390 }
        )
        yield* look("/?tab=requests", async (page) =>
          assert.deepStrictEqual((await rows(page).last().waitFor(), await shown(page)), all)
        )
      }
    )

    live("Connect shows what a program needs, and copies it", served, function* () {
      yield* (yield* Sandbox).rotateCredentials
      let curl = ""
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
          const commands = await page.locator("#connect pre").allInnerTexts()
          curl = commands[2] ?? ""
          await page.keyboard.press("Escape")
          await page.locator("#connect").waitFor({ state: "hidden" })
        },
        { width: 360 }
      )
      const { baseUrl } = yield* Sandbox
      const headers = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key-1", accept: "application/json" }
      const parts = Object.entries(headers).map(([name, value]) => ` \\\n  -H '${name}: ${value}'`)
      assert.strictEqual(curl, `curl -X GET '${baseUrl}${balancePath(1)}'${parts.join("")}`)
      assert.strictEqual((yield* ask({ path: balancePath(1), headers })).status, 200)
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
