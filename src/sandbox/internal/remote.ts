/**
 * The service of a sandbox in another process, over HTTP.
 */
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { SandboxConflict, SandboxNotFound, SandboxUnreachable } from "../SandboxError.ts"
import { type Call, functions, type Name, type Untyped } from "../SandboxFunctions.ts"
import { type SandboxService, serviceOf } from "../SandboxService.ts"

const Failure = Schema.Union([SandboxNotFound, SandboxConflict, Schema.Struct({ message: Schema.String })])

const ask = (
  url: string,
  name: Name,
  input: unknown
): Effect.Effect<unknown, SandboxNotFound | SandboxConflict | SandboxUnreachable> => {
  const entry: Untyped = functions[name]
  const unreachable = (problem: string) => new SandboxUnreachable({ url, problem })
  return Effect.gen(function* () {
    const client = HttpClient.withScope(yield* HttpClient.HttpClient)
    // What a function takes is an object: the compiler has checked the caller's.
    const sent = Object(yield* Effect.orDie(Schema.encodeUnknownEffect(entry.input)(input)))
    const path = `${url}/_sandbox/${name}`
    const request =
      entry.method === "GET"
        ? HttpClientRequest.get(path, { urlParams: sent })
        : HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(path), sent)
    const response = yield* Effect.mapError(client.execute(request), () => unreachable("does not answer"))
    const { status } = response
    const isDone = status === 200
    const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(isDone ? entry.output : Failure))
    const answer = yield* Effect.mapError(Effect.flatMap(response.json, decode), () =>
      unreachable(`answered ${name} with ${status}, and not as a sandbox of this version does`)
    )
    if (isDone) return answer
    if (answer instanceof SandboxNotFound || answer instanceof SandboxConflict) return yield* answer
    const message = Predicate.hasProperty(answer, "message") ? String(answer.message) : ""
    if (status !== 400) return yield* unreachable(`answered ${name} with ${status}: ${message}`)
    return yield* Effect.die(new Error(`Sandbox.${name}: ${message}`))
  }).pipe(
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(HttpClient.TracerPropagationEnabled, false),
    Effect.provideService(HttpClient.TracerDisabledWhen, constTrue)
  )
}

/** How often a stream of changes asks for them. */
const often = Schedule.spaced("250 millis")

/** The service of the sandbox at an address. It fails if none answers there; after that, one that is gone is a defect. */
export const serviceAt = Effect.fnUntraced(function* (
  address: string | URL
): Effect.fn.Return<SandboxService, SandboxUnreachable> {
  const url = String(address).replace(/\/$/, "")
  const call = ((name: Name, input: unknown) =>
    Effect.catchTag(ask(url, name, input), "SandboxUnreachable", (error) => Effect.die(error))) as Call // as `callOf`
  const { companyId } = yield* Effect.catchDefect(call("overview", {}), (defect) =>
    defect instanceof SandboxUnreachable ? Effect.fail(defect) : Effect.die(defect)
  )
  return serviceOf(call, {
    baseUrl: url,
    companyId,
    subscribe: (target) =>
      Predicate.isFunction(target)
        ? Effect.die(new Error("Sandbox.subscribe: a sandbox in another process takes an address only."))
        : Effect.asVoid(call("subscribe", { url: String(target) })),
    changes: Stream.unwrap(
      Effect.map(call("overview", {}), ({ sequence }) => {
        let since = sequence
        const next = Effect.map(
          Effect.suspend(() => call("changes", { since, limit: 1000 })),
          ({ changes, sequence }) => {
            since = sequence
            return changes
          }
        )
        return Stream.flattenIterable(Stream.fromEffectSchedule(next, often))
      })
    )
  })
})
