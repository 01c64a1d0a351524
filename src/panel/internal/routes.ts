/**
 * The functions of the sandbox over HTTP, each under its own name: `POST /_sandbox/markPaid` takes a JSON object, and
 * `GET /_sandbox/transactions?status=Paid` takes a query. `GET /_sandbox/qrcode.svg` is a picture, and no function.
 */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as QrCode from "../../pix/QrCode.ts"
import { SandboxConflict, SandboxNotFound } from "../../sandbox/SandboxError.ts"
import * as Functions from "../../sandbox/SandboxFunctions.ts"
import * as Refusal from "../../sandbox/Refusal.ts"
import { maxBodyBytes } from "../../sandbox/SandboxRequest.ts"

const refuse = (message: string) => Effect.fail<Refusal.Refusal>({ status: 400, message })

/** The JSON of a body. No body is an empty object. */
const bodyOf = (request: HttpServerRequest.HttpServerRequest) =>
  request.text.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
    Effect.flatMap((text): Effect.Effect<unknown, unknown> =>
      text === "" ? Effect.succeed({}) : Effect.try(() => JSON.parse(text))
    ),
    Effect.filterOrFail((json): json is unknown => Predicate.isObject(json)),
    Effect.catch(() => refuse("The body is no JSON object, or over 1 MiB."))
  )

const queryOf = ({ url }: HttpServerRequest.HttpServerRequest) =>
  Effect.sync(() => Object.fromEntries(new URL(url, "http://localhost").searchParams))

const respond = (failure: Functions.Failure) =>
  "_tag" in failure
    ? HttpServerResponse.jsonUnsafe(
        { ...encode(failure), message: failure.message },
        { status: failure._tag === "SandboxNotFound" ? 404 : 409 }
      )
    : Refusal.toResponse(failure)

const encode = Schema.encodeSync(Schema.Union([SandboxNotFound, SandboxConflict]))

/** The picture of a charge's QR code. */
const picture = ({ gateway }: Functions.Steered) =>
  HttpRouter.use((router) =>
    router.add("GET", "/_sandbox/qrcode.svg", (request) =>
      Effect.map(queryOf(request), ({ transactionId = "" }) => {
        const qrcode = gateway.ledger().find(transactionId)?.qrcode
        return qrcode === undefined
          ? respond(new SandboxNotFound({ subject: "transaction", id: transactionId }))
          : HttpServerResponse.text(QrCode.svg(qrcode), { contentType: "image/svg+xml" })
      })
    )
  )

/** The routes of the functions. */
const functions = (steered: Functions.Steered) =>
  HttpRouter.use((router) =>
    Effect.forEach(
      Object.entries<Functions.Untyped>(Functions.functions),
      ([name, entry]) => {
        const decode = Schema.decodeUnknownEffect(entry.input, { onExcessProperty: "error" })
        const handle = (request: HttpServerRequest.HttpServerRequest) =>
          (entry.method === "GET" ? queryOf(request) : bodyOf(request)).pipe(
            Effect.flatMap((given) =>
              Effect.catchTag(decode(given), "SchemaError", ({ issue }) =>
                refuse(`${name}: ${Refusal.problemsOf(issue).join("; ")}.`)
              )
            ),
            Effect.flatMap((input) => Functions.run(entry, steered, input)),
            Effect.match({ onFailure: respond, onSuccess: (value) => HttpServerResponse.jsonUnsafe(value) })
          )
        return router.add(entry.method, `/_sandbox/${name}`, handle)
      },
      { discard: true }
    ).pipe(Effect.andThen(router.add("*", "/_sandbox/*", Refusal.toResponse(Refusal.noFunction))))
  )

/** The routes under `/_sandbox`. */
export const routes = (steered: Functions.Steered) => Layer.merge(picture(steered), functions(steered))
