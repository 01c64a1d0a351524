/**
 * What a delivery becomes, by what it claims and what the lookups say, and when it is looked up again. A recorded delivery is
 * looked up for a minute, and one that is not recorded for 8 seconds; the rest is the same.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { TransactionHints } from "../../src/transactions/TransactionHints.ts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { pass } from "../support/payoutQueue.ts"
import { drawn } from "../support/seed.ts"
import {
  decorated,
  edge,
  evenly,
  exhaust,
  finish,
  inSeconds,
  lookingUp,
  nobody,
  recorded,
  recording,
  saying,
  stored,
  timing,
  unrecorded,
  world
} from "../support/webhooks.ts"

const most = 7

/** What is claimed, what the lookups say in order, the statuses that are handed out, the number of lookups, and the report. */
type Row = readonly [claim: string, says: string, handedOut: string, lookups: number, reason?: string]

const rows: ReadonlyArray<Row> = [
  ["Paid", "Paid", "Paid", 1],
  ["no status", "Paid", "Paid", 1],
  ["Awaiting", "Paid", "Paid", 1],
  ["PAID", "Paid", "Paid", 1],
  ["Paid", "PAID", "PAID", 1],
  ["Expired", "Paid", "Paid", most, "Disagrees"],
  ["Overdue", "Paid", "Paid", 1],
  ["Paid", "Refunded", "Refunded", 1],
  ["CHARGEBACK", "Chargeback", "Chargeback", 1],
  ["Awaiting", "Awaiting", "", 1],
  ["a check", "Paid", "Paid", 1],
  ["a check", "Awaiting", "", 1],
  ["a check", "NotFound", "", most, "NotFound"],
  ["AWAITING", "awaiting", "", 1],
  ["pending", "Awaiting", "", 1],
  ["successful", "Paid", "Paid", 1],
  ["successful", "Awaiting Paid", "Paid", 2],
  ["successful", "PENDING", "", most, "StillOpen"],
  ["successful", "Processing", "Processing", most, "Disagrees"],
  ["successful", "Cancelled", "Cancelled", most, "Disagrees"],
  ["Paid", "Successful", "Successful", most, "Disagrees"],
  ["refunded", "RefundFailed", "RefundFailed", most, "Disagrees"],
  ["successful", "Refunded", "Refunded", 1],
  ["Cancelled", "REFUNDED Paid", "REFUNDED", most, "WentBack"],
  ["Paid", "Another", "", 1, "OtherTransaction"],
  ["Paid", "Awaiting", "", most, "StillOpen"],
  ["Paid", "NotFound", "", most, "NotFound"],
  ["Paid", "NotFound Awaiting Paid", "Paid", 3],
  ["Refunded", "Paid Refunded", "Paid Refunded", 2],
  ["Paid", "Cancelled Cancelled Paid", "Cancelled Paid", 3],
  ["Cancelled", "Paid Expired Paid Cancelled", "Paid Expired", 2],
  ["Cancelled", "Refunded Paid Cancelled", "Refunded Cancelled", 3],
  ["Cancelled", "Refunded Paid", "Refunded", most, "WentBack"],
  ["Cancelled", "Paid Refunded Paid", "Paid Refunded", most, "WentBack"],
  ["Cancelled", "Paid", "Paid", most, "Disagrees"],
  ["Refunded", "Paid", "Paid", most, "Disagrees"],
  ["refunded", "Paid", "Paid", most, "Disagrees"],
  ["Paid", "Cancelled", "Cancelled", most, "Disagrees"],
  ["Paid", "Chargeback", "Chargeback", most, "Disagrees"],
  ["Cancelled", "Refunded", "Refunded", most, "Disagrees"]
]

/** Lookups that say this, one after another; the last one is repeated. */
const script = Effect.fnUntraced(function* (says: string) {
  const words = says.split(" ")
  const payments = yield* Payments
  let at = 0
  return lookingUp((answer) =>
    Effect.suspend(() => {
      const word = words[Math.min(at++, words.length - 1)] ?? ""
      if (word === "NotFound") return payments.getTransaction(nobody())
      const other = word === "Another" ? { transactionId: nobody() } : { enStatusTransaction: word }
      return Effect.map(answer, (detail) => ({ ...detail, ...other }))
    })
  )
})

describe.each([recorded, unrecorded, decorated])("$name", ({ layer, times }) => {
  for (const [claim, says, handedOut, count, reason] of drawn(rows))
    effect(
      `that claims ${claim}, of which lookups say ${says}, ${handedOut === "" ? "is not handed out" : `is handed out as ${handedOut}`}${reason === undefined ? "" : ` and reported as ${reason}`}`,
      world,
      function* () {
        const { id } = yield* charge
        const at: Array<number> = []
        const webhook = yield* recording({}, layer).pipe(timing(at), yield* script(says))
        const isCheck = claim === "a check"
        const untrusted = isCheck || claim === "no status" ? {} : { status: claim }
        const work = isCheck ? Effect.as(webhook.check(id), 200) : webhook.post({ transactionId: id, ...untrusted })
        const answer = yield* Effect.forkChild(work, { startImmediately: true })
        yield* TestClock.adjust("100 seconds")
        yield* webhook.idle
        assert.deepStrictEqual(
          { handedOut: webhook.statuses().join(" "), at: inSeconds(at) },
          { handedOut, at: times.slice(0, count) }
        )
        if (reason === "NotFound" && !isCheck) assert.deepStrictEqual(yield* webhook.find(id), [])
        const isLate = layer === edge && count === most && !isCheck
        assert.strictEqual(yield* Fiber.join(answer), isLate ? 503 : 200)
        const isFound = reason !== "NotFound" && reason !== "OtherTransaction"
        const report = {
          _tag: "UnconfirmedTransaction",
          id: `${id}:${reason}`,
          transactionId: id,
          reason,
          untrusted,
          ...(isFound && { lastStatus: says.split(" ").at(-1) })
        }
        assert.deepStrictEqual(
          webhook.reports.map((seen) => Object.fromEntries(Object.entries(seen).filter(([key]) => key !== "error"))),
          reason === undefined ? [] : [report]
        )
      }
    )
})

describe("deliveries about one transaction, one after another", () => {
  /** Each delivery as its claim and what lookups say then. */
  for (const [deliveries, handedOut, reasons] of [
    ["Paid:Paid Paid:Paid Awaiting:Paid WAITING_PAYMENT:Paid", "Paid", ""],
    ["Paid:Paid PAID:PAID páid:pa_id", "Paid", ""],
    ["Paid:Paid Refunded:Refunded", "Paid Refunded", ""],
    ["Awaiting:Awaiting Paid:Paid", "Paid", ""],
    ["Refunded:Refunded Paid:Refunded", "Refunded", ""],
    ["Refunded:Refunded Awaiting:Paid", "Refunded", "WentBack"],
    ["Paid:Paid Refunded:Refunded Paid:Paid", "Paid Refunded", "WentBack"],
    ["Paid:Paid Cancelled:Cancelled Paid:Paid Cancelled:Cancelled", "Paid Cancelled", ""],
    ["Cancelled:Paid Failed:Paid", "Paid", "Disagrees Disagrees"],
    ["Awaiting:ZULMIRA Cancelled:ZULMIRA", "ZULMIRA", "Disagrees"],
    ["successful:Awaiting pending:Paid", "Paid", "StillOpen"]
  ] as const)
    effect(
      `deliveries and lookups that say ${deliveries} hand out ${handedOut}, each once${reasons === "" ? "" : `, and report ${reasons}`}`,
      world,
      function* () {
        const { id } = yield* charge
        let status = ""
        const webhook = yield* recording().pipe(saying(() => status))
        for (const [claim = "", says = ""] of deliveries.split(" ").map((delivery) => delivery.split(":"))) {
          status = says
          // The service writes ids in small letters; a delivery may not.
          yield* webhook.claim(id.toUpperCase(), claim)
          yield* pass(120)
          yield* webhook.idle
        }
        assert.deepStrictEqual([webhook.statuses().join(" "), webhook.reasons().join(" ")], [handedOut, reasons])
        assert.deepStrictEqual(
          webhook.events.map((event) => event.id),
          handedOut.split(" ").map((word) => `${id}:${word}`)
        )
        assert.notMatch(yield* stored, /ZULMIRA/, "a word that is not documented may be a name")
        const rows = yield* webhook.find(id)
        const ended = rows.map(({ claimed, handedOut, state }) => [state, claimed, handedOut.length])
        assert.deepStrictEqual(ended, [["Finished", [], webhook.events.length]])
      }
    )

  effect(
    "a status that the last lookup shows is handed out, and the claim of another one reported",
    world,
    function* () {
      let status = "Awaiting"
      const { claim, idle, reasons, statuses } = yield* recording().pipe(saying(() => status))
      yield* claim((yield* charge).id, "Refunded")
      yield* TestClock.adjust("62 seconds")
      status = "Paid"
      yield* TestClock.adjust("1 second")
      yield* idle
      assert.deepStrictEqual([statuses(), reasons()], [["Paid"], ["Disagrees"]])
    }
  )

  effect("a delivery whose id is none is reported and not looked up", world, function* () {
    for (const layer of [undefined, edge]) {
      const { idle, post, reasons } = yield* recording(
        { find: () => ({ about: "Transaction", transactionId: "" }) },
        layer
      )
      assert.strictEqual(yield* post({}), 200)
      yield* idle
      assert.deepStrictEqual(reasons(), ["LookupFailed"])
    }
    assert.strictEqual(yield* lookups, 0)
  })
})

describe("deliveries about one transaction that overlap", () => {
  effect("a delivery during a lookup is looked up at once after it, whatever that one shows", world, function* () {
    const sandbox = yield* Sandbox
    const [paid, { id: open }] = [yield* paidCharge, yield* charge]
    const { claim, statuses } = yield* recording().pipe(
      lookingUp((answer) => Effect.tap(answer, Effect.sleep("1 second")))
    )
    yield* Effect.forEach([paid, open], (id) => claim(id))
    yield* TestClock.adjust("500 millis")
    yield* sandbox.refund(paid)
    yield* sandbox.markPaid(open)
    yield* Effect.forEach([paid, open], (id) => claim(id))
    yield* TestClock.adjust("500 millis")
    assert.deepStrictEqual(statuses(), ["Paid"])
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(statuses().toSorted(), ["Paid", "Paid", "Refunded"])
  })

  effect("a claim that the charge is pending does not end the wait of one that it is paid", world, function* () {
    const { claim, idle, statuses } = yield* recording()
    const { id } = yield* charge
    for (const status of ["successful", "pending"]) yield* claim(id, status)
    yield* TestClock.adjust("2 seconds")
    yield* (yield* Sandbox).markPaid(id)
    yield* TestClock.adjust("8 seconds")
    yield* idle
    assert.deepStrictEqual(statuses(), ["Paid"])
  })

  effect(
    "a repetition of an early claim is one lookup, and the claim waits for a minute after it",
    world,
    function* () {
      const at: Array<number> = []
      const { claim, idle, reasons } = yield* recording().pipe(timing(at))
      const { id } = yield* charge
      for (let n = 1; n <= 20; n++) {
        yield* claim(id)
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(at.length, n)
      }
      yield* TestClock.adjust("61 seconds")
      assert.deepStrictEqual(reasons(), [])
      yield* TestClock.adjust("5 seconds")
      yield* idle
      assert.deepStrictEqual(reasons(), ["StillOpen"])
      assert.deepStrictEqual(inSeconds(at.slice(19).map((time) => time - 9500)), recorded.times)
    }
  )
})

describe("an outage of the service", () => {
  effect("a delivery that is repeated is looked up after 2, 4, 8 seconds, up to five minutes", world, function* () {
    const at: Array<number> = []
    const { claim, reports, statuses, ...webhook } = yield* recording().pipe(timing(at), evenly)
    const sandbox = yield* Sandbox
    const id = yield* paidCharge
    yield* sandbox.fault("getTransaction", Fault.refusal(401, "não"), { times: 1000 })
    for (const seconds of [0.1, 1, 2, 5, 10, 15, 30, 60, 120, 240, 300, 300]) {
      yield* Effect.replicateEffect(claim(id), 10, { concurrency: "unbounded" })
      yield* TestClock.adjust(seconds * 1000)
    }
    assert.deepStrictEqual(inSeconds(at), [0, 2, 6, 14, 30, 62, 126, 254, 510, 810])
    yield* sandbox.clearFaults
    yield* TestClock.adjust("5 minutes")
    yield* webhook.idle
    assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
  })

  effect("a delivery is looked up again after an hour if the service asks for a day", world, function* () {
    const at: Array<number> = []
    const { claim, ...webhook } = yield* recording().pipe(timing(at), evenly)
    const id = yield* paidCharge
    yield* (yield* Sandbox).fault("getTransaction", Fault.retryAfter("1 day"), { times: 1 })
    yield* claim(id)
    yield* TestClock.adjust("61 minutes")
    yield* webhook.idle
    assert.deepStrictEqual(inSeconds(at), [0, 3600])
  })

  effect.each([recorded, unrecorded])(
    "a gateway that answers in 20 seconds confirms $name by one lookup",
    world,
    function* ({ layer }) {
      const { claim, reports, statuses } = yield* recording({}, layer)
      const id = yield* paidCharge
      yield* (yield* Sandbox).fault("getTransaction", Fault.latency("20 seconds", { executed: true }), { times: 9 })
      const answer = yield* Effect.forkChild(claim(id), { startImmediately: true })
      yield* TestClock.adjust("19900 millis")
      assert.deepStrictEqual(statuses(), [])
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* Fiber.join(answer), 200)
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual([statuses(), reports, yield* lookups], [["Paid"], [], 1])
    }
  )

  effect(
    "a delivery that is not recorded has 503 after the policy's time of an attempt, or at once if the service asks for more",
    world,
    function* () {
      const [refused, hanging] = [yield* paidCharge, yield* paidCharge]
      const { claim, reasons } = yield* recording({}, edge)
      const sandbox = yield* Sandbox
      yield* sandbox.fault("getTransaction", Fault.retryAfter("1 hour"), { times: 1 })
      assert.strictEqual(yield* claim(refused), 503)
      yield* sandbox.fault("getTransaction", Fault.silence(), { times: 1 })
      const answer = yield* Effect.forkChild(claim(hanging), { startImmediately: true })
      yield* TestClock.adjust("29900 millis")
      assert.isUndefined(answer.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual([yield* Fiber.join(answer), ...reasons()], [503, "LookupFailed", "LookupFailed"])
    }
  )

  effect("a lookup of a mock that hangs is repeated, and delays no other transaction", world, function* () {
    const [one, other] = [yield* paidCharge, yield* paidCharge]
    let hung = 0
    const { claim, statuses, ...webhook } = yield* recording().pipe(
      lookingUp((answer, id) => (id === one && ++hung < 3 ? Effect.never : answer))
    )
    yield* claim(one)
    yield* claim(other)
    yield* TestClock.adjust("9 seconds")
    assert.deepStrictEqual([statuses(), hung], [["Paid"], 1])
    yield* finish(webhook)
    assert.deepStrictEqual([statuses(), hung], [["Paid", "Paid"], 3])
  })

  effect("a delivery whose last lookup fails is reported with the error", world, function* () {
    const { idle, post, reports } = yield* recording()
    const { id } = yield* charge
    yield* (yield* Sandbox).rotateCredentials
    yield* post({ transactionId: id })
    yield* exhaust("outage", 1, TestClock.adjust("10 millis"))
    yield* TestClock.adjust("1 second")
    yield* idle
    assert.deepStrictEqual(
      reports.map((report) => "error" in report && [report.reason, report.error?._tag]),
      [["LookupFailed", "AuthError"]]
    )
  })
})

describe("a delivery wakes whoever waits for its transaction", () => {
  for (const { layer, name } of [recorded, unrecorded, decorated]) {
    effect(`${name} wakes them before its own lookup, and again when a later one confirms it`, world, function* () {
      const hints = yield* TransactionHints
      const { id: early } = yield* charge
      const paid = yield* paidCharge
      const [one, other] = [yield* hints.subscribe(paid), yield* hints.subscribe(early)]
      const { claim } = yield* recording({}, layer).pipe(
        lookingUp((answer, id) => (id === paid ? Effect.never : answer))
      )
      for (const id of [paid, early]) yield* Effect.forkChild(claim(id))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([one.isOpen(), other.closeUnsafe()], [true, true])
      yield* (yield* Sandbox).markPaid(early)
      yield* TestClock.adjust("1 second")
      assert.isTrue(other.isOpen())
    })

    effect(`${name} does not wait for them`, world, function* () {
      const { claim, statuses } = yield* recording({}, layer).pipe(
        Effect.provideService(TransactionHints, { publish: () => Effect.never, subscribe: () => Effect.die("nobody") })
      )
      assert.strictEqual(yield* claim(yield* paidCharge), 200)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  }

  effect("a check of a transaction that is still open wakes nobody", world, function* () {
    const { id } = yield* charge
    const hint = yield* (yield* TransactionHints).subscribe(id)
    const { check, idle } = yield* recording()
    yield* check(id)
    yield* idle
    assert.isFalse(hint.isOpen())
    yield* (yield* Sandbox).markPaid(id)
    yield* check(id)
    yield* idle
    assert.isTrue(hint.isOpen())
  })
})
