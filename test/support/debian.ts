/**
 * A Debian package and those of its dependencies that the machine lacks, unpacked into a folder of the project's: no
 * root, nothing installed, no service started. `undefined` where it cannot be had.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

const cache = resolve(import.meta.dirname, "../../node_modules/.cache/effect-pix")

const run = (command: string, args: ReadonlyArray<string>, cwd: string) => {
  const done = spawnSync(command, args, { cwd, encoding: "utf8", timeout: 600_000 })
  return done.status === 0 ? done.stdout : undefined
}

const fill = (name: string, dir: string): boolean => {
  // The machine's package lists may be old: newer ones go into a folder of our own, which needs no root.
  const own = ["-o", `Dir::State::Lists=${join(dir, "lists")}`, "-o", `Dir::Cache=${join(dir, "cache")}`]
  mkdirSync(join(dir, "lists", "partial"), { recursive: true })
  mkdirSync(join(dir, "cache", "archives", "partial"), { recursive: true })
  if (run("apt-get", [...own, "-qq", "update"], dir) === undefined) return false
  const plan = run("apt-get", [...own, "install", "-s", "--no-install-recommends", name], dir)
  const names = [...(plan ?? "").matchAll(/^Inst (\S+)/gm)].flatMap(([, found]) => found ?? [])
  if (names.length === 0 || run("apt-get", [...own, "-qq", "download", ...names], dir) === undefined) return false
  const packages = readdirSync(dir).filter((file) => file.endsWith(".deb"))
  const unpacked = packages.every((file) => run("dpkg", ["-x", file, "."], dir) !== undefined)
  for (const part of ["lists", "cache", ...packages]) rmSync(join(dir, part), { recursive: true, force: true })
  return unpacked
}

/** The folder that the package is unpacked in, kept between runs. */
export const unpack = (name: string): string | undefined => {
  const dir = join(cache, name)
  if (existsSync(dir)) return dir
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, `${name}-`))
  try {
    if (!fill(name, work)) return undefined
    // Another test file may have been faster.
    if (!existsSync(dir)) renameSync(work, dir)
    return dir
  } catch {
    return existsSync(dir) ? dir : undefined
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Where the programs of an unpacked package find their libraries. */
export const libraries = (dir: string): string =>
  ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"]
    .map((part) => join(dir, part))
    .join(":")
