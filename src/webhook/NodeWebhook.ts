/**
 * A webhook on a server: `layerServe` for one of Effect's, and `toListener` for Express, Nest and `node:http`, whose requests are
 * Node's own and no web `Request`.
 *
 * Details of `toListener`:
 * - The body is read as far as the handler reads it, and the connection stays open for the answer.
 * - The whole path reaches the handler, also where a router is mounted below a prefix.
 * - The address that a verifier gets is Express's `req.ip` (see its setting "trust proxy"), or the connection's own.
 *
 * Gotchas:
 * - Add it before any body parser: a delivery whose body was read already fails and is not answered.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Sandbox } from "effect-pix/sandbox"
 * import { NodeWebhook, Webhook } from "effect-pix/webhook"
 * import { createServer } from "node:http"
 *
 * const layer = Webhook.layer({ onPaid: ({ id }) => Effect.log(id) })
 * const webhook = Webhook.toWebHandler(Layer.provide(layer, Sandbox.layerPayments)) // Payments.layerFetch
 *
 * // Express: app.all("/webhooks/pix", NodeWebhook.toListener(webhook.handler)), before app.use(express.json())
 * const server = createServer(NodeWebhook.toListener(webhook.handler))
 * await webhook.dispose()
 * ```
 */
declare module "./NodeWebhook.ts" {}

import * as Effect from "effect/Effect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { settingError } from "../contract/ConfigurationError.ts"

/** What is used of Node's own request, and what Express adds to it. It is written out, so that workers need no types of Node. */
export interface ListenerRequest {
  /** The HTTP method. Default GET. */
  readonly method?: string | undefined
  /** The path and the query; below the prefix of a router only what follows it. */
  readonly url?: string | undefined
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The connection, with the address of its other end. */
  readonly socket: { readonly remoteAddress?: string | undefined }
  /** Whether a body parser has read the body already. */
  readonly readableDidRead: boolean
  /** Reads the body piece by piece. */
  readonly iterator: (options: { readonly destroyOnReturn: boolean }) => AsyncIterator<Uint8Array>
  /** Reads the rest of the body and drops it, so that the connection can be used again. */
  readonly resume: () => unknown
  /** The whole path, where `url` is what follows the prefix of a router. */
  readonly originalUrl?: string | undefined
  /** The caller's address by Express's setting "trust proxy". */
  readonly ip?: string | undefined
}

/** What is used of Node's own response. */
export interface ListenerResponse {
  /** Calls the listener when the connection or the answer is closed. */
  readonly once: (event: "close", listener: () => void) => unknown
  /** Writes the status and the headers; `end` then ends the answer. */
  readonly writeHead: (status: number, headers?: Record<string, string>) => { readonly end: () => unknown }
}

/** Answers a web `Request`, with an answer that has no body: the `handler` of `Webhook.toWebHandler`. */
export type WebHandler = (request: Request, info: { readonly remoteAddress?: string | undefined }) => Promise<Response>

/** A listener of `node:http`, which is a handler of Express too. */
export type Listener = (req: ListenerRequest, res: ListenerResponse, next?: (error: unknown) => void) => Promise<void>

const bodyOf = (req: ListenerRequest) => {
  const chunks = req.iterator({ destroyOnReturn: false })
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    chunks.next().then(({ done, value }) => (done === true ? controller.close() : controller.enqueue(value)))
  return new ReadableStream({ pull, cancel: () => void chunks.return?.() }, { highWaterMark: 0 })
}

const toWeb = (req: ListenerRequest, signal: AbortSignal) => {
  const { method = "GET" } = req
  const headers = Object.entries(req.headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value])
  )
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(req)
  const init: RequestInit & { readonly duplex: "half" } = { method, headers, body, signal, duplex: "half" }
  // The error of an address that cannot be read would hold it, and with it a secret in its path.
  const address = `http://localhost${req.originalUrl ?? req.url}`
  return new Request(URL.canParse(address) ? address : "http://localhost/", init)
}

/**
 * The listener of a web handler. A handler that rejects (its layer could not be built, or the server is about to end) and a
 * body that was read before are errors for Express, by `next`. Without Express they are answered with 503.
 */
export const toListener =
  (handler: WebHandler): Listener =>
  (req, res, report) => {
    const gone = new AbortController()
    res.once("close", () => gone.abort())
    const answer = () => {
      if (req.readableDidRead) {
        throw settingError(
          "NodeWebhook.toListener",
          "comes after a body parser, which has read the delivery: put it first"
        )
      }
      return handler(toWeb(req, gone.signal), { remoteAddress: req.ip ?? req.socket.remoteAddress })
    }
    return Promise.resolve()
      .then(answer)
      .then(({ headers, status }) => res.writeHead(status, Object.fromEntries(headers)).end())
      .catch((error: unknown) => (report === undefined ? res.writeHead(503).end() : report(error)))
      .then(() => void req.resume())
  }

/**
 * Serves routes as `HttpRouter.serve` does, on a server that begins to listen when all of them can answer: the server is built
 * after the routes and everything that they need, in whatever order that is provided, and is closed before it. Until then a
 * connection is refused, so that its sender tries again. The server is any of Effect's, as `NodeHttpServer.layer(...)`.
 */
export const layerServe = <A, E, R, A2, E2, R2>(
  routes: Layer.Layer<A, E, R>,
  server: Layer.Layer<A2 | HttpServer.HttpServer, E2, R2>
) =>
  Layer.unwrap(
    Effect.map(HttpRouter.toHttpEffect(routes), (answer) =>
      HttpServer.serve(answer, HttpMiddleware.logger).pipe(HttpServer.withLogAddress, Layer.provideMerge(server))
    )
  )
