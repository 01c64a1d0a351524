/** Compares statements of a bank with payouts of a queue. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { Money, Reconcile } from "effect-pix"
import type { PayoutStatus } from "effect-pix/payouts"
import { seed, seeded } from "../support/seed.ts"

const at = (iso: string) => DateTime.makeUnsafe(iso)
const noon = "2026-11-21T15:00:00Z"
const id = (n: number) => `E18236120202611211200s${`${n}`.padStart(10, "0")}`

const payout = (reference: string, more: Partial<Reconcile.StatementPayout> = {}): Reconcile.StatementPayout => ({
  reference,
  amount: Money.centavos(1000),
  state: "posted",
  submittedAt: at(noon),
  updatedAt: at(noon),
  ...more
})
const line = (more: Partial<Reconcile.StatementLine> = {}): Reconcile.StatementLine => ({
  amount: Money.centavos(1000),
  day: "2026-11-21",
  ...more
})

/** The lists by the references of payouts and the positions of lines. */
const compare = (lines: ReadonlyArray<Reconcile.StatementLine>, payouts: ReadonlyArray<Reconcile.StatementPayout>) => {
  const { alone, ambiguous, matched } = Reconcile.statement(lines, payouts)
  return {
    matched: matched.map(({ line, payout }) => [lines.indexOf(line), payout.reference]),
    ambiguous: ambiguous.map((of) => [
      lines.indexOf(of.line),
      of.because,
      of.payouts.map(({ reference }) => reference).join()
    ]),
    lines: alone.lines.map((line) => lines.indexOf(line)),
    payouts: alone.payouts.map(({ reference }) => reference)
  }
}

type Case = readonly [
  title: string,
  lines: ReadonlyArray<Reconcile.StatementLine>,
  payouts: ReadonlyArray<Reconcile.StatementPayout>,
  expected: Partial<ReturnType<typeof compare>>
]

const [maria, joao] = ["529.982.247-25", "111.444.777-35"]

const cases: ReadonlyArray<Case> = [
  [
    "an end-to-end id is on both sides, in another case and with spaces",
    [line({ endToEndId: ` ${id(1).toLowerCase()} ` })],
    [payout("1", { endToEndId: id(1) }), payout("2")],
    { matched: [[0, "1"]], payouts: ["2"] }
  ],
  [
    "the id decides where days and documents differ",
    [line({ endToEndId: id(1), day: "2026-12-24", document: maria })],
    [payout("1", { endToEndId: id(1), document: joao })],
    { matched: [[0, "1"]] }
  ],
  [
    "amounts are equal, and no id is there",
    [line(), line()],
    [payout("1"), payout("2"), payout("3", { amount: Money.centavos(1001) })],
    {
      ambiguous: [
        [0, "SameAmountAndDay", "1,2"],
        [1, "SameAmountAndDay", "1,2"]
      ],
      payouts: ["3"]
    }
  ],
  ["one payout alone has the amount", [line()], [payout("1")], { ambiguous: [[0, "SameAmountAndDay", "1"]] }],
  [
    "the ids differ",
    [line({ endToEndId: id(1) })],
    [payout("1", { endToEndId: id(2) })],
    { lines: [0], payouts: ["1"] }
  ],
  [
    "the amount of an id differs",
    [line({ endToEndId: id(1), amount: Money.centavos(999) })],
    [payout("1", { endToEndId: id(1) })],
    { ambiguous: [[0, "OtherAmount", "1"]] }
  ],
  [
    "an id is twice in the statement",
    [line({ endToEndId: id(1) }), line({ endToEndId: id(1) })],
    [payout("1", { endToEndId: id(1) })],
    {
      ambiguous: [
        [0, "SeveralOfOneId", "1"],
        [1, "SeveralOfOneId", "1"]
      ]
    }
  ],
  [
    "two payouts claim one id",
    [line({ endToEndId: id(1) })],
    [payout("1", { endToEndId: id(1) }), payout("2", { endToEndId: id(1) })],
    { ambiguous: [[0, "SeveralOfOneId", "1,2"]] }
  ],
  [
    "the money of an id came back",
    [line({ endToEndId: id(1) }), line({ endToEndId: id(1), direction: "in" })],
    [payout("1", { endToEndId: id(1) })],
    {
      ambiguous: [
        [0, "CameBack", "1"],
        [1, "CameBack", "1"]
      ]
    }
  ],
  [
    "the statement has the return of an id alone",
    [line({ endToEndId: id(1), direction: "in" })],
    [payout("1", { endToEndId: id(1) })],
    { ambiguous: [[0, "CameBack", "1"]] }
  ],
  [
    "money of the amount of a payout arrived under an id of its own",
    [
      line({ endToEndId: id(1) }),
      line({ direction: "in", endToEndId: id(2).replace("E", "D") }),
      line({ direction: "in" })
    ],
    [payout("1", { endToEndId: id(1) })],
    {
      ambiguous: [
        [0, "CameBack", "1"],
        [1, "CameBack", "1"],
        [2, "CameBack", "1"]
      ]
    }
  ],
  [
    "somebody else paid the amount of a payout, under the id of that payment",
    [line({ endToEndId: id(1) }), line({ direction: "in", endToEndId: id(2) })],
    [payout("1", { endToEndId: id(1) })],
    { matched: [[0, "1"]], lines: [1] }
  ],
  [
    "money of another amount arrived, or before the payout",
    [line({ direction: "in", amount: Money.centavos(999) }), line({ direction: "in", day: "2020-01-01" })],
    [payout("1")],
    { lines: [0, 1], payouts: ["1"] }
  ],
  [
    "days are those of São Paulo, from the submit to the last change",
    [line({ day: "2026-11-20" }), line({ day: "2026-11-21" }), line({ day: "2026-11-22" }), line({ day: undefined })],
    [payout("1", { submittedAt: at("2026-11-21T02:59:59Z"), updatedAt: at("2026-11-22T02:59:59Z") })],
    {
      ambiguous: [
        [0, "SameAmountAndDay", "1"],
        [1, "SameAmountAndDay", "1"],
        [3, "SameAmountAndDay", "1"]
      ],
      lines: [2]
    }
  ],
  [
    "documents choose among the payouts of an amount, masked on either side",
    [line({ document: maria }), line({ document: "***.444.777-**" }), line({ document: "***" })],
    [payout("maria", { document: "***.982.247-**" }), payout("joao", { document: joao }), payout("none")],
    {
      ambiguous: [
        [0, "SameAmountAndDay", "maria"],
        [1, "SameAmountAndDay", "joao"],
        [2, "SameAmountAndDay", "maria,joao,none"]
      ]
    }
  ],
  [
    "a document that no payout has leaves those that show none",
    [line({ document: "11.222.333/0001-81" })],
    [payout("maria", { document: maria }), payout("none")],
    { ambiguous: [[0, "SameAmountAndDay", "none"]], payouts: ["maria"] }
  ],
  ["nothing is there", [], [], {}]
]

describe("Reconcile.statement", () => {
  it.each(cases)("a line is matched by its end-to-end id alone: %s", (_, lines, payouts, expected) => {
    const nothing = { matched: [], ambiguous: [], lines: [], payouts: [] }
    assert.deepStrictEqual(compare(lines, payouts), { ...nothing, ...expected })
  })

  it("a status of the queue is a payout of it", () => {
    const payouts: ReadonlyArray<PayoutStatus> = []
    assert.deepStrictEqual(Reconcile.statement([line()], payouts).alone.lines, [line()])
  })

  it("4,000 lines with 500 equal amounts are compared within 10 seconds, and no line is matched by its amount", () => {
    const { below, next } = seeded(seed)
    const payouts = Array.from({ length: 4000 }, (_, n) =>
      payout(`${n}`, {
        amount: Money.centavos(n < 500 ? 302_050 : 1000 + below(500_000)),
        endToEndId: n % 2 === 0 ? id(n) : undefined,
        document: n % 3 === 0 ? `***.${100 + below(900)}.247-**` : undefined
      })
    )
    const shown = payouts.map(({ amount, endToEndId }, n) => ({
      ...line({ amount, endToEndId: next() < 0.8 ? endToEndId : undefined, document: n % 5 === 0 ? maria : undefined }),
      n
    }))
    const begun = performance.now()
    const { alone, ambiguous, matched } = Reconcile.statement(shown.toReversed(), payouts)
    assert.isBelow(performance.now() - begun, 10_000)
    assert.sameMembers(
      matched.map(({ line }) => line.n),
      shown.flatMap(({ endToEndId, n }) => (endToEndId === undefined ? [] : [n]))
    )
    assert.isTrue(matched.every(({ line, payout }) => `${line.n}` === payout.reference))
    assert.strictEqual(matched.length + ambiguous.length + alone.lines.length, 4000)
  })
})
