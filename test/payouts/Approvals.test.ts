/**
 * Payouts above an account's limit: every way in which one person could have one sent, and the ways of two. What is decided in the
 * database is asked in Store.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Money } from "effect-pix"
import { PayoutInsert, type PayoutItem, PayoutQueue, Payouts } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { foldName } from "../../src/payouts/internal/queue/approval.ts"
import { effect } from "../support/effect.ts"
import { payout, startClient, startWorker, storedRefusal, world } from "../support/payoutQueue.ts"
import { linesOf, stateOf } from "../support/payoutSeen.ts"

const limit = Money.centavos(5000)
const fingerprint = "a".repeat(40)

/** A payout that Ana submits. */
const item = (reference: string, amount: number, by: string | undefined = "ana"): PayoutItem => ({
  ...payout(reference, amount),
  by
})

/** Names that are Ana's, however they are written, and those that nobody sees. */
const ofAna = ["ana", "ANA", " Ana ", "\u200bana\u2060", "\uff41na", "a\u00adna"]
const ofNobody = ["\u200b", "\u2800"]

/** What became of a step: the tag of its failure, or the state after it. */
const taken = <E extends { readonly _tag: string }, R>(step: Effect.Effect<{ readonly state: string }, E, R>) =>
  Effect.match(step, { onFailure: ({ _tag }) => _tag, onSuccess: ({ state }) => state })

const paid = Sandbox.use(({ withdrawals }) => Effect.map(withdrawals, (all) => all.map(({ amount }) => amount)))

/** A worker without the option, in an account that has the limit. */
const start = Effect.gen(function* () {
  const queue = yield* startWorker()
  const sql = yield* SqlClient.SqlClient
  yield* queue.setFourEyes(limit, { by: "carla" })
  /** A payout that was accepted while there was no limit, in the state that the SQL says. */
  const submitEarly = Effect.fnUntraced(function* (one: PayoutItem, set: string) {
    yield* queue.setPaused(true)
    yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = NULL`
    yield* queue.submit(one)
    yield* sql.unsafe(`UPDATE effect_pix_payouts SET ${set} WHERE reference = '${one.reference}'`)
    yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = ${limit}`
    yield* queue.setPaused(false)
  })
  const insert = (one: PayoutItem) => {
    const { parameters, text } = Result.getOrThrow(PayoutInsert.make(one, { dialect: "sqlite" }))
    return sql.unsafe(text, parameters)
  }
  /** The workers have handled what is due. */
  const handled = TestClock.adjust("5 seconds")
  const run = (lines: ReadonlyArray<PayoutItem>) =>
    Effect.provideService(Payouts.run(lines, { allowAlike: true }), PayoutQueue, queue)
  return { submitEarly, handled, insert, queue, run, sql }
})

const elsewhere = "state = 'parked', parked_because = 'OtherClientId', may_have_left_at = 0"

/** Payouts of Ana, or of nobody, with what the SQL says where they were accepted before the limit. */
const early: Record<string, readonly [amount: number, by: "ana" | undefined, set?: string]> = {
  own: [5001, "ana"],
  atLimit: [5000, "ana", "state = 'parked', parked_because = 'Operator'"],
  "nobody's": [5001, undefined],
  overMax: [5001, "ana", "state = 'parked', parked_because = 'OverMaxAmount'"],
  refused: [5001, "ana", `state = 'refused', error = '${storedRefusal}'`],
  elsewhere: [6000, "ana", elsewhere],
  small: [5000, "ana", elsewhere],
  ofList: [1000, "ana", `needs_approval = TRUE, approved_at = 1, approved_by = 'bia', ${elsewhere}`],
  longAgo: [1000, "ana", "state = 'parked', parked_because = 'PastHorizon', may_have_left_at = 1"],
  unknown: [1000, "ana", "state = 'unknown', may_have_left_at = 1"]
}

/** The steps that people take of one payout in turn, and what it is after them. */
const steps: ReadonlyArray<readonly [title: string, of: keyof typeof early, steps: string, state: string]> = [
  ["is not sent by its submitter", "own", "resume ana, resume ANA, resume", "parked NeedsApproval"],
  [
    "that is parked for another reason is not either",
    "overMax",
    "resume ana, retry ana, park ana, resume ana",
    "parked Operator"
  ],
  ["that was refused is not sent by its submitter's retry", "refused", "retry ana", "parked NeedsApproval"],
  ["that is parked and not above the limit is sent by its submitter", "atLimit", "resume ana", "posted"],
  ["is sent after another person's approval", "own", "resume bia", "posted"],
  [
    "is not sent where a person took the approval back",
    "own",
    "pause ana, resume bia, park bia, pause bia, resume ana",
    "parked Operator"
  ],
  [
    "that nobody submitted is not sent by one person",
    "nobody's",
    "resume, resume ana, resume Ana, resume",
    "parked NeedsApproval Approve"
  ],
  ["that nobody submitted is sent by two people", "nobody's", "resume ana, resume bia", "posted"],
  [
    "that changed between two approvals is not sent by the second",
    "nobody's",
    "resume carla, park bia, resume ana",
    "parked Operator Approve"
  ],
  [
    "is not sent by two people who each take another step",
    "nobody's",
    "new bia, resume ana",
    "parked NeedsApproval Approve"
  ],
  ["is not new because one person says so", "elsewhere", "new, new ana, new Ana", "parked OtherClientId NotExecuted"],
  ["is new because two people say so", "elsewhere", "new bia, new ana", "posted"],
  [
    "of a list that needed an approval is not new because one says so",
    "ofList",
    "new ana",
    "parked OtherClientId NotExecuted"
  ],
  ["at the limit is new because one person says so", "small", "new ana", "posted"],
  ["at the limit, of more in one step, is not", "small", "some ana, some Ana", "parked OtherClientId NotExecuted"],
  ["at the limit, of more in one step, is new because two say so", "small", "some ana, some bia", "posted"],
  ["has failed where one person says so, since nothing leaves by it", "longAgo", "retry ana, fail ana", "failed"],
  ["in doubt has not failed before it was parked", "unknown", "pause ana, fail ana, fail bia", "unknown"],
  ["is settled as paid by one person", "own", "settle ana", "paid"]
]

describe("a payout above the limit, or in doubt", () => {
  effect.each(steps)("%s", world, function* ([, of, taken, state]) {
    const { handled, queue, submitEarly } = yield* start
    const [amount, by, set] = early[of]!
    if (set === undefined) yield* queue.submit({ ...payout("a", amount), by })
    else yield* submitEarly({ ...payout("a", amount), by }, set)
    for (const [step, name] of taken.split(", ").map((text) => text.split(" "))) {
      const options = { by: name }
      const takes: Record<string, Effect.Effect<unknown, unknown>> = {
        resume: queue.resume("a", options),
        new: queue.resume("a", { ...options, notExecuted: true }),
        some: queue.resume("a", { ...options, notExecuted: true, sum: Money.centavos(5001) }),
        retry: queue.retry("a", options),
        park: queue.park("a", options),
        settle: queue.settle("a", options),
        fail: queue.settle("a", { ...options, as: "failed" }),
        pause: Effect.flatMap(queue.isPaused, (isPaused) => queue.setPaused(!isPaused))
      }
      yield* Effect.ignore(takes[step ?? ""] ?? Effect.die(step))
    }
    yield* handled
    assert.strictEqual(yield* stateOf(queue, "a"), state)
    assert.lengthOf(yield* paid, state === "posted" ? 1 : 0)
  })

  effect("is parked with its sheet, and where it was inserted or accepted before the limit", world, function* () {
    const { handled, insert, queue, run, submitEarly } = yield* start
    yield* run([item("a", 3000), item("b", 3000)])
    yield* run([item("a", 3000)])
    yield* submitEarly(item("early", 5001), "state = 'accepted'")
    yield* insert(item("inserted", 5001))
    yield* handled
    for (const reference of ["a", "b", "early", "inserted"]) {
      assert.strictEqual(yield* stateOf(queue, reference), "parked NeedsApproval")
      assert.strictEqual(yield* taken(queue.resume(reference, { by: "ana" })), "PayoutStateConflict")
    }
    assert.deepStrictEqual(yield* paid, [])
    yield* queue.resume("b", { by: "Bia", note: "invoice seen" })
    yield* handled
    assert.deepStrictEqual(yield* linesOf(queue, "b"), [
      "Submitted by ana > accepted",
      "Parked NeedsApproval > parked",
      "Approved by Bia: invoice seen > accepted",
      "Marked 1 > unknown, may have left",
      "Answered Recorded 1 > posted"
    ])
  })

  effect("names the first of two people, and as its approver who did not submit it", world, function* () {
    const { queue, sql, submitEarly } = yield* start
    yield* queue.submit(payout("a", 6000))
    assert.deepStrictEqual((yield* queue.resume("a", { by: "ana" })).asked, { step: "Approve", by: "ana" })
    assert.strictEqual((yield* linesOf(queue, "a")).at(-1), "Asked by ana > parked")
    yield* queue.submit(item("c", 6000))
    yield* queue.resume("c", { by: "Bia" })
    yield* submitEarly(item("b", 7000), elsewhere)
    for (const by of ["bia", "ana"]) yield* queue.resume("b", { by, notExecuted: true })
    const rows = yield* sql`SELECT approved_by AS "by" FROM effect_pix_payouts ORDER BY reference`
    assert.deepStrictEqual(
      rows.map((row) => row["by"]),
      [null, "bia", "Bia"]
    )
    // A caller without types may give anything.
    for (const as of ["refused", "FAILED", null] as ReadonlyArray<unknown>)
      assert.include(
        (yield* Effect.flip(queue.settle("a", { as: as as "failed" }))).message,
        "must be paid, failed or returned"
      )
    const notExecuted = "false" as unknown as boolean
    assert.include((yield* Effect.flip(queue.resume("a", { notExecuted }))).message, "must be true or false")
  })
})

describe("the limit of an account", () => {
  effect("is not changed by one person, who may change the sender", world, function* () {
    const { queue } = yield* start
    yield* queue.changeSender(fingerprint, { by: "ana" })
    const changes = [
      (by?: string) => queue.setFourEyes(Money.centavos(900_000), { by }),
      (by?: string) => queue.setFourEyes(null, { by })
    ]
    for (const change of changes) {
      assert.strictEqual(yield* change("ana"), "Asked")
      for (const by of [undefined, ...ofAna, ...ofNobody])
        assert.strictEqual((yield* Effect.flip(change(by)))._tag, "InvalidRequest")
    }
    const after = yield* queue.account
    assert.deepStrictEqual([after.fourEyesAbove, after.fingerprint], [limit, fingerprint])
    const error = yield* Effect.flip(startClient({ fourEyesAbove: 900_000 }))
    assert.strictEqual(error._tag === "ConfigurationError" && error.settings[0]?.setting, "fourEyesAbove")
    for (const words of ["900000 (R$ 9.000,00)", "5000 (R$ 50,00)", "payouts four-eyes 900000 --account default --by"])
      assert.include(error.message, words)
    yield* startClient({ fourEyesAbove: limit })
  })

  effect("is changed by two people in turn with an entry of each, and approves nothing", world, function* () {
    const { handled, queue } = yield* start
    // A line that is twice on a list counts once.
    const accepted = yield* queue.submitMany([item("one", 2500), item("other", 2500), item("one", 2500)])
    assert.isTrue(accepted.every(({ state }) => state === "accepted"))
    const parked = yield* queue.submitMany([item("a", 2501), item("b", 2500)])
    assert.isTrue(parked.every(({ state }) => state === "parked"))
    const told: Array<string> = []
    for (const [by, change] of [
      ["ana", queue.setFourEyes(null, { by: "ana", note: "audit" })],
      ["carla", queue.setFourEyes(Money.centavos(9000), { by: "carla" })],
      ["bia", queue.setFourEyes(null, { by: "bia" })],
      ["ana", queue.setFourEyes(null, { by: "ana" })]
    ] as const)
      told.push(`${yield* change} ${by}`)
    const { asked, changes, fourEyesAbove } = yield* queue.account
    assert.deepStrictEqual([fourEyesAbove, asked], [undefined, undefined])
    const entries = changes.map(({ by, step }) => `${step} ${by}`)
    assert.deepStrictEqual(entries, ["Changed carla", ...told])
    assert.deepStrictEqual(told, ["Asked ana", "Asked carla", "Asked bia", "Changed ana"])
    yield* handled
    assert.strictEqual(yield* taken(queue.resume("a", { by: "ana" })), "PayoutStateConflict")
    yield* queue.submit(item("c", 9000))
    yield* handled
    assert.sameMembers(yield* paid, [2500, 2500, 9000])
  })

  effect("is a whole number from 1, which an option may set without a person", world, function* () {
    yield* startClient({ fourEyesAbove: 1 })
    const queue = yield* startClient()
    const [change] = (yield* queue.account).changes
    assert.deepStrictEqual([change?.fourEyesAbove, change?.by], [Money.centavos(1), undefined])
    assert.strictEqual(yield* taken(queue.submit(item("a", 1000))), "parked")
    for (const wrong of [0, 0.5, Number.NaN]) {
      const error = yield* Effect.flip(startClient({ fourEyesAbove: wrong }))
      assert.include(error.message, "fourEyesAbove must be a whole number from 1")
      // A caller without types may give anything.
      const refused = yield* Effect.flip(queue.setFourEyes(wrong as Money.Centavos, { by: "ana" }))
      assert.include(refused.message, "must be a whole number of centavos from 1, or null")
    }
    for (const by of ["", " ", "x".repeat(101)])
      assert.strictEqual(yield* taken(queue.submit(item("b", 6000, by))), "InvalidRequest")
    yield* queue.submit(item("a", 1000, "bia"))
    assert.strictEqual((yield* linesOf(queue, "a"))[0], "Submitted by ana > accepted")
  })
})

describe("a person's name", () => {
  it("is one name however its letters, its spaces, its accents and its case are written, and is empty where nobody can see it", () => {
    for (const name of [...ofAna, "\tana\n", "a\u0336na"]) assert.strictEqual(foldName(name), "ana")
    for (const name of ofNobody) assert.strictEqual(foldName(name), "")
    const pairs = [
      ["José", "JOSE\u0301"],
      ["Ana  Maria", "ana\u00a0maria"],
      ["Strauß", "STRAUSS"],
      ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
      ["João Conceição", "joao conceicao"],
      ["\u0130REM", "irem"]
    ] as const
    for (const [one, other] of pairs) assert.strictEqual(foldName(one), foldName(other))
    assert.notStrictEqual(foldName("ana"), foldName("anna"))
    assert.notStrictEqual(foldName("ana maria"), foldName("anamaria"))
  })
})
