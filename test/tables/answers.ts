/** What a gateway, or something in front of it, may send over a connection, and what each transport makes of it. */
import { Effect } from "effect"
import type { OutcomeUnknown } from "effect-pix"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import type { OperationCall } from "../support/operations.ts"
import { answer, type Play, reset, silence, written, writtenLast } from "../support/RawServer.ts"
import { headsRead, type Transport } from "../support/transports.ts"

/** The largest answer that the calls read, in bytes. */
export const limit = 64 * 1024

/**
 * A success, an error by its tag, or the reason why there is no usable answer: `NoHttp` is unreadable from the head on. `again`:
 * two requests are sent.
 */
type Word = "Success" | "RequestRejected" | "NoHttp" | OutcomeUnknown["reason"]
export type End = Word | `${Word} again`

interface Row {
  readonly name: string
  readonly play: (call: OperationCall) => Play
  readonly end: End
  readonly but?: Partial<Record<Transport, End>>
  /** The answer never ends: the server sends nothing, or only the head. */
  readonly stalls?: "silence" | "head"
}

export const ok = "HTTP/1.1 200 OK"
export const good = (call: OperationCall) => [
  `HTTP/1.1 ${call.status} OK`,
  `content-length: ${call.answer.length}`,
  "",
  call.answer
]
const headOf = (length: number) => [ok, `content-length: ${length}`, ""]
const twoBytes = ["content-length: 2", "", "{}"]
const informational = ["HTTP/1.1 102 Processing", "", "HTTP/1.1 103 Early Hints", ""]
const goOn = ["HTTP/1.1 100 Continue", ""]
const switching = ["HTTP/1.1 101 Switching Protocols", "upgrade: h2c", "connection: upgrade", "", ""]
const hexOf = (text: string) => text.length.toString(16)
const chunked = [ok, "transfer-encoding: chunked", ""]
const padded = ({ answer }: OperationCall, bytes: number) => answer.padEnd(bytes, " ")
const doesNotUnpack = { undici: "Unreadable", "node:http": "Unreadable" } as const

const row = (name: string, end: End, play: Row["play"], but?: Row["but"]): Row => ({
  name,
  end,
  play,
  ...(but && { but })
})
const lines = (name: string, end: End, text: (call: OperationCall) => ReadonlyArray<string>, but?: Row["but"]): Row =>
  row(name, end, (call) => written(...text(call)), but)
const last = (name: string, end: End, text: (call: OperationCall) => ReadonlyArray<string>): Row =>
  row(name, end, (call) => writtenLast(...text(call)))

const packed = ([encoding, pack]: readonly [string, (text: string) => Buffer]): ReadonlyArray<Row> => [
  row(
    `an answer in ${encoding}, which was not asked for`,
    "Success",
    (call) => answer(call.status, pack(call.answer), { "content-encoding": encoding }),
    doesNotUnpack
  ),
  row(
    `an answer that is over the bound once ${encoding} is unpacked`,
    "TooLarge",
    (call) => answer(call.status, pack(padded(call, limit * 16)), { "content-encoding": encoding }),
    doesNotUnpack
  )
]

/** The rows of the contract. */
export const rows: ReadonlyArray<Row> = [
  lines("a good answer", "Success", good),
  lines("two good answers", "Success", (call) => [...good(call), ...good(call)]),
  last("a body up to the end of the connection", "Success", ({ answer }) => [ok, "", answer]),
  last("a BOM before the body", "Success", ({ answer }) => [ok, "", `\xef\xbb\xbf${answer}`]),
  row("an encoding that nobody knows", "Success", (call) => answer(200, call.answer, { "content-encoding": "x-none" })),
  lines("102 and 103 before the answer", "Success", (call) => [...informational, ...good(call)]),
  lines("100, unasked, before the answer", "ConnectionLost again", (call) => [...goOn, ...good(call)], {
    "node:http": "Success"
  }),

  row("a reset", "ConnectionLost again", () => reset),
  row("a connection that ends in good order", "ConnectionLost again", () => (socket) => void socket.end()),
  last("half a header", "ConnectionLost again", () => [ok, "content-le"]),
  last("a body that is cut off", "Truncated again", ({ answer }) => [...headOf(answer.length + 5), answer]),
  last("chunks that break off", "Truncated again", ({ answer }) => [...chunked, hexOf(answer), answer, ""]),
  last("a chunk without a size", "Truncated again", ({ answer }) => [...chunked, "zz", answer, ""]),
  row("a body cut by a reset", "Truncated again", (call) => (socket) => {
    socket.write([ok, `content-length: ${call.answer.length}`, "", "{"].join("\r\n"), () => {
      void Effect.runFork(
        Effect.andThen(
          headsRead(`http://127.0.0.1:${socket.localPort}`, 1),
          Effect.sync(() => socket.resetAndDestroy())
        )
      )
    })
  }),
  row(
    "an answer said to be gzip, and none",
    "Truncated again",
    () => answer(200, "not gzip", { "content-encoding": "gzip" }),
    doesNotUnpack
  ),

  last("another protocol", "NoHttp", () => ["220 smtp.example ESMTP", ""]),
  last("a body alone", "NoHttp", ({ answer }) => [answer]),
  last("one blank", "NoHttp", () => [" "]),
  lines("a header of 40 kB", "NoHttp", (call) => [ok, `x-big: ${"a".repeat(40_000)}`, ...good(call).slice(1)]),
  lines("a header with NUL", "NoHttp", (call) => [ok, "x-a: a\0b", ...good(call).slice(1)]),
  lines("two lengths", "NoHttp", () => [ok, "content-length: 3", ...twoBytes]),
  lines("a negative length", "NoHttp", () => [ok, "content-length: -2", "", "{}"]),
  lines("a length and chunks", "NoHttp", () => [ok, "content-length: 2", ...chunked.slice(1), "2", "{}", "0", "", ""]),
  last("a length that is too short", "Unreadable", ({ answer }) => [...headOf(answer.length - 5), answer]),
  lines("status 199", "NoHttp", () => ["HTTP/1.1 199 What", ...twoBytes]),
  // Each of the others fails in its own way.
  lines("status 000", "Unrecognised again", () => ["HTTP/1.1 000 What", ...twoBytes], { "node:http": "NoHttp" }),
  // This transport returns it as the answer.
  lines("101, unasked", "ConnectionLost again", () => switching, { "node:http": "NoHttp" }),

  row("a body of the bound's length", "Success", (call) => answer(call.status, padded(call, limit))),
  row("a body over the bound", "TooLarge", (call) => answer(call.status, padded(call, limit + 1))),
  row("a body of unknown length over the bound", "TooLarge", (call) =>
    written(...chunked, (limit + 1).toString(16), padded(call, limit + 1), "0", "", "")
  ),
  ...(
    [
      ["gzip", gzipSync],
      ["X-Gzip", gzipSync],
      ["deflate", deflateSync],
      ["br", brotliCompressSync]
    ] as const
  ).flatMap(packed),

  row("a 303", "Redirect", () => answer(303, "", { location: "/elsewhere" })),
  row("a 407", "RequestRejected", () => answer(407, `{"message":"Tempo esgotado"}`)),
  row("a 422 in a declared ISO-8859-1", "RequestRejected", () =>
    answer(422, Buffer.from(`{"message":"Chave Pix inválida"}`, "latin1"), {
      "content-type": `application/json; charset="ISO-8859-1"`
    })
  ),
  row("a field nested 20,000 deep", "Unreadable", (call) =>
    answer(call.status, `{"deep":${"[".repeat(20_000)}${"]".repeat(20_000)},${call.answer.slice(1)}`)
  ),
  // A fetch sends the request once more on another connection, as its standard says.
  row("a 421", "RequestRejected", () => answer(421)),

  { ...row("no answer", "Timeout again", () => silence), stalls: "silence" },
  { ...lines("a head and no body", "Timeout again", () => [ok, "content-length: 9", "", "{"]), stalls: "head" }
]
