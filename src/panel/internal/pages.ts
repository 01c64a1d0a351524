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
import * as Fs from "node:fs"
import { PaymentsApi } from "../../contract/PaymentsApi.ts"
import type { Steered } from "../../sandbox/SandboxFunctions.ts"
import { refusalOf } from "./guard.ts"
import * as Refusal from "../../sandbox/Refusal.ts"
import { routes } from "./routes.ts"

const others = /^\/(?:openapi\.json|_sandbox(?:\/.*)?|panel(?:\/.*)?|favicon\.ico)$/

/** Whether a path is the sandbox's own, and not the gateway's. */
export const isOwn = (path: string): boolean => path === "/" || others.test(path)

const policy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const protect = (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setHeaders(response, {
    "content-security-policy": policy,
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache"
  })

const folder = new URL("./assets/", import.meta.url)
/** The kinds of files that are not `text/` and their ending. */
const kinds: Record<string, string> = { js: "text/javascript", json: "application/json", svg: "image/svg+xml" }
const own = Fs.readdirSync(folder).map((name) => [name, new URL(name, folder)] as const)
// The build puts a copy of Preact beside the page's own files.
const isCopied = own.some(([name]) => name === "preact.js")
const assets = isCopied ? own : [...own, ["preact.js", new URL(import.meta.resolve("htm/preact/standalone"))] as const]

/** The files of the page, read once, so that a request never names a path on the disk. */
const files = HttpRouter.use((router) =>
  Effect.forEach(assets, ([name, file]) => {
    const ending = name.replace(/^.*\./, "")
    const contentType = `${kinds[ending] ?? `text/${ending}`}; charset=utf-8`
    const answer = HttpServerResponse.uint8Array(Fs.readFileSync(file), { contentType })
    return router.add("GET", name === "index.html" ? "/" : `/panel/${name}`, answer)
  })
)

const contract = HttpRouter.add("GET", "/openapi.json", () =>
  Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(PaymentsApi)))
)

/** Answers the sandbox's own paths. */
export const makePages = Effect.fnUntraced(function* (steered: Steered, allowedHosts: ReadonlyArray<string>) {
  const app = yield* HttpRouter.toHttpEffect(Layer.mergeAll(files, contract, routes(steered)))
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
