/**
 * A browser for tests: `$CHROMIUM`, one on the PATH, or the headless shell that `debian.ts` unpacked.
 */
import { existsSync, globSync } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll } from "vitest"
import { unpacked } from "./debian.ts"
import { missing } from "./missing.ts"

const names = ["chromium-headless-shell", "chromium", "google-chrome"]
interface Found {
  readonly path: string
  readonly env: Record<string, string>
}

const onPath = () =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path))

const find = (): Found | undefined => {
  const path = process.env["CHROMIUM"] ?? onPath()
  if (path !== undefined) return { path, env: {} }
  const folder = unpacked("chromium-headless-shell")
  if (folder === undefined) return undefined
  const libraries = globSync(["usr/lib/*-linux-gnu", "usr/lib/*-linux-gnu/*", "lib/*-linux-gnu"], { cwd: folder })
  return {
    path: join(folder, "usr/lib/chromium/chromium-headless-shell"),
    env: { LD_LIBRARY_PATH: libraries.map((name) => join(folder, name)).join(delimiter) }
  }
}

const found = find()

/** The reason to skip the tests; `undefined` if there is a browser. */
export const noBrowser: string | undefined = found === undefined ? missing("Chromium") : undefined

export interface Looked {
  /** The errors in the console and in the page. */
  readonly problems: Array<string>
  /** The URLs of all requests. */
  readonly origins: Set<string>
}

let browser: Promise<Browser> | undefined

/** One browser for the tests of a file. */
const launched = ({ env, path }: Found) =>
  (browser ??= chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-gpu", "--disable-quic"]
  }))

afterAll(async () => (await browser)?.close())

/** Opens an address in a page with its own storage, and closes the page at the end. */
export const browse = async <A>(
  url: string,
  options: { readonly colorScheme: "light" | "dark"; readonly locale?: string; readonly width?: number },
  look: (page: Page, looked: Looked) => Promise<A>
): Promise<A> => {
  if (found === undefined) throw new Error(noBrowser)
  const context = await (
    await launched(found)
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
