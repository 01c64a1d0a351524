/**
 * Receives a request from any transport: records it, plays its fault, and answers it by the contract. The transports
 * (`memory.ts`, and `server.ts` of `src/panel`) turn the `Reply` into an answer for their client.
 *
 * The clock is that of the caller in memory, and that of the layer over a socket. `advance` pushes it forward for the
 * sandbox alone.
 */
declare module "./Gateway.ts" {}

import * as ByteSize from "effect/ByteSize"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { ApiCredentials } from "../client/Credentials.ts"
import type { Fault } from "./PlannedFault.ts"
import type { Settings } from "./SandboxOptions.ts"
import { maxBodyBytes, type SandboxRequest } from "./SandboxRequest.ts"
import { type Changes, makeChanges } from "./internal/changes.ts"
import { makeExecute } from "./internal/execute.ts"
import type { Concerns } from "./internal/handlers.ts"
import * as Ledger from "./internal/ledger.ts"
import { logWait } from "./internal/patiently.ts"
import { isRefusal, makePlan } from "./internal/plan.ts"
import { makeRecent, type Recent } from "./internal/recent.ts"
import { faultOf, type Met, play, type Reply, rewrite } from "./Reply.ts"
import * as Refusal from "./Refusal.ts"
import { answerOf, match, record } from "./internal/requests.ts"
import type { SandboxState, StoredLedger } from "./SandboxState.ts"
import * as Webhooks from "./internal/webhooks.ts"

/** The text of the body, or its refusal. A body that broke off is no request. */
const read = (request: HttpServerRequest.HttpServerRequest) =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
    Effect.map((buffer) =>
      buffer.byteLength > maxBodyBytes
        ? Result.fail(Refusal.tooLarge)
        : Result.try({
            try: () => new TextDecoder("utf-8", { fatal: true }).decode(buffer),
            catch: () => Refusal.notUtf8
          })
    ),
    Effect.catch((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? Effect.succeed(Result.fail(Refusal.tooLarge))
        : Effect.die(error)
    )
  )

/** Whether an answer is late, or never comes. */
const isLate = (fault: Fault | undefined) => fault?.wait !== undefined || fault?.ending === "Silence"

/** What a gateway is in, until it starts over or is restored. */
interface State {
  readonly ledger: Ledger.Ledger
  readonly requests: Recent<SandboxRequest>
  readonly plan: ReturnType<typeof makePlan>
  readonly isSeen: boolean
  credentials: ApiCredentials
}

/** The parts of a gateway that answer a request. */
interface Parts {
  readonly scope: Scope.Scope
  readonly changes: Changes
  readonly execute: Effect.Success<ReturnType<typeof makeExecute>>
  readonly now: Effect.Effect<DateTime.Utc>
  readonly webhooks: Effect.Success<ReturnType<typeof Webhooks.make>>
  readonly state: () => State
}

const receive = Effect.fnUntraced(function* (
  { changes, execute, now, scope, state, webhooks }: Parts,
  request: HttpServerRequest.HttpServerRequest,
  url: URL,
  own: Met | undefined
): Effect.fn.Return<Reply> {
  const here = state()
  const matched = match(request.method, url.pathname, here.isSeen)
  const operation = matched.endpoint?.operation
  const routed = operation === undefined ? request : request.modify({ url: `${matched.path}${url.search}` })
  const text = yield* read(routed)
  const body = Result.getOrElse(text, () => "")
  const met = own ?? here.plan.next(operation)
  const fault = faultOf(met)
  const arrivedAt = yield* now
  const recorded = here.requests.add(
    (id) => record({ id, request, url, body, now: arrivedAt, operation, fault }),
    body.length
  )
  const { id, idempotencyKey } = recorded
  const write = { operation, key: idempotencyKey }
  const concerns: Concerns = {}
  changes.publish({ _tag: "Request", request: recorded })
  if (isLate(fault)) yield* logWait
  const reply = yield* play(met, {
    execute: Effect.flatMap(now, (utc) => {
      const { credentials, ledger } = state()
      ledger.lapse(utc)
      const failure = fault?.failure
      return execute({ request: routed, matched, text, write, concerns, failure, credentials, ledger, now: utc })
    }).pipe(
      Effect.flatMap((response) => rewrite(response, fault)),
      Effect.ensuring(webhooks.flush),
      Effect.uninterruptible
    ),
    forgetKey: Effect.sync(() => state().ledger.forgetKey(write)),
    // A gateway finishes a request that it has begun, also if its client no longer waits.
    detach: (effect) => Effect.flatMap(Effect.forkIn(effect, scope), Fiber.join)
  })
  const answered: SandboxRequest = {
    ...recorded,
    ...concerns,
    ...(reply._tag !== "Broken" && { ...answerOf(reply.response), answeredAt: DateTime.formatIso(yield* now) })
  }
  here.requests.replace(id, answered)
  changes.publish({ _tag: "Request", request: answered })
  return reply
})

export const make = Effect.fnUntraced(function* (settings: Settings) {
  const scope = yield* Effect.scope
  const changes = yield* makeChanges
  const execute = yield* makeExecute(settings)
  let ahead = 0
  let rotations = 0
  let states = 0
  let isOffline = false
  let isSeen = settings.as === "seen"

  const now = Effect.map(DateTime.now, (utc) => (ahead === 0 ? utc : DateTime.addDuration(utc, ahead)))
  const webhooks = yield* Webhooks.make(settings, now, changes, () => isSeen)

  const observer: Ledger.Observer = {
    noteTransaction: (transaction, isNew) => {
      changes.publish({ _tag: "Transaction", transaction })
      if (!isNew) webhooks.addTransaction(transaction)
    },
    noteWithdrawal: (withdrawal, isNew) => {
      changes.publish({ _tag: "Withdrawal", withdrawal })
      webhooks.addWithdrawal(withdrawal, isNew)
    }
  }
  /** Changes a setting, and publishes that. */
  const set = <A>(change: () => A): Effect.Effect<A> =>
    Effect.sync(() => {
      const result = change()
      changes.publish({ _tag: "Settings" })
      return result
    })

  const credentialsOf = (turn: number): ApiCredentials => ({
    clientId: settings.clientId,
    apiKey: turn === 0 ? settings.apiKey : Redacted.make(`${Redacted.value(settings.apiKey)}-${turn}`)
  })
  /** Without a seed of the user's, no id is made twice: each ledger has a seed of its own. */
  const seedOf = () => (settings.isSeeded ? settings.seed : `${settings.seed}/${states}`)
  const makeState = (stored?: StoredLedger): State => ({
    ledger: Ledger.make(settings, observer, { seed: seedOf(), isSeen, stored }),
    requests: makeRecent<SandboxRequest>(settings.keep),
    credentials: credentialsOf(rotations),
    plan: makePlan(),
    isSeen
  })
  let state = makeState()
  const parts: Parts = { scope, changes, execute, now, webhooks, state: () => state }

  return {
    settings,
    changes,
    webhooks,
    now,

    /** The reply to a request that arrived at `url`. Its own fault is used before the planned faults. */
    receive: (request: HttpServerRequest.HttpServerRequest, url: URL, own?: Met): Effect.Effect<Reply> =>
      receive(parts, request, url, own),

    /** Whether a connection would be refused now: the sandbox is offline, or the next fault refuses it. */
    refuses: (method: string, url: URL, own?: Met): boolean =>
      isOffline ||
      (own === undefined
        ? state.plan.refuses(match(method, url.pathname, isSeen).endpoint?.operation)
        : isRefusal(own)),

    isOffline: () => isOffline,
    /** Breaks or refuses every connection until it is called with `false`. */
    setOffline: (out: boolean) =>
      set(() => {
        isOffline = out
      }),
    ahead: () => ahead,
    isSeen: () => isSeen,

    ledger: () => state.ledger,
    plan: () => state.plan,
    requests: () => state.requests.all(),
    credentials: () => state.credentials,

    rotate: set((): ApiCredentials => {
      rotations += 1
      return (state.credentials = credentialsOf(rotations))
    }),
    set,

    /** Pushes the clock: charges lapse and webhooks are sent again as if the time had passed. */
    advance: (duration: Duration.Input) =>
      Effect.suspend(() => {
        ahead += Math.max(0, Duration.toMillis(Duration.fromInputUnsafe(duration)))
        return Effect.flatMap(now, (utc) => {
          state.ledger.lapse(utc)
          changes.publish({ _tag: "Settings" })
          return webhooks.onClockPushed
        })
      }),

    snapshot: (): SandboxState => ({
      version: 2,
      ahead,
      rotations,
      ...(isSeen && { as: "seen" }),
      ledger: state.ledger.snapshot(),
      ...webhooks.snapshot()
    }),

    restore: (stored: SandboxState) =>
      Effect.suspend(() => {
        ahead = stored.ahead
        rotations = stored.rotations
        isSeen = (settings.as ?? stored.as) === "seen"
        state = makeState(stored.ledger)
        changes.publish({ _tag: "Reset" })
        return webhooks.restore(stored)
      }),

    reset: Effect.suspend(() => {
      states += 1
      ahead = 0
      rotations = 0
      isOffline = false
      state = makeState()
      changes.publish({ _tag: "Reset" })
      return webhooks.reset
    })
  }
})

/** See `make`. */
export type Gateway = Effect.Success<ReturnType<typeof make>>
