import { assert, test } from "@effect/vitest"
import { Credentials, GatewayFacts, IdempotencyKeyGen } from "effect-pix"
import { Effect, Result, Schema } from "effect"
import { makeClient } from "../../src/client/internal/call/client.ts"
import { makeRoute, write } from "../../src/client/internal/call/prepare.ts"
import * as ClientTransport from "../../src/client/internal/transport/clientTransport.ts"
import type { Endpoint } from "../../src/contract/Endpoints.ts"
import { effect } from "../support/effect.ts"
import { credentials, respond, scripted } from "../support/Wire.ts"

/** An endpoint that the service does not have. Path and query are written from its entry alone. */
const refund: Endpoint = {
  operation: "requestWithdrawal",
  group: "money",
  method: "POST",
  keyPrefix: "wd",
  path: "/api/v1/transactions/:transactionId/refund/:part",
  status: 200,
  params: Schema.Struct({ transactionId: Schema.NonEmptyString, part: Schema.Natural }),
  query: Schema.Struct({ reason: Schema.optional(Schema.String), dry: Schema.optional(Schema.Boolean) }),
  response: Schema.Unknown
}

test("the URL of a request is the endpoint's path with each parameter as one segment, and the given query", () => {
  const place = makeRoute(refund).pathOf
  const written = place({ transactionId: "a/b?c", part: 2, reason: "ã & b=c", dry: undefined })
  const path = "/api/v1/transactions/a%2Fb%3Fc/refund/2?reason=%C3%A3%20%26%20b%3Dc"
  assert.deepStrictEqual(written, Result.succeed(path))
  assert.deepStrictEqual(place({ transactionId: "x", part: 0 }), Result.succeed("/api/v1/transactions/x/refund/0"))
  const refused = Result.getOrThrow(Result.flip(place({ transactionId: "", part: -1, reason: 5, other: 1 })))
  assert.sameMembers(
    refused.map(({ path }) => path),
    ["transactionId", "part", "reason", "other"]
  )
})

effect(
  "a write whose endpoint has no body is sent with its key, without a body and without a content type",
  function* () {
    const { layer, sent } = scripted(respond(200, {}))
    const client = yield* Effect.gen(function* () {
      return yield* makeClient({
        transport: yield* ClientTransport.make,
        credentials: yield* Credentials,
        keys: yield* IdempotencyKeyGen,
        baseUrl: new URL("https://gateway.example"),
        companyId: undefined,
        zone: undefined,
        facts: GatewayFacts.make()
      })
    }).pipe(Effect.provide([layer, credentials, IdempotencyKeyGen.layerSequential]))
    yield* write(client, makeRoute(refund), undefined, {
      input: { transactionId: "x", part: 0 },
      seenPaths: { id: [], value: [], status: [] },
      encode: () => Result.succeed({ text: undefined, sent: undefined }),
      accept: Result.succeed
    })
    assert.deepStrictEqual(
      sent.map(({ bytes, headers }) => [bytes, headers["idempotency-key"], headers["content-type"]]),
      [[undefined, "wd_1", undefined]]
    )
  }
)
