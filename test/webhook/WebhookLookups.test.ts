/**
 * What a delivery becomes, by what it claims and what the lookups say. A recorded delivery is looked up for a minute, and one
 * that is not recorded for 8 seconds; the rest is the same.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import {
  edge,
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
  ["WAITING_PAYMENT", "Paid", "Paid", 1],
  ["PAID", "Paid", "Paid", 1],
  ["Paid", "PAID", "PAID", 1],
  ["Expired", "Paid", "Paid", 1],
  ["Paid", "Refunded", "Refunded", 1],
  ["EXPIRED", "Expired", "Expired", 1],
  ["CHARGEBACK", "Chargeback", "Chargeback", 1],
  ["Awaiting", "Awaiting", "", 1],
  ["a check", "Paid", "Paid", 1],
  ["a check", "Cancelled", "Cancelled", 1],
  ["a check", "Awaiting", "", 1],
  ["a check", "NotFound", "", most, "NotFound"],
  ["AWAITING", "awaiting", "awaiting", 1],
  ["Paid", "Another", "", 1, "OtherTransaction"],
  ["Paid", "Awaiting", "", most, "StillOpen"],
  ["no status", "Awaiting", "", most, "StillOpen"],
  ["WAITING_PAYMENT", "Awaiting", "", most, "StillOpen"],
  ["Paid", "NotFound", "", most, "NotFound"],
  ["Paid", "NotFound Awaiting Paid", "Paid", 3],
  ["Refunded", "Paid Refunded", "Paid Refunded", 2],
  ["Paid", "Cancelled Cancelled Paid", "Cancelled Paid", 3],
  ["Paid", "Failed Paid", "Failed Paid", 2],
  ["Cancelled", "Paid Expired Paid Cancelled", "Paid Expired Cancelled", 4],
  ["Cancelled", "Refunded Paid Cancelled", "Refunded Cancelled", 3],
  ["Cancelled", "Refunded Paid", "Refunded", most, "WentBack"],
  ["Cancelled", "Paid Refunded Paid", "Paid Refunded", most, "WentBack"],
  ["Cancelled", "Paid", "Paid", most, "Disagrees"],
  ["Failed", "Paid", "Paid", most, "Disagrees"],
  ["Refunded", "Paid", "Paid", most, "Disagrees"],
  ["refunded", "Paid", "Paid", most, "Disagrees"],
  ["Paid", "Cancelled", "Cancelled", most, "Disagrees"],
  ["Failed", "Cancelled", "Cancelled", most, "Disagrees"],
  ["Paid", "Failed", "Failed", most, "Disagrees"],
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

describe.each([recorded, unrecorded])("$name", ({ layer, times }) => {
  for (const [claim, says, handedOut, count, reason] of rows)
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
    ["Paid:Paid Refunded:Refunded", "Paid Refunded", ""],
    ["Awaiting:Awaiting Paid:Paid", "Paid", ""],
    ["Refunded:Refunded Paid:Refunded", "Refunded", ""],
    ["Refunded:Refunded Awaiting:Paid", "Refunded", "WentBack"],
    ["Paid:Paid Refunded:Refunded Paid:Paid", "Paid Refunded", "WentBack"],
    ["Paid:Paid Cancelled:Cancelled Paid:Paid Cancelled:Cancelled", "Paid Cancelled", ""],
    ["Cancelled:Paid Failed:Paid", "Paid", "Disagrees Disagrees"],
    ["Awaiting:ZULMIRA Canceled:ZULMIRA", "ZULMIRA", ""]
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
          yield* TestClock.adjust("2 minutes")
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

  effect("an event has what the lookup says, and as untrusted what the delivery says", world, function* () {
    const { events, idle, post } = yield* recording()
    const id = yield* paidCharge
    yield* post({ event: "x", data: { id, status: "PAID", amount: 99_999_999 } })
    yield* idle
    assert.deepStrictEqual<unknown>(
      events.map(({ _tag, transaction, untrusted }) => [_tag, transaction.transactionId, transaction.value, untrusted]),
      [["Confirmed", id, 2500, { status: "PAID" }]]
    )
  })

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
