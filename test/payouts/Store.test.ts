/**
 * The contract of the stored payouts, asked of SQLite and of PostgreSQL: the rows, and what holds one back (its account, the cap, an
 * approval).
 */
import { assert } from "@effect/vitest"
import { Clock, Effect, Layer, type Scope, Stream } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { databases } from "../support/database.ts"
import { numberOf, seenWorld, startConfirming } from "../support/confirming.ts"
import { live } from "../support/effect.ts"
import { refused } from "../support/payoutAnswers.ts"
import { wrongClock } from "../support/exported.ts"
import { gatewayOnce, makeWarnings, payout, payouts, startClient, startWorker } from "../support/payoutQueue.ts"
import { storeOf } from "../support/payoutStore.ts"
import { makeStatements } from "../support/statements.ts"

type Base = Layer.Success<typeof gatewayOnce> | SqlClient.SqlClient
type Dialect = (typeof databases)[number]["dialect"]

/** Asks one question of each database. */
const ask = (
  title: string,
  body: (dialect: Dialect) => Generator<Effect.Effect<unknown, unknown, Base | Scope.Scope>, unknown, never>
) => {
  for (const { client, dialect, name, skip } of databases) {
    const layer: Layer.Layer<Base, unknown> = Layer.merge(client(), gatewayOnce)
    live.skipIf(skip)(`${title}, on ${name}`, layer, () => body(dialect))
  }
}

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

/** The tables, and what reads and writes them. */
const prepare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* startClient()
  const store = yield* storeOf()
  const selected = (column: "idempotency_key" | "reference", where: Fragment) =>
    Effect.map(
      sql<{
        readonly found: string
      }>`SELECT ${sql(column)} AS "found" FROM effect_pix_payouts WHERE ${where} ORDER BY 1`,
      (rows) => rows.map(({ found }) => found)
    )
  const referencesOf = (where: string | Fragment) =>
    selected("reference", typeof where === "string" ? sql.literal(where) : where)
  const rowOf = (reference: string) =>
    selected("idempotency_key", sql`reference = ${reference}`).pipe(
      Effect.flatMap(([key = ""]) => store.get(key)),
      Effect.flatMap(Effect.fromNullishOr)
    )
  const set = (reference: string, changes: string) =>
    sql.unsafe(`UPDATE effect_pix_payouts SET ${changes} WHERE reference = '${reference}'`)
  /** Changes the row as the mark of a request does. */
  const mark = Effect.fnUntraced(function* (reference: string, cap?: number, where?: Fragment) {
    const row = yield* rowOf(reference)
    return yield* store.update(row, { ...row, sends: row.sends + 1, version: row.version + 1 }, "{}", { cap, where })
  })
  return { mark, queue, referencesOf, rowOf, set, sql, store }
})

ask("a payout is accepted in the caller's own transaction, or not at all", function* () {
  const { queue, referencesOf, sql } = yield* prepare
  yield* sql`CREATE TABLE invoices (id VARCHAR(20))`
  const bill = (id: string) => Effect.andThen(sql`INSERT INTO invoices VALUES (${id})`, queue.submit(payout(id)))
  yield* Effect.flip(sql.withTransaction(Effect.andThen(bill("undone"), Effect.fail("no"))))
  yield* sql.withTransaction(bill("done"))
  const other = yield* Effect.provide(
    SqlClient.SqlClient,
    yield* Layer.build(Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })))
  )
  assert.strictEqual(yield* tagOf(other.withTransaction(queue.submit(payout("foreign")))), "ForeignTransaction")
  assert.lengthOf(yield* sql`SELECT * FROM invoices`, 1)
  assert.deepStrictEqual(yield* referencesOf("TRUE"), ["done"])
  assert.deepStrictEqual(yield* queue.history("undone"), [])
})

ask("a reference that is submitted ten times at once is one payout", function* () {
  const { queue } = yield* prepare
  const all = yield* Effect.all(
    Array.from({ length: 10 }, () => queue.submit(payout("invoice-1"))),
    { concurrency: "unbounded" }
  )
  assert.strictEqual(new Set(all.map(({ idempotencyKey }) => idempotencyKey)).size, 1)
  assert.strictEqual(yield* Stream.runCount(queue.list()), 1)
  const conflict = yield* Effect.flip(queue.submit({ ...payout("invoice-1", 2000), description: "another" }))
  assert.deepInclude(conflict, { _tag: "ReferenceConflict", differs: ["amount", "content"] })
})

ask("a payout that waits is taken by one worker at a time, the oldest first", function* () {
  const { queue, referencesOf, rowOf, set, store } = yield* prepare
  yield* queue.submitMany(payouts(5))
  for (const { reference } of payouts(5)) yield* set(reference, `due_at = ${reference.at(-1)}`)
  yield* set("invoice-5", "state = 'parked'")
  const take = (taker: string, most = 20) => store.due.take(taker, 30_000, most)
  assert.lengthOf(yield* take("one", 2), 2)
  assert.deepStrictEqual(yield* referencesOf("taken_by = 'one'"), ["invoice-1", "invoice-2"])
  assert.lengthOf(yield* take("two"), 2)
  assert.lengthOf(yield* take("three"), 0)
  const { idempotencyKey: key } = yield* rowOf("invoice-1")
  yield* store.due.giveBack({ key, taker: "two" }, 0)
  yield* store.due.renew([{ key, taker: "two" }], 0)
  assert.lengthOf(yield* take("three"), 0)
  yield* store.due.giveBack({ key, taker: "one" }, 0)
  assert.strictEqual(yield* store.due.untilNext, 0)
  assert.lengthOf(yield* take("three"), 1)
  yield* store.due.renew([{ key, taker: "three" }], 0)
  const [again] = yield* take("four")
  assert.deepInclude(yield* store.readTaken(again), { reference: "invoice-1", amount: 1000 })
})

ask("what has a record is looked up when it is due, by one worker, and found by its number", function* () {
  const { queue, referencesOf, rowOf, set, store } = yield* prepare
  yield* queue.submitMany(payouts(6))
  for (const [reference, changes] of [
    ["invoice-1", "state = 'posted', lookups = 0, withdrawal_id = 1, due_at = 2"],
    ["invoice-2", "state = 'paid', lookups = 1, withdrawal_id = 2, due_at = 1, ended_as = 'returned'"],
    ["invoice-3", "state = 'posted', lookups = 0, withdrawal_id = 3, due_at = due_at + 60000, ended_as = 'failed'"],
    ["invoice-4", "state = 'posted', withdrawal_id = 4"],
    ["invoice-5", "state = 'posted', lookups = 0, withdrawal_id = 4, due_at = due_at + 60000"]
  ] as const)
    yield* set(reference, changes)
  const take = (taker: string) => store.lookups.take(taker, 30_000, 1)
  for (const taker of ["one", "two", "three"]) yield* take(taker)
  assert.deepStrictEqual(yield* referencesOf("taken_by IN ('one', 'two', 'three')"), ["invoice-1", "invoice-2"])
  assert.deepStrictEqual(yield* referencesOf("taken_by = 'one'"), ["invoice-2"])
  assert.lengthOf(yield* store.due.take("sender", 30_000, 20), 1)
  const row = yield* rowOf("invoice-1")
  const to = { ...row, lookups: 1, version: row.version + 1 }
  assert.isDefined(yield* store.update(row, to, undefined, { dueIn: 0 }))
  assert.isUndefined(yield* store.update(row, to, undefined, { dueIn: 0 }))
  assert.lengthOf(yield* take("one"), 1)
  const found = yield* Effect.forEach([1, 4, 99], (id) => store.ofWithdrawal(id))
  assert.deepStrictEqual(
    found.map((one) => one?.reference),
    ["invoice-1", undefined, undefined]
  )
  const listed = yield* Effect.forEach([true, false], (toCheck) =>
    Effect.map(store.list({ toCheck }, { at: -1, key: "" }, 9), (rows) => rows.length)
  )
  // Two are claimed to have ended otherwise, and one is not looked up any more.
  assert.deepStrictEqual(listed, [3, 3])
})

ask("lookups have turns, five a second, which give way to sends", function* () {
  const { queue, sql, store } = yield* prepare
  const set = (changes: string) => sql.unsafe(`UPDATE effect_pix_payout_accounts SET ${changes}`)
  yield* set("fingerprint = NULL")
  const take = Effect.gen(function* () {
    const sends = yield* store.findDue
    const account = yield* store.accounts.get
    return (yield* yield* store.accounts.lookupTurn(account, sends, store.anyRow)).length === 1
  })
  assert.isTrue(yield* take)
  const { lookupAt, readAt } = yield* store.accounts.get
  assert.isAtMost(lookupAt ?? 0, readAt + 200)
  // A clock that was ahead.
  yield* set("lookup_at = 9000000000000000")
  assert.isTrue(yield* take)
  // With a pace it is one of the account's requests, and sends go before it.
  const now = (yield* store.accounts.get).readAt
  yield* set("lookup_at = 0, pace_most = 1, pace_per = 60000")
  yield* queue.submit(payout("due"))
  assert.isFalse(yield* take)
  yield* sql`UPDATE effect_pix_payouts SET due_at = ${now + 3_600_000}`
  assert.isTrue(yield* take)
  assert.isAbove((yield* store.accounts.get).nextAt ?? 0, now + 50_000)
  yield* set("lookup_at = 0")
  assert.isFalse(yield* take)
})

ask("payouts are read in their order by state, key, amount and cause", function* () {
  const day = (yield* Clock.currentTimeMillis) + 86_400_000
  const { queue, rowOf, set, store } = yield* prepare
  yield* queue.submitMany([...payouts(4), payout("other", 2000)])
  for (const [reference, at, changes] of [
    ["invoice-1", 3, `because = 'DailyCap', due_at = ${day}`],
    ["invoice-2", 2, "state = 'failed'"],
    ["invoice-3", 1, "state = 'posted'"],
    ["invoice-4", 1, "state = 'parked', because = 'Operator'"],
    ["other", 4, "state = 'cancelled'"]
  ] as const) {
    yield* set(reference, `submitted_at = ${at}, updated_at = ${at}, ${changes}`)
  }
  const names = (rows: ReadonlyArray<{ readonly reference: string }>) => rows.map(({ reference }) => reference)
  const first = yield* store.list({}, { at: -1, key: "" }, 3)
  assert.deepStrictEqual(names(first.slice(0, 2)).toSorted(), ["invoice-3", "invoice-4"])
  assert.strictEqual(first[2]?.reference, "invoice-2")
  const [one, two] = first
  const second = yield* store.list({}, { at: 1, key: one?.idempotencyKey ?? "" }, 1)
  assert.strictEqual(second[0]?.reference, two?.reference)
  assert.deepStrictEqual(names(yield* store.list({ state: "posted" }, { at: -1, key: "" }, 9)), ["invoice-3"])
  assert.deepStrictEqual(names(yield* store.ofAmount(1000, 1)).toSorted(), ["invoice-1", "invoice-3", "invoice-4"])
  assert.deepStrictEqual(names(yield* store.ofAmount(1000, 2)), ["invoice-1"])
  const keys = yield* Effect.forEach(["invoice-1", "invoice-2"], (reference) =>
    Effect.map(rowOf(reference), ({ idempotencyKey }) => idempotencyKey)
  )
  assert.deepStrictEqual(yield* store.open([...keys, "none"]), [keys[0]])
  assert.deepStrictEqual(names(yield* store.find([...keys, "none"])).toSorted(), ["invoice-1", "invoice-2"])
  const counts = (yield* store.counts(0, 0)).map((count) => Object.values(count).join(" ")).toSorted()
  assert.deepStrictEqual(counts, [
    "ToCheck posted Unconfirmed  1 1 1000",
    `Waits accepted DailyCap  1 ${day} 1000`,
    "Waits parked Operator  1 1 1000"
  ])
})

const triggers = {
  sqlite: [
    "CREATE TRIGGER refuses BEFORE UPDATE ON effect_pix_payouts WHEN NEW.reference = 'invoice-2' BEGIN SELECT RAISE(ABORT, 'maria@example.com'); END"
  ],
  pg: [
    `CREATE FUNCTION refuses() RETURNS TRIGGER LANGUAGE plpgsql AS $$
      BEGIN IF NEW.reference = 'invoice-2' THEN RAISE EXCEPTION 'maria@example.com'; END IF; RETURN NEW; END $$`,
    "CREATE TRIGGER row_refused BEFORE UPDATE ON effect_pix_payouts FOR EACH ROW EXECUTE FUNCTION refuses()"
  ]
} as const
const limits = {
  sqlite: triggers.sqlite,
  pg: [
    "ALTER TABLE effect_pix_payouts ADD CONSTRAINT refuses CHECK (reference <> 'invoice-2' OR taken_by IS NULL) NOT VALID"
  ]
} as const
for (const [kind, statements] of Object.entries({ "a trigger": triggers, "a constraint": limits }))
  ask(
    `a row that ${kind} refuses is left out of takes for a minute, and its line names it and what refuses it`,
    function* (dialect) {
      const { queue, referencesOf, set, sql, store } = yield* prepare
      yield* queue.submitMany(payouts(4))
      for (const { reference } of payouts(4)) yield* set(reference, `due_at = ${reference.at(-1)}`)
      for (const text of statements[dialect]) yield* sql.unsafe(text)
      const { layer, lines } = makeWarnings()
      const isTaken = { turn: (found: Fragment) => Effect.succeed(sql`SELECT 1 WHERE EXISTS (${found})`) }
      const take = (most: number, how?: typeof isTaken) =>
        Effect.provide(
          Effect.map(store.due.take("one", 30_000, most, how), ({ length }) => length),
          layer
        )
      assert.deepStrictEqual([yield* take(3), yield* take(1, isTaken), yield* take(2)], [2, 1, 0])
      assert.deepStrictEqual(yield* referencesOf("taken_by IS NULL"), ["invoice-2"])
      const until = yield* store.due.untilNext
      assert.isTrue(until > 10_000 && until < 60_001, `${until}`)
      const clock = yield* Clock.Clock
      const later = Object.assign(wrongClock(clock, { ahead: 0 }), {
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + 61_000_000_000n
      })
      assert.strictEqual(yield* Effect.provideService(take(2), Clock.Clock, later), 0)
      assert.lengthOf(lines, 2)
      for (const line of lines) assert.match(line, /1 row\(s\) of effect_pix_payouts, as invoice-2 \(\w+ refuses\)/)
    }
  )

ask("the table refuses a row that could not be listed or sent", function* () {
  const { sql } = yield* prepare
  const insert = (key: string, amount: string, more = "request") =>
    tagOf(
      sql.unsafe(
        `INSERT INTO effect_pix_payouts (idempotency_key, reference, amount, ${more}) VALUES ('${key}', 'x', ${amount}, '9007199254740991')`
      )
    )
  for (const amount of ["0", "-1", "9007199254740992", "NULL"])
    assert.strictEqual(yield* insert("k", amount), "SqlError", amount)
  assert.strictEqual(yield* insert("k".repeat(65), "1000"), "SqlError")
  for (const column of ["state", "submitted_at", "updated_at"])
    assert.strictEqual(yield* insert("k", "1000", column), "SqlError", column)
})

ask("a payout costs one statement to submit and two writes to send", function* (dialect) {
  const { layer: counting, texts } = makeStatements()
  /** The statements so far, but for takes and renewals, which are of many payouts. */
  const counted = () => {
    const isOfMany = (text: string) =>
      text.startsWith('UPDATE "effect_pix_payouts" SET due_at') && !/version/.test(text)
    const own = texts.splice(0).filter((text) => !isOfMany(text))
    const isRead = (text: string) => text.startsWith("SELECT")
    return { reads: own.filter(isRead).length, writes: own.filter((text) => !isRead(text)).length }
  }
  const { queue } = yield* prepare
  yield* Effect.provide(Effect.forEach(payouts(50), queue.submit), counting)
  assert.deepStrictEqual(counted(), { reads: 0, writes: 50 })
  yield* (yield* Sandbox).fault("requestWithdrawal", refused)
  yield* Effect.provide(startWorker({ poll: "1 hour", dailyCap: 120_000 }), counting)
  yield* Effect.forEach(payouts(50), ({ reference }) => queue.await(reference))
  const { reads, writes } = counted()
  // A worker that begins writes its account.
  assert.strictEqual(Math.floor(writes / 50), dialect === "pg" ? 2 : 5)
  assert.isBelow(reads, 50)
})

ask("a request is marked only where its account and its run allow it", function* () {
  const { mark, queue, set, sql, store } = yield* prepare
  const hour = 3_600_000
  const now = yield* Clock.currentTimeMillis
  const allowed: Record<string, readonly [payout: string, account: string, isMarked: boolean]> = {
    "in an account that allows it": ["", "", true],
    "in a paused account": ["", "paused = TRUE", false],
    "that was taken before the service refused the account": ["", "refusals = 1", false],
    "without a turn, before the account's time": ["", `next_at = ${now + hour}, set_at = ${now}`, false],
    "without a turn, of an account with a pace": ["", "pace_most = 1, pace_per = 1000", false],
    "before a time that was set later than now": ["", `next_at = ${now + 9 * hour}, set_at = ${now + 8 * hour}`, true],
    "under another cap": ["", "daily_cap = 1", false],
    "under another sender": ["", "fingerprint = 'other'", false],
    "wanted for an hour": [`wanted_at = ${now - hour + 60_000}`, "", true],
    "wanted for longer": [`wanted_at = ${now - hour - 60_000}`, "", false],
    "wanted in an hour": [`wanted_at = ${now + hour - 60_000}`, "", true],
    "wanted later": [`wanted_at = ${now + hour + 60_000}`, "", false],
    "wanted for longer, and not in doubt for the cap": [
      `wanted_at = ${now - 2 * hour}, because = 'DailyCap', waits_since = ${now - 90 * 60_000}`,
      "",
      true
    ],
    "wanted for longer, and in doubt before it waited for the cap": [
      `wanted_at = ${now - 2 * hour}, because = 'DailyCap', waits_since = ${now - 90 * 60_000}, may_have_left_at = ${now - 60_000}`,
      "",
      false
    ],
    "wanted for longer, while no worker was seen for the cap": [
      `wanted_at = ${now - 3 * hour}, because = 'DailyCap', waits_since = ${now - 3 * hour}`,
      `served_at = ${now - 60_000}`,
      false
    ],
    "wanted for longer, while its worker was suspended": [
      `wanted_at = ${now - 3 * hour}, because = 'DailyCap', waits_since = ${now - 3 * hour}`,
      `seen_at = ${now - 2 * hour}`,
      false
    ],
    "in doubt for longer": [`may_have_left_at = ${now - hour - 60_000}`, "", false]
  }
  const account = yield* store.accounts.get
  const marked: Record<string, boolean> = {}
  for (const [reference, [ofPayout, ofAccount]] of Object.entries(allowed)) {
    yield* queue.submit(payout(reference))
    yield* sql`UPDATE effect_pix_payout_accounts SET fingerprint = 'own', paused = ${sql.literal("FALSE")}, refusals = 0, next_at = NULL, pace_most = NULL, pace_per = NULL, daily_cap = NULL, served_at = 0, seen_at = ${now}, horizon = ${hour}`
    if (ofPayout !== "") yield* set(reference, ofPayout)
    if (ofAccount !== "") yield* sql.unsafe(`UPDATE effect_pix_payout_accounts SET ${ofAccount}`)
    const only = yield* store.accounts.allows(account, "own", hour, false)
    marked[reference] = (yield* mark(reference, undefined, only)) !== undefined
  }
  const expected = Object.entries(allowed).map(([reference, [, , isMarked]]) => [reference, isMarked])
  assert.deepStrictEqual(marked, Object.fromEntries(expected))
})

ask("twenty marks at once together count at most the cap", function* () {
  const { mark, queue, rowOf, sql, store } = yield* prepare
  const spent = Effect.map(sql`SELECT spent AS "spent" FROM effect_pix_payout_days`, ([row]) => Number(row?.["spent"]))
  yield* queue.submitMany(payouts(20))
  assert.strictEqual(yield* mark("invoice-1", 999), "Capped")
  assert.isNaN(yield* spent)
  const changed = yield* Effect.forEach(payouts(20), ({ reference }) => mark(reference, 5000), { concurrency: 20 })
  const counted = changed.filter((row) => typeof row === "object")
  assert.deepStrictEqual(
    changed.filter((row) => typeof row !== "object"),
    Array(15).fill("Capped")
  )
  assert.lengthOf(counted, 5)
  assert.strictEqual(yield* spent, 5000)
  for (const row of counted) assert.deepStrictEqual(row, yield* rowOf(row.reference))
  const [one] = counted
  assert.match(String(one?.countedDay), /^\d{4}-\d\d-\d\d$/)
  if (!one) return
  assert.lengthOf(yield* store.history(one.idempotencyKey), 1)
  const free = (version: number) =>
    store.update({ ...one, version }, { ...one, countedDay: null, version: version + 1 }, "{}", {})
  assert.isUndefined(yield* free(1))
  assert.isUndefined(yield* store.update({ ...one, version: 1 }, { ...one, sends: 2, version: 2 }, "{}", { cap: 9000 }))
  assert.strictEqual(yield* spent, 5000)
  assert.isDefined(yield* free(one.version))
  assert.strictEqual(yield* spent, 4000)
  assert.lengthOf(yield* store.history(one.idempotencyKey), 2)
})

ask("of twenty workers at once one has the turn, and takes the oldest payout that is due", function* () {
  const { queue, store, sql } = yield* prepare
  const { accounts, due } = store
  yield* queue.submitMany(payouts(40))
  yield* sql`UPDATE effect_pix_payout_accounts SET pace_most = 20, pace_per = 1000`
  const overtaken: Array<unknown> = []
  const takeAll = Effect.gen(function* () {
    const { readAt, ...read } = yield* accounts.get
    const next = { nextAt: readAt + 1, setAt: readAt }
    const take = (taker: number) =>
      due.take(`worker-${taker}`, 60_000, 1, { turn: (found) => accounts.turn({ ...read }, next, found) })
    const rows = yield* Effect.forEach(Array.from({ length: 20 }).keys(), take, { concurrency: 20 })
    const [row, ...others] = rows.flat()
    if (row === undefined) return
    assert.lengthOf(others, 0)
    const older = yield* sql`SELECT reference FROM effect_pix_payouts WHERE taken_by IS NULL
      AND due_at < (SELECT submitted_at FROM effect_pix_payouts WHERE idempotency_key = ${row.key})`
    overtaken.push(...older)
  })
  let taken = 0
  for (let turn = 0; taken < 20 && turn < 400; turn++) {
    yield* takeAll
    taken = (yield* sql`SELECT 1 FROM effect_pix_payouts WHERE taken_by IS NOT NULL`).length
  }
  assert.deepStrictEqual([taken, overtaken], [20, []])
})

ask("an answer changes the account's time as it is, whoever else changes it", function* () {
  const { store } = yield* prepare
  const { accounts } = store
  const refuse = accounts.retime((read) => ({ ...read, heldBecause: "Credentials", refusals: read.refusals + 1 }))
  yield* Effect.replicateEffect(refuse, 5, { concurrency: 5 })
  const { heldBecause, refusals } = yield* accounts.get
  assert.deepStrictEqual([heldBecause, refusals], ["Credentials", 5])
})

ask("a pause that ends was no wait of what cannot have left, while a worker was seen", function* () {
  const { queue, rowOf, set, sql, store } = yield* prepare
  const now = yield* Clock.currentTimeMillis
  const ago = (minutes: number) => now - minutes * 60_000
  const waits: Record<string, readonly [set: string, minutes: number]> = {
    "before the pause": [`wanted_at = ${ago(90)}`, 30],
    "in the pause": [`wanted_at = ${ago(20)}`, 0],
    "in doubt before": [`wanted_at = ${ago(90)}, may_have_left_at = ${ago(80)}`, 90],
    "for the cap": [`wanted_at = ${ago(90)}, because = 'DailyCap', waits_since = ${ago(80)}`, 90],
    "for a person": [`wanted_at = ${ago(90)}, state = 'parked'`, 90]
  }
  const end = Effect.fnUntraced(function* (served: string, seen = now) {
    yield* store.accounts.setPaused(true, "{}")
    for (const [reference, [text]] of Object.entries(waits)) yield* set(reference, text)
    yield* sql.unsafe(
      `UPDATE effect_pix_payout_accounts SET paused_at = ${ago(60)}, served_at = ${served}, seen_at = ${seen}, horizon = 3600000`
    )
    yield* store.accounts.setPaused(false, "{}")
    const minutes: Record<string, number> = {}
    for (const reference of Object.keys(waits))
      minutes[reference] = Math.round((now - (yield* rowOf(reference)).wantedAt) / 60_000) + 0
    return minutes
  })
  for (const reference of Object.keys(waits)) yield* queue.submit(payout(reference))
  const counted = Object.fromEntries(Object.entries(waits).map(([reference, [, minutes]]) => [reference, minutes]))
  assert.deepStrictEqual(yield* end("0"), counted)
  assert.deepStrictEqual(yield* end(String(ago(40))), { ...counted, "before the pause": 50 })
  const all = { ...counted, "before the pause": 90, "in the pause": 20 }
  assert.deepStrictEqual([yield* end("NULL"), yield* end("0", ago(61))], [all, all])
  assert.deepInclude(yield* store.accounts.get, { paused: false, pausedAt: null })
})

ask("a worker that is seen serves since then, after a gap longer than the horizon", function* () {
  const { queue, sql, store } = yield* prepare
  const { identity } = store.accounts
  const hour = 3_600_000
  const { session } = yield* store.accounts.get
  const see = Effect.fnUntraced(function* (seenAt: string) {
    yield* sql.unsafe(`UPDATE effect_pix_payout_accounts SET served_at = 5, seen_at = ${seenAt}`)
    yield* identity.see(session, hour)
    const { readAt, seenAt: seen, servedAt } = yield* store.accounts.get
    return [servedAt === 5, Math.abs(readAt - Number(seen)) < 60_000]
  })
  yield* queue.submit(payout("a"))
  const now = yield* Clock.currentTimeMillis
  assert.deepStrictEqual(yield* see(String(now - hour + 60_000)), [true, true])
  assert.deepStrictEqual(yield* see(String(now - hour - 60_000)), [false, true])
  assert.deepStrictEqual(yield* see(String(now + 2 * hour)), [false, true])
  assert.deepStrictEqual(yield* see("NULL"), [false, true])
})

ask("an account has one sender, which is changed once", function* () {
  const { accounts } = (yield* prepare).store
  const other = (yield* storeOf("other")).accounts
  yield* accounts.bind("a", null)
  yield* accounts.bind("b", 2)
  assert.deepInclude(yield* accounts.get, { fingerprint: "a", companyId: null })
  yield* other.bind("c", null)
  assert.isTrue(yield* accounts.learnCompany("a", "a1", 1))
  assert.isFalse(yield* accounts.learnCompany("a1", "a2", 2))
  assert.isFalse(yield* other.learnCompany("c", "a1", 1))
  assert.deepStrictEqual([yield* other.otherOf("a1"), yield* accounts.otherOf("a1")], ["default", undefined])
  assert.isTrue(yield* accounts.changeSender("d"))
  assert.isFalse(yield* accounts.changeSender("d"))
  assert.deepInclude(yield* accounts.get, { fingerprint: "d", companyId: null })
  yield* accounts.serve(60_000)
  yield* accounts.serve(50_000)
  assert.deepInclude(yield* accounts.get, { horizon: 50_000 })
})

for (const { client, name, skip } of databases) {
  const layer = Layer.merge(seenWorld, client())
  live.skipIf(skip)(
    `what a webhook claims is looked up by a worker of another process, on ${name}`,
    layer,
    function* () {
      const queue = yield* startClient()
      for (let worker = 0; worker < 2; worker++) yield* startConfirming({ poll: "20 millis" })
      const { returnWithdrawal, requests, settleWithdrawal } = yield* Sandbox
      yield* queue.submitMany(payouts(4))
      for (const [index, { reference }] of payouts(4).entries()) {
        yield* queue.await(reference)
        const withdrawalId = yield* numberOf(queue, reference)
        yield* settleWithdrawal(withdrawalId)
        if (index % 2 === 0) yield* returnWithdrawal(withdrawalId)
        yield* queue.hint({ withdrawalId, status: "refunded" })
      }
      const states = Effect.map(Stream.runCollect(queue.list()), (all) => all.map(({ state }) => state).toSorted())
      yield* Effect.repeat(states, { until: (all) => all.every((state) => state !== "posted") })
      assert.deepStrictEqual(yield* states, ["paid", "paid", "returned", "returned"])
      assert.lengthOf(
        (yield* requests).filter(({ operation }) => operation === "getWithdrawal"),
        4
      )
    }
  )
}
