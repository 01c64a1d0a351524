/**
 * What needs Node: a fast, hardened transport.
 */
export * as NodePayments from "./NodePayments.ts"
