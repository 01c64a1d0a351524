/**
 * What a command writes: data to stdout, all else to stderr. The exit code says what the command did, so it does not
 * depend on who reads its output:
 *
 * - The reader of stdout has gone (`| head`): later output is dropped without a message.
 * - stdout fails otherwise (a full disk): the command ends with a sentence on stderr, and with 1.
 * - stderr fails: the command goes on.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Fs from "node:fs"
import { Socket } from "node:net"
import process from "node:process"
import { type Failed, failed } from "./exit.ts"
import { jsonLine } from "./text.ts"

const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? error.code : "no code"

/** The codes of a reader that has gone. `ECONNRESET`: it left data in a socket unread. `EOF`: the code of Windows. */
const isGone = (code: string) => code === "EPIPE" || code === "ECONNRESET" || code === "EOF"

let readerGone = false

/** Whether anybody may still read what is written to stdout. */
export const hasReader = (): boolean => !readerGone

/** Completes when all of it is written: Node writes to a pipe in the background, and an exit would cut it off. */
const toStream = (stream: NodeJS.WriteStream, text: string) =>
  Effect.callback<void, string>((resume) => {
    stream.write(text, (error) => resume(error ? Effect.fail(codeOf(error)) : Effect.void))
  })

/** Node's stream of a file does not check how much of a chunk a full disk took: the rest would be lost in silence. */
const toFile = (text: string) => Effect.try({ try: () => Fs.writeFileSync(process.stdout.fd, text), catch: codeOf })

/** Writes data, and completes when it is written. */
export const write = (text: string): Effect.Effect<void, Failed> =>
  Effect.suspend(() => {
    if (readerGone) return Effect.void
    return process.stdout instanceof Socket ? toStream(process.stdout, text) : toFile(text)
  }).pipe(
    Effect.catch((code) => {
      readerGone = isGone(code)
      return readerGone ? Effect.void : failed(`stdout could not be written (${code}): what it got is incomplete.`)
    })
  )

export const writeLine = (text: string): Effect.Effect<void, Failed> => write(`${text}\n`)

/** One line for machines. */
export const writeJson = (value: unknown): Effect.Effect<void, Failed> => write(jsonLine(value))

/** Writes one result: a line for machines, or text for people. */
export const writeResult = (isJson: boolean, data: unknown, text: string): Effect.Effect<void, Failed> =>
  isJson ? writeJson(data) : writeLine(text)

/** Writes a line to stderr, and completes when it is written. */
export const note = (text: string): Effect.Effect<void> => Effect.ignore(toStream(process.stderr, `${text}\n`))

/** Writes a line to stderr that the next one replaces, where stderr is a terminal. */
export const progress = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`)
  })

/** Without a listener Node would end the process in the middle of a command. Failures are handled by each write. */
export const listenForErrors = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})
}
