import { expect, test } from "@effect/vitest"
import { IdempotencyKey } from "effect-pix"
import { Rehearsal, type RehearsalReport } from "effect-pix/sandbox"
import { isKeyOf } from "../../../src/sandbox/internal/rehearsal/references.ts"
import { makeStory } from "../../../src/sandbox/internal/rehearsal/story.ts"

const finding = (texts: ReadonlyArray<string>) =>
  Rehearsal.story({
    schedule: "undisturbed",
    rule: "mine",
    page: undefined,
    problems: ["Something is wrong."],
    story: texts.map((text, second) => ({ at: second * 1000, text })),
    legend: []
  })

const lookup = (number: number, status: string) => [
  `call ${number} getTransaction: charge 1`,
  `call ${number} getTransaction: Succeeded: ${status}`
]

test("a story shows the first of the lookups that repeat each other, their number, and each other answer", () => {
  const polls = [1, 2, 3, 4].flatMap((number) => lookup(number, "Awaiting"))
  expect(finding(["process 1 starts", ...polls, ...lookup(5, "Paid")])).toBe(`mine: Something is wrong.
   00:00:00.000  process 1 starts
   00:00:01.000  call 1 getTransaction: charge 1
   00:00:02.000  call 1 getTransaction: Succeeded: Awaiting
   00:00:08.000  these 2 lines 3 times more, until now
   00:00:09.000  call 5 getTransaction: charge 1
   00:00:10.000  call 5 getTransaction: Succeeded: Paid
To play it alone: { only: "undisturbed" }`)
})

test("a story shows few lookups one by one, and those between which something happens", () => {
  const story = finding([...lookup(1, "Awaiting"), ...lookup(2, "Awaiting"), "process 1 is stopped"])
  expect(story).toContain("call 2 getTransaction: Succeeded: Awaiting")
  expect(story).not.toContain("times more")
})

test("the 27th charge of a story is AA, and the 28th AB", () => {
  const story = makeStory(() => 0)
  for (let n = 0; n < 28; n++) story.charge(`id-${n}`)
  expect(
    story
      .legend()
      .map(({ name }) => name)
      .filter((name) => /(?: A| Z|[A-Z]{2})$/.test(name))
  ).toEqual(["charge A", "charge Z", "charge AA", "charge AB"])
})

const report = (...schedules: ReadonlyArray<string>): RehearsalReport => ({
  schedules: 30,
  steps: 0,
  calls: [],
  pairs: { played: 0, all: 0 },
  findings: schedules.map((schedule) => ({
    schedule,
    rule: "mine",
    page: undefined,
    problems: ["Something is wrong."],
    story: [{ at: 0, text: "process 1 starts" }],
    legend: []
  })),
  rules: [],
  undecided: []
})

test("a report tells the story of a rule once, names five more schedules, and counts the rest", () => {
  const many = Array.from({ length: 8 }, (_, index) => `call ${index + 1}`)
  const text = Rehearsal.text(report(...many))
  expect(text.split("process 1 starts")).toHaveLength(2)
  expect(text).toContain("  also in: call 6\n  also in 2 more schedules")
  expect(Rehearsal.text(report(...many.slice(1)))).toContain("  also in 1 more schedule\n")
  expect(Rehearsal.text(report("undisturbed", "call 1"))).toContain("  also in 1 disturbed schedule\n")
  expect(Rehearsal.text(report())).toContain("30 schedules, 0 of 0 pairs, 0 steps. Not checked: nothing.")
})

test("a report names the rules that had to be checked and were not", () => {
  const [unchecked] = report("undisturbed").findings.map((finding) => ({ ...finding, story: [] }))
  const text = Rehearsal.text({ ...report(), findings: unchecked === undefined ? [] : [unchecked] })
  expect(text).toContain("Has to be checked, and was not: mine.")
})

test("a key is that of a reference with any kind, and no key is that of none", () => {
  expect(isKeyOf(IdempotencyKey.fromReference("bonus", "invoice-1"), "invoice-1")).toBe(true)
  expect(isKeyOf(IdempotencyKey.fromReference("bonus", "invoice-1"), "invoice-2")).toBe(false)
  expect([isKeyOf("random", "invoice-1"), isKeyOf(undefined, "invoice-1")]).toEqual([false, false])
})
