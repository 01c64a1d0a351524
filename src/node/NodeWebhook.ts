/**
 * A webhook for Express, Nest and `node:http`, whose requests are Node's own and no web `Request`.
 *
 * Details:
 * - The body is read as far as the handler reads it, and the connection stays open for the answer.
 * - The whole path reaches the handler, also where a router is mounted below a prefix.
 * - The address that an `ipAllowList` compares is Express's `req.ip` (see its setting "trust proxy"), or the connection's own.
 *
 * Gotchas:
 * - Add it before any body parser: a delivery whose body was read already fails and is not answered.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { NodeWebhook } from "effect-pix/node"
 * import { Sandbox } from "effect-pix/sandbox"
 * import { Webhook } from "effect-pix/webhook"
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

import type { IncomingMessage, ServerResponse } from "node:http"
import { settingError } from "../contract/ConfigurationError.ts"

/** Node's own request, and what Express adds to it. */
export interface ListenerRequest extends IncomingMessage {
  /** The whole path, where `url` is what follows the prefix of a router. */
  readonly originalUrl?: string | undefined
  /** The caller's address by Express's setting "trust proxy". */
  readonly ip?: string | undefined
}

/** Answers a web `Request`, with an answer that has no body: the `handler` of `Webhook.toWebHandler`. */
export type WebHandler = (request: Request, info: { readonly remoteAddress?: string | undefined }) => Promise<Response>

/** A listener of `node:http`, which is a handler of Express too. */
export type Listener = (req: ListenerRequest, res: ServerResponse, next?: (error: unknown) => void) => Promise<void>

const bodyOf = (req: IncomingMessage) => {
  const chunks = req.iterator({ destroyOnReturn: false })
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await chunks.next()
    if (done === true) controller.close()
    else controller.enqueue(value)
  }
  return new ReadableStream({ pull, cancel: () => void chunks.return?.() }, { highWaterMark: 0 })
}

const toWeb = (req: ListenerRequest, signal: AbortSignal) => {
  const { method = "GET" } = req
  const headers = Object.entries(req.headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value])
  )
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(req)
  const init: RequestInit & { readonly duplex: "half" } = { method, headers, body, signal, duplex: "half" }
  return new Request(`http://localhost${req.originalUrl ?? req.url}`, init)
}

/**
 * The listener of a web handler. A handler that rejects (its layer could not be built, or the server is about to end) and a
 * body that was read before are errors for Express, by `next`. Without Express they are answered with 503.
 */
export const toListener =
  (handler: WebHandler): Listener =>
  async (req, res, next) => {
    const gone = new AbortController()
    res.once("close", () => gone.abort())
    try {
      if (req.readableDidRead) {
        throw settingError(
          "NodeWebhook.toListener",
          "comes after a body parser, which has read the delivery: put it first"
        )
      }
      const info = { remoteAddress: req.ip ?? req.socket.remoteAddress }
      const { headers, status } = await handler(toWeb(req, gone.signal), info)
      res.writeHead(status, Object.fromEntries(headers)).end()
    } catch (error) {
      if (next === undefined) res.writeHead(503).end()
      else next(error)
    }
    req.resume()
  }
