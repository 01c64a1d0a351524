/**
 * The metrics, spans and log lines that a webhook exports over Effect's own OTLP layers: an operator sees nothing else.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Logger, Metric, Redacted } from "effect"
import { TransactionHints } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookOptions, WebhookVerifier } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { paidCharge } from "../support/charges.ts"
import { compareSpans, documentedMetrics, exportedMetrics } from "../support/documented.ts"
import { exportedBy, lastValues } from "../support/exported.ts"
import { exhaust, nobody } from "../support/webhooks.ts"
import { effect, live } from "../support/effect.ts"

const secret = "kept-in-a-secret-store"
const person = "Maria Silva"

const post = (body: unknown, headers: Record<string, string> = { "x-webhook-secret": secret }, method = "POST") =>
  Effect.gen(function* () {
    const { answer } = yield* Webhook
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const init = method === "POST" ? { method, headers, body: text } : { method, headers }
    return (yield* answer(new Request("https://shop.example/webhooks/pix", init))).status
  })

const world = Layer.mergeAll(Sandbox.layerPayments, TransactionHints.layer)

const verifier = WebhookVerifier.sharedSecret({ header: "X-Webhook-Secret", secret: Redacted.make(secret) })

const onSqlite = (options: WebhookOptions) =>
  Layer.provideMerge(Webhook.layerSql({ verifier, ...options }), NodeSqlite.layer({ filename: ":memory:" }))

const webhookMetrics = /^effect_pix_webhook/

/** Ends when the webhook of a new process has measured its rows. */
const measured = Effect.andThen(
  Webhook,
  Effect.repeat(Effect.andThen(Effect.yieldNow, Metric.snapshot), {
    until: (metrics) => metrics.some(({ id }) => id === "effect_pix_webhook_dead_letters")
  })
)

/** Builds webhooks, one after another, on one database. */
const processes = Effect.gen(function* () {
  const database = yield* Layer.build(Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })))
  const started = (options: WebhookOptions) =>
    Layer.provideMerge(Layer.fresh(Webhook.layerSql({ verifier, ...options })), Layer.succeedContext(database))
  return { started }
})

const refusals = Effect.gen(function* () {
  const strangers = { "x-webhook-secret": "guessed" }
  for (let n = 0; n < 5; n++) yield* post({ hello: person }, strangers)
  yield* post({ hello: person }, {})
  yield* post(`{"broken": "${person}`)
  yield* post("x".repeat(70_000))
  yield* post("", {}, "GET")
  yield* post({ hello: person })
  yield* (yield* Webhook).idle
})

describe("the exported signals of a webhook", () => {
  live(
    "deliveries are counted by answer and reason, and a refusal is one warning for each reason, in its trace",
    Layer.fresh(world),
    function* () {
      const { lines, metrics, spans, text } = yield* exportedBy(refusals.pipe(Effect.provide(onSqlite({}))))
      assert.deepInclude(lastValues(metrics, webhookMetrics), {
        "effect_pix_webhook_deliveries 401 Mismatch default {delivery}": 5,
        "effect_pix_webhook_deliveries 401 Missing default {delivery}": 1,
        "effect_pix_webhook_deliveries 400 Unreadable default {delivery}": 1,
        "effect_pix_webhook_deliveries 413 TooLarge default {delivery}": 1,
        "effect_pix_webhook_deliveries 405 NotPost default {delivery}": 1,
        "effect_pix_webhook_deliveries 200 default {delivery}": 1
      })
      const refused = lines.filter(({ attributes }) => attributes["webhook.outcome"] === "Refused")
      assert.deepStrictEqual(
        refused.map(
          ({ attributes: of, level }) =>
            `${level} ${String(of["http.response.status_code"])} ${String(of["error.type"])}`
        ),
        ["Warn 401 Mismatch", "Warn 401 Missing", "Warn 400 Unreadable", "Warn 413 TooLarge", "Warn 405 NotPost"]
      )
      for (const { spanId, traceId } of refused) {
        const span = spans.find((one) => one.spanId === spanId)
        assert.deepStrictEqual([span?.name, span?.traceId], ["Webhook.answer", traceId])
      }
      for (const hidden of [secret, "guessed", person]) assert.notInclude(text, hidden)
    }
  )

  live(
    "the failure of a handler fails its span and is logged with its kind, id and attempt, without the user's own error, and every span and metric is a row of docs/observability.md",
    Layer.fresh(world),
    function* () {
      let id = ""
      const program = Effect.gen(function* () {
        id = yield* paidCharge
        yield* post({}, {})
        yield* post({ transactionId: id, status: "Paid", name: person })
        yield* exhaust("failed")
        yield* (yield* Webhook).idle
      }).pipe(Effect.provide(onSqlite({ onPaid: () => Effect.fail(`${person} has no order`) })))
      const { lines, metrics, spans, text } = yield* exportedBy(program)
      const own = spans.filter(({ name }) => name.startsWith("Webhook."))
      const page = compareSpans(own, "webhook")
      assert.deepStrictEqual(page.unknown, [])
      assert.deepStrictEqual(page.exported, page.documented)
      assert.deepStrictEqual(exportedMetrics(metrics, webhookMetrics), documentedMetrics("webhook"))
      const works = spans.filter(({ name }) => name === "Webhook.process")
      const ends = works.map(({ attributes: of }) => [of["webhook.outcome"], of["webhook.handler"], of["error.type"]])
      assert.deepStrictEqual(
        ends,
        ["Waits", "Dead"].map((outcome) => [outcome, "onPaid", "Failure"])
      )
      // 2 is OpenTelemetry's status of a span that failed.
      const statuses = [...text.matchAll(/"name":"Webhook\.process".*?"status":\{"code":(\d)/g)].map(([, code]) => code)
      assert.deepStrictEqual(statuses, ["2", "2"])
      const failures = lines.filter(({ message }) => message.startsWith("Webhook: onPaid failed"))
      assert.deepStrictEqual(
        failures.map(({ attributes: of, level, spanId }) => [
          level,
          of["webhook.id"],
          works.some((work) => work.spanId === spanId)
        ]),
        [
          ["Warn", `${id}:Paid`, true],
          ["Error", `${id}:Paid`, true]
        ]
      )
      const values = lastValues(metrics, webhookMetrics)
      assert.strictEqual(values["effect_pix_webhook_handlers Failure Failure onPaid {call}"], 2)
      assert.strictEqual(values["effect_pix_webhook_handlers Dead Failure onPaid {call}"], 1)
      assert.notInclude(text, person)
      // Spans have a hash of the transaction's id, and not the id.
      assert.notInclude(JSON.stringify(own), id)
    }
  )

  live(
    "a new process measures the rows of earlier ones: which wait, for how long and why, and dead letters",
    Layer.fresh(world),
    function* () {
      const { started } = yield* processes
      yield* Effect.gen(function* () {
        yield* post({ transactionId: yield* paidCharge })
        yield* exhaust("failed")
        yield* (yield* Webhook).idle
        yield* post({ transactionId: nobody(1), status: "Paid" })
        yield* post({ transactionId: nobody(2), status: "Paid" })
        const sql = yield* SqlClient.SqlClient
        const waits = sql`SELECT 1 FROM effect_pix_webhooks WHERE state = 'Open' AND value LIKE '%"waits"%'`
        yield* Effect.repeat(waits, { until: ({ length }) => length === 2 })
        yield* (yield* Sandbox).fault("getTransaction", Fault.refusal(401, "não"), { times: Infinity })
        yield* post({ transactionId: nobody(3), status: "Paid" })
        yield* Effect.repeat(waits, { until: ({ length }) => length === 3 })
        // As if two of the deliveries had arrived an hour ago.
        yield* sql`UPDATE effect_pix_webhooks SET value = json_set(value, '$.since', json_extract(value, '$.since') - 3600000)
              WHERE ${sql.in("name", [nobody(1), nobody(3)])}`
      }).pipe(Effect.provide([started({ onPaid: () => Effect.fail("no") }), Logger.layer([])]))
      const { metrics } = yield* exportedBy(Effect.provide(measured, started({})))
      const values = lastValues(metrics, webhookMetrics)
      for (const reason of ["early", "outage"]) {
        const age = values[`effect_pix_webhook_oldest default ${reason} s`] ?? 0
        assert.isTrue(age >= 3600 && age < 4000, `${reason}: ${age}`)
      }
      assert.strictEqual(values["effect_pix_webhook_oldest default due s"], 0)
      assert.deepInclude(values, {
        "effect_pix_webhook_waiting default early {delivery}": 2,
        "effect_pix_webhook_waiting default outage {delivery}": 1,
        "effect_pix_webhook_waiting default failed {delivery}": 0,
        "effect_pix_webhook_waiting default due {delivery}": 0,
        "effect_pix_webhook_dead_letters default {delivery}": 1
      })
    }
  )

  live(
    "deliveries that wait for a first lookup are measured by that reason, and a failing isKnown is one warning",
    Layer.fresh(world),
    function* () {
      const { started } = yield* processes
      const flood = Effect.gen(function* () {
        for (let n = 0; n < 30; n++) yield* post({ transactionId: nobody(n), status: "Paid" })
        const sql = yield* SqlClient.SqlClient
        yield* Effect.repeat(sql`SELECT 1 FROM effect_pix_webhooks WHERE state = 'New'`, {
          until: ({ length }) => length > 20
        })
      }).pipe(
        Effect.provide(started({ firstLookupsPerSecond: 1, isKnown: () => Effect.fail(`${person} has no order`) }))
      )
      const { lines, text: first } = yield* exportedBy(flood)
      const warnings = lines.filter(({ message }) => message.startsWith("Webhook: isKnown failed"))
      assert.isAtMost(warnings.length, 8, "one for each transaction that was processed at that time")
      assert.isAtLeast(warnings.length, 1)
      for (const { attributes, level } of warnings) {
        assert.deepStrictEqual([level, attributes["error.type"]], ["Warn", "Failure"])
      }
      assert.notInclude(first, person)
      const { metrics } = yield* exportedBy(Effect.provide(measured, started({ firstLookupsPerSecond: 1 })))
      assert.isAbove(
        lastValues(metrics, webhookMetrics)["effect_pix_webhook_waiting default first {delivery}"] ?? 0,
        20
      )
    }
  )

  effect(
    "a refusal is logged again after a minute, with the number of refusals that were not logged",
    Layer.fresh(world),
    function* () {
      const messages: Array<string> = []
      const logger = Logger.make(({ message }) => messages.push(String(message)))
      yield* Effect.gen(function* () {
        for (let n = 0; n < 4; n++) yield* post({}, {})
        yield* TestClock.adjust("59 seconds")
        yield* post({}, {})
        assert.lengthOf(messages, 1)
        yield* TestClock.adjust("1 second")
        yield* post({}, {})
      }).pipe(Effect.provide([Webhook.layer({ verifier }), Logger.layer([logger])]))
      assert.lengthOf(messages, 2)
      assert.notInclude(messages[0], "more since")
      assert.include(messages[1], " 4 more since the last such line")
    }
  )
})
