/** Requests that no client of ours sends, over a raw socket: every one is answered, and none by a failure of the sandbox. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer, Schema } from "effect"
import * as Net from "node:net"
import { runs, seed, seeded } from "../support/seed.ts"
import { live } from "../support/effect.ts"

const served = Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, { balance: 1_000_000 }))

/** What comes back to these bytes until the server closes the connection. */
const exchange = (port: number, bytes: Buffer) =>
  Effect.callback<string, Error>((resume) => {
    let answer = ""
    const socket = Net.connect(port, "127.0.0.1", () => socket.write(bytes))
    socket.setEncoding("latin1")
    socket.on("data", (chunk: string) => (answer += chunk))
    // The stream of changes does not end by itself.
    socket.on("data", () => answer.includes("text/event-stream") && socket.destroy())
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.on("close", () => resume(Effect.succeed(answer)))
    return Effect.sync(() => socket.destroy())
  })

const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"] as const
const paths = [
  "/",
  "/openapi.json",
  "/panel/panel.js",
  "/panel/../../package.json",
  "/favicon.ico",
  "/_sandbox",
  "/_sandbox/",
  "/_sandbox/none",
  "/_sandbox/changes",
  "/_sandbox/transactions",
  "/_sandbox/transaction",
  "/_sandbox/markPaid",
  "/_sandbox/settleWithdrawal",
  "/_sandbox/credit",
  "/_sandbox/sendWebhook",
  "/_sandbox/subscribe",
  "/_sandbox/resendWebhook",
  "/_sandbox/fault",
  "/_sandbox/advance",
  "/_sandbox/reset",
  "/_sandbox/requests",
  "/api/v1/transactions/create",
  "/api/Withdraw/request",
  "/api/Transaction/company/transactions",
  "/api/Transaction/transactionByTransactionId/%ff",
  "/api/Balance/balance/1",
  "/api/Balance/balance/NaN",
  "//[",
  "//",
  "/%zz",
  "*",
  "http://127.0.0.1//[",
  "http://[/",
  "https://elsewhere.example/_sandbox",
  "/_sandbox//transactions",
  "/_SANDBOX",
  "/\\..\\_sandbox"
] as const
const queries = [
  "",
  "",
  "?",
  "?limit=0",
  "?limit=NaN",
  "?limit=1e3",
  "?search=%ff",
  "?status=__proto__",
  "?page=-1",
  "?url=%zz",
  "?a[]=1&a=2"
] as const
const bodies = [
  "",
  "",
  "{",
  "null",
  "[]",
  "{}",
  '"text"',
  '{"amount":1e400}',
  '{"amount":9007199254740993}',
  '{"amount":2500,"currency":"BRL","paymentMethod":"PIX","customer":{"name":"Maria","email":"maria@example.com"}}',
  '{"amount":2500,"currency":"BRL","pixKey":"maria@example.com","pixKeyType":"EMAIL"}',
  '{"__proto__":{"amount":1},"constructor":null}',
  '{"pixKey":"123","pixKeyType":"CPF"}',
  '{"url":"ftp://127.0.0.1"}',
  '{"url":"//["}',
  '{"seconds":1e308}',
  '{"seconds":3153600000}',
  '{"fault":"none"}',
  '{"fault":"answer","status":99}',
  '{"version":1,"state":{}}',
  `{"a":${"[".repeat(3000)}${"]".repeat(3000)}}`,
  "\xff\xfe"
] as const
const headers = [
  "Content-Type: application/json",
  "Content-Type: text/plain; charset=none",
  "Content-Type:",
  "Accept: application/json",
  "Accept: */*;q=x",
  "X-Client-Id: sandbox-client\r\nX-API-Key: sandbox-key\r\nAccept: application/json\r\nContent-Type: application/json",
  "X-Client-Id: \xe9\r\nX-API-Key: sandbox-key",
  "Idempotency-Key: __proto__",
  "Idempotency-Key:",
  "Origin: null",
  "Sec-Fetch-Site: cross-site",
  "Cookie: a=%zz; =; ;;",
  "Expect: 100-continue",
  "Range: bytes=9-1",
  "If-None-Match: *",
  "Accept-Encoding: gzip;q=0",
  "X-Forwarded-Host: [",
  "Traceparent: 00-0-0-0",
  "B3: 0"
] as const
const hosts = ["127.0.0.1", "127.0.0.1", "127.0.0.1", "localhost:99999", "[", "", "evil.example"] as const

const isError = Schema.is(Schema.Struct({ _tag: Schema.Literals(["SandboxNotFound", "SandboxConflict"]) }))
/** A sentence. */
const words = Schema.String.check(Schema.isPattern(/^.+\.$/s))
const isInWords = Schema.is(Schema.Struct({ message: words, status: Schema.Int }))

describe("an input that a function cannot take", () => {
  const refused = [
    ["subscribe", { url: "http://elsewhere.example/hook" }, "url"],
    ["credit", { amount: Number.MAX_SAFE_INTEGER }, "amount"],
    ["credit", { amount: -1 }, "amount"],
    ["markPaid", {}, "transactionId is missing"],
    ["fault", { operation: "any", fault: { executed: true, ending: "Nonsense" } }, "ending"],
    [
      "fault",
      { operation: "any", fault: { executed: false, answer: { status: 99, headers: {}, body: "" } } },
      "status"
    ],
    ["advance", null, "JSON object"]
  ] as const

  live(
    "an input that a function cannot take is refused with 400 and the field's name, and not its value",
    served,
    function* () {
      const { baseUrl } = yield* Sandbox
      for (const [name, body, field] of refused) {
        const answer = yield* Effect.promise(() =>
          fetch(`${baseUrl}/_sandbox/${name}`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body)
          })
        )
        const refusal: unknown = yield* Effect.promise(() => answer.json())
        assert.isTrue(
          answer.status === 400 && isInWords(refusal) && refusal.message.includes(field),
          JSON.stringify(refusal)
        )
        assert.notInclude(JSON.stringify(refusal), "elsewhere")
        assert.notInclude(JSON.stringify(refusal), "Nonsense")
      }
    }
  )
})

describe("an odd request to a sandbox that is served", () => {
  it.live(
    "an odd request to a served sandbox is refused in the words of the gateway, and never fails the sandbox",
    () =>
      Effect.gen(function* () {
        const { port } = new URL((yield* Sandbox).baseUrl)
        const { below, pick } = seeded(seed)
        const statuses = new Set<number>()
        for (let count = runs(600, 20_000); count > 0; count--) {
          const [method, body] = [pick([...methods]), pick([...bodies])]
          const lines = Array.from({ length: below(4) }, () => pick([...headers]))
          const framing = body === "" && below(2) === 0 ? [] : [`Content-Length: ${body.length}`]
          const head = [`${method} ${pick([...paths])}${pick([...queries])} HTTP/1.1`, `Host: ${pick([...hosts])}`]
          const text = `${[...head, "Connection: close", ...lines, ...framing].join("\r\n")}\r\n\r\n${body}`
          const about = `seed ${seed}: ${JSON.stringify(text.slice(0, 600))}`
          const answer = yield* exchange(Number(port), Buffer.from(text, "latin1"))
          const final = answer.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")
          const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(final)?.[1])
          assert.isTrue(status >= 200 && status < 500, `${about} was answered with ${final.slice(0, 300)}`)
          statuses.add(status)
          if (status < 400 || method === "HEAD") continue
          const refusal: unknown = JSON.parse(final.slice(final.indexOf("\r\n\r\n") + 4))
          // A steering that finds nothing, or the wrong state, answers its error; all else is said in words.
          assert.isTrue(isError(refusal) || isInWords(refusal), `${about} was answered with ${JSON.stringify(refusal)}`)
        }
        // The requests reach each of these ways out, so that none of them is left untested.
        assert.includeMembers([...statuses], [200, 400, 401, 403, 404, 405])
      }).pipe(Effect.provide(served)),
    60_000
  )
})
