/**
 * The gateway's double: in memory for tests, on a loopback port for a laptop.
 */
export * as Fault from "./Fault.ts"
export type { FaultTarget } from "./internal/gateway.ts"
export type { SandboxTransaction, SandboxWithdrawal } from "./internal/ledger.ts"
export type { RecordedRequest } from "./internal/requests.ts"
export { Sandbox } from "./Sandbox.ts"
export { SandboxConflict, SandboxNotFound } from "./SandboxError.ts"
export { SandboxOptions } from "./SandboxOptions.ts"
export type { SandboxWebhook, WebhookTarget } from "./internal/webhooks.ts"
