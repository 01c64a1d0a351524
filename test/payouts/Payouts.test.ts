/**
 * Sheets: rows of the queue that are sent only while a run of them is at work.
 */
import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Option, Redacted, References, Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { IdempotencyKey, Money, Payments, PaymentsPolicy, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import {
  type PayoutItem,
  PayoutInsert,
  PayoutQueue,
  type PayoutQueueOptions,
  Payouts,
  type PayoutsNotAccepted,
  type Seal
} from "effect-pix/payouts"
import { makeBank, type Misbehaviour, type Received } from "../support/bank.ts"
import { databases, postgres } from "../support/database.ts"
import { compareLines } from "../support/documented.ts"
import { makeWarnings, settle } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"
import { effect, live } from "../support/effect.ts"

/** A line of its own amount and key. */
const line = (reference: string, amount = 1000, name = reference): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email(`${name.replaceAll("/", "-")}@example.com`)
})
/** A line to one person. */
const toMaria = (reference: string, amount = 1000) => line(reference, amount, "maria")
const sheet = (...references: ReadonlyArray<string>) => references.map((reference) => line(reference))
const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)

/** A gateway that misbehaves for references, one request after the other, and then pays. */
const bankOf = (script: Readonly<Record<string, ReadonlyArray<Misbehaviour | undefined>>> = {}) => {
  const turns = new Map<string, number>()
  const byKey = new Map(Object.entries(script).map(([reference, turns]) => [keyOf(reference), turns]))
  const bank = makeBank(({ key }: Received) => {
    const turn = turns.get(key) ?? 0
    turns.set(key, turn + 1)
    return byKey.get(key)?.[turn]
  })
  return {
    ...bank,
    payments: Layer.merge(
      bank.makeClient("client-a", { companyId: 1 }).layer,
      PaymentsPolicy.layer(PaymentsPolicy.once)
    ),
    /** How many requests the gateway received for a reference. */
    requests: (reference: string) => bank.received.filter(({ key }) => key === keyOf(reference)).length
  }
}

/** Refusals, as they are answered again and again. */
const always = (misbehaviour: Misbehaviour) => Array.from({ length: 99 }, () => misbehaviour)
const poor: Misbehaviour = { status: 422, body: { message: "Saldo insuficiente" } }
const refused: Misbehaviour = { status: 422, body: { message: "Conta bloqueada" } }

/** The references of each list that has some. */
const shown = (report: Payouts.PayoutReport) =>
  Object.fromEntries(
    (["done", "failed", "refused", "parked", "open"] as const).flatMap((list) =>
      report[list].length === 0 ? [] : [[list, report[list].map(({ reference }) => reference)]]
    )
  )
const wrongOf = ({ wrong }: Pick<PayoutsNotAccepted, "wrong">) =>
  wrong.map(({ error, index }) => [index, error._tag, ...(error._tag === "LooksAlike" ? [error.other] : [])])

const becauseOf = (reference: string) =>
  Effect.map(
    Effect.flatMap(PayoutQueue, (queue) => queue.status(reference)),
    Option.match({
      onNone: () => "absent",
      onSome: (status) => (status._tag === "Parked" ? status.because : status.state)
    })
  )

/** Lets the clock go on while an effect runs. */
const over = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>, seconds = 400) {
  const fiber = yield* Effect.forkChild(effect)
  for (let second = 0; second < seconds && fiber.pollUnsafe() === undefined; second++) {
    yield* settle
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(fiber)
})

/** A run whose report shows the references of each list. */
const run = (items: Iterable<PayoutItem>, options?: Payouts.RunOptions) =>
  over(Effect.map(Payouts.run(items, options), shown))

const memory = Layer.orDie(NodeSqlite.layer({ filename: ":memory:" }))

const queueOver = (bank: { readonly payments: Layer.Layer<Payments> }, options: PayoutQueueOptions = {}) =>
  Layer.orDie(PayoutQueue.layer(options)).pipe(Layer.provide(bank.payments), Layer.provideMerge(memory))

const aDay = 86_400_000

describe("a sheet", () => {
  it.effect("is reported in its order, each reference once, with what was done before", () => {
    const bank = bankOf({ b: [refused], d: always(poor) })
    return Effect.gen(function* () {
      const first = yield* run(sheet("e", "b"))
      assert.deepStrictEqual(first, { done: ["e"], refused: ["b"] })
      const second = yield* run(sheet("e", "d", "c", "b", "a", "c"), { waitFor: "90 seconds" })
      assert.deepStrictEqual(second, { done: ["e", "c", "a"], refused: ["b"], parked: ["d"] })
      assert.deepStrictEqual(["a", "b", "c", "e"].map(bank.requests), [1, 1, 1, 1])
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is accepted as a whole or not at all, and each wrong line is named in its order", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      yield* run(sheet("old"))
      const throwing = { reference: "throws", get amount() { throw new Error("no") } } // prettier-ignore
      const items: ReadonlyArray<unknown> = [
        line("good"),
        line("small", 1),
        line("old", 2000),
        null,
        toMaria("twin-1", 3000),
        toMaria("twin-2", 3000),
        throwing,
        { ...line("good"), description: "another" },
        { amount: 1000 }
      ]
      // A caller without types may give anything.
      const error = yield* Effect.flip(Payouts.run(items as ReadonlyArray<PayoutItem>))
      assert.strictEqual(error._tag, "PayoutsNotAccepted")
      assert.deepStrictEqual(wrongOf(error as PayoutsNotAccepted), [
        [1, "BelowMinimum"],
        [2, "ReferenceConflict"],
        [3, "InvalidRequest"],
        [5, "LooksAlike", "twin-1"],
        [6, "InvalidRequest"],
        [7, "ReferenceConflict"],
        [8, "InvalidRequest"]
      ])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* becauseOf("good"), bank.received.length], ["absent", 1])
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is never Refused in a line whose answer was lost, whatever the service says to the next run", () => {
    const bank = bankOf({ a: ["lose the answer", poor, refused, { status: 401 }], b: [refused] })
    return Effect.gen(function* () {
      const first = yield* run(sheet("a", "b"), { waitFor: "0 seconds" })
      assert.deepStrictEqual(first, { parked: ["a", "b"] })
      yield* over(Effect.andThen(TestClock.adjust("1 second"), Effect.void))
      const second = yield* run(sheet("a", "b"), { waitFor: "1 second" })
      assert.deepStrictEqual(second, { refused: ["b"], open: ["a"] })
      const third = yield* run(sheet("a", "b"))
      assert.deepStrictEqual(third, { done: ["a"], refused: ["b"] })
      assert.deepStrictEqual([bank.paid.size, bank.requests("b")], [1, 1])
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("waits as long as its lines go on ending, and ends when none has for waitFor", () => {
    const bank = bankOf({ b: [{ status: 429, headers: { "retry-after": "50" } }], c: always(poor) })
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Payouts.run(sheet("a", "b", "c"), { waitFor: "1 minute" }))
      yield* settle
      yield* TestClock.adjust("55 seconds")
      yield* settle
      assert.strictEqual(yield* becauseOf("b"), "posted")
      yield* TestClock.adjust("50 seconds")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("10 seconds")
      yield* settle
      const report = yield* Fiber.join(fiber)
      assert.deepStrictEqual(shown(report), { done: ["a", "b"], parked: ["c"] })
      assert.strictEqual(report.parked[0]?._tag === "Parked" && report.parked[0].because, "RunEnded")
      const requests = bank.requests("c")
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(bank.requests("c"), requests)
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is reported as its lines are at its end, also one that a person sent again meanwhile", () => {
    const bank = bankOf({ a: [refused], b: [{ status: 429, headers: { "retry-after": "20" } }] })
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      const items = sheet("a", "b")
      const fiber = yield* Effect.forkChild(run(items))
      yield* settle
      assert.strictEqual(yield* becauseOf("a"), "refused")
      yield* queue.retry("a")
      // The caller's list may change meanwhile.
      items.length = 0
      assert.deepStrictEqual(yield* Fiber.join(fiber), { done: ["a", "b"] })
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("needs no clock where every line is answered", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const report = yield* Payouts.run(sheet("a", "b", "c"))
      assert.deepStrictEqual(shown(report), { done: ["a", "b", "c"] })
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is not sent in a transaction, where nothing would be sent before its end", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const error = yield* Effect.flip(sql.withTransaction(Payouts.run(sheet("a"))))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.strictEqual(yield* becauseOf("a"), "absent")
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is shown as its plan to confirm, and without a yes nothing is accepted", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      yield* run(sheet("a"))
      const shownPlans: Array<unknown> = []
      const answer = (isConfirmed: boolean) => ({
        confirm: ({ count, stored, sum }: Payouts.PayoutPlan) =>
          Effect.sync(() => {
            shownPlans.push([count, sum, stored.map(({ reference }) => reference)])
            return isConfirmed
          })
      })
      const items = sheet("a", "b", "c")
      const error = yield* Effect.flip(Payouts.run(items, answer(false)))
      assert.strictEqual(error._tag, "PayoutsNotConfirmed")
      assert.include(error.message, "3 line(s) (R$ 30,00) was not confirmed")
      assert.strictEqual(yield* becauseOf("b"), "absent")
      const sql = yield* SqlClient.SqlClient
      const refused = [
        sql.withTransaction(Payouts.run(items, answer(true))),
        Payouts.run([...items, line("d", 1)], answer(true))
      ]
      const errors = yield* Effect.forEach(refused, (one) => Effect.flip(one))
      assert.deepStrictEqual(
        errors.map(({ _tag }) => _tag),
        ["InvalidRequest", "PayoutsNotAccepted"]
      )
      assert.lengthOf(bank.received, 1)
      // Nobody is asked in a transaction, nor about a sheet with a wrong line.
      assert.deepStrictEqual(shownPlans, [[3, 3000, ["a"]]])
      yield* over(Payouts.run(items, answer(true)))
      assert.lengthOf(bank.received, 3)
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is logged with its sum and what is stored already, where nobody is asked", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const logged = () => lines.filter((text) => text.startsWith("Payouts.run"))
    return Effect.gen(function* () {
      yield* run(sheet("a"))
      yield* run(sheet("a", "b", "b"))
      assert.deepStrictEqual(logged(), [
        "Payouts.run: 1 payout(s) (R$ 10,00), of which 0 were stored already.",
        "Payouts.run: 2 payout(s) (R$ 20,00), of which 1 were stored already."
      ])
      yield* over(Payouts.run(sheet("c"), { confirm: () => Effect.succeed(true) }))
      assert.lengthOf(logged(), 2)
    }).pipe(Effect.provide(Layer.provideMerge(queueOver(bankOf()), Logger.layer([logger]))))
  })

  it.effect("is streamed, each line when it ends, and a reader that stops ends the run", () => {
    const bank = bankOf({ b: [{ status: 429, headers: { "retry-after": "20" } }] })
    return Effect.gen(function* () {
      const read = Stream.runCollect(Stream.take(Payouts.stream(sheet("a", "b")), 1))
      assert.deepStrictEqual(
        (yield* read).map(({ reference }) => reference),
        ["a"]
      )
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* becauseOf("b"), "RunEnded")
      assert.isAtMost(bank.requests("b"), 1)
    }).pipe(Effect.provide(queueOver(bank)))
  })

  effect("dies with a sentence where the queue is a mock, which has no rows", function* () {
    const exit = yield* Payouts.run([{ reference: "line-1", amount: Money.centavos(2500) }]).pipe(
      // Nothing of it is called.
      Effect.provideService(PayoutQueue, {} as PayoutQueue["Service"]),
      Effect.exit
    )
    assert.include(String(exit), "A run needs the PayoutQueue of its own layers")
  })

  it.effect("fails with the option that is wrong, and sends nothing", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      for (const options of [{ waitFor: "soon" }, { waitFor: Number.NaN }, { allowAlike: "a" }, { allowAlike: [1] }]) {
        // A caller without types may give anything.
        const error = yield* Effect.flip(Payouts.run(sheet("a"), options as unknown as Payouts.RunOptions))
        assert.strictEqual(error._tag, "InvalidRequest")
      }
      assert.deepStrictEqual(yield* run([]), {})
      assert.strictEqual(bank.received.length, 0)
    }).pipe(Effect.provide(queueOver(bank)))
  })
})

describe("a plan", () => {
  it.effect("sends and stores nothing, and says what a run would do", () => {
    const bank = bankOf({ refused: [refused] })
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      const nothing = yield* Payouts.plan([])
      assert.deepStrictEqual([nothing.count, nothing.sum, nothing.wrong.length, nothing.stored.length], [0, 0, 0, 0])
      yield* run(sheet("done", "refused"))
      yield* queue.setPaused(true)
      yield* over(Payouts.run(sheet("left"), { waitFor: "1 second" }))
      yield* queue.setPaused(false)
      const before = yield* Stream.runCollect(queue.list())
      const history = yield* queue.history("left")
      const plan = yield* Payouts.plan([
        ...sheet("done", "left", "new", "refused", "new"),
        line("small", 1),
        toMaria("twin-1", 5000),
        toMaria("twin-2", 5000)
      ])
      assert.deepStrictEqual([plan.count, plan.sum], [8, 14_001])
      assert.deepStrictEqual(
        plan.wrong.map(({ error, index }) => [index, error._tag]),
        [
          [5, "BelowMinimum"],
          [7, "LooksAlike"]
        ]
      )
      assert.deepStrictEqual(
        plan.stored.map(({ reference, state }) => [reference, state]),
        [
          ["done", "posted"],
          ["left", "parked"],
          ["refused", "refused"]
        ]
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Stream.runCollect(queue.list()), before)
      assert.deepStrictEqual(yield* queue.history("left"), history)
      assert.strictEqual(bank.received.length, 2)
    }).pipe(Effect.provide(queueOver(bank)))
  })
})

for (const { client, name, skip } of databases) {
  /** A database, a queue that sends in a scope of its own, and the clock of the database moved on. */
  const world = Effect.fnUntraced(function* (options: PayoutQueueOptions = {}) {
    const database = yield* Layer.build(client())
    const sql = yield* Effect.provideContext(SqlClient.SqlClient, database)
    return {
      sql,
      database,
      /** A process of its own, which can be ended. */
      process: (bank: { readonly payments: Layer.Layer<Payments> }, own: PayoutQueueOptions = {}) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const queue = yield* Layer.buildWithScope(
            Layer.provide(Layer.orDie(PayoutQueue.layer({ ...options, ...own })), [
              bank.payments,
              Layer.succeedContext(database)
            ]),
            scope
          )
          return { queue, end: Scope.close(scope, Exit.void) }
        }),
      client: Layer.build(Layer.provide(Layer.orDie(PayoutQueue.layerClient(options)), Layer.succeedContext(database)))
    }
  })
  /** Says that the lease of each run is over, as it is when its process is killed. */
  const lapse = (sql: SqlClient.SqlClient) =>
    sql`UPDATE effect_pix_payouts SET run_until = 1 WHERE run_until IS NOT NULL`

  describe.skipIf(skip)(`a sheet on ${name}`, () => {
    it.live("whose run was killed is not sent by a worker, and the next run of its references sends it", () => {
      const bank = bankOf()
      return Effect.gen(function* () {
        const { client, process, sql } = yield* world()
        // A run in a process without a worker is killed: its rows stay, and its lease is over.
        const killed = yield* client
        const fiber = yield* Effect.forkChild(Effect.provideContext(Payouts.run(sheet("paid", "by-hand")), killed))
        const stored = Effect.map(sql`SELECT run_by FROM effect_pix_payouts`, ({ length }) => length === 2)
        yield* Effect.repeat(Effect.andThen(Effect.sleep("10 millis"), stored), { until: (done) => done })
        const rows = yield* sql<Record<string, unknown>>`SELECT run_by FROM effect_pix_payouts`
        yield* Fiber.interrupt(fiber)
        yield* sql`UPDATE effect_pix_payouts SET run_by = ${String(rows[0]?.["run_by"])}`
        yield* lapse(sql)
        const { queue } = yield* process(bank)
        yield* Effect.gen(function* () {
          for (const reference of ["paid", "by-hand"]) {
            yield* Effect.repeat(Effect.andThen(Effect.sleep("10 millis"), becauseOf(reference)), {
              until: (because) => because === "RunEnded"
            })
          }
          assert.strictEqual(bank.received.length, 0)
          // A person has paid the other line by hand since.
          assert.deepStrictEqual(shown(yield* Payouts.run(sheet("paid", "new"))), { done: ["paid", "new"] })
          assert.deepStrictEqual([yield* becauseOf("by-hand"), bank.requests("by-hand")], ["RunEnded", 0])
        }).pipe(Effect.provideContext(queue))
      }).pipe(Effect.scoped)
    })

    it.live("whose lease lapses between the look at the row and the mark is not sent", () => {
      const bank = bankOf()
      return Effect.gen(function* () {
        const opened = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        // A worker opens the request after it has looked at the lease, and before it marks.
        const seal: Seal.Seal = {
          seal: Effect.succeed,
          open: (text) => Effect.as(Effect.andThen(Deferred.succeed(opened, undefined), Deferred.await(goOn)), text)
        }
        const { process } = yield* world({ seal })
        const { queue } = yield* process(bank)
        yield* Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(Payouts.run(sheet("a"), { waitFor: "1 minute" }))
          yield* Deferred.await(opened)
          yield* Fiber.interrupt(fiber)
          yield* Deferred.succeed(goOn, undefined)
          yield* Effect.repeat(Effect.andThen(Effect.sleep("20 millis"), becauseOf("a")), {
            until: (because) => because === "RunEnded"
          })
          assert.strictEqual(bank.received.length, 0)
        }).pipe(Effect.provideContext(queue))
      }).pipe(Effect.scoped)
    })

    it.live("whose lease ended, as while its process was stopped, is neither renewed nor taken up by that run", () => {
      const bank = bankOf()
      return Effect.gen(function* () {
        const { process, sql } = yield* world({ poll: "50 millis", lease: "2 seconds" })
        const { queue } = yield* process(bank)
        const { setPaused } = yield* Effect.provideContext(PayoutQueue, queue)
        yield* setPaused(true)
        const fiber = yield* Effect.forkChild(Effect.provideContext(Payouts.run(sheet("a", "b")), queue))
        const until = Effect.map(
          sql<Record<string, unknown>>`SELECT run_until FROM effect_pix_payouts WHERE reference = 'b'`,
          ([row]) => Number(row?.["run_until"] ?? 0)
        )
        const later = (than: number) =>
          Effect.repeat(Effect.andThen(Effect.sleep("10 millis"), until), { until: (at) => at > than })
        const begun = yield* later(0)
        yield* sql`UPDATE effect_pix_payouts SET run_until = 1 WHERE reference = 'a'`
        yield* later(yield* later(begun))
        yield* setPaused(false)
        assert.deepStrictEqual(shown(yield* Fiber.join(fiber)), { done: ["b"], parked: ["a"] })
        assert.strictEqual(bank.requests("a"), 0)
      }).pipe(Effect.scoped)
    })

    it.live("that two runs list at a time is paid once, and the second one takes it up when the first one ends", () => {
      const bank = bankOf({ c: [{ status: 429, headers: { "retry-after": "1" } }] })
      return Effect.gen(function* () {
        const { process } = yield* world({ poll: "50 millis" })
        const [one, two] = [yield* process(bank), yield* process(bank)]
        const items = sheet("a", "b", "c", "d")
        const first = yield* Effect.forkChild(Effect.provideContext(Payouts.run(items), one.queue))
        const second = yield* Effect.forkChild(
          Effect.provideContext(Payouts.run(items.toReversed(), { waitFor: "20 seconds" }), two.queue)
        )
        yield* Effect.provideContext(
          Effect.repeat(Effect.andThen(Effect.sleep("10 millis"), becauseOf("d")), {
            until: (because) => because === "posted"
          }),
          two.queue
        )
        yield* Fiber.interrupt(first)
        assert.deepStrictEqual(shown(yield* Fiber.join(second)), { done: ["d", "c", "b", "a"] })
        assert.deepStrictEqual(bank.paid.size, 4)
        assert.deepStrictEqual(["a", "b", "d"].map(bank.requests), [1, 1, 1])
      }).pipe(Effect.scoped)
    })

    it.live("with the same person and amount as another one at the same moment: one of the two is accepted", () => {
      const bank = bankOf()
      return Effect.gen(function* () {
        const { process } = yield* world()
        const { queue } = yield* process(bank)
        const runIn = (lines: ReadonlyArray<PayoutItem>) =>
          Effect.exit(Effect.provideContext(Payouts.run(lines), queue))
        for (const round of [1, 2, 3, 4, 5]) {
          const items = ["x", "y"].map((side) => [toMaria(`${side}/${round}`, 1000 + round)])
          const exits = yield* Effect.forEach(items, runIn, { concurrency: "unbounded" })
          assert.deepStrictEqual(exits.filter(Exit.isSuccess).length, 1, `round ${round}`)
        }
        assert.strictEqual(bank.paid.size, 5)
      }).pipe(Effect.scoped)
    })
  })
}

const absent = noPostgres()

describe.skipIf(absent !== undefined)("a sheet on a PostgreSQL of other settings", () => {
  /** A database whose connections have these settings. */
  const clientOf = (...settings: ReadonlyArray<string>) =>
    Effect.map(postgres, ({ url }) => {
      const options = encodeURIComponent(settings.map((setting) => `-c ${setting}`).join(" "))
      return Layer.orDie(PgClient.layer({ url: Redacted.make(`${url}?options=${options}`) }))
    })
  const queueOn = (bank: { readonly payments: Layer.Layer<Payments> }, client: Layer.Layer<SqlClient.SqlClient>) =>
    Layer.provide(Layer.orDie(PayoutQueue.layer({ poll: "50 millis" })), [bank.payments, client])

  it.live("has its look-alikes found at the same moment, also where each transaction reads one snapshot", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const client = yield* clientOf(String.raw`default_transaction_isolation=repeatable\ read`)
      const queue = yield* Layer.build(queueOn(bank, client))
      for (const round of [1, 2, 3, 4, 5]) {
        const exits = yield* Effect.forEach(
          ["x", "y", "z"],
          (side) => Effect.exit(Effect.provideContext(Payouts.run([toMaria(`${side}/${round}`, 1000 + round)]), queue)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(exits.filter(Exit.isSuccess).length, 1, `round ${round}`)
      }
      assert.strictEqual(bank.paid.size, 5)
    }).pipe(Effect.scoped)
  })

  it.live("goes on while the database does not answer", () => {
    const bank = bankOf({ a: [{ status: 429, headers: { "retry-after": "2" } }] })
    return Effect.gen(function* () {
      const client = yield* Layer.build(yield* clientOf("statement_timeout=300"))
      const sql = yield* Effect.provideContext(SqlClient.SqlClient, client)
      const queue = yield* Layer.build(queueOn(bank, Layer.succeedContext(client)))
      const fiber = yield* Effect.forkChild(Effect.provideContext(Effect.map(Payouts.run(sheet("a")), shown), queue))
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => bank.received.length > 0 })
      yield* sql.withTransaction(
        Effect.andThen(sql`LOCK TABLE effect_pix_payouts IN ACCESS EXCLUSIVE MODE`, Effect.sleep("1 second"))
      )
      assert.isUndefined(fiber.pollUnsafe())
      assert.deepStrictEqual(yield* Fiber.join(fiber), { done: ["a"] })
    }).pipe(Effect.scoped)
  })
})

describe("a row of a sheet", () => {
  it.effect("goes on without a run while it is in doubt, under its key", () => {
    const bank = bankOf({ a: ["lose the answer", { status: 503 }] })
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Payouts.run(sheet("a")))
      yield* settle
      assert.strictEqual(yield* becauseOf("a"), "unknown")
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* becauseOf("a"), "posted")
      assert.strictEqual(bank.paid.size, 1)
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect(
    "that is under way when its run ends, and is told to wait, is not sent again, also while its end is read",
    () => {
      const goOn = Deferred.makeUnsafe<void>()
      const bank = bankOf({ a: [{ status: 429, headers: { "retry-after": "1" } }] })
      const slow = Layer.effect(
        Payments,
        Effect.map(Payments, (payments) => ({
          ...payments,
          requestWithdrawal: (...given: Parameters<typeof payments.requestWithdrawal>) =>
            Effect.andThen(Deferred.await(goOn), payments.requestWithdrawal(...given))
        }))
      )
      const payments = Layer.provideMerge(slow, bank.payments)
      return Effect.gen(function* () {
        const states: Array<string> = []
        const reading = Stream.runForEach(Payouts.stream(sheet("a"), { waitFor: "2 seconds" }), ({ state }) => {
          states.push(state)
          return Effect.sleep("1 hour")
        })
        yield* Effect.forkChild(reading)
        yield* settle
        yield* TestClock.adjust("3 seconds")
        yield* settle
        assert.deepStrictEqual(states, ["accepted"])
        yield* TestClock.adjust("10 seconds")
        yield* Deferred.succeed(goOn, undefined)
        yield* settle
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual([yield* becauseOf("a"), bank.requests("a")], ["RunEnded", 1])
      }).pipe(Effect.provide(queueOver({ payments })))
    }
  )

  it.effect("that submit accepted is not bound to a run that lists it", () => {
    const bank = bankOf({ a: [{ status: 429, headers: { "retry-after": "30" } }] })
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(line("a"))
      yield* settle
      assert.deepStrictEqual(yield* run(sheet("a"), { waitFor: "2 seconds" }), { open: ["a"] })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* becauseOf("a"), "posted")
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("that submit accepts too is sent without the run", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.setPaused(true)
      const fiber = yield* Effect.forkChild(Payouts.run(sheet("a", "b")))
      yield* settle
      assert.strictEqual((yield* queue.submit(line("a"))).state, "accepted")
      yield* Fiber.interrupt(fiber)
      yield* queue.setPaused(false)
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.deepStrictEqual([yield* becauseOf("a"), yield* becauseOf("b")], ["posted", "RunEnded"])
      // The status of one that is parked says so, and submit sends it no more than before.
      assert.strictEqual((yield* queue.submit(line("b"))).state, "parked")
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is not sent by the next process of its file, whatever the clock said to the one that was killed", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const killed = yield* Layer.build(Layer.orDie(PayoutQueue.layerClient()))
      const fiber = yield* Effect.forkChild(Effect.provideContext(Payouts.run(sheet("a")), killed))
      yield* settle
      const [row] = yield* sql<Record<string, unknown>>`SELECT run_until FROM effect_pix_payouts`
      yield* Fiber.interrupt(fiber)
      // It is as kill -9 leaves it, and that clock was a day ahead.
      yield* sql`UPDATE effect_pix_payouts SET run_until = ${Number(row?.["run_until"]) + aDay}`
      const next = yield* Layer.build(Layer.provide(Layer.orDie(PayoutQueue.layer()), bank.payments))
      yield* settle
      const because = Effect.provideContext(becauseOf("a"), next)
      assert.deepStrictEqual([yield* because, bank.received.length], ["RunEnded", 0])
    }).pipe(Effect.scoped, Effect.provide(memory))
  })

  it.effect("that is parked for another reason is not resumed by a run, and RunEnded replaces no reason", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.setPaused(true)
      const fiber = yield* Effect.forkChild(Payouts.run([...sheet("a", "b"), line("big", 90_000)]))
      yield* settle
      yield* queue.park("a", { by: "ana@example.com" })
      yield* Fiber.interrupt(fiber)
      yield* queue.setPaused(false)
      yield* TestClock.adjust("1 hour")
      const reasons = Effect.forEach(["a", "b", "big"], becauseOf)
      assert.deepStrictEqual(yield* reasons, ["Operator", "RunEnded", "OverMaxAmount"])
      yield* queue.park("b")
      assert.deepStrictEqual(yield* run([...sheet("a", "b"), line("big", 90_000)]), { parked: ["a", "b", "big"] })
      assert.deepStrictEqual(yield* reasons, ["Operator", "Operator", "OverMaxAmount"])
      yield* run([line("big", 90_000)])
      assert.deepStrictEqual([yield* reasons, bank.received.length], [["Operator", "Operator", "OverMaxAmount"], 0])
    }).pipe(Effect.provide(queueOver(bank, { maxAmount: 50_000 })))
  })

  it.effect("that was refused is sent again by retry alone, and the log says so", () => {
    const bank = bankOf({ a: [refused] })
    const { layer, lines } = makeWarnings((text) => text.replace(/\(reference.*\)/, "()"))
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* run(sheet("a"))
      assert.deepStrictEqual(yield* run(sheet("a")), { refused: ["a"] })
      assert.strictEqual(bank.requests("a"), 1)
      assert.match(lines.at(-1) ?? "", /No request of this queue moved money.*retry/)
      yield* queue.retry("a")
      yield* settle
      assert.strictEqual(yield* becauseOf("a"), "posted")
    }).pipe(Effect.provide(Layer.provideMerge(queueOver(bank), layer)))
  })

  it.effect("that a person resumes goes on without a run", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      assert.deepStrictEqual(yield* run(sheet("a"), { waitFor: 0 }), { parked: ["a"] })
      yield* queue.resume("a")
      yield* settle
      assert.strictEqual(yield* becauseOf("a"), "posted")
    }).pipe(Effect.provide(queueOver(bank)))
  })
})

describe("a payout that looks like another", () => {
  /** What becomes of a line to Maria, beside what is stored. */
  const beside = (options?: Payouts.RunOptions) =>
    Effect.map(Effect.exit(run([toMaria("new")], options)), (exit) =>
      Exit.isSuccess(exit) ? exit.value : "not accepted"
    )

  it.effect.each(["accepted", "parked", "settled", "posted", "doubt"])("is not accepted beside one: %s", (twin) => {
    const bank = bankOf({ doubt: always("lose the answer") })
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.setPaused(twin !== "posted" && twin !== "doubt")
      yield* queue.submit(toMaria(twin))
      yield* settle
      if (twin === "parked" || twin === "settled") yield* queue.park(twin)
      if (twin === "settled") yield* queue.settle(twin)
      assert.strictEqual(yield* beside(), "not accepted")
      assert.strictEqual(yield* becauseOf("new"), "absent")
      // One that failed does not count.
      if (twin !== "posted" && twin !== "settled") yield* queue.park(twin)
      yield* queue.settle(twin, { as: "failed" })
      yield* queue.setPaused(false)
      assert.deepStrictEqual(yield* beside(), { done: ["new"] })
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is accepted beside one that is refused, of another amount, of another key or older than a day", () => {
    const bank = bankOf({ refused: [refused] })
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(toMaria("older"))
      yield* TestClock.adjust(aDay)
      assert.strictEqual(yield* beside(), "not accepted")
      yield* TestClock.adjust(1)
      yield* queue.submit(toMaria("refused"))
      yield* queue.submit(line("other-key"))
      yield* queue.submit(toMaria("other-amount", 2000))
      yield* settle
      assert.strictEqual(yield* becauseOf("refused"), "refused")
      assert.deepStrictEqual(yield* beside(), { done: ["new"] })
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is compared as its key is sent, and no key is one key", () => {
    const bank = bankOf()
    const cpf = { amount: Money.centavos(1000), pixKey: PixKey.cpf("529.982.247-25") }
    return Effect.gen(function* () {
      const wrong = yield* Effect.flip(
        Payouts.run([
          { reference: "a", ...cpf },
          { reference: "b", amount: Money.centavos(1000), pixKey: "52998224725", pixKeyType: "CPF" },
          { reference: "c", amount: Money.centavos(1000) },
          { reference: "d", amount: Money.centavos(1000) }
        ])
      )
      assert.deepStrictEqual(wrongOf(wrong as PayoutsNotAccepted), [
        [1, "LooksAlike", "a"],
        [3, "LooksAlike", "c"]
      ])
      assert.notInclude(wrong.message, "529")
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is accepted where allowAlike names it, or is true: equal salaries", () => {
    const bank = bankOf()
    const salaries = ["a", "b", "c"].map((name) => toMaria(name))
    return Effect.gen(function* () {
      const one = yield* Effect.flip(Payouts.run(salaries, { allowAlike: ["b"] }))
      assert.deepStrictEqual(
        (one as PayoutsNotAccepted).wrong.map(({ reference }) => reference),
        ["c"]
      )
      // Those that the failure named are enough.
      assert.deepStrictEqual(yield* run(salaries, { allowAlike: ["b", "c"] }), { done: ["a", "b", "c"] })
      // A sheet that is run a second time is not compared.
      assert.deepStrictEqual(yield* run(salaries), { done: ["a", "b", "c"] })
      const all = [...salaries, toMaria("d")]
      const added = yield* Effect.flip(Payouts.run(all))
      assert.deepStrictEqual(
        (added as PayoutsNotAccepted).wrong.map(({ reference }) => reference),
        ["d"]
      )
      assert.deepStrictEqual(yield* run(all, { allowAlike: true }), { done: ["a", "b", "c", "d"] })
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("is compared again when a run resumes it, also where it is older than a day", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* run([toMaria("left"), line("alone", 1000)], { waitFor: 0 })
      yield* TestClock.adjust(aDay + 1)
      yield* queue.submit(line("other", 1000))
      yield* settle
      // Another key of that amount is no twin of a row that is older than a day.
      assert.deepStrictEqual(yield* run([line("alone", 1000)]), { done: ["alone"] })
      yield* queue.submit(toMaria("by-hand"))
      yield* settle
      const error = yield* Effect.flip(Payouts.run([toMaria("left")]))
      assert.deepStrictEqual(wrongOf(error as PayoutsNotAccepted), [[0, "LooksAlike", "by-hand"]])
      assert.strictEqual(yield* becauseOf("left"), "RunEnded")
      assert.deepStrictEqual(yield* run([toMaria("left")], { allowAlike: ["left"] }), { done: ["left"] })
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("two that are resumed together are compared, though both are older than a day", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      yield* run([toMaria("a"), toMaria("b")], { waitFor: 0, allowAlike: true })
      yield* TestClock.adjust(aDay + 1)
      const error = yield* Effect.flip(Payouts.run([toMaria("a"), toMaria("b")]))
      assert.deepStrictEqual(wrongOf(error as PayoutsNotAccepted), [[1, "LooksAlike", "a"]])
    }).pipe(Effect.provide(queueOver(bank)))
  })

  it.effect("may be one whose key was forgotten, or cannot be opened", () => {
    const bank = bankOf()
    const lost = new Set<string>()
    const seal: Seal.Seal = {
      seal: (text) => Effect.succeed(`sealed ${text}`),
      open: (text, reference) =>
        lost.has(reference) ? Effect.die(new Error("no key")) : Effect.succeed(text.replace("sealed ", ""))
    }
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      yield* queue.submit(line("sealed", 1000))
      yield* queue.submit(line("forgotten", 2000))
      yield* settle
      assert.deepStrictEqual(yield* beside(), { done: ["new"] })
      lost.add("sealed")
      const closed = yield* Effect.flip(Payouts.run([line("newer", 1000)]))
      assert.deepStrictEqual(wrongOf(closed as PayoutsNotAccepted), [[0, "LooksAlike", "sealed"]])
      yield* sql`UPDATE effect_pix_payouts SET request = NULL WHERE reference = 'forgotten'`
      const forgotten = yield* Effect.flip(Payouts.run([line("newer", 2000)]))
      assert.deepStrictEqual(wrongOf(forgotten as PayoutsNotAccepted), [[0, "LooksAlike", "forgotten"]])
    }).pipe(Effect.provide(queueOver(bank, { seal })))
  })

  it.effect("is that of another account only in name: two accounts are not compared", () => {
    const bank = bankOf()
    const other = { payments: bank.makeClient("client-b").layer }
    return Effect.gen(function* () {
      yield* run([toMaria("a")])
      const queue = yield* Layer.build(
        Layer.provide(Layer.orDie(PayoutQueue.layer({ account: "b" })), [
          other.payments,
          Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
        ])
      )
      assert.deepStrictEqual(yield* Effect.provideContext(run([toMaria("b")]), queue), { done: ["b"] })
    }).pipe(Effect.scoped, Effect.provide(queueOver(bank)))
  })

  it.effect("is submitted and parked where the queue is told to, and a person resumes it", () => {
    const bank = bankOf()
    // oxlint-disable-next-line no-thenable -- the name of the option; no promise resolves with it
    const alike = { within: "2 hours", then: "park" } as const
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      assert.strictEqual((yield* queue.submit(toMaria("a"))).state, "accepted")
      const [b, c] = yield* queue.submitMany([toMaria("b"), line("c")])
      assert.deepStrictEqual([b?._tag === "Parked" && b.because, c?.state], ["LooksAlike", "accepted"])
      yield* settle
      // The same reference again is the same payout.
      assert.strictEqual((yield* queue.submit(toMaria("a"))).state, "posted")
      assert.deepStrictEqual(yield* run([toMaria("b")]), { parked: ["b"] })
      assert.strictEqual(bank.requests("b"), 0)
      yield* queue.resume("b")
      yield* settle
      assert.strictEqual(yield* becauseOf("b"), "posted")
      yield* TestClock.adjust("3 hours")
      assert.strictEqual((yield* queue.submit(toMaria("d"))).state, "accepted")
    }).pipe(Effect.provide(queueOver(bank, { alike })))
  })

  it.effect("is submitted and sent where the queue has no such option, and so is a row of PayoutInsert", () => {
    const bank = bankOf()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      yield* queue.submitMany([toMaria("a"), toMaria("b")])
      const { parameters, text } = yield* Effect.fromResult(PayoutInsert.make(toMaria("c"), { dialect: "sqlite" }))
      yield* sql.unsafe(text, [...parameters])
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* Effect.forEach(["a", "b"], becauseOf), ["posted", "posted"])
    }).pipe(Effect.provide(queueOver(bank)))
  })

  effect("is an option of the queue that needs its time", function* () {
    // A caller without types may give anything.
    // oxlint-disable-next-line no-thenable -- the name of the option; no promise resolves with it
    const options = { alike: { then: "park" } } as unknown as PayoutQueueOptions
    const error = yield* Effect.flip(Layer.build(Layer.provide(PayoutQueue.layerClient(options), memory)))
    assert.strictEqual(error._tag, "ConfigurationError")
    assert.include(error.message, "alike.within")
  })
})

describe("the embedded database", () => {
  live("logs the absolute path of its file, and whether it was created", function* () {
    const lines: Array<Parameters<typeof compareLines>[0][number]> = []
    const logger = Logger.layer([
      Logger.make(({ fiber, logLevel, message }) => {
        const attributes = fiber.getRef(References.CurrentLogAnnotations)
        const line = { level: logLevel, message: String(message), attributes, traceId: undefined, spanId: undefined }
        if (line.message.startsWith("NodeSqlite")) lines.push(line)
      })
    ])
    const folder = mkdtempSync(join(tmpdir(), "effect-pix-"))
    const filename = join(folder, "folha.db")
    const open = Effect.asVoid(
      Effect.scoped(Layer.build(Layer.provide(PayoutQueue.layerClient(), NodeSqlite.layer({ filename }))))
    ).pipe(Effect.provide(logger))
    yield* open
    yield* open
    assert.deepStrictEqual(
      lines.map(({ message }) => message),
      [`NodeSqlite: ${filename} was created.`, `NodeSqlite: ${filename} was opened.`]
    )
    const page = compareLines(lines, "node")
    assert.deepStrictEqual(page.exported, page.documented)
  })
})
