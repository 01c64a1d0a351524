/** Packs a state of the repository and installs it in its own folder, together with the programs. */
import { execFileSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "../..")

const run = (command: string, args: ReadonlyArray<string>, cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 26 })

const git = (...args: ReadonlyArray<string>) => run("git", args, root)

/**
 * Builds the sources in a folder, with the tools of the working tree if both have the same lock. Returns the tarball.
 */
const pack = (sources: string, into: string): string => {
  const lock = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8")
  if (lock(sources) === lock(root)) symlinkSync(join(root, "node_modules"), join(sources, "node_modules"))
  else run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund", "--silent"], sources)
  run("npm", ["pack", "--silent", "--pack-destination", into], sources)
  const tarball = readdirSync(into).find((name) => name.endsWith(".tgz"))
  if (tarball === undefined) throw new Error(`no tarball came of ${sources}`)
  return join(into, tarball)
}

/** The tarball of a commit, from git. It is kept by its commit under `node_modules/.cache`. */
export const packCommit = (commit: string, temporary: string): string => {
  const hash = git("rev-parse", "--verify", `${commit}^{commit}`).trim()
  const kept = join(root, "node_modules/.cache/differential", `${hash}.tgz`)
  if (existsSync(kept)) return kept
  const sources = join(temporary, "base-sources")
  const into = join(temporary, "base-tarball")
  mkdirSync(sources)
  mkdirSync(into)
  const archive = join(temporary, "base.tar")
  git("archive", "--output", archive, hash)
  run("tar", ["-xf", archive], sources)
  const tarball = pack(sources, into)
  mkdirSync(dirname(kept), { recursive: true })
  // The file is moved when it is complete, since two runs may do this at the same time.
  cpSync(tarball, `${kept}.${process.pid}`)
  renameSync(`${kept}.${process.pid}`, kept)
  return kept
}

/** The tarball of the working tree as it is, with what is not committed. Its own `dist` is left alone. */
export const packWorkingTree = (temporary: string): string => {
  const sources = join(temporary, "head-sources")
  const into = join(temporary, "head-tarball")
  mkdirSync(sources)
  mkdirSync(into)
  const files = git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
  for (const file of files) {
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(sources, file), { recursive: true })
  }
  return pack(sources, into)
}

/** Installs a tarball as a consumer does, with the peers at the versions of its own lock, and the programs beside it. */
export const install = (tarball: string, folder: string): void => {
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const peers = ["effect", "undici"].map((name) => `${name}@${devDependencies[name]}`)
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--silent", tarball, ...peers], folder)
  for (const name of readdirSync(import.meta.dirname)) cpSync(join(import.meta.dirname, name), join(folder, name))
}
