/**
 * The status of a payout that was submitted to the queue, and the errors of the steps of an operator.
 */
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { IdempotencyConflict, OutcomeUnknown, WithdrawalFailed } from "../contract/PaymentsError.ts"
import { Centavos } from "../pix/Money.ts"
import { PayoutRefusal } from "./Payout.ts"

/**
 * The states of a payout in the queue, as the table spells them: see `PayoutStatus`. `refused` means that no request of this queue
 * moved money; a single call, or another file, may have used the reference.
 */
export const PayoutState = Schema.Literals(["accepted", "posted", "paid", "failed", "refused", "unknown", "parked"])
/** See the schema of the same name. */
export type PayoutState = typeof PayoutState.Type

/**
 * Why a payout waits for a person.
 *
 * - `Operator`: a person parked it.
 * - `PastHorizon`: a request may have left longer ago than the horizon. The service may have forgotten its key, so that
 *   another request could pay twice.
 * - `OverMaxAmount`, `OverDailyCap`: its amount alone is above the worker's `maxAmount` or `dailyCap`.
 * - `Unreadable`: its stored request cannot be opened or read. Nothing was sent since.
 * - `OtherClientId`: a request of it may have left under another client id, base URL or company than those of the worker
 *   now. A key belongs to these, so another request could pay twice.
 * - `WaitedTooLong`: it is wanted since longer ago than the horizon: since its submit, or the last step of a person who wanted
 *   it sent. This queue knows of no request that moved money; where a backup was restored, or somebody paid by hand, it may be
 *   paid already. The wait of a never sent one for a cap or a pause is not counted while a worker is seen.
 * - `OtherPayee`: the service answered with success, but for another PIX key or another company than those that were asked
 *   for. MONEY MAY HAVE MOVED. Another company pauses the account too.
 * - `RecordedAsFailed`: the service recorded it with a word for failure, or for money that came back, and that does not prove that
 *   no money moved: see `seen` of its `error`. MONEY MAY HAVE MOVED. The same request would be answered with the same record.
 * - `NeedsApproval`: it, or the list that it was submitted with, is above the account's `fourEyesAbove`. No request of this
 *   queue moved money. `resume` by a person other than the one who submitted it approves and sends it.
 */
export const ParkedBecause = Schema.Literals([
  "Operator",
  "PastHorizon",
  "OverMaxAmount",
  "OverDailyCap",
  "Unreadable",
  "OtherClientId",
  "WaitedTooLong",
  "OtherPayee",
  "RecordedAsFailed",
  "NeedsApproval"
])
/** See the schema of the same name. */
export type ParkedBecause = typeof ParkedBecause.Type

/**
 * What an accepted payout waits for. It is sent again by itself.
 *
 * - `DailyCap`: the next day.
 * - `InsufficientBalance`: a balance that covers it.
 * - `Limit`: the end of a limit of the account, or of its block; or the opening of its `window`.
 * - `AuthError`: credentials that the service takes (401, 403).
 * - `Redirect`: the right base URL.
 * - `RateLimited`: the time that the service named.
 * - `ServiceUnavailable`: a connection to the service.
 * - `OtherClientId`: credentials of the account's own client id. Those of the worker now belong to another one.
 */
export const WaitsFor = Schema.Literals([
  "DailyCap",
  "InsufficientBalance",
  "Limit",
  "AuthError",
  "Redirect",
  "RateLimited",
  "ServiceUnavailable",
  "OtherClientId"
])
/** See the schema of the same name. */
export type WaitsFor = typeof WaitsFor.Type

/**
 * A step that two people have to take, by its first one. The same step by another person is the second one; any other change
 * of the payout ends it.
 */
export const PayoutAsked = Schema.Struct({
  /** `Approve`: `resume`. `NotExecuted`: `resume` with `notExecuted: true`. */
  step: Schema.Literals(["Approve", "NotExecuted"]),
  /** Who took it first. */
  by: Schema.String
})
/** See the schema of the same name. */
export interface PayoutAsked extends Schema.Schema.Type<typeof PayoutAsked> {}

const Unclear = Schema.Union([OutcomeUnknown, IdempotencyConflict])

const common = {
  /** Your reference. */
  reference: Schema.String,
  /** The key that the service knows it by: made from the reference alone, the same for ever. */
  idempotencyKey: Schema.String,
  /** In centavos. */
  amount: Centavos,
  submittedAt: Schema.DateTimeUtcFromString,
  /** When its row was last changed: by a step, a request or an answer, or since it has to wait. */
  updatedAt: Schema.DateTimeUtcFromString,
  /** The step that waits for its second person. Absent: none does. */
  asked: Schema.optionalKey(PayoutAsked)
}
/** When the first request whose result is not known may have left. Absent: no request of it is in doubt. */
const mayHaveLeftAt = Schema.optionalKey(Schema.DateTimeUtcFromString)
const withdrawalId = Schema.optionalKey(Schema.Int)
/**
 * The service's word for its state when it recorded it, if it is in the vocabulary of statuses: `Awaiting`, `Pending`,
 * `Failure`. Any other text may be a person's name, and is not stored.
 */
const withdrawalStatus = Schema.optionalKey(Schema.String)

const Accepted = Schema.TaggedStruct("Accepted", {
  state: Schema.Literal("accepted"),
  ...common,
  mayHaveLeftAt,
  /** Absent while it waits for a worker, or for the end of a pause. */
  waitsFor: Schema.optionalKey(WaitsFor),
  error: Schema.optionalKey(PayoutRefusal)
})
interface Accepted extends Schema.Schema.Type<typeof Accepted> {}
const Posted = Schema.TaggedStruct("Posted", {
  state: Schema.Literal("posted"),
  ...common,
  withdrawalId,
  withdrawalStatus
})
interface Posted extends Schema.Schema.Type<typeof Posted> {}
const Paid = Schema.TaggedStruct("Paid", { state: Schema.Literal("paid"), ...common, withdrawalId })
interface Paid extends Schema.Schema.Type<typeof Paid> {}
const Failed = Schema.TaggedStruct("Failed", {
  state: Schema.Literal("failed"),
  ...common,
  withdrawalId,
  withdrawalStatus,
  /** The record by which the service refused it. Absent: a person settled it. */
  error: Schema.optionalKey(WithdrawalFailed)
})
interface Failed extends Schema.Schema.Type<typeof Failed> {}
const Refused = Schema.TaggedStruct("Refused", { state: Schema.Literal("refused"), ...common, error: PayoutRefusal })
interface Refused extends Schema.Schema.Type<typeof Refused> {}
const Unknown = Schema.TaggedStruct("Unknown", {
  state: Schema.Literal("unknown"),
  ...common,
  mayHaveLeftAt,
  error: Unclear
})
interface Unknown extends Schema.Schema.Type<typeof Unknown> {}
const Parked = Schema.TaggedStruct("Parked", {
  state: Schema.Literal("parked"),
  ...common,
  because: ParkedBecause,
  mayHaveLeftAt,
  error: Schema.optionalKey(Schema.Union([PayoutRefusal, Unclear]))
})
interface Parked extends Schema.Schema.Type<typeof Parked> {}

/**
 * What is known of one payout, by its `state`. Its `amount` is in centavos.
 *
 * | state | meaning |
 * |---|---|
 * | `accepted` | it will be sent; `error` is why its last request moved none, with `mayHaveLeftAt` one is under way |
 * | `posted` | the service recorded it. That is not paid: `withdrawalStatus` is the word of that moment |
 * | `paid` | a person who knows that it was paid used `settle`; with `withdrawalId` the service recorded it |
 * | `failed` | with an `error` the service recorded it as failed, and no money moved; else a person used `settle` |
 * | `refused` | no request of this queue moved money; a single call, or another file, may have used the reference. `error` says why; `retry` sends it again |
 * | `unknown` | money may have moved. It is sent again with the same key |
 * | `parked` | it waits for a person, and is not sent; with `mayHaveLeftAt` money may have moved |
 *
 * Gotchas:
 * - A `failed` payout with a `withdrawalId` and without an `error` was recorded by the service, perhaps after it was settled as
 *   failed. Look in the panel before you pay it in another way.
 * - `error` has the cause, the status and the code of the service, and not its words, which may name a person. The log line of
 *   the request has them, masked.
 */
export const PayoutStatus = Schema.Union([Accepted, Posted, Paid, Failed, Refused, Unknown, Parked])
/** See the schema of the same name. */
export type PayoutStatus = Accepted | Posted | Paid | Failed | Refused | Unknown | Parked

const refusals: Readonly<Record<PayoutRefusal["_tag"], string>> = {
  InvalidRequest: "Dados inválidos: confira a chave PIX e o valor",
  BelowMinimum: "Valor abaixo do mínimo de R$ 10,00",
  InsufficientBalance: "Saldo insuficiente",
  LimitReached: "Limite da conta atingido, ou conta bloqueada",
  NoPixKey: "Nenhuma chave PIX informada ou cadastrada",
  WithdrawalFailed: "Recusado pelo gateway",
  AuthError: "Credenciais recusadas pelo gateway",
  RateLimited: "Limite de requisições atingido",
  RequestRejected: "Recusado pelo gateway",
  ServiceUnavailable: "Gateway indisponível"
}

const waitedTooLong = "Não enviado por esta fila: conferir se já foi pago antes de pagar por outro meio"
const unclear = "A conferir: pode ter sido pago, não pagar por outro meio antes"

const notSent = (status: Extract<PayoutStatus, { state: "accepted" | "parked" }>): string => {
  const { error, mayHaveLeftAt } = status
  const isInDoubt = error?._tag === "OutcomeUnknown" || error?._tag === "IdempotencyConflict"
  if (isInDoubt || mayHaveLeftAt !== undefined) return unclear
  if (status.state === "parked" && status.because === "WaitedTooLong") return waitedTooLong
  return error === undefined ? "Não pago: não enviado" : `Não pago: ${refusals[error._tag]}`
}

/**
 * What is known of a payout, in Portuguese, as for a column of a sheet that your accountant reads. It says "A conferir" of
 * each payout that may have moved money.
 *
 * ```ts
 * import { Payouts, type PayoutStatus } from "effect-pix/payouts"
 *
 * const cells = (statuses: ReadonlyArray<PayoutStatus>) =>
 *   statuses.map((status) => [status.reference, Payouts.portuguese(status)])
 * ```
 */
export const portuguese = (status: PayoutStatus): string => {
  switch (status.state) {
    case "posted":
      return status.withdrawalId === undefined ? "Registrado" : `Registrado: saque nº ${status.withdrawalId}`
    case "paid":
      return "Pago: conferido por uma pessoa"
    case "failed":
      if (status.error !== undefined)
        return `Não pago: ${refusals.WithdrawalFailed} (saque nº ${status.error.withdrawalId})`
      // The service recorded it, perhaps after a person had said that it failed.
      return status.withdrawalId === undefined ? "Não pago: conferido por uma pessoa" : unclear
    case "unknown":
      return unclear
    case "refused":
      return `Não pago: ${refusals[status.error._tag]}`
    case "accepted":
    case "parked":
      return notSent(status)
  }
}

/**
 * Whom a recorded withdrawal names as its payee. It is a person's data, stored as the request is: under the queue's `seal`,
 * and as long. `Document.matches` compares the document with the one of the person whom you meant to pay.
 */
export const PayoutPayee = Schema.Struct({
  /** The document of the creditor, which the service may mask. */
  creditorDocument: Schema.optionalKey(Schema.String),
  /** The PIX key of the record, as the service writes it. */
  pixKey: Schema.optionalKey(Schema.String)
})
/** See the schema of the same name. */
export interface PayoutPayee extends Schema.Schema.Type<typeof PayoutPayee> {}

/** No payout of this reference was submitted, or its record was deleted since. */
export class PayoutNotFound extends legible(
  Schema.TaggedError<PayoutNotFound>("effect-pix/PayoutNotFound")("PayoutNotFound", {
    reference: Schema.String
  })
) {
  override get message(): string {
    return this.reference === ""
      ? "The reference is not a text that a payout can have."
      : `No payout of the reference ${this.reference} was submitted to the queue, or its record was deleted since.`
  }
}

/** The step is not possible for a payout in this state. Nothing was changed. */
export class PayoutStateConflict extends legible(
  Schema.TaggedError<PayoutStateConflict>("effect-pix/PayoutStateConflict")("PayoutStateConflict", {
    operation: Schema.Literals(["retry", "park", "resume", "settle", "forget"]),
    reference: Schema.String,
    state: PayoutState,
    problem: Schema.String
  })
) {
  override get message(): string {
    return `${this.operation} changed nothing: the payout ${this.reference} is ${this.state}. ${this.problem}`
  }
}
