/** Compares books with planted differences with a sandbox and with gateways that fail. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Option, Result, Schema, Stream } from "effect"
import {
  AuthError,
  Money,
  Payments,
  PaymentsPolicy,
  Reconcile,
  type TransactionDetail,
  type TransactionStream
} from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import * as PaymentsError from "../../src/contract/PaymentsError.ts"
import { charge, lookups } from "../support/charges.ts"
import { still, upTo } from "../support/movingList.ts"
import { charge as request } from "../support/operations.ts"
import { mockPayments } from "../support/payments.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { effect } from "../support/effect.ts"

type GetTransaction = Payments["Service"]["getTransaction"]

const detailOf = (transactionId: string): TransactionDetail => ({
  id: 1,
  value: Money.centavos(2500),
  transactionId,
  enStatusTransaction: "Paid"
})

const called = { operation: "getTransaction", attempts: 1 } as const
const unavailable = new PaymentsError.ServiceUnavailable({ ...called, outcome: "NoEffect", reason: "ServerError" })
const limited = new PaymentsError.RateLimited({ ...called, outcome: "Rejected", status: 429 })
const denied = new AuthError({ ...called, outcome: "Rejected", status: 401 })
const rejected = (status: number) => new PaymentsError.RequestRejected({ ...called, outcome: "Rejected", status })
const notFound = new PaymentsError.TransactionNotFound({
  ...called,
  outcome: "Rejected",
  status: 404,
  transactionId: "t"
})
const unreadable = new PaymentsError.UnexpectedResponse({
  ...called,
  outcome: "NoEffect",
  reason: "Unreadable",
  status: 200,
  issues: []
})

const orderOf = (number: number) => ({ transactionId: `t-${number}`, amount: Money.centavos(2500) })

/**
 * Compares orders with a gateway whose failures the test chooses. Returns the results before the end, and the error.
 */
const run = Effect.fnUntraced(function* <E = never>(
  orders: Iterable<Reconcile.Order> | Stream.Stream<Reconcile.Order, E>,
  options: Reconcile.Options,
  failureOf: (number: number) => PaymentsError.GetTransactionError | undefined = () => undefined
) {
  const asked: Array<number> = []
  const results: Array<Reconcile.ReconcileResult> = []
  let [underWay, most] = [0, 0]
  const getTransaction: GetTransaction = (transactionId) =>
    Effect.gen(function* () {
      const number = Number(transactionId.slice(2))
      asked.push(number)
      underWay += 1
      most = Math.max(most, underWay)
      // The gateway answers later orders first.
      yield* Effect.repeat(Effect.yieldNow, { times: 10 - (number % 10) })
      underWay -= 1
      return yield* failureOf(number) ?? Effect.succeed(detailOf(transactionId))
    })
  const end = yield* Reconcile.stream(orders, options).pipe(
    Stream.runForEach((result) => Effect.sync(() => results.push(result))),
    Effect.provide(mockPayments({ getTransaction })),
    Effect.result
  )
  return { asked, error: Option.getOrUndefined(Result.getFailure(end)), most, results }
})

const tagsOf = (results: ReadonlyArray<{ readonly _tag: string }>) => results.map(({ _tag }) => _tag)

interface Invoice extends Reconcile.Order {
  readonly invoice: number
}

/** Books with random differences from a sandbox, and the results that a comparison must have. */
const plant = Effect.fnUntraced(function* (random: ReturnType<typeof seeded>, count: number) {
  const payments = yield* Payments
  const sandbox = yield* Sandbox
  const orders: Array<Invoice> = []
  const expected: Array<string> = []
  for (let invoice = 1; invoice <= count; invoice++) {
    const amount = Money.centavos(100 + random.below(5000))
    const { id } = yield* payments.createTransaction({ ...request, amount })
    const isPaid = random.below(2) === 0
    if (isPaid) yield* sandbox.markPaid(id)
    const [is, isNot] = isPaid ? ["Paid", "Awaiting"] : ["Awaiting", "Paid"]
    const right = { invoice, transactionId: id, amount }
    const [tag, order] = random.pick<readonly [string, Invoice]>([
      ["Matched", right],
      ["Matched", { ...right, status: is }],
      ["StatusDiffers", { ...right, status: isNot }],
      ["AmountDiffers", { ...right, amount: Money.centavos(amount + 1) }],
      ["AmountDiffers", { ...right, amount: Money.centavos(amount - 1), status: isNot }],
      ["MissingAtGateway", { ...right, transactionId: `missing-${invoice}` }]
    ])
    orders.push(order)
    expected.push(tag)
  }
  return { expected, orders }
})

describe("Reconcile.stream", () => {
  effect(
    "every planted difference is found and no other is reported, with one lookup for each order, also if the run is killed and continued",
    function* () {
      const from = seed * 1000
      for (let round = from; round < from + runs(5, 100); round++) {
        yield* Effect.gen(function* () {
          const random = seeded(round)
          const { expected, orders } = yield* plant(random, 40)
          const concurrency = 1 + random.below(6)
          // The user's store. The run is killed after some results were stored.
          const stored: Array<Reconcile.ReconcileResult<Invoice>> = []
          const store = (killedAfter: number) =>
            Reconcile.stream(orders, { concurrency, from: stored.at(-1)?.position ?? 0 }).pipe(
              Stream.runForEach((result) =>
                stored.length === killedAfter ? Effect.interrupt : Effect.sync(() => stored.push(result))
              ),
              Effect.exit
            )
          const before = yield* lookups
          const killed = yield* store(random.below(40))
          const whole = yield* store(Infinity)
          assert.deepStrictEqual([Exit.hasInterrupts(killed), Exit.isSuccess(whole)], [true, true], `seed ${round}`)

          assert.deepStrictEqual(tagsOf(stored), expected, `seed ${round}`)
          assert.deepStrictEqual(
            stored.map(({ order, position }) => [order.invoice, position]),
            upTo(40).map((at) => [at, at]),
            `seed ${round}`
          )
          // Lookups that were under way at the kill are made again.
          assert.isAtMost((yield* lookups) - before, 40 + concurrency + 1, `seed ${round}`)
        }).pipe(Effect.provide(Sandbox.layerPayments))
      }
    }
  )

  effect("a result shows the user's own order and the whole lookup", Sandbox.layerPayments, function* () {
    const sandbox = yield* Sandbox
    const { amount, id } = yield* charge
    yield* sandbox.markPaid(id)
    const order = { transactionId: id, amount, status: "Awaiting", invoice: "2026/7" }
    const [result] = yield* Stream.runCollect(Reconcile.stream([order]))
    assert.strictEqual(result?._tag, "StatusDiffers")
    assert.strictEqual(result?.order, order)
    if (result?._tag === "StatusDiffers") {
      assert.deepInclude(result.transaction, { id: 1, value: amount, enStatusTransaction: "Paid" })
    }
  })

  effect("a status that is not documented matches itself, and no other spelling of it", function* () {
    const getTransaction: GetTransaction = (id) =>
      Effect.succeed({ ...detailOf(id), enStatusTransaction: "Chargeback" })
    const orders = ["Chargeback", "CHARGEBACK", "Paid"].map((status) => ({ ...orderOf(1), status }))
    const results = yield* Stream.runCollect(Stream.provide(Reconcile.stream(orders), mockPayments({ getTransaction })))
    assert.deepStrictEqual(tagsOf(results), ["Matched", "StatusDiffers", "StatusDiffers"])
  })

  it.effect(
    "an answer that cannot be read, or a refusal, of one order is Unreadable with its error, and the other orders are compared",
    () =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const { amount, id } = yield* charge
        const order = { transactionId: id, amount }
        const failures = [Fault.html(), Fault.refusal(422, "Id."), Fault.none]
        yield* sandbox.fault("getTransaction", failures)
        const results = yield* Stream.runCollect(
          Reconcile.stream(
            Array.from({ length: 3 }, () => order),
            { concurrency: 1 }
          )
        )
        const errors = results.map((result) => (result._tag === "Unreadable" ? result.error._tag : result._tag))
        assert.deepStrictEqual(errors, ["UnexpectedResponse", "RequestRejected", "Matched"])
      }).pipe(Effect.provideService(PaymentsPolicy, PaymentsPolicy.once), Effect.provide(Sandbox.layerPayments))
  )

  effect(
    "the first outage ends the run after all results before it, and its position is where the next run goes on",
    function* () {
      for (const error of [unavailable, limited, denied, rejected(301), rejected(308)]) {
        for (const concurrency of [1, 4]) {
          const first = yield* run(upTo(100).map(orderOf), { concurrency }, (number) =>
            number === 7 ? error : undefined
          )
          assert(first.error?._tag === "ReconcileStopped")
          assert.strictEqual(first.error.error, error)
          assert.deepStrictEqual(tagsOf(first.results), Array(6).fill("Matched"))
          assert.isAtMost(first.asked.length, 7 + concurrency)

          const from = first.error.position
          const second = yield* run(upTo(100).map(orderOf), { concurrency, from })
          assert.deepStrictEqual(
            second.asked.toSorted((a, b) => a - b),
            upTo(100).slice(6)
          )
          assert.deepStrictEqual(
            second.results.map(({ position }) => position),
            upTo(100).slice(6)
          )
        }
      }
    }
  )

  effect(
    "the position counts the orders that `from` skipped, and an outage at the last order is no result",
    function* () {
      const { error, results } = yield* run(upTo(20).map(orderOf), { from: 15 }, (number) =>
        number === 20 ? unavailable : undefined
      )
      assert.deepStrictEqual(tagsOf(results), Array(4).fill("Matched"))
      assert(error?._tag === "ReconcileStopped")
      assert.strictEqual(error.position, 19)
    }
  )

  effect("the error of a run that an outage ended can be stored and read back, and says where to go on", function* () {
    for (const cause of [unavailable, limited, denied, rejected(301)]) {
      const { error } = yield* run(upTo(3).map(orderOf), {}, (number) => (number === 3 ? cause : undefined))
      assert.instanceOf(error, Reconcile.ReconcileStopped)
      assert.include(error.message, "position 2")
      assert.include(error.message, cause.message)
      const codec = Schema.toCodecJson(Reconcile.ReconcileStopped)
      const stored = JSON.stringify(yield* Schema.encodeEffect(codec)(error))
      const read = yield* Schema.decodeUnknownEffect(codec)(JSON.parse(stored))
      assert.deepStrictEqual([read.position, read.error._tag, read.message], [2, cause._tag, error.message])
    }
  })

  effect("a run continues after any number of orders that are missing, refused or unreadable", function* () {
    for (const others of [unreadable, rejected(422), notFound]) {
      const { error, results } = yield* run(upTo(60).map(orderOf), {}, (number) =>
        number % 10 === 0 ? undefined : others
      )
      assert.isUndefined(error)
      assert.deepStrictEqual(
        results.map(({ position }) => position),
        upTo(60)
      )
    }
  })

  effect("a run over many orders holds only the orders that are looked up at the same time in memory", function* () {
    const count = runs(5000, 100_000)
    let pulled = 0
    const orders = function* () {
      while (pulled < count) {
        pulled += 1
        yield orderOf(pulled)
      }
    }
    const concurrency = 8
    const sources = [
      () => orders(),
      () =>
        Stream.unfold(0, (n) =>
          Effect.sync(() => (n < count ? ([orderOf((pulled = n + 1)), n + 1] as const) : undefined))
        )
    ]
    const getTransaction: GetTransaction = (id) => Effect.as(Effect.yieldNow, detailOf(id))
    for (const source of sources) {
      pulled = 0
      const few = Stream.take(Reconcile.stream(source(), { concurrency }), 10)
      yield* Effect.provide(Stream.runDrain(few), mockPayments({ getTransaction }))
      assert.isAtMost(pulled, 10 + concurrency + 1)

      pulled = 0
      let delivered = 0
      let ahead = 0
      yield* Reconcile.stream(source(), { concurrency }).pipe(
        Stream.runForEach(() =>
          Effect.sync(() => {
            delivered += 1
            ahead = Math.max(ahead, pulled - delivered)
          })
        ),
        Effect.provide(mockPayments({ getTransaction }))
      )
      assert.deepStrictEqual([pulled, delivered], [count, count])
      assert.isAtMost(ahead, concurrency + 1)
    }
  })

  effect("at most `concurrency` lookups are under way, and four by default", function* () {
    const orders = upTo(50).map(orderOf)
    for (const [options, most] of [
      [{}, 4],
      [{ concurrency: 1 }, 1],
      [{ concurrency: 2 }, 2],
      [{ concurrency: 9 }, 9]
    ] as const) {
      const ran = yield* run(orders, options)
      assert.strictEqual(ran.most, most)
      assert.deepStrictEqual(
        ran.results.map(({ position }) => position),
        upTo(50)
      )
    }
  })

  effect(
    "a source of orders that fails ends the run with its own error, after the results of the orders before",
    function* () {
      const orders = Stream.concat(Stream.fromIterable(upTo(7).map(orderOf)), Stream.fail("the books are away"))
      const { error, results } = yield* run(orders, {})
      assert.strictEqual(error, "the books are away")
      assert.strictEqual(results.length, 7)
    }
  )

  effect(
    "a value that is not an order is Unreadable with InvalidRequest and is neither sent nor quoted, and the other orders are compared",
    function* () {
      const right = orderOf(1)
      const orders: ReadonlyArray<unknown> = [
        null,
        { ...right, amount: 25.5 },
        { ...right, amount: "4711" },
        { ...right, amount: -4711 },
        { ...right, transactionId: 4711 },
        { ...right, status: 4711 },
        right
      ]
      const { asked, results } = yield* run(orders as ReadonlyArray<Reconcile.Order>, {}) // as untyped callers give them
      assert.deepStrictEqual(asked, [1])
      const paths = results.map((result) =>
        result._tag === "Unreadable" && result.error._tag === "InvalidRequest"
          ? result.error.issues.map(({ path }) => path).join()
          : result._tag
      )
      assert.deepStrictEqual(paths, ["", "amount", "amount", "amount", "transactionId", "status", "Matched"])
      const errors = results.map((result) => ("error" in result ? result.error.message : ""))
      assert.notInclude(errors.join(), "4711")
    }
  )

  effect(
    "an order whose id is not a safe part of a path is Unreadable, and nothing is sent for it",
    Sandbox.layerPayments,
    function* () {
      const results = yield* Stream.runCollect(
        Reconcile.stream(["", "..", "a/b"].map((transactionId) => ({ ...orderOf(1), transactionId })))
      )
      assert.deepStrictEqual(
        results.map((result) => (result._tag === "Unreadable" ? result.error._tag : result._tag)),
        Array(3).fill("InvalidRequest")
      )
      assert.strictEqual(yield* lookups, 0)
    }
  )

  effect("a wrong option is an InvalidRequest that names it, and nothing is looked up", function* () {
    const wrong: ReadonlyArray<readonly [unknown, unknown, string]> = [
      [[], { concurrency: 0 }, "concurrency"],
      [[], { concurrency: 1.5 }, "concurrency"],
      [[], { concurrency: "4" }, "concurrency"],
      [[], { from: -1 }, "from"],
      [[], { from: Number.NaN }, "from"],
      [[], { concurrency: 0, from: -1 }, "concurrency,from"],
      [[], null, "options"],
      [7, {}, "orders"],
      [undefined, {}, "orders"]
    ]
    for (const [orders, options, path] of wrong) {
      // A caller without types may give this.
      const ran = yield* run(orders as ReadonlyArray<Reconcile.Order>, options as Reconcile.Options)
      assert.strictEqual(ran.error?._tag, "InvalidRequest")
      if (ran.error?._tag === "InvalidRequest") {
        assert.strictEqual(ran.error.issues.map((issue) => issue.path).join(), path)
      }
    }
  })
})

const unknownBy = <E>(gateway: ReturnType<typeof still>, options: Reconcile.UnknownRowsOptions<E>) =>
  Stream.provide(Reconcile.unknownRows(options), mockPayments({ listTransactions: gateway.list }))

const isEven = ({ id }: { readonly id: number }) => Effect.succeed(id % 2 === 0)

describe("Reconcile.unknownRows", () => {
  effect(
    "every row that is not in the books is returned once, with the requests of one reading of the list",
    function* () {
      for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
        const [gateway, plain] = [still(1000), still(1000)]
        const rows = yield* Stream.runCollect(unknownBy(gateway, { isKnown: isEven, sort }))
        yield* Stream.runDrain(unknownBy(plain, { isKnown: () => Effect.succeed(true), sort }))
        const odd = upTo(1000).filter((id) => id % 2 === 1)
        assert.deepStrictEqual(
          rows.map(({ id }) => id),
          sort === "createdAt_asc" ? odd : odd.toReversed()
        )
        assert.deepStrictEqual(gateway.requests, plain.requests)
        assert.isAtMost(gateway.requests.length, 25)
      }
    }
  )

  effect("since and until limit the rows for which `isKnown` is called", function* () {
    const asked: Array<number> = []
    const isKnown = ({ id }: { readonly id: number }) => Effect.sync(() => asked.push(id) === 0)
    const [since, until] = [DateTime.makeUnsafe(50_000), DateTime.makeUnsafe(60_000)]
    const rows = yield* Stream.runCollect(unknownBy(still(200), { isKnown, since, until }))
    const within = upTo(200).slice(49, 59)
    assert.deepStrictEqual(
      rows.map(({ id }) => id),
      within
    )
    assert.deepStrictEqual(asked, within)
  })

  effect("`isKnown` is called for at most `concurrency` rows at a time", function* () {
    for (const [concurrency, expected] of [
      [undefined, 4],
      [1, 1],
      [7, 7]
    ] as const) {
      let [underWay, most] = [0, 0]
      const isKnown = ({ id }: { readonly id: number }) =>
        Effect.gen(function* () {
          underWay += 1
          most = Math.max(most, underWay)
          yield* Effect.repeat(Effect.yieldNow, { times: 10 - (id % 10) })
          underWay -= 1
          return id > 50
        })
      const rows = yield* Stream.runCollect(unknownBy(still(90), { isKnown, concurrency }))
      assert.strictEqual(most, expected)
      assert.deepStrictEqual(
        rows.map(({ id }) => id),
        upTo(50)
      )
    }
  })

  effect(
    "a list that contradicts itself ends in a PaginationError, and a run from its checkpoint repeats no row",
    function* () {
      const gateway = still(250)
      const found: Array<number> = []
      const read = (from?: TransactionStream.Checkpoint) =>
        unknownBy(gateway, { isKnown: isEven, from }).pipe(
          Stream.runForEach(({ id }) => Effect.sync(() => found.push(id)))
        )
      // The second page is never the requested one.
      gateway.answer = (page) => (page.currentPage === 1 ? page : { ...page, currentPage: 1 })
      const error = yield* Effect.flip(read())
      assert.strictEqual(error._tag, "PaginationError")
      if (error._tag !== "PaginationError") return
      assert.isAbove(found.length, 0)
      gateway.answer = (page) => page
      yield* read(error.checkpoint)
      assert.deepStrictEqual(
        found,
        upTo(250).filter((id) => id % 2 === 1)
      )
    }
  )

  effect("an error of `isKnown` ends the stream", function* () {
    const isKnown = () => Effect.fail("the books are away")
    assert.strictEqual(yield* Effect.flip(Stream.runDrain(unknownBy(still(3), { isKnown }))), "the books are away")
  })

  effect("a wrong option is an InvalidRequest that names it, and no page is requested", function* () {
    for (const [options, path] of [
      [undefined, "options"],
      [{}, "isKnown"],
      [{ isKnown: isEven, concurrency: 0 }, "concurrency"],
      [{ isKnown: isEven, since: "yesterday" }, "since"]
    ] as const) {
      const gateway = still(3)
      // A caller without types may give this.
      const given = options as unknown as Reconcile.UnknownRowsOptions
      const error = yield* Effect.flip(Stream.runDrain(unknownBy(gateway, given)))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.isTrue(error._tag === "InvalidRequest" && error.issues.some((issue) => issue.path === path))
      assert.strictEqual(gateway.requests.length, 0)
    }
  })

  effect(
    "both directions together find a charge that the books do not have, by the id that a lookup shows",
    Sandbox.layerPayments,
    function* () {
      const charges = yield* Effect.replicateEffect(charge, 5)
      const orders = charges.slice(0, 4).map(({ amount, id }) => ({ transactionId: id, amount }))
      const known = new Set<number>()
      yield* Stream.runForEach(Reconcile.stream(orders), (result) =>
        Effect.sync(() => "transaction" in result && known.add(result.transaction.id))
      )
      const rows = yield* Stream.runCollect(
        Reconcile.unknownRows({ isKnown: ({ id }) => Effect.succeed(known.has(id)) })
      )
      assert.deepStrictEqual(
        rows.map(({ id }) => id),
        [5]
      )
    }
  )
})
