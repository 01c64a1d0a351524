/**
 * Mistakes about limits, and about what becomes of a payout or a charge after it was accepted. The program with the mistake breaks
 * the rule in the schedule, and the program without it breaks none: in that schedule, or in all of them in `npm run full` and `soak`.
 */
import { assert, describe, test } from "@effect/vitest"
import { Effect } from "effect"
import { Rehearsal, type RehearsalOptions, type RuleName } from "effect-pix/sandbox"
import { isWhole, requireClean } from "../support/rehearsals.ts"
import * as Life from "./life.ts"
import { declare, invoice, Marks } from "./programs.ts"

const call = "call 1 requestWithdrawal:"
const fails = `${call} the payout fails an hour later`
const returned = `${call} the payout is returned an hour later`
const daily = "refused, limit of the day"
const late = "call 1 createTransaction: the payer pays after 26 hours, or when another charge was made"

/** A mistake, the rule that names it, a schedule that shows it, and the program with it and without it. */
type Mistake = readonly [mistake: string, rule: RuleName, schedule: string, with_: Life.Program, without: Life.Program]

const ofPayouts: ReadonlyArray<Mistake> = [
  [
    "a payout that its first webhook books",
    "told-done-but-absent",
    fails,
    Life.payAndHear(
      (_, status) => (status === "failure" ? Effect.void : declare("paid")),
      () => Life.listen
    ),
    Life.payAndHear(Life.look)
  ],
  [
    "a payout that is booked as paid when it has ended, however that was",
    "told-done-but-absent",
    returned,
    Life.payOnce((id) => Effect.andThen(Life.endOf(id), declare("paid"))),
    Life.payOnce(Life.bookEnd)
  ],
  [
    "a payout whose end only a webhook tells",
    "owed-not-paid",
    `${fails}, and its webhook never comes`,
    Life.payAndHear(Life.look, () => Life.listen),
    Life.payAndHear(Life.look)
  ],
  [
    "a payout that is looked up once, too early",
    "owed-not-paid",
    fails,
    Life.payOnce((id) =>
      Effect.flatMap(Effect.delay(Life.meaningOf(id), "10 minutes"), (meaning) =>
        Life.isLost(meaning) ? declare("failed") : Effect.void
      )
    ),
    Life.payOnce(Life.bookEnd)
  ],
  [
    "a payout that is made again before the first has failed",
    "paid-twice",
    `${call} the payout arrives 20 hours later`,
    Life.payOnce((id) =>
      Effect.flatMap(Effect.delay(Life.meaningOf(id), "30 minutes"), (meaning) =>
        meaning === "paid" ? declare("paid") : Life.replace
      )
    ),
    Life.payOnce((id) => Effect.flatMap(Life.endOf(id), Life.replaceLost))
  ],
  [
    "a payout that is made again by the word of a webhook",
    "paid-twice",
    `${call} a forged webhook says that the payout failed`,
    Life.payAndHear((_, status) => (status === "failure" ? Life.replace : Effect.void)),
    Life.payAndHear(
      (id) => Effect.flatMap(Life.meaningOf(id), Life.replaceLost),
      (id) => Effect.flatMap(Life.endOf(id), Life.replaceLost)
    )
  ],
  [
    "a payout that is booked by the word of a webhook",
    "told-done-but-absent",
    `${call} a forged webhook says that the payout arrived, which fails an hour later`,
    Life.payAndHear(
      (_, status) => (status === "successful" ? declare("paid") : Effect.void),
      () => Life.listen
    ),
    Life.payAndHear(Life.look)
  ]
]

const ofAnswers: ReadonlyArray<Mistake> = [
  [
    "a payout that is recorded as failed, and dropped",
    "owed-not-paid",
    `${call} recorded as failed at once`,
    Life.onFailure(Effect.void),
    Life.onFailure(Life.ask(`${invoice}/2`))
  ],
  [
    "a payout that a limit ends",
    "owed-not-paid",
    `${call} refused, account blocked`,
    Life.onLimit(Effect.void),
    Life.onLimit(declare("parked"))
  ],
  [
    "a limit that lasts for longer than the program asks",
    "owed-not-paid",
    `${call} each payout from now on ${daily}`,
    Life.onLimit(Effect.ignore(Life.askAgain(3))),
    Life.onLimit(Life.askAgain(3))
  ],
  [
    "a limit that is met by two halves, of which one is paid",
    "amount-differs",
    `${call} ${daily}`,
    Life.onLimit(Effect.all([Life.payHalf("1"), Effect.ignore(Life.payHalf("2"))])),
    Life.onLimit(Life.askAgain(300))
  ],
  [
    "a key that has the day on which a limit is waited for",
    "paid-twice",
    `${call} executed, answer lost, each request, then each later call under its key ${daily}`,
    Life.daily((day) => `${invoice}/${day}`),
    Life.daily(() => invoice)
  ],
  [
    "a limit that is taken for the end of a doubt",
    "told-not-executed-but-executed",
    `${call} executed, answer lost, each request, then each later call under its key ${daily}`,
    Life.doubtThenLimit(true),
    Life.doubtThenLimit(false)
  ]
]

const ofCharges: ReadonlyArray<Mistake> = [
  [
    "an order that knows its newest charge alone, and two are paid",
    "not-shipped",
    late,
    Life.shop({ onPaid: Life.shipOnce, knows: Life.isNewest }),
    Life.shop({ onPaid: Life.shipOnce })
  ],
  [
    "goods that go out once for two charges that are paid",
    "not-shipped",
    late,
    Life.shop({ onPaid: Life.shipOrder }),
    Life.shop({ onPaid: Life.shipOnce })
  ],
  [
    "a charge that is forgotten when it has lapsed, and is paid",
    "not-shipped",
    late,
    Life.shop({ onPaid: Life.shipOnce, knows: Life.hasNotLapsed, isSecond: false }),
    Life.shop({ onPaid: Life.shipOnce, isSecond: false })
  ]
]

const refunding: ReadonlyArray<Mistake> = [
  [
    "goods that went out, and whose money is paid back too",
    "paid-twice",
    late,
    Life.shop({ onPaid: Life.shipOrPayBack({ both: true }) }),
    Life.shop({ onPaid: Life.shipOrPayBack({ both: false }) })
  ],
  [
    "goods that are marked before they go out, of an order whose seller is paid",
    "not-shipped",
    "fact 1 shipped: death before it",
    Life.shop({ onPaid: Life.shipAndPaySeller({ markedFirst: true }) }),
    Life.shop({ onPaid: Life.shipAndPaySeller({ markedFirst: false }) })
  ]
]

const ofDoubts: ReadonlyArray<Mistake> = [
  [
    "a conflict that is taken for success",
    "told-done-but-absent",
    `${call} refused, conflict`,
    Life.tell((error) => (error._tag === "IdempotencyConflict" ? declare("paid") : declare("parked"))),
    Life.tell(() => declare("parked"))
  ],
  [
    "a doubt that nobody hears of",
    "owed-not-paid",
    `${call} answered 500, each request`,
    Life.tell(({ outcome }) => (outcome === "Unknown" ? Effect.void : declare("failed"))),
    Life.tell(({ outcome }) => declare(outcome === "Unknown" ? "parked" : "failed"))
  ],
  [
    "a payout that is marked as sent before it is sent",
    "owed-not-paid",
    `${call} death before it is sent`,
    Life.onceMarked(Life.tell(() => declare("parked"))),
    Life.tell(() => declare("parked"))
  ],
  [
    "a balance that ends a payout in silence",
    "owed-not-paid",
    `${call} refused, balance`,
    Life.tell(({ _tag }) => (_tag === "InsufficientBalance" ? Effect.void : declare("parked"))),
    Life.tell(() => declare("parked"))
  ]
]

const seen = { sandbox: { as: "seen" } } as const
const sold = { payAfter: "5 minutes", stopAfter: "3 days" } as const
const mistakes: ReadonlyArray<readonly [Omit<RehearsalOptions<never>, "stores">, ReadonlyArray<Mistake>]> = [
  [seen, ofPayouts],
  [{}, [...ofAnswers, ...ofDoubts]],
  [sold, [...ofCharges, ...refunding]]
]

describe("a rehearsal finds", () => {
  for (const [options, some] of mistakes)
    for (const [mistake, rule, schedule, mistaken, mended] of some)
      test(`${mistake}: ${rule}, and nothing without it`, async () => {
        const play = (program: Life.Program, played: { readonly only?: string }) =>
          Effect.runPromise(Rehearsal.run(program, { ...options, stores: Marks.layer, ...played }))
        const { findings } = await play(mistaken, { only: schedule })
        assert.include(
          findings.map((finding) => finding.rule),
          rule
        )
        requireClean(await play(mended, isWhole ? {} : { only: schedule }), 1)
      })
})
