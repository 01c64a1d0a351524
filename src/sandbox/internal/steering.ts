/**
 * The handlers of the steering API: they call the sandbox.
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Sse from "effect/encoding/Sse"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Operation } from "../../contract/PaymentsError.ts"
import * as PixKey from "../../pix/PixKey.ts"
import * as QrCode from "../../pix/QrCode.ts"
import type { Sandbox } from "../Sandbox.ts"
import { SandboxApi } from "../SandboxApi.ts"
import type { SandboxTransaction } from "../SandboxLedger.ts"
import { SandboxChange } from "../SandboxChange.ts"
import { SandboxNotFound } from "../SandboxError.ts"
import type { Gateway } from "./gateway.ts"
import { nameOf, toFault } from "./faultOrder.ts"
import * as Refusal from "./refusal.ts"
import { newest, showRequest, statusOf, textOfCharge, textOfRequest, textOfWebhook, textOfWithdrawal } from "./lists.ts"

/** The sandbox that is steered, and its gateway. */
export interface Steered {
  readonly sandbox: Sandbox["Service"]
  readonly gateway: Gateway
}

const done = { done: true } as const
const unkeyed = { operation: undefined, key: undefined, content: undefined }

/** Every refusal of the steering API is a 400, as its document says. */
const refuse = ({ message }: Refusal.Refusal) => Effect.fail({ message, status: 400 })

const transactions = ({ gateway, sandbox }: Steered) => {
  const find = (id: string): Effect.Effect<SandboxTransaction, SandboxNotFound> =>
    Effect.flatMap(gateway.now, (now) => {
      const charge = gateway.ledger().find(id, now)
      return charge === undefined
        ? Effect.fail(new SandboxNotFound({ subject: "transaction", id }))
        : Effect.succeed(gateway.ledger().showCharge(charge))
    })
  return HttpApiBuilder.group(SandboxApi, "transactions", (handlers) =>
    handlers.handleAll({
      transactions: ({ query }) =>
        Effect.map(gateway.now, (now) => {
          const ledger = gateway.ledger()
          return newest(ledger.charges(now), query, { textOf: textOfCharge, statusOf, show: ledger.showCharge })
        }),
      charge: ({ payload }) =>
        Effect.flatMap(gateway.now, (now) => {
          const customer = { name: payload.name ?? "Maria Silva", email: "maria@example.com" }
          const request = { amount: payload.amount, currency: "BRL", paymentMethod: "PIX", customer } as const
          return Result.match(gateway.ledger().create(request, unkeyed, now), {
            onFailure: refuse,
            onSuccess: (charge) => Effect.succeed(gateway.ledger().showCharge(charge))
          })
        }),
      transaction: ({ params }) => find(params.transactionId),
      qrcode: ({ params }) =>
        Effect.flatMap(find(params.transactionId), ({ qrcode }) =>
          qrcode === undefined
            ? Effect.fail(new SandboxNotFound({ subject: "transaction", id: params.transactionId }))
            : Effect.succeed(QrCode.svg(qrcode))
        ),
      pay: ({ params }) => sandbox.markPaid(params.transactionId),
      cancel: ({ params }) => sandbox.cancel(params.transactionId),
      expire: ({ params }) => sandbox.expire(params.transactionId),
      fail: ({ params }) => sandbox.fail(params.transactionId),
      refund: ({ params }) => sandbox.refund(params.transactionId)
    })
  )
}

const withdrawals = ({ sandbox }: Steered) =>
  HttpApiBuilder.group(SandboxApi, "withdrawals", (handlers) =>
    handlers.handleAll({
      withdrawals: ({ query }) =>
        Effect.map(sandbox.withdrawals, (all) =>
          newest(all, query, { textOf: textOfWithdrawal, statusOf, show: identity })
        ),
      settle: ({ params }) => sandbox.settleWithdrawal(params.id),
      reject: ({ params }) => sandbox.rejectWithdrawal(params.id)
    })
  )

const company = ({ sandbox }: Steered) =>
  HttpApiBuilder.group(SandboxApi, "company", (handlers) =>
    handlers.handleAll({
      credit: ({ payload }) =>
        sandbox.credit(payload.amount).pipe(
          Effect.map((balance) => ({ balance })),
          Effect.catchDefect(() => refuse(Refusal.overCredit))
        ),
      setPixKey: ({ payload }) =>
        Result.match(PixKey.make(payload.pixKeyType, payload.pixKey), {
          onFailure: () => refuse(Refusal.notRegistrable),
          onSuccess: (key) => Effect.as(sandbox.setPixKey(key), done)
        }),
      removePixKey: () => Effect.as(sandbox.removePixKey, done),
      rotate: () =>
        Effect.map(sandbox.rotateCredentials, ({ apiKey, clientId }) => ({ clientId, apiKey: Redacted.value(apiKey) }))
    })
  )

const requests = ({ sandbox }: Steered) =>
  HttpApiBuilder.group(SandboxApi, "requests", (handlers) =>
    handlers.handleAll({
      requests: ({ query }) =>
        Effect.map(sandbox.requests, (all) =>
          newest(all, query, { textOf: textOfRequest, statusOf: ({ status }) => `${status ?? 0}`, show: showRequest })
        )
    })
  )

const webhooks = ({ gateway, sandbox }: Steered) =>
  HttpApiBuilder.group(SandboxApi, "webhooks", (handlers) =>
    handlers.handleAll({
      webhooks: ({ query }) =>
        Effect.map(sandbox.webhooks, (all) =>
          newest(all, query, { textOf: textOfWebhook, statusOf: ({ state }) => state, show: identity })
        ),
      send: ({ payload }) => Effect.as(sandbox.sendWebhook(payload), done),
      resend: ({ params }) => Effect.as(sandbox.resendWebhook(params.id), done),
      subscribe: ({ payload }) =>
        sandbox.subscribe(payload.url).pipe(
          Effect.as(done),
          Effect.catchDefect(() => refuse(Refusal.notTarget))
        ),
      unsubscribe: ({ query }) =>
        Effect.as(
          gateway.set(() => gateway.webhooks.unsubscribe(query.url)),
          done
        )
    })
  )

const shownFaults = ({ sandbox }: Steered) =>
  Effect.map(sandbox.faults, (planned) =>
    planned.map(({ fault, left, operation }) => ({
      operation,
      fault: nameOf(fault),
      left: Math.min(left, Number.MAX_SAFE_INTEGER)
    }))
  )

const faults = (steered: Steered) =>
  HttpApiBuilder.group(SandboxApi, "faults", (handlers) => {
    const { gateway, sandbox } = steered
    return handlers.handleAll({
      faults: () => shownFaults(steered),
      plan: ({ payload }) =>
        Effect.as(sandbox.fault(payload.operation ?? "any", toFault(payload), { times: payload.times }), done),
      clearFaults: () => Effect.as(sandbox.clearFaults, done),
      offline: ({ payload }) =>
        Effect.as(
          gateway.set(() => gateway.setOffline(payload.offline)),
          done
        ),
      forgetKeys: () => Effect.as(sandbox.forgetKeys, done)
    })
  })

/** The changes as server-sent events. The first event has the last number. A comment every 15 seconds keeps the connection open. */
const events = ({ changes }: Gateway) => {
  const encode = Schema.encodeUnknownSync(Schema.toCodecJson(SandboxChange))
  const alive = Stream.map(Stream.fromSchedule(Schedule.spaced("15 seconds")), () => ": alive\n\n")
  const text = Effect.map(changes.subscribe, (changed) => {
    const last = `${changes.sequence()}`
    return changed.pipe(
      Stream.map((change) =>
        Sse.encoder.write({
          _tag: "Event",
          event: "message",
          id: `${change.sequence}`,
          data: JSON.stringify(encode(change))
        })
      ),
      Stream.merge(alive),
      Stream.prepend([Sse.encoder.write({ _tag: "Event", event: "ready", id: last, data: last })])
    )
  })
  return HttpServerResponse.stream(Stream.encodeText(Stream.unwrap(text)), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store" }
  })
}

const whole = (steered: Steered) =>
  HttpApiBuilder.group(SandboxApi, "sandbox", (handlers) => {
    const { gateway, sandbox } = steered
    return handlers.handleAll({
      overview: () =>
        Effect.gen(function* () {
          const now = yield* gateway.now
          const ledger = gateway.ledger()
          const pixKey = ledger.pixKey()
          return {
            baseUrl: sandbox.baseUrl,
            companyId: sandbox.companyId,
            clientId: gateway.credentials().clientId,
            balance: ledger.balance(),
            awaited: ledger.awaited(now),
            ...(pixKey !== undefined && { pixKey }),
            now,
            aheadSeconds: gateway.ahead() / 1000,
            offline: gateway.isOffline(),
            faults: yield* shownFaults(steered),
            targets: gateway.webhooks.targets(),
            operations: Operation.literals,
            isKept: gateway.settings.stateFile !== undefined,
            sequence: gateway.changes.sequence()
          }
        }),
      changes: () => Effect.sync(() => events(gateway)),
      advance: ({ payload }) =>
        Effect.gen(function* () {
          yield* sandbox.advance(`${payload.seconds} seconds`)
          return { now: yield* gateway.now }
        }),
      snapshot: () => sandbox.snapshot,
      restore: ({ payload }) => Effect.as(sandbox.restore(payload), done),
      reset: () => Effect.as(sandbox.reset, done)
    })
  })

/** The steering API with its handlers, for a router. */
export const layer = (steered: Steered) =>
  Layer.provide(HttpApiBuilder.layer(SandboxApi, { openapiPath: "/_sandbox/openapi.json" }), [
    whole(steered),
    transactions(steered),
    withdrawals(steered),
    company(steered),
    requests(steered),
    webhooks(steered),
    faults(steered)
  ])
