import { assert, describe, test } from "@effect/vitest"
import { Clock, Context, DateTime, Effect, Layer, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  ChargeCode,
  type CreatedPixTransaction,
  IdempotencyKey,
  Money,
  OrderCharge,
  type Payments,
  PaymentsPolicy,
  Rehearsed,
  type TransactionDetail,
  type WriteOptions
} from "effect-pix"
import { Fault, Rehearsal, type RehearsalWorld, Sandbox } from "effect-pix/sandbox"
import { lookups } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { charge as requestOf, created } from "../support/operations.ts"
import { mockPayments } from "../support/payments.ts"
import { budget, isWhole, requireClean } from "../support/rehearsals.ts"

const requestFor = (centavos: number) => ({ ...requestOf, amount: Money.centavos(centavos) })

/** The charge of order 42 for this amount, and with this one stored. */
const get = (centavos: number, last?: OrderCharge.Stored, options?: OrderCharge.Options) =>
  OrderCharge.get({ reference: "42", request: requestFor(centavos), last }, options)

/** The same, where it has to answer with an open charge. */
const chargeOf = (...args: Parameters<typeof get>) =>
  Effect.map(get(...args), (answer) => {
    assert(answer._tag !== "Paid")
    return answer.charge
  })

const charges = Effect.flatMap(Sandbox, (sandbox) => sandbox.transactions)
const creations = Effect.map(
  Effect.flatMap(Sandbox, (sandbox) => sandbox.requests),
  (requests) => requests.filter(({ operation }) => operation === "createTransaction").length
)

describe("OrderCharge.get", () => {
  effect(
    "an order without a charge gets its first one, with all that its page shows",
    Sandbox.layerPayments,
    function* () {
      const answer = yield* get(2500)
      assert(answer._tag === "Renewed")
      const { charge } = answer
      const [row] = yield* charges
      assert.deepStrictEqual(
        [charge.number, charge.transactionId, charge.amount, charge.pix.qrcode, charge.earlier],
        [1, row?.transactionId, 2500, row?.qrcode, []]
      )
      assert.isTrue(ChargeCode.of(charge).isSound)
      const codec = Schema.fromJsonString(OrderCharge.Stored)
      const stored = yield* Schema.encodeEffect(codec)(charge)
      assert.deepStrictEqual(yield* Schema.decodeEffect(codec)(stored), charge)
    }
  )

  effect("an open charge of the same amount is shown again, after one lookup", Sandbox.layerPayments, function* () {
    const last = yield* chargeOf(2500)
    assert.deepStrictEqual(yield* get(2500, last), { _tag: "Reuse", charge: last })
    assert.deepStrictEqual([yield* creations, yield* lookups], [1, 1])
  })

  effect(
    "a charge is shown again for as long as it is open for `openFor`, which is 5 minutes, and then renewed",
    Sandbox.layerPayments,
    function* () {
      const last = yield* chargeOf(2500)
      yield* TestClock.adjust("23 hours")
      assert.strictEqual((yield* get(2500, last, { openFor: "59 minutes" }))._tag, "Reuse")
      yield* TestClock.adjust("55 minutes")
      yield* TestClock.adjust(-1)
      assert.strictEqual((yield* get(2500, last))._tag, "Reuse")
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* get(2500, last, { openFor: 0 }))._tag, "Reuse")
      const next = yield* get(2500, last)
      assert(next._tag === "Renewed")
      assert.deepStrictEqual([next.charge.number, next.charge.earlier], [2, [last.transactionId]])
      assert.notStrictEqual(next.charge.transactionId, last.transactionId)
    }
  )

  effect.each(["cancel", "fail"] as const)("a charge after %s is renewed", Sandbox.layerPayments, function* (move) {
    const sandbox = yield* Sandbox
    const last = yield* chargeOf(2500)
    yield* sandbox[move](last.transactionId)
    const next = yield* get(2500, last)
    assert(next._tag === "Renewed")
    assert.deepStrictEqual([next.charge.number, next.charge.earlier], [2, [last.transactionId]])
  })

  effect("a paid charge is answered with its lookup, and nothing is made", Sandbox.layerPayments, function* () {
    const last = yield* chargeOf(2500)
    yield* (yield* Sandbox).markPaid(last.transactionId)
    const answer = yield* get(2500, last)
    assert(answer._tag === "Paid")
    assert.deepStrictEqual(
      [answer.detail.transactionId, answer.detail.value, answer.amount, answer.others],
      [last.transactionId, 2500, "same", []]
    )
    assert.strictEqual(yield* creations, 1)
  })

  effect("a changed cart is a new charge, and no conflict of keys", Sandbox.layerPayments, function* () {
    const one = yield* chargeOf(2500)
    const two = yield* chargeOf(3000, one)
    const three = yield* chargeOf(2500, two)
    assert.deepStrictEqual(
      [one, two, three].map(({ amount, number }) => [number, amount]),
      [
        [1, 2500],
        [2, 3000],
        [3, 2500]
      ]
    )
    assert.deepStrictEqual(three.earlier, [two.transactionId, one.transactionId])
    assert.lengthOf(yield* charges, 3)
  })

  effect("a changed cart whose old charge is paid is paid, with another amount", Sandbox.layerPayments, function* () {
    const last = yield* chargeOf(2500)
    yield* (yield* Sandbox).markPaid(last.transactionId)
    const answer = yield* get(3000, last)
    assert(answer._tag === "Paid")
    assert.deepStrictEqual([answer.detail.value, answer.amount], [2500, "different"])
    assert.strictEqual(yield* creations, 1)
  })

  effect(
    "a late payment of an old charge is found, and the payer is shown no code again",
    Sandbox.layerPayments,
    function* () {
      const sandbox = yield* Sandbox
      const one = yield* chargeOf(2500)
      yield* TestClock.adjust("1 day")
      const two = yield* chargeOf(2500, one)
      const three = yield* chargeOf(3000, two)
      yield* sandbox.markPaid(one.transactionId, { late: true })
      const answer = yield* get(3000, three)
      assert(answer._tag === "Paid")
      assert.deepStrictEqual([answer.detail.transactionId, answer.amount], [one.transactionId, "different"])
    }
  )

  effect(
    "an order that is paid twice is told with both charges, that of its amount first",
    Sandbox.layerPayments,
    function* () {
      const sandbox = yield* Sandbox
      const one = yield* chargeOf(2500)
      const two = yield* chargeOf(3000, one)
      for (const { transactionId } of [one, two]) yield* sandbox.markPaid(transactionId)
      for (const [centavos, paid, other] of [
        [3000, two, one],
        [2500, one, two]
      ] as const) {
        const answer = yield* get(centavos, two)
        assert(answer._tag === "Paid")
        assert.deepStrictEqual(
          [answer.detail.transactionId, answer.amount, ...answer.others.map(({ transactionId }) => transactionId)],
          [paid.transactionId, "same", other.transactionId]
        )
      }
    }
  )

  effect(
    "a refunded order is a failure and no charge, whichever charge was refunded",
    Sandbox.layerPayments,
    function* () {
      const sandbox = yield* Sandbox
      const one = yield* chargeOf(2500)
      const two = yield* chargeOf(3000, one)
      yield* sandbox.markPaid(one.transactionId)
      yield* sandbox.refund(one.transactionId)
      for (const last of [one, two]) {
        const error = yield* Effect.flip(get(3000, last))
        assert(error._tag === "OrderRefunded")
        assert.deepStrictEqual(
          [error.transactionId, error.amount, error.outcome],
          [one.transactionId, 2500, "NoEffect"]
        )
        assert.include(error.message, one.transactionId)
      }
      assert.strictEqual(yield* creations, 2)
      yield* sandbox.markPaid(two.transactionId)
      const answer = yield* get(3000, two)
      assert(answer._tag === "Paid")
      assert.deepStrictEqual([answer.detail.transactionId, answer.others], [two.transactionId, []])
    }
  )

  effect("nothing is made while a lookup fails", Sandbox.layerPayments, function* () {
    const sandbox = yield* Sandbox
    const one = yield* chargeOf(2500)
    const two = yield* chargeOf(3000, one)
    yield* sandbox.fault("getTransaction", [Fault.none, Fault.answer(503)])
    const error = yield* Effect.flip(Effect.provideService(get(2500, two), PaymentsPolicy, PaymentsPolicy.once))
    assert.strictEqual(error._tag, "ServiceUnavailable")
    const unknown = { ...one, transactionId: "no-such-charge" }
    assert.strictEqual((yield* Effect.flip(get(2500, unknown)))._tag, "TransactionNotFound")
    assert.strictEqual(yield* creations, 2)
  })

  effect("a call whose answer was lost is one charge after it is repeated", Sandbox.layerPayments, function* () {
    const sandbox = yield* Sandbox
    const once = <A, E, R>(call: Effect.Effect<A, E, R>) =>
      Effect.provideService(call, PaymentsPolicy, PaymentsPolicy.once)
    let last: OrderCharge.Stored | undefined
    for (const [centavos, count] of [
      [2500, 1],
      [3000, 2]
    ] as const) {
      yield* sandbox.fault("createTransaction", Fault.resetAfter)
      assert.strictEqual((yield* Effect.flip(once(get(centavos, last))))._tag, "OutcomeUnknown")
      last = yield* chargeOf(centavos, last)
      assert.deepStrictEqual([last.number, (yield* charges).length], [count, count])
    }
  })

  effect(
    "two calls at once are one charge: the first of an order, and a renewed one",
    Sandbox.layerPayments,
    function* () {
      let last: OrderCharge.Stored | undefined
      for (const [centavos, count] of [
        [2500, 1],
        [3000, 2]
      ] as const) {
        const [one, other] = yield* Effect.all([chargeOf(centavos, last), chargeOf(centavos, last)], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(one, other)
        assert.lengthOf(yield* charges, count)
        last = one
      }
    }
  )

  effect(
    "a charge that was made and not stored is found again, and is in no way of a changed cart",
    Sandbox.layerPayments,
    function* () {
      const lost = yield* chargeOf(2500)
      assert.deepStrictEqual(yield* chargeOf(2500), lost)
      const next = yield* chargeOf(3000)
      assert.deepStrictEqual([next.number, next.amount, next.earlier], [1, 3000, []])
      assert.lengthOf(yield* charges, 2)
    }
  )

  effect(
    "a charge that was not stored and has lapsed is looked up, and renewed or paid",
    Sandbox.layerPayments,
    function* () {
      const sandbox = yield* Sandbox
      const lost = yield* chargeOf(2500)
      yield* TestClock.adjust("1 day")
      const next = yield* get(2500)
      assert(next._tag === "Renewed")
      assert.deepStrictEqual([next.charge.number, next.charge.earlier], [2, [lost.transactionId]])
      yield* sandbox.markPaid(lost.transactionId, { late: true })
      assert.strictEqual((yield* get(2500))._tag, "Paid")
      assert.lengthOf(yield* charges, 2)
    }
  )

  const detailOf = (transactionId: string, enStatusTransaction: string): TransactionDetail => ({
    id: 1,
    value: Money.centavos(2500),
    transactionId,
    enStatusTransaction
  })

  effect("charges that are lapsed when they are made end after two", function* () {
    const keys: Array<string | undefined> = []
    const expirationDate = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
    const create: Payments["Service"]["createTransaction"] = (_: unknown, options: WriteOptions = {}) =>
      Effect.sync((): CreatedPixTransaction => {
        keys.push(options.idempotencyKey)
        return {
          id: `charge-${keys.length}`,
          amount: Money.centavos(2500),
          status: "WAITING_PAYMENT",
          pix: { qrcode: created.data.pix.qrcode, expirationDate },
          extra: {},
          idempotencyKey: options.idempotencyKey ?? ""
        }
      })
    const layer = mockPayments({
      createTransaction: create,
      getTransaction: (id) => Effect.succeed(detailOf(id, "Awaiting"))
    })
    const { earlier, number } = yield* Effect.provide(chargeOf(2500), layer)
    assert.deepStrictEqual([number, earlier, new Set(keys).size], [2, ["charge-1"], 2])
  })

  effect("a charge without an expiry, or with a status that is not documented, is shown again", function* () {
    const { expirationDate: _, ...pix } = { expirationDate: 0, qrcode: "000201" }
    const last = { number: 1, transactionId: "t", amount: Money.centavos(2500), pix, earlier: [] }
    for (const status of ["Awaiting", "UnderReview"]) {
      const layer = mockPayments({ getTransaction: (id) => Effect.succeed(detailOf(id, status)) })
      assert.deepStrictEqual(yield* Effect.provide(get(2500, last), layer), { _tag: "Reuse", charge: last })
    }
  })

  interface Wrong {
    readonly path: string
    readonly order?: object
    readonly options?: object
  }
  const stored = { number: 1, transactionId: "t", amount: 2500, pix: { qrcode: "000201" }, earlier: [] }
  const wrongs: ReadonlyArray<Wrong> = [
    { path: "reference", order: { reference: " " } },
    { path: "reference", order: { reference: "4".repeat(901) } },
    { path: "reference", order: { reference: 42 } },
    { path: "request", order: { request: undefined } },
    { path: "request.amount", order: { request: { ...requestOf, amount: 25.5 } } },
    { path: "request.paymentMethod", order: { request: { ...requestOf, paymentMethod: "BOLETO" } } },
    { path: "customer", order: { request: { ...requestOf, customer: undefined }, last: undefined } },
    { path: "last", order: { last: "t" } },
    { path: "last.number", order: { last: { ...stored, number: 0 } } },
    { path: "last.pix.expirationDate", order: { last: { ...stored, pix: { qrcode: "0", expirationDate: "soon" } } } },
    { path: "openFor", options: { openFor: "1 day" } },
    { path: "openFor", options: { openFor: "soon" } },
    { path: "options", options: [] }
  ]
  effect.each(wrongs)(
    "a wrong $path is an InvalidRequest that names it, and nothing is sent",
    Sandbox.layerPayments,
    function* ({ options = {}, order, path }) {
      // A caller without types may give this.
      const given = { reference: "42", request: requestOf, last: stored, ...order } as unknown as OrderCharge.Order
      const error = yield* Effect.flip(OrderCharge.get(given, options))
      assert(error._tag === "InvalidRequest")
      assert.deepStrictEqual([error.operation, error.issues.map((issue) => issue.path)], ["createTransaction", [path]])
      assert.lengthOf(yield* (yield* Sandbox).requests, 0)
    }
  )

  effect(
    "two orders of one amount are two charges, and a key has the order, the number and the amount",
    Sandbox.layerPayments,
    function* () {
      const first = yield* chargeOf(2500)
      yield* chargeOf(3000, first)
      yield* OrderCharge.get({ reference: "43", request: requestFor(2500), last: undefined })
      assert.deepStrictEqual(
        (yield* charges).map(({ idempotencyKey }) => idempotencyKey),
        ["42/1/2500", "42/2/3000", "43/1/2500"].map((reference) => IdempotencyKey.fromReference("order", reference))
      )
    }
  )

  effect("the longest reference makes a charge, with the largest numbers", Sandbox.layerPayments, function* () {
    const request = requestFor(9_999_999_999)
    const answer = yield* OrderCharge.get({ reference: "4".repeat(900), request, last: undefined })
    assert.strictEqual(answer._tag, "Renewed")
  })
})

interface Order {
  total: Money.Centavos
  last?: OrderCharge.Stored
  shipped?: string
  readonly told: Set<string>
}

/** An order of a small shop: it survives the death of a process. */
class Book extends Context.Service<Book, Order>()("Book") {
  static readonly layer = Layer.sync(Book, () => ({ total: Money.centavos(2500), told: new Set<string>() }))
}

/** Opens the page of the order once: stores its charge, or ships what is paid, and tells a person of the rest. */
const visit = Effect.gen(function* () {
  const book = yield* Book
  const { last, total } = book
  const answer = yield* OrderCharge.get({ reference: "42", request: { ...requestOf, amount: total }, last })
  if (answer._tag !== "Paid") {
    if (book.last !== last) return yield* Effect.fail("another tab was faster")
    book.last = answer.charge
    return
  }
  const { amount, detail, others } = answer
  if (amount === "same" && book.shipped === undefined) {
    book.shipped = detail.transactionId
    yield* Rehearsed.fact("shipped", { transactionId: detail.transactionId, amount: total })
  }
  for (const { transactionId } of [detail, ...others]) {
    if (transactionId === book.shipped || book.told.has(transactionId)) continue
    yield* Rehearsed.fact("told", { transactionId })
    book.told.add(transactionId)
  }
})

/** The page is opened; an hour later the cart changes, and the page is opened every hour. */
const shop = Effect.gen(function* () {
  const book = yield* Book
  const open = Effect.retry(visit, Schedule.spaced("10 minutes"))
  yield* open
  yield* Effect.sleep("1 hour")
  book.total = Money.centavos(3000)
  yield* Effect.repeat(open, Schedule.spaced("1 hour"))
})

/** A charge for each amount that the order had, and for each that lapsed or failed. */
const isSparing = ({ transactions }: RehearsalWorld) => {
  const open = transactions.filter(({ status }) => status === "Awaiting" || status === "Paid")
  const amounts = open.map(({ amount }) => amount)
  return new Set(amounts).size === amounts.length
    ? Effect.void
    : Effect.fail(`There are charges of ${amounts.join(", ")} centavos.`)
}

describe("a shop that charges by OrderCharge", () => {
  // Both charges are paid: the old one two hours after it was made, when the cart has changed.
  const world = { stores: Book.layer, payAfter: "2 hours", stopAfter: "4 hours", rules: { isSparing } } as const
  const plays = [
    ["ships what is paid once, and tells of the rest", 1, "call 1 createTransaction: executed, answer lost"],
    ["does so in two processes", 2, "call 1 createTransaction: its process stands still before it is sent"]
  ] as const
  test.for(plays)("%s", async ([, processes, only]) => {
    const options = { ...world, processes, ...(isWhole ? budget : { only }) }
    const report = await Effect.runPromise(
      Rehearsal.run(shop, { ...options, checks: ["shipped-twice", "not-shipped"] })
    )
    requireClean(report, isWhole ? 100 : 1)
  })
})
