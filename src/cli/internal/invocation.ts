/** The command line that repeats this process. */
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
  if (env["npm_lifecycle_event"] === "npx") return ["npx", "effect-pix"]
  return Path.basename(script) === "effect-pix" ? [script] : ["node", script]
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
