/**
 * Faults between a client and the gateway, for `Sandbox.fault`. Each value says what happens to one request.
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
 * ```
 */
declare module "./Fault.ts" {}

import type * as Duration from "effect/Duration"
import type { Operation } from "../contract/PaymentsError.ts"

interface Executed {
  readonly executed: boolean
}

/** A fault of one request. The values and functions of this module make it. */
export type Fault =
  | { readonly _tag: "None" }
  | { readonly _tag: "Refuse" }
  | ({ readonly _tag: "Latency"; readonly duration: Duration.Input } & Executed)
  | ({ readonly _tag: "Broken"; readonly how: "Reset" | "HungUp" } & Executed)
  | ({ readonly _tag: "Silence"; readonly headers: boolean } & Executed)
  | { readonly _tag: "Drip"; readonly every: Duration.Input }
  | { readonly _tag: "Truncate"; readonly how: "Reset" | "HungUp" }
  | ({
      readonly _tag: "Answer"
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string | Uint8Array
    } & Executed)
  | {
      readonly _tag: "RetryAfter"
      readonly status: number
      readonly after: Duration.Input
      readonly form: "seconds" | "date"
    }
  | { readonly _tag: "Oversize"; readonly blanks: number; readonly gzip: boolean }
  | { readonly _tag: "ForgetKey" }
  | { readonly _tag: "OtherKey"; readonly key: string }

/** An operation, or any of them. */
export type FaultTarget = Operation | "any"

/** A planned fault, for requests that have not arrived yet. */
export interface PlannedFault {
  /** The operation of its requests. */
  readonly operation: FaultTarget
  /** The fault that they meet. */
  readonly fault: Fault
  /** How many more requests meet it. */
  readonly left: number
}

/** No fault: a placeholder in a list of faults. */
export const none: Fault = { _tag: "None" }

/**
 * The answer is late. The request is executed in any case, even if the client gave up before: after the wait, or before it
 * where `executed` is true. Default: after it.
 */
export const latency = (duration: Duration.Input, options?: { readonly executed?: boolean | undefined }): Fault => ({
  _tag: "Latency",
  duration,
  executed: options?.executed ?? false
})

/**
 * The connection is refused (`ECONNREFUSED`): nothing arrives, nothing is recorded, and nothing can have been executed. Over
 * a socket the connection is reset instead, since the panel on the same port stays up.
 */
export const refuse: Fault = { _tag: "Refuse" }

/** The connection is reset (`ECONNRESET`) before the request is executed. */
export const resetBefore: Fault = { _tag: "Broken", how: "Reset", executed: false }

/** The request is executed, and the connection is reset (`ECONNRESET`) in place of an answer: commit, then drop. */
export const resetAfter: Fault = { _tag: "Broken", how: "Reset", executed: true }

/** The connection is closed in good order, without an answer, before the request is executed. */
export const hangUpBefore: Fault = { _tag: "Broken", how: "HungUp", executed: false }

/** The request is executed, and the connection is closed in good order without an answer. */
export const hangUpAfter: Fault = { _tag: "Broken", how: "HungUp", executed: true }

/** No byte of an answer is ever sent. Default: not executed. */
export const silence = (options?: { readonly executed?: boolean | undefined }): Fault => ({
  _tag: "Silence",
  headers: false,
  executed: options?.executed ?? false
})

/** The request is executed; status and headers are sent, and no byte of the body. */
export const headersThenSilence: Fault = { _tag: "Silence", headers: true, executed: true }

/** The request is executed, and its answer is sent byte by byte. Default: one a second. */
export const drip = (every: Duration.Input = "1 second"): Fault => ({ _tag: "Drip", every })

/** The request is executed; half of the body is sent, and the connection is closed. */
export const truncated: Fault = { _tag: "Truncate", how: "HungUp" }

/** The request is executed; half of the body is sent, and the connection is reset. */
export const truncatedByReset: Fault = { _tag: "Truncate", how: "Reset" }

/**
 * Any answer: a status from 200 to 599, with any headers and body. Default: no headers, no body, not executed.
 */
export const answer = (
  status: number,
  options?: {
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body?: string | Uint8Array | undefined
    readonly executed?: boolean | undefined
  }
): Fault => ({
  _tag: "Answer",
  status,
  headers: options?.headers ?? {},
  body: options?.body ?? "",
  executed: options?.executed ?? false
})

/** Any status with `{ message, status }` as the sandbox writes its own refusals. Default: not executed. */
export const refusal = (
  status: number,
  message: string,
  options?: { readonly executed?: boolean | undefined }
): Fault =>
  answer(status, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, status }),
    executed: options?.executed
  })

/** A web page in place of JSON, as proxies answer. Default: 200, not executed. */
export const html = (status = 200, options?: { readonly executed?: boolean | undefined }): Fault =>
  answer(status, {
    headers: { "content-type": "text/html; charset=utf-8" },
    body: "<!doctype html><html><head><title>Erro</title></head><body><h1>Serviço indisponível</h1></body></html>",
    executed: options?.executed
  })

/** No body. Default: 200, executed. */
export const empty = (status = 200, options?: { readonly executed?: boolean | undefined }): Fault =>
  answer(status, { executed: options?.executed ?? true })

/** A body that is not JSON, with the content type of JSON. Default: 200, executed. */
export const malformed = (status = 200, options?: { readonly executed?: boolean | undefined }): Fault =>
  answer(status, {
    headers: { "content-type": "application/json" },
    body: '{"data":{"id":',
    executed: options?.executed ?? true
  })

/**
 * Too many requests: 429 with `Retry-After`, not executed. `form` is the form of the header: whole seconds, or an HTTP
 * date. `status` may be another one, such as 503. Defaults: `seconds`, 429.
 */
export const retryAfter = (
  after: Duration.Input,
  options?: { readonly form?: "seconds" | "date" | undefined; readonly status?: number | undefined }
): Fault => ({ _tag: "RetryAfter", status: options?.status ?? 429, after, form: options?.form ?? "seconds" })

/** A redirect, not executed. Default: 307, with which a client would send method, body and credentials again. */
export const redirect = (location: string, status = 307): Fault => answer(status, { headers: { location } })

/** The request is executed, and its answer follows after that many bytes of blanks. Default: 64 MiB. */
export const oversize = (blanks = 64 * 1024 * 1024): Fault => ({ _tag: "Oversize", blanks, gzip: false })

/** As `oversize`, compressed on the wire to about a thousandth of it. */
export const gzipBomb = (blanks = 64 * 1024 * 1024): Fault => ({ _tag: "Oversize", blanks, gzip: true })

/** The sandbox forgets the idempotency key of the request, and executes the request as if for the first time. */
export const forgetKey: Fault = { _tag: "ForgetKey" }

/** The request is executed, and the withdrawal's record echoes another idempotency key. */
export const otherKey = (key = "wd_another"): Fault => ({ _tag: "OtherKey", key })
