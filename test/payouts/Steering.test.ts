/** What a person may do with a payout, by what is known of it: every step from every state. */
import { assert } from "@effect/vitest"
import { Effect, Option, Struct } from "effect"
import { InvalidRequest } from "effect-pix"
import type { PayoutQueue } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { payout, startClient, storedRefusal, world } from "../support/payoutQueue.ts"
import { storeOf, type StoredRow } from "../support/payoutStore.ts"
import { linesOf } from "../support/payoutSeen.ts"

const hour = 3_600_000
/** The time of each step, and the horizon of the account. */
const now = 20 * hour
const horizon = 12 * hour
const lost = JSON.stringify({
  ...JSON.parse(storedRefusal),
  _tag: "OutcomeUnknown",
  outcome: "Unknown",
  reason: "Timeout"
})
const counted = "waits_since = 1, counted_day = '1970-01-01', fingerprint = 'own'"
const full = `because = 'DailyCap', ${counted}`
const parkedAfter = (because: string, leftAt: number) =>
  `state = 'parked', because = '${because}', error = '${lost}', ${counted}, sends = 1, may_have_left_at = ${leftAt}`

/** Payouts in every state, as SQL. */
const payoutsOf = {
  accepted: full,
  underWay: `state = 'unknown', ${full}, sends = 1, may_have_left_at = 1, under_way_until = ${now + 1}`,
  unknown: `state = 'unknown', error = '${lost}', ${full}, sends = 1, may_have_left_at = 1`,
  posted: "state = 'posted', withdrawal_id = 7",
  paid: "state = 'paid'",
  failed: "state = 'failed'",
  returned: "state = 'returned', ended_by = 'lookup', ended_at = 1",
  cancelled: "state = 'cancelled'",
  refused: `state = 'refused', error = '${storedRefusal}', ${full}`,
  forgotten: `state = 'refused', error = '${storedRefusal}', request = NULL`,
  parked: `state = 'parked', because = 'OverCap', error = '${storedRefusal}', ${counted}`,
  lost: parkedAfter("Operator", now - horizon + 1),
  lostLongAgo: `${parkedAfter("PastHorizon", now - horizon - 1)}, under_way_until = ${now}`,
  lostElsewhere: parkedAfter("OtherClientId", now - 1),
  lostUnreadable: parkedAfter("Unreadable", now - 1),
  parkedUnderWay: `state = 'parked', because = 'Operator', under_way_until = ${now + 1}, sends = 1, may_have_left_at = 1`,
  scheduled: `not_before = ${now + hour}, because = 'NotBefore', waits_since = 1`,
  cleared: "sends = 1",
  parkedDeleted: "state = 'parked', because = 'Operator', request = NULL"
}
type Of = keyof typeof payoutsOf

const by = "ana"
const isElsewhere: ReadonlyArray<Of> = ["lostElsewhere", "lostUnreadable"]
const isParked: ReadonlyArray<Of> = ["parked", "lost", "lostLongAgo", ...isElsewhere, "parkedUnderWay", "parkedDeleted"]
const isOpen: ReadonlyArray<Of> = ["accepted", "underWay", "unknown", "scheduled", "cleared"]
const isRecorded: ReadonlyArray<Of> = ["posted", "paid", "failed", "returned"]
const isOver: ReadonlyArray<Of> = [...isRecorded, "cancelled"]
const isNotParked: ReadonlyArray<Of> = [...isOpen, ...isOver, "refused", "forgotten"]
const wanted = `wantedAt=${now}`
const idle = "-because -waitsSince"

type Take = (queue: PayoutQueue["Service"], reference: string) => Effect.Effect<unknown, { readonly _tag: string }>
const takes: Array<Take> = []

/** What a step changed: another state, the fields that it cleared, and those that it set. */
const changesOf = (before: StoredRow, after: StoredRow) => {
  const changed = Struct.keys(after).filter(
    (field) => after[field] !== before[field] && !["updatedAt", "version"].includes(field)
  )
  return changed.map((field) => (after[field] === null ? `-${field}` : `${field}=${after[field]}`)).join(" ")
}

/** The entry of a step and what it changes, or the first words of why it changes nothing, with the payouts of which that is so. */
const test = (title: string, take: Take, expected: Readonly<Record<string, ReadonlyArray<Of>>>) => {
  takes.push(take)
  effect(title, world, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* TestClock.adjust(now)
    const queue = yield* startClient()
    const store = yield* storeOf()
    yield* store.accounts.serve(horizon)
    const outcomes: Record<string, string> = {}
    for (const [reference, set] of Object.entries(payoutsOf)) {
      const { idempotencyKey } = yield* queue.submit(payout(reference))
      const row = Effect.flatMap(store.get(idempotencyKey), Effect.fromNullishOr)
      yield* sql.unsafe(
        `UPDATE effect_pix_payouts SET wanted_at = ${now - hour}, ${set} WHERE reference = '${reference}'`
      )
      const before = yield* row
      const problem = yield* Effect.match(take(queue, reference), {
        onSuccess: () => "nothing",
        onFailure: (error) => ("problem" in error ? String(error.problem).split(" ").slice(0, 4).join(" ") : error._tag)
      })
      const [after, [, entry]] = [yield* row, yield* linesOf(queue, reference)]
      if (entry === undefined) assert.deepStrictEqual(after, before, reference)
      else assert.include(entry, " by ana")
      outcomes[reference] = entry === undefined ? problem : `${entry.split(" ")[0]} ${changesOf(before, after)}`
    }
    const all = Object.entries(expected).flatMap(([outcome, of]) => of.map((reference) => [reference, outcome]))
    assert.deepStrictEqual(outcomes, Object.fromEntries(all))
  })
}

test("retry sends again what is open or was refused, and nothing else", (queue, of) => queue.retry(of, { by }), {
  "It was recorded, settled": isOver,
  "Resume it when you": isParked,
  "Its request was deleted,": ["forgotten"],
  [`Retried ${wanted} ${idle}`]: ["accepted"],
  [`Retried ${wanted}`]: ["cleared"],
  // Its time is that of its item.
  [`Retried wantedAt=${now + hour} waitsSince=${now}`]: ["scheduled"],
  // What is in doubt is wanted since its first request.
  [`Retried ${idle}`]: ["underWay", "unknown"],
  [`Retried state=accepted -fingerprint ${wanted} ${idle} -countedDay -error`]: ["refused"]
})

test("park stops all that is not over", (queue, of) => queue.park(of, { by }), {
  "It was recorded, settled": isOver,
  [`Parked state=parked because=Operator -waitsSince`]: ["accepted", "underWay", "unknown", "refused", "scheduled"],
  [`Parked because=Operator -waitsSince`]: ["parked", "lostLongAgo", ...isElsewhere],
  "Parked -waitsSince": ["lost"],
  "Parked state=parked because=Operator": ["forgotten", "cleared"],
  "Parked ": ["parkedUnderWay", "parkedDeleted"]
})

test("resume sends what is parked, but not what left long ago", (queue, of) => queue.resume(of, { by }), {
  "Only a parked payout": isNotParked,
  "Its request was deleted,": ["parkedDeleted"],
  "A request left longer": ["lostLongAgo", "parkedUnderWay"],
  [`Resumed state=accepted ${wanted} ${idle}`]: ["parked"],
  [`Resumed state=unknown ${idle}`]: ["lost", ...isElsewhere]
})

const told = (as: string) => `endedAs=${as} endedBy=person endedAt=${now}`
const isClean: ReadonlyArray<Of> = ["accepted", "refused", "forgotten", "scheduled", "cleared", "cancelled"]
test(
  "settle as paid ends what is in doubt, parked or recorded, but not what is under way",
  (queue, of) => queue.settle(of, { by, as: "paid" }),
  {
    "If you know how": isClean,
    "A request of it": ["underWay", "parkedUnderWay"],
    [`Settled ${told("paid")}`]: ["paid"],
    [`Settled state=paid ${told("paid")}`]: ["posted", "failed", "returned"],
    [`Settled state=paid -mayHaveLeftAt ${idle} ${told("paid")} -error`]: ["unknown", "lost", ...isElsewhere],
    [`Settled state=paid ${idle} ${told("paid")} -error`]: ["parked"],
    [`Settled state=paid -mayHaveLeftAt -underWayUntil ${idle} ${told("paid")} -error`]: ["lostLongAgo"],
    [`Settled state=paid -because ${told("paid")}`]: ["parkedDeleted"]
  }
)

for (const as of ["failed", "returned"] as const) {
  const other = as === "failed" ? "returned" : "failed"
  test(
    `settle as ${as} ends what is parked or recorded, but never while a request may be under way`,
    (queue, of) => queue.settle(of, { by, as }),
    {
      "If you know how": isClean,
      "A request of it": ["underWay", "parkedUnderWay"],
      "It is asked again.": ["unknown"],
      [`Settled ${told(as)}`]: [as],
      [`Settled state=${as} ${told(as)}`]: ["posted", "paid", other],
      [`Settled state=${as} ${idle} ${told(as)} -error`]: ["parked"],
      [`Settled state=${as} -mayHaveLeftAt ${idle} ${told(as)} -error`]: ["lost", ...isElsewhere],
      [`Settled state=${as} -mayHaveLeftAt -underWayUntil ${idle} ${told(as)} -error`]: ["lostLongAgo"],
      [`Settled state=${as} -because ${told(as)}`]: ["parkedDeleted"]
    }
  )
}

test("forget deletes the request of what has ended, once", (queue, of) => queue.forget(of, { by }), {
  "It may still be": isOpen,
  "It waits for a": isParked,
  "Forgotten -request": [...isOver, "refused"],
  nothing: ["forgotten"]
})

test("cancel ends what cannot have left, and nothing else", (queue, of) => queue.cancel(of, { by }), {
  "It was recorded, settled": [...isRecorded],
  "A request of it": ["underWay", "unknown", "lost", "lostLongAgo", ...isElsewhere, "parkedUnderWay"],
  nothing: ["cancelled"],
  [`Cancelled state=cancelled ${idle}`]: ["scheduled"],
  "Cancelled state=cancelled": ["cleared"],
  [`Cancelled state=cancelled -fingerprint ${idle} -countedDay`]: ["accepted"],
  [`Cancelled state=cancelled -fingerprint ${idle} -countedDay -error`]: ["refused", "parked"],
  "Cancelled state=cancelled -error": ["forgotten"],
  "Cancelled state=cancelled -because": ["parkedDeleted"]
})

effect("a step with a wrong reference, person or reason changes nothing, and says what is wrong", world, function* () {
  const queue = yield* startClient()
  yield* queue.submit(payout("a"))
  // A caller without types may give anything.
  const wrong: ReadonlyArray<readonly [options: object, paths: string]> = [
    [{ by: "x".repeat(101) }, "by"],
    [{ by: " ", note: "x".repeat(1001) }, "by note"],
    [{ by: "\u200b\u2060" }, "by"],
    [{ note: 7 }, "note"]
  ]
  for (const [options, paths] of wrong) {
    for (const step of [queue.park("a", options), queue.setPaused(true, options)]) {
      const error = yield* Effect.flip(step)
      assert(error instanceof InvalidRequest)
      assert.strictEqual(error.issues.map(({ path }) => path).join(" "), paths)
    }
  }
  assert.isFalse(yield* queue.isPaused)
  const longest = { by: "x".repeat(100), note: "ç\u0000\ud800".repeat(333) }
  yield* queue.park("a", longest)
  assert.deepInclude((yield* queue.history("a"))[1], longest)
  for (const reference of ["nobody's", " ", 42 as unknown as string]) {
    assert.isTrue(Option.isNone(yield* queue.status(reference)))
    assert.deepStrictEqual(yield* queue.history(reference), [])
    for (const step of takes) assert.strictEqual((yield* Effect.flip(step(queue, reference)))._tag, "PayoutNotFound")
  }
})
