/** The contract of what holds a payout back (its account, the cap, an approval, a run), asked of SQLite and of PostgreSQL. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { IdempotencyKey, Money } from "effect-pix"
import { PayoutInsert } from "effect-pix/payouts"
import { database } from "../../src/durable/Database.ts"
import { makeStore } from "../../src/payouts/internal/queue/store.ts"
import { ask, fast, prepare } from "../support/databasePayouts.ts"
import { linesOf, payout, payouts, startWorker, stateOf } from "../support/payoutQueue.ts"

ask("a request is marked only where its account, its approval and its run allow it", function* () {
  const { mark, queue, rowOf, set, sql, store } = yield* prepare
  const tried = IdempotencyKey.fromReference("payout", "as the one that is tried")
  const allowed: Record<string, readonly [payout: string, account: string, isMarked: boolean]> = {
    "in an account that allows it": ["", "", true],
    "in a paused account": ["", "paused = TRUE", false],
    "where the service refuses all": ["", "blocked_at = 1", false],
    "as the one that is tried": ["", `blocked_at = 1, probe_key = '${tried}'`, true],
    "under another sender": ["", "fingerprint = 'other'", false],
    "at the limit": ["", "four_eyes_above = 1000", true],
    "above the limit": ["", "four_eyes_above = 999", false],
    "above the limit, approved": ["approved_at = 1", "four_eyes_above = 999", true],
    "above the limit, in doubt": ["may_have_left_at = 1", "four_eyes_above = 999", true],
    "of a list above the limit": ["needs_approval = TRUE", "", false],
    "of a list above the limit, approved": ["needs_approval = TRUE, approved_at = 1", "", true],
    "of a run at work": ["run_by = 'run', run_until = 9007199254740991", "", true],
    "of a run that is over": ["run_by = 'run', run_until = 1", "", false],
    "of a run that is over, in doubt": ["run_by = 'run', run_until = 1, may_have_left_at = 1", "", true]
  }
  const { session } = yield* store.accounts.get
  const marked: Record<string, boolean> = {}
  for (const [reference, [ofPayout, ofAccount]] of Object.entries(allowed)) {
    yield* queue.submit(payout(reference))
    yield* sql`UPDATE effect_pix_payout_accounts SET fingerprint = 'own', paused = ${sql.literal("FALSE")}, blocked_at = NULL, probe_key = NULL, four_eyes_above = NULL`
    if (ofPayout !== "") yield* set(reference, ofPayout)
    if (ofAccount !== "") yield* sql.unsafe(`UPDATE effect_pix_payout_accounts SET ${ofAccount}`)
    const only = yield* store.maySend((yield* rowOf(reference)).idempotencyKey, "own", session)
    marked[reference] = (yield* mark(reference, undefined, only)) !== undefined
  }
  const expected = Object.entries(allowed).map(([reference, [, , isMarked]]) => [reference, isMarked])
  assert.deepStrictEqual(marked, Object.fromEntries(expected))
})

ask("twenty marks at once together count at most the cap", function* () {
  const { mark, queue, rowOf, sql, store } = yield* prepare
  const spent = Effect.map(sql`SELECT spent AS "spent" FROM effect_pix_payout_days`, (rows) =>
    rows.map((row) => Number(row["spent"]))
  )
  yield* queue.submitMany(payouts(20))
  assert.deepStrictEqual(yield* mark("invoice-1", 999), yield* rowOf("invoice-1"))
  assert.deepStrictEqual(yield* spent, [])
  const changed = yield* Effect.forEach(payouts(20), ({ reference }) => mark(reference, 5000), { concurrency: 20 })
  const counted = changed.filter((row) => row?.countedDay)
  assert.lengthOf(counted, 5)
  assert.deepStrictEqual(yield* spent, [5000])
  for (const row of changed) assert.deepStrictEqual(row, yield* rowOf(row?.reference ?? ""))
  const [one] = counted
  assert.match(String(one?.countedDay), /^\d{4}-\d\d-\d\d$/)
  if (!one) return
  assert.lengthOf(yield* store.history(one.idempotencyKey), 1)
  const free = (version: number) =>
    store.update({ ...one, version }, { ...one, countedDay: null, version: version + 1 }, "{}", {})
  assert.isUndefined(yield* free(1))
  assert.isUndefined(yield* store.update({ ...one, version: 1 }, { ...one, sends: 2, version: 2 }, "{}", { cap: 9000 }))
  assert.deepStrictEqual(yield* spent, [5000])
  assert.isDefined(yield* free(one.version))
  assert.deepStrictEqual(yield* spent, [4000])
  assert.lengthOf(yield* store.history(one.idempotencyKey), 2)
  const { day } = (yield* store.accounts.dayAfter("2001-01-01")) ?? {}
  assert.strictEqual(day, one.countedDay)
  assert.isUndefined(yield* store.accounts.dayAfter(String(day)))
})

ask("after a refusal of all one worker at a time tries a payout", function* () {
  const {
    sql,
    store: { accounts }
  } = yield* prepare
  const steps = [
    ["begins", accounts.block("AuthError", 60_000), true],
    ["begins twice", accounts.block("Redirect", 0), false],
    ["tries before its time", accounts.takeProbe("a", 60_000), false],
    ["tries at once after a person's step", Effect.andThen(accounts.probeNow, accounts.takeProbe("a", 60_000)), true],
    ["tries beside another", Effect.andThen(accounts.probeNow, accounts.takeProbe("b", 60_000)), false],
    ["ends another's", accounts.endProbe("b", 0), false],
    ["ends its own", accounts.endProbe("a", 0), true],
    ["is the next", accounts.takeProbe("b", 0), true],
    ["takes over from one whose lease is over", accounts.takeProbe("c", 60_000), true],
    ["unblocks without the permit", accounts.unblock("b"), false],
    ["unblocks", accounts.unblock("c"), true],
    ["tries where nothing is blocked", accounts.takeProbe("c", 0), false]
  ] as const
  for (const [title, step, expected] of steps) assert.strictEqual(yield* step, expected, title)
  yield* accounts.block("AuthError", 0)
  assert.deepInclude(yield* accounts.get, { blockedBecause: "AuthError", probes: 0, probeKey: null })
  yield* sql`UPDATE effect_pix_payout_accounts SET blocked_at = 500`
  for (const [paused, at] of [
    [true, 1000],
    [true, 2000],
    [false, 4000],
    [false, 9000],
    [true, 300],
    [false, 700]
  ] as const) {
    yield* accounts.setPaused(paused, at, "{}")
  }
  assert.deepInclude(yield* accounts.get, { paused: false, pausedAt: null, pausedMillis: 3400, blockedAt: 3500 })
})

ask("an account has one sender, and changes only as two people saw it", function* () {
  const {
    store: { accounts }
  } = yield* prepare
  const other = makeStore(yield* database, { account: "other", lease: 1 }).accounts
  yield* accounts.bind("a", null)
  yield* accounts.bind("b", 2)
  assert.deepInclude(yield* accounts.get, { fingerprint: "a", companyId: null })
  yield* other.bind("c", null)
  assert.isTrue(yield* accounts.learnCompany("a", "a1", 1))
  assert.isFalse(yield* accounts.learnCompany("a1", "a2", 2))
  assert.isFalse(yield* other.learnCompany("c", "a1", 1))
  assert.deepStrictEqual([yield* other.otherOf("a1"), yield* accounts.otherOf("a1")], ["default", undefined])
  const seen = yield* accounts.get
  assert.isTrue(yield* accounts.agree({ asked: "{}" }, seen))
  assert.isFalse(yield* accounts.agree({ fourEyesAbove: null }, seen))
  const now = yield* accounts.get
  assert.isFalse(yield* accounts.agree({ fourEyesAbove: null }, { ...now, fourEyesAbove: 6000 }))
  assert.isTrue(yield* accounts.agree({ fingerprint: "d", asked: null }, now))
  assert.deepInclude(yield* accounts.get, { fingerprint: "d", companyId: null, asked: null })
  yield* accounts.serve(7, 60_000)
  yield* accounts.serve(8, 50_000)
  assert.deepInclude(yield* accounts.get, { servedAt: 7, horizon: 50_000 })
})

ask("of two people who take a step at once one is the first and one the second", function* () {
  const { queue } = yield* prepare
  yield* queue.setFourEyes(Money.centavos(5000), { by: "carla" })
  yield* queue.submitMany(payouts(5, 6000))
  const outcome = Effect.match({ onFailure: (error: { readonly _tag: string }) => error._tag, onSuccess: String })
  const together = (
    names: ReadonlyArray<string>,
    step: (by: string) => Effect.Effect<string, { readonly _tag: string }>
  ) =>
    Effect.map(
      Effect.forEach(names, (by) => outcome(step(by)), { concurrency: "unbounded" }),
      (all) => all.toSorted()
    )
  for (const { reference } of payouts(5)) {
    const resume = (by: string) => Effect.map(queue.resume(reference, { by }), ({ state }) => state)
    assert.deepStrictEqual(yield* together(["ana", "ANA"], resume), ["PayoutStateConflict", "parked"])
    yield* queue.park(reference)
    assert.deepStrictEqual(yield* together(["ana", "bia"], resume), ["accepted", "parked"])
  }
  const limit = (by: string) => queue.setFourEyes(Money.centavos(8000), { by })
  assert.deepStrictEqual(yield* together(["ana", "bia"], limit), ["Asked", "Changed"])
  const two = (by: string) => queue.setFourEyes(Money.centavos(by === "ana" ? 6000 : 7000), { by })
  assert.deepStrictEqual(yield* together(["ana", "bia"], two), ["Asked", "Asked"])
  assert.strictEqual((yield* queue.account).fourEyesAbove, 8000)
})

ask("a list above the limit is parked by its insert, with an entry", function* (dialect) {
  const { queue, rowOf, sql } = yield* prepare
  yield* queue.setFourEyes(Money.centavos(5000), { by: "carla" })
  yield* queue.submitMany([payout("a", 2500), payout("b", 2500), payout("a", 2500)])
  yield* queue.submitMany([payout("c", 2501), payout("d", 2500)])
  for (const [reference, state] of Object.entries({
    a: "accepted",
    c: "parked NeedsApproval",
    d: "parked NeedsApproval"
  }))
    assert.strictEqual(yield* stateOf(queue, reference), state)
  assert.deepStrictEqual(yield* linesOf(queue, "c"), ["Submitted > accepted", "Parked NeedsApproval > parked"])
  assert.isTrue((yield* rowOf("d")).needsApproval)
  const { parameters, text } = yield* Effect.fromResult(PayoutInsert.make(payout("e", 5001), { dialect }))
  yield* sql.unsafe(text, parameters)
  yield* startWorker(fast)
  assert.deepInclude(yield* queue.await("e"), { state: "parked", because: "NeedsApproval" })
})

ask("the lease of a run is renewed while it lasts, and never begun again", function* (dialect) {
  const { queue, referencesOf, set, store } = yield* prepare
  yield* queue.submitMany(payouts(5))
  for (const [index, run] of [
    "run_by = 'run', run_until = 0",
    "run_by = 'run', run_until = 9007199254740991",
    "run_by = 'run', run_until = 5",
    "run_by = 'other', run_until = 0"
  ].entries())
    yield* set(`invoice-${index + 1}`, run)
  yield* store.renewRun("run", 60_000)
  const renewed = yield* referencesOf("run_until > 5 AND run_until < 9007199254740991")
  assert.deepStrictEqual(renewed, ["invoice-1", "invoice-2"])
  assert.deepStrictEqual(yield* referencesOf(yield* store.isRunOver), ["invoice-3", "invoice-4"])
  yield* store.endRun("run")
  yield* store.renewRun("run", 60_000)
  assert.deepStrictEqual(yield* referencesOf("run_until = -1"), ["invoice-1", "invoice-2", "invoice-3"])
  yield* store.endLeftRuns
  assert.lengthOf(yield* referencesOf("run_until = 0"), dialect === "sqlite" ? 4 : 1)
})
