import { assert, describe, expect, it } from "@effect/vitest"
import {
  type Balance,
  IdempotencyKey,
  Money,
  Payments,
  PaymentsPolicy,
  PixKey,
  type WithdrawalRequest
} from "effect-pix"
import {
  AuthError,
  IdempotencyConflict,
  InsufficientBalance,
  OutcomeUnknown,
  type RequestWithdrawalError,
  ServiceUnavailable
} from "../../src/contract/PaymentsError.ts"
import { type PayoutEvent, type PayoutItem, PayoutReport, type PayoutResult, Payouts } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import type { Withdrawal } from "../../src/contract/Withdrawal.ts"
import { mockPayments } from "../support/payments.ts"
import {
  Cause,
  DateTime,
  Deferred,
  Effect,
  Equal,
  Exit,
  Fiber,
  Layer,
  References,
  Schedule,
  Schema,
  Stream
} from "effect"
import { seeded } from "../support/seed.ts"

/** The two ways to run, over the operations given. */
const make = (operations: Partial<Payments["Service"]>) => {
  const layer = mockPayments(operations)
  return {
    requestWithdrawals: <E = never>(items: Payouts.Items<E>, options?: Payouts.Options) =>
      Effect.provide(Payouts.run<E>(items, options), layer),
    streamWithdrawals: <E = never>(items: Payouts.Items<E>, options?: Payouts.Options) =>
      Stream.provide(Payouts.stream<E>(items, options), layer)
  }
}

const item = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email("maria@example.com")
})
const items = (count: number) => Array.from({ length: count }, (_, index) => item(`invoice-${index}`))
const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)
const referencesOf = (results: ReadonlyArray<{ readonly reference: string }>) =>
  results.map(({ reference }) => reference)

const yields = (count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.yieldNow, { discard: true })

const resultsOf = (events: ReadonlyArray<PayoutEvent>) =>
  events.filter((event): event is PayoutResult => event._tag !== "Started")

type Reply = Effect.Effect<void, RequestWithdrawalError>
type Script = (reference: string, key: string) => Reply | undefined

const common = (idempotencyKey: string) =>
  ({ operation: "requestWithdrawal", attempts: 1, idempotencyKey, status: 422 }) as const
const failures = {
  unknown: (key: string) =>
    new OutcomeUnknown({ ...common(key), outcome: "Unknown", reason: "Timeout", idempotencyKey: key }),
  conflict: (key: string) => new IdempotencyConflict({ ...common(key), outcome: "Unknown", conflict: "Reused" }),
  poor: (key: string) => new InsufficientBalance({ ...common(key), outcome: "Rejected" }),
  auth: (key: string) => new AuthError({ ...common(key), outcome: "Rejected", status: 401 }),
  down: (key: string) => new ServiceUnavailable({ ...common(key), outcome: "NotSent", reason: "NoConnection" })
}

/** A gateway that pays once a key, written for this test: it shares nothing with the client or the sandbox. */
const makeModel = (options: { readonly balance?: string; readonly script?: Script } = {}) => {
  const ledger = new Map<string, { readonly request: WithdrawalRequest; readonly record: Withdrawal }>()
  const calls: Array<string> = []
  let balances = 0
  const book = (request: WithdrawalRequest, key: string): Reply =>
    Effect.suspend(() => {
      const held = ledger.get(key)
      if (held !== undefined)
        return Equal.equals(held.request, request) ? Effect.void : Effect.fail(failures.conflict(key))
      const record: Withdrawal = {
        id: ledger.size + 1,
        idempotencyKey: key,
        value: Money.toReais(request.amount),
        enTransaction: "Awaiting",
        createdAt: DateTime.makeUnsafe(0)
      }
      ledger.set(key, { request, record })
      return Effect.void
    })
  const operations = {
    getBalance: () =>
      Effect.sync((): Balance => {
        balances += 1
        return { id: 1, enBalanceStatus: "Released", accBalance: Money.reais(options.balance ?? "1000000") }
      }),
    requestWithdrawal: (request: WithdrawalRequest, { idempotencyKey = "" } = {}) =>
      Effect.suspend(() => {
        calls.push(idempotencyKey)
        const scripted = options.script?.(request.description ?? "", idempotencyKey)
        return (scripted ?? book(request, idempotencyKey)).pipe(
          Effect.andThen(
            Effect.suspend(() => {
              const held = ledger.get(idempotencyKey)
              return held === undefined ? Effect.die("the script forgot to pay") : Effect.succeed(held.record)
            })
          )
        )
      })
  }
  return { ...make(operations), book, ledger, calls, balances: () => balances, operations }
}

/** Answers by reference: what fails, and how. */
const failing = (byReference: Record<string, (key: string) => RequestWithdrawalError>) => {
  const byKey = new Map(Object.entries(byReference).map(([reference, error]) => [keyOf(reference), error]))
  return (_: string, key: string) => {
    const error = byKey.get(key)
    return error === undefined ? undefined : Effect.fail(error(key))
  }
}

describe("requestWithdrawals", () => {
  it.effect("pays each reference of a list under the key of its reference and reports in the order of the list", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.requestWithdrawals(items(20))
      assert.deepStrictEqual(referencesOf(report.done), referencesOf(items(20)))
      assert.deepStrictEqual(
        report.done.map(({ idempotencyKey }) => idempotencyKey),
        items(20).map(({ reference }) => keyOf(reference))
      )
      assert.deepStrictEqual(
        [...model.ledger.keys()].toSorted(),
        report.done.map((done) => done.withdrawal.idempotencyKey).toSorted()
      )
      assert.deepStrictEqual(
        { ...report, done: [] },
        { done: [], refused: [], unknown: [], notStarted: [], repeated: [] }
      )
      assert.strictEqual(model.balances(), 0)
    })
  )

  it.effect("sends the request without its reference, so that what is sent stays within the contract", () =>
    Effect.gen(function* () {
      const model = makeModel()
      yield* model.requestWithdrawals([item("invoice-1")])
      const [held] = model.ledger.values()
      const { reference: _, ...request } = item("invoice-1")
      assert.deepStrictEqual(held?.request, request)
    })
  )

  it.effect("makes other keys for another kind of reference", () =>
    Effect.gen(function* () {
      const model = makeModel()
      yield* model.requestWithdrawals([item("42")], { kind: "refund" })
      assert.deepStrictEqual(model.calls, [IdempotencyKey.fromReference("refund", "42")])
    })
  )

  for (const concurrency of [undefined, 1, 7]) {
    it.effect(`has at most ${concurrency ?? "4 by default"} requests under way`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        let open = 0
        let most = 0
        const counted = make({
          ...model.operations,
          requestWithdrawal: (request, options) =>
            Effect.gen(function* () {
              most = Math.max(most, ++open)
              yield* yields(5)
              open -= 1
              return yield* model.operations.requestWithdrawal(request, options)
            })
        })
        yield* counted.requestWithdrawals(items(30), { concurrency })
        assert.strictEqual(most, concurrency ?? 4)
      })
    )
  }

  it.effect("accounts for a mixed run: done, refused, unknown with its key, not started", () =>
    Effect.gen(function* () {
      const model = makeModel({
        script: failing({ "invoice-1": failures.down, "invoice-2": failures.unknown, "invoice-3": failures.conflict })
      })
      const report = yield* model.requestWithdrawals(items(6), { stopOn: [] })
      assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-4", "invoice-5"])
      assert.deepStrictEqual(
        report.refused.map(({ error, index, reference }) => [index, reference, error._tag]),
        [[1, "invoice-1", "ServiceUnavailable"]]
      )
      assert.deepStrictEqual(
        report.unknown.map(({ amount, error, idempotencyKey }) => [error._tag, idempotencyKey, amount]),
        [
          ["OutcomeUnknown", keyOf("invoice-2"), 1000],
          ["IdempotencyConflict", keyOf("invoice-3"), 1000]
        ]
      )
    })
  )
})

describe("references", () => {
  it.effect("pays an identical item once and says where the first one stands", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.requestWithdrawals([item("a"), item("b"), { ...item("a") }, item("a")])
      assert.deepStrictEqual(referencesOf(report.done), ["a", "b"])
      assert.deepStrictEqual(report.repeated, [
        { _tag: "Repeated", index: 2, reference: "a", first: 0 },
        { _tag: "Repeated", index: 3, reference: "a", first: 0 }
      ])
      assert.strictEqual(model.calls.length, 2)
    })
  )

  it.effect("refuses the same reference for another request, and pays the first", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const other: PayoutItem = {
        reference: "a",
        amount: Money.centavos(1000),
        pixKey: PixKey.email("joao@example.com")
      }
      const report = yield* model.requestWithdrawals([item("a"), item("a", 2000), other])
      assert.deepStrictEqual(
        report.refused.map(({ error, index }) => [index, error._tag, error.outcome]),
        [
          [1, "DuplicateReference", "NotSent"],
          [2, "DuplicateReference", "NotSent"]
        ]
      )
      assert.match(report.refused[0]?.error.message ?? "", /stands twice in this run, for two different requests/)
      assert.deepStrictEqual(
        [...model.ledger.values()].map(({ record }) => Money.format(record.value)),
        ["R$ 10,00"]
      )
    })
  )

  for (const reference of ["", " \n"]) {
    it.effect(`refuses the blank reference ${JSON.stringify(reference)} and goes on`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        const report = yield* model.requestWithdrawals([item(reference), item("b")])
        const [refused] = report.refused
        assert.strictEqual(refused?.error._tag, "InvalidRequest")
        assert.match(refused?.error.message ?? "", /reference: must be a text that is not blank/)
        assert.isUndefined(refused?.idempotencyKey)
        assert.deepStrictEqual(referencesOf(report.done), ["b"])
      })
    )
  }

  for (const amount of [Number.NaN, -1, 10.5, Number.POSITIVE_INFINITY]) {
    it.effect(`refuses the amount ${amount}, which no limit could be held against`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        // What a caller without types may give.
        const wrong = { ...item("a"), amount: amount as Money.Centavos }
        const report = yield* model.requestWithdrawals([wrong, item("b")], { maxTotal: Money.centavos(1000) })
        assert.deepStrictEqual(
          report.refused.map(({ error }) => error._tag),
          ["InvalidRequest"]
        )
        assert.deepStrictEqual(referencesOf(report.done), ["b"])
        assert.deepStrictEqual(model.calls, [keyOf("b")])
      })
    )
  }
})

describe("limits", () => {
  it.effect("keeps back what is above the cap of one payout and pays the others", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.requestWithdrawals([item("a", 5001), item("b", 5000)], {
        maxAmount: Money.centavos(5000)
      })
      assert.deepStrictEqual(report.notStarted, [
        { _tag: "NotStarted", index: 0, reference: "a", idempotencyKey: keyOf("a"), reason: "OverAmount" }
      ])
      assert.deepStrictEqual(referencesOf(report.done), ["b"])
    })
  )

  it.effect("stops at the first item that would go beyond the cap of the run, even if a later one would fit", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const report = yield* model.requestWithdrawals(
        [item("a", 2000), item("b", 1000), item("c", 1001), item("d", 1000)],
        { maxTotal: Money.centavos(4000) }
      )
      assert.deepStrictEqual(referencesOf(report.done), ["a", "b"])
      assert.deepStrictEqual(
        report.notStarted.map(({ reason, reference }) => [reference, reason]),
        [
          ["c", "OverTotal"],
          ["d", "OverTotal"]
        ]
      )
    })
  )

  it.effect("starts nothing of a list that the balance does not cover, by one centavo", () =>
    Effect.gen(function* () {
      const model = makeModel({ balance: "29.99" })
      const report = yield* model.requestWithdrawals(items(3), { checkBalance: true })
      assert.deepStrictEqual(
        report.notStarted.map(({ reason }) => reason),
        ["NotCovered", "NotCovered", "NotCovered"]
      )
      assert.deepStrictEqual(model.calls, [])
      assert.strictEqual(model.balances(), 1)
    })
  )

  it.effect("starts a list that the balance covers exactly, counting neither repeated nor capped items", () =>
    Effect.gen(function* () {
      const model = makeModel({ balance: "30" })
      const report = yield* model.requestWithdrawals([...items(3), ...items(3), item("big", 9000)], {
        checkBalance: true,
        maxAmount: Money.centavos(2000)
      })
      assert.strictEqual(report.done.length, 3)
      assert.strictEqual(model.balances(), 1)
    })
  )

  it.effect("compares in exact reais: a tenth of a centavo short is short", () =>
    Effect.gen(function* () {
      const short = yield* makeModel({ balance: "29.999" }).requestWithdrawals(items(3), { checkBalance: true })
      assert.strictEqual(short.done.length, 0)
      const enough = yield* makeModel({ balance: "30.001" }).requestWithdrawals(items(3), { checkBalance: true })
      assert.strictEqual(enough.done.length, 3)
    })
  )

  it.effect("stops a stream at the first item that its running sum does not cover", () =>
    Effect.gen(function* () {
      const model = makeModel({ balance: "25" })
      const report = yield* model.requestWithdrawals(Stream.fromIterable(items(4)), { checkBalance: true })
      assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-1"])
      assert.deepStrictEqual(
        report.notStarted.map(({ reason }) => reason),
        ["NotCovered", "NotCovered"]
      )
      assert.strictEqual(model.balances(), 1)
    })
  )

  it.effect("asks for the balance of the company that is named", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const { operations } = makeModel()
      const { requestWithdrawals } = make({
        ...operations,
        getBalance: (options) =>
          Effect.suspend(() => {
            asked.push(options)
            return operations.getBalance()
          })
      })
      yield* requestWithdrawals(items(1), { checkBalance: { companyId: 7 } })
      assert.deepStrictEqual(asked, [{ companyId: 7 }])
    })
  )

  it.effect("starts nothing when the balance cannot be read, and says why", () =>
    Effect.gen(function* () {
      const { calls, operations } = makeModel()
      const down = new ServiceUnavailable({
        operation: "getBalance",
        attempts: 3,
        outcome: "NoEffect",
        reason: "ServerError"
      })
      const { requestWithdrawals } = make({ ...operations, getBalance: () => Effect.fail(down) })
      const report = yield* requestWithdrawals(items(2), { checkBalance: true })
      assert.deepStrictEqual(
        report.notStarted.map(({ error, reason }) => [reason, error]),
        [
          ["BalanceUnknown", down],
          ["BalanceUnknown", down]
        ]
      )
      assert.deepStrictEqual(calls, [])
    })
  )

  it.effect("takes what an earlier run did as done: nothing is sent for it, and the rest needs no more balance", () =>
    Effect.gen(function* () {
      const first = makeModel({ script: failing({ "invoice-2": failures.poor }) })
      const before = yield* first.requestWithdrawals(items(4), { concurrency: 1 })
      assert.deepStrictEqual(referencesOf(before.done), ["invoice-0", "invoice-1"])
      const second = makeModel({ balance: "20" })
      const report = yield* second.requestWithdrawals(items(4), {
        checkBalance: true,
        previous: [...before.done, ...before.notStarted]
      })
      assert.deepStrictEqual(referencesOf(report.done), referencesOf(items(4)))
      assert.deepStrictEqual(second.calls.toSorted(), [keyOf("invoice-2"), keyOf("invoice-3")].toSorted())
    })
  )

  it.effect("does not take an earlier payout of another amount for this one", () =>
    Effect.gen(function* () {
      const before = yield* makeModel().requestWithdrawals([item("a", 1000)])
      const model = makeModel()
      yield* model.requestWithdrawals([item("a", 2000)], { previous: before.done })
      assert.deepStrictEqual(model.calls, [keyOf("a")])
    })
  )

  for (const [what, options] of Object.entries({
    "a concurrency of 0": { concurrency: 0 },
    "half a request at a time": { concurrency: 0.5 },
    "a kind with a blank": { kind: "pay out" },
    "a cap that is no amount": { maxTotal: Number.NaN as Money.Centavos }
  } satisfies Record<string, Payouts.Options>)) {
    it.effect(`dies at once of ${what}`, () =>
      Effect.gen(function* () {
        const model = makeModel()
        const exit = yield* Effect.exit(model.requestWithdrawals(items(1), options))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.deepStrictEqual(model.calls, [])
      })
    )
  }
})

describe("stopping", () => {
  const one = { concurrency: 1 } as const

  for (const [name, stop] of Object.entries({
    "the first unknown outcome": failures.unknown,
    "an idempotency conflict": failures.conflict,
    "an insufficient balance": failures.poor,
    "refused credentials": failures.auth
  })) {
    it.effect(`starts nothing more after ${name}, and says so for each item that is left`, () =>
      Effect.gen(function* () {
        const model = makeModel({ script: failing({ "invoice-2": stop }) })
        const report = yield* model.requestWithdrawals(items(5), one)
        assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-1"])
        assert.deepStrictEqual(
          report.notStarted.map(({ error, idempotencyKey, reason, reference }) => [
            reference,
            reason,
            error,
            idempotencyKey
          ]),
          ["invoice-3", "invoice-4"].map((reference) => [
            reference,
            "Stopped",
            [...report.refused, ...report.unknown][0]?.error,
            keyOf(reference)
          ])
        )
        assert.strictEqual(model.calls.length, 3)
      })
    )
  }

  it.effect("goes on after a payout that was only refused", () =>
    Effect.gen(function* () {
      const report = yield* makeModel({ script: failing({ "invoice-2": failures.down }) }).requestWithdrawals(
        items(5),
        one
      )
      assert.strictEqual(report.done.length, 4)
    })
  )

  it.effect("stops where its caller says: at a tag, an outcome, or by a predicate", () =>
    Effect.gen(function* () {
      const policies: ReadonlyArray<Payouts.Options["stopOn"]> = [
        ["ServiceUnavailable"],
        ["NotSent"],
        (error) => error._tag === "ServiceUnavailable"
      ]
      for (const stopOn of policies) {
        const script = failing({ "invoice-1": failures.unknown, "invoice-2": failures.down })
        const report = yield* makeModel({ script }).requestWithdrawals(items(5), { ...one, stopOn })
        assert.deepStrictEqual(referencesOf(report.unknown), ["invoice-1"])
        assert.deepStrictEqual(referencesOf(report.notStarted), ["invoice-3", "invoice-4"])
      }
    })
  )

  it.effect("stops at refused credentials whatever the policy says", () =>
    Effect.gen(function* () {
      const model = makeModel({ script: failing({ "invoice-0": failures.auth }) })
      const report = yield* model.requestWithdrawals(items(3), { ...one, stopOn: () => false })
      assert.strictEqual(report.notStarted.length, 2)
    })
  )

  it.effect("lets what is under way finish", () =>
    Effect.gen(function* () {
      const allUnderWay = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const fail = failing({ "invoice-1": failures.unknown })
      const model = makeModel()
      let arrived = 0
      const { requestWithdrawals } = make({
        ...model.operations,
        requestWithdrawal: Effect.fnUntraced(function* (request: WithdrawalRequest, options) {
          if (++arrived === 3) yield* Deferred.succeed(allUnderWay, undefined)
          yield* Deferred.await(allUnderWay)
          const failure = fail("", options?.idempotencyKey ?? "")
          if (failure !== undefined) return yield* Effect.ensuring(failure, Deferred.succeed(stopped, undefined))
          yield* Deferred.await(stopped)
          return yield* model.operations.requestWithdrawal(request, options)
        })
      })
      const report = yield* requestWithdrawals(items(6), { concurrency: 3 })
      assert.deepStrictEqual(referencesOf(report.done), ["invoice-0", "invoice-2"])
      assert.deepStrictEqual(referencesOf(report.unknown), ["invoice-1"])
      assert.deepStrictEqual(referencesOf(report.notStarted), ["invoice-3", "invoice-4", "invoice-5"])
      assert.strictEqual(arrived, 3)
    })
  )
})

describe("streamWithdrawals", () => {
  it.effect("does not send what was waiting for its reader when the run stopped", () =>
    Effect.gen(function* () {
      const stopped = yield* Deferred.make<void>()
      const model = makeModel()
      const { streamWithdrawals } = make({
        ...model.operations,
        requestWithdrawal: (request, options) =>
          options?.idempotencyKey === keyOf("invoice-0")
            ? yields(100).pipe(
                Effect.andThen(Effect.fail(failures.unknown(keyOf("invoice-0")))),
                Effect.ensuring(Deferred.succeed(stopped, undefined))
              )
            : model.operations.requestWithdrawal(request, options)
      })
      const events: Array<PayoutEvent> = []
      // A reader that is busy with its first event until the run has stopped.
      yield* Stream.runForEach(streamWithdrawals(items(60), { concurrency: 50 }), (event) =>
        Effect.andThen(
          Effect.sync(() => events.push(event)),
          Effect.andThen(Deferred.await(stopped), Effect.yieldNow)
        )
      )
      const results = resultsOf(events)
      assert.deepStrictEqual(
        results.map(({ index }) => index).toSorted((a, b) => a - b),
        items(60).map((_, index) => index)
      )
      const started = new Set(events.flatMap(({ _tag, index }) => (_tag === "Started" ? [index] : [])))
      assert.isTrue(results.some(({ _tag, index }) => _tag === "NotStarted" && started.has(index)))
      assert.strictEqual(model.calls.length, results.filter(({ _tag }) => _tag === "Done").length)
    })
  )

  it.effect("tells that a payout starts before its request is sent, then what became of it", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const model = makeModel({
        script: (_, key) => {
          told.push(`sent ${key}`)
          return Effect.fail(failures.down(key))
        }
      })
      yield* model
        .streamWithdrawals(items(2), { concurrency: 1 })
        .pipe(
          Stream.runForEach((event) =>
            Effect.sync(() => told.push(`${event._tag} ${"idempotencyKey" in event ? event.idempotencyKey : ""}`))
          )
        )
      const [first, second] = items(2).map(({ reference }) => keyOf(reference))
      assert.deepStrictEqual(told, [
        `Started ${first}`,
        `sent ${first}`,
        `Refused ${first}`,
        `Started ${second}`,
        `sent ${second}`,
        `Refused ${second}`
      ])
    })
  )

  it.effect("starts over when it is run again, and the gateway repeats no payout", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const stream = model.streamWithdrawals(items(3))
      const first = yield* Stream.runCollect(stream)
      const second = yield* Stream.runCollect(stream)
      const byIndex = (events: ReadonlyArray<PayoutEvent>) => events.toSorted((a, b) => a.index - b.index)
      assert.deepStrictEqual(byIndex(second), byIndex(first))
      assert.strictEqual(model.ledger.size, 3)
    })
  )

  it.effect("finishes what was started when its source fails, and then fails as the source", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const slow = make({
        ...model.operations,
        requestWithdrawal: (request, options) =>
          Effect.andThen(yields(5), model.operations.requestWithdrawal(request, options))
      })
      const source = Stream.concat(Stream.fromIterable(items(2)), Stream.fail("the file is damaged" as const))
      const seen: Array<PayoutEvent> = []
      const error = yield* Effect.flip(
        Stream.runForEach(slow.streamWithdrawals(source), (event) => Effect.sync(() => seen.push(event)))
      )
      assert.strictEqual(error, "the file is damaged")
      assert.deepStrictEqual(seen.map(({ _tag }) => _tag).toSorted(), ["Done", "Done", "Started", "Started"])

      const failed = yield* Effect.flip(slow.requestWithdrawals(source))
      assert.strictEqual(failed._tag, "PayoutSourceFailed")
      assert.strictEqual(failed.error, "the file is damaged")
      assert.match(failed.message, /same references/)
      assert.strictEqual(failed.report.done.length, 2)
    })
  )

  it.effect("finishes what was started before it dies of an item that is none", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const slow = make({
        ...model.operations,
        requestWithdrawal: (request, options) =>
          Effect.andThen(yields(5), model.operations.requestWithdrawal(request, options))
      })
      const seen: Array<PayoutEvent> = []
      // What a caller without types may give.
      const source = Stream.make(...items(2)).pipe(Stream.concat(Stream.sync(() => null as unknown as PayoutItem)))
      const exit = yield* Effect.exit(
        Stream.runForEach(slow.streamWithdrawals(source), (event) => Effect.sync(() => seen.push(event)))
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.strictEqual(resultsOf(seen).filter(({ _tag }) => _tag === "Done").length, 2)
    })
  )

  it.effect("reads a lazy list once and an endless stream only as far as it is wanted", () =>
    Effect.gen(function* () {
      const model = makeModel()
      const endless = Stream.iterate(0, (n) => n + 1).pipe(Stream.map((n) => item(`n-${n}`)))
      const left = yield* model.streamWithdrawals(endless, { maxTotal: Money.centavos(3000), concurrency: 1 }).pipe(
        Stream.takeUntil(({ _tag }) => _tag === "NotStarted"),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        left.filter(({ _tag }) => _tag !== "Started").map(({ _tag, reference }) => [_tag, reference]),
        [
          ["Done", "n-0"],
          ["Done", "n-1"],
          ["Done", "n-2"],
          ["NotStarted", "n-3"]
        ]
      )
      const once = items(3)[Symbol.iterator]()
      const report = yield* model.requestWithdrawals(once, { checkBalance: true })
      assert.strictEqual(report.done.length, 3)
    })
  )
})

describe("the report", () => {
  it.effect("can be stored as JSON and read back, with its errors", () =>
    Effect.gen(function* () {
      const model = makeModel({ script: failing({ "invoice-1": failures.down, "invoice-2": failures.unknown }) })
      const report = yield* model.requestWithdrawals([...items(4), item("invoice-0"), item("invoice-0", 2000)], {
        concurrency: 1
      })
      const codec = Schema.toCodecJson(PayoutReport)
      const json = JSON.stringify(yield* Schema.encodeEffect(codec)(report))
      const back = yield* Schema.decodeUnknownEffect(codec)(JSON.parse(json))
      expect(back).toEqual(report)
      assert.strictEqual(back.unknown[0]?.error.message, report.unknown[0]?.error.message)
      assert.notInclude(json, "maria@example.com")
    })
  )
})

/** Some 12 references, some of them twice, in a shuffled order. The description tells a payout's reference. */
const batchOf = (random: ReturnType<typeof seeded>) => {
  const distinct = Array.from({ length: 4 + random.below(9) }, (_, n) => ({
    ...item(`invoice-${n}`, 1000 + random.below(5000)),
    description: `invoice-${n}`
  }))
  const repeated = distinct.filter(() => random.next() < 0.3).map((one) => Object.assign({}, one))
  const order = [...distinct, ...repeated].map((one) => ({ one, at: random.next() })).toSorted((a, b) => a.at - b.at)
  return { distinct, list: order.map(({ one }) => one) }
}

/** Runs a batch and interrupts it after a random number of steps, again and again, then lets it end. */
const torture = Effect.fnUntraced(function* (
  random: ReturnType<typeof seeded>,
  run: (calm: boolean) => Stream.Stream<PayoutEvent>
) {
  let interrupted = 0
  for (let round = 0; round < 8; round++) {
    const fiber = yield* Effect.forkChild(Stream.runDrain(run(false)))
    // Another process with the same list, sometimes.
    const other = random.next() < 0.3 ? yield* Effect.forkChild(Stream.runDrain(run(false))) : undefined
    yield* yields(random.below(30))
    yield* Fiber.interrupt(fiber)
    if (other !== undefined) yield* Fiber.interrupt(other)
    if (Exit.isFailure(yield* Fiber.await(fiber))) interrupted += 1
  }
  return { interrupted, last: yield* Stream.runCollect(run(true)) }
})

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

describe("batches interrupted at random points and run again", () => {
  it.effect("pay each reference once, on a model of the gateway, in 250 seeded schedules", () =>
    Effect.gen(function* () {
      let interruptions = 0
      for (let seed = 1; seed <= 250; seed++) {
        const random = seeded(seed)
        const { distinct, list } = batchOf(random)
        const payouts: Array<string> = []
        let calm = false
        const model = makeModel()
        const { streamWithdrawals } = make({
          ...model.operations,
          requestWithdrawal: Effect.fnUntraced(function* (request: WithdrawalRequest, options) {
            const key = options?.idempotencyKey ?? ""
            const fate = calm ? 0 : random.below(5)
            yield* yields(random.below(4))
            if (fate === 1) return yield* failures.down(key)
            if (fate === 2) return yield* failures.unknown(key)
            if (!model.ledger.has(key)) payouts.push(request.description ?? "")
            const record = yield* model.operations.requestWithdrawal(request, options)
            yield* yields(random.below(4))
            return fate === 3 ? yield* failures.unknown(key) : record
          })
        })
        const { interrupted, last } = yield* torture(random, (isLast) => {
          calm = isLast
          return streamWithdrawals(random.next() < 0.5 ? list : Stream.fromIterable(list), {
            concurrency: 1 + random.below(8),
            stopOn: random.next() < 0.5 ? [] : undefined
          })
        })
        interruptions += interrupted
        const results = resultsOf(last)
        assert.deepStrictEqual(
          results.map(({ index }) => index).toSorted((a, b) => a - b),
          list.map((_, index) => index),
          `seed ${seed}: each item has one result`
        )
        assert.deepStrictEqual(
          results.flatMap((result) => (result._tag === "Done" ? [result.reference] : [])).toSorted(),
          referencesOf(distinct).toSorted(),
          `seed ${seed}: each reference is done`
        )
        assert.deepStrictEqual(payouts.toSorted(), referencesOf(distinct).toSorted(), `seed ${seed}: one payout each`)
      }
      assert.isAbove(interruptions, 500)
    }).pipe(quiet)
  )

  it.effect("pay each reference once, through the client and the sandbox, in 60 seeded schedules", () =>
    Effect.gen(function* () {
      let interruptions = 0
      for (let seed = 1; seed <= 60; seed++) {
        const random = seeded(seed)
        const { distinct, list } = batchOf(random)
        const faults = [
          Fault.none,
          Fault.none,
          Fault.refuse,
          Fault.resetBefore,
          Fault.resetAfter,
          Fault.hangUpAfter,
          Fault.truncated,
          Fault.refusal(503, "Fora do ar"),
          Fault.refusal(500, "Erro", { executed: true }),
          Fault.malformed(201)
        ]
        yield* Effect.gen(function* () {
          const payments = yield* Payments
          const sandbox = yield* Sandbox
          const { streamWithdrawals } = make(payments)
          const { interrupted, last } = yield* torture(random, (isLast) =>
            Stream.unwrap(
              Effect.gen(function* () {
                yield* sandbox.clearFaults
                if (!isLast) {
                  const planned = Array.from({ length: 40 }, () => faults[random.below(faults.length)] ?? Fault.none)
                  yield* sandbox.fault("requestWithdrawal", planned)
                }
                return streamWithdrawals(list, { concurrency: 1 + random.below(8), stopOn: [] })
              })
            )
          )
          interruptions += interrupted
          const paid = yield* sandbox.withdrawals
          assert.deepStrictEqual(
            paid.map(({ idempotencyKey }) => idempotencyKey ?? "none").toSorted(),
            distinct.map(({ reference }) => keyOf(reference)).toSorted(),
            `seed ${seed}: one payout each`
          )
          assert.strictEqual(yield* sandbox.balance, 1_000_000 - Money.sum(distinct.map(({ amount }) => amount)))
          assert.strictEqual(resultsOf(last).filter(({ _tag }) => _tag === "Done").length, distinct.length)
        }).pipe(
          Effect.provide(Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 1_000_000 })), {
            local: true
          })
        )
      }
      assert.isAbove(interruptions, 150)
    }).pipe(
      Effect.provideService(
        PaymentsPolicy,
        PaymentsPolicy.make({ retryWrites: Schedule.recurs(1), retryBudget: "unlimited" })
      ),
      quiet
    )
  )
})
