/** How this command was called, to show commands that can be pasted. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import process from "node:process"
import { shellWord } from "./text.ts"

// The variables of npm and of the shell, which are no settings of ours.
const variable = (name: string): string => Reflect.get(process, "env")[name] ?? ""

const own = (): ReadonlyArray<string> => {
  const script = process.argv[1] ?? "effect-pix"
  if (variable("npm_lifecycle_event") === "npx") return ["npx", "effect-pix"]
  if (Path.basename(script) !== "effect-pix") return ["node", script]
  const onPath = variable("PATH")
    .split(Path.delimiter)
    .some((folder) => Fs.existsSync(Path.join(folder, "effect-pix")))
  return [onPath ? "effect-pix" : script]
}

/** A command of ours for a shell. */
export const commandLine = (words: ReadonlyArray<string>): string => [...own(), ...words].map(shellWord).join(" ")

/** Whether a person sits there: questions are asked on stderr, and answered on stdin. */
export const hasTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY
