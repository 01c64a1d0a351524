/**
 * The overview of a sandbox: what it holds and what is planned, in one value.
 */
declare module "./SandboxOverview.ts" {}

import * as Schema from "effect/Schema"
import { PixKeyType } from "../pix/PixKey.ts"
import { PlannedFault } from "./PlannedFault.ts"

/** The overview of a sandbox. Amounts are in centavos. */
export const SandboxOverview = Schema.Struct({
  baseUrl: Schema.String,
  /** How it answers: as documented, or as seen. */
  as: Schema.Literals(["documented", "seen"]),
  companyId: Schema.Int,
  clientId: Schema.String,
  /** In centavos; it may be negative. */
  balance: Schema.Int,
  /** The sum of the awaited charges, in centavos. */
  awaited: Schema.Int,
  /** The PIX key on the company's account. */
  pixKey: Schema.optional(Schema.Struct({ pixKey: Schema.String, pixKeyType: PixKeyType })),
  /** The sandbox's clock, and how far it was pushed. */
  now: Schema.String,
  aheadSeconds: Schema.Finite,
  /** Whether every connection is broken now. */
  offline: Schema.Boolean,
  /** The planned faults, in order, and how many more requests meet each. */
  faults: Schema.Array(PlannedFault),
  /** The targets of webhooks. */
  targets: Schema.Array(Schema.String),
  /** The file of the state. */
  stateFile: Schema.optional(Schema.String),
  /** The number of the last change. */
  sequence: Schema.Int
})
/** See the schema of the same name. */
export interface SandboxOverview extends Schema.Schema.Type<typeof SandboxOverview> {}
