/**
 * What can go wrong between a client and the gateway, for `Sandbox.fault`. Each value says what happens to one request.
 *
 * Where a fault leaves it open whether the request is executed, `executed` says so: with `true` the sandbox does all
 * that was asked (it pays, for a withdrawal) before it breaks the answer.
 *
 * What each looks like to a client is the same in memory and over a socket, with one exception: over a socket a request
 * that arrived cannot be refused any more. There `refuse` is `reset`; use `Sandbox.offline` for a port that refuses.
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

/** What happens to one request. Made by the values and functions of this module. */
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

/** A fault that waits for its requests. */
export interface PlannedFault {
  /** Which requests it is for. */
  readonly operation: FaultTarget
  /** What happens to them. */
  readonly fault: Fault
  /** How many requests it is still to meet. */
  readonly left: number
}

/** Nothing goes wrong: a place holder in a script. */
export const none: Fault = { _tag: "None" }

/**
 * The answer comes late. The request is executed in any case, even if the client gave up meanwhile: after the wait, or
 * before it where `executed` is true. Default: after it.
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

/** No byte of an answer ever comes. Default: not executed. */
export const silence = (options?: { readonly executed?: boolean | undefined }): Fault => ({
  _tag: "Silence",
  headers: false,
  executed: options?.executed ?? false
})

/** The request is executed; status and headers come, and no body ever. */
export const headersThenSilence: Fault = { _tag: "Silence", headers: true, executed: true }

/** The request is executed, and its answer comes byte by byte. Default: one a second. */
export const drip = (every: Duration.Input = "1 second"): Fault => ({ _tag: "Drip", every })

/** The request is executed; half of the body comes, and the connection is closed. */
export const truncated: Fault = { _tag: "Truncate", how: "HungUp" }

/** The request is executed; half of the body comes, and the connection is reset. */
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

/** A web page where JSON was due, as proxies answer. Default: 200, not executed. */
export const html = (status = 200, options?: { readonly executed?: boolean | undefined }): Fault =>
  answer(status, {
    headers: { "content-type": "text/html; charset=utf-8" },
    body: "<!doctype html><html><head><title>Erro</title></head><body><h1>Serviço indisponível</h1></body></html>",
    executed: options?.executed
  })

/** No body. Default: 200, executed. */
export const empty = (status = 200, options?: { readonly executed?: boolean | undefined }): Fault =>
  answer(status, { executed: options?.executed ?? true })

/** Something that is not JSON, said to be JSON. Default: 200, executed. */
export const malformed = (status = 200, options?: { readonly executed?: boolean | undefined }): Fault =>
  answer(status, {
    headers: { "content-type": "application/json" },
    body: '{"data":{"id":',
    executed: options?.executed ?? true
  })

/**
 * Too many requests: 429 with `Retry-After`, not executed. `form` is how the header says it: whole seconds, or an HTTP
 * date. `status` may be another, as 503. Defaults: `seconds`, 429.
 */
export const retryAfter = (
  after: Duration.Input,
  options?: { readonly form?: "seconds" | "date" | undefined; readonly status?: number | undefined }
): Fault => ({ _tag: "RetryAfter", status: options?.status ?? 429, after, form: options?.form ?? "seconds" })

/** A redirect, not executed. Default: 307, which would carry method, body and credentials along. */
export const redirect = (location: string, status = 307): Fault => answer(status, { headers: { location } })

/** The request is executed, and its answer follows after that many bytes of blanks. Default: 64 MiB. */
export const oversize = (blanks = 64 * 1024 * 1024): Fault => ({ _tag: "Oversize", blanks, gzip: false })

/** As `oversize`, compressed on the wire to about a thousandth of it. */
export const gzipBomb = (blanks = 64 * 1024 * 1024): Fault => ({ _tag: "Oversize", blanks, gzip: true })

/** The sandbox forgets what was done under the request's idempotency key, and executes it as if for the first time. */
export const forgetKey: Fault = { _tag: "ForgetKey" }

/** The request is executed, and the withdrawal's record echoes another idempotency key. */
export const otherKey = (key = "wd_another"): Fault => ({ _tag: "OtherKey", key })
