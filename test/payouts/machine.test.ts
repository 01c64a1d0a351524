/**
 * The state machine of a payout: what is known x what an answer says -> what is known next. The steps of people are in Steering.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Result } from "effect"
import { Money } from "effect-pix"
import {
  BelowMinimum,
  InvalidRequest,
  NoPixKey,
  OutcomeUnknown,
  RateLimited,
  type RequestWithdrawalError,
  RequestRejected,
  WithdrawalFailed
} from "../../src/contract/PaymentsError.ts"
import type { Withdrawal } from "../../src/contract/Withdrawal.ts"
import { afterAnswer, differsOf, rejectOtherCompany, writeOptions } from "../../src/payouts/internal/machine/answers.ts"
import { Account } from "../../src/payouts/internal/machine/account.ts"
import { step } from "../../src/payouts/internal/machine/edges.ts"
import { type Event, tooLate, waitedMillis } from "../../src/payouts/internal/machine/events.ts"
import { meaningOfFailure } from "../../src/payouts/internal/machine/said.ts"
import * as Row from "../../src/payouts/internal/machine/row.ts"
import { failures } from "../support/payoutAnswers.ts"
import { keyOf } from "../support/payoutQueue.ts"

const key = keyOf("invoice-1")
const hour = 3_600_000
const now = 100 * hour
const account = { ...Account.make({ account: "default" }), readAt: now, ahead: 0, session: null }
const deciding = { account, now, horizon: 12 * hour }

const clean = Row.Row.make({
  account: "default",
  idempotencyKey: key,
  reference: "invoice-1",
  amount: 1000,
  request: "{}",
  submittedAt: 0,
  updatedAt: 0,
  sends: 1,
  countedDay: "1970-01-01"
})
const doubted = Row.Row.make({ ...clean, state: "unknown", mayHaveLeftAt: now - hour, error: "{}" })
const shown = ({ because, state }: Row.Row) => [state, because].filter((word) => word !== null).join(" ")

const value = Money.toReais(Money.centavos(1000))
const record: Withdrawal = { id: 7, idempotencyKey: key, companyId: 1, value, enTransaction: "Awaiting" }
const withdrawal = { operation: "requestWithdrawal", attempts: 1 } as const
const ofRequest = { ...withdrawal, idempotencyKey: key, status: 422, outcome: "Rejected" } as const
const recordedAsFailed = new WithdrawalFailed({
  ...ofRequest,
  status: 201,
  withdrawalId: 7184,
  withdrawalStatus: "Failure"
})
const notAsAsked = (path: string, reason: "NotAsAsked" | "Unreadable" = "NotAsAsked") =>
  new OutcomeUnknown({
    ...withdrawal,
    idempotencyKey: key,
    outcome: "Unknown",
    reason,
    issues: [{ path, problem: "is another one" }]
  })

type Answer = Result.Result<Withdrawal, RequestWithdrawalError>
const known = (answer: Answer, isInDoubt: boolean) => afterAnswer(answer, key, isInDoubt)

/** What an event changes in a row, and the entry of its history. */
const taken = (row: Row.Row, event: Event) => {
  const found = step(row, event)
  assert(typeof found !== "string", "the step is refused")
  return found
}
const answered = (row: Row.Row, answer: ReturnType<typeof known>, payee: string | null = null) =>
  taken(
    row,
    answer._tag === "Recorded"
      ? { ...answer, now, payee, isUnlisted: false }
      : answer._tag === "Unknown"
        ? { ...answer, now, request: row.sends }
        : { ...answer, now, wantedAt: row.wantedAt }
  )

describe("an answer", () => {
  it.each<[string, RequestWithdrawalError | Withdrawal, clean: string, inDoubt: string]>([
    ["a record", record, "posted", "posted"],
    ["a lost answer", failures.unknown(key), "unknown", "unknown"],
    ["a conflict of its key", failures.conflict(key), "unknown", "unknown"],
    ["too small a balance", failures.poor(key), "accepted Balance", "unknown"],
    ["a limit", failures.limited(key), "accepted Limit", "unknown"],
    ["a 407", failures.redirected(key, 407), "accepted Setup", "unknown"],
    ["a 401", failures.auth(key), "accepted Credentials", "unknown"],
    ["a 403", failures.auth(key, 403), "accepted Credentials", "unknown"],
    ["a 429", failures.throttled(key), "accepted Limit", "unknown"],
    ["no connection", failures.down(key), "accepted Outage", "unknown"],
    ["another client id", failures.down(key, "OtherClientId"), "accepted OtherClientId", "unknown"],
    ["a redirect", failures.redirected(key), "accepted Setup", "unknown"],
    ["a 422", failures.refused(key), "refused", "unknown"],
    ["no PIX key", new NoPixKey(ofRequest), "refused", "unknown"],
    ["an empty 404", new NoPixKey({ ...ofRequest, status: 404 }), "accepted Setup", "unknown"],
    ["a page with 405", new RequestRejected({ ...ofRequest, status: 405 }), "accepted Setup", "unknown"],
    [
      "a 404 with words",
      new RequestRejected({ ...ofRequest, status: 404, serviceMessage: "Chave inexistente" }),
      "refused",
      "unknown"
    ],
    ["an empty 413", new RequestRejected({ ...ofRequest, status: 413 }), "refused", "unknown"],
    ["a wrong request", new InvalidRequest({ ...withdrawal, outcome: "NotSent", issues: [] }), "refused", "unknown"],
    ["a record of another company", notAsAsked("companyId"), "parked SeeRecord", "parked SeeRecord"],
    ["a record of another PIX key", notAsAsked("pixKey"), "parked SeeRecord", "parked SeeRecord"],
    ["a record of another value", notAsAsked("value"), "unknown", "unknown"],
    ["a record that proves a failure", recordedAsFailed, "failed", "parked SeeRecord"],
    ["a record with a word for failure", notAsAsked("enTransaction"), "parked SeeRecord", "parked SeeRecord"],
    ["a record whose word cannot be read", notAsAsked("enTransaction", "Unreadable"), "unknown", "unknown"],
    ["a record whose PIX key cannot be read", notAsAsked("pixKey", "Unreadable"), "unknown", "unknown"]
  ])("after %s a clean payout is %3$s, and one in doubt %4$s", (_, given, wanted, inDoubt) => {
    const answer: Answer = "_tag" in given ? Result.fail(given) : Result.succeed(given)
    for (const [row, state] of [
      [clean, wanted],
      [doubted, inDoubt]
    ] as const) {
      const changes = answered(row, known(answer, row === doubted))?.changes
      const after = { ...row, ...changes }
      assert.strictEqual(shown(after), state)
      const isKnown = after.state === "posted" || row === clean
      const stays = isKnown && !/unknown|parked/.test(state) ? null : row.mayHaveLeftAt
      assert.strictEqual(after.mayHaveLeftAt, stays, "the mark is cleared by what is known alone")
      if (/^(accepted|refused|failed)/.test(state)) assert.isNull(after.countedDay, "its amount is free again")
    }
  })

  const changed = Row.Row.make({ ...doubted, because: "Operator" })
  it.each<[state: Row.Row["state"], record: string, refusal: string, failure: string, lost: string]>([
    ["parked", "posted clean Answered", "parked clean Answered", "failed clean Answered", "parked left Answered"],
    ["paid", "paid left Answered", "paid clean Answered", "paid clean Contradicted", "paid left"],
    ["returned", "returned left Answered", "returned clean Answered", "returned clean Answered", "returned left"],
    ["failed", "failed left Contradicted", "failed clean Answered", "failed clean Answered", "failed left"]
  ])("to a request of a payout that is %s meanwhile undoes no step", (state, ...expected) => {
    const row = { ...changed, state }
    const answers: ReadonlyArray<Answer> = [
      Result.succeed(record),
      Result.fail(failures.refused(key)),
      Result.fail(recordedAsFailed),
      Result.fail(failures.unknown(key))
    ]
    const outcomes = answers.map((answer) => {
      const is = known(answer, false)
      const found = answered(row, is)
      const after = { ...row, ...found?.changes }
      const mark = after.mayHaveLeftAt === null ? "clean" : "left"
      return [after.state, mark, ...(found === undefined ? [] : [found.entry?._tag])].join(" ")
    })
    assert.deepStrictEqual(outcomes, expected)
  })

  it("is stored with its payee and state, but for one that was forgotten, and one that may be a person's name", () => {
    const whole = answered(clean, known(Result.succeed(record), false), "payee")?.changes
    assert.deepInclude(whole, { withdrawalId: 7, word: "Awaiting", payee: "payee" })
    const named = known(Result.succeed({ ...record, enTransaction: "MARIA SILVA" }), false)
    const after = answered({ ...clean, request: null }, named, "payee")?.changes
    assert.deepInclude(after, { payee: null, word: null })
  })

  it("of a record that proves a failure after a doubt has its number and its word", () => {
    const is = known(Result.fail(recordedAsFailed), true)
    assert(is._tag === "Unknown" && is.error._tag === "OutcomeUnknown")
    assert.deepStrictEqual(
      [{ ...is.error.seen }, is.error.reason],
      [{ id: "7184", status: "Failure" }, "RefusedAfterUnknown"]
    )
  })

  it("of a refusal after a doubt has what the service said, and is no proof", () => {
    const said = {
      ...withdrawal,
      idempotencyKey: key,
      status: 429,
      attempts: 3,
      serviceCode: "E_1",
      retryAfter: Duration.seconds(7)
    }
    assert.deepStrictEqual(known(Result.fail(new RateLimited({ ...said, outcome: "Rejected" })), true), {
      _tag: "Unknown",
      error: new OutcomeUnknown({ ...said, outcome: "Unknown", reason: "RefusedAfterUnknown" })
    })
  })

  it("is stored with a code of the service, and without its words", () => {
    const stored = (serviceCode: string) =>
      known(Result.fail(new RequestRejected({ ...ofRequest, serviceMessage: "Maria 529", serviceCode })), false)
    for (const serviceCode of ["E-422.b", "WITHDRAWAL_REFUSED", "1".repeat(40)])
      assert.deepStrictEqual(stored(serviceCode), {
        _tag: "Refused",
        because: undefined,
        error: new RequestRejected({ ...ofRequest, serviceCode })
      })
    const issues = [{ path: "pixKey", problem: "was refused: de Maria" }]
    assert.deepStrictEqual(known(Result.fail(new RequestRejected({ ...ofRequest, issues })), false), {
      _tag: "Refused",
      because: undefined,
      error: new RequestRejected({ ...ofRequest, issues: [{ path: "pixKey", problem: "was refused" }] })
    })
    for (const serviceCode of ["1".repeat(41), "MARIA", "maria 1", ""])
      assert.deepStrictEqual(stored(serviceCode), {
        _tag: "Refused",
        because: undefined,
        error: new RequestRejected(ofRequest)
      })
    for (const [status, shown] of [
      ["MARIA SILVA", { id: "7" }],
      ["Awaiting", { id: "7", status: "Awaiting" }]
    ] as const) {
      const doubt = new OutcomeUnknown({ ...failures.unknown(key), seen: { id: "7", status } })
      assert.deepInclude(known(Result.fail(doubt), false), { error: new OutcomeUnknown({ ...doubt, seen: shown }) })
    }
  })

  it.each<[found: number | undefined, own: number | null, isOther: boolean]>([
    [1, 1, false],
    [2, 1, true],
    [undefined, 1, false],
    [2, null, false]
  ])("with success about the company %s on an account of %s is one about another: %s", (found, own, isOther) => {
    const { companyId: _, ...rest } = record
    const answer = Result.succeed({ ...rest, ...(found !== undefined && { companyId: found }) })
    const judged = rejectOtherCompany(answer, key, own)
    if (!isOther) return assert.strictEqual(judged, answer)
    const error = Result.isFailure(judged) ? judged.failure : undefined
    assert(error?._tag === "OutcomeUnknown")
    assert.deepStrictEqual([differsOf(error), error.seen], ["companyId", { id: "7" }])
    assert.include(error.message, "companyId is not the company of the account")
  })

  it.each<[string, RequestWithdrawalError, says: string]>([
    ["a 401", failures.auth(key), "Refused Credentials"],
    ["a 403", failures.auth(key, 403), "Unclear Credentials"],
    ["a 422 that an entry says is of the credentials", failures.auth(key, 422), "Unclear Credentials"],
    [
      "a 403 that an entry says is of the amount",
      new BelowMinimum({
        ...ofRequest,
        amount: Money.centavos(1000),
        minimum: Money.centavos(5000),
        status: 403,
        serviceMessage: "Valor"
      }),
      "Taken"
    ],
    [
      "a 429 that an entry says is of the payee",
      new RequestRejected({ ...ofRequest, status: 429, serviceMessage: "Chave" }),
      "Taken"
    ],
    ["a 404 without words", new RequestRejected({ ...ofRequest, status: 404 }), "Unclear Setup"],
    ["a 404 with words", new RequestRejected({ ...ofRequest, status: 404, serviceMessage: "Chave" }), "Taken"],
    ["a 300", new RequestRejected({ ...ofRequest, status: 300 }), "Refused Setup"],
    ["a 399", new RequestRejected({ ...ofRequest, status: 399 }), "Refused Setup"],
    ["a 400", new RequestRejected({ ...ofRequest, status: 400 }), "Taken"],
    ["a 429", failures.throttled(key), "Refused Limit"],
    [
      "a 429 of one in doubt",
      new OutcomeUnknown({ ...failures.unknown(key), reason: "RefusedAfterUnknown", status: 429 }),
      "Refused Limit"
    ],
    ["a limit", failures.limited(key), "Refused Limit"],
    ["no balance", failures.poor(key), "Short Balance"],
    [
      "a refusal of one in doubt",
      new OutcomeUnknown({ ...failures.unknown(key), reason: "RefusedAfterUnknown" }),
      "Taken"
    ],
    ["a break behind", new OutcomeUnknown({ ...failures.unknown(key), reason: "UnderWay" }), "Unclear Outage"],
    ["a 503", new OutcomeUnknown({ ...failures.unknown(key), reason: "ServerError", status: 503 }), "Unclear Outage"],
    ["no connection", failures.down(key), "Unclear Outage"],
    ["what was not sent", new InvalidRequest({ ...withdrawal, outcome: "NotSent", issues: [] }), "Nothing"]
  ])("of %s says of the account what the first line that fits says", (_, error, wanted) => {
    const { because, says } = meaningOfFailure(error)
    assert.strictEqual([says, because].filter((word) => word !== undefined).join(" "), wanted)
  })
})

describe("a request", () => {
  it("of a clean payout says that there was no earlier one, and one in doubt says when that left", () => {
    assert.deepStrictEqual(writeOptions(key, null), { idempotencyKey: key, earlier: "None" })
    const { after, ...options } = writeOptions(key, 5)
    assert.deepStrictEqual(options, {})
    assert.deepInclude(after, { _tag: "OutcomeUnknown", firstSentAt: DateTime.makeUnsafe(5), attempts: 1 })
  })

  it.each<[string, late: string | undefined, row: Partial<Row.Row>]>([
    ["it is wanted now", undefined, {}],
    ["it is wanted for as long as the horizon", undefined, { wantedAt: now - 12 * hour }],
    ["it is wanted for longer", "WaitedTooLong", { wantedAt: now - 12 * hour - 1 }],
    [
      "it is wanted at a time that lies ahead by more: a clock was wrong",
      "WaitedTooLong",
      { wantedAt: now + 12 * hour + 1 }
    ],
    ["one left as long ago as the horizon", undefined, { mayHaveLeftAt: now - 12 * hour }],
    ["one left longer ago", "PastHorizon", { mayHaveLeftAt: now - 12 * hour - 1 }],
    ["one left in the future by more: a clock was wrong", "PastHorizon", { mayHaveLeftAt: now + 12 * hour + 1 }],
    ["one left just now, and the first one of its wanting long ago", "PastHorizon", { mayHaveLeftAt: now, wantedAt: 0 }]
  ])("leaves no more where %s: %s", (_, late, row) => {
    assert.strictEqual(tooLate({ ...clean, wantedAt: now, ...row }, deciding), late)
  })

  it("is late by the clock of the database, which the process's own may differ from", () => {
    const row = { ...clean, wantedAt: now + 48 * hour }
    const of = (ahead: number) => tooLate(row, { ...deciding, account: { ...deciding.account, ahead } })
    assert.deepStrictEqual([of(0), of(48 * hour)], ["WaitedTooLong", undefined])
  })
})

describe("the wait of a payout", () => {
  const cap = { because: "DailyCap", waitsSince: 50 }
  const pause = { paused: true, pausedAt: 30 }
  it.each<[string, millis: number, row: Partial<Row.Row>, account: Partial<Account>]>([
    ["is wanted since 20", 80, {}, {}],
    ["is wanted since 20, while the service refuses all", 80, {}, { heldAt: 10, heldBecause: "Setup", refusals: 1 }],
    ["cannot have left, and a pause began at 30", 10, {}, pause],
    ["cannot have left, and is wanted since a pause", 0, { wantedAt: 60 }, pause],
    ["cannot have left, and waits for the cap since 50", 30, cap, {}],
    ["cannot have left, and waits for the cap in a pause", 10, cap, pause],
    ["cannot have left, and a worker is seen again since 70", 50, cap, { servedAt: 70 }],
    ["cannot have left, and no worker is seen now", 80, cap, { seenAt: 100 - 13 * hour }],
    ["cannot have left, and no worker was ever seen", 80, cap, { servedAt: null }],
    ["may have left before a pause", 80, { mayHaveLeftAt: 25 }, pause],
    ["may have left before it waited for the cap", 80, { mayHaveLeftAt: 25, ...cap }, {}]
  ])("that %s is %d ms", (_, millis, row, account) => {
    const asked = { ...deciding, now: 100, account: { ...deciding.account, servedAt: 0, seenAt: 90, ...account } }
    assert.strictEqual(waitedMillis({ ...clean, wantedAt: 20, ...row }, asked), millis)
  })

  it("for the same thing goes on, and begins anew for another one", () => {
    const since = (because: string, next: "Credentials" | "DailyCap") =>
      taken({ ...clean, because, waitsSince: 3 }, { _tag: "Waits", at: { ...deciding, now: 9 }, because: next })
        ?.changes.waitsSince
    assert.deepStrictEqual(
      [since("Credentials", "Credentials"), since("Limit", "Credentials"), since("DailyCap", "DailyCap")],
      [3, 9, 3]
    )
  })

  it("is stored with the mark of the next request, which stays the first one's time", () => {
    const at = { ...deciding, now: 10, account: { ...deciding.account, servedAt: 0, seenAt: 9 } }
    const marked = (row: Row.Row) => taken(row, { _tag: "Marked", at, fingerprint: "new", underWayUntil: 99 })?.changes
    const first = marked({ ...clean, sends: 0, wantedAt: 4, because: "DailyCap", waitsSince: 6 })
    assert.deepInclude(first, { wantedAt: 8, sends: 1, mayHaveLeftAt: 10, fingerprint: "new", because: null })
    const again = marked({ ...doubted, wantedAt: 2, mayHaveLeftAt: 3, fingerprint: "old" })
    assert.strictEqual(again?.wantedAt, 2)
    assert.deepInclude(again, { mayHaveLeftAt: 3, fingerprint: "old", markedAt: 10, underWayUntil: 99 })
  })
})
