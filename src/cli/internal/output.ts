/** What goes to stdout, a chunk or a line of JSON at a time. */
import * as Effect from "effect/Effect"
import process from "node:process"
import { jsonLine } from "./text.ts"

export const write = (text: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    process.stdout.write(text, () => resume(Effect.void))
  })

export const writeLine = (text: string): Effect.Effect<void> => write(`${text}\n`)

/** One line for machines. */
export const writeJson = (value: unknown): Effect.Effect<void> => write(jsonLine(value))

export const note = (text: string): Effect.Effect<void> => Effect.sync(() => process.stderr.write(`${text}\n`))

/** A line on stderr that the next one replaces. Where stderr is a file there is none. */
export const progress = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`)
  })
