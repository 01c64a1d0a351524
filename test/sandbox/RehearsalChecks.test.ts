/** What a rehearsal must not hide: debts that are paid twice from the beginning, rules that are not checked, and failures. */
import { describe, expect, expectTypeOf, test } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Rehearsal, type RehearsalWorld } from "effect-pix/sandbox"
import { OfferConnection } from "../../src/internal/simulatedProcess.ts"
import { chargeOrder, schedulesOf } from "../support/rehearsals.ts"
import { live } from "../support/effect.ts"

const maria = PixKey.email("maria@example.com")
const pay = (reference: string, centavos = 1000, pixKey = maria) =>
  Payments.use((payments) =>
    payments.requestWithdrawal(
      { amount: Money.centavos(centavos), pixKey },
      { idempotencyKey: IdempotencyKey.fromReference("payout", reference) }
    )
  )
const owed = Rehearsed.owes({ reference: "a", amount: 1000 })
const undisturbed = { only: "undisturbed" } as const

/** The broken rules of the undisturbed run, with their problems. */
const found = <E>(program: Effect.Effect<unknown, E, Payments>) =>
  Effect.map(Rehearsal.run(Effect.andThen(owed, program), undisturbed), ({ findings }) =>
    findings.map(({ problems, rule }) => [rule, ...problems])
  )

describe("a debt", () => {
  live("what is paid beyond the declared debts is a finding where nothing goes wrong", function* () {
    const once = ["paid-twice", "A receiver was paid once more than is owed: payout 2 of 1000 centavos."]
    expect(yield* found(Effect.all([pay("a"), pay("a/2")]))).toEqual([once])
    expect(yield* found(Effect.all([pay("a/1"), pay("a/2")]))).toEqual([once])
    expect(yield* found(Effect.all([pay("a"), pay("b", 77_700, PixKey.email("joao@example.com"))]))).toEqual([
      ["paid-twice", "Payout 2 of 77700 centavos went to somebody who is owed nothing."]
    ])
    expect(yield* found(pay("a"))).toEqual([])
  })

  live("a reference that is declared as paid, and that nobody is owed, is a finding", function* () {
    const declared = (reference: string) => found(Effect.andThen(pay("a"), Rehearsed.fact("paid", { reference })))
    expect(yield* declared("b")).toEqual([
      ["told-done-but-absent", 'The program declared "b" as paid, and nobody is owed it.']
    ])
    expect(yield* declared("a")).toEqual([])
  })

  live("a debt that another reference's key has paid is explained by the key that both share", function* () {
    const twice = Effect.andThen(Rehearsed.owes({ reference: "b", amount: 1000 }), Effect.all([pay("a"), pay("a")]))
    const [[rule, problem] = []] = yield* found(twice)
    expect(rule).toBe("owed-not-paid")
    expect(problem).toContain("Calls 1 and 2 have the same key payout_")
    const isPaid = Effect.andThen(twice, Rehearsed.fact("paid", { reference: "b" }))
    const report = yield* Rehearsal.run(Effect.andThen(owed, isPaid), undisturbed)
    expect(Rehearsal.text(report)).toMatch(/^told-done-but-absent: .*Calls 1 and 2 have the same key 1: /m)
  })
})

describe("a rule that has to be checked", () => {
  /** It compares with a word of another vocabulary, and never ships. */
  const shop = (word: string) =>
    Effect.gen(function* () {
      const { id } = yield* chargeOrder
      yield* Effect.sleep("1 hour")
      const { enStatusTransaction } = yield* Payments.use((payments) => payments.getTransaction(id))
      if (enStatusTransaction === word) yield* Rehearsed.fact("shipped", { transactionId: id })
    })

  live("is a finding if a mistake has turned it off", function* () {
    const options = { payAfter: "1 minute", checks: ["not-shipped"] } as const
    const never = yield* Rehearsal.run(shop("PAID"), options)
    expect(never.findings.map(({ rule }) => rule)).toEqual(["not-shipped"])
    expect(Rehearsal.text(never)).toContain("Has to be checked, and was not: not-shipped.")
    const right = yield* Rehearsal.run(shop("Paid"), { ...options, ...undisturbed })
    expect(right.findings).toEqual([])
  })

  test("makes a test red without being named, where the program's calls make it relevant", async () => {
    const failures: Array<string> = []
    const it = (name: string, run: () => Promise<void>) =>
      run().catch((error: unknown) => failures.push(`${name}: ${String(error).split("\n")[2]}`))
    const runs: Array<unknown> = []
    const collect = (name: string, run: () => Promise<void>) => runs.push(it(name, run))
    void Rehearsal.test(collect, "shop", shop("PAID"), undisturbed)
    void Rehearsal.test(collect, "payout", pay("a"), undisturbed)
    void Rehearsal.test(collect, "owed", Effect.andThen(owed, pay("a")), undisturbed)
    void Rehearsal.test(collect, "asked for nothing", pay("a"), { ...undisturbed, checks: [] })
    await Promise.all(runs)
    expect(failures.map((line) => line.replace(/\. Declare.*/, "")).toSorted()).toEqual([
      "payout: Has to be checked, and was not: owed-not-paid, amount-differs",
      "shop: Has to be checked, and was not: shipped-unpaid, shipped-unchecked, shipped-twice, not-shipped"
    ])
  })

  test("is named by a type, and so is a fact", () => {
    expectTypeOf<Parameters<typeof Rehearsed.fact>[0]>().toEqualTypeOf<
      "paid" | "failed" | "parked" | "told" | "shipped"
    >()
    // @ts-expect-error: a name that no rule knows is a note
    const fact = Rehearsed.fact("payed", { reference: "a" })
    expectTypeOf(fact).toEqualTypeOf<Effect.Effect<void>>()
    expectTypeOf(Rehearsed.note("payed", { reference: "a" })).toEqualTypeOf<Effect.Effect<void>>()
  })
})

describe("a failure", () => {
  class Marks extends Context.Service<Marks, Set<string>>()("test/Marks") {}
  const stores = Layer.sync(Marks, () => new Set<string>())

  /** It marks before it pays. A process that finds the mark fails, or pays again. */
  const program = (found: Effect.Effect<unknown, "begun before">) =>
    Effect.gen(function* () {
      yield* owed
      const marks = yield* Marks
      if (marks.has("begun")) yield* found
      marks.add("begun")
      yield* pay("a")
    })

  live("excuses nothing where the program was started again and nothing disturbs it", function* () {
    const stuck = yield* Rehearsal.run(program(Effect.fail("begun before")), { stores })
    expect(schedulesOf(stuck, "owed-not-paid")).toEqual(["call 1 requestWithdrawal: death before it is sent"])
    const goesOn = yield* Rehearsal.run(program(Effect.void), { stores, pairs: "1 minute" })
    expect(goesOn.findings).toEqual([])
    expect(goesOn.pairs.played).toBe(goesOn.pairs.all)
  })
})

describe("pairs", () => {
  const program = Effect.gen(function* () {
    yield* owed
    const paid = yield* Effect.result(pay("a"))
    const isRefused = paid._tag === "Failure" && paid.failure.outcome !== "Unknown"
    yield* Rehearsed.fact(paid._tag === "Success" ? "paid" : isRefused ? "failed" : "parked", { reference: "a" })
  })
  const rule = "told-not-executed-but-executed"

  live("a mistake of two faults has the pair in its story, which is played alone by its name", function* () {
    const singles = yield* Rehearsal.run(program)
    expect(singles).toMatchObject({ findings: [], pairs: { played: 0 } })
    const report = yield* Rehearsal.run(program, { pairs: "1 minute" })
    expect(report.pairs.played).toBe(report.pairs.all)
    const [first] = report.findings
    expect(first?.rule).toBe(rule)
    expect(first?.schedule).toContain("death after it was executed + call 2 requestWithdrawal: ")
    const alone = yield* Rehearsal.run(program, { only: first?.schedule })
    expect(JSON.stringify(alone.findings[0])).toBe(JSON.stringify(first))
    expect(alone).toMatchObject({ schedules: 1, pairs: { played: 1, all: 1 } })
    expect(Rehearsal.text(report)).toContain(
      "First call 1 requestWithdrawal: death after it was executed; then call 2 requestWithdrawal: "
    )
    expect(JSON.stringify(yield* Rehearsal.run(program, { pairs: "1 minute" }))).toBe(JSON.stringify(report))
  })

  live(
    "a later call that was not sent has not lied where the earlier one under its key is executed late",
    function* () {
      const once = pay("a").pipe(Effect.catch(() => Effect.delay(pay("a"), "1 minute")))
      const again = Effect.andThen(owed, once)
      const only =
        "call 1 requestWithdrawal: executed 10 minutes late, each request + call 2 requestWithdrawal: not sent, each request"
      const { findings, pairs } = yield* Rehearsal.run(again, { only })
      expect([findings, pairs]).toEqual([[], { played: 1, all: 1 }])
    }
  )

  live("a payout in doubt is not dropped where an earlier call under its key succeeds later", function* () {
    const second = Effect.ignore(Effect.delay(pay("a"), "1 second"))
    const both = Effect.all([owed, pay("a"), second], { concurrency: "unbounded", discard: true })
    const only =
      "call 1 requestWithdrawal: executed 10 minutes late + call 2 requestWithdrawal: executed, answer lost, each request"
    const { findings, pairs } = yield* Rehearsal.run(both, { only })
    expect([findings, pairs]).toEqual([[], { played: 1, all: 1 }])
  })

  live("a rule that one fault breaks has no pair, and a pair that does not exist is a defect", function* () {
    const wrong = Effect.andThen(owed, Effect.ignore(pay("a")))
    const { findings } = yield* Rehearsal.run(wrong, { pairs: "1 minute" })
    expect(findings.length).toBeGreaterThan(0)
    expect(findings.filter(({ schedule }) => schedule.includes(" + "))).toEqual([])
    const only = "call 1 requestWithdrawal: not sent + call 9 requestWithdrawal: not sent"
    const defect = yield* Effect.flip(Effect.sandbox(Rehearsal.run(wrong, { only })))
    expect(String(defect)).toContain("has no schedule")
  })
})

describe("two processes", () => {
  const database = NodeSqlite.layer({ filename: ":memory:" })

  live("write to one database in memory, each with a connection that its death closes", function* () {
    const counts = new Map<string, number>()
    const program = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE IF NOT EXISTS runs (id INTEGER)`
      yield* sql.withTransaction(Effect.andThen(sql`INSERT INTO runs VALUES (1)`, pay("a")))
    })
    const collect = ({ schedule }: RehearsalWorld) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        counts.set(schedule, (yield* Effect.orDie(sql`SELECT id FROM runs`)).length)
      })
    yield* Rehearsal.run(program, { stores: database, processes: 2, rules: { collect } })
    expect(counts.get("undisturbed")).toBe(2)
    // The dead process's row is undone, and the other process's is not.
    expect(counts.get("call 1 requestWithdrawal: death after it was executed")).toBe(2)
  })

  live("are refused on a client that has one connection", function* () {
    const stores = Layer.effectContext(Layer.build(database)).pipe(
      Layer.provide(Layer.succeed(OfferConnection, undefined))
    )
    const defect = yield* Effect.flip(Effect.sandbox(Rehearsal.run(pay("a"), { stores, processes: 2 })))
    expect(String(defect)).toContain("the SqlClient of `stores` has one connection")
  })
})
