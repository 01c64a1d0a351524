import { describe, expect, expectTypeOf, test } from "@effect/vitest"
import { Context, Effect, Layer, Random, Schedule } from "effect"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { Rehearsal, type RehearsalReport, type RehearsalWorld, Sandbox } from "effect-pix/sandbox"
import { chargeOrder, schedulesOf } from "../support/rehearsals.ts"
import { runs } from "../support/seed.ts"
import { live } from "../support/effect.ts"

const invoice = { amount: Money.centavos(1000), pixKey: PixKey.email("maria@example.com") }
const slowly = Schedule.max([Schedule.spaced("1 minute"), Schedule.recurs(30)])
const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)

const pay = (reference: string) =>
  Payments.use((payments) =>
    IdempotencyKey.retry(keyOf(reference), slowly, (options) => payments.requestWithdrawal(invoice, options))
  )
const payWithNewKeys = Payments.use((payments) =>
  Effect.retry(payments.requestWithdrawal(invoice), { schedule: slowly })
)

/** A store that outlives the process. */
class Log extends Context.Service<Log, Array<string>>()("test/Log") {}
const log = (line: string) => Log.use((lines) => Effect.sync(() => void lines.push(line)))
const stores = Layer.sync(Log, () => [])

/** Collects what is left of the stores of each run, by its schedule. */
const collecting = () => {
  const lines = new Map<string, ReadonlyArray<string>>()
  const worlds = new Map<string, RehearsalWorld>()
  const collect = (world: RehearsalWorld) =>
    Log.use((log) =>
      Effect.sync(() => {
        lines.set(world.schedule, [...log])
        worlds.set(world.schedule, world)
      })
    )
  return { lines, worlds, rules: { collect } }
}

const brokenRules = ({ findings }: RehearsalReport) => [...new Set(findings.map(({ rule }) => rule))].toSorted()

describe("Rehearsal.run", () => {
  live("a key made inside of a retry is found, by the schedules in which it pays twice", function* () {
    const report = yield* Rehearsal.run(payWithNewKeys)
    expect(schedulesOf(report, "paid-twice")).toEqual([
      "call 1 requestWithdrawal: executed, answer lost, each request",
      "call 1 requestWithdrawal: executed, answered 500, each request",
      "call 1 requestWithdrawal: executed 10 minutes late, each request",
      "call 1 requestWithdrawal: answer cut off, each request",
      "call 1 requestWithdrawal: executed, answer lost, then refused, request",
      "call 1 requestWithdrawal: executed, answer lost, each request, then each later call under its key refused, request",
      "call 1 requestWithdrawal: executed, answer lost, each request, then each later call under its key refused, conflict",
      "call 1 requestWithdrawal: an outage begins, executed, answer lost",
      "call 1 requestWithdrawal: death after it was executed",
      "call 1 requestWithdrawal: death after it was executed, and again after the next call"
    ])
  })

  live("a payout that is asked for again under one key has no finding in any schedule", function* () {
    const report = yield* Rehearsal.run(pay("invoice-1"))
    expect(report).toMatchObject({ schedules: 27, calls: ["1 requestWithdrawal"], findings: [], undecided: [] })
  })

  live("a refused payout that succeeds under the same key in the same millisecond has no finding", function* () {
    const idempotencyKey = keyOf("invoice-1")
    const program = Payments.use((payments) =>
      Effect.retry(payments.requestWithdrawal(invoice, { idempotencyKey }), { times: 3 })
    )
    expect((yield* Rehearsal.run(program)).findings).toEqual([])
  })

  live("a schedule is played alone by its name, and its story is the same to the byte", function* () {
    const all = yield* Rehearsal.run(payWithNewKeys)
    const [, , finding] = all.findings
    for (const _ of Array.from({ length: runs(3, 100) })) {
      const alone = yield* Rehearsal.run(payWithNewKeys, { only: finding?.schedule })
      expect(alone.schedules).toBe(1)
      expect(JSON.stringify(alone.findings[0])).toBe(JSON.stringify(finding))
    }
  })

  live("a name that no schedule has is a defect, which lists the names of the schedules", function* () {
    const defect = yield* Effect.flip(Effect.sandbox(Rehearsal.run(pay("invoice-1"), { only: "call 9" })))
    expect(String(defect)).toContain("call 1 requestWithdrawal: not sent, each request")
  })

  live("a death runs no finalizer, and the next process has the same stores and makes other keys", function* () {
    const { lines, rules } = collecting()
    const program = Effect.gen(function* () {
      yield* log("starts")
      yield* Effect.forkDetach(Effect.andThen(Effect.sleep("1 hour"), log("a detached fiber goes on")))
      yield* Payments.use((payments) => payments.requestWithdrawal(invoice))
    }).pipe(Effect.ensuring(log("finalizer")))
    const report = yield* Rehearsal.run(program, { stores, rules })
    expect(lines.get("undisturbed")).toEqual(["starts", "finalizer"])
    expect(lines.get("call 1 requestWithdrawal: death after it was executed")).toEqual([
      "starts",
      "starts",
      "finalizer"
    ])
    const death = "call 1 requestWithdrawal: death after it was executed"
    expect(schedulesOf(report, "paid-twice")).toEqual([death, `${death}, and again after the next call`])
  })

  live("a fault meets the requests of its call, and not those of a concurrent one", function* () {
    const { rules, worlds } = collecting()
    const both = Effect.all([pay("invoice-1"), pay("invoice-2")], { concurrency: 2 })
    yield* Rehearsal.run(both, { stores, rules })
    const requests = (schedule: string) => worlds.get(schedule)?.calls.map((call) => call.requests)
    expect(requests("undisturbed")).toEqual([1, 1])
    expect(requests("call 1 requestWithdrawal: executed, answer lost")).toEqual([2, 1])
    expect(requests("call 2 requestWithdrawal: executed, answer lost")).toEqual([1, 2])
  })

  live("reads of one poll with the same answer are one call to disturb", function* () {
    const poll = Effect.gen(function* () {
      const { id } = yield* chargeOrder
      const lookUp = Payments.use((payments) => payments.getTransaction(id))
      return yield* Effect.repeat(lookUp, {
        schedule: Schedule.spaced("1 minute"),
        until: ({ enStatusTransaction }) => enStatusTransaction !== "Awaiting"
      })
    })
    const report = yield* Rehearsal.run(poll, { payAfter: "5 minutes", only: "undisturbed" })
    expect(report.calls.length).toBeGreaterThan(5)
    const unknown = yield* Effect.flip(Effect.sandbox(Rehearsal.run(poll, { payAfter: "5 minutes", only: "none" })))
    const disturbed = [...String(unknown).matchAll(/call (\d+) getTransaction: not sent$/gm)].map(([, call]) => call)
    expect(disturbed).toEqual(["2", "7"])
  })

  live("the random numbers of a program are the same in each schedule, and others with another seed", function* () {
    const program = Effect.flatMap(Random.nextInt, (number) => Rehearsed.note("drawn", { number }))
    const drawn = Effect.fnUntraced(function* (seed?: string) {
      const { rules, worlds } = collecting()
      yield* Rehearsal.run(Effect.andThen(program, pay("invoice-1")), { stores, rules, seed })
      return Array.from(worlds.values(), ({ notes }) => notes[0]?.detail["number"])
    })
    const [first, ...others] = yield* drawn()
    expect(new Set(others)).toEqual(new Set([first]))
    expect(yield* drawn("another")).not.toContain(first)
  })

  live("a rule of the user's is an Effect over the world and its stores", function* () {
    const program = Effect.andThen(log("paid"), pay("invoice-1"))
    const rules = {
      "logged-once": ({ withdrawals }: RehearsalWorld) =>
        Log.use(({ length }) =>
          length <= withdrawals.length ? Effect.void : Effect.fail(`${length} lines in the log`)
        )
    }
    const report = yield* Rehearsal.run(program, { stores, rules })
    const death = "call 1 requestWithdrawal: death after it was executed"
    expect(report.findings.map(({ page, problems, schedule }) => [schedule, problems, page])).toEqual([
      ["call 1 requestWithdrawal: an outage begins, not sent", ["1 lines in the log"], undefined],
      ["call 1 requestWithdrawal: death before it is sent", ["2 lines in the log"], undefined],
      [death, ["2 lines in the log"], undefined],
      [`${death}, and again after the next call`, ["3 lines in the log"], undefined]
    ])
  })

  live("others act on the gateway while the program runs", function* () {
    const refund = Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* Effect.sleep("2 minutes")
      for (const { transactionId } of yield* sandbox.transactions) yield* sandbox.refund(transactionId)
    })
    const program = Effect.gen(function* () {
      const { id } = yield* chargeOrder
      yield* Effect.sleep("3 minutes")
      return yield* Payments.use((payments) => payments.getTransaction(id))
    })
    const { rules, worlds } = collecting()
    const report = yield* Rehearsal.run(program, { stores, rules, payAfter: "1 minute", meanwhile: refund })
    expect(report.findings).toEqual([])
    expect(worlds.get("undisturbed")?.calls.at(-1)?.status).toBe("Refunded")
    expect(worlds.get("call 1 createTransaction: the charge fails")?.calls.at(-1)?.status).toBe("Failed")
    expect(worlds.get("call 1 createTransaction: nobody pays, the charge lapses")?.calls.at(-1)?.status).toBe(
      "Awaiting"
    )
  })
})

describe("the end of a program", () => {
  const look = Payments.use((payments) => payments.getBalance())

  live("a program that waits for nothing never ends, and its calls are not disturbed", function* () {
    const report = yield* Rehearsal.run(Effect.andThen(look, Effect.never))
    expect(report).toMatchObject({ schedules: 1, findings: [{ rule: "never-ends", schedule: "undisturbed" }] })
  })

  live("a program that polls beyond its time, loops without a pause, or calls without an end never ends", function* () {
    const programs = [
      Rehearsal.run(Effect.repeat(look, Schedule.spaced("1 hour")), { within: "10 hours" }),
      Rehearsal.run(Effect.andThen(look, Effect.forever(Effect.yieldNow))),
      Rehearsal.run(Effect.forever(look), { mostCalls: 20 })
    ]
    for (const run of programs) expect(brokenRules(yield* run)).toEqual(["never-ends"])
  })

  live("a program that does not end because of real work alone is undecided, and no finding", function* () {
    // Ten turns of the event loop, which never win against a timeout by the rehearsal's clock, unless that clock waits.
    const turns = (left: number, done: () => void): void =>
      void (left === 0 ? done() : setImmediate(turns, left - 1, done))
    const work = Effect.promise(() => new Promise<void>((resolve) => turns(10, resolve)))
    const program = Effect.andThen(look, Effect.retry(Effect.timeout(work, "1 minute"), Schedule.spaced("1 hour")))
    const report = yield* Rehearsal.run(program, { only: "undisturbed" })
    expect(report).toMatchObject({ findings: [], undecided: [{ schedule: "undisturbed" }] })
    expect(Rehearsal.text(report)).toContain("Undecided: undisturbed.")
  })

  live("a worker is stopped, and work that it left undone long before is a finding", function* () {
    const worker = Effect.gen(function* () {
      yield* Rehearsed.owes({ reference: "invoice-1", amount: 1000 })
      yield* Effect.ignore(Payments.use((payments) => payments.requestWithdrawal(invoice)))
      return yield* Effect.never
    })
    const report = yield* Rehearsal.run(worker, { stopAfter: "1 day" })
    expect(brokenRules(report)).toEqual(["owed-not-paid", "paid-twice", "unknown-dropped"])
    expect(report.rules.find(({ rule }) => rule === "never-ends")?.notChecked).toContain("not meant to end")
  })

  live("a program that fails without a disturbance is a finding", function* () {
    const inReais = Payments.use((payments) => payments.requestWithdrawal({ ...invoice, amount: Money.centavos(10) }))
    const report = yield* Rehearsal.run(inReais)
    expect(report.findings).toMatchObject([{ rule: "fails-undisturbed", schedule: "undisturbed" }])
  })
})

describe("what a program declares", () => {
  test("a declaration outside of a rehearsal does nothing", async () => {
    const program = Effect.all([
      Rehearsed.fact("shipped", { transactionId: "1" }),
      Rehearsed.owes({ reference: "invoice-1", amount: 1000 }),
      Rehearsed.receive(() => Effect.die("never"))
    ])
    expect(await Effect.runPromise(program)).toEqual([undefined, undefined, undefined])
  })

  live("a rule without a declaration is not checked, and the report says why", function* () {
    const report = yield* Rehearsal.run(pay("invoice-1"), { only: "undisturbed" })
    const skipped = report.rules.filter(({ notChecked }) => notChecked !== undefined).map(({ rule }) => rule)
    expect(skipped).toEqual([
      "owed-not-paid",
      "amount-differs",
      "shipped-unpaid",
      "shipped-unchecked",
      "shipped-twice",
      "not-shipped"
    ])
    expect(Rehearsal.text(report)).toContain(
      "Not checked: owed-not-paid, amount-differs: the undisturbed run declared no Rehearsed.owes(...)."
    )
  })

  const owe = (amount: number) => Rehearsed.owes({ reference: "invoice-1", amount })
  const payOrElse = (word: "paid" | "failed" | "parked") =>
    Payments.use((payments) => payments.requestWithdrawal(invoice, { idempotencyKey: keyOf("invoice-1") })).pipe(
      Effect.andThen(Rehearsed.fact("paid", { reference: "invoice-1" })),
      Effect.catch(() => Rehearsed.fact(word, { reference: "invoice-1" }))
    )

  live("a payout that is declared as failed although it was executed is a finding", function* () {
    const report = yield* Rehearsal.run(Effect.andThen(owe(1000), payOrElse("failed")))
    expect(brokenRules(report)).toEqual(["told-not-executed-but-executed"])
  })

  live("a payout in doubt that a person is told of has no finding", function* () {
    const report = yield* Rehearsal.run(Effect.andThen(owe(1000), payOrElse("parked")))
    expect(report.findings).toEqual([])
  })

  live("a payout that is declared as paid, or owed, and is not in the ledger, is a finding", function* () {
    const report = yield* Rehearsal.run(Effect.andThen(owe(1000), payOrElse("paid")))
    expect(brokenRules(report)).toEqual(["owed-not-paid", "told-done-but-absent", "unknown-dropped"])
  })

  live("a fact about an absent charge or payout is a finding", function* () {
    const { findings } = yield* Rehearsal.run(
      Effect.all([
        Rehearsed.fact("shipped", { transactionId: "nobody's" }),
        Rehearsed.fact("paid", { reference: "never owed" })
      ]),
      { only: "undisturbed" }
    )
    expect(findings.map(({ problems, rule }) => [rule, problems.length])).toEqual([
      ["told-done-but-absent", 1],
      ["shipped-unpaid", 1],
      ["shipped-unchecked", 1]
    ])
  })

  live("concurrent callers of one key have no finding in any schedule", function* () {
    const program = Effect.all([pay("invoice-1"), pay("invoice-1")], { concurrency: "unbounded" })
    expect((yield* Rehearsal.run(program)).findings).toEqual([])
  })

  live("a charge that nobody pays has no finding, whatever a forged webhook says of it", function* () {
    const answer = Rehearsed.receive(() => Effect.succeed(new Response()))
    const report = yield* Rehearsal.run(Effect.all([answer, chargeOrder, Effect.sleep("1 hour")]), {
      only: "call 1 createTransaction: a forged webhook says Paid"
    })
    expect(report.findings).toEqual([])
  })

  live("a forged webhook waits for a program that receives later", function* () {
    const bodies: Array<string> = []
    const receive = Rehearsed.receive((request) =>
      Effect.map(
        Effect.promise(() => request.text()),
        (body) => {
          bodies.push(body)
          return new Response()
        }
      )
    )
    const program = chargeOrder.pipe(
      Effect.andThen(Effect.sleep("5 seconds")),
      Effect.andThen(receive),
      Effect.andThen(Effect.sleep("1 hour"))
    )
    yield* Rehearsal.run(program, { only: "call 1 createTransaction: a forged webhook says Paid" })
    expect(bodies.some((body) => body.includes("Paid"))).toBe(true)
  })

  live("the story has the end of a payout, and a defect", function* () {
    const settle = Sandbox.use((sandbox) => Effect.delay(sandbox.settleWithdrawal(1), "1 minute")).pipe(Effect.orDie)
    const program = Rehearsed.receive(() => Effect.succeed(new Response())).pipe(
      Effect.andThen(pay("invoice-1")),
      Effect.andThen(Effect.sleep("1 hour")),
      Effect.andThen(Effect.die(new RangeError("no more")))
    )
    const { findings } = yield* Rehearsal.run(program, { meanwhile: settle, only: "undisturbed" })
    const story = findings.map(Rehearsal.story).join("\n")
    expect(story).toMatch(/ledger: payout 1 of 1000 centavos is Settled/)
    expect(story).toMatch(/webhook \d+ is delivered: payout 1 is Settled/)
    expect(story).toContain("RangeError")
  })

  live(
    "a rehearsal waits for real work that ends soon, and runs tasks of another priority after the others",
    function* () {
      const order: Array<string> = []
      const note = (name: string, priority: number) =>
        Effect.andThen(
          Effect.yieldNowWith(priority),
          Effect.sync(() => order.push(name))
        )
      const program = Effect.all([note("later", 5), note("first", 0)], { concurrency: "unbounded" }).pipe(
        Effect.andThen(Effect.promise(() => new Promise((done) => setTimeout(done, 5)))),
        Effect.andThen(pay("invoice-1"))
      )
      expect((yield* Rehearsal.run(program, { only: "undisturbed" })).findings).toEqual([])
      expect(order).toEqual(["first", "later"])
    }
  )

  live("a program that sleeps for ever never ends", function* () {
    const report = yield* Rehearsal.run(Effect.sleep(Infinity), { only: "undisturbed" })
    expect(brokenRules(report)).toEqual(["never-ends"])
  })

  live(
    "an amount other than the owed one is a finding, by whatever field the payout names its reference",
    function* () {
      const request = (extra: { readonly description?: string; readonly metadata?: { readonly invoice: string } }) =>
        Payments.use((payments) => payments.requestWithdrawal({ ...invoice, ...extra }))
      const programs = [
        pay("invoice-1"),
        request({ description: "invoice-1" }),
        request({ metadata: { invoice: "invoice-1" } }),
        request({})
      ]
      for (const program of programs) {
        const report = yield* Rehearsal.run(Effect.andThen(owe(100_000), program), { only: "undisturbed" })
        expect(report.findings).toMatchObject([
          { rule: "amount-differs", problems: ['"invoice-1" is owed 100000 centavos, and payout 1 is of 1000.'] }
        ])
      }
    }
  )

  live("an answer that the ledger contradicts is a finding", function* () {
    const forget = Effect.flatMap(Sandbox, (sandbox) => Effect.delay(sandbox.reset, "1 minute"))
    const program = Effect.andThen(pay("invoice-1"), Effect.sleep("2 minutes"))
    const report = yield* Rehearsal.run(program, { meanwhile: forget, only: "undisturbed" })
    expect(brokenRules(report)).toEqual(["told-done-but-absent"])
  })

  live("a payout that the program stopped waiting for is in doubt, where it was executed", function* () {
    const impatient = Effect.ignore(Effect.timeout(pay("invoice-1"), "5 seconds"))
    const report = yield* Rehearsal.run(impatient)
    const late = "call 1 requestWithdrawal: executed 10 minutes late"
    expect(schedulesOf(report, "unknown-dropped")).toEqual(expect.arrayContaining([late, `${late}, each request`]))
    expect(schedulesOf(report, "unknown-dropped")).not.toContain("call 1 requestWithdrawal: not sent, each request")
  })

  live(
    "goods that cost another amount than their charge are a finding, and a list is no lookup of a payment",
    function* () {
      const program = Effect.gen(function* () {
        const { id } = yield* chargeOrder
        yield* Effect.sleep("30 hours")
        yield* Payments.use((payments) => payments.listTransactions())
        yield* Rehearsed.fact("shipped", { transactionId: id, amount: 25 })
      })
      const report = yield* Rehearsal.run(program, { payAfter: "26 hours" })
      expect(brokenRules(report)).toEqual(["amount-differs", "shipped-unchecked", "shipped-unpaid"])
      const text = Rehearsal.text(report)
      expect(text).toContain("1d 06:00:00.000  call 2 listTransactions: Succeeded: 1 rows")
      expect(text).toContain("was shipped, and it was Cancelled at that time.")
    }
  )

  live("two payouts of one reference are a finding, also if they differ", function* () {
    const twice = Payments.use((payments) =>
      Effect.all([
        payments.requestWithdrawal({ ...invoice, description: "invoice-1" }),
        payments.requestWithdrawal({ ...invoice, metadata: { reference: "invoice-1" } })
      ])
    )
    const report = yield* Rehearsal.run(Effect.andThen(owe(1000), twice), { only: "undisturbed" })
    expect(report.findings).toMatchObject([
      {
        rule: "paid-twice",
        problems: ['The receiver of "invoice-1" was paid once more than is owed: payouts 1 and 2.']
      }
    ])
  })
})

describe("Rehearsal.test", () => {
  /** Takes the place of a runner: it collects the tests. */
  const collect = () => {
    const tests: Array<readonly [name: string, run: () => Promise<void>]> = []
    return { tests, it: (name: string, run: () => Promise<void>) => tests.push([name, run]) }
  }

  test("one test plays all schedules, and fails with the story of each rule", async () => {
    const { it, tests } = collect()
    const owed = Rehearsed.owes({ reference: "invoice-1", amount: 1000 })
    void Rehearsal.test(it, "pays once", Effect.andThen(owed, pay("invoice-1")))
    void Rehearsal.test(it, "pays twice", Effect.andThen(owed, payWithNewKeys))
    expect(tests.map(([name]) => name)).toEqual(["pays once", "pays twice"])
    await tests[0]?.[1]()
    const failed = await tests[1]?.[1]().catch((error: unknown) => String(error))
    expect(failed).toContain("paid-twice: A receiver was paid once more than is owed: payout 2 of 1000 centavos.")
    expect(failed).toContain("ledger: payout 2 of 1000 centavos is executed, key 2")
    expect(failed).toContain("key 2  wd_2")
    expect(failed).toContain("also in: call 1 requestWithdrawal: executed, answer lost, then refused, request")
    expect(failed).toContain("also in 4 more schedules")
    expect(failed).toContain("docs/rehearsal.md#paid-twice")
  })

  test("each schedule has a test of its own, and those with a finding fail", async () => {
    const { it, tests } = collect()
    await Rehearsal.test(it, "pays", payWithNewKeys, { each: true, checks: [] })
    expect(tests.length).toBe(27)
    const outcomes = await Promise.allSettled(
      tests.filter(([name]) => name.includes("answer lost")).map(([, run]) => run())
    )
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", ...Array(5).fill("rejected")])
  })
})

describe("the types of a rehearsal", () => {
  test("a program that needs a store requires the option `stores`, and another program does not", () => {
    const needsLog = Effect.andThen(log("starts"), pay("invoice-1"))
    expectTypeOf(Rehearsal.run(pay("invoice-1"))).toEqualTypeOf<Effect.Effect<RehearsalReport>>()
    expectTypeOf(Rehearsal.run(needsLog, { stores })).toEqualTypeOf<Effect.Effect<RehearsalReport>>()
    type WithoutStores = Parameters<typeof Rehearsal.run<unknown, unknown>>[0]
    expectTypeOf(pay("invoice-1")).toExtend<WithoutStores>()
    expectTypeOf(needsLog).not.toExtend<WithoutStores>()
    // A program under rehearsal steers no sandbox.
    expectTypeOf(Sandbox).not.toExtend<WithoutStores>()
  })
})
