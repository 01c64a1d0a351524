/**
 * The sandbox's own paths: its page, its functions and the contract's OpenAPI document. Their requests are not recorded and
 * meet no fault, and the page loads nothing from other hosts.
 */
import * as Effect from "effect/Effect"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { randomUUID } from "node:crypto"
import * as Fs from "node:fs"
import { PaymentsApi } from "../../contract/PaymentsApi.ts"
import { callOf, type Steered } from "../../sandbox/SandboxFunctions.ts"
import { refusalOf } from "./guard.ts"
import * as Refusal from "../../sandbox/Refusal.ts"
import { routes } from "./routes.ts"
import { faultOf, FaultOrder } from "./page/faults.ts"
import { pageOf } from "./page/page.ts"
import { viewOf } from "./page/view.ts"

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

const folder = new URL("./assets/", import.meta.url)
// The build puts a copy beside the page's own files.
const copied = new URL("idiomorph.js", folder)
const idiomorph = Fs.existsSync(copied) ? copied : new URL(import.meta.resolve("idiomorph/dist/idiomorph.esm.js"))

/** The files of the page, read once, so that a request never names a path on the disk. */
const files = HttpRouter.use((router) => {
  const add = (name: string, file: URL, kind: "css" | "javascript") =>
    router.add(
      "GET",
      `/panel/${name}`,
      HttpServerResponse.uint8Array(Fs.readFileSync(file), { contentType: `text/${kind}; charset=utf-8` })
    )
  return Effect.all([
    add("panel.css", new URL("panel.css", folder), "css"),
    add("panel.js", new URL("panel.js", folder), "javascript"),
    add("idiomorph.js", idiomorph, "javascript")
  ])
})

/** The page of a view, and its form of a fault. A browser that has the version that there is gets 304. */
const page = (steered: Steered) =>
  HttpRouter.use((router) => {
    const call = callOf(steered)
    const { changes, now } = steered.gateway
    // A version is one of this process: another one may have the same number of changes.
    const started = randomUUID()
    const show = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      // The relative times of a page are right for a while.
      const age = Math.floor((yield* now).epochMilliseconds / 15_000)
      const etag = `"${started}.${changes.sequence()}.${age}"`
      if (headers["if-none-match"] === etag) return HttpServerResponse.empty({ status: 304 })
      const view = viewOf(new URLSearchParams(url.replace(/^[^?]*/, "")), headers)
      const contentType = "text/html; charset=utf-8"
      return HttpServerResponse.text(yield* pageOf(call, view), { contentType, headers: { etag } })
    })
    const plan = HttpServerRequest.schemaBodyJson(FaultOrder).pipe(
      Effect.flatMap((order) =>
        call("fault", { operation: order.operation, times: order.times, fault: faultOf(order) })
      ),
      Effect.match({
        onFailure: ({ message }) => Refusal.toResponse({ status: 400, message }),
        onSuccess: (done) => HttpServerResponse.jsonUnsafe(done)
      })
    )
    return Effect.all([router.add("GET", "/", show), router.add("POST", "/panel/fault", plan)])
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
  const app = yield* HttpRouter.toHttpEffect(Layer.mergeAll(files, page(steered), contract, routes(steered)))
  const answer = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers } = request
    const path = request.url.replace(/\?.*/s, "")
    const headersOfBrowser = { host: headers["host"], origin: headers["origin"], site: headers["sec-fetch-site"] }
    // A link on another site may open a page. Only the sandbox's own page may call the functions.
    const isPage = !path.startsWith("/_sandbox") && request.method === "GET"
    const problem = refusalOf(isPage ? { ...headersOfBrowser, site: undefined } : headersOfBrowser, allowedHosts)
    if (problem !== undefined) return protect(Refusal.toResponse(problem.own ?? problem))
    return protect(yield* Effect.catchCause(Effect.scoped(app), Refusal.recover("o conteúdo")))
  })
  return { answer }
})
