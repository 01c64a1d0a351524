import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, Result, Schedule, Schema } from "effect"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { calls, type OperationCall } from "../support/operations.ts"
import { runs } from "../support/seed.ts"

type Transport = (request: HttpClientRequest.HttpClientRequest) => ReturnType<HttpClient.HttpClient["execute"]>

const clientOf = (transport: Transport) =>
  Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
    Layer.provide([
      Layer.succeed(HttpClient.HttpClient, HttpClient.make(transport)),
      Credentials.layer({ clientId: "client", apiKey: Redacted.make("secret") }),
      IdempotencyKeyGen.layerSequential
    ])
  )

const quiet = Logger.layer([])
const attempts = 3

const policy = PaymentsPolicy.make({
  attemptTimeout: "40 millis",
  retryReads: Schedule.recurs(attempts - 1),
  retryWrites: Schedule.recurs(attempts - 1),
  maxRetryAfter: 0,
  maxResponseBytes: 10_000,
  retryBudget: "unlimited"
})

/**
 * Runs a call over a transport. The test fails if the result is neither a value nor a typed error, or if the call
 * hangs.
 */
const outcomeOf = (call: OperationCall, transport: Transport) =>
  Effect.result(call.run).pipe(
    Effect.provide([clientOf(transport), quiet]),
    Effect.provideService(PaymentsPolicy, policy),
    Effect.timeoutOrElse({ duration: "4 minutes", orElse: () => Effect.die(new Error(`${call.operation} hangs`)) })
  )

const Answer = Schema.Struct({
  status: Schema.Union([
    Schema.Literals([200, 201, 204, 302, 303, 400, 401, 404, 408, 409, 422, 425, 429, 500, 503]),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))
  ]),
  body: Schema.Union([
    Schema.TaggedStruct("Bytes", {
      bytes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
    }),
    Schema.TaggedStruct("Json", { json: Schema.Json }),
    Schema.TaggedStruct("Words", { words: Schema.String }),
    // A good answer, with some of its bytes overwritten.
    Schema.TaggedStruct("Edited", {
      at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 250 })),
      text: Schema.String.check(Schema.isMaxLength(8))
    }),
    Schema.TaggedStruct("Long", {})
  ]),
  ending: Schema.Literals(["end", "stop", "finish", "close", "error", "throw", "nonsense", "stall"]),
  headers: Schema.Struct({
    "retry-after": Schema.optionalKey(Schema.Literals(["0", "1", "99999999999999999999", "soon", "-1", "1e400"])),
    "content-type": Schema.optionalKey(Schema.Literals(["application/json", "text/html", "application/problem+json"])),
    "content-length": Schema.optionalKey(Schema.Literals(["0", "7", "20000", "999999999999999999999", "x"])),
    "content-encoding": Schema.optionalKey(Schema.Literals(["gzip", "br", "x"])),
    location: Schema.optionalKey(Schema.Literals(["https://elsewhere.example/", "//", "javascript:0"]))
  })
})
type Answer = typeof Answer.Type

const bytesOf = ({ body }: Answer, call: OperationCall): Uint8Array<ArrayBuffer> => {
  const utf8 = new TextEncoder()
  switch (body._tag) {
    case "Bytes":
      return Uint8Array.from(body.bytes)
    case "Json":
      return utf8.encode(JSON.stringify(body.json))
    case "Words":
      return utf8.encode(JSON.stringify({ message: body.words }))
    case "Edited":
      return utf8.encode(call.answer.slice(0, body.at) + body.text + call.answer.slice(body.at + body.text.length))
    case "Long":
      return new Uint8Array(20_000).fill(0x20)
  }
}

const respond = (answer: Answer, call: OperationCall): Response => {
  const stream = new ReadableStream<unknown>({
    start: (controller) => {
      controller.enqueue(bytesOf(answer, call))
      if (answer.ending === "error") controller.error(new TypeError("terminated"))
      else if (answer.ending === "nonsense") controller.enqueue("no bytes")
      else if (answer.ending !== "stall" && answer.ending !== "throw") controller.close()
    },
    pull: () => {
      if (answer.ending === "throw") throw undefined
    }
  })
  // The constructor of `Response` refuses some statuses that a server may send.
  return Object.defineProperty(
    new Response(stream as ReadableStream<Uint8Array>, { headers: answer.headers }),
    "status",
    {
      value: answer.status
    }
  )
}

/**
 * Whether a write with this status may have been executed, by the status alone: after a success, a failure of the
 * service, a timeout of a proxy, a redirect to the result, or a status that HTTP does not define. Every other status is
 * a refusal: only its words, or a 409, may mean that an earlier request was executed.
 */
const mayBeExecuted = (status: number) => status < 300 || status === 303 || status === 408 || status >= 500

describe("any answer", () => {
  it.live.prop(
    "any answer gives a value or a typed error in time, and no write that may have been executed is reported as refused",
    [Schema.Array(Answer).check(Schema.isMinLength(1), Schema.isMaxLength(attempts))],
    ([answers]) =>
      Effect.forEach(
        calls,
        (call) =>
          Effect.gen(function* () {
            let sent = 0
            const result = yield* outcomeOf(call, (request) =>
              Effect.sync(() => {
                const answer = answers[Math.min(sent, answers.length - 1)] ?? assert.fail("no answers")
                sent++
                return HttpClientResponse.fromWeb(request, respond(answer, call))
              })
            )
            assert.isTrue(sent >= 1 && sent <= attempts, `${sent} requests`)
            if (Result.isSuccess(result)) return
            const { failure } = result
            const met = Array.from(
              { length: sent },
              (_, index) => answers[Math.min(index, answers.length - 1)]?.status ?? 0
            )
            if (!call.isWrite) assert.include(["NoEffect", "Rejected"], failure.outcome)
            else if (met.some(mayBeExecuted))
              assert.strictEqual(failure.outcome, "Unknown", `${String(failure)} after ${met.join()}`)
            else assert.include(["Rejected", "Unknown"], failure.outcome, `${String(failure)} after ${met.join()}`)
            // The error can be printed: no part of it throws.
            assert.isString(String(failure) + JSON.stringify(failure))
          }),
        { concurrency: "unbounded", discard: true }
      ),
    { arbitrary: { runs: runs(60, 300) } }
  )
})
