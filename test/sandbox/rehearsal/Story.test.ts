import { expect, test } from "@effect/vitest"
import { Rehearsal } from "effect-pix/sandbox"

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
