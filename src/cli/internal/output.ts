/**
 * What a command writes: data to stdout, all else to stderr. The exit code says what a command did, so it must not depend
 * on who reads along:
 *
 * - The reader of stdout has gone (`| head`): what is written after that is for nobody, and dropped without a word.
 * - Any other failure (a full disk): the command ends with a sentence on stderr, and with 1.
 * - stderr cannot be written: nothing can be said, and the command goes on.
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

/** Closed pipes; where stdout is a socket, its reader may leave data behind; and `EOF` is Windows's word for it. */
const isGone = (code: string) => code === "EPIPE" || code === "ECONNRESET" || code === "EOF"

let readerGone = false

/** Whether anybody may still read what is written to stdout. */
export const hasReader = (): boolean => !readerGone

/** Ends when all of it is written: Node writes to a pipe in the background, and an exit would cut it off. */
const toStream = (stream: NodeJS.WriteStream, text: string) =>
  Effect.callback<void, string>((resume) => {
    stream.write(text, (error) => resume(error ? Effect.fail(codeOf(error)) : Effect.void))
  })

/** Node's stream of a file does not look how much of a chunk a full disk took: what is missing would be lost in silence. */
const toFile = (text: string) => Effect.try({ try: () => Fs.writeFileSync(process.stdout.fd, text), catch: codeOf })

/** Writes data, and ends when it is written. */
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

/**
 * Shows what a command has done. Where stdout fails, or a signal ends the command while it is written, stderr says it, so
 * that nobody takes it for not done.
 */
export const showDone = <R>(done: string, show: Effect.Effect<void, Failed, R>): Effect.Effect<void, Failed, R> =>
  show.pipe(
    Effect.mapError(({ code, message }) => failed(`${message} It was done all the same:\n${done}`, code)),
    Effect.onInterrupt(() => note(`Ended before stdout was written. It was done all the same:\n${done}`))
  )

/** Writes a line to stderr, and ends when it is written. */
export const note = (text: string): Effect.Effect<void> => Effect.ignore(toStream(process.stderr, `${text}\n`))

/** A line on stderr that the next one replaces. Where stderr is a file there is none. */
export const progress = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`)
  })

/** Without a listener Node would end the process in the middle of a command. Failures are read where something is written. */
export const listenForErrors = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})
}
