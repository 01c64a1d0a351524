/**
 * A browser for tests, where there is one: `$CHROMIUM`, one on the PATH, or Debian's headless shell, unpacked into the
 * cache of the project without root. Where there is none, tests skip; with `CI` set that is a failure.
 */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join, resolve } from "node:path"
import { chromium, type Page } from "playwright-core"

const names = ["chromium-headless-shell", "chromium", "google-chrome"]
const cache = resolve(import.meta.dirname, "../../node_modules/.cache/effect-pix/chromium")

interface Found {
  readonly path: string
  readonly env: Record<string, string>
}

const run = (command: string, args: ReadonlyArray<string>) =>
  spawnSync(command, args, { cwd: cache, encoding: "utf8", timeout: 240_000 })

const onPath = () =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path))

/** Unpacks Debian's headless shell with what the machine lacks for it. Kept between runs. */
const unpacked = (): Found | undefined => {
  const done = join(cache, ".done")
  if (!existsSync(done)) {
    mkdirSync(join(cache, "lists", "partial"), { recursive: true })
    mkdirSync(join(cache, "cache", "archives", "partial"), { recursive: true })
    const own = ["-qq", "-o", `Dir::State::Lists=${join(cache, "lists")}`, "-o", `Dir::Cache=${join(cache, "cache")}`]
    if (run("apt-get", [...own, "update"]).status !== 0) return undefined
    const plan = run("apt-get", [...own, "install", "-s", "--no-install-recommends", "chromium-headless-shell"])
    const wanted = [...(plan.stdout ?? "").matchAll(/^Inst (\S+)/gm)].map(([, name = ""]) => name)
    if (plan.status !== 0 || run("apt-get", [...own, "download", ...wanted]).status !== 0) return undefined
    for (const file of readdirSync(cache).filter((name) => name.endsWith(".deb"))) {
      if (run("dpkg", ["-x", file, "."]).status !== 0) return undefined
      rmSync(join(cache, file))
    }
    writeFileSync(done, "")
  }
  const libraries = globSync(["usr/lib/*-linux-gnu", "usr/lib/*-linux-gnu/*", "lib/*-linux-gnu"], { cwd: cache })
  return {
    path: join(cache, "usr/lib/chromium/chromium-headless-shell"),
    env: { LD_LIBRARY_PATH: libraries.map((folder) => join(cache, folder)).join(delimiter) }
  }
}

const find = (): Found | undefined => {
  const path = process.env["CHROMIUM"] ?? onPath()
  return path === undefined ? unpacked() : { path, env: {} }
}

const found = find()

/** Why there is no browser here; `undefined` where there is one. */
export const noBrowser: string | undefined =
  found === undefined ? "no Chromium: set CHROMIUM, or let apt-get download chromium-headless-shell" : undefined

if (found === undefined && process.env["CI"] !== undefined) throw new Error(noBrowser)

export interface Looked {
  /** What the console complained about, and what went wrong in the page. */
  readonly problems: Array<string>
  /** Where requests went. */
  readonly origins: Set<string>
}

/** Opens a page of the address in a browser of its own, and closes both at the end. */
export const browse = async <A>(
  url: string,
  options: { readonly colorScheme: "light" | "dark"; readonly locale?: string; readonly width?: number },
  look: (page: Page, looked: Looked) => Promise<A>
): Promise<A> => {
  if (found === undefined) throw new Error(noBrowser)
  const browser = await chromium.launch({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-gpu", "--disable-quic"]
  })
  try {
    const context = await browser.newContext({
      colorScheme: options.colorScheme,
      locale: options.locale ?? "en-US",
      viewport: { width: options.width ?? 1100, height: 800 }
    })
    const page = await context.newPage()
    const looked: Looked = { problems: [], origins: new Set() }
    page.setDefaultTimeout(15_000)
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
    await browser.close()
  }
}
