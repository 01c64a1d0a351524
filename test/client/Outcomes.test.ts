/** The table of outcomes, put through `Payments`: what becomes of a call by what its requests meet, and of a write in doubt. */
import { assert, describe } from "@effect/vitest"
import { type Operation, type PaymentsError, PaymentsPolicy } from "effect-pix"
import { Duration, Effect, Layer, Result } from "effect"
import { HttpClient } from "effect/http"
import { effect } from "../support/effect.ts"
import { isSound, optionsOf, type Past, reasonOf, reusedClient, statusOf } from "../support/failing.ts"
import {
  operations,
  readNames,
  record,
  requestWithdrawal,
  service,
  transactionId,
  withdrawalDetail,
  writeNames
} from "../support/operations.ts"
import { drawn, parts, runs, seeded } from "../support/seed.ts"
import { impatientSettings } from "../support/policies.ts"
import { apiKey, clientId, lostConnection } from "../support/Wire.ts"
import { paymentsOn, replyOf, respond, type Script, scripted } from "../support/Wire.ts"
import { type End, type Met, outcomeOf, read, type Row } from "../tables/outcome.ts"
import { outcomes } from "../tables/outcomes.ts"

const secrets = [apiKey, clientId, "maria@example.com"]
const { client, wire } = reusedClient({ maxResponseBytes: 200_000 })

/** What a caller acts on of the error of a call that gets these replies. */
const failure = Effect.fnUntraced(function* (operation: Operation, replies: Script, past: Past = "made") {
  wire.script(...replies)
  const payments = yield* service
  const error = yield* Effect.flip(operations[operation].call(payments, optionsOf(operation, past)))
  const { _tag: tag, attempts, outcome } = error
  if (attempts !== wire.sent.length) assert.fail(`${attempts} attempts and ${wire.sent.length} requests`)
  return { error, fact: { tag, outcome, reason: reasonOf(error), status: statusOf(error), requests: attempts } }
})
/** Checks what holds for every error: it can be stored, its words fit its outcome, and it shows no secret. */
const check = (error: PaymentsError) => {
  isSound(error, error.operation)
  const printed = `${String(error)} ${JSON.stringify(error)}`
  assert.deepStrictEqual(
    secrets.filter((secret) => printed.includes(secret)),
    []
  )
  if (error._tag === "TransactionNotFound") assert.strictEqual(error.transactionId, transactionId)
  if (error._tag === "WithdrawalNotFound") assert.strictEqual(error.withdrawalId, withdrawalDetail.id)
}

const statusIn = (met: Met) => (typeof met === "object" && "status" in met ? met.status : undefined)

const expected = (end: End, met: Met, isWrite: boolean) => {
  const { isAgain, reason, tag } = read(end)
  return { tag, outcome: outcomeOf(end, isWrite), reason, status: statusIn(met), requests: isAgain ? 3 : 1 }
}

/** What becomes of a write that an earlier request with its key left in doubt. */
const inDoubt = (end: End, met: Met, doubt: "ConnectionLost" | "EarlierUnknown") => {
  const { isAgain, reason, tag } = read(end)
  // A refusal that nobody knows is a refusal: what it says of a key in doubt proves as little.
  const isUnanswered = tag === "OutcomeUnknown" && reason !== "RefusalUnknown"
  const isUnsent = tag === "ServiceUnavailable"
  const before = doubt === "ConnectionLost" ? 1 : 0
  return {
    tag: "OutcomeUnknown",
    outcome: "Unknown",
    reason: isUnanswered ? reason : isUnsent ? doubt : "RefusedAfterUnknown",
    status: statusIn(met),
    // A request with the same key may be answered with the result of the first one.
    requests: isAgain || (tag === "IdempotencyConflict" && [409, 429].includes(statusIn(met) ?? 0)) ? 3 : 1 + before
  }
}

const said = (end: End) => {
  const { isAgain, reason, tag } = read(end)
  return `${tag}${reason === undefined ? "" : ` of ${reason}`} after ${isAgain ? "three requests" : "one request"}`
}

type Case = readonly [Operation, Script, Past, fact: object]

/** The calls of a row: a write and a read in turn, the lookup, and a write that an earlier request left in doubt. */
const casesOf = (row: Row): ReadonlyArray<Case> =>
  row.met.flatMap((one, at) => {
    const { charge = row.write, lookup = row.read } = row
    const reply = replyOf(one)
    const past = at % 2 === 0 ? "made" : "None"
    const writes = [
      ["createTransaction", charge],
      ["requestWithdrawal", row.write]
    ] as const
    return [
      ...writes.flatMap(([write, end]): ReadonlyArray<Case> => [
        [write, [reply], past, expected(end, one, true)],
        [write, [lostConnection, reply], past, inDoubt(end, one, "ConnectionLost")],
        [write, [reply], "Unknown", inDoubt(end, one, "EarlierUnknown")]
      ]),
      [at % 2 === 0 ? "listTransactions" : "getBalance", [reply], "made", expected(row.read, one, false)],
      ["getTransaction", [reply], "made", expected(lookup, one, false)]
    ]
  })

describe("a call whose requests all meet the same", () => {
  for (const row of drawn(outcomes)) {
    const { name, read: ofRead, write } = row
    effect(
      `a write that met ${name} ends as ${said(write)} and a read as ${said(ofRead)}; in doubt a write stays Unknown`,
      client,
      function* () {
        for (const [operation, replies, past, fact] of casesOf(row)) {
          const found = yield* failure(operation, replies, past)
          assert.deepStrictEqual<unknown>(found.fact, fact, `${operation}, ${past}, ${replies.length} replies`)
          check(found.error)
        }
      }
    )
  }

  /** A row for each end of a write. */
  const ends = [...new Map(outcomes.map((row) => [row.write, row])).values()]

  effect.each(["only-unsent", "never"] as const)(
    "a policy that sends a write again %s repeats no other one",
    client,
    function* (writes) {
      const policy = PaymentsPolicy.make({ ...impatientSettings, retryBudget: "unlimited", writes })
      yield* Effect.gen(function* () {
        for (const { met, name, write } of ends) {
          const { fact } = yield* failure("requestWithdrawal", [met.map(replyOf)[0] ?? "silence"])
          const isAgain = writes === "only-unsent" && read(write).isAgain && outcomeOf(write, true) === "NotSent"
          assert.strictEqual(fact.requests, isAgain ? 3 : 1, name)
        }
      }).pipe(Effect.provideService(PaymentsPolicy, policy))
    }
  )
})

type Random = ReturnType<typeof seeded>

describe("a call whose requests meet anything", () => {
  const faulty = outcomes.flatMap((row) => row.met.map((met) => ({ row, met })))

  /** A good answer of an operation with any status and with some of its characters overwritten. */
  const damaged = (operation: Operation, { below, pick }: Random) => {
    const { answer } = operations[operation]
    const text = String.fromCharCode(...Array.from({ length: below(8) }, () => below(0xffff)))
    const at = below(answer.length)
    const status = pick([200, 201, 303, 400, 404, 409, 422, 429, 500, below(1000)])
    return { status, body: answer.slice(0, at) + text + answer.slice(at + text.length) }
  }

  /** A reply, and whether a write that gets it may have been executed, as far as the table says. */
  const draw = (operation: Operation, random: Random) => {
    const { below } = random
    const { answer, madeKey, status } = operations[operation]
    if (below(6) === 0) {
      const own = operation === "requestWithdrawal" ? JSON.stringify(record(madeKey ?? "")) : answer
      return { reply: respond(status, own), isGood: true }
    }
    if (below(2) === 0) {
      const other = damaged(operation, random)
      const isDoubt = other.status < 300 || other.status === 303 || other.status >= 500
      return { reply: replyOf(other), outcome: isDoubt ? "Unknown" : undefined }
    }
    const { met, row } = faulty[below(faulty.length)]!
    const end = operation === "createTransaction" ? (row.charge ?? row.write) : row.write
    return { reply: replyOf(met), outcome: outcomeOf(end, true), isConflict: end === "IdempotencyConflict" }
  }

  effect.each(parts(runs(2000, 30_000)))(
    "ends in the good answer or in a typed error, Unknown if a write may have been executed (seed $seed)",
    client,
    function* ({ runs, seed }) {
      const random = seeded(seed)
      for (let run = 0; run < runs; run++) {
        const operation = random.pick<Operation>(["createTransaction", ...writeNames, ...readNames])
        const script = [draw(operation, random), draw(operation, random), draw(operation, random)] as const
        wire.script(script[0].reply, script[1].reply, script[2].reply)
        const result = yield* Effect.result(operations[operation].call(yield* service))
        const requests = wire.sent.map(({ bytes, headers }) => [headers["idempotency-key"], bytes])
        for (const request of requests) assert.deepStrictEqual(request, requests[0])
        const met = script.slice(0, requests.length)
        const last = met.at(-1)
        const name = `seed ${seed}, run ${run}: ${String(result)}`
        if (Result.isSuccess(result)) {
          assert.isTrue(last?.isGood === true || last?.outcome === "Unknown", name)
          continue
        }
        assert.isFalse(last?.isGood === true, name)
        const { attempts, outcome } = result.failure
        check(result.failure)
        assert.strictEqual(attempts, requests.length)
        if (!operations[operation].isWrite) assert.include(["NoEffect", "Rejected"], outcome, name)
        else if (met.some((one) => one.outcome === "Unknown" && one.isConflict !== true))
          assert.strictEqual(outcome, "Unknown", name)
        else if (last?.outcome !== undefined) assert.strictEqual(outcome, last.outcome, name)
      }
    }
  )
})

describe("the error of a call", () => {
  effect("has the wait that a refusal of a later attempt asked for, also in doubt", client, function* () {
    const limited = respond(429, "", { "retry-after": "3600" })
    const { error } = yield* failure("requestWithdrawal", [lostConnection, limited])
    assert.deepInclude(error, { _tag: "OutcomeUnknown", attempts: 2, retryAfter: Duration.hours(1) })
  })

  effect("is the one that the words of a refusal name, where the transport unpacked it", client, function* () {
    for (const length of [{}, { "content-length": "27" }]) {
      const reply = respond(422, { message: "Saldo insuficiente" }, { "content-encoding": "gzip", ...length })
      assert.strictEqual((yield* failure("requestWithdrawal", [reply], "None")).fact.tag, "InsufficientBalance")
    }
  })

  const forwarded = Object.assign(new Error("Proxy Authentication Required (407)"), { code: "UND_ERR_INVALID_ARG" })
  effect.each<readonly [string, Error]>([
    ["undici", forwarded],
    ["fetch over undici", new TypeError("fetch failed", { cause: forwarded })],
    ["fetch itself", new TypeError("fetch failed", { cause: new Error("") })]
  ])("is a refusal where %s makes an error of a proxy's 407 to plain http", client, function* ([, cause]) {
    const { error, fact } = yield* failure("requestWithdrawal", [{ cause }])
    assert.deepInclude(fact, { tag: "RequestRejected", outcome: "Rejected", status: 407, requests: 1 })
    assert.propertyVal(error, "concerns", "Setup")
  })

  effect("is the same of a client that filters statuses itself", function* () {
    const { layer, sent } = scripted(respond(422, { message: "Saldo insuficiente" }))
    const filtered = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk))
    const error = yield* Effect.flip(requestWithdrawal.run).pipe(
      Effect.provide(paymentsOn(Layer.provide(filtered, layer)))
    )
    assert.deepStrictEqual([error._tag, sent.length], ["InsufficientBalance", 1])
  })
})
