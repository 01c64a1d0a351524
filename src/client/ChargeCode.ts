/**
 * Reads the BR Code of a created charge, and compares it with the requested amount.
 *
 * Gotcha: a wrong code is no failure of `createTransaction`, since the charge exists, and test gateways often write a
 * placeholder in place of the checksum. Look at `isSound` before you show the code to a payer.
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
declare module "./ChargeCode.ts" {}

import * as Result from "effect/Result"
import * as BrCode from "../pix/BrCode.ts"
import type { Centavos } from "../pix/Money.ts"
import type { CreatedTransaction } from "../contract/Transaction.ts"

/** The BR Code of a charge, and its problems. */
export interface ChargeCode {
  /** The code; absent if the charge has none, or if its text is not a BR Code. */
  readonly code: BrCode.BrCode | undefined
  /**
   * Whether the code states the requested amount. A dynamic code need not state one: the document at its URL does.
   */
  readonly amount: "same" | "different" | "not stated"
  /** The problems of the code. They repeat no part of it. */
  readonly problems: ReadonlyArray<BrCode.Problem>
  /**
   * Whether the code has no problem and requests the amount: a static code states it, a dynamic one states it or leaves it to
   * its URL.
   */
  readonly isSound: boolean
}

const absent: BrCode.Problem = { code: "not-pix", reason: "is missing from the charge" }
const otherAmount: BrCode.Problem = { code: "amount", reason: "states another amount than the one asked for" }
const noAmount: BrCode.Problem = { code: "amount", reason: "leaves the amount to the payer" }

const withoutCode = (problem: BrCode.Problem): ChargeCode => ({
  code: undefined,
  amount: "not stated",
  problems: [problem],
  isSound: false
})

/** The problems of a code that does not request the amount. A dynamic code may leave the amount to its URL. */
const amountProblems = (code: BrCode.BrCode, amount: ChargeCode["amount"]): ReadonlyArray<BrCode.Problem> => {
  if (amount === "not stated") return code.url === undefined ? [noAmount] : []
  return amount === "different" && !code.problems.some((problem) => problem.code === "amount") ? [otherAmount] : []
}

/**
 * Reads the code of a charge.
 *
 * `asked` is the amount that the code should state, in centavos. Default: the amount in the service's answer.
 */
export const of = (
  created: Pick<CreatedTransaction, "amount" | "pix">,
  asked: Centavos = created.amount
): ChargeCode => {
  const payload = created.pix?.qrcode
  if (payload === undefined) return withoutCode(absent)
  const parsed = BrCode.parse(payload)
  if (Result.isFailure(parsed)) return withoutCode(parsed.failure)
  const code = parsed.success
  const amount = BrCode.checkAmount(code, asked)
  const problems = [...code.problems, ...amountProblems(code, amount)]
  return { code, amount, problems, isSound: problems.length === 0 }
}
