/** What a person finds on the panel: the story of a charge, faults to try, and views that have an address. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import type { Page } from "playwright-core"
import { browse, noBrowser } from "../support/chromium.ts"
import { live } from "../support/effect.ts"

const served = (options: SandboxOptions = {}) =>
  Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, options))

const headers = {
  "content-type": "application/json",
  accept: "application/json",
  "x-client-id": "sandbox-client",
  "x-api-key": "sandbox-key"
}

const ask = (method: string, path: string, body?: unknown, key?: string) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.promise(() =>
      fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...headers, ...(key !== undefined && { "idempotency-key": key }) },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
    )
  )

const create = (name: string, key: string) =>
  ask(
    "POST",
    "/api/v1/transactions/create",
    { amount: 2500, currency: "BRL", paymentMethod: "PIX", customer: { name, email: "maria@example.com" } },
    key
  )
const charges = (count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) => ask("POST", "/_sandbox/charge", { amount: 2500 + index * 1_000_000, name: `Maria ${index}` }),
    { discard: true }
  )

/** A receiver of webhooks, which refuses the first ones. */
const receiver = (refused: number) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly bodies: Array<string>; readonly close: () => void }>((resume) => {
      const bodies: Array<string> = []
      const server = createServer((request, response) => {
        request.setEncoding("utf8")
        request.on("data", (text: string) => bodies.push(text))
        request.on("end", () => {
          response.statusCode = bodies.length > refused ? 200 : 503
          response.end("obrigado")
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/pix`, bodies, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

interface Options {
  readonly colorScheme?: "light" | "dark"
  readonly locale?: string
  readonly width?: number
}

/** Looks at an address of the panel. */
const look = <A>(path: string, use: (page: Page) => Promise<A>, options: Options = {}) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.promise(() =>
      browse(`${baseUrl}${path}`, { colorScheme: "light", ...options }, async (page, looked) => {
        await page
          .getByRole("status")
          .filter({ hasText: /^(?:live|ao vivo)$/ })
          .waitFor()
        const result = await use(page)
        assert.deepStrictEqual(looked.problems, [])
        return result
      })
    )
  )

const rows = (page: Page) => page.locator(".rows > li")
const rowOf = (page: Page, number: number) => rows(page).filter({ has: page.getByText(`#${number}`, { exact: true }) })
const parametersOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

describe.skipIf(noBrowser !== undefined)(
  `the views of the panel${noBrowser === undefined ? "" : ` (${noBrowser})`}`,
  () => {
    live(
      "a charge tells what happened to it, and its requests and webhooks link to it and back",
      served(),
      function* () {
        const { url } = yield* receiver(Infinity)
        const sandbox = yield* Sandbox
        yield* sandbox.subscribe(url)
        yield* create("Maria Silva", "order-1001")
        const [one] = yield* sandbox.transactions
        const id = one?.transactionId ?? ""
        yield* ask("GET", `/api/Transaction/transactionByTransactionId/${id}`)
        yield* sandbox.markPaid(id)
        yield* sandbox.awaitWebhooks
        yield* look("/", async (page) => {
          await rows(page).first().locator("summary").click()
          const timeline = page.locator(".timeline")
          await timeline.waitFor()
          const texts = await timeline.locator("li").allTextContents()
          const story = texts.map((text) => text.replaceAll(/\s+/g, " "))
          for (const [index, words] of [
            ["Asked for: request #1", "200", "order-1001", id],
            ["Created"],
            ["Looked up: request #2", "200", "enStatusTransaction"],
            ["Paid"],
            [`Delivered to ${url}: webhook #1`, "503", "obrigado"]
          ].entries()) {
            for (const word of words) assert.include(story[index], word)
          }
          await timeline.locator("li").last().filter({ hasText: "Next try" }).waitFor()
          await timeline.getByRole("link", { name: "request #2" }).click()
          await page.getByRole("link", { name: "charge #1" }).click()
          await timeline.getByRole("link", { name: "webhook #1" }).first().click()
          await page.getByRole("link", { name: "charge #1" }).click()
          await timeline.waitFor()
          assert.deepStrictEqual(parametersOf(page), { tab: "transactions", open: "1", lang: "en" })
        })
      }
    )

    live(
      "a payout tells what happened to it, and links to the request that asked for it",
      served({ balance: 100_000 }),
      function* () {
        yield* ask("POST", "/api/Withdraw/request", { amount: 5000, currency: "BRL" }, "payout_7f3a")
        yield* look("/?tab=withdrawals&open=1", async (page) => {
          await page.getByRole("button", { name: "Settle: payout 1" }).click()
          const timeline = page.locator(".timeline")
          await timeline.getByText("Settled").waitFor()
          assert.include(await timeline.textContent(), "payout_7f3a")
          await timeline.getByRole("link", { name: "request #1" }).click()
          await page.getByRole("link", { name: "payout #1" }).click()
          await timeline.waitFor()
        })
      }
    )

    live(
      "faults of a rehearsal are buttons of a charge: late, another amount, twice, and out of order",
      served(),
      function* () {
        const { bodies, url } = yield* receiver(0)
        const sandbox = yield* Sandbox
        yield* sandbox.subscribe(url)
        yield* charges(2)
        yield* look("/", async (page) => {
          await rowOf(page, 1).locator("summary").click()
          await page.getByRole("button", { name: "Pay late: charge 1" }).click()
          await rowOf(page, 1).getByText("Paid").first().waitFor()
          await page.getByRole("button", { name: "Deliver twice: charge 1" }).click()
          await page.getByRole("button", { name: "Deliver out of order: charge 1" }).click()
          await rowOf(page, 2).locator("summary").click()
          await page.getByLabel("Amount that is paid").fill("7,50")
          await page.getByRole("button", { name: "Pay another amount: charge 2" }).click()
          await page.locator("#balance").filter({ hasText: "32,50" }).waitFor()
          await page.getByText("Amount paid").waitFor()
        })
        yield* sandbox.awaitWebhooks
        // What is sent at the same time arrives in any order.
        const statuses = bodies.map((body) => String(JSON.parse(body).status)).toSorted((a, b) => (a < b ? -1 : 1))
        assert.deepStrictEqual(statuses, ["Awaiting", "Cancelled", "Paid", "Paid", "Paid"])
        const paid = (yield* sandbox.transactions).map(({ paid, status }) => `${status} ${paid}`)
        assert.deepStrictEqual(paid, ["Paid undefined", "Paid 750"])
      }
    )

    live(
      "a view is its address: section, search, row and language are in it, and Back returns to it",
      served(),
      function* () {
        yield* create("Maria Silva", "order-1001")
        yield* create("João Pereira", "order-1002")
        yield* look("/", async (page) => {
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
          assert.deepInclude(parametersOf(page), { search: "joão", lang: "pt" })
        })
      }
    )

    live(
      "older charges are on further pages, the title counts the open ones, and a fault links to its requests",
      served(),
      function* () {
        yield* charges(101)
        yield* look("/", async (page) => {
          assert.strictEqual(await page.title(), "(101) effect-pix sandbox")
          await page.getByRole("link", { name: "Older" }).click()
          await rows(page).nth(1).waitFor({ state: "detached" })
          assert.strictEqual(await rows(page).count(), 1)
          await page.getByRole("button", { name: "Pay: charge 1", exact: true }).click()
          await page.getByText("Paid").first().waitFor()
          assert.strictEqual(await page.title(), "(100) effect-pix sandbox")
          await page.getByRole("tab", { name: "Faults" }).click()
          await page.getByLabel("Operation").selectOption("getBalance")
          await page.getByLabel("Requests").fill("2")
          await page.getByRole("button", { name: "Plan", exact: true }).click()
          await page.getByRole("list").getByRole("link", { name: "2 requests left" }).click()
          await page.getByText("Nothing fits the search.").waitFor()
          assert.deepStrictEqual(parametersOf(page), { tab: "requests", search: "getBalance", lang: "en" })
        })
        // The row of a link is shown, on whatever page it is.
        yield* look("/?open=1", async (page) => {
          await page.getByRole("img", { name: "QR code of charge 1" }).waitFor()
        })
      }
    )

    live("a QR code is enlarged, and id, code and key are copied", served(), function* () {
      yield* create("Maria Silva", "order-1001")
      const [one] = yield* (yield* Sandbox).transactions
      yield* look("/", async (page) => {
        await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
        await rows(page).first().locator("summary").click()
        for (const [name, text] of [
          ["Copy: id", one?.transactionId],
          ["Copy: PIX text", one?.qrcode],
          ["Copy: Idempotency key", "order-1001"]
        ] as const) {
          await page.getByRole("button", { name, exact: true }).click()
          await page.getByText("Copied.").waitFor()
          // The button that was pressed before has said the same.
          while ((await page.evaluate("navigator.clipboard.readText()")) !== text) {}
        }
        await page.getByRole("button", { name: "Enlarge" }).click()
        const large = page.locator("#qr img")
        await large.waitFor()
        assert.isAtLeast((await large.boundingBox())?.width ?? 0, 600)
        await page.keyboard.press("Escape")
        await large.waitFor({ state: "hidden" })
      })
    })

    live("times are in the language and the time zone of the browser", served(), function* () {
      yield* create("Maria Silva", "order-1001")
      const [one] = yield* (yield* Sandbox).transactions
      const at = new Date(one?.createdAt ?? "")
      const shown = (path: string, locale: string) =>
        look(
          path,
          async (page) => {
            const time = rows(page).first().locator("time").first()
            return [await time.textContent(), await time.getAttribute("title")]
          },
          { locale }
        )
      const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
      const exact = (lang: string, dateStyle: "medium" | "short") =>
        new Intl.DateTimeFormat(lang, { dateStyle, timeStyle: "medium", timeZone }).format(at)
      assert.deepStrictEqual(yield* shown("/", "en-US"), ["now", exact("en-GB", "medium")])
      assert.deepStrictEqual(yield* shown("/", "pt-BR"), ["agora", exact("pt-BR", "short")])
    })

    it.live.each([
      [360, 640],
      [390, 640],
      [768, 1024],
      [1280, 800]
    ] as const)(
      "nothing is clipped at %i pixels in either language, and the first charge is above the fold",
      ([width, fold]) =>
        Effect.gen(function* () {
          yield* charges(12)
          yield* Effect.forEach(
            ["en", "pt"],
            (language) =>
              look(
                `/?lang=${language}`,
                async (page) => {
                  assert.deepStrictEqual(await page.evaluate(clipped), [])
                  assert.isAtMost(await page.evaluate(`${first}.getBoundingClientRect().bottom`), fold)
                  // Rows 9 and 10 have numbers of another length, and amounts too.
                  const ends = await page.evaluate<Array<number>>(
                    `[...document.querySelectorAll(".amount")].map((amount) => amount.getBoundingClientRect().right)`
                  )
                  assert.strictEqual(new Set(ends).size, 1)
                },
                { width }
              ),
            { discard: true }
          )
        }).pipe(Effect.provide(served({ balance: 123_456_789_000 })))
    )
  }
)

const first = `document.querySelector(".rows > li")`

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
