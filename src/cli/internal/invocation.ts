/** The invocation of this process: the command line that repeats it, and whether a person uses its terminal. */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import process from "node:process"
import { shellWord } from "./text.ts"

/** What a process was started with. Of its variables, those are read that npm and the shell set. */
interface Started {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
}

const wordsOf = ({ argv, env }: Started): ReadonlyArray<string> => {
  const script = argv[1] ?? "effect-pix"
  if (env["npm_lifecycle_event"] === "npx") {
    const given = (env["npm_config_package"] ?? "").split("\n").filter((name) => name !== "")
    return given.length === 0
      ? ["npx", "effect-pix"]
      : ["npx", ...given.flatMap((name) => ["-p", name]), "--", "effect-pix"]
  }
  if (Path.basename(script) !== "effect-pix") return ["node", script]
  const onPath = (env["PATH"] ?? "")
    .split(Path.delimiter)
    .some((folder) => Fs.existsSync(Path.join(folder, "effect-pix")))
  return [onPath ? "effect-pix" : script]
}

/** The command line of a process, quoted for a shell, with more flags. They are inserted before `--`. */
export const commandLineOf = (started: Started, flags: ReadonlyArray<string>): string => {
  const given = started.argv.slice(2)
  const end = given.indexOf("--")
  return [...wordsOf(started), ...given.toSpliced(end === -1 ? given.length : end, 0, ...flags)]
    .map(shellWord)
    .join(" ")
}

/** The command line of this process, with more flags. */
export const commandLineWith = (flags: ReadonlyArray<string>): string => commandLineOf(process, flags)

/**
 * Whether this process is in the foreground of its terminal. The system stops a background process (`&`) that reads keys.
 * Without `ps` a process counts as in the foreground.
 */
export const hasKeys = (): boolean => {
  if (!process.stdin.isTTY) return false
  const { status, stdout } = spawnSync("ps", ["-o", "pgid=,tpgid=", "-p", `${process.pid}`], { encoding: "utf8" })
  const [own, foreground] = status === 0 ? stdout.trim().split(/\s+/) : []
  return own === foreground
}
