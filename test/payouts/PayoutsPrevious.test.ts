import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Schema, Stream } from "effect"
import { IdempotencyKey, InvalidRequest, Money, PixKey, RateLimited } from "effect-pix"
import {
  DuplicateReference,
  PayoutEvent,
  type PayoutItem,
  type PayoutNotStarted,
  type PayoutReport,
  type PayoutStarted,
  type Payouts
} from "effect-pix/payouts"
import { TestClock } from "effect/testing"
import { failing, failures, item, items, keyOf, makeModel, referencesOf, start, tagsOf } from "../support/payouts.ts"

const one = { concurrency: 1 } as const
const allOf = ({ done, notStarted, refused, repeated, unknown }: PayoutReport): ReadonlyArray<PayoutEvent> => [
  ...done,
  ...refused,
  ...unknown,
  ...notStarted,
  ...repeated
]

/** A first run that ends in `Unknown` for the first of two items; the second was not started. */
const unknownRun = Effect.gen(function* () {
  const model = makeModel({ script: failing({ "invoice-0": failures.unknown }) })
  return allOf(yield* model.run(items(2), one))
})

const started = (reference: string, at: DateTime.Utc | undefined, index = 0): PayoutStarted => ({
  _tag: "Started",
  index,
  reference,
  idempotencyKey: keyOf(reference),
  amount: Money.centavos(1000),
  ...(at && { at })
})
const refused = (
  reference: string,
  at: DateTime.Utc | undefined,
  startedAt: DateTime.Utc | undefined,
  index = 0
): PayoutEvent => ({
  _tag: "Refused",
  index,
  reference,
  idempotencyKey: keyOf(reference),
  error: failures.refused(keyOf(reference)),
  ...(at && { at }),
  ...(startedAt && { startedAt })
})
const unknown = (reference: string, at: DateTime.Utc | undefined): PayoutEvent => ({
  ...started(reference, at),
  _tag: "Unknown",
  error: failures.unknown(keyOf(reference))
})
const millis = (ms: number) => DateTime.makeUnsafe(ms)

const refusing = { "invoice-0": failures.refused, "invoice-1": failures.refused }

describe("an earlier payout that is done", () => {
  it.effect("is reported as it was: nothing is sent for it, and the rest needs no more balance", () =>
    Effect.gen(function* () {
      const before = yield* makeModel({ script: failing({ "invoice-2": failures.poor }) }).run(items(4), one)
      const model = makeModel({ balance: "20" })
      const report = yield* model.run(items(4), { ...one, checkBalance: true, previous: allOf(before) })
      assert.deepStrictEqual(tagsOf(report), ["Done", "Done", "Done", "Done"])
      assert.deepStrictEqual(model.calls, [keyOf("invoice-2"), keyOf("invoice-3")])
      assert.deepStrictEqual(report.done.slice(0, 2), before.done)
    })
  )

  const others: Record<string, PayoutItem> = {
    "another amount": item("a", 2000),
    "a smaller amount": item("a", 999),
    "another PIX key": { reference: "a", amount: Money.centavos(1000), pixKey: PixKey.email("joao@example.com") },
    "no PIX key": { reference: "a", amount: Money.centavos(1000) },
    "another description": { ...item("a"), description: "Bonus" },
    "other metadata": { ...item("a"), metadata: { order: 42 } }
  }
  for (const [what, other] of Object.entries(others)) {
    for (const state of ["Done", "Unknown"] as const) {
      it.effect(`is not paid again for ${what} under its reference when it is ${state}`, () =>
        Effect.gen(function* () {
          const script = state === "Done" ? {} : { a: failures.unknown }
          const before = allOf(yield* makeModel({ script: failing(script) }).run([item("a")]))
          const model = makeModel()
          const report = yield* model.run([other, item("b")], { previous: before })
          const [conflict] = report.refused
          assert(conflict?.error._tag === "ReferenceConflict")
          assert.deepStrictEqual(conflict.error.differs, [what.includes("amount") ? "amount" : "content"])
          assert.strictEqual(conflict.error.earlier.state, state)
          assert.strictEqual(conflict.error.earlier.amount, 1000)
          assert.match(conflict.error.message, /not sent/)
          assert.deepStrictEqual(model.calls, [keyOf("b")])
          // The refusal holds the earlier request, so it is not lost where only this run's report is stored.
          const third = makeModel({ script: failing({ a: failures.refused }) })
          const last = yield* third.run([item("a")], { previous: report.refused })
          assert.deepStrictEqual(tagsOf(last), ["Unknown"])
        })
      )
    }
  }

  it.effect("is the same payout when only the spelling of its PIX key or the order of its fields differs", () =>
    Effect.gen(function* () {
      const first: PayoutItem = {
        reference: "a",
        amount: Money.centavos(1000),
        pixKey: PixKey.cpf("52998224725"),
        metadata: { order: 1, line: { a: 1, b: 2 } }
      }
      const same: PayoutItem = {
        metadata: { line: { b: 2, a: 1 }, order: 1 },
        currency: "BRL",
        pixKeyType: "CPF",
        pixKey: "529.982.247-25",
        amount: Money.centavos(1000),
        reference: "a"
      }
      const before = yield* makeModel().run([first])
      const report = yield* makeModel().run([same], { previous: before.done })
      assert.deepStrictEqual(report.done, before.done)
    })
  )

  it.effect("stays done whatever else is reported of it, and events of other references do not matter", () =>
    Effect.gen(function* () {
      const before = yield* makeModel().run([item("a")])
      const at = millis(5)
      const previous = [
        ...before.done,
        started("a", at),
        unknown("a", at),
        refused("a", at, at),
        started("z", at),
        unknown("y", undefined),
        ...before.done.map((done) => ({ ...done, at }))
      ]
      const model = makeModel()
      const report = yield* model.run([item("a"), item("b")], { previous })
      assert.deepStrictEqual(tagsOf(report), ["Done", "Done"])
      assert.deepStrictEqual(report.done[0], before.done[0])
      assert.deepStrictEqual(model.calls, [keyOf("b")])
    })
  )
})

describe("an earlier payout that is unknown", () => {
  it.effect("stays unknown when the service refuses it in any way, and is done when the service says so", () =>
    Effect.gen(function* () {
      for (const refusal of [failures.refused, failures.poor, failures.auth, failures.throttled, failures.down]) {
        const model = makeModel({ script: failing({ "invoice-0": refusal }) })
        const report = yield* model.run(items(1), { previous: yield* unknownRun })
        assert.deepStrictEqual(tagsOf(report), ["Unknown"])
        assert.strictEqual(report.unknown[0]?.error._tag, "OutcomeUnknown")
        assert.deepStrictEqual(model.calls, [keyOf("invoice-0")])
      }
      const report = yield* makeModel().run(items(1), { previous: yield* unknownRun })
      assert.deepStrictEqual(tagsOf(report), ["Done"])
    })
  )

  it.effect("has the details of its refusal: the status, the service's message, `retryAfter` and the issues", () =>
    Effect.gen(function* () {
      const common = { operation: "requestWithdrawal", attempts: 2 } as const
      const said = { status: 429, serviceMessage: "Devagar", retryAfter: Duration.seconds(30) }
      const issues = [{ path: "description", problem: "is too long" }]
      const cases = [
        [new RateLimited({ ...common, ...said, outcome: "Rejected" }), { ...said, issues: undefined }],
        [
          new InvalidRequest({ ...common, issues, outcome: "NotSent" }),
          { status: undefined, serviceMessage: undefined, retryAfter: undefined, issues }
        ]
      ] as const
      for (const [error, kept] of cases) {
        const model = makeModel({ script: failing({ "invoice-0": () => error }) })
        const report = yield* model.run(items(1), { previous: yield* unknownRun })
        const reported = report.unknown[0]?.error
        assert(reported?._tag === "OutcomeUnknown")
        const { issues, retryAfter, serviceMessage, status } = reported
        assert.deepStrictEqual({ status, serviceMessage, retryAfter, issues }, kept)
        assert.deepStrictEqual([reported.reason, reported.attempts], ["RefusedAfterUnknown", 2])
      }
    })
  )

  it.effect("has the code that the service gave with its refusal", () =>
    Effect.gen(function* () {
      const refusal = new RateLimited({
        operation: "requestWithdrawal",
        attempts: 1,
        outcome: "Rejected",
        status: 429,
        serviceCode: "SLOW_DOWN"
      })
      const model = makeModel({ script: failing({ "invoice-0": () => refusal }) })
      const report = yield* model.run(items(1), { previous: yield* unknownRun })
      const [result] = report.unknown
      assert(result?.error._tag === "OutcomeUnknown")
      assert.strictEqual(result.error.serviceCode, "SLOW_DOWN")
      assert.include(result.error.message, "SLOW_DOWN")
    })
  )

  it.effect(
    "is unknown with an IdempotencyConflict where the service says that its key was used for something else",
    () =>
      Effect.gen(function* () {
        const report = yield* makeModel({ script: failing({ "invoice-0": failures.conflict }) }).run(items(1), {
          previous: yield* unknownRun
        })
        const [result] = report.unknown
        assert.strictEqual(result?.error._tag, "IdempotencyConflict")
      })
  )

  it.effect("is reported to the client, and a payout that is not unknown is not", () =>
    Effect.gen(function* () {
      const previous = yield* unknownRun
      const model = makeModel()
      yield* model.run(items(2), { ...one, previous })
      assert.deepStrictEqual(model.earlier, ["Unknown", undefined])
    })
  )

  it.effect("stays unknown over any number of runs, each of which knows only the one before", () =>
    Effect.gen(function* () {
      let previous = yield* unknownRun
      const scripts = [failures.refused, failures.auth, failures.unknown, failures.down, failures.refused]
      for (const failure of scripts) {
        yield* TestClock.adjust("1 hour")
        const model = makeModel({ script: failing({ "invoice-0": failure }) })
        const report = yield* model.run(items(1), { previous })
        assert.deepStrictEqual(tagsOf(report), ["Unknown"])
        assert.deepStrictEqual(report.unknown[0]?.since, start)
        previous = allOf(report)
      }
    })
  )

  it.effect("stays unknown where the run stops, reaches a limit or reads no balance before it is sent", () =>
    Effect.gen(function* () {
      const previous = [unknown("invoice-1", start)]
      const cases: ReadonlyArray<readonly [string, Payouts.Options]> = [
        ["Stopped", {}],
        ["OverAmount", { maxAmount: Money.centavos(500) }],
        ["OverTotal", { maxTotal: Money.centavos(1000) }],
        ["NotCovered", { checkBalance: true }]
      ]
      for (const [held, options] of cases) {
        const model = makeModel({ balance: "5", script: failing({ "invoice-0": failures.auth }) })
        const report = yield* model.run(items(2), { ...one, ...options, previous })
        assert.deepStrictEqual(
          report.unknown.map((left) => [left.reference, left.held]),
          [["invoice-1", held]]
        )
        assert.notInclude(model.calls, keyOf("invoice-1"))
      }
    })
  )

  for (const [what, since, options, held] of [
    ["young", millis(1), {}, undefined],
    ["exactly as old as the horizon", start, {}, undefined],
    ["older than the horizon", millis(-1), {}, "KeyHorizon"],
    ["older than a horizon of the caller", millis(1), { keyHorizon: "1 hour" }, "KeyHorizon"],
    ["younger than a horizon of the caller", millis(-1), { keyHorizon: "1 day" }, undefined],
    ["without a time", undefined, {}, "KeyHorizon"],
    ["without a time, for any horizon", undefined, { keyHorizon: "100000 days" }, "KeyHorizon"],
    ["of a time that lies far ahead", DateTime.makeUnsafe("2400-01-01"), {}, "KeyHorizon"],
    ["young, and all are held", millis(1), { hold: true }, "Hold"]
  ] as const) {
    it.effect(`is ${held === undefined ? "sent again" : "held, and reported as it was,"} when it is ${what}`, () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("12 hours")
        for (const event of [unknown("invoice-0", since), started("invoice-0", since)]) {
          const model = makeModel()
          const report = yield* model.run(items(2), { ...one, ...options, previous: [event] })
          assert.deepStrictEqual(tagsOf(report), [held === undefined ? "Done" : "Unknown", "Done"])
          assert.deepStrictEqual(model.calls.includes(keyOf("invoice-0")), held === undefined)
          if (held === undefined) continue
          assert.deepStrictEqual(
            report.unknown.map((left) => [left.held, left.since]),
            [[held, since]]
          )
        }
      })
    )
  }

  it.effect("is as old as its first attempt, in whatever order the events are", () =>
    Effect.gen(function* () {
      const old = unknown("invoice-0", start)
      const young = unknown("invoice-0", millis(13 * 3_600_000))
      yield* TestClock.adjust("14 hours")
      for (const previous of [
        [old, young],
        [young, old],
        [old, young, old, young],
        [old, refused("invoice-0", millis(1), undefined), young]
      ]) {
        const model = makeModel()
        const report = yield* model.run(items(1), { previous })
        assert.deepStrictEqual(tagsOf(report), ["Unknown"])
        assert.deepStrictEqual(model.calls, [])
      }
    })
  )

  it.effect("is not sent where its reader took so long that the horizon passed meanwhile", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const events = yield* model.stream(items(1), { previous: [unknown("invoice-0", start)] }).pipe(
        Stream.tap(() => TestClock.adjust("13 hours")),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        events.map(({ _tag }) => _tag),
        ["Started", "Unknown"]
      )
      assert.deepStrictEqual(model.calls, [])
    })
  )
})

describe("an earlier payout under another key than that of the run", () => {
  const salary = IdempotencyKey.fromReference("salary", "invoice-0")
  const otherKey = <Event extends PayoutEvent>(event: Event) => ({ ...event, idempotencyKey: salary })
  const doneAs = (kind: string) => Effect.map(makeModel().run(items(1), { kind }), allOf)
  const unknownAs = (kind: string) =>
    Effect.map(makeModel({ script: () => Effect.fail(failures.unknown(salary)) }).run(items(1), { kind }), allOf)

  for (const [what, previous, state] of [
    ["was paid with another kind", doneAs("salary"), "Done"],
    ["may have been paid with another kind", unknownAs("salary"), "Unknown"],
    ["was started under another key", Effect.succeed([otherKey(started("invoice-0", start))]), "Unknown"],
    [
      "was paid with another kind, and may have been with this one",
      Effect.zipWith(doneAs("salary"), unknownAs("payout"), (a, b) => [...b, ...a]),
      "Done"
    ]
  ] as const)
    it.effect(`is refused as a conflict, and not sent, when it ${what}`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        const report = yield* model.run(items(2), { ...one, previous: yield* previous })
        const [conflict] = report.refused
        assert(conflict?.error._tag === "ReferenceConflict")
        const { differs, earlier, message } = conflict.error
        assert.deepStrictEqual([differs, earlier.state, earlier.idempotencyKey], [["key"], state, salary])
        assert.match(message, /not sent.*a reference of its own.*the kind that it was sent under/)
        assert.deepStrictEqual(model.calls, [keyOf("invoice-1")])
        // The same holds where only this run's report is stored: nothing is sent under the key of this run.
        const next = makeModel()
        const again = yield* next.run(items(1), { previous: report.refused })
        assert.deepStrictEqual([tagsOf(again), next.calls], [["Refused"], []])
        const asBefore = makeModel({ script: () => Effect.fail(failures.refused(salary)) })
        const last = yield* asBefore.run(items(1), { kind: "salary", previous: report.refused })
        assert.deepStrictEqual([tagsOf(last), asBefore.calls, asBefore.earlier], [["Unknown"], [salary], ["Unknown"]])
      })
    )

  it.effect("is refused for its amount and its content as well", () =>
    Effect.gen(function* () {
      const other = { ...item("invoice-0", 2000), description: "Bonus" }
      const report = yield* makeModel().run([other], { previous: yield* doneAs("salary") })
      const [conflict] = report.refused
      assert(conflict?.error._tag === "ReferenceConflict")
      assert.deepStrictEqual(conflict.error.differs, ["key", "amount", "content"])
    })
  )

  it.effect("is done where it was paid under the key of the run too: nothing is sent", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const previous = [...(yield* unknownAs("salary")), ...(yield* doneAs("payout"))]
      assert.deepStrictEqual(tagsOf(yield* model.run(items(1), { previous })), ["Done"])
      assert.deepStrictEqual(model.calls, [])
    })
  )

  it.effect("is paid where no money of the other key moved", () =>
    Effect.gen(function* () {
      const before = makeModel({ script: () => Effect.fail(failures.poor(salary)) })
      const report = yield* before.run(items(2), { ...one, kind: "salary" })
      assert.deepStrictEqual(tagsOf(report), ["Refused", "NotStarted"])
      const refusedLater = [otherKey(started("invoice-0", start)), ...allOf(report)]
      const model = makeModel()
      assert.deepStrictEqual(tagsOf(yield* model.run(items(2), { previous: refusedLater })), ["Done", "Done"])
      assert.deepStrictEqual(model.calls, [keyOf("invoice-0"), keyOf("invoice-1")])
    })
  )
})

describe("what is known from the earlier events of one key", () => {
  const [t1, t2, t3] = [millis(1), millis(2), millis(3)]
  const s = (at?: DateTime.Utc, index?: number) => started("invoice-0", at, index)
  const r = (at?: DateTime.Utc, startedAt?: DateTime.Utc, index?: number) => refused("invoice-0", at, startedAt, index)
  const duplicate: PayoutEvent = {
    _tag: "Refused",
    index: 0,
    reference: "invoice-0",
    idempotencyKey: keyOf("invoice-0"),
    at: t2,
    error: new DuplicateReference({ outcome: "NotSent", reference: "invoice-0", first: 0 })
  }
  const notStarted = (startedAt: DateTime.Utc | undefined, index = 0): PayoutNotStarted => ({
    _tag: "NotStarted",
    index,
    reference: "invoice-0",
    idempotencyKey: keyOf("invoice-0"),
    amount: Money.centavos(1000),
    reason: "Stopped",
    at: t3,
    ...(startedAt && { startedAt })
  })
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<PayoutEvent>, "Refused" | "Unknown"]> = [
    ["nothing", [], "Refused"],
    ["a start and its refusal", [s(t1), r(t2, t1)], "Refused"],
    ["a refusal alone", [r(t2)], "Refused"],
    ["a start and its refusal, stored twice", [s(t1), r(t2, t1), s(t1), r(t2, t1)], "Refused"],
    ["a start and its refusal, each stored twice", [s(t1), s(t1), r(t2, t1), r(t2, t1)], "Refused"],
    ["two runs that were refused", [s(t1), r(t2, t1), s(t3), r(t3, t3)], "Refused"],
    ["two runs at the same time that were refused", [s(t1), s(t2), r(t3, t1), r(t3, t2)], "Refused"],
    ["a refusal that is stored before its start", [r(t2, t1), s(t1)], "Refused"],
    ["a start that was not sent when the run stopped", [s(t1), notStarted(t1)], "Refused"],
    ["a start alone", [s(t1)], "Unknown"],
    ["a start after a refusal", [s(t1), r(t2, t1), s(t3)], "Unknown"],
    ["a start after a refusal that occurs twice", [s(t1), r(t2, t1), s(t3), r(t2, t1)], "Unknown"],
    ["a start and a refusal from before it", [s(t3), r(t2, t1)], "Unknown"],
    ["two runs that were refused, without times", [s(), r(), s(), r()], "Unknown"],
    ["a start, then another run that was refused", [s(t1), s(t2), r(t3, t2)], "Unknown"],
    ["a start, then the refusal of another place in the list", [s(t1), r(t2, undefined, 1)], "Unknown"],
    ["a start, then a second item of its reference", [s(t1), duplicate], "Unknown"],
    ["a start, then another run that did not start it", [s(t1), notStarted(undefined)], "Unknown"],
    ["a start, then another run's start that was not sent", [s(t1), s(t2), notStarted(t2)], "Unknown"],
    ["an unknown and a later refusal", [s(t1), unknown("invoice-0", t2), s(t3), r(t3, t3)], "Unknown"]
  ]
  for (const [what, previous, tag] of cases) {
    it.effect(`is that a refusal is ${tag} after ${what}`, () =>
      Effect.gen(function* () {
        const model = makeModel({ script: failing(refusing) })
        const horizon = { keyHorizon: "1 day" } as const
        const report = yield* model.run(items(1), { ...horizon, previous })
        assert.deepStrictEqual(tagsOf(report), [tag])
      })
    )
  }

  it.effect("is the same after the events were stored as JSON and read back", () =>
    Effect.gen(function* () {
      const codec = Schema.toCodecJson(PayoutEvent)
      const stored = JSON.stringify(
        yield* Effect.forEach(yield* unknownRun, (event) => Schema.encodeEffect(codec)(event))
      )
      assert.notInclude(stored, "maria")
      const previous = yield* Schema.decodeUnknownEffect(Schema.Array(codec))(JSON.parse(stored))
      const model = makeModel({ script: failing({ "invoice-0": failures.refused }) })
      const report = yield* model.run(items(2), { ...one, stopOn: [], previous })
      assert.deepStrictEqual(tagsOf(report), ["Unknown", "Done"])
    })
  )

  it.effect("is read from events that an older version stored without a time: unknown ones are held", () =>
    Effect.gen(function* () {
      const codec = Schema.toCodecJson(PayoutEvent)
      const old = yield* Effect.forEach(yield* unknownRun, (event) => Schema.encodeEffect(codec)(event))
      const json: unknown = JSON.parse(
        JSON.stringify(old, (name, value: unknown) => (["at", "since", "check"].includes(name) ? undefined : value))
      )
      const previous = yield* Schema.decodeUnknownEffect(Schema.Array(codec))(json)
      const model = makeModel()
      const report = yield* model.run(items(2), { previous })
      assert.deepStrictEqual(tagsOf(report), ["Unknown", "Done"])
      assert.deepStrictEqual(model.calls, [keyOf("invoice-1")])
    })
  )

  it.effect("is not paid for another amount where an older version stored neither a time nor a check", () =>
    Effect.gen(function* () {
      const previous = [unknown("a", undefined), unknown("a", start), unknown("b", start), unknown("b", undefined)]
      const model = makeModel()
      const report = yield* model.run([item("a", 2000), item("b")], { previous })
      const [conflict] = report.refused
      assert(conflict?.error._tag === "ReferenceConflict")
      assert.deepStrictEqual(conflict.error.earlier, {
        state: "Unknown",
        idempotencyKey: keyOf("a"),
        amount: Money.centavos(1000)
      })
      assert.deepStrictEqual(
        report.unknown.map(({ held, reference, since }) => [reference, held, since]),
        [["b", "KeyHorizon", undefined]]
      )
      assert.deepStrictEqual(model.calls, [])
    })
  )

  it.effect("is nothing for an item that was not started since another one was refused for what is known of it", () =>
    Effect.gen(function* () {
      const before = yield* makeModel().run([item("a")])
      const report = yield* makeModel().run([item("a", 2000)], { previous: before.done })
      const model = makeModel()
      const [conflict] = report.refused
      assert(conflict !== undefined)
      const stopped: PayoutEvent = { ...notStarted(undefined), error: conflict.error }
      assert.deepStrictEqual(tagsOf(yield* model.run(items(1), { previous: [stopped] })), ["Done"])
    })
  )

  it.effect("is not changed by items that were repeated, or refused before they had a key", () =>
    Effect.gen(function* () {
      const list = [item("a"), item(" blank "), item("a"), item("b")]
      const before = yield* makeModel({ script: failing({ b: failures.refused }) }).run(list)
      assert.deepStrictEqual(tagsOf(before), ["Done", "Refused", "Repeated", "Refused"])
      const model = makeModel()
      const report = yield* model.run(list, { previous: allOf(before) })
      assert.deepStrictEqual(tagsOf(report), ["Done", "Refused", "Repeated", "Done"])
      assert.deepStrictEqual(model.calls, [keyOf("b")])
    })
  )

  it.effect("is unknown for what was under way when a run was interrupted", () =>
    Effect.gen(function* () {
      const events: Array<PayoutEvent> = []
      const first = makeModel({ script: (_, key) => (key === keyOf("invoice-1") ? Effect.never : undefined) })
      yield* first.stream(items(3), one).pipe(
        Stream.tap((event) => Effect.sync(() => events.push(event))),
        Stream.runDrain,
        Effect.timeout("1 second"),
        Effect.flip,
        (run) => Effect.all([run, TestClock.adjust("2 seconds")], { concurrency: 2 })
      )
      const second = makeModel({ script: failing({ "invoice-1": failures.refused }) })
      const report = yield* second.run(items(3), { ...one, stopOn: [], previous: events })
      assert.deepStrictEqual(tagsOf(report), ["Done", "Unknown", "Done"])
      assert.deepStrictEqual(referencesOf(report.unknown), ["invoice-1"])
      assert.deepStrictEqual(second.calls, [keyOf("invoice-1"), keyOf("invoice-2")])
    })
  )
})

const Stored = Schema.toCodecJson(PayoutEvent)

describe("events of earlier runs that were read back as JSON and not decoded", () => {
  it.effect("are refused before anything is sent: their times cannot be compared", () =>
    Effect.gen(function* () {
      const first = refused("invoice-0", millis(1), millis(0))
      const events = [started("invoice-0", millis(0)), first, started("invoice-0", millis(2))]
      const json = JSON.stringify(yield* Effect.forEach(events, (event) => Schema.encodeEffect(Stored)(event)))
      const raw: ReadonlyArray<PayoutEvent> = JSON.parse(json)
      const model = makeModel({ script: failing(refusing) })
      const error = yield* Effect.flip(model.run(items(1), { ...one, previous: raw }))
      assert.instanceOf(error, InvalidRequest)
      assert.deepStrictEqual(
        error.issues.map(({ path }) => path),
        ["previous"]
      )
      assert.deepStrictEqual(model.calls, [])
      const previous = yield* Effect.forEach(raw, (event) => Schema.decodeUnknownEffect(Stored)(event))
      assert.deepStrictEqual(tagsOf(yield* model.run(items(1), { ...one, previous })), ["Unknown"])
    })
  )
})
