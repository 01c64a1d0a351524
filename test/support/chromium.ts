/** A browser for tests. */
import type { Browser, Page } from "playwright-core"
import { afterAll } from "vitest"
import { launch } from "./browser.ts"

export { noBrowser } from "./browser.ts"

export interface Looked {
  /** The errors in the console and in the page. */
  readonly problems: Array<string>
  /** The URLs of all requests. */
  readonly origins: Set<string>
}

/** One browser for the tests of a file. */
let browser: Promise<Browser> | undefined

afterAll(async () => {
  await (await browser)?.close()
  // The next file of this worker starts another one.
  browser = undefined
})

/** Opens an address in a page with its own storage, and closes the page at the end. */
export const browse = async <A>(
  url: string,
  options: { readonly colorScheme: "light" | "dark"; readonly locale?: string; readonly width?: number },
  look: (page: Page, looked: Looked) => Promise<A>
): Promise<A> => {
  const context = await (
    await (browser ??= launch())
  ).newContext({
    colorScheme: options.colorScheme,
    locale: options.locale ?? "en-US",
    viewport: { width: options.width ?? 1100, height: 800 }
  })
  try {
    const page = await context.newPage()
    const looked: Looked = { problems: [], origins: new Set() }
    page.setDefaultTimeout(240_000)
    page.on("pageerror", (error) => looked.problems.push(String(error)))
    page.on("console", (message) => {
      if (message.type() === "error") looked.problems.push(message.text())
    })
    page.on("request", (request) => {
      if (!/^(?:data|blob):/.test(request.url())) looked.origins.add(new URL(request.url()).origin)
    })
    await page.goto(url)
    return await look(page, looked)
  } finally {
    await context.close()
  }
}
