/** A browser for tests. */
import type { Browser, Page } from "playwright-core"
import { afterAll } from "vitest"
import { launch } from "./browser.ts"

export { noBrowser } from "./browser.ts"

/** How the browser looks at a page. */
export interface Looks {
  readonly colorScheme?: "light" | "dark"
  readonly width?: number
}

/** One browser for the tests of a file. */
let browser: Promise<Browser> | undefined

afterAll(async () => {
  await (await browser)?.close()
  // The next file of this worker starts another one.
  browser = undefined
})

/** Opens an address in a page with its own storage, with the page's errors and the origins it asks, and closes it at the end. */
export const browse = async <A>(
  url: string,
  { colorScheme = "light", width = 1100 }: Looks,
  look: (page: Page, looked: { readonly problems: Array<string>; readonly origins: Set<string> }) => Promise<A>
): Promise<A> => {
  browser ??= launch()
  const context = await (await browser).newContext({ colorScheme, locale: "en-US", viewport: { width, height: 800 } })
  try {
    const page = await context.newPage()
    const problems: Array<string> = []
    const origins = new Set<string>()
    page.setDefaultTimeout(240_000)
    page.on("pageerror", (error) => problems.push(String(error)))
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    page.on("request", (request) => {
      if (!/^(?:data|blob):/.test(request.url())) origins.add(new URL(request.url()).origin)
    })
    await page.goto(url)
    return await look(page, { problems, origins })
  } finally {
    await context.close()
  }
}
