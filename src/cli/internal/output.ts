/**
 * The output of a command: data on stdout, everything else on stderr.
 *
 * Details: the exit code says what the command did, so it does not depend on who reads the output:
 *
 * - If the reader of stdout has exited (`| head`), later output is dropped without a message.
 * - If stdout fails for another reason (a full disk), the command ends with a sentence on stderr and exit code 1.
 * - If stderr fails, the command continues.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { Socket } from "node:net"
import process from "node:process"
import { codeOf } from "./errorCode.ts"
import { type Failed, failed } from "./exit.ts"
import { fieldLines, jsonLine, time } from "./text.ts"

/** The error codes for a reader that has exited. `ECONNRESET`: it left unread data in a socket. `EOF`: the code of Windows. */
const isGone = (code: string) => code === "EPIPE" || code === "ECONNRESET" || code === "EOF"

/** A process has one stdout. */
let readerGone = false

/** Whether the reader of stdout may still read. */
export const hasReader = (): boolean => !readerGone

/** Completes when the whole text is written: Node writes to a pipe in the background, and an exit would cut it off. */
const toStream = (stream: NodeJS.WriteStream, text: string) =>
  Effect.callback<void, string>((resume) => {
    stream.write(text, (error) => resume(error ? Effect.fail(codeOf(error) ?? "no code") : Effect.void))
  })

/** Writes to a file in a loop: Node's stream does not notice that a full disk took only a part of a chunk. */
const toFile = (text: string) =>
  Effect.try({
    try: () => Fs.writeFileSync(process.stdout.fd, text),
    catch: (error) => codeOf(error) ?? "no code"
  })

/** Where the command writes. Each fails with the code of an error. */
interface Output {
  readonly stdout: (text: string) => Effect.Effect<void, string>
  readonly stderr: (text: string) => Effect.Effect<void, string>
}

/** The output of this process, unless a program that runs the command in itself gives another one. */
export const Output = Context.Reference<Output>("effect-pix/Output", {
  defaultValue: () => ({
    stdout: (text) => (process.stdout instanceof Socket ? toStream(process.stdout, text) : toFile(text)),
    stderr: (text) => toStream(process.stderr, text)
  })
})

/** Writes data to stdout, and completes when it is written. */
export const write = (text: string): Effect.Effect<void, Failed> =>
  Effect.flatMap(Output, ({ stdout }) => (readerGone ? Effect.void : stdout(text))).pipe(
    Effect.catch((code) => {
      readerGone = isGone(code)
      return readerGone ? Effect.void : failed(`stdout could not be written (${code}): what it got is incomplete.`)
    })
  )

export const writeLine = (text: string): Effect.Effect<void, Failed> => write(`${text}\n`)

/** A value as one line of JSON. */
export const writeJson = (value: unknown): Effect.Effect<void, Failed> => write(jsonLine(value))

/** Writes one result: a line for machines, or text for people. */
export const writeResult = (isJson: boolean, data: unknown, text: string): Effect.Effect<void, Failed> =>
  isJson ? writeJson(data) : writeLine(text)

/** Writes a record: as one object for machines, and in lines for people. The label of `createdAt` is "Created at". */
export const writeRecord = (
  isJson: boolean,
  data: object,
  fields: Readonly<Record<string, string | number | DateTime.Utc | undefined>>
): Effect.Effect<void, Failed> =>
  writeResult(
    isJson,
    data,
    fieldLines(
      Object.entries(fields).map(([name, value]) => [
        name[0]?.toUpperCase() + name.slice(1).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
        DateTime.isDateTime(value) ? time(value) : value
      ])
    )
  )

/** Writes a line to stderr, and completes when it is written. */
export const note = (text: string): Effect.Effect<void> =>
  Effect.ignore(Effect.flatMap(Output, ({ stderr }) => stderr(`${text}\n`)))

/** Each write handles its own failure. Without a listener, Node would also end the process in the middle of a command. */
export const listenForErrors = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})
}
