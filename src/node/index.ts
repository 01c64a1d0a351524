/**
 * For Node only: a fast, hardened transport, the embedded database, and a webhook's listener for Express and `node:http`.
 */
export * as NodePayments from "./NodePayments.ts"
export * as NodeSqlite from "./NodeSqlite.ts"
export * as NodeWebhook from "./NodeWebhook.ts"
