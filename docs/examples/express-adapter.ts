import type { IncomingMessage, ServerResponse } from "node:http"

/** Node's own request, and what Express adds to it: `ip` follows its "trust proxy" setting. */
interface ExpressRequest extends IncomingMessage {
  readonly originalUrl?: string | undefined
  readonly ip?: string | undefined
}

type WebHandler = (request: Request, info: { readonly remoteAddress?: string | undefined }) => Promise<Response>

/** Reads as far as the handler asks, and leaves the connection up for the answer. */
const bodyOf = (req: IncomingMessage) => {
  const chunks = req.iterator({ destroyOnReturn: false })
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await chunks.next()
    if (done === true) controller.close()
    else controller.enqueue(value)
  }
  return new ReadableStream({ pull, cancel: () => void chunks.return?.() }, { highWaterMark: 0 })
}

const toWeb = (req: ExpressRequest, signal: AbortSignal) => {
  const { method = "GET" } = req
  const headers = Object.entries(req.headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value])
  )
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(req)
  const init: RequestInit & { readonly duplex: "half" } = { method, headers, body, signal, duplex: "half" }
  return new Request(`http://localhost${req.originalUrl ?? req.url}`, init)
}

/** A web handler whose answers have no body, for Express or node:http. No body parser may come before it. */
export const toExpress =
  (handler: WebHandler) =>
  async (req: ExpressRequest, res: ServerResponse, next?: (error: unknown) => void): Promise<void> => {
    const gone = new AbortController()
    res.once("close", () => gone.abort())
    try {
      const info = { remoteAddress: req.ip ?? req.socket.remoteAddress }
      const { headers, status } = await handler(toWeb(req, gone.signal), info)
      res.writeHead(status, Object.fromEntries(headers)).end()
    } catch (error) {
      // The layer could not be built, or the server is about to end: for Express to log and to answer.
      if (next === undefined) res.writeHead(503).end()
      else next(error)
    }
    req.resume()
  }
