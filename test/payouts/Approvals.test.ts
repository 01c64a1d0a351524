/**
 * Payouts above an account's limit: every way in which one person could have one sent, and the ways of two.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Result, type Scope } from "effect"
import { Money, PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutInsert, type PayoutItem, PayoutQueue, type PayoutQueueOptions, Payouts } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { database } from "../../src/durable/Database.ts"
import { foldName } from "../../src/payouts/internal/queue/approval.ts"
import { makeStore } from "../../src/payouts/internal/queue/store.ts"
import { makeBank } from "../support/bank.ts"
import { databases } from "../support/database.ts"
import { makeWarnings, payout, payouts, settle, storedRefusal } from "../support/payoutQueue.ts"
import { effect } from "../support/effect.ts"

const limit = Money.centavos(5000)
const fingerprint = "a".repeat(40)

/** A payout that Ana submits, of a PIX key of its own. */
const item = (reference: string, amount: number, by: string | undefined = "ana"): PayoutItem => ({
  ...payout(reference, amount),
  by
})

const statusOf = (reference: string) =>
  Effect.flatMap(PayoutQueue, (queue) => Effect.map(queue.status(reference), Option.getOrThrow))
const shownOf = (reference: string) =>
  Effect.map(statusOf(reference), (status) =>
    [status.state, ...("because" in status ? [status.because] : []), ...(status.asked ? [status.asked.step] : [])].join(
      " "
    )
  )

/** What became of a step: the tag of its failure, or the state after it. */
const taken = <E extends { readonly _tag: string }, R>(step: Effect.Effect<{ readonly state: string }, E, R>) =>
  Effect.match(step, { onFailure: ({ _tag }) => _tag, onSuccess: ({ state }) => state })

/** Names that are Ana's, however they are written, and those that nobody sees. */
const ofAna = ["ana", "ANA", " Ana ", "\u200bana\u2060", "\uff41na", "a\u00adna"]
const ofNobody = ["\u200b", "\u2800"]

/** Ana resumes a payout under each name that she can think of. */
const resumedByAna = (reference: string) =>
  Effect.gen(function* () {
    const queue = yield* PayoutQueue
    for (const by of [...ofAna, undefined]) {
      assert.strictEqual(yield* taken(queue.resume(reference, { by })), "PayoutStateConflict", JSON.stringify(by))
    }
    for (const by of ofNobody) {
      assert.strictEqual(yield* taken(queue.resume(reference, { by })), "InvalidRequest", JSON.stringify(by))
    }
  })

type Way = Effect.Effect<void, unknown, PayoutQueue | SqlClient.SqlClient | Scope.Scope>

/** A queue with the limit, whose worker does not have the option; and the payouts that the gateway paid. */
const under =
  (client: Layer.Layer<SqlClient.SqlClient, unknown>, options: PayoutQueueOptions = {}) =>
  <A, E>(
    use: (paid: () => ReadonlyArray<number>) => Effect.Effect<A, E, PayoutQueue | SqlClient.SqlClient | Scope.Scope>
  ) => {
    const bank = makeBank()
    const layer = PayoutQueue.layer({ poll: "20 millis", ...options }).pipe(
      Layer.provide([bank.makeClient("client-a", { companyId: 1 }).layer, PaymentsPolicy.layer(PaymentsPolicy.once)]),
      Layer.provideMerge(client)
    )
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.setFourEyes(limit, { by: "carla" })
      return yield* use(() => [...bank.paid.values()].map(({ amount }) => amount))
    }).pipe(Effect.scoped, Effect.provide(layer))
  }

const update = (set: string, reference: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(`UPDATE effect_pix_payouts SET ${set} WHERE reference = '${reference}'`)
  )

/** A payout that was accepted while there was no limit, in the state that the SQL says. */
const early = (reference: string, amount: number, set: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* PayoutQueue
    yield* queue.setPaused(true)
    yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = NULL`
    yield* queue.submit(item(reference, amount))
    yield* update(set, reference)
    yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = ${limit}`
    yield* queue.setPaused(false)
  })

const insert = (one: PayoutItem) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const dialect = sql.onDialectOrElse({ pg: () => "pg" as const, orElse: () => "sqlite" as const })
    const { parameters, text } = Result.getOrThrow(PayoutInsert.make(one, { dialect }))
    yield* sql.unsafe(text, parameters)
  })

const awaited = (reference: string) => Effect.flatMap(PayoutQueue, (queue) => queue.await(reference))

/** What one person, Ana, tries; nothing of it is paid. */
const ways: Readonly<Record<string, Way>> = {
  "a submit above it, resumed by its submitter": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    assert.strictEqual((yield* queue.submit(item("a", 5001))).state, "parked")
    yield* resumedByAna("a")
    assert.strictEqual(yield* shownOf("a"), "parked NeedsApproval")
  }),
  "a list whose sum is above it, and its lines once more, one by one": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    const list = [item("a", 3000), item("b", 3000), item("a", 3000)]
    for (const { state } of yield* queue.submitMany(list)) assert.strictEqual(state, "parked")
    for (const { reference } of list) {
      assert.strictEqual((yield* queue.submit(item(reference, 3000, "bia"))).state, "parked")
      yield* resumedByAna(reference)
    }
  }),
  "a sheet whose sum is above it, and a smaller sheet of its lines": Effect.gen(function* () {
    const { parked } = yield* Payouts.run([item("a", 3000), item("b", 3000)], { allowAlike: true })
    assert.lengthOf(parked, 2)
    const again = yield* Payouts.run([item("a", 3000)], { allowAlike: true })
    assert.lengthOf(again.parked, 1)
    yield* resumedByAna("a")
    yield* resumedByAna("b")
  }),
  "a sheet above it that takes up a line which a smaller one left": Effect.gen(function* () {
    yield* early("a", 3000, "state = 'parked', parked_because = 'RunEnded', run_by = 'earlier', run_until = -1")
    const { parked } = yield* Payouts.run([item("a", 3000), item("b", 3000)], { allowAlike: true })
    assert.lengthOf(parked, 2)
    const small = yield* Payouts.run([item("a", 3000)], { allowAlike: true })
    assert.lengthOf(small.parked, 1)
    yield* resumedByAna("a")
  }),
  "a submit above it that waits for another reason": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* queue.submit(item("a", 5001))
    yield* queue.park("a", { by: "ana" })
    yield* resumedByAna("a")
    for (const because of ["LooksAlike", "WaitedTooLong", "RunEnded"]) {
      yield* update(`parked_because = '${because}', run_by = 'earlier', run_until = -1`, "a")
      yield* resumedByAna("a")
    }
    yield* Payouts.run([item("a", 5001)], { allowAlike: true })
    assert.strictEqual(yield* shownOf("a"), "parked NeedsApproval")
    assert.strictEqual(yield* taken(queue.retry("a", { by: "ana" })), "PayoutStateConflict")
  }),
  "a PayoutInsert above it, which a worker without the option finds": Effect.gen(function* () {
    yield* insert(item("a", 5001))
    assert.strictEqual((yield* awaited("a")).state, "parked")
    yield* resumedByAna("a")
  }),
  "a payout that was accepted before there was a limit": Effect.gen(function* () {
    yield* early("a", 5001, "state = 'accepted'")
    assert.strictEqual((yield* awaited("a")).state, "parked")
    yield* resumedByAna("a")
  }),
  "a refused payout above it that is retried": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* early("a", 5001, `state = 'refused', error = '${storedRefusal}'`)
    assert.strictEqual(yield* taken(queue.retry("a", { by: "ana" })), "accepted")
    assert.strictEqual((yield* awaited("a")).state, "parked")
    assert.strictEqual(yield* shownOf("a"), "parked NeedsApproval")
  }),
  "a payout without a submitter, approved twice by one person": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    for (const by of ofNobody) {
      assert.strictEqual((yield* Effect.flip(queue.submit(item("b", 5001, by))))._tag, "InvalidRequest")
    }
    yield* queue.submit({ ...payout("a", 5001), by: undefined })
    assert.strictEqual(yield* taken(queue.resume("a")), "PayoutStateConflict")
    assert.strictEqual((yield* queue.resume("a", { by: "ana" })).state, "parked")
    yield* resumedByAna("a")
    assert.strictEqual(yield* shownOf("a"), "parked NeedsApproval Approve")
    // It is another row after it, so that Ana is the first one again.
    yield* queue.park("a", { by: "bia" })
    assert.strictEqual((yield* queue.resume("a", { by: "ana" })).state, "parked")
  }),
  "two people who each take another step of it": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* queue.submit({ ...payout("a", 5001), by: undefined })
    yield* queue.settle("a", { as: "failed", by: "bia" })
    assert.strictEqual((yield* queue.resume("a", { by: "ana" })).state, "parked")
    yield* queue.resume("a", { by: "bia", notExecuted: true })
    assert.strictEqual((yield* queue.settle("a", { as: "failed", by: "ana" })).state, "parked")
    assert.strictEqual((yield* queue.resume("a", { by: "bia" })).state, "parked")
    assert.strictEqual(yield* shownOf("a"), "parked NeedsApproval Approve")
  }),
  "a payout whose approval a person took back by parking it": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* queue.setPaused(true)
    yield* queue.submit(item("a", 5001))
    assert.strictEqual((yield* queue.resume("a", { by: "bia" })).state, "accepted")
    yield* queue.park("a", { by: "bia", note: "not this one" })
    yield* resumedByAna("a")
    yield* queue.setPaused(false)
  }),
  "a payout of any amount that was not executed, as one person says": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    for (const [reference, amount] of [
      ["a", 1000],
      ["b", 5001]
    ] as const) {
      yield* early(reference, amount, "state = 'parked', parked_because = 'OtherClientId', may_have_left_at = 1")
      const notExecuted = (by?: string) => taken(queue.resume(reference, { by, notExecuted: true }))
      assert.strictEqual(yield* notExecuted(), "PayoutStateConflict")
      assert.strictEqual(yield* notExecuted("ana"), "parked")
      assert.strictEqual(yield* notExecuted("Ana "), "PayoutStateConflict")
      assert.strictEqual(yield* shownOf(reference), "parked OtherClientId NotExecuted")
    }
  }),
  "a payout in doubt that one person settles as refused, to retry it, or resumes with a text": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* early("a", 1000, "state = 'parked', parked_because = 'PastHorizon', may_have_left_at = 1")
    // A caller without types may give anything.
    for (const as of ["refused", "accepted", "unknown", "FAILED", null] as ReadonlyArray<unknown>) {
      const options = { by: "ana", as: as as "failed" }
      assert.strictEqual(yield* taken(queue.settle("a", options)), "InvalidRequest", String(as))
    }
    const options = { by: "ana", notExecuted: "false" as unknown as boolean }
    assert.strictEqual(yield* taken(queue.resume("a", options)), "InvalidRequest")
    assert.strictEqual(yield* taken(queue.retry("a", { by: "ana" })), "PayoutStateConflict")
    assert.strictEqual(yield* shownOf("a"), "parked PastHorizon")
  }),
  "a payout in doubt that failed, as one person says": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* early("a", 1000, "state = 'parked', parked_because = 'PastHorizon', may_have_left_at = 1")
    const failed = (by?: string) => taken(queue.settle("a", { as: "failed", by }))
    assert.strictEqual(yield* failed(), "PayoutStateConflict")
    assert.strictEqual(yield* failed("ana"), "parked")
    assert.strictEqual(yield* failed("ANA"), "PayoutStateConflict")
    yield* update("state = 'unknown', due_at = 9007199254740991", "a")
    const open = yield* Effect.flip(queue.settle("a", { as: "failed", by: "bia" }))
    assert.include(open.message, "Park it first")
  }),
  "another limit, none, or another sender, as one person says": Effect.gen(function* () {
    const queue = yield* PayoutQueue
    const { fingerprint: before } = yield* queue.account
    const steps = {
      setFourEyes: (by?: string) => queue.setFourEyes(Money.centavos(900_000), { by }),
      none: (by?: string) => queue.setFourEyes(null, { by }),
      changeSender: (by?: string) => queue.changeSender(fingerprint, { by })
    }
    for (const step of Object.values(steps)) {
      assert.strictEqual((yield* Effect.flip(step()))._tag, "InvalidRequest")
      assert.strictEqual(yield* step("ana"), "Asked")
      for (const by of [...ofAna, ...ofNobody]) {
        assert.strictEqual((yield* Effect.flip(step(by)))._tag, "InvalidRequest")
      }
    }
    // Two steps by two people are not one step by both.
    assert.strictEqual(yield* steps.none("bia"), "Asked")
    assert.strictEqual(yield* steps.changeSender("ana"), "Asked")
    const account = yield* queue.account
    assert.deepStrictEqual([account.fourEyesAbove, account.fingerprint], [limit, before])
    yield* queue.submit(item("a", 5001))
    yield* resumedByAna("a")
  }),
  "a layer with another option": Effect.gen(function* () {
    const error = yield* Effect.flip(Layer.build(PayoutQueue.layerClient({ fourEyesAbove: 900_000 })))
    assert.strictEqual(error._tag, "ConfigurationError")
    for (const words of [
      "900000 (R$ 9.000,00)",
      "5000 (R$ 50,00)",
      "payouts four-eyes 900000 --account default --by"
    ]) {
      assert.include(error.message, words)
    }
    const client = yield* Layer.build(PayoutQueue.layerClient({ fourEyesAbove: limit }))
    yield* Effect.provide(
      Effect.flatMap(PayoutQueue, (queue) => queue.submit(item("a", 5001))),
      client
    )
    yield* resumedByAna("a")
  })
}

for (const { client, name, skip } of databases) {
  const test = (title: string, use: (paid: () => ReadonlyArray<number>) => Way, options?: PayoutQueueOptions) =>
    it.live.skipIf(skip)(title, () => under(client(), options)(use))

  describe(`one person and the limit on ${name}`, () => {
    for (const [title, way] of Object.entries(ways)) {
      test(`nothing is paid by ${title}`, (paid) =>
        Effect.andThen(
          way,
          Effect.sync(() => assert.deepStrictEqual(paid(), []))
        ))
    }
  })

  describe(`two people and the limit on ${name}`, () => {
    test("a payout is paid without a run when another person approves it, and its history names both", (paid) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        yield* Payouts.run([item("a", 3000), item("b", 3000)], { allowAlike: true })
        yield* queue.resume("a", { by: "Bia", note: "invoice seen" })
        assert.strictEqual((yield* queue.await("a")).state, "posted")
        const history = yield* queue.history("a")
        assert.deepStrictEqual(
          history.map((change) => [change._tag, change.state, "by" in change ? change.by : undefined]),
          [
            ["Submitted", "accepted", "ana"],
            ["Parked", "parked", undefined],
            ["Approved", "accepted", "Bia"],
            ["Marked", "accepted", undefined],
            ["Answered", "posted", undefined]
          ]
        )
        const [row] =
          yield* sql`SELECT approved_by AS "by", approved_at IS NOT NULL AS "at" FROM effect_pix_payouts WHERE reference = 'a'`
        assert.deepStrictEqual([row?.["by"], Boolean(row?.["at"])], ["Bia", true])
        assert.deepStrictEqual(paid(), [3000])
        assert.strictEqual(yield* shownOf("b"), "parked NeedsApproval")
      }))

    test("a payout without a submitter is paid when two people resume it, and one that was not executed when two say so", (paid) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit(payout("a", 6000))
        const asked = yield* queue.resume("a", { by: "ana" })
        assert.deepStrictEqual(asked.asked, { step: "Approve", by: "ana" })
        assert.strictEqual((yield* queue.history("a")).at(-1)?._tag, "Asked")
        assert.isUndefined((yield* queue.resume("a", { by: "bia" })).asked)
        yield* early("b", 7000, "state = 'parked', parked_because = 'OtherClientId', may_have_left_at = 1")
        yield* queue.resume("b", { by: "bia", notExecuted: true })
        // The submitter is the second one, so the first one approves it.
        yield* queue.resume("b", { by: "ana", notExecuted: true })
        for (const reference of ["a", "b"]) assert.strictEqual((yield* queue.await(reference)).state, "posted")
        assert.deepStrictEqual(
          paid().toSorted((a, b) => a - b),
          [6000, 7000]
        )
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`SELECT approved_by AS "by" FROM effect_pix_payouts ORDER BY amount`
        assert.deepStrictEqual(
          rows.map((row) => row["by"]),
          ["bia", "bia"]
        )
      }))

    test("a payout that two people settle as failed has failed, and one is settled as paid by one person", () =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submitMany([item("a", 6000), item("b", 1000)])
        yield* queue.settle("a", { as: "failed", by: "ana" })
        assert.strictEqual(yield* shownOf("a"), "parked NeedsApproval SettleFailed")
        assert.strictEqual((yield* queue.settle("a", { as: "failed", by: "bia" })).state, "failed")
        assert.strictEqual((yield* queue.settle("b", { by: "ana" })).state, "settled")
      }))

    test("an account is changed by two people, with an entry of each, and by none of them where another change came between", () =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        assert.strictEqual(yield* queue.setFourEyes(null, { by: "ana", note: "audit" }), "Asked")
        const { asked } = yield* queue.account
        assert.deepStrictEqual([asked?.fourEyesAbove, asked?.by], [null, "ana"])
        assert.strictEqual(yield* queue.changeSender(fingerprint, { by: "carla" }), "Asked")
        assert.strictEqual(yield* queue.setFourEyes(null, { by: "bia" }), "Asked")
        assert.strictEqual(yield* queue.setFourEyes(null, { by: "ana" }), "Changed")
        assert.strictEqual(yield* queue.changeSender(fingerprint), "Changed")
        const account = yield* queue.account
        assert.deepStrictEqual(
          [account.fourEyesAbove, account.asked, account.fingerprint],
          [undefined, undefined, fingerprint]
        )
        assert.deepStrictEqual(
          account.changes.map(
            ({ by, fingerprint: sender, step }) => `${step} ${sender === undefined ? "limit" : "sender"} ${by}`
          ),
          [
            "Changed limit carla",
            "Asked limit ana",
            "Asked sender carla",
            "Asked limit bia",
            "Changed limit ana",
            "Changed sender undefined"
          ]
        )
      }))

    test("of two people who resume a payout without a submitter at once one is the first and one the second", (paid) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submitMany(payouts(5, 6000))
        for (const { reference } of payouts(5)) {
          const both = (names: ReadonlyArray<string>) =>
            Effect.forEach(names, (by) => taken(queue.resume(reference, { by })), { concurrency: "unbounded" })
          assert.deepStrictEqual((yield* both(["ana", "ANA"])).toSorted(), ["PayoutStateConflict", "parked"])
          yield* queue.park(reference)
          assert.deepStrictEqual((yield* both(["ana", "bia"])).toSorted(), ["accepted", "parked"])
          assert.strictEqual((yield* queue.await(reference)).state, "posted")
        }
        assert.lengthOf(paid(), 5)
      }))

    test("of two people who change the limit at once, to one amount or to two, the account has what two of them said", () =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const both = (amounts: ReadonlyArray<readonly [string, number]>) =>
          Effect.forEach(amounts, ([by, above]) => queue.setFourEyes(Money.centavos(above), { by }), {
            concurrency: "unbounded"
          })
        assert.deepStrictEqual(
          yield* both([
            ["ana", 6000],
            ["bia", 7000]
          ]),
          ["Asked", "Asked"]
        )
        assert.strictEqual((yield* queue.account).fourEyesAbove, limit)
        yield* queue.setFourEyes(null, { by: "carla" })
        assert.deepStrictEqual(
          (yield* both([
            ["ana", 8000],
            ["bia", 8000]
          ])).toSorted(),
          ["Asked", "Changed"]
        )
        assert.strictEqual((yield* queue.account).fourEyesAbove, 8000)
      }))

    test("a limit that is raised or removed approves nothing that waits, and what is below it is paid by nobody's approval", (paid) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submitMany([item("a", 3000), item("b", 3000)])
        for (const by of ["bia", "carla"]) yield* queue.setFourEyes(null, { by })
        yield* resumedByAna("a")
        assert.strictEqual((yield* queue.resume("b", { by: "bia" })).state, "accepted")
        yield* queue.submit(item("c", 9000))
        for (const reference of ["b", "c"]) assert.strictEqual((yield* queue.await(reference)).state, "posted")
        assert.deepStrictEqual(
          paid().toSorted((a, b) => a - b),
          [3000, 9000]
        )
      }))
  })
}

const memory = () => NodeSqlite.layer({ filename: ":memory:" })

describe("the limit of an account", () => {
  it.effect(
    "that is lowered after a worker read the account is that of the next request, and what it parks is a warning",
    () => {
      const { layer, lines } = makeWarnings()
      return under(memory())((paid) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const queue = yield* PayoutQueue
          yield* queue.submit(item("a", 5000))
          yield* settle
          // The worker has read the account in this second, and does not read it again.
          yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = 4000`
          yield* insert(item("b", 5000))
          yield* settle
          assert.strictEqual(yield* shownOf("b"), "accepted")
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(yield* shownOf("b"), "parked NeedsApproval")
          assert.deepStrictEqual(paid(), [5000])
          yield* queue.submit(item("c", 4001))
          assert.lengthOf(
            lines.filter((line) => line.startsWith("A payout waits for a person: NeedsApproval")),
            2
          )
          assert.isUndefined((yield* queue.history("c")).find(({ at }) => DateTime.toEpochMillis(at) === 0))
        })
      ).pipe(Effect.provide(layer))
    }
  )

  effect("is not changed by a step whose people saw another account", memory(), function* () {
    yield* Layer.build(PayoutQueue.layerClient({ fourEyesAbove: limit }))
    const { accounts } = makeStore(yield* database, { account: "default", lease: 30_000 })
    const seen = yield* accounts.get
    assert.isTrue(yield* accounts.agree({ asked: "{}" }, seen))
    const step = { fourEyesAbove: null }
    assert.isFalse(yield* accounts.agree(step, seen))
    const now = yield* accounts.get
    assert.isFalse(yield* accounts.agree(step, { ...now, fourEyesAbove: 6000 }))
    assert.isTrue(yield* accounts.agree(step, now))
  })

  effect(
    "that an option sets is written without a person, may be 1 so that every payout needs approval, and is a whole number",
    memory(),
    function* () {
      yield* Layer.build(PayoutQueue.layerClient({ fourEyesAbove: 1 }))
      const queue = yield* Effect.provide(PayoutQueue, yield* Layer.build(PayoutQueue.layerClient({})))
      assert.deepStrictEqual(
        (yield* queue.account).changes.map(({ by, fourEyesAbove }) => [fourEyesAbove, by]),
        [[Money.centavos(1), undefined]]
      )
      assert.strictEqual((yield* queue.submit(item("a", 1000))).state, "parked")
      for (const fourEyesAbove of [0, -1, 0.5, Number.NaN]) {
        const error = yield* Effect.flip(Layer.build(PayoutQueue.layerClient({ fourEyesAbove })))
        assert.include(error.message, "fourEyesAbove must be a whole number from 1")
      }
      // A caller without types may give anything.
      const wrong = yield* Effect.flip(queue.setFourEyes(0.5 as Money.Centavos, { by: "ana" }))
      assert.strictEqual(wrong._tag, "InvalidRequest")
    }
  )

  it.effect("counts a submitter who is named wrongly as an error of the payout, and keeps the first one", () =>
    under(memory())(() =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        for (const by of ["", " ", "x".repeat(101)]) {
          const error = yield* Effect.flip(queue.submit(item("a", 6000, by)))
          assert.deepStrictEqual(error._tag === "InvalidRequest" && error.issues.map(({ path }) => path), ["by"])
        }
        yield* queue.submit(item("a", 6000, "ana"))
        yield* queue.submit(item("a", 6000, "bia"))
        const [submitted] = yield* queue.history("a")
        assert.deepStrictEqual(submitted && "by" in submitted && submitted.by, "ana")
        assert.strictEqual(yield* taken(queue.resume("a", { by: "ana" })), "PayoutStateConflict")
      })
    )
  )
})

describe("a person's name", () => {
  it("is one name however its letters, its spaces and its case are written, and is empty where nobody can see it", () => {
    for (const name of [...ofAna, "A\u0301na".replace("\u0301", ""), "\tana\n"])
      assert.strictEqual(foldName(name), "ana")
    for (const name of ofNobody) assert.strictEqual(foldName(name), "")
    const pairs = [
      ["José", "JOSE\u0301"],
      ["Ana  Maria", "ana\u00a0maria"],
      ["Strauß", "STRAUSS"],
      ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
      // One person writes one name with its accents and without them.
      ["João Conceição", "joao conceicao"],
      ["\u0130REM", "irem"],
      ["ana", "a\u0336na"]
    ] as const
    for (const [one, other] of pairs) assert.strictEqual(foldName(one), foldName(other))
    assert.notStrictEqual(foldName("ana"), foldName("anna"))
    assert.notStrictEqual(foldName("ana maria"), foldName("anamaria"))
  })
})
