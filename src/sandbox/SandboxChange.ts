/**
 * What happens in a sandbox, as it happens: what `Sandbox.changes` gives and the panel listens to. Changes are numbered
 * one by one, so that a reader that missed some knows it.
 */
import * as Schema from "effect/Schema"
import { SandboxTransaction, SandboxWithdrawal } from "./SandboxBooks.ts"
import { SandboxWebhook } from "./SandboxWebhook.ts"

const sequence = Schema.Int

/**
 * One change.
 *
 * - `Transaction`, `Withdrawal`: one is new, or in another state.
 * - `Balance`: in centavos.
 * - `Request`: one arrived, or was answered; read it from `Sandbox.requests`.
 * - `Webhook`: one is new, or an attempt ended.
 * - `Settings`: faults, credentials, the PIX key, the clock or targets of webhooks are others.
 * - `Reset`: everything may be another.
 */
export const SandboxChange = Schema.Union([
  Schema.TaggedStruct("Transaction", { sequence, transaction: SandboxTransaction }),
  Schema.TaggedStruct("Withdrawal", { sequence, withdrawal: SandboxWithdrawal }),
  Schema.TaggedStruct("Balance", { sequence, balance: Schema.Int }),
  Schema.TaggedStruct("Request", { sequence, id: Schema.Int }),
  Schema.TaggedStruct("Webhook", { sequence, webhook: SandboxWebhook }),
  Schema.TaggedStruct("Settings", { sequence }),
  Schema.TaggedStruct("Reset", { sequence })
])
/** See the schema of the same name. */
export type SandboxChange = typeof SandboxChange.Type
