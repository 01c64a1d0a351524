import { assert, describe, test } from "@effect/vitest"
import { Clock, Context, DateTime, type Duration, Effect, Layer, Result, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  ChargeCode,
  type CreatedPixTransaction,
  IdempotencyKey,
  Money,
  OrderCharge,
  Payments,
  PaymentsPolicy,
  Rehearsed,
  type WriteOptions
} from "effect-pix"
import { Fault, Rehearsal, type RehearsalWorld, Sandbox } from "effect-pix/sandbox"
import { lookups } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { charge as requestOf, created } from "../support/operations.ts"
import { detailOf, mockPayments } from "../support/payments.ts"
import { budget, isWhole, requireClean } from "../support/rehearsals.ts"

const requestFor = (centavos: number) => ({ ...requestOf, amount: Money.centavos(centavos) })

/** Opens the page of order 42 for this amount, with what is stored of its last charge. The client repeats no call. */
const open = (centavos: number, last?: OrderCharge.Stored, options?: OrderCharge.Options) =>
  Effect.provideService(
    OrderCharge.get({ reference: "42", request: requestFor(centavos), last }, options),
    PaymentsPolicy,
    PaymentsPolicy.once
  )

/** The charge that the page shows. */
const chargeOf = (...args: Parameters<typeof open>) =>
  Effect.map(open(...args), (answer) => {
    assert(answer._tag !== "Paid")
    return answer.charge
  })

const charges = Effect.flatMap(Sandbox, (sandbox) => sandbox.transactions)

/** An order, as its steps leave it: its charges at the gateway, in the order in which they were made, and what is stored. */
interface Past {
  readonly sandbox: Sandbox["Service"]
  readonly id: string
  last: OrderCharge.Stored | undefined
}

/** The steps of an order. The number after one of the gateway's is that of a charge. */
const steps: Readonly<Record<string, (past: Past, of: string) => Effect.Effect<unknown, unknown, Payments | Sandbox>>> =
  {
    /** The page is opened for so many centavos, and the charge is stored. */
    opens: (past, centavos) => Effect.map(chargeOf(Number(centavos), past.last), (charge) => (past.last = charge)),
    /** The process dies before it stores the charge. */
    loses: ({ last }, centavos) => open(Number(centavos), last),
    /** The answer with the charge is lost. */
    misses: ({ last, sandbox }, centavos) =>
      Effect.andThen(sandbox.fault("createTransaction", Fault.resetAfter), Effect.flip(open(Number(centavos), last))),
    /** The charge before the last one is unknown at the gateway. */
    names: (past) => Effect.sync(() => (past.last &&= { ...past.last, number: 2, earlier: ["no-such-charge"] })),
    waits: (_, time) => TestClock.adjust(time as Duration.Input), // the rows name durations
    pays: ({ id, sandbox }) => sandbox.markPaid(id, { late: true }),
    refunds: ({ id, sandbox }) => sandbox.refund(id),
    cancels: ({ id, sandbox }) => sandbox.cancel(id),
    fails: ({ id, sandbox }) => sandbox.fail(id),
    meets: ({ sandbox }) => sandbox.fault("getTransaction", Fault.answer(503), { times: Infinity })
  }

/** The steps of an order, for how many centavos its page is opened then, and the answer, with charges by their numbers. */
type Row = readonly [past: string, centavos: number, answer: string, openFor?: Duration.Input]

const rows: ReadonlyArray<Row> = [
  ["", 2500, "Renewed 1 of 2500"],
  ["opens 2500", 2500, "Reuse 1"],
  ["opens 2500, waits 23 hours, waits 54 minutes, waits 59999 millis", 2500, "Reuse 1"],
  ["opens 2500, waits 23 hours, waits 55 minutes", 2500, "Renewed 2 of 2500 after 1"],
  ["opens 2500, waits 23 hours, waits 59 minutes", 2500, "Reuse 1", 0],
  ["opens 2500, waits 1 hour", 2500, "Renewed 2 of 2500 after 1", "23 hours"],
  ["opens 2500, cancels 1", 2500, "Renewed 2 of 2500 after 1"],
  ["opens 2500, fails 1", 2500, "Renewed 2 of 2500 after 1"],
  ["opens 2500", 3000, "Renewed 2 of 3000 after 1"],
  ["opens 2500, opens 3000", 2500, "Renewed 3 of 2500 after 2 after 1"],
  ["opens 2500, pays 1", 2500, "Paid 1 (same)"],
  ["opens 2500, pays 1", 3000, "Paid 1 (different)"],
  ["opens 2500, waits 1 day, opens 2500, opens 3000, pays 1", 3000, "Paid 1 (different)"],
  ["opens 2500, opens 3000, pays 1, pays 2", 2500, "Paid 1 (same), and 2"],
  ["opens 2500, opens 3000, pays 1, pays 2", 3000, "Paid 2 (same), and 1"],
  ["opens 2500, opens 3000, pays 1, pays 2", 4000, "Paid 2 (different), and 1"],
  ["opens 2500, pays 1, refunds 1", 2500, "OrderRefunded 1 of 2500"],
  ["opens 2500, opens 3000, pays 1, refunds 1", 3000, "OrderRefunded 1 of 2500"],
  ["opens 2500, opens 3000, pays 1, refunds 1, pays 2", 3000, "Paid 2 (same)"],
  ["opens 2500, meets an outage", 3000, "ServiceUnavailable"],
  ["opens 2500, names a charge of nobody", 3000, "TransactionNotFound"],
  ["loses 2500", 2500, "Renewed 1 of 2500"],
  ["loses 2500", 3000, "Renewed 2 of 3000"],
  ["opens 2500, loses 3000", 3000, "Renewed 2 of 3000 after 1"],
  ["loses 2500, waits 1 day", 2500, "Renewed 2 of 2500 after 1"],
  ["loses 2500, waits 1 day, pays 1", 2500, "Paid 1 (same)"],
  ["misses 2500", 2500, "Renewed 1 of 2500"],
  ["opens 2500, misses 3000", 3000, "Renewed 2 of 3000 after 1"]
]

/** An answer as the rows have it. */
const shownBy = (
  answer: Result.Result<OrderCharge.OrderCharge, OrderCharge.OrderChargeError>,
  numberOf: (id: string) => number
) => {
  if (Result.isFailure(answer)) {
    const error = answer.failure
    if (error._tag !== "OrderRefunded") return error._tag
    assert.include(error.message, error.transactionId)
    return `OrderRefunded ${numberOf(error.transactionId)} of ${error.amount}`
  }
  if (answer.success._tag === "Paid") {
    const { amount, detail, others } = answer.success
    const also = others.map(({ transactionId }) => `, and ${numberOf(transactionId)}`)
    return [`Paid ${numberOf(detail.transactionId)} (${amount})`, ...also].join("")
  }
  const { amount, earlier, number, transactionId } = answer.success.charge
  assert.strictEqual(number, earlier.length + 1)
  if (answer.success._tag === "Reuse") return `Reuse ${numberOf(transactionId)}`
  return [`Renewed ${numberOf(transactionId)} of ${amount}`, ...earlier.map((id) => `after ${numberOf(id)}`)].join(" ")
}

describe("OrderCharge.get", () => {
  for (const [past, centavos, expected, openFor] of rows)
    effect(
      `an order that ${past || "is new"} and then asks for ${centavos} gets ${expected}, in two tabs at once too`,
      Sandbox.layerPayments,
      function* () {
        const sandbox = yield* Sandbox
        const idsOf = Effect.map(charges, (all) => all.map(({ transactionId }) => transactionId))
        let last: OrderCharge.Stored | undefined
        for (const [verb = "", of = ""] of past === "" ? [] : past.split(", ").map((step) => step.split(/ (.*)/))) {
          const step = steps[verb]
          assert(step !== undefined, verb)
          const order = { sandbox, last, id: (yield* idsOf)[Number(of) - 1] ?? "" }
          yield* step(order, of)
          last = order.last
        }
        const before = (yield* charges).length
        const ask = Effect.result(open(centavos, last, { openFor }))
        const answers = yield* Effect.all([ask, ask], { concurrency: "unbounded" })
        const ids = yield* idsOf
        for (const answer of answers)
          assert.strictEqual(
            shownBy(answer, (id) => ids.indexOf(id) + 1),
            expected
          )
        // Only a new charge is made, and that one once.
        assert.lengthOf(ids, Math.max(before, Number(/^Renewed (\d+)/.exec(expected)?.[1] ?? 0)))
      }
    )

  effect("the answer has all that the page shows, as JSON too, and each lookup", Sandbox.layerPayments, function* () {
    const charge = yield* chargeOf(2500)
    const [row] = yield* charges
    assert.strictEqual(charge.pix.qrcode, row?.qrcode)
    assert.isTrue(ChargeCode.of(charge).isSound)
    const codec = Schema.fromJsonString(OrderCharge.Stored)
    const stored = yield* Schema.encodeEffect(codec)(charge)
    assert.deepStrictEqual(yield* Schema.decodeEffect(codec)(stored), charge)
    const next = yield* chargeOf(3000, charge)
    assert.strictEqual(yield* lookups, 1)
    // The lookups of an order's charges are made at the same time.
    yield* (yield* Sandbox).fault("getTransaction", Fault.latency("1 second"), { times: 2 })
    const again = yield* Effect.forkChild(open(3000, next))
    yield* TestClock.adjust("1 second")
    assert.isDefined(again.pollUnsafe())
    yield* (yield* Sandbox).markPaid(charge.transactionId)
    const paid = yield* open(2500, charge)
    assert(paid._tag === "Paid")
    assert.deepInclude(paid.detail, { value: charge.amount, enStatusTransaction: "Paid" })
  })

  const stored = {
    number: 1,
    transactionId: "t",
    amount: Money.centavos(2500),
    pix: { qrcode: "000201" },
    earlier: []
  }

  effect("an order has one charge over a decorated client too", Sandbox.layerPayments, function* () {
    const payments = yield* Payments
    const decorated = { ...payments, getTransaction: (id: string) => payments.getTransaction(id) }
    const charge = yield* chargeOf(2500)
    const again = yield* Effect.provideService(open(2500, charge), Payments, decorated)
    assert.deepStrictEqual([again._tag, (yield* charges).length], ["Reuse", 1])
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
    for (const status of ["Awaiting", "UnderReview"]) {
      const layer = mockPayments({ getTransaction: (id) => Effect.succeed(detailOf(id, status)) })
      assert.deepStrictEqual(yield* Effect.provide(open(2500, stored), layer), { _tag: "Reuse", charge: stored })
    }
  })

  effect(
    "a key is made of the order, the number and the amount, also the longest ones",
    Sandbox.layerPayments,
    function* () {
      const most = 9_999_999_999
      const long = "4".repeat(900)
      const first = yield* chargeOf(2500)
      yield* chargeOf(3000, first)
      for (const [reference, centavos] of [
        ["43", 2500],
        [long, most]
      ] as const)
        yield* OrderCharge.get({ reference, request: requestFor(centavos), last: undefined })
      assert.deepStrictEqual(
        (yield* charges).map(({ idempotencyKey }) => idempotencyKey),
        ["42/1/2500", "42/2/3000", "43/1/2500", `${long}/1/${most}`].map((reference) =>
          IdempotencyKey.fromReference("order", reference)
        )
      )
    }
  )
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
    [
      "ships what is paid once in two processes too",
      2,
      "call 1 createTransaction: its process stands still before it is sent"
    ]
  ] as const
  test.for(plays)("%s", async ([, processes, only]) => {
    const options = { ...world, processes, ...(isWhole ? budget : { only }) }
    const report = await Effect.runPromise(
      Rehearsal.run(shop, { ...options, checks: ["shipped-twice", "not-shipped"] })
    )
    requireClean(report, isWhole ? 100 : 1)
  })
})
