/**
 * For Node only: a fast, hardened transport, and the embedded database.
 */
export * as NodePayments from "./NodePayments.ts"
export * as NodeSqlite from "./NodeSqlite.ts"
