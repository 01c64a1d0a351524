/**
 * Webhooks: deliveries of the service, taken as hints and confirmed by a lookup.
 */
export type { DatabaseError } from "../durable/Database.ts"
export * as NodeWebhook from "./NodeWebhook.ts"
export { Webhook, WebhookClient } from "./Webhook.ts"
export * as WebhookEvent from "./WebhookEvent.ts"
export * as WebhookHint from "./WebhookHint.ts"
export type {
  DeadLetterOptions,
  DeliveryInfo,
  DeliveryText,
  WebhookClientOptions,
  WebhookOptions,
  WebhookSqlOptions
} from "./WebhookOptions.ts"
export * as WebhookVerifier from "./WebhookVerifier.ts"
