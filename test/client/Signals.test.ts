/**
 * The signals of the client, compared with docs/observability.md.
 */
import { assert, describe } from "@effect/vitest"
import {
  CredentialsReload,
  IdempotencyKey,
  IdempotencyKeyGen,
  Merchants,
  Money,
  Payments,
  PaymentsPolicy
} from "effect-pix"
import { Data, Effect, Exit, Fiber, Layer, Redacted, Schedule } from "effect"
import { leaksIn, person, secrets } from "../support/canary.ts"
import { documentedMetrics, exportedMetrics } from "../support/documented.ts"
import { unread } from "../support/unread.ts"
import { exportedBy } from "../support/exported.ts"
import { keys, on } from "../support/marked.ts"
import { balance, companyId, createTransaction, record, transactionId } from "../support/operations.ts"
import { lostConnection, refusedConnection, respond, type Script, scripted } from "../support/Wire.ts"
import { effect, live } from "../support/effect.ts"
import { TestClock } from "effect/testing"
import { oneAttempt } from "../support/policies.ts"

const key = IdempotencyKey.fromReference("payout", "invoice-42")

const pay = (earlier: "None" | "Unknown" = "None") =>
  on((payments) =>
    payments.requestWithdrawal(
      { amount: Money.centavos(1000), pixKey: keys.EMAIL, description: person.description },
      { idempotencyKey: key, earlier }
    )
  )
const payout = pay()
const readBalance = on((payments) => payments.getBalance({ companyId }))
const recorded = { ...record(key), pixKey: person.email, description: person.description }
const paid = respond(201, recorded)

class NoVault extends Data.TaggedError("NoVault") {}

/** A client with a list of loads: each load gives the next credentials, and the last ones stay. */
const clientOn = (replies: Script, loads: ReadonlyArray<string | undefined> = []) => {
  const all = [secrets.apiKey, ...loads]
  let next = 0
  const load = Effect.suspend(() => {
    const apiKey = all[Math.min(next++, all.length - 1)]
    if (apiKey === undefined) return new NoVault()
    return Effect.succeed({ clientId: secrets.clientId, apiKey: Redacted.make(apiKey) })
  })
  const { layer, sent } = scripted(...replies)
  const payments = Payments.layer({ baseUrl: "https://gateway.example/v1" }).pipe(
    Layer.provide([layer, CredentialsReload.layer({ load }), IdempotencyKeyGen.layerSequential])
  )
  return { payments, sent }
}

/** Retries once, at once. */
const eager = { retryReads: Schedule.recurs(1), retryWrites: Schedule.recurs(1) }

const ended = <A, E>(
  call: Effect.Effect<A, E, Payments>,
  client: ReturnType<typeof clientOn>,
  policy: Partial<PaymentsPolicy> = {}
) =>
  Effect.exit(call).pipe(
    Effect.provide(client.payments),
    Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ ...eager, ...policy }))
  )

const interrupted = Effect.gen(function* () {
  const client = clientOn(["silence"])
  const fiber = yield* Effect.forkChild(
    ended(payout, client, { onInterruptedWrite: () => Effect.die(new Error(secrets.apiKey)) })
  )
  while (client.sent.length === 0) yield* Effect.yieldNow
  yield* Fiber.interrupt(fiber)
})

/** The keys of two merchants are refused, of which the metrics name the first. */
const refusedMerchants = Effect.gen(function* () {
  const { get } = yield* Merchants
  for (const merchant of ["padaria", "mercado", "padaria"]) {
    yield* Effect.exit(Effect.provide(readBalance, get(merchant)))
  }
}).pipe(
  Effect.provide(
    Merchants.layer({
      baseUrl: "https://gateway.example",
      load: () => Effect.succeed({ clientId: secrets.clientId, apiKey: Redacted.make(secrets.apiKey) }),
      inMetrics: 1
    }).pipe(Layer.provide(scripted(respond(401)).layer))
  )
)

const badSchedule = Schedule.while(Schedule.recurs(1), () => {
  throw new Error(person.email)
})

/** One incident for each log line of the client. */
const incidents = Effect.gen(function* () {
  const busy = respond(503, "", { "retry-after": "0" })
  assert.isTrue(Exit.isSuccess(yield* ended(payout, clientOn([lostConnection, paid]))))
  yield* ended(payout, clientOn([busy]))
  yield* ended(pay("Unknown"), clientOn([busy]))
  yield* ended(payout, clientOn([respond(409, "", { date: "Sat, 28 Nov 2026 12:00:00 GMT" })]))
  yield* ended(payout, clientOn([respond(429, "", { "retry-after": "6000" })]))
  yield* ended(payout, clientOn([respond(429, "", { "retry-after": "0" }), paid]))
  yield* ended(payout, clientOn([busy]), { retryWrites: badSchedule })
  const spent = { capacity: 0, retryCost: 14, throttledRetryCost: 5, refund: 1 }
  yield* ended(payout, clientOn([busy]), { retryBudget: spent })
  yield* ended(payout, clientOn([respond(201, { ...recorded, createdAt: "" })]))
  yield* ended(createTransaction.run, clientOn([respond(422)]))
  yield* ended(readBalance, clientOn([refusedConnection]))
  yield* ended(
    on((payments) => payments.getTransaction(transactionId)),
    clientOn([respond(404, { message: person.name })])
  )
  const rotated = clientOn([respond(401), respond(200, balance)], [`${secrets.apiKey}-2`])
  assert.isTrue(Exit.isSuccess(yield* ended(readBalance, rotated)))
  yield* ended(readBalance, clientOn([respond(401)]))
  yield* ended(readBalance, clientOn([respond(401)], [undefined]))
  yield* refusedMerchants
  yield* interrupted
})

/** One run for all tests. */
const exported = Effect.runSync(Effect.cached(exportedBy(incidents)))

describe("the exported signals of the client", () => {
  live(
    "the metrics of a run are those of docs/observability.md, and nothing has a secret, personal data or an id of a path",
    function* () {
      const { metrics, text } = yield* exported
      assert.deepStrictEqual(leaksIn(text), [])
      assert.notInclude(text, transactionId.slice(0, 13))
      assert.deepStrictEqual(exportedMetrics(metrics, /^(effect_pix_|http\.client)/), documentedMetrics("client"))
    }
  )

  live("every alert and panel finds what it reads under Effect's Prometheus exporter and under OTLP", function* () {
    const { count, missing } = unread(
      (yield* exported).exporting,
      /^(?:effect_pix_(?:call|misfits|retries|credential|started)|http_client)/
    )
    assert.isAbove(count, 5)
    assert.deepStrictEqual(missing, [])
  })

  live("every line has the trace of its call, and no span has a line for an event", function* () {
    const { lines, spans } = yield* exported
    const calls = new Map(
      spans.filter(({ name }) => name.startsWith("Payments.")).map((span) => [span.spanId, span] as const)
    )
    assert.isAtLeast(lines.length, 12)
    for (const { attributes, message, spanId, traceId } of lines) {
      const call = calls.get(spanId ?? "")
      assert.strictEqual(call?.traceId, traceId, message)
      for (const name of ["payments.operation", "payments.idempotency_key_hash"]) {
        if (name in attributes) assert.strictEqual(attributes[name], call?.attributes[name], message)
      }
    }
    assert.deepStrictEqual(
      spans.flatMap(({ events }) => events),
      []
    )
  })

  live(
    "the loads of credentials are counted by result, and a histogram has a bound for the longest call",
    function* () {
      const { metrics } = yield* exported
      const loads = metrics.filter(({ name }) => name === "effect_pix_credential_loads_total")
      const results = loads
        .filter(({ attributes }) => !("merchant" in attributes))
        .map(({ attributes }) => [attributes["result"], attributes["error.type"]].join(" "))
      assert.sameMembers(results, ["New ", "Same ", "Failed NoVault"])
      const histograms = metrics.filter(({ bounds, unit }) => unit === "s" && bounds.length > 0)
      assert.isNotEmpty(histograms)
      // The default deadline of a call is 90 seconds.
      for (const { bounds, name } of histograms) assert.isAbove(bounds.at(-1) ?? 0, 90, name)
    }
  )

  live(
    "the first merchants are named in what is counted of their calls and loads, and the others are not",
    function* () {
      const { metrics } = yield* exported
      const merchants = metrics.filter(({ attributes }) => "merchant" in attributes)
      assert.deepStrictEqual(
        merchants
          .map(({ attributes, name, value }) =>
            [name, attributes["result"], attributes["merchant"], value].map(String).join(" ")
          )
          .toSorted(),
        [
          "effect_pix_call_duration_seconds AuthError other 1",
          "effect_pix_call_duration_seconds AuthError padaria 2",
          "effect_pix_credential_loads_total New other 1",
          "effect_pix_credential_loads_total New padaria 1",
          "effect_pix_credential_loads_total Same other 1",
          "effect_pix_credential_loads_total Same padaria 1"
        ]
      )
    }
  )

  effect(
    "writes that fail are one line a minute for each cause, with their number, and their sum is counted",
    function* () {
      const blocked = respond(422, { message: "Conta bloqueada para recebimento." })
      const refused = clientOn([blocked, refusedConnection, blocked])
      const program = Effect.gen(function* () {
        const create = Effect.exit(createTransaction.run)
        yield* Effect.replicateEffect(create, 4)
        yield* Effect.exit(readBalance)
        yield* TestClock.adjust("1 minute")
        yield* create
      }).pipe(Effect.provide(refused.payments), Effect.provideService(PaymentsPolicy, oneAttempt))
      const { lines, metrics } = yield* exportedBy(program)
      const said = lines.filter(({ level }) => level === "Warn").map(({ level, message }) => `${level} ${message}`)
      assert.lengthOf(said, 3)
      assert.include(said[0], "Warn createTransaction failed (422), and was not executed.")
      assert.include(said[0], "Conta bloqueada para recebimento.")
      assert.include(said[1], "Warn createTransaction failed (NoConnection), and was not executed.")
      assert.match(said[2] ?? "", /failed \(422\).*\(3 times since the last such line\)$/)
      const sums = metrics.filter(({ name }) => name === "effect_pix_call_failed_centavos_total")
      assert.sameDeepMembers(
        sums.map(({ attributes, value }) => [attributes["outcome"], attributes["error.type"], value]),
        [
          ["Rejected", "422", 4 * 2500],
          ["NotSent", "NoConnection", 2500]
        ]
      )
    }
  )

  effect(
    "charges in doubt are one line a minute for each cause, and each payout in doubt is a line with its key",
    function* () {
      const lost = clientOn([lostConnection])
      const program = Effect.gen(function* () {
        yield* Effect.replicateEffect(Effect.exit(createTransaction.run), 3)
        yield* Effect.replicateEffect(Effect.exit(payout), 2)
        yield* TestClock.adjust("1 minute")
        yield* Effect.exit(createTransaction.run)
      }).pipe(Effect.provide(lost.payments), Effect.provideService(PaymentsPolicy, oneAttempt))
      const { lines } = yield* exportedBy(program)
      const said = lines.flatMap(({ message }) => (message.includes("may have been executed, or not") ? [message] : []))
      assert.deepStrictEqual(
        said.map((line) => /^OutcomeUnknown: (\w+)/.exec(line)?.[1]),
        ["createTransaction", "requestWithdrawal", "requestWithdrawal", "createTransaction"]
      )
      assert.match(said[3] ?? "", /\(3 times since the last such line\)$/)
    }
  )

  effect.each([
    ["as late as the header", "00:00", 0],
    ["later than it by less than a second", "00:00.900", 0],
    ["10 minutes ahead", "10:00.999", 600],
    ["10 minutes behind", "-10:00", -600]
  ] as const)("a clock that is %s is measured against the gateway's", function* ([, time, offset]) {
    const [minutes = 0, seconds = 0] = time.split(":").map(Number)
    yield* TestClock.setTime(3_600_000 + minutes * 60_000 + seconds * 1000)
    const client = clientOn([respond(200, balance, { date: "Thu, 01 Jan 1970 01:00:00 GMT" })])
    const { metrics } = yield* exportedBy(ended(readBalance, client))
    const measured = metrics.filter(({ name }) => name === "effect_pix_clock_offset_seconds")
    assert.deepStrictEqual(
      measured.map(({ attributes, value }) => [attributes["source"], value]),
      [["gateway", offset]]
    )
  })

  live("a rate limit is logged once a minute for a client, with the time that the service asks to wait", function* () {
    const limited = clientOn([respond(429, "", { "retry-after": "6000" })])
    const { lines, spans } = yield* exportedBy(ended(Effect.replicateEffect(Effect.exit(payout), 3), limited))
    const [found, ...more] = lines.filter(({ message }) => message.includes("HTTP 429"))
    assert.include(found?.message, "6000 second(s)")
    assert.deepInclude(found?.attributes, { "payments.retry_after": 6000, "payments.outcome": "Rejected" })
    assert.deepStrictEqual(more, [])
    assert.strictEqual(spans.filter(({ attributes }) => attributes["payments.retry_after"] === 6000).length, 3)
  })
})
