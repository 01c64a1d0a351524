/**
 * Reads the BR Code of a created charge, and compares it with what was asked for.
 *
 * A wrong code does not make the charge fail: the charge exists, and test gateways often put a placeholder where the
 * checksum belongs. To make it an error, set `PaymentsPolicy.brCode` to `require`.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { ChargeCode, Money, Payments } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const charge = yield* payments.createTransaction({
 *     amount: Money.centavos(2500),
 *     paymentMethod: "PIX",
 *     customer: { name: "Maria Silva", email: "maria@example.com" }
 *   })
 *   const { amount, isSound } = ChargeCode.of(charge)
 *   return { amount, isSound }
 * })
 *
 * const check = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => { amount: "same", isSound: true }
 * ```
 */

import * as Result from "effect/Result"
import * as BrCode from "../pix/BrCode.ts"
import type { Centavos } from "../pix/Money.ts"
import type { CreatedTransaction } from "../contract/Transaction.ts"

/** What was read from a charge's BR Code, and what is wrong with it. */
export interface ChargeCode {
  /** The code; absent when the charge has none, or its text is no BR Code. */
  readonly code: BrCode.BrCode | undefined
  /**
   * Whether the code states the amount that was asked for. A dynamic code need not state one: the document
   * at its URL does.
   */
  readonly amount: "same" | "different" | "not stated"
  /** What is wrong, without a word of the code itself. */
  readonly problems: ReadonlyArray<BrCode.Problem>
  /**
   * Whether nothing is wrong and the code asks for the amount: a static code states it, a dynamic one states it or leaves
   * it to its URL. A code for a consent alone (PIX Automático) asks for no amount.
   */
  readonly isSound: boolean
}

const absent: BrCode.Problem = { code: "not-pix", reason: "is missing from the charge" }
const otherAmount: BrCode.Problem = { code: "amount", reason: "states another amount than the one asked for" }
const noAmount: BrCode.Problem = { code: "amount", reason: "leaves the amount to the payer" }
const noPayment: BrCode.Problem = {
  code: "not-pix",
  reason: "asks for a consent to recurring payments, and for no payment"
}

const unread = (problem: BrCode.Problem): ChargeCode => ({
  code: undefined,
  amount: "not stated",
  problems: [problem],
  isSound: false
})

/** A code is sound for an amount only if it asks for it. A dynamic code may leave the amount to its URL. */
const amountProblems = (code: BrCode.BrCode, amount: ChargeCode["amount"]): ReadonlyArray<BrCode.Problem> => {
  if (code.key === undefined && code.url === undefined) return [noPayment]
  if (amount === "not stated") return code.url === undefined ? [noAmount] : []
  return amount === "different" && !code.problems.some((problem) => problem.code === "amount") ? [otherAmount] : []
}

/**
 * Reads the code of a charge.
 *
 * `asked` is the amount that it should state, in centavos. Default: the amount that the service answered.
 */
export const of = (
  created: Pick<CreatedTransaction, "amount" | "pix">,
  asked: Centavos = created.amount
): ChargeCode => {
  const payload = created.pix?.qrcode
  if (payload === undefined) return unread(absent)
  const parsed = BrCode.parse(payload)
  if (Result.isFailure(parsed)) return unread(parsed.failure)
  const code = parsed.success
  const amount = BrCode.checkAmount(code, asked)
  const problems = [...code.problems, ...amountProblems(code, amount)]
  return { code, amount, problems, isSound: problems.length === 0 }
}
