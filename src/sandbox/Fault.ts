/**
 * Faults between a client and the gateway, for `Sandbox.fault`. A fault is one plain record, which says what happens to one
 * request. It is the same in a test, over HTTP (`POST /_sandbox/fault`) and in a recorded request.
 *
 * Some faults leave it open whether the request is executed. Their option `executed` says so: with `true` the sandbox
 * executes the request (it pays, for a withdrawal) before it breaks the answer.
 *
 * A client sees the same in memory and over a socket, with one exception: over a socket the connection exists before its
 * request arrives, so `refuse` is a reset there. Use `Sandbox.offline` for a port that refuses.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Fault, Sandbox } from "effect-pix/sandbox"
 *
 * // The next withdrawal is paid, and its answer is lost.
 * const program = Effect.flatMap(Sandbox, (sandbox) => sandbox.fault("requestWithdrawal", Fault.resetAfter))
 *
 * const json = JSON.stringify(Fault.resetAfter) // => "{\"executed\":true,\"ending\":\"Reset\"}"
 * ```
 */
declare module "./Fault.ts" {}

import * as Duration from "effect/Duration"
import type { Fault } from "./PlannedFault.ts"

export type { Fault, FaultTarget, PlannedFault } from "./PlannedFault.ts"

interface Executed {
  /** Whether the request is executed before. */
  readonly executed?: boolean | undefined
}

const json = { "content-type": "application/json" }

/** No fault: a placeholder in a list of faults. */
export const none: Fault = { executed: true }

/**
 * The answer is late. The request is executed in any case, even if the client gave up before: after the wait, or before it
 * where `executed` is true. Default: after it.
 */
export const latency = (duration: Duration.Input, options?: Executed): Fault => ({
  executed: options?.executed ?? false,
  wait: Duration.toMillis(Duration.fromInputUnsafe(duration))
})

/**
 * The connection is refused (`ECONNREFUSED`): nothing arrives, nothing is recorded, and nothing can have been executed. Over
 * a socket the connection is reset instead, since the panel on the same port stays up.
 */
export const refuse: Fault = { executed: false, ending: "Refused" }

/** The connection is reset (`ECONNRESET`) before the request is executed. */
export const resetBefore: Fault = { executed: false, ending: "Reset" }

/** The request is executed, and the connection is reset (`ECONNRESET`) in place of an answer: commit, then drop. */
export const resetAfter: Fault = { executed: true, ending: "Reset" }

/** No byte of an answer is ever sent. Default: not executed. */
export const silence = (options?: Executed): Fault => ({ executed: options?.executed ?? false, ending: "Silence" })

/** The request is executed; half of the body is sent, and the connection is closed. */
export const truncated: Fault = { executed: true, ending: "Truncated" }

/**
 * Any answer: a status from 200 to 599, with any headers and body. Default: no headers, no body, not executed.
 */
export const answer = (
  status: number,
  options?: Executed & {
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body?: string | undefined
  }
): Fault => ({
  executed: options?.executed ?? false,
  answer: { status, headers: options?.headers ?? {}, body: options?.body ?? "" }
})

/** Any status with `{ message, status }` as the sandbox writes its own refusals. Default: not executed. */
export const refusal = (status: number, message: string, options?: Executed): Fault =>
  answer(status, { headers: json, body: JSON.stringify({ message, status }), executed: options?.executed })

/** A web page in place of JSON, as proxies answer. Default: 200, not executed. */
export const html = (status = 200, options?: Executed): Fault =>
  answer(status, {
    headers: { "content-type": "text/html; charset=utf-8" },
    body: "<!doctype html><html><head><title>Erro</title></head><body><h1>Serviço indisponível</h1></body></html>",
    executed: options?.executed
  })

/** No body. Default: 200, executed. */
export const empty = (status = 200, options?: Executed): Fault =>
  answer(status, { executed: options?.executed ?? true })

/** Too many requests: 429 with `Retry-After` in whole seconds, not executed. `status` may be another one, such as 503. */
export const retryAfter = (after: Duration.Input, options?: { readonly status?: number | undefined }): Fault => {
  const status = options?.status ?? 429
  const seconds = Math.ceil(Duration.toSeconds(Duration.fromInputUnsafe(after)))
  return answer(status, {
    headers: { ...json, "retry-after": `${seconds}` },
    body: JSON.stringify({ message: "Limite de requisições excedido.", status })
  })
}

/** A payout is refused, since another one was a moment ago. */
export const tooSoon: Fault = refusal(400, "Aguarde alguns segundos antes de solicitar outro saque.")

/** A payout is refused by the limit of the day. */
export const dailyLimit: Fault = refusal(422, "Limite diário de saque excedido para esta conta.")

/** A payout is refused by the limit of the night. */
export const nightLimit: Fault = refusal(422, "Limite noturno de transferências PIX excedido.")

/** A payout is refused, since too many PIX keys were looked up. */
export const keyLimit: Fault = refusal(400, "Limite de consultas de chave PIX excedido.")

/** A payout is refused, since the account is blocked. */
export const blocked: Fault = refusal(422, "Conta bloqueada para saques. Fale com o suporte.")

/** A payout is refused with 422 in words of your own, which no list knows: the call ends in `OutcomeUnknown`, and nothing is executed. */
export const ownWords = (message = "Recusado pela política da casa."): Fault => refusal(422, message)

/** A redirect, not executed. Default: 307, with which a client would send method, body and credentials again. */
export const redirect = (location: string, status = 307): Fault => answer(status, { headers: { location } })

/** The sandbox forgets the idempotency key of the request, and executes the request as if for the first time. */
export const forgetKey: Fault = { executed: true, forgetsKey: true }

/**
 * The payout of the request is refused with a record: the answer is 201 with `enTransaction: "Failure"`, and nothing is paid. It
 * was seen of the gateway (`docs/service.md`). A sandbox with `as: "seen"` gives the reason in `providerErrorDescription`.
 * `Sandbox.rejectWithdrawal` is the failure that comes later.
 */
export const failure = (reason = "Invalid Pix Entry"): Fault => ({ executed: true, failure: reason })

/** The code of the created charge is in `pix.brcode`, and `pix.qrcode` is null, as seen. */
export const brcode: Fault = { executed: true, code: "brcode" }

/** The code of the created charge is in `pix.qrcode`, and `pix.brcode` is null, as seen. */
export const qrcode: Fault = { executed: true, code: "qrcode" }

/** The times of the answer are Brasília's and have no offset, as seen. A time with an offset of its own stays true. */
export const localTimes: Fault = { executed: true, times: "Local" }

/** The times of the answer are Brasília's and end in a false `Z`, as seen. A time with an offset of its own stays true. */
export const falseZ: Fault = { executed: true, times: "FalseZ" }
