/**
 * What a worker finds in a database: the identity and the heartbeat that are stored there, and those that it reads and knows.
 */
import { assert, describe, it } from "@effect/vitest"
import { findingOf, mergedIdentity } from "../../src/payouts/internal/queue/identity.ts"

const minute = 60_000
const day = 1440 * minute
const noon = 1_800_000_000_000
const here = "7001/00000001/5/16400"

/** What is found now in a database whose heartbeat is so old. */
const found = (
  stored: string | null,
  now: string | null,
  age: number,
  options: { readonly lastBeat?: number; readonly pausedAfter?: number } = {}
) =>
  findingOf({ identity: stored, beatAt: noon - age, readAt: noon }, now, {
    lastBeat: options.lastBeat,
    pausedAfter: options.pausedAfter ?? day
  })

describe("the finding", () => {
  const cases: ReadonlyArray<
    readonly [title: string, stored: string | null, now: string | null, age: number, finding: string]
  > = [
    ["is the same after a restart", here, here, minute, "Same"],
    ["is the same after an outage of an hour", here, here, 60 * minute, "Same"],
    ["is silent after a day without a worker", here, here, day + 1, "Silent"],
    ["of a promoted standby has moved", here, "7001/00000002/5/16400", 14 * minute, "Moved"],
    [
      "of another timeline with an old heartbeat is restored",
      here,
      "7001/00000002/5/16400",
      15 * minute + 1,
      "Restored"
    ],
    ["of another cluster that followed has moved", here, "7002/00000001/5/16400", minute, "Moved"],
    ["of another cluster with an old heartbeat is restored", here, "7002/00000001/5/16400", 16 * minute, "Restored"],
    [
      "whose table was made anew in its cluster is restored, however fresh",
      here,
      "7001/00000001/5/17000",
      0,
      "Restored"
    ],
    ["that is a copy in its cluster is restored, however fresh", here, "7001/00000001/6/16400", 0, "Restored"],
    ["of a server that shows neither cluster nor timeline is compared by its table", here, "//5/16400", minute, "Same"],
    ["with another table in a cluster that is not shown may have followed", "//5/16400", "//5/17000", minute, "Moved"],
    [
      "with another table in a cluster that is shown now may have followed",
      "//5/16400",
      "7001/00000001/5/17000",
      minute,
      "Moved"
    ],
    ["whose identity was never stored is the same", null, here, minute, "Same"],
    ["without an identity is judged by its heartbeat", null, null, day + 1, "Silent"]
  ]
  for (const [title, stored, now, age, finding] of cases) {
    it(`a database ${title}`, () => assert.strictEqual(found(stored, now, age), finding))
  }

  it("a database that no worker ever served is the same", () => {
    const never = { identity: null, beatAt: null, readAt: noon }
    assert.strictEqual(findingOf(never, here, { lastBeat: undefined, pausedAfter: 0 }), "Same")
  })

  it("a database without the heartbeat that this process knows is restored", () => {
    const never = { identity: null, beatAt: null, readAt: noon }
    assert.strictEqual(findingOf(never, here, { lastBeat: noon - minute, pausedAfter: day }), "Restored")
  })

  it("a database whose heartbeat is earlier than one that this process knows went back: by minutes it moved, by more it is restored", () => {
    assert.strictEqual(found(here, here, 5 * minute, { lastBeat: noon - 4 * minute }), "Moved")
    assert.strictEqual(found(here, here, 20 * minute, { lastBeat: noon - 4 * minute }), "Restored")
    assert.strictEqual(found(here, here, 20 * minute, { lastBeat: noon - 20 * minute }), "Same")
  })

  it("a database is never silent where pausedAfter has no end", () => {
    assert.strictEqual(found(here, here, 1000 * day, { pausedAfter: Number.POSITIVE_INFINITY }), "Same")
  })
})

describe("a stored identity", () => {
  it("keeps the parts that the server does not show any more", () => {
    assert.strictEqual(mergedIdentity(here, "//5/16401"), "7001/00000001/5/16401")
    assert.strictEqual(mergedIdentity(null, "//5/16401"), "//5/16401")
    assert.isNull(mergedIdentity(null, null))
  })
})
