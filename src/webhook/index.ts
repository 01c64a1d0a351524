/**
 * Calls of the service, taken as hints, recorded and confirmed.
 */
export { type CallInfo, Webhook, type WebhookOptions, type WebhookSqlOptions } from "./Webhook.ts"
export * as WebhookEvent from "./WebhookEvent.ts"
export * as WebhookHint from "./WebhookHint.ts"
export * as WebhookVerifier from "./WebhookVerifier.ts"
