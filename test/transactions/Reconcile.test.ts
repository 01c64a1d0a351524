/** Compares books with gateways that answer and fail as the test chooses. */
import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Schema, Stream } from "effect"
import { GatewayFacts, type GetTransactionError, Money, Reconcile, type TransactionStream } from "effect-pix"
import { idsOf, type MovingList, still, upTo } from "../support/movingList.ts"
import * as Lookup from "../support/payments.ts"
import { effect } from "../support/effect.ts"

const orderOf = (number: number) => ({ transactionId: `t-${number}`, amount: Money.centavos(2500) })

/** Counts how many runs of an effect are under way at most; those that start later end first. */
const counted = () => {
  const seen = { underWay: 0, most: 0 }
  const count = <A, E>(number: number, effect: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      seen.underWay += 1
      seen.most = Math.max(seen.most, seen.underWay)
      yield* Effect.repeat(Effect.yieldNow, { times: 10 - (number % 10) })
      seen.underWay -= 1
      return yield* effect
    })
  return { count, seen }
}

/** Compares orders with a gateway whose failures the test chooses. Returns the results before the end, and the error. */
const run = Effect.fnUntraced(function* <E = never>(
  orders: Iterable<Reconcile.Order> | Stream.Stream<Reconcile.Order, E>,
  options: Reconcile.Options,
  failureOf: (number: number) => GetTransactionError | undefined = () => undefined
) {
  const asked: Array<number> = []
  const results: Array<Reconcile.ReconcileResult> = []
  const { count, seen } = counted()
  const getTransaction: Lookup.GetTransaction = (id) => {
    const number = Number(id.slice(2))
    asked.push(number)
    const answer = Effect.suspend((): ReturnType<Lookup.GetTransaction> => {
      const failure = failureOf(number)
      return failure === undefined ? Effect.succeed(Lookup.detailOf(id)) : Effect.fail(failure)
    })
    return count(number, answer)
  }
  const end = yield* Reconcile.stream(orders, options).pipe(
    Stream.runForEach((result) => Effect.sync(() => results.push(result))),
    Effect.provide(Lookup.mockPayments({ getTransaction })),
    Effect.result
  )
  const positions = results.map(({ position }) => position)
  return { asked, error: Option.getOrUndefined(Result.getFailure(end)), most: seen.most, positions, results }
})

/** The tag of each result; of one that is unreadable, the tag of its error. */
const tagsOf = (results: ReadonlyArray<Reconcile.ReconcileResult>) =>
  results.map((result) => (result._tag === "Unreadable" ? result.error._tag : result._tag))

describe("Reconcile.stream", () => {
  effect("an order is compared with its lookup: its amount, and its status if it has one", function* () {
    // Each lookup shows 2500 centavos, and the id of the order as the status.
    const rows: ReadonlyArray<readonly [id: string, amount: number, status: string | undefined, tag: string]> = [
      ["Paid", 2500, undefined, "Matched"],
      ["Paid", 2500, "Paid", "Matched"],
      ["Paid", 2500, "Awaiting", "StatusDiffers"],
      ["Paid", 2501, undefined, "AmountDiffers"],
      ["Paid", 2499, "Awaiting", "AmountDiffers"],
      ["Chargeback", 2500, "Chargeback", "Matched"],
      ["Chargeback", 2500, "CHARGEBACK", "StatusDiffers"],
      ["successful", 2500, "Paid", "Matched"],
      ["Paid", 2500, "SUCCESSFUL", "Matched"],
      ["Confirmed", 2500, "Paid", "StatusDiffers"],
      ["", 2500, undefined, "MissingAtGateway"]
    ]
    const orders = rows.map(([transactionId, amount, status], invoice) => ({
      invoice,
      transactionId,
      amount: Money.centavos(amount),
      status
    }))
    const getTransaction: Lookup.GetTransaction = (id) =>
      id === "" ? Lookup.missing : Effect.succeed(Lookup.detailOf(id, id))
    const results = yield* Stream.runCollect(
      Stream.provide(Reconcile.stream(orders), Lookup.mockPayments({ getTransaction }))
    ).pipe(Effect.provideService(GatewayFacts, GatewayFacts.make({ statuses: { charge: { paid: ["Successful"] } } })))
    assert.deepStrictEqual(
      tagsOf(results),
      rows.map(([, , , tag]) => tag)
    )
    for (const [n, result] of results.entries()) {
      assert.deepStrictEqual([result.order, result.position], [orders[n], n + 1])
      const { transactionId } = result.order
      if ("transaction" in result)
        assert.deepStrictEqual(result.transaction, Lookup.detailOf(transactionId, transactionId))
    }
  })

  for (const [cause, concurrency] of [
    [Lookup.unavailable, 1],
    [Lookup.limited(), 4],
    [Lookup.unauthorized, 1],
    [Lookup.rejected(301), 4],
    [Lookup.rejected(308), 4]
  ] as const)
    effect(
      `a run of ${concurrency} lookups at a time that ${cause._tag} stops has all results before it, and says where to continue`,
      function* () {
        const failing = { concurrency, from: 2 }
        const first = yield* run(upTo(30).map(orderOf), failing, (n) => (n === 7 ? cause : undefined))
        assert.instanceOf(first.error, Reconcile.ReconcileStopped)
        assert.strictEqual(first.error.error, cause)
        assert.deepStrictEqual(first.positions, [3, 4, 5, 6])
        assert.isAtMost(first.asked.length, 5 + concurrency)
        const codec = Schema.fromJsonString(Schema.toCodecJson(Reconcile.ReconcileStopped))
        const stored = yield* Schema.decodeEffect(codec)(yield* Schema.encodeEffect(codec)(first.error))
        assert.include(stored.message, `after 6 order(s). ${cause.message} Nothing was changed; go on from position 6.`)
        const second = yield* run(upTo(30).map(orderOf), { concurrency, from: stored.position })
        assert.sameMembers(second.asked, upTo(30).slice(6))
        assert.deepStrictEqual(second.positions, upTo(30).slice(6))
      }
    )

  effect.each([
    ["UnexpectedResponse", Lookup.unreadable],
    ["RequestRejected", Lookup.rejected(422)],
    ["MissingAtGateway", Lookup.missing]
  ] as const)("a run continues after any number of orders that are %s", function* ([tag, others]) {
    const { error, positions, results } = yield* run(upTo(60).map(orderOf), {}, (number) =>
      number % 10 === 0 ? undefined : others
    )
    assert.isUndefined(error)
    assert.deepStrictEqual(positions, upTo(60))
    assert.deepStrictEqual(
      tagsOf(results),
      upTo(60).map((n) => (n % 10 === 0 ? "Matched" : tag))
    )
    assert.isTrue(results[0] !== undefined && "error" in results[0] && results[0].error === others)
  })

  effect("a run pulls no more orders than it looks up at the same time, which are four by default", function* () {
    for (const [options, expected] of [
      [{}, 4],
      [{ concurrency: 1 }, 1],
      [{ concurrency: 9 }, 9]
    ] as const) {
      const { most, positions } = yield* run(upTo(50).map(orderOf), options)
      assert.deepStrictEqual([most, positions], [expected, upTo(50)])
      let [pulled, taken, ahead] = [0, 0, 0]
      const orders = function* () {
        while (pulled < 100) yield orderOf((pulled += 1))
      }
      const getTransaction: Lookup.GetTransaction = (id) => Effect.as(Effect.yieldNow, Lookup.detailOf(id))
      yield* Reconcile.stream(orders(), options).pipe(
        Stream.runForEach(() => Effect.sync(() => (ahead = Math.max(ahead, pulled - ++taken)))),
        Effect.provide(Lookup.mockPayments({ getTransaction }))
      )
      assert.strictEqual(taken, 100)
      assert.isAtMost(ahead, expected + 1)
    }
  })

  effect("a source of orders that fails ends the run with its own error, after the results before", function* () {
    const orders = Stream.concat(Stream.fromIterable(upTo(7).map(orderOf)), Stream.fail("the books are away"))
    const { error, results } = yield* run(orders, {})
    assert.deepStrictEqual([error, results.length], ["the books are away", 7])
  })

  effect(
    "a value that is not an order is InvalidRequest, neither sent nor quoted, and the others are compared",
    function* () {
      const right = orderOf(1)
      const orders: ReadonlyArray<readonly [unknown, string]> = [
        [null, ""],
        [{ ...right, amount: 25.5 }, "amount"],
        [{ ...right, amount: "4711" }, "amount"],
        [{ ...right, amount: -4711 }, "amount"],
        [{ ...right, transactionId: 4711 }, "transactionId"],
        [{ ...right, status: 4711 }, "status"],
        [{ status: 4711 }, "transactionId,amount,status"],
        [right, "Matched"]
      ]
      // As a caller without types gives them.
      const { asked, results } = yield* run(
        orders.map(([order]) => order as Reconcile.Order),
        {}
      )
      assert.deepStrictEqual(asked, [1])
      const paths = results.map((result) =>
        result._tag === "Unreadable" && result.error._tag === "InvalidRequest"
          ? result.error.issues.map(({ path }) => path).join()
          : result._tag
      )
      assert.deepStrictEqual(
        paths,
        orders.map(([, path]) => path)
      )
      assert.notInclude(results.map((result) => ("error" in result ? result.error.message : "")).join(), "4711")
    }
  )
})

describe("Reconcile.unknownRows", () => {
  const unknownBy = <E>({ list }: MovingList, options: Reconcile.UnknownRowsOptions<E>) =>
    Stream.provide(Reconcile.unknownRows(options), Lookup.mockPayments({ listTransactions: list }))

  const isEven = ({ id }: { readonly id: number }) => Effect.succeed(id % 2 === 0)
  const odd = (count: number) => upTo(count).filter((id) => id % 2 === 1)

  effect("each row that is not in the books is returned once, with the requests of one reading", function* () {
    for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
      const [list, plain] = [still(500), still(500)]
      const rows = yield* Stream.runCollect(unknownBy(list, { isKnown: isEven, sort }))
      yield* Stream.runDrain(unknownBy(plain, { isKnown: () => Effect.succeed(true), sort }))
      assert.deepStrictEqual(idsOf(rows), sort === "createdAt_asc" ? odd(500) : odd(500).toReversed())
      assert.deepStrictEqual(list.requests, plain.requests)
      assert.isAtMost(list.requests.length, 15)
    }
  })

  effect("since and until limit the rows for which `isKnown` is called", function* () {
    const asked: Array<number> = []
    const isKnown = ({ id }: { readonly id: number }) => Effect.sync(() => asked.push(id) === 0)
    const [since, until] = [DateTime.makeUnsafe(50_000), DateTime.makeUnsafe(60_000)]
    const rows = idsOf(yield* Stream.runCollect(unknownBy(still(200), { isKnown, since, until })))
    assert.deepStrictEqual([rows, asked], [upTo(59).slice(49), upTo(59).slice(49)])
  })

  effect("`isKnown` is called for at most `concurrency` rows at a time, and for four by default", function* () {
    for (const [concurrency, expected] of [
      [undefined, 4],
      [1, 1],
      [7, 7]
    ] as const) {
      const { count, seen } = counted()
      const isKnown = ({ id }: { readonly id: number }) => count(id, Effect.succeed(id > 50))
      const rows = idsOf(yield* Stream.runCollect(unknownBy(still(90), { isKnown, concurrency })))
      assert.deepStrictEqual([seen.most, rows], [expected, upTo(50)])
    }
  })

  effect(
    "a list that contradicts itself ends in a PaginationError, and a run from its checkpoint repeats no row",
    function* () {
      const list = still(250)
      const found: Array<number> = []
      const read = (from?: TransactionStream.Checkpoint) =>
        Stream.runForEach(unknownBy(list, { isKnown: isEven, from }), ({ id }) => Effect.sync(() => found.push(id)))
      // The second page is never the requested one.
      list.answer = (page) => ({ ...page, currentPage: 1 })
      const error = yield* Effect.flip(read())
      assert(error._tag === "PaginationError" && found.length > 0)
      list.answer = (page) => page
      yield* read(error.checkpoint)
      assert.deepStrictEqual(found, odd(250))
    }
  )

  effect("an error of `isKnown` ends the stream", function* () {
    const isKnown = () => Effect.fail("the books are away")
    assert.strictEqual(yield* Effect.flip(Stream.runDrain(unknownBy(still(3), { isKnown }))), "the books are away")
  })
})
