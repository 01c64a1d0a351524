/**
 * Payouts above an account's limit: every way in which one person could have one sent, and the ways of two. What is decided in the
 * database is asked in Store.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, type Scope } from "effect"
import { Money } from "effect-pix"
import { PayoutInsert, type PayoutItem, PayoutQueue, Payouts } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { foldName } from "../../src/payouts/internal/queue/approval.ts"
import { effect } from "../support/effect.ts"
import {
  linesOf,
  makeWarnings,
  payout,
  settle,
  startClient,
  stateOf,
  storedRefusal,
  world
} from "../support/payoutQueue.ts"

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

/** A worker without the option, in an account that has the limit. */
const limited = PayoutQueue.layer().pipe(
  Layer.tap((context) =>
    Effect.provide(
      Effect.flatMap(PayoutQueue, (queue) => queue.setFourEyes(limit, { by: "carla" })),
      context
    )
  ),
  Layer.provideMerge(world)
)
const paid = Effect.map(
  Effect.flatMap(Sandbox, ({ withdrawals }) => withdrawals),
  (all) => all.map(({ amount }) => amount)
)

const use = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const sql = yield* SqlClient.SqlClient
  const update = (reference: string, set: string) =>
    sql.unsafe(`UPDATE effect_pix_payouts SET ${set} WHERE reference = '${reference}'`)
  /** Ana resumes a payout under each name that she can think of. */
  const resumedByAna = Effect.fnUntraced(function* (reference: string) {
    for (const by of [...ofAna, undefined])
      assert.strictEqual(yield* taken(queue.resume(reference, { by })), "PayoutStateConflict", JSON.stringify(by))
    for (const by of ofNobody) assert.strictEqual(yield* taken(queue.resume(reference, { by })), "InvalidRequest")
  })
  /** A payout that was accepted while there was no limit, in the state that the SQL says. */
  const early = Effect.fnUntraced(function* (reference: string, amount: number, set: string) {
    yield* queue.setPaused(true)
    yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = NULL`
    yield* queue.submit(item(reference, amount))
    yield* update(reference, set)
    yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = ${limit}`
    yield* queue.setPaused(false)
  })
  const insert = (one: PayoutItem) =>
    Effect.suspend(() => {
      const { parameters, text } = Result.getOrThrow(PayoutInsert.make(one, { dialect: "sqlite" }))
      return sql.unsafe(text, parameters)
    })
  /** The workers have handled what is due. */
  const handled = TestClock.adjust("5 seconds")
  return { early, handled, insert, queue, resumedByAna, sql, update }
})

type Way = (
  world: Effect.Success<typeof use>
) => Generator<Effect.Effect<unknown, unknown, Layer.Success<typeof limited> | Scope.Scope>, unknown, never>

/** What one person, Ana, tries, and the states that her payouts have then. Nothing of it is paid. */
const ways: ReadonlyArray<readonly [title: string, way: Way, states: Readonly<Record<string, string>>]> = [
  [
    "a submit above it, resumed by its submitter",
    function* ({ queue }) {
      yield* queue.submit(item("a", 5001))
    },
    { a: "parked NeedsApproval" }
  ],
  [
    "a list whose sum is above it, and its lines once more by another person",
    function* ({ queue }) {
      yield* queue.submitMany([item("a", 3000), item("b", 3000), item("a", 3000)])
      yield* queue.submit(item("a", 3000, "bia"))
    },
    { a: "parked NeedsApproval", b: "parked NeedsApproval" }
  ],
  [
    "a sheet whose sum is above it, and a smaller sheet of its lines",
    function* () {
      yield* Payouts.run([item("a", 3000), item("b", 3000)], { allowAlike: true })
      yield* Payouts.run([item("a", 3000)], { allowAlike: true })
    },
    { a: "parked NeedsApproval", b: "parked NeedsApproval" }
  ],
  [
    "a sheet above it that takes up a line which a smaller one left",
    function* ({ early }) {
      yield* early("a", 3000, "state = 'parked', parked_because = 'RunEnded', run_by = 'earlier', run_until = -1")
      yield* Payouts.run([item("a", 3000), item("b", 3000)], { allowAlike: true })
      yield* Payouts.run([item("a", 3000)], { allowAlike: true })
    },
    { a: "parked NeedsApproval" }
  ],
  [
    "a submit above it that waits for another reason",
    function* ({ queue, resumedByAna, update }) {
      yield* queue.submit(item("a", 5001))
      yield* queue.park("a", { by: "ana" })
      yield* resumedByAna("a")
      for (const because of ["LooksAlike", "WaitedTooLong", "RunEnded"]) {
        yield* update("a", `parked_because = '${because}', run_by = 'earlier', run_until = -1`)
        yield* resumedByAna("a")
      }
      yield* Payouts.run([item("a", 5001)], { allowAlike: true })
      assert.strictEqual(yield* taken(queue.retry("a", { by: "ana" })), "PayoutStateConflict")
    },
    { a: "parked NeedsApproval" }
  ],
  [
    "a PayoutInsert above it, and a payout that was accepted before there was a limit",
    function* ({ early, insert }) {
      yield* insert(item("a", 5001))
      yield* early("b", 5001, "state = 'accepted'")
    },
    { a: "parked NeedsApproval", b: "parked NeedsApproval" }
  ],
  [
    "a refused payout above it that is retried",
    function* ({ early, queue }) {
      yield* early("a", 5001, `state = 'refused', error = '${storedRefusal}'`)
      assert.strictEqual(yield* taken(queue.retry("a", { by: "ana" })), "accepted")
    },
    { a: "parked NeedsApproval" }
  ],
  [
    "a payout without a submitter, approved twice by one person",
    function* ({ queue }) {
      for (const by of ofNobody) assert.strictEqual(yield* taken(queue.submit(item("b", 5001, by))), "InvalidRequest")
      yield* queue.submit(payout("a", 5001))
      assert.strictEqual(yield* taken(queue.resume("a")), "PayoutStateConflict")
      yield* queue.resume("a", { by: "carla" })
      // It is another row after it, so that Ana is the first one.
      yield* queue.park("a", { by: "bia" })
      yield* queue.resume("a", { by: "ana" })
    },
    { a: "parked Operator Approve" }
  ],
  [
    "two people who each take another step of it",
    function* ({ queue }) {
      yield* queue.submit(payout("a", 5001))
      yield* queue.settle("a", { as: "failed", by: "bia" })
      yield* queue.resume("a", { by: "ana" })
      yield* queue.resume("a", { by: "bia", notExecuted: true })
      yield* queue.settle("a", { as: "failed", by: "carla" })
      yield* queue.resume("a", { by: "ana" })
    },
    { a: "parked NeedsApproval Approve" }
  ],
  [
    "a payout whose approval a person took back by parking it",
    function* ({ queue }) {
      yield* queue.setPaused(true)
      yield* queue.submit(item("a", 5001))
      assert.strictEqual(yield* taken(queue.resume("a", { by: "bia" })), "accepted")
      yield* queue.park("a", { by: "bia" })
      yield* queue.setPaused(false)
    },
    { a: "parked Operator" }
  ],
  [
    "a payout of any amount that was not executed, as one person says",
    function* ({ early, queue }) {
      for (const [reference, amount] of [
        ["b", 1000],
        ["c", 5001]
      ] as const) {
        yield* early(reference, amount, "state = 'parked', parked_because = 'OtherClientId', may_have_left_at = 0")
        const step = (by?: string) => taken(queue.resume(reference, { by, notExecuted: true }))
        assert.deepStrictEqual(yield* Effect.forEach([undefined, "ana", "Ana "], step), [
          "PayoutStateConflict",
          "parked",
          "PayoutStateConflict"
        ])
      }
      yield* queue.submit(item("a", 5001))
    },
    { a: "parked NeedsApproval", b: "parked OtherClientId NotExecuted", c: "parked OtherClientId NotExecuted" }
  ],
  [
    "a payout in doubt that one person settles as failed, or by a word that is no step",
    function* ({ early, queue, update }) {
      yield* early("b", 1000, "state = 'parked', parked_because = 'PastHorizon', may_have_left_at = 1")
      // A caller without types may give anything.
      for (const as of ["refused", "accepted", "FAILED", null] as ReadonlyArray<unknown>)
        assert.strictEqual(yield* taken(queue.settle("b", { by: "ana", as: as as "failed" })), "InvalidRequest")
      const notExecuted = "false" as unknown as boolean
      assert.strictEqual(yield* taken(queue.resume("b", { by: "ana", notExecuted })), "InvalidRequest")
      const step = (by?: string) => taken(queue.settle("b", { by, as: "failed" }))
      assert.deepStrictEqual(yield* Effect.forEach([undefined, "ana", "ANA"], step), [
        "PayoutStateConflict",
        "parked",
        "PayoutStateConflict"
      ])
      yield* queue.setPaused(true)
      yield* update("b", "state = 'unknown'")
      assert.strictEqual(yield* step("bia"), "PayoutStateConflict")
      yield* queue.submit(item("a", 5001))
    },
    { a: "parked NeedsApproval", b: "unknown SettleFailed" }
  ],
  [
    "another limit, none, or another sender, as one person says",
    function* ({ queue }) {
      const before = yield* queue.account
      const steps = [
        (by?: string) => queue.setFourEyes(Money.centavos(900_000), { by }),
        (by?: string) => queue.setFourEyes(null, { by }),
        (by?: string) => queue.changeSender(fingerprint, { by })
      ]
      for (const step of steps) {
        assert.strictEqual((yield* Effect.flip(step()))._tag, "InvalidRequest")
        assert.strictEqual(yield* step("ana"), "Asked")
        for (const by of [...ofAna, ...ofNobody])
          assert.strictEqual((yield* Effect.flip(step(by)))._tag, "InvalidRequest")
      }
      // Two steps by two people are not one step by both.
      for (const [index, by] of [
        [1, "bia"],
        [2, "ana"]
      ] as const)
        assert.strictEqual(yield* steps[index]?.(by) ?? Effect.void, "Asked")
      const { asked, changes, ...after } = yield* queue.account
      assert.deepStrictEqual([after.fourEyesAbove, after.fingerprint], [limit, before.fingerprint])
      yield* queue.submit(item("a", 5001))
    },
    { a: "parked NeedsApproval" }
  ],
  [
    "a layer with another limit, which is refused and names both and the step",
    function* ({ queue }) {
      const error = yield* Effect.flip(startClient({ fourEyesAbove: 900_000 }))
      for (const words of [
        "900000 (R$ 9.000,00)",
        "5000 (R$ 50,00)",
        "payouts four-eyes 900000 --account default --by"
      ])
        assert.include(error.message, words)
      yield* startClient({ fourEyesAbove: limit })
      yield* queue.submit(item("a", 5001))
    },
    { a: "parked NeedsApproval" }
  ]
]

describe("the limit of an account", () => {
  effect.each(ways)("is not passed by one person: nothing is paid by %s", limited, function* ([, way, states]) {
    const world = yield* use
    yield* Effect.gen(() => way(world))
    yield* world.handled
    yield* world.resumedByAna("a")
    for (const [reference, state] of Object.entries(states))
      assert.strictEqual(yield* stateOf(world.queue, reference), state)
    assert.deepStrictEqual(yield* paid, [])
  })

  effect(
    "is passed by a second person without the run, which the history and the row name, and by any two where nobody submitted",
    limited,
    function* () {
      const { early, handled, queue, sql } = yield* use
      yield* Payouts.run([item("a", 3000), item("b", 3000)], { allowAlike: true })
      yield* queue.resume("a", { by: "Bia", note: "invoice seen" })
      yield* handled
      assert.deepStrictEqual(yield* linesOf(queue, "a"), [
        "Submitted by ana > accepted",
        "Parked NeedsApproval > parked",
        "Approved by Bia: invoice seen > accepted",
        "Marked 1 > accepted, may have left",
        "Answered Recorded 1 > posted"
      ])
      yield* queue.submit(payout("c", 6000))
      assert.deepStrictEqual((yield* queue.resume("c", { by: "ana" })).asked, { step: "Approve", by: "ana" })
      assert.strictEqual((yield* linesOf(queue, "c")).at(-1), "Asked by ana > parked")
      yield* queue.resume("c", { by: "bia" })
      yield* early("d", 7000, "state = 'parked', parked_because = 'OtherClientId', may_have_left_at = 1")
      yield* queue.resume("d", { by: "bia", notExecuted: true })
      // The submitter is the second one, so the first one approves it.
      yield* queue.resume("d", { by: "ana", notExecuted: true })
      yield* handled
      assert.deepStrictEqual(yield* paid, [3000, 6000, 7000])
      assert.strictEqual(yield* stateOf(queue, "b"), "parked NeedsApproval")
      const rows =
        yield* sql`SELECT approved_by AS "by" FROM effect_pix_payouts WHERE approved_at IS NOT NULL ORDER BY amount`
      assert.deepStrictEqual(
        rows.map((row) => row["by"]),
        ["Bia", "bia", "bia"]
      )
    }
  )

  effect("needs two people to settle a payout as failed, and one to settle it as paid", limited, function* () {
    const { queue } = yield* use
    yield* queue.submitMany([item("a", 6000), item("b", 1000)])
    yield* queue.settle("a", { as: "failed", by: "ana" })
    assert.strictEqual(yield* stateOf(queue, "a"), "parked NeedsApproval SettleFailed")
    assert.strictEqual(yield* taken(queue.settle("a", { as: "failed", by: "bia" })), "failed")
    assert.strictEqual(yield* taken(queue.settle("b", { by: "ana" })), "settled")
  })

  effect(
    "is changed by two people with an entry of each, by none where another change came between, and approves nothing that waits",
    limited,
    function* () {
      const { handled, queue, resumedByAna } = yield* use
      yield* queue.submitMany([item("a", 3000), item("b", 3000)])
      assert.strictEqual(yield* queue.setFourEyes(null, { by: "ana", note: "audit" }), "Asked")
      assert.deepInclude((yield* queue.account).asked, { fourEyesAbove: null, by: "ana", note: "audit" })
      yield* queue.changeSender(fingerprint, { by: "carla" })
      assert.strictEqual(yield* queue.setFourEyes(null, { by: "bia" }), "Asked")
      assert.strictEqual(yield* queue.setFourEyes(null, { by: "ana" }), "Changed")
      assert.strictEqual(yield* queue.setFourEyes(null, { by: "ana" }), "Changed")
      const { asked, changes, fourEyesAbove } = yield* queue.account
      assert.deepStrictEqual([fourEyesAbove, asked], [undefined, undefined])
      assert.deepStrictEqual(
        changes.map(
          ({ by, fingerprint: sender, step }) => `${step} ${sender === undefined ? "limit" : "sender"} ${by}`
        ),
        ["Changed limit carla", "Asked limit ana", "Asked sender carla", "Asked limit bia", "Changed limit ana"]
      )
      yield* handled
      yield* resumedByAna("a")
      yield* queue.resume("b", { by: "bia" })
      yield* queue.submit(item("c", 9000))
      yield* handled
      assert.deepStrictEqual((yield* paid).toSorted(), [3000, 9000])
    }
  )

  const { layer, lines } = makeWarnings()
  effect(
    "is that of the next request where it was lowered after a worker read the account, and what it parks is a warning",
    Layer.provideMerge(limited, layer),
    function* () {
      const { insert, queue, sql } = yield* use
      yield* queue.submit(item("a", 5000))
      yield* settle
      // The worker has read the account in this second, and does not read it again.
      yield* sql`UPDATE effect_pix_payout_accounts SET four_eyes_above = 4000`
      yield* insert(item("b", 5000))
      yield* settle
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* stateOf(queue, "b"), "parked NeedsApproval")
      yield* queue.submit(item("c", 4001))
      assert.deepStrictEqual(yield* paid, [5000])
      assert.lengthOf(
        lines.filter((line) => line.startsWith("A payout waits for a person: NeedsApproval")),
        2
      )
    }
  )

  effect(
    "that an option sets is written without a person, may be 1 so that every payout needs approval, and is a whole number",
    world,
    function* () {
      yield* startClient({ fourEyesAbove: 1 })
      const queue = yield* startClient()
      assert.deepStrictEqual(
        (yield* queue.account).changes.map(({ by, fourEyesAbove }) => [fourEyesAbove, by]),
        [[Money.centavos(1), undefined]]
      )
      assert.strictEqual(yield* taken(queue.submit(item("a", 1000))), "parked")
      for (const fourEyesAbove of [0, -1, 0.5, Number.NaN])
        assert.include(
          (yield* Effect.flip(startClient({ fourEyesAbove }))).message,
          "fourEyesAbove must be a whole number from 1"
        )
      // A caller without types may give anything.
      for (const wrong of [0.5, 0, "1"] as ReadonlyArray<unknown>)
        assert.strictEqual(
          (yield* Effect.flip(queue.setFourEyes(wrong as Money.Centavos, { by: "ana" })))._tag,
          "InvalidRequest"
        )
      for (const by of ["", " ", "x".repeat(101)]) {
        const error = yield* Effect.flip(queue.submit(item("b", 6000, by)))
        assert.deepStrictEqual(error._tag === "InvalidRequest" && error.issues.map(({ path }) => path), ["by"])
      }
      yield* queue.submit(item("a", 1000, "bia"))
      assert.strictEqual((yield* linesOf(queue, "a"))[0], "Submitted by ana > accepted")
    }
  )
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
