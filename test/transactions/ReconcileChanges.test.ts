/** Compares books of thousands of orders with a list that moves, at the cost of the list. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Result, Schema, Stream } from "effect"
import { type GetTransactionError, Money, Reconcile, TransactionStream } from "effect-pix"
import type { TransactionListItem } from "../../src/contract/Transaction.ts"
import { type MovingList, still, upTo } from "../support/movingList.ts"
import { effect } from "../support/effect.ts"
import * as Lookup from "../support/payments.ts"
import { drawn, runs, seed, seeded } from "../support/seed.ts"

const uuidOf = (id: number) => `00000000-0000-4000-8000-${`${id}`.padStart(12, "0")}`

/** How a gateway shows ids: the forms that were seen, and one that shows none of a lookup. */
const shapes = {
  field: { idOf: (id: number) => `f${`${id}`.padStart(25, "0")}`, shown: (id: string) => ({ providerTxId: id }) },
  uuid: { idOf: uuidOf, shown: (id: string) => ({ providerTxId: id.replaceAll("-", "") }) },
  reference: {
    idOf: uuidOf,
    shown: (id: string) => ({ providerTxId: `E${id.slice(-12)}`, lead: { externalId: `order-${id}` } })
  }
} as const

const listWords = { Awaiting: "PENDING", Paid: "PAID", Refunded: "REFUNDED", Cancelled: "CANCELLED" } as const
type Word = keyof typeof listWords

/** The charges of a gateway by row, and the orders of the books by id. */
interface World {
  readonly shape: keyof typeof shapes
  readonly list: MovingList
  readonly truth: Map<number, { status: Word; amount: number }>
  readonly books: Map<string, Reconcile.KnownOrder>
  readonly failure: (count: number) => GetTransactionError | undefined
}

const makeWorld = (shape: World["shape"], count: number, failure: World["failure"] = () => undefined): World => {
  const list = still(count)
  const truth: World["truth"] = new Map(
    upTo(count).map((id) => [id, { status: id % 3 === 0 ? "Paid" : "Awaiting", amount: 100 + id }])
  )
  const books = new Map(
    [...truth].map(([id, { amount, status }]) => {
      const transactionId = shapes[shape].idOf(id)
      return [
        transactionId,
        { transactionId, amount: Money.centavos(amount), status, externalRef: `order-${transactionId}` }
      ]
    })
  )
  list.answer = (page) => ({
    ...page,
    items: page.items.map((row): TransactionListItem => {
      const { amount, status } = truth.get(row.id) ?? { amount: 100 + row.id, status: "Awaiting" }
      return {
        ...row,
        amount: Money.centavos(amount),
        status: listWords[status],
        ...shapes[shape].shown(shapes[shape].idOf(row.id))
      }
    })
  })
  return { shape, list, truth, books, failure }
}

/** A run over the pages, as a program does it: what was found is stored with the checkpoint, as JSON, or neither is. */
const runOf = ({ books, failure, list, shape, truth }: World) => {
  const byRef = new Map([...books.values()].map((order) => [order.externalRef, order]))
  const rowOf = new Map([...truth.keys()].map((id) => [shapes[shape].idOf(id), id]))
  const seen = { found: new Array<string>(), lookups: 0, asked: 0, most: 0, stored: "" }
  const codec = Schema.fromJsonString(TransactionStream.Checkpoint)
  const getTransaction: Lookup.GetTransaction = (transactionId) => {
    seen.lookups += 1
    const cause = failure(seen.lookups)
    if (cause !== undefined) return Effect.fail(cause)
    const id = rowOf.get(transactionId)
    const charge = truth.get(id ?? 0)
    if (id === undefined || charge === undefined) return Lookup.missing
    return Effect.succeed({
      id,
      value: Money.centavos(charge.amount),
      transactionId,
      enStatusTransaction: charge.status
    })
  }
  const known = (ids: ReadonlyArray<string>) =>
    Effect.sync(() => {
      seen.asked += 1
      seen.most = Math.max(seen.most, ids.length)
      return ids.flatMap((id) => books.get(id) ?? byRef.get(id) ?? [])
    })
  const run = (isKilled: () => boolean = () => false) =>
    Effect.gen(function* () {
      const from = seen.stored === "" ? undefined : yield* Schema.decodeEffect(codec)(seen.stored)
      yield* Stream.runForEach(Reconcile.changePages({ known, from }), ({ changes, checkpoint }) =>
        Effect.gen(function* () {
          if (isKilled()) return yield* Effect.interrupt
          seen.found.push(...changes.map(({ _tag, row }) => `${_tag} ${row.id}`))
          seen.stored = yield* Schema.encodeEffect(codec)(checkpoint)
        })
      )
    }).pipe(Effect.provide(Lookup.mockPayments({ listTransactions: list.list, getTransaction })))
  return { run, seen }
}

/** Changes charges behind the back of the books, and returns what is to be found. */
const plant = (world: World, count: number, random: ReturnType<typeof seeded>): ReadonlyArray<string> => {
  const { books, shape, truth } = world
  const planted = new Map<number, string>()
  while (planted.size < count) {
    const id = 1 + random.below(truth.size)
    const charge = truth.get(id)
    const order = books.get(shapes[shape].idOf(id))
    if (planted.has(id) || charge === undefined || order === undefined) continue
    const kind = random.pick(["status", "status", "status", "amount", "unknown"] as const)
    if (kind === "amount") truth.set(id, { ...charge, amount: charge.amount + 7 })
    else if (kind === "unknown") {
      // An open charge that nobody knows is no finding.
      if (charge.status === "Awaiting") truth.set(id, { ...charge, status: "Paid" })
      books.delete(order.transactionId)
    } else
      truth.set(id, { ...charge, status: charge.status === "Paid" ? "Refunded" : random.pick(["Paid", "Cancelled"]) })
    planted.set(id, `${{ status: "StatusDiffers", amount: "AmountDiffers", unknown: "NotInBooks" }[kind]} ${id}`)
  }
  return [...planted.values()]
}

describe("Reconcile.changes", () => {
  effect.each(drawn(["field", "uuid", "reference"] as const))(
    "each planted difference of a list that moves is found once and none is invented, whatever is killed (ids as %s)",
    function* (shape) {
      for (let round = 0; round < runs(2, 20); round++) {
        const random = seeded(seed + round)
        const world = makeWorld(shape, 6000)
        const { list } = world
        const expected = plant(world, 300, random)
        const { run, seen } = runOf(world)
        const removed = new Set<number>()
        list.change = () => {
          // New charges push the rows down, and a row that nobody compared yet vanishes.
          for (let added = random.below(4); added > 0; added--) list.add(list.nextId)
          if (random.below(4) > 0 || list.requests.length === 0) return
          const before = new Set(list.rows.map(({ id }) => id))
          list.remove(random.below(list.rows.length), 1, "createdAt_desc")
          for (const { id } of list.rows) before.delete(id)
          for (const id of before) removed.add(id)
        }
        for (let killed = 0, isOver = false; !isOver; killed++) {
          isOver = (yield* Effect.exit(run(() => killed < 12 && random.below(8) === 0)))._tag === "Success"
        }
        const isLeft = (finding: string) => !removed.has(Number(finding.split(" ")[1]))
        assert.deepStrictEqual(
          seen.found.filter(isLeft).toSorted(),
          expected.filter(isLeft).toSorted(),
          `seed ${seed + round}`
        )
        assert.strictEqual(new Set(seen.found).size, seen.found.length)
        assert.isTrue(seen.found.every((finding) => expected.includes(finding)))
      }
    }
  )

  effect(
    "a night costs the requests of the list and one lookup for each change, and the books one query a page",
    function* () {
      const world = makeWorld("field", 24_000)
      const expected = plant(world, 60, seeded(seed))
      const { run, seen } = runOf(world)
      yield* run()
      assert.sameMembers(seen.found, [...expected])
      assert.strictEqual(seen.lookups, 60)
      assert.isAtMost(world.list.requests.length, (24_000 / 100) * 1.2)
      assert.isAtMost(seen.asked, world.list.requests.length)
      assert.isAtMost(seen.most, 300)
      assert.isTrue(world.list.requests.every(({ sort }) => sort === "createdAt_desc"))
    }
  )

  effect("a lookup decides what a word of the list means, and what it means that books and lookup agree", function* () {
    const rows: ReadonlyArray<readonly [list: string, lookup: string, books: string, tag: string | undefined]> = [
      ["PENDING", "Awaiting", "Awaiting", undefined],
      ["PAID", "Refunded", "Paid", undefined], // the list is behind: found when it shows it
      ["REFUNDED", "Refunded", "Paid", "StatusDiffers"],
      ["ESTORNADO", "Refunded", "Paid", "StatusDiffers"],
      ["PENDING", "Paid", "Paid", undefined],
      ["PENDING", "Awaiting", "Paid", "StatusDiffers"],
      ["PAID", "Paid", "Awaiting", "StatusDiffers"],
      ["CANCELLED", "Cancelled", "Awaiting", "StatusDiffers"],
      ["CANCELLED", "Failed", "Cancelled", undefined],
      ["UnderReview", "Paid", "Paid", undefined],
      ["UnderReview", "UnderReview", "Paid", "StatusDiffers"],
      ["UNDERREVIEW", "UnderReview", "UnderReview", undefined]
    ]
    const list = still(rows.length)
    const at = (id: number) => rows[id - 1] ?? (["", "", "", ""] as const)
    list.answer = (page) => ({
      ...page,
      items: page.items.map((row) => ({ ...row, status: at(row.id)[0], providerTxId: `t-${row.id}` }))
    })
    const getTransaction: Lookup.GetTransaction = (transactionId) => {
      const id = Number(transactionId.slice(2))
      return Effect.succeed({ id, value: Money.centavos(100 + id), transactionId, enStatusTransaction: at(id)[1] })
    }
    const known = (ids: ReadonlyArray<string>) =>
      Effect.succeed(
        ids.map((transactionId) => {
          const id = Number(transactionId.slice(2))
          return { transactionId, amount: Money.centavos(100 + id), status: at(id)[2] }
        })
      )
    const found = yield* Stream.runCollect(Reconcile.changes({ known })).pipe(
      Effect.provide(Lookup.mockPayments({ listTransactions: list.list, getTransaction }))
    )
    const tags = new Map(found.map(({ _tag, row }) => [row.id, _tag]))
    assert.deepStrictEqual(
      upTo(rows.length).map((id) => tags.get(id)),
      rows.map(([, , , tag]) => tag)
    )
  })

  effect("a reference that several charges share finds no wrong order", function* () {
    const world = makeWorld("reference", 300)
    // One customer with many charges: of the rows none is of the first order.
    for (const [id, order] of world.books) world.books.set(id, { ...order, externalRef: "customer-7" })
    world.truth.set(42, { status: "Refunded", amount: 142 })
    const getTransaction: Lookup.GetTransaction = (transactionId) => {
      const id = Number(transactionId.slice(-12))
      const charge = world.truth.get(id)
      return charge === undefined
        ? Lookup.missing
        : Effect.succeed({
            id,
            value: Money.centavos(charge.amount),
            transactionId,
            enStatusTransaction: charge.status
          })
    }
    const { answer } = world.list
    world.list.answer = (page, asked) => {
      const honest = answer(page, asked)
      return { ...honest, items: honest.items.map((row) => ({ ...row, lead: { externalId: "customer-7" } })) }
    }
    const known = () => Effect.succeed([...world.books.values()].slice(40, 43))
    const found = yield* Stream.runCollect(Reconcile.changes({ known })).pipe(
      Effect.provide(Lookup.mockPayments({ listTransactions: world.list.list, getTransaction }))
    )
    assert.deepStrictEqual(
      found.flatMap((change) => (change._tag === "StatusDiffers" ? [change.row.id, change.order.transactionId] : [])),
      [42, uuidOf(42)]
    )
  })

  effect(
    "a lookup without an answer ends the run with its error, and a run from the last checkpoint finds the rest",
    function* () {
      const failing = new Set([20, 45])
      const world = makeWorld("field", 3000, (count) => (failing.delete(count) ? Lookup.unavailable : undefined))
      const expected = plant(world, 60, seeded(seed))
      const { run, seen } = runOf(world)
      for (const _ of [1, 2]) {
        assert.strictEqual(Option.getOrUndefined(Result.getFailure(yield* Effect.result(run()))), Lookup.unavailable)
      }
      yield* run()
      assert.sameMembers(seen.found, [...expected])
    }
  )

  effect(
    "an order that the gateway does not know, or that cannot be read, is a finding, and the run goes on",
    function* () {
      const world = makeWorld("field", 200)
      const { books, truth } = world
      const change = (id: number, order: Partial<Record<keyof Reconcile.KnownOrder, unknown>>) => {
        const transactionId = shapes.field.idOf(id)
        // As a caller without types gives it.
        books.set(transactionId, { ...books.get(transactionId), ...order } as Reconcile.KnownOrder)
      }
      change(3, { status: 7 })
      change(5, { amount: "105" })
      truth.set(8, { status: "Refunded", amount: 108 })
      const { run, seen } = runOf({ ...world, failure: (count) => (count === 1 ? Lookup.unreadable : undefined) })
      yield* run()
      assert.deepStrictEqual(seen.found, ["Unreadable 8", "Unreadable 5", "Unreadable 3"])
      const gone = runOf({ ...world, truth: new Map() })
      truth.set(8, { status: "Refunded", amount: 108 })
      yield* gone.run()
      assert.include(gone.seen.found, "MissingAtGateway 8")
    }
  )
})
