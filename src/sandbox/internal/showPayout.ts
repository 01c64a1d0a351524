import * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"
import type { SandboxWithdrawal } from "../SandboxBooks.ts"
import type { Payout } from "../SandboxState.ts"

/** A payout as the books keep it, as `Sandbox` shows it. */
export const showPayout = ({ createdAt, description, metadata, pixKey: to, ...plain }: Payout): SandboxWithdrawal => ({
  ...plain,
  pixKey: Redacted.make(to, { label: "pixKey" }),
  ...(description !== undefined && { description: Redacted.make(description, { label: "description" }) }),
  ...(metadata !== undefined && { metadata: Redacted.make(metadata, { label: "metadata" }) }),
  currency: "BRL",
  createdAt: DateTime.makeUnsafe(createdAt)
})
