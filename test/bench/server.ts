/**
 * The server of the bench, in its own process. It answers each operation with bytes that are made once. It uses a plain socket,
 * since `node:http` would cost more for a request than the fastest client. With the files of a key and a certificate as arguments it
 * speaks TLS.
 *
 * After the message `hold` it answers no request, and reports how many it has received. After `release` it answers
 * them.
 */
import { readFileSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { answers, paths } from "./payloads.ts"

const [, , key, cert] = process.argv

const answer = (body: string, status = "200 OK") =>
  Buffer.from(
    [
      `HTTP/1.1 ${status}`,
      "Content-Type: application/json; charset=utf-8",
      "Date: Sat, 21 Nov 2026 12:00:00 GMT",
      "Connection: keep-alive",
      "Keep-Alive: timeout=300",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      body
    ].join("\r\n")
  )

const create = answer(answers.create)
const list = answer(answers.list)
const lookup = answer(answers.lookup)
const withdraw = answer(answers.withdraw, "201 Created")

const answerTo = (head: string): Buffer => {
  if (head.startsWith("POST ")) return head.startsWith(paths.withdraw, 5) ? withdraw : create
  return head.startsWith(paths.lookup, 4) ? lookup : list
}

let isHolding = false
let held: Array<() => void> = []

const reply = (socket: Socket, head: string) => {
  if (!isHolding) return void socket.write(answerTo(head))
  held.push(() => socket.write(answerTo(head)))
  if (held.length % 100 === 0) process.send?.({ held: held.length })
}

const accept = (socket: Socket) => {
  let pending = Buffer.alloc(0)
  socket.on("error", () => socket.destroy())
  socket.on("data", (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf("\r\n\r\n")
      if (end < 0) return
      const head = pending.toString("latin1", 0, end)
      const [, length = "0"] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
      const size = end + 4 + Number(length)
      if (pending.length < size) return
      pending = pending.subarray(size)
      reply(socket, head)
    }
  })
}

const server =
  key === undefined || cert === undefined
    ? createServer({ noDelay: true }, accept)
    : createTlsServer({ noDelay: true, key: readFileSync(key), cert: readFileSync(cert) }, accept)

process.on("message", (order: "hold" | "release") => {
  isHolding = order === "hold"
  const waiting = held
  held = []
  for (const release of waiting) release()
  process.send?.({ held: 0 })
})

server.listen({ port: 0, host: "127.0.0.1", backlog: 20_000 }, () => {
  const address = server.address()
  process.send?.(typeof address === "object" && address !== null ? address.port : 0)
})

// The server ends with the bench.
process.on("disconnect", () => process.exit())
