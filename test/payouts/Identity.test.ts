/**
 * What a worker finds in a database: the identity and the heartbeat that are stored there, and those that it reads and knows.
 */
import { assert, it } from "@effect/vitest"
import { findingOf, mergedIdentity } from "../../src/payouts/internal/queue/identity.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const noon = 1_800_000_000_000
const here = "7001/00000001/5/16400"

/** What the server shows of the database after its cluster, timeline, database or table changed. */
const cluster = "7002/00000001/5/16400"
const timeline = "7001/00000002/5/16400"
const copy = "7001/00000001/6/16400"
const table = "7001/00000001/5/17000"
const hidden = "//5/16400"

type Finding = readonly [
  title: string,
  stored: string | null,
  now: string | null,
  age: number | null,
  lastBeat: number | undefined,
  finding: string
]
it.each<Finding>([
  ["the same after an outage of an hour", here, here, hour, undefined, "Same"],
  ["silent after more than a day without a worker", here, here, day + 1, undefined, "Silent"],
  ["not silent after a day", here, here, day, undefined, "Same"],
  ["moved, where a standby was promoted", here, timeline, 15 * minute, undefined, "Moved"],
  ["restored, where its heartbeat is older than the promotion", here, timeline, 15 * minute + 1, undefined, "Restored"],
  ["moved, where another cluster followed it", here, cluster, minute, undefined, "Moved"],
  ["restored, where its cluster is another, its heartbeat old", here, cluster, 16 * minute, undefined, "Restored"],
  ["restored, where its table was made anew, however fresh", here, table, 0, undefined, "Restored"],
  ["restored, where it is a copy, however fresh", here, copy, 0, undefined, "Restored"],
  ["compared by its table where the server shows no more", here, hidden, minute, undefined, "Same"],
  ["moved, where its table is another in a hidden cluster", hidden, "//5/17000", minute, undefined, "Moved"],
  ["moved, where its cluster is shown since now", hidden, table, minute, undefined, "Moved"],
  ["the same where its identity was never stored", null, here, minute, undefined, "Same"],
  ["judged by its heartbeat where it has no identity", null, null, day + 1, undefined, "Silent"],
  ["the same where no worker ever served it", null, here, null, undefined, "Same"],
  ["restored, where it has no heartbeat any more", null, here, null, noon - minute, "Restored"],
  ["moved, where its heartbeat went back by minutes", here, here, 5 * minute, noon - 4 * minute, "Moved"],
  ["restored, where its heartbeat went back by more", here, here, 20 * minute, noon - 4 * minute, "Restored"],
  ["the same where its heartbeat is the last known one", here, here, 20 * minute, noon - 20 * minute, "Same"]
])("a database is %s", (_, identity, now, age, lastBeat, finding) => {
  const read = { identity, beatAt: age === null ? null : noon - age, readAt: noon }
  assert.strictEqual(findingOf(read, now, { lastBeat, pausedAfter: day }), finding)
})

it("an identity keeps the parts that the server does not show any more", () => {
  assert.strictEqual(mergedIdentity(here, "//5/16401"), "7001/00000001/5/16401")
  assert.strictEqual(mergedIdentity(null, "//5/16401"), "//5/16401")
  assert.isNull(mergedIdentity(null, null))
})
