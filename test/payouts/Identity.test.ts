/**
 * What a worker finds in a database: the identity that is stored there and the one that it reads, and when it was seen in it.
 */
import { assert, it } from "@effect/vitest"
import { isMoved, mergedIdentity } from "../../src/payouts/internal/store/identity.ts"

const here = "7001/00000001/5/16400"
const hidden = "//5/16400"

type Found = readonly [
  title: string,
  isMoved: boolean,
  stored: string | null,
  now: string | null,
  seenAt: number | null,
  lastSeen: number | undefined
]
it.each<Found>([
  ["the same after any time", false, here, here, 1, undefined],
  ["another one, where a standby was promoted", true, here, "7001/00000002/5/16400", 99, undefined],
  ["another one, where its cluster is another", true, here, "7002/00000001/5/16400", 99, undefined],
  ["another one, where its table was made anew", true, here, "7001/00000001/5/17000", 99, undefined],
  ["another one, where it is a copy", true, here, "7001/00000001/6/16400", 99, undefined],
  ["compared by its table where the server shows no more", false, here, hidden, 99, undefined],
  ["another one, where its table is another in a hidden cluster", true, hidden, "//5/17000", 99, undefined],
  ["the same where its cluster is shown since now", false, hidden, here, 99, undefined],
  ["the same where its identity was never stored", false, null, here, 99, undefined],
  ["the same where no worker was ever seen in it", false, null, here, null, undefined],
  ["another one, where a worker is not seen in it any more", true, here, here, null, 50],
  ["another one, where a worker was seen earlier than is known", true, null, null, 49, 50],
  ["the same where a worker was seen when it is known", false, here, here, 50, 50]
])("a database is %s", (_, moved, identity, now, seenAt, lastSeen) => {
  assert.strictEqual(isMoved({ identity, seenAt }, now, lastSeen), moved)
})

it("an identity keeps the parts that the server does not show any more", () => {
  assert.strictEqual(mergedIdentity(here, "//5/16401"), "7001/00000001/5/16401")
  assert.strictEqual(mergedIdentity(null, "//5/16401"), "//5/16401")
  assert.isNull(mergedIdentity(null, null))
})
