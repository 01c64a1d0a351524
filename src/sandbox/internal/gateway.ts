/**
 * What happens to a request, whatever it came by: it is recorded, meets its fault, and is answered by the contract. The
 * transports (`memory.ts`, `server.ts`) turn the `Reply` into what their client sees.
 *
 * Time is the `Clock` of the caller in memory, and that of the layer over a socket.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { ApiCredentials } from "../../client/Credentials.ts"
import * as Endpoints from "../../contract/Endpoints.ts"
import type { Operation } from "../../contract/PaymentsError.ts"
import * as Fault from "../Fault.ts"
import { Exchange, layer as handlers } from "./handlers.ts"
import * as Ledger from "./ledger.ts"
import * as Refusal from "./refusal.ts"
import { play, type Reply } from "./reply.ts"
import { match, record, type RecordedRequest } from "./requests.ts"
import type { Settings } from "../SandboxOptions.ts"
import * as Webhooks from "./webhooks.ts"

/** An operation, or any of them. */
export type FaultTarget = Operation | "any"

interface Planned {
  readonly fault: Fault.Fault
  left: number
}

/** A request that breaks the contract. An answer that does is a mistake in the sandbox's settings, and stays a defect. */
const refuseInvalid = (defect: unknown) =>
  HttpApiError.HttpApiSchemaError.is(defect) && defect.kind !== "Body"
    ? Effect.succeed(Refusal.toResponse(Refusal.invalid(defect)))
    : Effect.die(defect)

export const make = Effect.fnUntraced(function* (settings: Settings) {
  const scope = yield* Effect.scope
  const webhooks = yield* Webhooks.make(settings)
  // Built in a context of its own, so that requests are handled in that of their caller: its clock above all.
  const isolated: (context: Context.Context<never>) => Context.Context<Scope.Scope> = () =>
    Context.make(Scope.Scope, scope)
  const route = yield* HttpRouter.toHttpEffect(Layer.provide(handlers(settings), HttpServer.layerServices)).pipe(
    Effect.updateContext(isolated)
  )

  const makeState = () => {
    const requests: Array<RecordedRequest> = []
    const credentials: ApiCredentials = { clientId: settings.clientId, apiKey: settings.apiKey }
    return {
      ledger: Ledger.make(settings, webhooks),
      requests,
      credentials,
      faults: new Map<FaultTarget, Array<Planned>>()
    }
  }
  let state = makeState()
  let rotations = 0
  let offline = 0

  const nextFault = (operation: Operation | undefined): Fault.Fault => {
    for (const target of operation === undefined ? (["any"] as const) : [operation, "any" as const]) {
      const planned = state.faults.get(target)
      const first = planned?.[0]
      if (planned !== undefined && first !== undefined) {
        first.left -= 1
        if (first.left <= 0) planned.shift()
        return first.fault
      }
    }
    return Fault.none
  }

  const isAuthentic = ({ headers }: HttpServerRequest.HttpServerRequest) =>
    headers[Endpoints.headerNames.clientId] === state.credentials.clientId &&
    headers[Endpoints.headerNames.apiKey] === Redacted.value(state.credentials.apiKey)

  const execute = (request: HttpServerRequest.HttpServerRequest, recorded: RecordedRequest) =>
    Effect.suspend(() => {
      if (!isAuthentic(request)) return Effect.succeed(Refusal.toResponse(Refusal.unauthorized))
      if (recorded.operation === undefined) return Effect.succeed(Refusal.toResponse(Refusal.routeNotFound))
      return Effect.flatMap(DateTime.now, (now) =>
        route.pipe(
          Effect.map((response) =>
            response.status === 415 ? Refusal.toResponse(Refusal.unsupportedMediaType) : response
          ),
          Effect.catchDefect(refuseInvalid),
          Effect.orDie,
          Effect.scoped,
          Effect.provideService(HttpServerRequest.HttpServerRequest, request),
          Effect.provideService(Exchange, {
            ledger: state.ledger,
            now,
            write: { key: recorded.idempotencyKey, body: Redacted.value(recorded.json) }
          })
        )
      )
    }).pipe(Effect.ensuring(webhooks.flush), Effect.uninterruptible)

  return {
    webhooks,

    /** What becomes of a request that arrived at `url`. */
    receive: (request: HttpServerRequest.HttpServerRequest, url: URL): Effect.Effect<Reply> =>
      Effect.gen(function* () {
        const matched = match(request.method, url.pathname)
        const routed = matched === undefined ? request : request.modify({ url: `${matched.path}${url.search}` })
        // A request whose body broke off has not arrived.
        const text = yield* Effect.orDie(routed.text)
        const now = yield* DateTime.now
        const fault = nextFault(matched?.operation)
        const recorded = record(request, url, text, now, matched?.operation, fault)
        state.requests.push(recorded)
        return yield* play(fault, {
          execute: execute(routed, recorded),
          forgetKey: Effect.sync(() => {
            if (recorded.idempotencyKey !== undefined) state.ledger.forget(recorded.idempotencyKey)
          }),
          // What a gateway has begun it finishes, whether or not its client still waits.
          detach: (effect) => Effect.flatMap(Effect.forkIn(effect, scope), Fiber.join)
        })
      }),

    /** Whether a connection would be refused now: the port is closed, or the next fault of the request says so. */
    refuses: (method: string, url: URL): boolean => {
      if (offline > 0) return true
      const operation = match(method, url.pathname)?.operation
      const target = operation !== undefined && (state.faults.get(operation)?.length ?? 0) > 0 ? operation : "any"
      if (state.faults.get(target)?.[0]?.fault._tag !== "Refuse") return false
      nextFault(operation)
      return true
    },

    /** Closes the gateway's door for as long as the effect runs. */
    offline: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => (offline += 1)),
        () => effect,
        () => Effect.sync(() => (offline -= 1))
      ),

    ledger: () => state.ledger,
    requests: (): ReadonlyArray<RecordedRequest> => [...state.requests],
    credentials: () => state.credentials,

    rotate: (): ApiCredentials => {
      rotations += 1
      const apiKey = Redacted.make(`${Redacted.value(settings.apiKey)}-${rotations}`)
      state.credentials = { clientId: settings.clientId, apiKey }
      return state.credentials
    },

    plan: (target: FaultTarget, faults: ReadonlyArray<Fault.Fault>, times: number) => {
      const planned = state.faults.get(target) ?? []
      planned.push(...faults.map((fault) => ({ fault, left: times })))
      state.faults.set(target, planned)
    },

    clearFaults: () => state.faults.clear(),

    reset: Effect.suspend(() => {
      state = makeState()
      return webhooks.reset
    })
  }
})

/** See `make`. */
export type Gateway = Effect.Success<ReturnType<typeof make>>
