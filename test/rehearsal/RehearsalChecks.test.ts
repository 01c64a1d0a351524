/** What a rehearsal finds, and what it must not hide. */
import { describe, expect } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { Money, Payments, PixKey } from "effect-pix"
import { Rehearsal, type RehearsalOptions, Sandbox } from "effect-pix/sandbox"
import { live } from "../support/effect.ts"
import {
  all,
  charge,
  declare,
  invoice,
  isMarked,
  isPaid,
  mark,
  Marks,
  meanwhile,
  owed,
  owes,
  pay,
  payAgain,
  receive,
  request,
  ship,
  shipped,
  worker
} from "./programs.ts"

const undisturbed = { only: "undisturbed" } as const
const call = "call 1 requestWithdrawal:"
const doubt = `${call} executed, answer lost, each request`
const late = `${call} executed 10 minutes late`
const lookAt = Payments.use((payments) => payments.getBalance())

type Options = RehearsalOptions<never>
type Program = Effect.Effect<unknown, unknown, Payments>

/** Asks for a payout that names the invoice in another field than its key. */
const payNaming = (extra: { readonly description?: string; readonly metadata?: { readonly invoice: string } }) =>
  Payments.use((payments) => payments.requestWithdrawal({ ...request, ...extra }))
const payJoao = Payments.use((payments) =>
  payments.requestWithdrawal({ amount: Money.centavos(77_700), pixKey: PixKey.email("joao@example.com") })
)
/** Pays what is owed, and writes down what became of it. */
const payAndSay = (failure: "paid" | "failed" | "parked") =>
  all(
    owed,
    pay().pipe(
      Effect.andThen(declare("paid")),
      Effect.catch(() => declare(failure))
    )
  )
const impatient = Effect.ignore(Effect.timeout(payAgain(), "5 seconds"))
const forgetAfter = meanwhile(Sandbox.use(({ reset }) => Effect.delay(reset, "1 minute")))
/** Ships what is paid after two minutes. */
const shop = Effect.gen(function* () {
  const id = yield* Effect.tap(charge, Effect.sleep("2 minutes"))
  if (yield* isPaid(id)) yield* ship(id)
})

const once = "A receiver was paid once more than is owed: payout 2 of 2500 centavos under key"
const twice = 'The receiver of "invoice-1" was paid once more than is owed: payout 1 of 2500 centavos under key'
const stranger = "Payout 2 of 77700 centavos went to somebody who is owed nothing."
const absent = (reference: string) => `told-done-but-absent: The program declared "${reference}" as paid`
const endless = ["never-ends"]
const lied = ["told-not-executed-but-executed"]
const dropped = ["unknown-dropped"]
const differs = ['amount-differs: "invoice-1" is owed 100000 centavos, and payout 1 is of 2500.']
const owedMore = owes("invoice-1", 100_000)
const described = payNaming({ description: "invoice-1" })
const labelled = payNaming({ metadata: { invoice: "invoice-1" } })
const contradicted = ["told-done-but-absent"]
const forgotten = { ...undisturbed, stores: forgetAfter }
const refused = { only: `${call} refused, request` }
const unsent = { only: `${call} not sent, each request` }
const inDoubt = { only: doubt }
const unseen = { only: "call 2 getTransaction: not sent, each request", payAfter: "1 minute" } as const
const stopped = { stopAfter: "1 day" } as const
const later = { ...undisturbed, payAfter: "26 hours" } as const
const polling = Effect.repeat(lookAt, Schedule.spaced("1 hour"))
const together = Effect.all([payAgain(), payAgain()], { concurrency: "unbounded" })

const sold = { ...undisturbed, payAfter: "1 minute" } as const
const shippedFirst = Effect.gen(function* () {
  const id = yield* Effect.tap(charge, Effect.sleep("2 minutes"))
  yield* ship(id)
  yield* Effect.delay(isPaid(id), "1 second")
})
const reject = Sandbox.use(({ rejectWithdrawal }) => Effect.delay(rejectWithdrawal(1), "1 minute"))
const rejected = { ...undisturbed, stores: meanwhile(Effect.orDie(reject)) }

const hollow = ["fails-undisturbed"]
const tooLittle = Payments.use((payments) =>
  Effect.ignore(payments.requestWithdrawal({ ...request, amount: Money.centavos(500) }))
)
const brief = { stopAfter: "1 hour" } as const
const poor = { ...undisturbed, sandbox: { balance: 100 } }

const asking = Effect.retry(lookAt, Schedule.spaced("1 second"))
const outage = "call 1 getBalance: an outage begins, not sent"

const doubtful = all(Effect.ignore(pay()), declare("parked"))
const madeAgain = all(owed, pay(), Effect.sleep("30 minutes"), pay("invoice-1/2"), Effect.sleep("2 hours"))
const failing = { only: `${call} the payout fails an hour later`, sandbox: { as: "seen" } } as const

type Case = readonly [title: string, program: Program, found: ReadonlyArray<string>, options?: Options]

/** What programs are found to do: the broken rules of one schedule, each with the beginning of its first problem. */
const cases: ReadonlyArray<Case> = [
  ["a program that waits for nothing never ends", all(lookAt, Effect.never), endless],
  ["a program that polls never ends", polling, endless],
  ["a program that loops without a pause never ends", all(lookAt, Effect.forever(Effect.yieldNow)), endless],
  ["a worker that is stopped may owe a payout", all(owed, worker), ["owed-not-paid"], { ...stopped, ...unsent }],
  ["a worker that is stopped may leave a doubt", worker, dropped, { ...stopped, ...inDoubt }],
  ["a program that fails undisturbed is a finding", Effect.fail("no"), ["fails-undisturbed"]],
  ["a payout declared as failed, and executed, is a finding", payAndSay("failed"), lied, inDoubt],
  ["a payout in doubt that a person is told of is no finding", payAndSay("parked"), [], inDoubt],
  ["a payout in doubt, owed by nobody, is no finding where it is parked", doubtful, [], inDoubt],
  ["a payout that is made again before the first has failed is a finding", madeAgain, ["paid-twice"], failing],
  ["a payout declared as paid, and absent, is one finding", payAndSay("paid"), [absent("invoice-1")], refused],
  ["a fact about an absent payout is a finding", all(lookAt, declare("paid", "never owed")), [absent("never owed")]],
  ["a fact about an absent charge is a finding", all(lookAt, ship("nobody's")), ["shipped-unpaid"]],
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
  ["goods of another amount, of a lapsed charge, are two", shipped, ["amount-differs", "shipped-unpaid"], later],
  ["two payouts of one reference are a finding", all(owed, described, labelled), [`paid-twice: ${twice}`]],
  ["a payout beyond the debts is a finding", all(owed, pay(), pay("invoice-1/2")), [`paid-twice: ${once}`]],
  ["two payouts under strange keys are one too many", all(owed, pay("a/1"), pay("a/2")), [`paid-twice: ${once}`]],
  ["a payout to somebody who is owed nothing is one", all(owed, pay(), payJoao), [`paid-twice: ${stranger}`]],
  ["a debt that another reference's key has paid is a finding", all(owed, owes("b"), pay(), pay()), ["owed-not-paid"]],
  ["a fact about a payout that no debt declares is no finding, where it was made", all(pay(), declare("paid")), []],
  ["goods that are looked up after they are shipped are a finding", shippedFirst, ["shipped-unchecked"], sold],
  [
    "a payout that the gateway rejects later is not paid",
    all(owed, pay(), Effect.sleep("1 hour")),
    ["owed-not-paid"],
    rejected
  ],
  ["a program that asks each second sees the end of an outage", asking, [], { only: outage }],
  ["a program that calls nothing is a finding", all(owed, declare("told")), hollow],
  ["a write that is refused undisturbed is a finding, whoever was told", all(tooLittle, declare("parked")), hollow],
  ["a debt that nobody pays undisturbed is a finding, whoever was told", all(owed, lookAt, declare("parked")), hollow],
  [
    "a debt that falls due right before the end is a finding, if none is paid",
    all(owed, lookAt, Effect.never),
    hollow,
    brief
  ],
  ["a payout for which the balance is too low undisturbed is a finding", payAndSay("parked"), hollow, poor],
  ["a refused write is no finding where another one under its key succeeds", all(Effect.ignore(pay()), pay()), []]
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

  live("a failure of a program that was started again is excused where its webhook is not repeated", function* () {
    const program = Effect.gen(function* () {
      yield* receive((_, status) =>
        status === "Paid" ? Effect.andThen(owed, Effect.andThen(pay(), mark(invoice))) : Effect.void
      )
      yield* Effect.delay(charge, "1 second")
      yield* Effect.sleep("1 day")
      if (!(yield* isMarked(invoice))) return yield* Effect.fail("no webhook")
    })
    const only = "call 2 requestWithdrawal: death before it is sent, and webhook 1 is not repeated"
    const report = yield* Rehearsal.run(program, { stores: Marks.layer, payAfter: "1 minute", only })
    expect(report.findings).toEqual([])
  })
})
