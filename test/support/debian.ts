/**
 * Unpacks Debian packages on a machine without root: `node test/support/debian.ts postgresql pgbouncer
 * prometheus chromium-headless-shell` unpacks them into the cache of the project, with those of their dependencies that the
 * machine lacks. It needs no root, and starts no service. Tests use the installed packages, and download nothing.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

const cache = resolve(import.meta.dirname, "../../node_modules/.cache/effect-pix")

/** The folder of an unpacked package; `undefined` if it was not unpacked. */
export const unpacked = (name: string): string | undefined => {
  const dir = join(cache, name)
  return existsSync(dir) ? dir : undefined
}

/** The `LD_LIBRARY_PATH` for the programs of an unpacked package. */
export const libraries = (dir: string): string =>
  ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"]
    .map((part) => join(dir, part))
    .join(":")

const run = (command: string, args: ReadonlyArray<string>, cwd: string) => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`)
  return stdout
}

const fill = (name: string, dir: string) => {
  // The machine's package lists may be old. Newer lists are stored in a folder of the project, which needs no root.
  const own = ["-o", `Dir::State::Lists=${join(dir, "lists")}`, "-o", `Dir::Cache=${join(dir, "cache")}`]
  mkdirSync(join(dir, "lists", "partial"), { recursive: true })
  mkdirSync(join(dir, "cache", "archives", "partial"), { recursive: true })
  run("apt-get", [...own, "-qq", "update"], dir)
  const plan = run("apt-get", [...own, "install", "-s", "--no-install-recommends", name], dir)
  const names = [...plan.matchAll(/^Inst (\S+)/gm)].flatMap(([, found]) => found ?? [])
  if (names.length > 0) run("apt-get", [...own, "-qq", "download", ...names], dir)
  const packages = readdirSync(dir).filter((file) => file.endsWith(".deb"))
  for (const file of packages) run("dpkg", ["-x", file, "."], dir)
  for (const part of ["lists", "cache", ...packages]) rmSync(join(dir, part), { recursive: true, force: true })
}

const unpack = (name: string) => {
  if (unpacked(name) !== undefined) return
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, `${name}-`))
  try {
    fill(name, work)
    renameSync(work, join(cache, name))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (import.meta.main) process.argv.slice(2).forEach(unpack)
