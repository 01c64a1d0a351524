/** A sandbox behind each of its doors, and requests that no client of the library sends. */
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpMethod } from "effect/http"
import { connect } from "node:net"
import { chargeBody, createTransaction, requestWithdrawal, withdrawalBody } from "./operations.ts"

const given = (options: SandboxOptions) => Layer.succeed(SandboxOptions, options)

export const memory = (options: SandboxOptions = {}) => Layer.provide(Layer.fresh(Sandbox.layer), given(options))

/** A server, with a client that follows no redirect. */
export const socket = (options: SandboxOptions = {}) =>
  Layer.merge(Layer.provide(Layer.fresh(Sandbox.layerServer), given(options)), FetchHttpClient.layer).pipe(
    Layer.provideMerge(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
  )

/** The service of a program in another process: only the address of the server is known to it. */
export const remote = (options: SandboxOptions = {}) =>
  Layer.unwrap(Effect.map(Sandbox, ({ baseUrl }) => Layer.fresh(Sandbox.layerRemote(`${baseUrl}/`)))).pipe(
    Layer.provideMerge(socket(options))
  )

type Headers = Readonly<Record<string, string | undefined>>

/** A request. A text and bytes are sent as they are, and other bodies as JSON. A header that is `undefined` is not sent. */
export interface Asked {
  readonly method?: HttpMethod.HttpMethod
  readonly path: string
  readonly body?: unknown
  readonly headers?: Headers
}

export const auth = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "application/json" }

const bytesOf = (body: unknown) =>
  body instanceof Uint8Array ? body : new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body))

export const ask = Effect.fnUntraced(function* (asked: Asked) {
  const { body, method = body === undefined ? "GET" : "POST", path } = asked
  const { baseUrl } = yield* Sandbox
  const bare = HttpClientRequest.make(method)(`${baseUrl}${path}`)
  const headers: Headers = {
    ...auth,
    ...(body !== undefined && { "content-type": "application/json" }),
    ...asked.headers
  }
  let request = body === undefined ? bare : HttpClientRequest.bodyUint8Array(bare, bytesOf(body))
  for (const [name, value] of Object.entries(headers))
    request =
      value === undefined
        ? HttpClientRequest.removeHeader(request, name)
        : HttpClientRequest.setHeader(request, name, value)
  const response = yield* HttpClient.execute(request)
  const text = yield* response.text
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text)
    }
  }
})

export const charging = (changes: object = {}, headers: Headers = {}): Asked => ({
  path: createTransaction.path,
  body: { ...chargeBody, ...changes },
  headers
})
export const paying = (changes: object = {}, headers: Headers = {}): Asked => ({
  path: requestWithdrawal.path,
  body: { ...withdrawalBody, ...changes },
  headers
})
export const keyed = (key: string) => ({ "idempotency-key": key })

/** What the server answers to bytes of a client's own, until one of them closes the connection. */
export const speak = (bytes: string) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.callback<string, Error>((resume) => {
      const connection = connect(Number(new URL(baseUrl).port), "127.0.0.1")
      let said = ""
      connection.setEncoding("latin1")
      connection.on("data", (chunk: string) => (said += chunk))
      connection.on("error", (error) => resume(Effect.fail(error)))
      connection.on("close", () => resume(Effect.succeed(said)))
      connection.end(Buffer.from(bytes, "latin1"))
    })
  )

/** Sends a request whose target and headers are written as they are. A body makes it a POST of JSON. */
export const askRaw = Effect.fnUntraced(function* (
  target: string,
  { body, headers }: { readonly body?: unknown; readonly headers?: Headers } = {}
) {
  const sent = body === undefined ? "" : JSON.stringify(body)
  const type = sent === "" ? {} : { "content-type": "application/json", "content-length": `${sent.length}` }
  const lines = Object.entries({ host: "127.0.0.1", connection: "close", ...auth, ...type, ...headers })
  const method = sent === "" ? "GET" : "POST"
  const head = [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)]
  const answer = yield* speak(`${head.join("\r\n")}\r\n\r\n${sent}`)
  const start = answer.indexOf("\r\n\r\n") + 4
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]),
    body: Buffer.from(answer.slice(start), "latin1").toString()
  }
})
