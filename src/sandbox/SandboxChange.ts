/**
 * The changes of a sandbox, which `Sandbox.changes` streams and the panel asks for. Changes are numbered one by one, so
 * that a reader that missed some knows it.
 */
declare module "./SandboxChange.ts" {}

import * as Schema from "effect/Schema"
import { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import { SandboxRequest } from "./SandboxRequest.ts"
import { SandboxWebhook } from "./SandboxWebhook.ts"

const sequence = Schema.Int

/**
 * One change. The amounts of its row are in centavos.
 *
 * - `Transaction`, `Withdrawal`: a row is new, or in another state.
 * - `Request`: a request arrived, or was answered, or its connection was broken.
 * - `Webhook`: a webhook is new, or an attempt of it ended.
 * - `Settings`: a credit, faults, credentials, the clock or the targets of webhooks.
 * - `Reset`: everything may have changed.
 */
export const SandboxChange = Schema.Union([
  Schema.TaggedStruct("Transaction", { sequence, transaction: SandboxTransaction }),
  Schema.TaggedStruct("Withdrawal", { sequence, withdrawal: SandboxWithdrawal }),
  Schema.TaggedStruct("Request", { sequence, request: SandboxRequest }),
  Schema.TaggedStruct("Webhook", { sequence, webhook: SandboxWebhook }),
  Schema.TaggedStruct("Settings", { sequence }),
  Schema.TaggedStruct("Reset", { sequence })
])
/** See the schema of the same name. */
export type SandboxChange = typeof SandboxChange.Type
