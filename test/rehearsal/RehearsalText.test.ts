/** How the findings of a rehearsal become text and tests. */
import { describe, expect, expectTypeOf, test } from "@effect/vitest"
import { type Duration, Effect } from "effect"
import { Payments, Rehearsed } from "effect-pix"
import { Rehearsal, type RehearsalWorld, Sandbox } from "effect-pix/sandbox"
import { live } from "../support/effect.ts"
import {
  all,
  charge,
  chargeFor,
  isPaid,
  meanwhile,
  owed,
  pay,
  payUnderNewKey,
  receive,
  ship,
  shipped,
  worker
} from "./programs.ts"

const undisturbed = { only: "undisturbed" } as const

describe("the text of a rehearsal", () => {
  live("a rule without a declaration is not checked, and the report says why", function* () {
    const report = yield* Rehearsal.run(pay(), undisturbed)
    const skipped = report.rules.filter(({ notChecked }) => notChecked !== undefined)
    const shipping = ["shipped-unpaid", "shipped-unchecked", "shipped-twice", "not-shipped"]
    expect(skipped.map(({ rule }) => rule)).toEqual(["owed-not-paid", "amount-differs", ...shipping])
    expect(skipped.filter(({ isRelevant }) => isRelevant).map(({ rule }) => rule)).toEqual([
      "owed-not-paid",
      "amount-differs"
    ])
    const text = Rehearsal.text(report)
    expect(text).toContain("1 schedule. Undisturbed, 1 of 1 write succeeded.\n")
    expect(text).toContain(
      "Not checked: owed-not-paid, amount-differs: the undisturbed run declared no Rehearsed.owes(...)."
    )
    const endless = yield* Rehearsal.run(worker, { ...undisturbed, stopAfter: "1 day" })
    expect(endless.rules.find(({ rule }) => rule === "never-ends")?.notChecked).toContain("not meant to end")
  })

  live(
    "a shop that is stopped before it can be late is not checked for what it owes, and the report says why",
    function* () {
      const program = charge.pipe(Effect.delay("2 minutes"), Effect.flatMap(ship), Effect.andThen(Effect.never))
      const notChecked = (stopAfter: Duration.Input) =>
        Effect.map(
          Rehearsal.run(program, { ...undisturbed, payAfter: "1 minute", stopAfter }),
          ({ rules }) => rules.find(({ rule }) => rule === "not-shipped")?.notChecked
        )
      expect(yield* notChecked("2 hours")).toContain("stopped too early")
      expect(yield* notChecked("1 day")).toBeUndefined()
    }
  )

  live("the story has the end of a payout, a list, goods of a lapsed charge, and a defect", function* () {
    const settle = Sandbox.use((sandbox) => Effect.delay(sandbox.settleWithdrawal(1), "1 minute")).pipe(Effect.orDie)
    const program = Effect.all([receive(() => Effect.void), pay(), shipped, Effect.die(new RangeError("no more"))])
    const { findings } = yield* Rehearsal.run(program, { ...undisturbed, stores: meanwhile(settle) })
    const story = findings.map(Rehearsal.story).join("\n")
    expect(story).toMatch(/ledger: payout 1 of 2500 centavos is Settled/)
    expect(story).toMatch(/webhook \d+ is delivered: payout 1 is Settled/)
    expect(story).toContain("1d 06:00:00.000  call 3 listTransactions: Succeeded: 1 row: CANCELLED")
    expect(story).toContain("was shipped, and it was Cancelled at that time.")
    expect(story).toContain("RangeError")
  })

  live("each line about one of several processes names it, and an empty list or note is no colon", function* () {
    const list = Payments.use((payments) => payments.listTransactions())
    const program = all(list, Effect.sleep("1 second"), Rehearsed.note("looked", {}), owed, payUnderNewKey)
    const report = yield* Rehearsal.run(program, { ...undisturbed, processes: 2 })
    const story = report.findings.map(Rehearsal.story).join("\n")
    for (const line of [
      "process 2, call 2 listTransactions: page 1",
      "process 2, call 2 listTransactions: Succeeded: 0 rows\n",
      "process 2, note looked\n",
      'process 1, owed: 2500 centavos for "invoice-1"\n',
      "process 2, call 4 requestWithdrawal: a payout of 2500 centavos"
    ])
      expect(story).toContain(line)
    expect(story).toContain(
      'payout 2 of 2500 centavos under key 2. "invoice-1" was paid by payout 1 of 2500 centavos under key 1.'
    )
  })

  live(
    "a question whose answer repeats is one line with its count, and a mark says where the story departs",
    function* () {
      const program = Effect.gen(function* () {
        yield* Effect.ignore(pay())
        const first = yield* charge
        const second = yield* chargeFor("43")
        for (let minute = 0; minute < 9; minute++) {
          for (const id of [first, second]) yield* Effect.delay(isPaid(id), "1 minute")
        }
        yield* Rehearsed.note("done", {})
      })
      const rules = { mine: () => Effect.fail("Something is wrong.") }
      const only = "call 1 requestWithdrawal: executed, answer lost, each request"
      const { findings } = yield* Rehearsal.run(program, { rules, only, payAfter: "5 minutes" })
      const story = Rehearsal.story(findings.at(-1)!)
        .split("\n")
        .map((line) => line.slice(17))
      const [charges] = story.flatMap((line, index) => (line.startsWith("call 2 createTransaction") ? [index] : []))
      expect(story.slice(3, 6)).toEqual([
        "from here on it differs from the undisturbed run",
        "call 1, request 1: executed, answer lost",
        "ledger: payout 1 of 2500 centavos is executed, key 1"
      ])
      expect(story.slice(charges).filter((line) => line.includes("getTransaction"))).toEqual([
        "call 4 getTransaction: charge A",
        "call 4 getTransaction: Succeeded: Awaiting",
        "call 5 getTransaction: charge B",
        "call 5 getTransaction: Succeeded: Awaiting",
        "call 6 getTransaction: charge A, again, answered alike",
        "call 7 getTransaction: charge B, again, answered alike",
        "call 8 getTransaction: charge A",
        "call 8 getTransaction: Succeeded: Paid",
        "call 9 getTransaction: charge B",
        "call 9 getTransaction: Succeeded: Paid",
        "call 20 getTransaction: charge A, 6 times more until now, answered alike",
        "call 21 getTransaction: charge B, 6 times more until now, answered alike"
      ])
    }
  )

  const finding = (schedule: string, texts: ReadonlyArray<string>) => ({
    schedule,
    rule: "mine",
    problems: ["Something is wrong."],
    story: texts.map((text, second) => ({ at: second * 1000, text })),
    legend: []
  })

  test("a report tells the story of a rule once, names five more schedules, and counts the rest", () => {
    const empty = { schedules: 30, calls: [], writes: { made: 1, succeeded: 1 }, rules: [], undecided: [] }
    const textOf = (schedules: ReadonlyArray<string>) =>
      Rehearsal.text({ ...empty, findings: schedules.map((schedule) => finding(schedule, ["process 1 starts"])) })
    const many = Array.from({ length: 8 }, (_, index) => `call ${index + 1}`)
    expect(textOf(many).split("process 1 starts")).toHaveLength(2)
    expect(textOf(many)).toContain("  also in: call 6\n  also in 2 more schedules")
    expect(textOf(many.slice(1))).toContain("  also in 1 more schedule\n")
    expect(textOf([])).toBe("30 schedules. Undisturbed, 1 of 1 write succeeded.\n0 findings.")
  })
})

describe("Rehearsal.test", () => {
  /** Takes the place of a runner: it collects the tests, and says how they fail. */
  const collect = () => {
    const tests: Array<readonly [name: string, run: () => Promise<void>]> = []
    const failures = () =>
      Promise.all(
        tests.map(([name, run]) =>
          run().then(
            () => `${name}: passed`,
            (error) => `${name}: ${String(error)}`
          )
        )
      )
    return { failures, it: (name: string, run: () => Promise<void>) => tests.push([name, run]) }
  }
  /** It compares with a word of another vocabulary, and never ships. */
  const unsold = Effect.gen(function* () {
    const id = yield* Effect.tap(charge, Effect.sleep("1 hour"))
    if (!(yield* isPaid(id))) yield* ship(id)
  })

  test("one test plays the first look, and fails with the story of each rule", async () => {
    const { failures, it } = collect()
    Rehearsal.test(it, "pays twice", Effect.andThen(owed, Effect.retry(payUnderNewKey, { times: 3 })))
    const [failed = ""] = await failures()
    for (const words of [
      ': payout 2 of 2500 centavos under key 2. "invoice-1" was paid by payout 1 of 2500 centavos under key 1.',
      "call 1 requestWithdrawal: OutcomeUnknown (Unknown), after",
      "ledger: payout 2 of 2500 centavos is executed, key 2",
      "key 2  wd_2",
      "also in: call 1 requestWithdrawal: death after it was executed, and again after the next call",
      "docs/rehearsal.md#the-rules"
    ])
      expect(failed).toContain(words)
  })

  test("a rule that the program's calls make relevant has to be checked, unless it is asked for none", async () => {
    const { failures, it } = collect()
    Rehearsal.test(it, "shop", unsold, { ...undisturbed, payAfter: "1 minute" })
    Rehearsal.test(it, "payout", pay(), undisturbed)
    Rehearsal.test(it, "owed", Effect.andThen(owed, pay()), undisturbed)
    Rehearsal.test(it, "asked for nothing", pay(), { ...undisturbed, checks: [] })
    const endings = (await failures()).map((text) => /Has to be checked[^.]*|\w+: passed/.exec(text)?.[0])
    expect(endings).toEqual([
      "Has to be checked, and was not: shipped-unpaid, shipped-unchecked, shipped-twice, not-shipped",
      "Has to be checked, and was not: owed-not-paid, amount-differs",
      "owed: passed",
      "nothing: passed"
    ])
  })

  test("a test plays all schedules where it is asked for them", async () => {
    const schedules: Array<string> = []
    const rules = { collect: ({ schedule }: RehearsalWorld) => Effect.sync(() => schedules.push(schedule)) }
    const { failures, it } = collect()
    Rehearsal.test(it, "first", pay(), { checks: [], rules })
    Rehearsal.test(it, "all", pay(), { checks: [], rules, all: true })
    expect(await failures()).toEqual(["first: passed", "all: passed"])
    expect(schedules.length).toBe(9 + 16)
  })
})

test("a declaration outside of a rehearsal does nothing, and a fact is named by a type", async () => {
  const program = Effect.all([owed, ship("1"), receive(() => Effect.die("never"))])
  expect(await Effect.runPromise(program)).toEqual([undefined, undefined, undefined])
  type Fact = Parameters<typeof Rehearsed.fact>[0]
  expectTypeOf<Fact>().toEqualTypeOf<"paid" | "failed" | "parked" | "told" | "shipped">()
  expectTypeOf(Rehearsed.note("payed", { reference: "a" })).toEqualTypeOf<Effect.Effect<void>>()
})
