/**
 * The copy-and-paste text of a charge in the sandbox: a BR Code that any reader parses, and that no bank can be paid by.
 */
import type * as Result from "effect/Result"
import * as BrCode from "../../pix/BrCode.ts"
import type { Centavos } from "../../pix/Money.ts"

/** A dynamic code whose URL is on a name reserved for examples (RFC 2606). None for an amount that no code can state. */
export const copyAndPaste = (
  merchant: { readonly name: string; readonly city: string },
  transactionId: string,
  amount?: Centavos
): Result.Result<string, BrCode.InvalidBrCode> =>
  BrCode.generate({
    url: `pix.example/qr/v2/${transactionId.replaceAll("-", "")}`,
    merchantName: merchant.name,
    merchantCity: merchant.city,
    amount
  })
