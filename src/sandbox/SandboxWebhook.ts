/**
 * A webhook of the sandbox: its target, its body, and how each attempt ended.
 */
declare module "./SandboxWebhook.ts" {}

import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The seconds before each repetition. */
export const waits = [1, 5, 25, 125, 625]

/** A target of webhooks: a loopback address, or a handler in this process, such as `Webhook.answer` or any web handler. */
export type WebhookTarget = string | URL | ((request: Request) => Promise<Response> | Effect.Effect<Response, unknown>)

/** An attempt that has ended. */
export const WebhookAttempt = Schema.Struct({
  at: Schema.String,
  /** How long it took, in milliseconds. */
  millis: Schema.Finite,
  /** The status of the answer; absent without an answer. */
  status: Schema.optional(Schema.Int),
  /** Why there is no answer. */
  error: Schema.optional(Schema.String),
  /** The first kilobyte of the answer. */
  answer: Schema.String
})
/** See the schema of the same name. */
export interface WebhookAttempt extends Schema.Schema.Type<typeof WebhookAttempt> {}

/** One webhook to one target. Instants are ISO text. */
export const SandboxWebhook = Schema.Struct({
  /** Its number, from 1. */
  id: Schema.Int,
  /** The address, or `handler` for a handler in this process. */
  target: Schema.String,
  /** `Pending`: under way, or waiting for its next attempt. `Taken`: a 2xx answered it. `GivenUp`: no attempt was answered by a 2xx. */
  state: Schema.Literals(["Pending", "Taken", "GivenUp"]),
  createdAt: Schema.String,
  attempts: Schema.Array(WebhookAttempt),
  /** When the next attempt is sent. */
  nextAttemptAt: Schema.optional(Schema.String),
  /** The header `x-webhook-event-id`, the same for each target and attempt; absent where a sandbox answers as documented. */
  eventId: Schema.optional(Schema.String),
  /** Whether the target is the `postbackUrl` of the charge, whose path may be a secret. */
  isPostback: Schema.optional(Schema.Boolean),
  /** The body, as sent at every attempt. */
  json: Schema.Json,
  /** The charge that it is about. */
  transactionId: Schema.optional(Schema.String),
  /** The payout that it is about. */
  withdrawalId: Schema.optional(Schema.Int)
})
/** See the schema of the same name. */
export interface SandboxWebhook extends Schema.Schema.Type<typeof SandboxWebhook> {}
