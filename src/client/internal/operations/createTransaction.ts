/**
 * Creates a charge. A request is checked by the schema of its payment method. The answer to a PIX request is accepted
 * if it is about that charge, reports no failure and has a code.
 */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { meaningOf } from "../../../contract/Status.ts"
import { isFailure } from "../../../contract/StatusWords.ts"
import { noField } from "../../../contract/RequestIssues.ts"
import { invalidRequest } from "../../../contract/Options.ts"
import { createTransaction as endpoint } from "../../../contract/Endpoints.ts"
import type { WriteOptions } from "../../../contract/WriteOptions.ts"
import type { CreateTransactionError } from "../../../contract/PaymentsError.ts"
import type {
  CreatedPixTransaction,
  CreatedTransaction,
  CreateTransactionRequest,
  PixTransactionRequest
} from "../../../contract/Transaction.ts"
import type { Client } from "../call/client.ts"
import { type Body, bodyEncoder, isOtherCompany, makeRoute, notAsAsked, otherCompany, write } from "../call/prepare.ts"
import type { Issues, Undecodable } from "../call/state.ts"
import { pixOf } from "./pixAnswer.ts"
import { readCharge } from "../wire/fastReaders.ts"
import { writePixCharge } from "../wire/writePixCharge.ts"

const [pix, boleto, card] = endpoint.body.members

const underExtra = `${noField}: put fields that the service has and this library does not know under \`extra\``

/** Says of an unknown field where it can be sent. `pix` is a known one, of another method. */
const withExtraNamed = (issues: Issues): Issues =>
  issues.map(({ path, problem }) => ({
    path,
    problem: problem === noField && path !== "pix" && !path.includes(".") ? underExtra : problem
  }))

const encoderOf = (...schema: Parameters<typeof bodyEncoder>) => {
  const encode = bodyEncoder(...schema)
  return (input: unknown) => Result.mapError(encode(input), withExtraNamed)
}

const encoders = { PIX: encoderOf(pix, writePixCharge), BOLETO: encoderOf(boleto), CREDIT_CARD: encoderOf(card) }

type Sent = Pick<CreateTransactionRequest, "amount" | "paymentMethod">

/** Encodes a request by the schema of its method, so that an issue is about that method and not about all three. */
const encode = (request: CreateTransactionRequest): Result.Result<Body<Sent>, Issues> => {
  const method = Predicate.isObject(request) ? request.paymentMethod : undefined
  return method !== undefined && Object.hasOwn(encoders, method)
    ? Result.map(encoders[method](request), (text) => ({
        text,
        sent: { amount: request.amount, paymentMethod: method }
      }))
    : Result.fail([{ path: "paymentMethod", problem: `Expected one of ${Object.keys(encoders).join(", ")}` }])
}

const withoutCode: Undecodable = {
  reason: "UnsoundBrCode",
  issues: [{ path: "data.pix.qrcode", problem: "is missing from the charge" }]
}

const issue = (name: string, problem: string) => ({ path: `data.${name}`, problem })

const deniesSuccess = (status: string, { facts }: Client) => {
  const meaning = meaningOf(status, "charge", facts.statuses)
  return meaning === "closed" || meaning === "refunded" || (meaning === "unlisted" && isFailure(status))
}

/**
 * The issues of an answer to a PIX request that is about another charge, or about one that failed. The answers for the
 * other methods are not documented, so they are not compared.
 */
const differences = ({ amount, paymentMethod, status }: CreatedTransaction, sent: Sent, client: Client): Issues => [
  ...(amount === sent.amount ? [] : [issue("amount", "is not the amount that was asked for")]),
  ...(paymentMethod === undefined || paymentMethod.trim().toUpperCase() === "PIX"
    ? []
    : [issue("paymentMethod", "is not the method that was asked for")]),
  ...(deniesSuccess(status, client) ? [issue("status", "is a word for failure")] : [])
]

const noCode: ReturnType<typeof pixOf> = Result.succeed({})

const route = makeRoute(endpoint, readCharge)
const seenPaths = { id: ["data", "id"], isOpaque: true, value: ["data", "amount"], status: ["data", "status"] }

export const make = (client: Client) => {
  function createTransaction(
    request: PixTransactionRequest,
    options?: WriteOptions
  ): Effect.Effect<CreatedPixTransaction, CreateTransactionError>
  function createTransaction(
    request: CreateTransactionRequest,
    options?: WriteOptions
  ): Effect.Effect<CreatedTransaction, CreateTransactionError>
  function createTransaction(request: CreateTransactionRequest, options?: WriteOptions) {
    return write(client, route, options, {
      seenPaths,
      encode: (idempotencyKey) =>
        Result.mapError(encode(request), (issues) => invalidRequest(endpoint.operation, issues, idempotencyKey)),
      accept: (
        { companyId, data, status },
        sent,
        { idempotencyKey }
      ): Result.Result<CreatedTransaction, Undecodable> => {
        if (status !== undefined && status >= 400 && status < 600)
          return notAsAsked({ path: "status", problem: "is the status of an HTTP error" })
        const { pix, ...rest } = data
        const created = { ...(companyId === undefined ? {} : { companyId }), ...rest, idempotencyKey }
        if (isOtherCompany(client, created)) return notAsAsked(otherCompany)
        const issues = sent.paymentMethod === "PIX" ? differences(created, sent, client) : []
        if (issues.length > 0) return notAsAsked(...issues)
        return Result.flatMap(pix === undefined ? noCode : pixOf(pix), (read) => {
          if (sent.paymentMethod === "PIX" && read.qrcode === undefined) return Result.fail(withoutCode)
          return Result.succeed(pix === undefined ? created : { ...created, pix: read })
        })
      }
    })
  }
  return createTransaction
}
