/** How this command was called, to show commands that can be pasted. */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import process from "node:process"
import { shellWord } from "./text.ts"

// The variables of npm and of the shell, which are no settings of ours.
const variable = (name: string): string => Reflect.get(process, "env")[name] ?? ""

const ownWords = (): ReadonlyArray<string> => {
  const script = process.argv[1] ?? "effect-pix"
  if (variable("npm_lifecycle_event") === "npx") {
    const given = variable("npm_config_package")
      .split("\n")
      .filter((name) => name !== "")
    return given.length === 0
      ? ["npx", "effect-pix"]
      : ["npx", ...given.flatMap((name) => ["-p", name]), "--", "effect-pix"]
  }
  if (Path.basename(script) !== "effect-pix") return ["node", script]
  const onPath = variable("PATH")
    .split(Path.delimiter)
    .some((folder) => Fs.existsSync(Path.join(folder, "effect-pix")))
  return [onPath ? "effect-pix" : script]
}

/** A command of ours for a shell. */
export const commandLine = (words: ReadonlyArray<string>): string => [...ownWords(), ...words].map(shellWord).join(" ")

/** Whether a person sits there: questions are asked on stderr, and answered on stdin. */
export const hasTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/**
 * Whether the keys that are pressed are for this process. One that a shell runs in the background (`&`) would be stopped
 * if it read them. Where there is no `ps`, it is taken for one in the foreground.
 */
export const hasKeys = (): boolean => {
  if (!process.stdin.isTTY) return false
  const { status, stdout } = spawnSync("ps", ["-o", "pgid=,tpgid=", "-p", `${process.pid}`], { encoding: "utf8" })
  const [own, foreground] = status === 0 ? stdout.trim().split(/\s+/) : []
  return own === foreground
}
