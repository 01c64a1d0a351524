/**
 * A webhook of the sandbox: its target, its body, and how each attempt ended.
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Timestamp } from "../internal/wire.ts"

/** A target of webhooks: a loopback address, or a handler in this process, such as `Webhook.answer` or any web handler. */
export type WebhookTarget = string | URL | ((request: Request) => Promise<Response> | Effect.Effect<Response, unknown>)

/** An attempt that has ended. */
export const WebhookAttempt = Schema.Struct({
  at: Timestamp,
  /** How long it took, in milliseconds. */
  millis: Schema.Finite,
  /** The status of the answer; `undefined` without an answer. */
  status: Schema.optional(Schema.Int),
  /** Why there is no answer. */
  error: Schema.optional(Schema.String),
  /** The first kilobyte of the answer. */
  answer: Schema.String
})
/** See the schema of the same name. */
export interface WebhookAttempt extends Schema.Schema.Type<typeof WebhookAttempt> {}

/** One webhook to one target. */
export const SandboxWebhook = Schema.Struct({
  /** Its number, from 1. */
  id: Schema.Int,
  /** The address, or `handler` for a handler in this process. */
  target: Schema.String,
  /** `Pending`: under way, or waiting for its next attempt. `Taken`: a 2xx answered it. `GivenUp`: no attempt was answered by a 2xx. */
  state: Schema.Literals(["Pending", "Taken", "GivenUp"]),
  createdAt: Timestamp,
  attempts: Schema.Array(WebhookAttempt),
  /** When the next attempt is sent. */
  nextAttemptAt: Schema.optional(Timestamp),
  /** The body, as sent at every attempt. */
  json: Schema.RedactedFromValue(Schema.Json, { label: "json" })
})
/** See the schema of the same name. */
export interface SandboxWebhook extends Schema.Schema.Type<typeof SandboxWebhook> {}
