/**
 * The charge of an order: `get` says whether the order is paid, whether its charge can still be shown to the payer, or
 * makes another one where it cannot. It is a function of `createTransaction` and `getTransaction`.
 *
 * Details: a charge lapses, fails or is cancelled, and a cart changes after it was charged. The service documents no call
 * that changes or cancels a charge, so another one is made. Each call looks up the order's charge, and those before it: no
 * charge is made while one of them is paid or may be, and a late payment of an old one is found. A charge that its lookup says is
 * open is shown again until its expiry provably has passed: a time without an offset proves it three hours later. The key of a charge is made of the
 * reference, the number of the charge and the amount: `IdempotencyKey.fromReference("order", "42/1/2500")`. So a call that is
 * repeated with the same input is one charge, after a crash, after an `OutcomeUnknown` and in two browser tabs.
 *
 * - Store `charge` of the answer before you show its code. Then a charge that was made and not stored, since the process
 *   died, is one that nobody can pay.
 * - Store it where what is stored is still what you gave as `last`. Else another tab was faster: call again.
 * - Take all of the request from the order, and nothing from the visit, such as `ip`: a key that is repeated with another
 *   content is an `IdempotencyConflict`.
 * - Call it from the order's first charge on: it knows only the charges that it made. A charge that `createTransaction` made for
 *   the order before is given as `last`, with the number 1.
 *
 * Gotcha: an old charge may be paid after the answer, until it lapses. `charge.earlier` has its id: look for the order under
 * these ids too where a webhook comes, and refund what is paid twice (`Paid.others`).
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Money, OrderCharge } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const order = (centavos: number, last: OrderCharge.Stored | undefined) => {
 *   const customer = { name: "Maria Silva", email: "maria@example.com" }
 *   const request = { amount: Money.centavos(centavos), paymentMethod: "PIX", customer } as const
 *   return OrderCharge.get({ reference: "42", request, last })
 * }
 *
 * const program = Effect.gen(function* () {
 *   const sandbox = yield* Sandbox
 *   const tags: Array<string> = []
 *   let last: OrderCharge.Stored | undefined // a column of your order
 *   // The page is opened, and opened again; then the cart changes; then the payer pays what the first page showed.
 *   for (const centavos of [2500, 2500, 3000]) {
 *     const answer = yield* order(centavos, last)
 *     tags.push(answer._tag)
 *     if (answer._tag !== "Paid") last = answer.charge
 *   }
 *   yield* sandbox.markPaid(last?.earlier[0] ?? "")
 *   const answer = yield* order(3000, last)
 *   return answer._tag === "Paid" ? [...tags, answer._tag, answer.amount] : tags
 * })
 *
 * const tags = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => ["Renewed", "Reuse", "Renewed", "Paid", "different"]
 * ```
 */
declare module "./OrderCharge.ts" {}

import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Payments } from "../client/Payments.ts"
import { factsHere } from "../client/PaymentsClient.ts"
import { brasilia, creationOf, provedEnd } from "../contract/Expiry.ts"
import { fromReference, fromReferenceOption } from "../contract/IdempotencyKey.ts"
import { checkOptionsBy, time, withDefault } from "../contract/Options.ts"
import type { CreateTransactionError, GetTransactionError } from "../contract/PaymentsError.ts"
import { meaningOf, type OfCharge } from "../contract/Status.ts"
import { DetailStatus } from "../contract/StatusWords.ts"
import { CreatedPixTransaction, type PixTransactionRequest, type TransactionDetail } from "../contract/Transaction.ts"
import { legible } from "../internal/legible.ts"
import { inSpan } from "../internal/spans.ts"
import { parseInstant } from "../internal/utc.ts"
import { TextId } from "../internal/wire.ts"
import { Centavos } from "../pix/Money.ts"
import { believed } from "./internal/expiry.ts"

/**
 * What you store of the last charge of an order. Its encoded form is JSON: `Schema.encodeEffect(OrderCharge.Stored)`.
 */
export const Stored = Schema.Struct({
  /** The number of the charge in its order, from 1. */
  number: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { expected: "a whole number from 1" })),
  /** What `getTransaction` takes. */
  transactionId: TextId,
  /** What was asked for, in centavos. */
  amount: Centavos,
  /** The code to show, as text, and the time until which it can be paid, if the service said so. */
  pix: CreatedPixTransaction.fields.pix,
  /** The ids of the charges before it, newest first. One of them may still be paid. */
  earlier: Schema.Array(TextId),
  /** Those of them whose expiry had provably passed: they are not open, whatever their lookup says. */
  lapsed: Schema.optionalKey(Schema.Array(TextId))
})
/** See the schema of the same name. Its `amount` is in centavos. */
export interface Stored extends Schema.Schema.Type<typeof Stored> {}

/** An order. A wrong field is an `InvalidRequest`. */
export interface Order {
  /** Your own name for the order, as its number: see `IdempotencyKey.fromReference`. At most 900 characters. */
  readonly reference: string
  /** The charge that the order needs now. Its amount is in centavos. */
  readonly request: PixTransactionRequest
  /** What is stored of the order's last charge. `undefined`: it has none. */
  readonly last: Stored | undefined
}

/** Options of `get`. A wrong option is an `InvalidRequest`. */
export interface Options {
  /**
   * How long a charge has to be open still, so that it is shown again: less than a day, since that is the shortest expiry of a
   * request. An expiry that has passed while the lookup says open was no UTC: it counts three hours later. Default: 5 minutes.
   */
  readonly openFor?: Duration.Input | undefined
}

/** The last charge can still be paid, and is for the same amount: show its code again. */
export interface Reuse {
  readonly _tag: "Reuse"
  /** The charge that is stored. */
  readonly charge: Stored
}

/**
 * There is a new charge: the first of the order, or the last one can no longer be paid for long enough, or is for another
 * amount. Store it, and then show its code. `charge.earlier` has the ids of the charges before it.
 */
export interface Renewed {
  readonly _tag: "Renewed"
  /** The charge to store. */
  readonly charge: Stored
}

/** A charge of the order is paid: the last one, or one before it. Nothing was made. */
export interface Paid {
  readonly _tag: "Paid"
  /** The lookup of the paid charge; its `value` is what was paid, in centavos. Where several are paid, one of the order's amount. */
  readonly detail: TransactionDetail
  /** Whether the value is the order's amount. `"different"`: the cart changed after that charge was made, or less was paid. */
  readonly amount: "same" | "different"
  /** The other charges of the order that are paid too: the payer paid twice. */
  readonly others: ReadonlyArray<TransactionDetail>
}

/** The answer of `get`. */
export type OrderCharge = Reuse | Paid | Renewed

/**
 * A charge of the order was refunded, and none is paid. No charge was made, since nobody may want the order any more. To
 * charge it once again, give it another reference.
 */
export class OrderRefunded extends legible(
  Schema.TaggedError<OrderRefunded>("effect-pix/OrderRefunded")("OrderRefunded", {
    operation: Schema.Literal("getTransaction"),
    outcome: Schema.Literal("NoEffect"),
    transactionId: Schema.String,
    /** The amount of the charge, in centavos: where a word of yours means a part, less was refunded. */
    amount: Centavos
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    return `The charge ${this.transactionId} of this order was refunded, so no other one was made. If the order is to be paid after all, charge it under another reference.`
  }
}

/**
 * The lookup of a charge of the order says a word that no table has, so no other charge was made: it may be paid. List the word in
 * `GatewayFacts`: `statuses: { charge: { paid: [...] } }`, or `open`, `refunded`, `closed`.
 */
export class OrderUnclear extends legible(
  Schema.TaggedError<OrderUnclear>("effect-pix/OrderUnclear")("OrderUnclear", {
    operation: Schema.Literal("getTransaction"),
    outcome: Schema.Literal("NoEffect"),
    transactionId: Schema.String,
    /** The word, as the service wrote it. */
    status: DetailStatus
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    const word = /^[\p{L}_ -]{1,40}$/u.test(this.status) ? `the status "${this.status}"` : "a status"
    return `The charge ${this.transactionId} of this order has ${word} that is not listed, so no other one was made. List it for what it means: GatewayFacts.layer({ statuses: { charge: { paid: [...] } } }), or open, refunded, closed. Else wait until it changes.`
  }
}

/** Three charges of the order are open: each of them can be paid, so no other one was made. */
export class OrderChargesOpen extends legible(
  Schema.TaggedError<OrderChargesOpen>("effect-pix/OrderChargesOpen")("OrderChargesOpen", {
    operation: Schema.Literal("getTransaction"),
    outcome: Schema.Literal("NoEffect"),
    /** The charges that are open, newest first. */
    transactionIds: Schema.Array(Schema.String)
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    return `This order has ${this.transactionIds.length} open charges, and each can be paid: ${this.transactionIds.join(", ")}. No other one was made. Wait until one lapses, or ask your gateway to cancel them.`
  }
}

/** The errors of `get`: those of creating and of looking up, and what prevents another charge of the order. */
export type OrderChargeError =
  | CreateTransactionError
  | GetTransactionError
  | OrderRefunded
  | OrderUnclear
  | OrderChargesOpen

/** How many lookups may be under way. */
const concurrency = 4

const day = 86_400_000

const reference = Schema.String.check(
  Schema.makeFilter(
    // The number and the amount follow it in a reference, which has 1,000 characters at most.
    (text) =>
      (text.length <= 900 && Option.isSome(fromReferenceOption("order", text))) || "must be a reference of a key"
  )
)

// The rest of the request is checked where it is sent.
const request = Schema.Struct({ amount: Centavos, paymentMethod: Schema.Literal("PIX") })

const checkOrder = checkOptionsBy(
  "createTransaction",
  Schema.Struct({ reference, request, last: Schema.optional(Schema.toType(Stored)) })
)

const checkOptions = checkOptionsBy(
  "createTransaction",
  Schema.Struct({
    openFor: withDefault(time.check(Schema.makeFilter((millis) => millis < day || "must be less than a day")), 300_000)
  })
)

/** How many charges of one order may be open at a time. */
const mostOpen = 3

/** How far the clocks of the service and of this machine may differ, where a charge is told from an older one. */
const clockSkew = 60_000

const ofLookup = { operation: "getTransaction", outcome: "NoEffect" } as const

/** What a call is about: the order, and its times in milliseconds. */
interface Visit extends Order {
  readonly now: number
  readonly openFor: number
}

/** The order needs a charge, and what its lookups say of those that it has. */
interface Due {
  readonly _tag: "Due"
  readonly last: Stored | undefined
  readonly ids: ReadonlyArray<string>
  readonly details: ReadonlyArray<TransactionDetail>
  readonly meanings: ReadonlyArray<OfCharge>
  readonly lapsed: ReadonlyArray<string>
}

/** The order is paid if one of its charges is: by the one with the asked amount, if there is one. */
const paidOf = ({ details, meanings }: Pick<Due, "details" | "meanings">, amount: number): Paid | undefined => {
  const paid = details.filter((_, at) => meanings[at] === "paid")
  const detail = paid.find(({ value }) => value === amount) ?? paid[0]
  if (detail === undefined) return undefined
  const others = paid.filter((other) => other !== detail)
  return { _tag: "Paid", detail, amount: detail.value === amount ? "same" : "different", others }
}

/** Whether the last charge is shown again. If it is over, it has lapsed. */
const reused = Effect.fnUntraced(function* (
  { now, openFor, request }: Visit,
  due: Due,
  last: Stored,
  { createdAt }: TransactionDetail
) {
  const known = { createdAt, now }
  const expiry = yield* believed(yield* Payments, last.pix.expirationDate, known)
  const end = expiry === undefined ? Infinity : DateTime.toEpochMillis(expiry)
  const isOver = provedEnd(expiry, known) <= now
  const isEnding = end > now && end <= now + openFor
  // A word that is not listed counts as open: a charge that is shown again is paid once.
  const isClosed = due.meanings[0] === "closed"
  if (last.amount === request.amount && !isClosed && !isOver && !isEnding)
    return { _tag: "Reuse", charge: last } satisfies Reuse
  return isOver ? { ...due, lapsed: [...due.lapsed, last.transactionId] } : due
})

/** Looks up all charges of the order. Paid comes before refunded, and both before the last charge. */
const lookUp = Effect.fnUntraced(function* (visit: Visit) {
  const { last, request } = visit
  const payments = yield* Payments
  const { statuses } = yield* factsHere
  const ids = last === undefined ? [] : [last.transactionId, ...last.earlier]
  const details = yield* Effect.forEach(ids, (id) => payments.getTransaction(id), { concurrency })
  const meanings = details.map(({ enStatusTransaction }) => meaningOf(enStatusTransaction, "charge", statuses))
  const due: Due = { _tag: "Due", last, ids, details, meanings, lapsed: last?.lapsed ?? [] }
  const paid = paidOf(due, request.amount)
  if (paid !== undefined) return paid
  const refunded = details.find((_, at) => meanings[at] === "refunded")
  if (refunded !== undefined) {
    return yield* new OrderRefunded({ ...ofLookup, transactionId: refunded.transactionId, amount: refunded.value })
  }
  const [newest] = details
  return last === undefined || newest === undefined ? due : yield* reused(visit, due, last, newest)
})

const unclear = ({ enStatusTransaction: status, transactionId }: TransactionDetail) =>
  new OrderUnclear({ ...ofLookup, transactionId, status })

/** Makes the next charge of the order, unless one that it has may be paid. */
const make = Effect.fnUntraced(function* (
  { reference, request }: Order,
  { details, ids, lapsed, last, meanings }: Due
) {
  const { createTransaction } = yield* Payments
  // An end that is proved outweighs any word.
  const ofCurrent = (meaning: OfCharge) => ids.filter((id, at) => meanings[at] === meaning && !lapsed.includes(id))
  const [unlisted] = ofCurrent("unlisted")
  const detail = unlisted === undefined ? undefined : details[ids.indexOf(unlisted)]
  if (detail !== undefined) return yield* unclear(detail)
  const open = ofCurrent("open")
  if (open.length >= mostOpen) return yield* new OrderChargesOpen({ ...ofLookup, transactionIds: open })
  const { amount } = request
  const number = (last?.number ?? 0) + 1
  // The key is of the order, so a repetition brings back what was made; and a charge moves no money until its code is shown.
  const idempotencyKey = fromReference("order", `${reference}/${number}/${amount}`)
  const { extra, id, pix } = yield* createTransaction(request, { idempotencyKey, earlier: "None" })
  const charge: Stored = { number, transactionId: id, amount, pix, earlier: ids, ...(lapsed.length > 0 && { lapsed }) }
  const { createdAt } = extra
  return { charge, createdAt: typeof createdAt === "string" ? parseInstant(createdAt) : undefined }
})

const renewed = (charge: Stored): Renewed => ({ _tag: "Renewed", charge })

const isPast = ({ pix: { expirationDate } }: Stored, now: number) =>
  expirationDate !== undefined && DateTime.toEpochMillis(expirationDate) <= now

/** A charge that was made just now: an expiry that has passed is before its creation, so it counts as absent. */
const fresh = (charge: Stored, now: number): Renewed =>
  renewed(isPast(charge, now) ? { ...charge, pix: { qrcode: charge.pix.qrcode } } : charge)

const answer = Effect.fnUntraced(function* (visit: Visit): Effect.fn.Return<OrderCharge, OrderChargeError, Payments> {
  const { now } = visit
  // Made just now by the clock of Brasília is not old.
  const isOld = (createdAt: DateTime.Utc | undefined) => {
    const age = now - (creationOf({ createdAt, now }) ?? now)
    return age > clockSkew && Math.abs(age - brasilia) > clockSkew
  }
  const found = yield* lookUp(visit)
  if (found._tag !== "Due") return found
  const { charge, createdAt } = yield* make(visit, found)
  if (!isOld(createdAt) && !isPast(charge, now)) return renewed(charge)
  // A repeated key may have brought back the charge of a call that was not stored. Another one is made only if that is over.
  const again = yield* lookUp({ ...visit, last: charge })
  if (again._tag === "Paid") return again
  if (again._tag === "Reuse") return renewed(charge)
  if (!isOld(again.details[0]?.createdAt ?? createdAt)) return fresh(charge, now)
  return fresh((yield* make(visit, again)).charge, now)
})

/**
 * The charge of an order: the one that is stored as `last`, if it can still be paid, or a new one. Amounts are in centavos. It
 * makes a lookup for each charge that the order has had, and then at most one new charge. A call that was not stored may have made a
 * charge before, which its key brings back: if that is over, one more is made.
 *
 * Fails with `OrderRefunded`; with `OrderUnclear` while a charge may be paid; with `OrderChargesOpen` while three can be; with
 * `InvalidRequest` for a wrong order or option; and as `getTransaction` and `createTransaction` do. While one lookup fails,
 * nothing is made. After an `OutcomeUnknown` or an `IdempotencyConflict` call again with the same order: its key is the same,
 * so `Effect.retry` around it is safe.
 */
export const get = (order: Order, options: Options = {}): Effect.Effect<OrderCharge, OrderChargeError, Payments> =>
  inSpan("OrderCharge.get", { kind: "internal", attributes: {} }, () =>
    Effect.gen(function* () {
      const { openFor } = yield* checkOptions(options)
      yield* checkOrder(order)
      return yield* answer({ ...order, openFor, now: yield* Clock.currentTimeMillis })
    })
  )
