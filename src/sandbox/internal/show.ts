/**
 * Charges and payouts as `Sandbox` shows them: instants as dates, and what is personal `Redacted`.
 */
import * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as BrCode from "../../pix/BrCode.ts"
import type { Centavos } from "../../pix/Money.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxBooks.ts"
import type { Settings } from "../SandboxOptions.ts"
import type { Charge, Payout } from "../SandboxState.ts"

/**
 * The copy-and-paste text of a charge: a BR Code that any reader parses, and that no bank can be paid by, since its URL is
 * on a name reserved for examples (RFC 2606). None for an amount that no code can state.
 */
export const copyAndPaste = (
  merchant: Settings["merchant"],
  transactionId: string,
  amount?: Centavos
): Result.Result<string, BrCode.InvalidBrCode> =>
  BrCode.generate({
    url: `pix.example/qr/v2/${transactionId.replaceAll("-", "")}`,
    merchantName: merchant.name,
    merchantCity: merchant.city,
    amount
  })

/** Shows the charges of a merchant. A charge is shown once for each of its states, since its code takes a while. */
export const makeShowCharge = (merchant: Settings["merchant"]) => {
  // A charge is answered right after it was made: the last code is not made twice.
  let last: { readonly id: string; readonly code: ReturnType<typeof copyAndPaste> } | undefined
  const codeOf = ({ amount, transactionId }: Pick<Charge, "amount" | "transactionId">) => {
    const id = `${transactionId} ${amount}`
    if (last?.id !== id) last = { id, code: copyAndPaste(merchant, transactionId, amount) }
    return last.code
  }
  const shown = new WeakMap<Charge, SandboxTransaction>()
  return {
    codeOf,
    /** The charge has changed: it is shown anew. */
    forget: (charge: Charge) => shown.delete(charge),
    showCharge: (charge: Charge): SandboxTransaction => {
      const before = shown.get(charge)
      if (before !== undefined) return before
      const { createdAt, customer, expiresAt, firstExpiresAt: _, updatedAt, ...plain } = charge
      const code = codeOf(charge)
      const transaction: SandboxTransaction = {
        ...plain,
        currency: "BRL",
        customer: Redacted.make(customer, { label: "customer" }),
        ...(charge.paymentMethod === "PIX" &&
          Result.isSuccess(code) && { qrcode: Redacted.make(code.success, { label: "qrcode" }) }),
        createdAt: DateTime.makeUnsafe(createdAt),
        updatedAt: DateTime.makeUnsafe(updatedAt),
        ...(expiresAt !== undefined && { expiresAt: DateTime.makeUnsafe(expiresAt) })
      }
      shown.set(charge, transaction)
      return transaction
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
