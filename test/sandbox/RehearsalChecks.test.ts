/** What a rehearsal finds, what it must not hide, and how its findings become tests and text. */
import { describe, expect, expectTypeOf, test } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { Rehearsal, type RehearsalOptions, type RehearsalReport, Sandbox } from "effect-pix/sandbox"
import { isKeyOf } from "../../src/sandbox/internal/rehearsal/references.ts"
import { makeStory } from "../../src/sandbox/internal/rehearsal/story.ts"
import { live } from "../support/effect.ts"
import {
  charge,
  declare,
  isMarked,
  isPaid,
  mark,
  Marks,
  owed,
  pay,
  payAgain,
  payUnderNewKey,
  receive,
  request,
  ship
} from "./rehearsal/programs.ts"

const undisturbed = { only: "undisturbed" } as const
const call = "call 1 requestWithdrawal:"
const doubt = `${call} executed, answer lost, each request`
const late = `${call} executed 10 minutes late`
const lookAt = Payments.use((payments) => payments.getBalance())

type Options = Omit<RehearsalOptions<never>, "stores">
type Program = Effect.Effect<unknown, unknown, Payments>

/** Asks for a payout that names the invoice in another field than its key. */
const payNaming = (extra: { readonly description?: string; readonly metadata?: { readonly invoice: string } }) =>
  Payments.use((payments) => payments.requestWithdrawal({ ...request, ...extra }))
const payJoao = Payments.use((payments) =>
  payments.requestWithdrawal({ amount: Money.centavos(77_700), pixKey: PixKey.email("joao@example.com") })
)
const owes = (reference: string, amount = 2500) => Rehearsed.owes({ reference, amount })
const all = (...steps: ReadonlyArray<Program>) => Effect.all(steps, { discard: true })
/** Pays what is owed, and writes down what became of it. */
const payAndSay = (failure: "paid" | "failed" | "parked") =>
  all(
    owed,
    pay().pipe(
      Effect.andThen(declare("paid")),
      Effect.catch(() => declare(failure))
    )
  )
const worker = all(Effect.ignore(payUnderNewKey), Effect.never)
const impatient = Effect.ignore(Effect.timeout(payAgain(), "5 seconds"))
const forgetAfter = Sandbox.use(({ reset }) => Effect.delay(reset, "1 minute"))
const shipped = Effect.gen(function* () {
  const id = yield* charge
  yield* Effect.sleep("30 hours")
  yield* Payments.use((payments) => payments.listTransactions())
  yield* Rehearsed.fact("shipped", { transactionId: id, amount: 25 })
})

/** Ships what is paid after two minutes. */
const shop = Effect.gen(function* () {
  const id = yield* Effect.tap(charge, Effect.sleep("2 minutes"))
  if (yield* isPaid(id)) yield* ship(id)
})

const once = "A receiver was paid once more than is owed: payout 2 of 2500 centavos."
const twice = 'The receiver of "invoice-1" was paid once more than is owed: payouts 1 and 2.'
const stranger = "Payout 2 of 77700 centavos went to somebody who is owed nothing."
const absent = (reference: string) => `told-done-but-absent: The program declared "${reference}" as paid`
const endless = ["never-ends"]
const lied = ["told-not-executed-but-executed"]
const dropped = ["unknown-dropped"]
const differs = ['amount-differs: "invoice-1" is owed 100000 centavos, and payout 1 is of 2500.']
const owedMore = owes("invoice-1", 100_000)
const described = payNaming({ description: "invoice-1" })
const labelled = payNaming({ metadata: { invoice: "invoice-1" } })
const blind = ["shipped-unpaid", "shipped-unchecked"]
const contradicted = ["told-done-but-absent"]
const forgotten = { ...undisturbed, meanwhile: forgetAfter }
const refused = { only: `${call} refused, request` }
const unsent = { only: `${call} not sent, each request` }
const inDoubt = { only: doubt }
const unseen = { only: "call 2 getTransaction: not sent, each request", payAfter: "1 minute" } as const
const stopped = { stopAfter: "1 day" } as const
const later = { ...undisturbed, payAfter: "26 hours" } as const
const polling = Effect.repeat(lookAt, Schedule.spaced("1 hour"))
const together = Effect.all([payAgain(), payAgain()], { concurrency: "unbounded" })

type Case = readonly [title: string, program: Program, found: ReadonlyArray<string>, options?: Options]

/** What programs are found to do: the broken rules of one schedule, each with the beginning of its first problem. */
const cases: ReadonlyArray<Case> = [
  ["a program that waits for nothing never ends", all(lookAt, Effect.never), endless],
  ["a program that polls never ends", polling, endless, { within: "3 hours" }],
  ["a program that loops without a pause never ends", all(lookAt, Effect.forever(Effect.yieldNow)), endless],
  ["a program that calls without an end never ends", Effect.forever(lookAt), endless, { mostCalls: 20 }],
  ["a worker that is stopped may owe a payout", all(owed, worker), ["owed-not-paid"], { ...stopped, ...unsent }],
  ["a worker that is stopped may leave a doubt", worker, dropped, { ...stopped, ...inDoubt }],
  ["a program that fails undisturbed is a finding", Effect.fail("no"), ["fails-undisturbed"]],
  ["a payout declared as failed, and executed, is a finding", payAndSay("failed"), lied, inDoubt],
  ["a payout in doubt that a person is told of is no finding", payAndSay("parked"), [], inDoubt],
  ["a payout declared as paid, and absent, is two", payAndSay("paid"), ["owed-not-paid", absent("invoice-1")], refused],
  ["a fact about an absent payout is a finding", declare("paid", "never owed"), [absent("never owed")]],
  ["a fact about an absent charge is two findings", ship("nobody's"), blind],
  ["a reference that nobody is owed is a finding", all(owed, pay(), declare("paid", "b")), [absent("b")]],
  ["a payout that is declared as paid, and is, is no finding", all(owed, pay(), declare("paid")), []],
  ["concurrent callers of one key are no finding", together, [], inDoubt],
  ["another amount than the owed one is found by the key", all(owedMore, pay()), differs],
  ["another amount than the owed one is found by the description", all(owedMore, described), differs],
  ["another amount than the owed one is found by the metadata", all(owedMore, labelled), differs],
  ["another amount than the owed one is found where there is one payout", all(owedMore, payNaming({})), differs],
  [
    "an answer that the ledger contradicts is a finding",
    all(pay(), Effect.sleep("2 minutes")),
    contradicted,
    forgotten
  ],
  ["a program that fails as a request is not sent may owe its payout", all(owed, pay()), [], unsent],
  ["a program that fails as a lookup is not sent may ship nothing", shop, [], unseen],
  ["a payout that nobody waited for is in doubt, where it was executed", impatient, dropped, { only: late }],
  ["a payout that nobody waited for is in no doubt, where it was not sent", impatient, [], unsent],
  [
    "goods of another amount, of a lapsed charge that no lookup saw, are three",
    shipped,
    ["amount-differs", ...blind],
    later
  ],
  ["two payouts of one reference are a finding", all(owed, described, labelled), [`paid-twice: ${twice}`]],
  ["a payout beyond the debts is a finding", all(owed, pay(), pay("invoice-1/2")), [`paid-twice: ${once}`]],
  ["two payouts under strange keys are one too many", all(owed, pay("a/1"), pay("a/2")), [`paid-twice: ${once}`]],
  ["a payout to somebody who is owed nothing is one", all(owed, pay(), payJoao), [`paid-twice: ${stranger}`]],
  ["a debt that another reference's key has paid is a finding", all(owed, owes("b"), pay(), pay()), ["owed-not-paid"]]
]

describe("a rehearsal", () => {
  for (const [title, program, found, options = undisturbed] of cases)
    live(title, function* () {
      const report = yield* Rehearsal.run(program, "only" in options ? options : { ...options, ...undisturbed })
      expect(new Set(report.findings.map(({ rule }) => rule))).toEqual(new Set(found.map((one) => one.split(":")[0])))
      for (const { problems, rule } of report.findings) {
        const words = found.find((one) => one.startsWith(rule)) ?? rule
        expect(`${rule}: ${problems[0]}`.slice(0, words.length)).toBe(words)
      }
    })

  live("a program that does not end because of real work alone is undecided, and no finding", function* () {
    // Ten turns of the event loop, which never win against a timeout by the rehearsal's clock, unless that clock waits.
    const turns = (left: number, done: () => void): void =>
      void (left === 0 ? done() : setImmediate(turns, left - 1, done))
    const work = Effect.promise(() => new Promise<void>((resolve) => turns(10, resolve)))
    const program = Effect.andThen(lookAt, Effect.retry(Effect.timeout(work, "1 minute"), Schedule.spaced("1 hour")))
    const report = yield* Rehearsal.run(program, undisturbed)
    expect(report).toMatchObject({ findings: [], undecided: [{ schedule: "undisturbed" }] })
    expect(Rehearsal.text(report)).toContain("Undecided: undisturbed.")
  })

  live("a failure excuses nothing where the program was started again and nothing disturbs it", function* () {
    const program = (found: Effect.Effect<unknown, "begun before">) =>
      Effect.gen(function* () {
        yield* owed
        if (yield* isMarked("begun")) yield* found
        yield* mark("begun")
        yield* pay()
      })
    const options = { stores: Marks.layer, only: `${call} death before it is sent` }
    const stuck = yield* Rehearsal.run(program(Effect.fail("begun before")), options)
    expect(stuck.findings.map(({ rule }) => rule)).toEqual(["owed-not-paid"])
    expect((yield* Rehearsal.run(program(Effect.void), options)).findings).toEqual([])
  })
})

describe("the text of a rehearsal", () => {
  live("a rule without a declaration is not checked, and the report says why", function* () {
    const report = yield* Rehearsal.run(pay(), undisturbed)
    const skipped = report.rules.filter(({ notChecked }) => notChecked !== undefined).map(({ rule }) => rule)
    const shipping = ["shipped-unpaid", "shipped-unchecked", "shipped-twice", "not-shipped"]
    expect(skipped).toEqual(["owed-not-paid", "amount-differs", ...shipping])
    expect(Rehearsal.text(report)).toContain(
      "Not checked: owed-not-paid, amount-differs: the undisturbed run declared no Rehearsed.owes(...)."
    )
    const endless = yield* Rehearsal.run(worker, { ...undisturbed, stopAfter: "1 day" })
    expect(endless.rules.find(({ rule }) => rule === "never-ends")?.notChecked).toContain("not meant to end")
  })

  live("the story has the end of a payout, a list, goods of a lapsed charge, and a defect", function* () {
    const settle = Sandbox.use((sandbox) => Effect.delay(sandbox.settleWithdrawal(1), "1 minute")).pipe(Effect.orDie)
    const program = Effect.all([receive(() => Effect.void), pay(), shipped, Effect.die(new RangeError("no more"))])
    const { findings } = yield* Rehearsal.run(program, { ...undisturbed, meanwhile: settle })
    const story = findings.map(Rehearsal.story).join("\n")
    expect(story).toMatch(/ledger: payout 1 of 2500 centavos is Settled/)
    expect(story).toMatch(/webhook \d+ is delivered: payout 1 is Settled/)
    expect(story).toContain("1d 06:00:00.000  call 3 listTransactions: Succeeded: 1 rows")
    expect(story).toContain("was shipped, and it was Cancelled at that time.")
    expect(story).toContain("RangeError")
  })

  live("a debt that another reference's key has paid is explained by the key that both share", function* () {
    const both = all(owed, owes("b"), pay(), pay(), declare("paid", "b"))
    const text = Rehearsal.text(yield* Rehearsal.run(both, undisturbed))
    expect(text).toMatch(/^told-done-but-absent: .*Calls 1 and 2 have the same key 1: /m)
  })

  const lookup = (number: number, status: string) => [
    `call ${number} getTransaction: charge 1`,
    `call ${number} getTransaction: Succeeded: ${status}`
  ]
  const finding = (schedule: string, texts: ReadonlyArray<string>) => ({
    schedule,
    rule: "mine",
    page: undefined,
    problems: ["Something is wrong."],
    story: texts.map((text, second) => ({ at: second * 1000, text })),
    legend: []
  })

  test("a story shows the first of the lookups that repeat each other, their number, and each other answer", () => {
    const polls = [1, 2, 3, 4].flatMap((number) => lookup(number, "Awaiting"))
    const story = Rehearsal.story(finding("undisturbed", ["process 1 starts", ...polls, ...lookup(5, "Paid")]))
    expect(story).toBe(`mine: Something is wrong.
   00:00:00.000  process 1 starts
   00:00:01.000  call 1 getTransaction: charge 1
   00:00:02.000  call 1 getTransaction: Succeeded: Awaiting
   00:00:08.000  these 2 lines 3 times more, until now
   00:00:09.000  call 5 getTransaction: charge 1
   00:00:10.000  call 5 getTransaction: Succeeded: Paid
To play it alone: { only: "undisturbed" }`)
    const few = finding("undisturbed", [...lookup(1, "Awaiting"), ...lookup(2, "Awaiting"), "process 1 is stopped"])
    expect(Rehearsal.story(few)).toContain("call 2 getTransaction: Succeeded: Awaiting")
    expect(Rehearsal.story(few)).not.toContain("times more")
  })

  test("a report tells the story of a rule once, names five more schedules, and counts the rest", () => {
    const empty = { schedules: 30, steps: 0, calls: [], pairs: { played: 0, all: 0 }, rules: [], undecided: [] }
    const textOf = (schedules: ReadonlyArray<string>, story = ["process 1 starts"]) =>
      Rehearsal.text({ ...empty, findings: schedules.map((schedule) => finding(schedule, story)) })
    const many = Array.from({ length: 8 }, (_, index) => `call ${index + 1}`)
    expect(textOf(many).split("process 1 starts")).toHaveLength(2)
    expect(textOf(many)).toContain("  also in: call 6\n  also in 2 more schedules")
    expect(textOf(many.slice(1))).toContain("  also in 1 more schedule\n")
    expect(textOf(["undisturbed", "call 1"])).toContain("  also in 1 disturbed schedule\n")
    expect(textOf([])).toContain("30 schedules, 0 of 0 pairs, 0 steps. Not checked: nothing.")
    expect(textOf(["undisturbed"], [])).toContain("Has to be checked, and was not: mine.")
  })

  test("the 27th charge of a story is AA, and the 28th AB", () => {
    const story = makeStory(() => 0)
    for (let n = 0; n < 28; n++) story.charge(`id-${n}`)
    const names = story.legend().map(({ name }) => name)
    expect(names.filter((_, index) => [0, 25, 26, 27].includes(index))).toEqual([
      "charge A",
      "charge Z",
      "charge AA",
      "charge AB"
    ])
  })

  test("a key is that of a reference with any kind, and no key is that of none", () => {
    const key = IdempotencyKey.fromReference("bonus", "invoice-1")
    expect([isKeyOf(key, "invoice-1"), isKeyOf(key, "invoice-2")]).toEqual([true, false])
    expect([isKeyOf("random", "invoice-1"), isKeyOf(undefined, "invoice-1")]).toEqual([false, false])
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
            (error: unknown) => `${name}: ${String(error)}`
          )
        )
      )
    return { tests, failures, it: (name: string, run: () => Promise<void>) => tests.push([name, run]) }
  }
  /** It compares with a word of another vocabulary, and never ships. */
  const unsold = Effect.gen(function* () {
    const id = yield* Effect.tap(charge, Effect.sleep("1 hour"))
    if (!(yield* isPaid(id))) yield* ship(id)
  })

  test("one test plays all schedules, and fails with the story of each rule", async () => {
    const { failures, it } = collect()
    void Rehearsal.test(it, "pays twice", Effect.andThen(owed, Effect.retry(payUnderNewKey, { times: 3 })))
    const [failed = ""] = await failures()
    for (const words of [
      `paid-twice: ${once}`,
      "ledger: payout 2 of 2500 centavos is executed, key 2",
      "key 2  wd_2",
      "also in: call 1 requestWithdrawal: executed, answer lost, then refused, request",
      "more schedules",
      "docs/rehearsal.md#paid-twice"
    ])
      expect(failed).toContain(words)
  })

  test("each schedule has a test of its own, and those with a finding fail", async () => {
    const { it, tests } = collect()
    await Rehearsal.test(it, "pays", payUnderNewKey, { each: true, checks: [] })
    expect(tests.length).toBe(27)
    const played = tests.filter(([name]) => name.includes("death"))
    const outcomes = await Promise.allSettled(played.map(([, run]) => run()))
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"])
  })

  test("a rule that the program's calls make relevant has to be checked, unless it is asked for none", async () => {
    const { failures, it } = collect()
    void Rehearsal.test(it, "shop", unsold, { ...undisturbed, payAfter: "1 minute" })
    void Rehearsal.test(it, "payout", pay(), undisturbed)
    void Rehearsal.test(it, "owed", Effect.andThen(owed, pay()), undisturbed)
    void Rehearsal.test(it, "asked for nothing", pay(), { ...undisturbed, checks: [] })
    expect(
      (await failures()).map((line) =>
        line
          .split("\n")
          .find((part) => /Has to|passed/.test(part))
          ?.replace(/\. Declare.*/, "")
      )
    ).toEqual([
      "Has to be checked, and was not: shipped-unpaid, shipped-unchecked, shipped-twice, not-shipped",
      "Has to be checked, and was not: owed-not-paid, amount-differs",
      "owed: passed",
      "asked for nothing: passed"
    ])
    const named = await Effect.runPromise(
      Rehearsal.run(unsold, { ...undisturbed, payAfter: "1 minute", checks: ["not-shipped"] })
    )
    expect(named.findings.map(({ rule }) => rule)).toEqual(["not-shipped"])
  })
})

test("a declaration outside of a rehearsal does nothing, and a fact is named by a type", async () => {
  const program = Effect.all([owed, ship("1"), receive(() => Effect.die("never"))])
  expect(await Effect.runPromise(program)).toEqual([undefined, undefined, undefined])
  type Fact = Parameters<typeof Rehearsed.fact>[0]
  expectTypeOf<Fact>().toEqualTypeOf<"paid" | "failed" | "parked" | "told" | "shipped">()
  expectTypeOf(Rehearsed.note("payed", { reference: "a" })).toEqualTypeOf<Effect.Effect<void>>()
  expectTypeOf<RehearsalReport["schedules"]>().toBeNumber()
})
