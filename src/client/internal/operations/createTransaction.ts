/**
 * Creates a charge. Its request is checked as that of its payment method; the BR Code of the answer by the policy.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { createTransaction as endpoint } from "../../../contract/Endpoints.ts"
import type { WriteOptions } from "../../../contract/IdempotencyKey.ts"
import type { CreatedTransaction, CreateTransactionRequest } from "../../../contract/Transaction.ts"
import type { Problem } from "../../../pix/BrCode.ts"
import * as ChargeCode from "../../ChargeCode.ts"
import type { Undecodable } from "../attempt.ts"
import { bodyEncoder } from "../codec.ts"
import { invalid, type Issues, type Wiring, writing } from "./operation.ts"

const [pix, boleto, card] = endpoint.body.members
const encoders = { PIX: bodyEncoder(pix), BOLETO: bodyEncoder(boleto), CREDIT_CARD: bodyEncoder(card) }

/** By the method, so that what is wrong is said of that method's request and not of all three. */
const encode = (request: CreateTransactionRequest): Result.Result<string, Issues> => {
  const method = Predicate.isObject(request) ? request.paymentMethod : undefined
  return method !== undefined && Object.hasOwn(encoders, method)
    ? encoders[method](request)
    : Result.fail([{ path: "paymentMethod", problem: `Expected one of ${Object.keys(encoders).join(", ")}` }])
}

const unsound = (problems: ReadonlyArray<Problem>): Undecodable => ({
  reason: "UnsoundBrCode",
  issues: problems.map(({ reason }) => ({ path: "data.pix.qrcode", problem: reason }))
})

export const make = (wiring: Wiring) => {
  const write = writing(wiring, endpoint, "tx")
  return (request: CreateTransactionRequest, options?: WriteOptions) =>
    write(options, {
      prepare: (idempotencyKey) =>
        Result.mapError(encode(request), (issues) => invalid(endpoint.operation, issues, idempotencyKey)),
      accept: ({ companyId, data }, idempotencyKey, policy) => {
        const created: CreatedTransaction = {
          ...(companyId === undefined ? {} : { companyId }),
          ...data,
          idempotencyKey
        }
        const mustBeSound = policy.brCode === "require" && request.paymentMethod === "PIX"
        const { problems } = mustBeSound ? ChargeCode.of(created, request.amount) : { problems: [] }
        return problems.length === 0 ? Result.succeed(created) : Result.fail(unsound(problems))
      }
    })
}
