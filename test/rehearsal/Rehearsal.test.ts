/** How a rehearsal plays a program: its schedules, what each disturbs, and what survives a death. */
import { describe, expect, expectTypeOf, test } from "@effect/vitest"
import { Context, type Duration, Effect, Layer, Metric, Random, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Payments, type PaymentsClient, Rehearsed, WithdrawalLookup } from "effect-pix"
import {
  Rehearsal,
  type RehearsalOptions,
  type RehearsalReport,
  type RehearsalWorld,
  Sandbox
} from "effect-pix/sandbox"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { live } from "../support/effect.ts"
import {
  charge,
  declare,
  invoice,
  meanwhile,
  owed,
  pay,
  payAgain,
  payUnderNewKey,
  receive,
  request,
  sqlite
} from "./programs.ts"

const payWithNewKeys = Effect.retry(payUnderNewKey, Schedule.max([Schedule.spaced("1 minute"), Schedule.recurs(30)]))
const call = "call 1 requestWithdrawal:"
const death = `${call} death after it was executed`

/** A store that outlives the process. */
class Log extends Context.Service<Log, Array<string>>()("test/Log") {}
const log = (line: string) => Log.use((lines) => Effect.sync(() => void lines.push(line)))
const stores = Layer.sync(Log, () => [])

/** Plays a program in one schedule: its findings, its calls, its first note and what is left in its log. */
const playIn = Effect.fnUntraced(function* (
  only: string,
  program: Effect.Effect<unknown, unknown, Payments | PaymentsClient | WithdrawalLookup | Log>,
  options: Omit<RehearsalOptions<Log>, "stores" | "only"> = {},
  around: Layer.Layer<never, never, Sandbox> = Layer.empty
) {
  const worlds: Array<RehearsalWorld & { readonly log: string }> = []
  const collect = (world: RehearsalWorld) =>
    Log.use((lines) => Effect.sync(() => worlds.push({ ...world, log: lines.join(" ") })))
  const { findings } = yield* Rehearsal.run(program, {
    ...options,
    stores: Layer.merge(stores, around),
    rules: { collect },
    only
  })
  // The undisturbed run is played first.
  const { calls, log, notes } = worlds.at(-1)!
  return { findings, calls, log, notes }
})

const payAfter = "1 minute"
const refundAfter = (wait: Duration.Input) =>
  meanwhile(
    Effect.gen(function* () {
      const { refund, transactions } = yield* Sandbox
      yield* Effect.sleep(wait)
      for (const { transactionId } of yield* transactions) yield* refund(transactionId)
    })
  )

/** The defect of a rehearsal, which lists the schedules that there are. */
const defectOf = (run: Effect.Effect<RehearsalReport>) => Effect.map(Effect.flip(Effect.sandbox(run)), String)

describe("Rehearsal.run", () => {
  live("a key made inside of a retry is found in the schedules in which it pays twice", function* () {
    const report = yield* Rehearsal.run(payWithNewKeys)
    const found = report.findings.filter(({ rule }) => rule === "paid-twice")
    expect(found.map(({ schedule }) => schedule)).toEqual(
      [
        "answer cut off, each request",
        "executed, answer lost, each request, then each later call under its key refused, limit of the day",
        "death after it was executed, and again after the next call",
        "death after it was executed, then each later call under its key refused, limit of the day",
        "executed 10 minutes late, each request, then each later call under its key refused, conflict",
        "an outage begins, executed, answer lost"
      ].map((name) => `${call} ${name}`)
    )
    const [, , finding] = report.findings
    const alone = yield* Rehearsal.run(payWithNewKeys, { only: finding?.schedule })
    expect(alone.schedules).toBe(1)
    expect(JSON.stringify(alone.findings[0])).toBe(JSON.stringify(finding))
  })

  live("a payout that is asked for again under one key has no finding in any schedule", function* () {
    const report = yield* Rehearsal.run(payAgain())
    expect(report).toMatchObject({ schedules: 16, calls: ["1 requestWithdrawal"], findings: [], undecided: [] })
    // In the same millisecond, too.
    const idle = Effect.retry(pay(), { times: 3 })
    expect((yield* Rehearsal.run(idle, { only: `${call} refused, conflict` })).findings).toEqual([])
  })

  live("a read meets each fault that is no write's, once and at each request", function* () {
    const read = Effect.flatMap(Payments, ({ getBalance }) => Effect.ignore(getBalance()))
    const names = yield* defectOf(Rehearsal.run(read, { only: "nothing" }))
    for (const fault of ["not sent", "answered 500", "answered 10 minutes late", "answer cut off", "rate limited"]) {
      for (const extent of ["\n", ", each request\n"]) expect(names).toContain(`getBalance: ${fault}${extent}`)
    }
    expect(names).not.toContain("executed")
  })

  live("a name that no schedule has is a defect, which lists the names of the schedules", function* () {
    expect(yield* defectOf(Rehearsal.run(pay(), { only: "call 9" }))).toContain(`${call} not sent, each request`)
  })

  live("a death runs no finalizer, and the next process has the same stores and makes other keys", function* () {
    const program = Effect.gen(function* () {
      yield* log("starts")
      yield* Effect.forkDetach(Effect.andThen(Effect.sleep("1 hour"), log("a detached fiber goes on")))
      yield* payUnderNewKey
    }).pipe(Effect.ensuring(log("finalizer")))
    const { findings, log: left } = yield* playIn(death, program)
    expect(left).toBe("starts starts finalizer")
    expect(findings.map(({ rule }) => rule)).toContain("paid-twice")
  })

  live("a fault meets the requests of its call, and not those of a concurrent one", function* () {
    const both = Effect.all([payAgain("invoice-1"), payAgain("invoice-2")], { concurrency: 2 })
    for (const [number, requests] of [
      [1, [2, 1]],
      [2, [1, 2]]
    ] as const) {
      const { calls } = yield* playIn(`call ${number} requestWithdrawal: executed, answer lost`, both)
      expect(calls.map((one) => one.requests)).toEqual(requests)
    }
  })

  live("reads of one poll with the same answer are one call to disturb", function* () {
    const lookUp = (id: string) => Payments.use((payments) => payments.getTransaction(id))
    const poll = Effect.flatMap(charge, (id) =>
      Effect.repeat(lookUp(id), { schedule: Schedule.spaced("1 minute"), times: 8 })
    )
    const known = yield* defectOf(Rehearsal.run(poll, { payAfter: "5 minutes", only: "none" }))
    const disturbed = [...known.matchAll(/call (\d+) getTransaction: not sent$/gm)].map(([, number]) => number)
    expect(disturbed).toEqual(["2", "7"])
  })

  live("the random numbers of a program are the same in each schedule", function* () {
    const program = Effect.andThen(
      Effect.flatMap(Random.nextInt, (number) => Rehearsed.note("drawn", { number })),
      pay()
    )
    const drawn = (only: string) => Effect.map(playIn(only, program), ({ notes: [note] }) => note?.detail["number"])
    const first = yield* drawn("undisturbed")
    expect(yield* drawn(`${call} not sent`)).toBe(first)
  })

  live("a rule of the user's is an Effect over the world and its stores", function* () {
    const rules = {
      "logged-once": ({ withdrawals }: RehearsalWorld) =>
        Log.use(({ length }) => (length <= withdrawals.length ? Effect.void : Effect.fail(`${length} lines`)))
    }
    const { findings } = yield* Rehearsal.run(Effect.andThen(log("paid"), pay()), { stores, rules, only: death })
    expect(findings).toMatchObject([{ rule: "logged-once", schedule: death, problems: ["2 lines"] }])
  })

  live(
    "deaths in the library's own tables, and each cause of a refusal, are played where they are asked for",
    function* () {
      const program = Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit({ reference: invoice, ...request })
        yield* queue.await(invoice)
      }).pipe(Effect.provide(PayoutQueue.layer()))
      const played = (only: string | undefined) =>
        Effect.gen(function* () {
          const names: Array<string> = []
          const rules = { collect: ({ schedule }: RehearsalWorld) => Effect.sync(() => names.push(schedule)) }
          yield* Rehearsal.run(only === undefined ? Effect.asVoid(pay()) : Effect.orDie(program), {
            stores: sqlite,
            rules,
            only
          })
          return names
        })
      expect((yield* played("inner step 1 ")).filter((name) => name.startsWith("inner step 1 "))).toHaveLength(1)
      expect((yield* played(undefined)).filter((name) => /minimum|night|inner/.test(name))).toEqual([])
      expect((yield* played("refused, ")).some((name) => name.endsWith("refused, minimum"))).toBe(true)
    }
  )

  live("in an outage of three hours a program that asks each minute asks some five times", function* () {
    const ask = Effect.ignore(Payments.use((payments) => payments.getBalance()))
    const program = Effect.repeat(ask, Schedule.spaced("1 minute"))
    const { calls } = yield* playIn("call 1 getBalance: an outage begins, not sent", program, { stopAfter: "6 hours" })
    const start = calls[0]?.startedAt ?? 0
    const inOutage = calls.filter(({ startedAt }) => startedAt < start + 3 * 60 * 60 * 1000)
    expect(inOutage.length).toBeGreaterThan(2)
    expect(inOutage.length).toBeLessThan(10)
  })

  live("others act on the gateway while the program runs, and the payer does as the schedule says", function* () {
    const program = Effect.gen(function* () {
      const id = yield* Effect.tap(charge, Effect.sleep("3 minutes"))
      yield* Payments.use((payments) => payments.getTransaction(id))
    })
    for (const [only, status] of [
      ["undisturbed", "Refunded"],
      ["call 1 createTransaction: the charge fails", "Failed"],
      ["call 1 createTransaction: nobody pays, the charge lapses", "Awaiting"]
    ] as const) {
      const { calls, findings } = yield* playIn(only, program, { payAfter }, refundAfter("2 minutes"))
      expect([findings, calls.at(-1)?.status]).toEqual([[], status])
    }
  })

  live("real work that ends soon is waited for, and tasks run by their priority", function* () {
    const order: Array<string> = []
    const note = (name: string, priority: number) => Effect.map(Effect.yieldNowWith(priority), () => order.push(name))
    const work = Effect.promise(() => new Promise((done) => setTimeout(done, 5)))
    const tasks = Effect.all([note("later", 5), note("first", 0)], { concurrency: "unbounded" })
    const { findings } = yield* Rehearsal.run(Effect.all([tasks, work, pay()]), { only: "undisturbed" })
    expect([findings, order]).toEqual([[], ["first", "later"]])
  })
})

describe("webhooks in a rehearsal", () => {
  live("webhooks are delivered late, after the next one, or again, as their schedule says", function* () {
    const program = Effect.gen(function* () {
      let answers = 0
      const answer = Effect.suspend(() => (++answers % 2 === 1 ? Effect.fail("busy") : Effect.void))
      yield* receive((_, status) => Effect.andThen(log(status), answer))
      yield* Effect.andThen(charge, Effect.sleep("6 hours"))
    })
    for (const [only, told] of [
      ["undisturbed", "Paid Paid Refunded Refunded"],
      ["webhook 1: late", "Refunded Refunded Paid Paid"],
      ["webhook 2: never", "Paid Paid"],
      ["webhook 2: twice", "Paid Paid Refunded Refunded Refunded Refunded"]
    ] as const) {
      const { log } = yield* playIn(only, program, { payAfter }, refundAfter("10 minutes"))
      expect([only, log]).toEqual([only, told])
    }
  })

  live("a program that has ended receives nothing, and the gateway repeats", function* () {
    const program = Effect.andThen(
      receive((_, status) => log(status)),
      charge
    )
    const ended = yield* playIn("undisturbed", program, { payAfter })
    expect(ended.log).toBe("")
    const going = yield* playIn("undisturbed", Effect.andThen(program, Effect.sleep("1 hour")), { payAfter })
    expect(going.log).toBe("Paid")
  })

  live("a webhook layer that was closed receives nothing more", function* () {
    const told = Webhook.layer({ onPaid: () => Effect.void, onRefunded: () => Effect.void })
    const program = (open: Duration.Input) =>
      Effect.andThen(Effect.provide(Effect.andThen(charge, Effect.sleep(open)), told), Effect.sleep("1 hour"))
    for (const [open, lookups] of [
      ["30 seconds", 0],
      ["10 minutes", 1]
    ] as const) {
      const { calls } = yield* playIn("undisturbed", program(open), { payAfter })
      expect(calls.filter(({ operation }) => operation === "getTransaction")).toHaveLength(lookups)
    }
  })

  live("a forged webhook waits for a program that receives later", function* () {
    const program = charge.pipe(
      Effect.andThen(Effect.sleep("5 seconds")),
      Effect.andThen(receive((_, status) => log(status))),
      Effect.andThen(Effect.sleep("1 hour"))
    )
    const played = yield* playIn("call 1 createTransaction: a forged webhook says Paid", program)
    expect(played).toMatchObject({ findings: [], log: "Paid" })
  })
})

describe("the lookup of a payout", () => {
  const look = Effect.flatMap(payAgain(), ({ id }) => Effect.flatMap(WithdrawalLookup, ({ get }) => get(id)))

  live("is a call of the program, which its faults meet", function* () {
    const seen = { sandbox: { as: "seen", balance: 100_000 } } as const
    const fault = "call 2 getWithdrawal: refused, not found"
    const { calls } = yield* playIn(fault, look, seen)
    expect(calls.map(({ operation, result }) => `${operation} ${result}`)).toEqual([
      "requestWithdrawal Succeeded",
      "getWithdrawal WithdrawalNotFound"
    ])
    const { findings, schedules } = yield* Rehearsal.run(look, seen)
    expect(findings).toEqual([])
    expect(schedules).toBeGreaterThan(10)
  })
})

describe("processes on one database", () => {
  const program = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE IF NOT EXISTS steps (name TEXT)`
    yield* sql`INSERT INTO steps VALUES ('started')`
    yield* sql.withTransaction(Effect.andThen(sql`INSERT INTO steps VALUES ('paid')`, payUnderNewKey))
  })

  live.each<readonly [processes: number, left: string]>([
    [1, "started started paid"],
    [2, "started started started paid paid"]
  ])("a death among %i processes undoes its transaction alone", function* ([processes, left]) {
    const names: Array<string> = []
    const collect = () =>
      SqlClient.SqlClient.use((sql) => sql<{ readonly name: string }>`SELECT name FROM steps ORDER BY name DESC`).pipe(
        Effect.map((rows) => names.push(rows.map(({ name }) => name).join(" "))),
        Effect.orDie
      )
    const options = { stores: sqlite, processes, rules: { collect } }
    const { findings } = yield* Rehearsal.run(program, { ...options, only: death })
    expect(names.at(-1)).toBe(left)
    // The payout is no part of the transaction: it was executed, and the next process asks under another key.
    expect(findings.map(({ rule }) => rule)).toContain("paid-twice")
  })

  live("what a process hands out as it dies is handed out by the next one", function* () {
    const told = PayoutQueue.layer({
      onState: ({ reference, state }) => (state === "posted" ? declare("paid", reference) : Effect.void)
    })
    const program = Effect.gen(function* () {
      yield* owed
      yield* PayoutQueue.use((queue) => queue.submit({ reference: invoice, ...request }))
      return yield* Effect.sleep("1 hour")
    }).pipe(Effect.provide(told))
    const facts: Array<number> = []
    const rules = { collect: (world: RehearsalWorld) => Effect.sync(() => facts.push(world.facts.length)) }
    for (const when of ["before", "after"])
      yield* Rehearsal.run(program, { stores: sqlite, rules, only: `fact 1 paid: death ${when} it` })
    expect(facts).toEqual([1, 1, 1, 2])
  })

  live("nothing is measured, since nobody reads the gauges of a rehearsal", function* () {
    const ids: Array<string> = []
    const program = Effect.gen(function* () {
      yield* Effect.sleep("5 minutes")
      ids.push(...(yield* Metric.snapshot).map(({ id }) => id))
    }).pipe(Effect.provide([PayoutQueue.layer(), Webhook.layerSql({ onPaid: () => Effect.void })]))
    const own = Effect.provideService(program, Metric.MetricRegistry, new Map())
    yield* Rehearsal.run(own, { stores: sqlite, only: "undisturbed" })
    expect(ids).not.toHaveLength(0)
    expect(ids.filter((id) => id.endsWith("_measured_seconds"))).toEqual([])
  })

  live("two processes are refused on a client that has one connection", function* () {
    const stores = NodeSqlite.layer({ filename: ":memory:", readOnly: true })
    const defect = yield* defectOf(Rehearsal.run(pay(), { stores, processes: 2 }))
    expect(defect).toContain("the SqlClient of `stores` has one connection")
  })
})

test("a program that needs a store requires the option `stores`, and one that steers a sandbox is refused", () => {
  expectTypeOf(Rehearsal.run(log("starts"), { stores })).toEqualTypeOf<Effect.Effect<RehearsalReport>>()
  type WithoutStores = Parameters<typeof Rehearsal.run<unknown, unknown, never>>[0]
  expectTypeOf(pay()).toExtend<WithoutStores>()
  expectTypeOf(log("starts")).not.toExtend<WithoutStores>()
  expectTypeOf(Sandbox).not.toExtend<WithoutStores>()
})
