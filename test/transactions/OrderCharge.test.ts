import { assert, describe, test } from "@effect/vitest"
import { Clock, Context, DateTime, type Duration, Effect, Layer, Result, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  type CreatedPixTransaction,
  GatewayFacts,
  IdempotencyKey,
  Money,
  OrderCharge,
  Payments,
  PaymentsPolicy,
  Rehearsed,
  type WriteOptions
} from "effect-pix"
import { Fault, Rehearsal, type RehearsalWorld, Sandbox } from "effect-pix/sandbox"
import { parse } from "../support/brCode.ts"
import { lookups } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { charge as requestOf, created } from "../support/operations.ts"
import { detailOf, mockPayments } from "../support/payments.ts"
import { local, seenGateway, type SeenTimes, withOffset } from "../support/seenGateway.ts"
import { isWhole, requireClean } from "../support/rehearsals.ts"
import { oneAttempt } from "../support/policies.ts"
import { drawn } from "../support/seed.ts"

const requestFor = (centavos: number) => ({ ...requestOf, amount: Money.centavos(centavos) })

/** Opens the page of order 42 for this amount, with what is stored of its last charge. The client repeats no call. */
const open = (centavos: number, last?: OrderCharge.Stored, options?: OrderCharge.Options) =>
  Effect.provideService(
    OrderCharge.get({ reference: "42", request: requestFor(centavos), last }, options),
    PaymentsPolicy,
    oneAttempt
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
    assert.deepStrictEqual(parse(charge.pix.qrcode).problems, [])
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

  effect("a charge that is lapsed when it is made is the only one of its visit", function* () {
    const keys: Array<string | undefined> = []
    const expirationDate = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
    const create: Payments["Service"]["createTransaction"] = (_: unknown, options?: WriteOptions) =>
      Effect.sync((): CreatedPixTransaction => {
        keys.push(options?.idempotencyKey)
        return {
          id: `charge-${keys.length}`,
          amount: Money.centavos(2500),
          status: "WAITING_PAYMENT",
          pix: { qrcode: created.data.pix.qrcode, expirationDate },
          extra: {},
          idempotencyKey: options?.idempotencyKey ?? ""
        }
      })
    const layer = mockPayments({
      createTransaction: create,
      getTransaction: (id) => Effect.succeed(detailOf(id, "Awaiting"))
    })
    const { earlier, number } = yield* Effect.provide(chargeOf(2500), layer)
    assert.deepStrictEqual([number, earlier, keys.length], [1, [], 1])
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

const hour = 3_600_000
const start = Date.parse("2026-11-27T14:07:00Z")

/** Visits the page of an order at a gateway as it was seen, after so many milliseconds each. What is stored goes through JSON. */
const visits = Effect.fnUntraced(function* (
  gateway: ReturnType<typeof seenGateway>,
  plan: ReadonlyArray<readonly [after: number, centavos: number]>,
  policy: Partial<PaymentsPolicy> = {}
) {
  const codec = Schema.fromJsonString(OrderCharge.Stored)
  const tags: Array<string> = []
  let last: OrderCharge.Stored | undefined
  let failure: OrderCharge.OrderChargeError | undefined
  for (const [after, centavos] of plan) {
    yield* TestClock.adjust(after)
    const request = requestFor(centavos)
    const answer = yield* Effect.result(OrderCharge.get({ reference: "42", request, last })).pipe(
      Effect.provide(gateway.layer),
      Effect.provideService(PaymentsPolicy, PaymentsPolicy.make(policy))
    )
    tags.push(Result.isSuccess(answer) ? answer.success._tag : answer.failure._tag)
    if (Result.isFailure(answer)) failure = answer.failure
    else if (answer.success._tag !== "Paid") {
      last = yield* Schema.decodeEffect(codec)(yield* Schema.encodeEffect(codec)(answer.success.charge))
    }
  }
  return { tags, last, failure }
})

const four = [0, 1, 1, 1].map((minutes) => [minutes * 600_000, 2500] as const)
const once = ["Renewed", "Reuse", "Reuse", "Reuse"]

describe("OrderCharge.get at a gateway as it was seen", () => {
  const impossible: ReadonlyArray<readonly [what: string, expiresAt: SeenTimes["expiresAt"]]> = [
    ["the first year", () => "0001-01-01T00:00:00"],
    ["1970", () => "1970-01-01"],
    ["1970 in UTC", () => "1970-01-01T00:00:00Z"],
    ["1970 with its offset", () => "1970-01-01T00:00:00+00:00"],
    ["its day alone", (now) => withOffset(now).slice(0, 10)],
    ["half an hour by the clock of Brasília", (now) => local(now + 0.6 * hour)],
    ["half an hour by that clock, with a false Z", (now) => `${local(now + 0.6 * hour)}.1234567Z`],
    ["an hour ago", (now) => withOffset(now - hour)],
    ["a century", () => "2126-11-27T14:07:00+00:00"],
    ["the last day of the year 9999", () => "9999-12-31"],
    ["the last hour of that year in Brasília", () => "9999-12-31T23:59:59-03:00"],
    ["a year and a half", (now) => withOffset(now + 401 * 24 * hour)],
    ["no text", () => 20_261_127],
    ["none", () => null]
  ]
  const creations: ReadonlyArray<readonly [what: string, createdAt: NonNullable<SeenTimes["createdAt"]>]> = [
    ["its time", withOffset],
    ["its time in UTC", (now) => new Date(now).toISOString()],
    ["the time of Brasília", local],
    ["the first year", () => "0001-01-01T00:00:00"],
    ["nothing", () => undefined]
  ]
  effect.each(
    drawn(impossible.flatMap(([what, expiresAt]) => creations.map((made) => [what, ...made, expiresAt] as const)))
  )(
    "four visits make one charge where its expiry is %s, and its lookup says %s of its creation",
    function* ([, , createdAt, expiresAt]) {
      yield* TestClock.setTime(start)
      const gateway = seenGateway({ expiresAt, createdAt })
      assert.deepStrictEqual((yield* visits(gateway, four)).tags, once)
      assert.lengthOf(gateway.charges, 1)
    }
  )

  // A charge that lives less than `openFor` is asked for anew where it is a repeated key's old one.
  effect.each([2, 4].flatMap((minutes) => [-50, -5, 5, 50].map((ahead) => [minutes, ahead] as const)))(
    "a visit makes one charge that lives %s minutes where the gateway's clock is ahead by %s seconds",
    function* ([minutes, ahead]) {
      yield* TestClock.setTime(start)
      const gateway = seenGateway({
        expiresAt: (now) => withOffset(now + minutes * 60_000),
        answered: (now) => ({ createdAt: withOffset(now) }),
        ahead: ahead * 1000
      })
      assert.deepStrictEqual((yield* visits(gateway, [[0, 2500]])).tags, ["Renewed"])
      assert.lengthOf(gateway.charges, 1)
    }
  )

  const ends: ReadonlyArray<readonly [what: string, expiresAt: SeenTimes["expiresAt"], end: number]> = [
    ["with its offset", (now) => withOffset(now + hour), hour],
    ["with the offset of Brasília", (now) => `${local(now + hour)}-03:00`, hour],
    ["in UTC", (now) => new Date(now + hour).toISOString(), 4 * hour],
    ["without an offset", (now) => local(now + 4 * hour), 4 * hour],
    // The day of Brasília ends at 03:00 of the next one in UTC.
    ["as a day", (now) => withOffset(now).slice(0, 10), Date.parse("2026-11-28T03:00:00Z") - start]
  ]
  effect.each(ends)(
    "a charge whose expiry is written %s is shown until it provably is over",
    function* ([, expiresAt, end]) {
      yield* TestClock.setTime(start)
      const gateway = seenGateway({ expiresAt })
      const { last, tags } = yield* visits(
        gateway,
        [0, end - 300_001, 300_001, 1000].map((after) => [after, 2500] as const)
      )
      assert.deepStrictEqual(tags, ["Renewed", "Reuse", "Renewed", "Reuse"])
      assert.deepStrictEqual(last?.lapsed, [gateway.charges[0]?.id ?? ""])
      assert.lengthOf(gateway.charges, 2)
    }
  )

  const day = { expiresAt: (now: number) => withOffset(now + 24 * hour) }

  effect("an order has at most three open charges, and the error names them", function* () {
    yield* TestClock.setTime(start)
    const gateway = seenGateway(day)
    const { failure, last, tags } = yield* visits(
      gateway,
      [1, 2, 3, 4, 3].map((reais) => [1000, reais * 100] as const)
    )
    assert.deepStrictEqual(tags, ["Renewed", "Renewed", "Renewed", "OrderChargesOpen", "Reuse"])
    const ids = gateway.charges.map(({ id }) => id)
    assert(failure?._tag === "OrderChargesOpen")
    assert.deepStrictEqual([failure.transactionIds, last?.number], [ids.toReversed(), 3])
    for (const id of ids) assert.include(failure.message, id)
  })

  effect("charges that lapsed are not open, whatever their lookups say", function* () {
    yield* TestClock.setTime(start)
    const gateway = seenGateway(day)
    const { last, tags } = yield* visits(
      gateway,
      Array.from({ length: 6 }, () => [25 * hour, 2500] as const)
    )
    assert.deepStrictEqual([new Set(tags), last?.number, last?.lapsed?.length], [new Set(["Renewed"]), 6, 5])
  })

  const words: ReadonlyArray<readonly [word: string, centavos: number, tag: string, paid?: ReadonlyArray<string>]> = [
    ["Successful", 2500, "Reuse"],
    ["PAGO", 3000, "OrderUnclear"],
    ["PAID", 3000, "Paid"],
    ["CancelRequested", 3000, "OrderUnclear"],
    ["FailedToCancel", 2500, "Reuse"],
    ["PartiallyRefunded", 3000, "OrderUnclear"],
    ["EXPIRADO", 2500, "Renewed"],
    ["UnderReview", 3000, "OrderUnclear"],
    ["UnderReview", 2500, "Reuse"],
    ["NOT_FOUND", 3000, "OrderUnclear"],
    ["Processing", 2500, "Reuse"],
    ["Processing", 3000, "OrderUnclear"],
    ["cancelled", 2500, "Renewed"],
    ["REFUNDED", 3000, "OrderRefunded"],
    ["successful", 2500, "Paid", ["Successful"]],
    ["Paid", 2500, "Paid", ["Successful"]]
  ]
  effect.each(words)(
    "a charge whose lookup says %s makes of a visit for %s centavos %s",
    function* ([word, centavos, tag, paid]) {
      yield* TestClock.setTime(start)
      const gateway = seenGateway(day)
      const { last } = yield* visits(gateway, [[0, 2500]])
      const [charge] = gateway.charges
      assert(charge !== undefined && last !== undefined)
      charge.status = word
      const answer = yield* Effect.result(
        OrderCharge.get({ reference: "42", request: requestFor(centavos), last })
      ).pipe(
        Effect.provide(gateway.layer),
        Effect.provideService(GatewayFacts, GatewayFacts.make({ statuses: { charge: { paid: paid ?? [] } } }))
      )
      assert.strictEqual(Result.isSuccess(answer) ? answer.success._tag : answer.failure._tag, tag)
      assert.lengthOf(gateway.charges, tag === "Renewed" ? 2 : 1)
      if (Result.isFailure(answer)) assert.include(answer.failure.message, charge.id)
    }
  )

  effect.each<readonly [string, SeenTimes, string, number]>([
    ["that is over", { expiresAt: (now) => withOffset(now + hour) }, "Awaiting", 2],
    ["that is over, and open by its lookup", { expiresAt: (now) => local(now + hour) }, "Awaiting", 1],
    [
      "that was cancelled, by the time in the answer",
      { ...day, answered: (now) => ({ createdAt: withOffset(now) }) },
      "Cancelled",
      2
    ]
  ])("a repeated key brings back a charge of two hours ago %s", function* ([, times, status, made]) {
    yield* TestClock.setTime(start)
    const gateway = seenGateway(times)
    yield* visits(gateway, [[0, 2500]]) // and dies before it stores the charge
    for (const charge of gateway.charges) charge.status = status
    const { last, tags } = yield* visits(gateway, [[2 * hour, 2500]])
    assert.deepStrictEqual([tags, last?.number, gateway.charges.length], [["Renewed"], made, made])
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
    [
      "ships what is paid once in two processes too",
      2,
      "call 1 createTransaction: its process stands still before it is sent"
    ]
  ] as const
  test.for(plays)("%s", async ([, processes, only]) => {
    const options = { ...world, processes, ...(!isWhole && { only }) }
    const report = await Effect.runPromise(Rehearsal.run(shop, options))
    const unchecked = report.rules.filter(({ notChecked }) => notChecked !== undefined).map(({ rule }) => rule)
    assert.notInclude(unchecked, "not-shipped")
    requireClean(report, isWhole ? 50 : 1)
  })
})
