/** By which names a sandbox is reached, and to which it sends. */
import { assert, describe } from "@effect/vitest"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { request as httpRequest } from "node:http"
import { live } from "../support/effect.ts"

const served = (options: SandboxOptions = {}) =>
  Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, options))

const auth = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "application/json" }

/** The status of a request that says another host. */
const statusOf = (path: string, host: string) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.callback<number, Error>((resume) => {
      const request = httpRequest(`${baseUrl}${path}`, { headers: { ...auth, host } }, (response) => {
        response.resume()
        resume(Effect.succeed(response.statusCode ?? 0))
      })
      request.on("error", (error) => resume(Effect.fail(error)))
      request.end()
    })
  )

const paths = ["/", "/_sandbox/overview", "/api/Transaction/company/transactions"]

describe("a host name", () => {
  live(
    "a host name that is not the machine's own is refused on every path, also the gateway's",
    served(),
    function* () {
      const statuses = yield* Effect.forEach(paths, (path) => statusOf(path, "evil.example"))
      assert.deepStrictEqual(statuses, [403, 403, 403])
      assert.deepStrictEqual(yield* (yield* Sandbox).requests, [])
    }
  )

  live(
    "a host name that the options allow is taken on every path and in any case, and webhooks may be sent to it",
    served({ allowHost: "SANDBOX" }),
    function* () {
      const statuses = yield* Effect.forEach(paths, (path) => statusOf(path, "Sandbox:4010"))
      assert.deepStrictEqual(statuses, [200, 200, 200])
      yield* (yield* Sandbox).subscribe("http://sandbox:3000/hook")
    }
  )
})
