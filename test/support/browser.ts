/** A Chromium: `$CHROMIUM`, one on the PATH, or the headless shell that `debian.ts` unpacked. */
import { existsSync, globSync } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, chromium } from "playwright-core"
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

/** Starts it. */
export const launch = (): Promise<Browser> => {
  if (found === undefined) throw new Error(noBrowser)
  const { env, path } = found
  return chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-gpu", "--disable-quic"]
  })
}
