/**
 * Charges and payouts as `Sandbox` shows them: instants are dates, and personal data is `Redacted`.
 */
import * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as BrCode from "../../pix/BrCode.ts"
import type { Centavos } from "../../pix/Money.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import type { Settings } from "../SandboxOptions.ts"
import type { Charge, Payout } from "../SandboxState.ts"
import { writeBrCode } from "./brCode.ts"

/**
 * The copy-and-paste text of a charge: a BR Code that any reader parses. No bank can pay by it, since its URL is on a name
 * that is reserved for examples (RFC 2606). It fails for an amount that no code can state.
 */
export const copyAndPaste = (
  merchant: Settings["merchant"],
  transactionId: string,
  amount?: Centavos
): Result.Result<string, BrCode.InvalidBrCode> =>
  writeBrCode({ url: `pix.example/qr/v2/${transactionId.replaceAll("-", "")}`, merchant, amount })

/** Shows the charges of a merchant. The code of a charge takes a while, and never changes: it is made once. */
export const makeShowCharge = (merchant: Settings["merchant"]) => {
  const codes = new WeakMap<Charge, ReturnType<typeof copyAndPaste>>()
  const codeOf = (charge: Charge) => {
    const code = codes.get(charge) ?? copyAndPaste(merchant, charge.transactionId, charge.amount)
    codes.set(charge, code)
    return code
  }
  return {
    codeOf,
    showCharge: (charge: Charge): SandboxTransaction => {
      const { createdAt, customer, expiresAt, firstExpiresAt: _, updatedAt, ...plain } = charge
      const code = codeOf(charge)
      return {
        ...plain,
        currency: "BRL",
        customer: Redacted.make(customer, { label: "customer" }),
        ...(charge.paymentMethod === "PIX" &&
          Result.isSuccess(code) && { qrcode: Redacted.make(code.success, { label: "qrcode" }) }),
        createdAt: DateTime.makeUnsafe(createdAt),
        updatedAt: DateTime.makeUnsafe(updatedAt),
        ...(expiresAt !== undefined && { expiresAt: DateTime.makeUnsafe(expiresAt) })
      }
    }
  }
}

export const showPayout = ({ createdAt, description, metadata, pixKey: to, ...plain }: Payout): SandboxWithdrawal => ({
  ...plain,
  pixKey: Redacted.make(to, { label: "pixKey" }),
  ...(description !== undefined && { description: Redacted.make(description, { label: "description" }) }),
  ...(metadata !== undefined && { metadata: Redacted.make(metadata, { label: "metadata" }) }),
  currency: "BRL",
  createdAt: DateTime.makeUnsafe(createdAt)
})
