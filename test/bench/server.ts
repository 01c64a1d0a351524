/**
 * The other side, in a process of its own: answers every POST with a created charge and every GET with a page, from
 * bytes that are made once. It is written on the socket, so that the clients are what is measured: `node:http` costs
 * more for a request than the fastest of them.
 */
import { createServer } from "node:net"
import { created, page } from "./payloads.ts"

const answer = (body: string) =>
  Buffer.from(
    [
      "HTTP/1.1 200 OK",
      "Content-Type: application/json; charset=utf-8",
      "Date: Sat, 21 Nov 2026 12:00:00 GMT",
      "Connection: keep-alive",
      "Keep-Alive: timeout=300",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      body
    ].join("\r\n")
  )

const answers = { POST: answer(created), GET: answer(page) }

const server = createServer({ noDelay: true }, (socket) => {
  let pending = Buffer.alloc(0)
  socket.on("error", () => socket.destroy())
  socket.on("data", (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf("\r\n\r\n")
      if (end < 0) return
      const head = pending.toString("latin1", 0, end)
      const [, length = "0"] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
      const total = end + 4 + Number(length)
      if (pending.length < total) return
      pending = pending.subarray(total)
      socket.write(head.startsWith("POST ") ? answers.POST : answers.GET)
    }
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.(typeof address === "object" && address !== null ? address.port : 0)
})

// Whatever ends the bench ends the server.
process.on("disconnect", () => process.exit())
