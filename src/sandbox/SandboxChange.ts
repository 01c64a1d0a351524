/**
 * The changes of a sandbox, which `Sandbox.changes` streams and the panel listens to. Changes are numbered one by one, so
 * that a reader that missed some knows it.
 */
import * as Schema from "effect/Schema"
import { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import { SandboxWebhook } from "./SandboxWebhook.ts"

const sequence = Schema.Int

/**
 * One change.
 *
 * - `Transaction`, `Withdrawal`: a row is new, or in another state.
 * - `Balance`: in centavos.
 * - `Request`: a request arrived, or was answered. `Sandbox.requests` has it.
 * - `Webhook`: a webhook is new, or an attempt of it ended.
 * - `Settings`: faults, credentials, the PIX key, the clock or the targets of webhooks changed.
 * - `Reset`: everything may have changed.
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
