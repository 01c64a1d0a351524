/**
 * The sandbox's own paths: the panel, the steering API and the contract's OpenAPI document. Their requests are not recorded and meet no fault,
 * and the pages load nothing from other hosts.
 */
import * as Effect from "effect/Effect"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"
import { PaymentsApi } from "../../contract/PaymentsApi.ts"
import { refusalOf } from "../internal/guard.ts"
import * as Refusal from "../internal/refusal.ts"
import type { Steered } from "../internal/functions.ts"
import { routes } from "../internal/routes.ts"

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8"
}

const others = /^\/(?:openapi\.json|_sandbox(?:\/.*)?|panel(?:\/.*)?|favicon\.ico)$/

/** Whether a path is the sandbox's own, and not the gateway's. */
export const isOwn = (path: string): boolean => path === "/" || others.test(path)

const policy = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const protect = (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setHeaders(response, {
    "content-security-policy": policy,
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    ...(response.headers["cache-control"] === undefined && { "cache-control": "no-cache" })
  })

/** The panel's files, read once, so that a request never names a path on the disk. */
const panel = HttpRouter.use((router) => {
  const folder = new URL("./panel/", import.meta.url)
  return Effect.forEach(
    Fs.readdirSync(folder),
    (file) => {
      const contentType = contentTypes[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream"
      const body = Fs.readFileSync(new URL(file, folder))
      return router.add(
        "GET",
        file === "index.html" ? "/" : `/panel/${file}`,
        HttpServerResponse.uint8Array(body, { contentType })
      )
    },
    { discard: true }
  )
})

const contract = HttpRouter.use((router) =>
  router.add(
    "GET",
    "/openapi.json",
    Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(PaymentsApi)))
  )
)

/** Answers the sandbox's own paths. */
export const makePages = Effect.fnUntraced(function* (steered: Steered, allowedHosts: ReadonlyArray<string>) {
  const app = yield* HttpRouter.toHttpEffect(Layer.mergeAll(panel, contract, routes(steered)))
  const answer = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers } = request
    const path = request.url.replace(/\?.*/s, "")
    const headersOfBrowser = { host: headers["host"], origin: headers["origin"], site: headers["sec-fetch-site"] }
    // A link on another site may open a page. Only the sandbox's own pages may call the steering API.
    const isPage = !path.startsWith("/_sandbox") && request.method === "GET"
    const problem = refusalOf(isPage ? { ...headersOfBrowser, site: undefined } : headersOfBrowser, allowedHosts)
    if (problem !== undefined) return protect(Refusal.toResponse(problem))
    return protect(yield* Effect.catchCause(Effect.scoped(app), Refusal.recover("o conteúdo")))
  })
  return { answer }
})
