/**
 * The metrics, spans and log lines of a webhook: an operator sees nothing else.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Logger, Metric, Redacted, References } from "effect"
import { TransactionHints } from "../../src/transactions/TransactionHints.ts"
import { NodeSqlite } from "effect-pix/node"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient, type WebhookOptions, WebhookVerifier } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { charge, paidCharge } from "../support/charges.ts"
import { documentedMetrics, exportedMetrics } from "../support/documented.ts"
import { unread } from "../support/unread.ts"
import { exportedBy, lastValues } from "../support/exported.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { exhaust, lookingUp, nobody } from "../support/webhooks.ts"
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

const memory = NodeSqlite.layer({ filename: ":memory:" })

const webhookOf = (options: WebhookOptions) => Webhook.layerSql({ verifier, ...options })

const onSqlite = (options: WebhookOptions) => Layer.provideMerge(webhookOf(options), memory)

const webhookMetrics = /^effect_pix_(webhook|dead_letters)/

/** Ends when the webhook of a new process has measured its rows. */
const measured = Effect.andThen(
  Webhook,
  Effect.repeat(Effect.andThen(Effect.yieldNow, Metric.snapshot), {
    until: (metrics) => metrics.some(({ id }) => id === "effect_pix_dead_letters")
  })
)

const strangers = { "x-webhook-secret": "guessed" }

/** Deliveries that are refused: the answer with its reason, how often, and what is sent. */
const refusals: ReadonlyArray<readonly [reason: string, count: number, delivery: Parameters<typeof post>]> = [
  ["401 Mismatch", 5, [{ hello: person }, strangers]],
  ["401 Missing", 1, [{ hello: person }, {}]],
  ["400 Unreadable", 1, [`{"broken": "${person}`]],
  ["413 TooLarge", 1, ["x".repeat(300_000)]],
  ["405 NotPost", 1, ["", {}, "GET"]]
]

describe("the exported signals of a webhook", () => {
  live(
    "deliveries are counted by answer and reason, and a refusal is one warning for each reason, in its trace",
    Layer.fresh(world),
    function* () {
      const program = Effect.gen(function* () {
        for (const [, count, delivery] of refusals) yield* Effect.replicateEffect(post(...delivery), count)
        yield* post({ hello: person })
        yield* (yield* WebhookClient).idle
      }).pipe(Effect.provide(onSqlite({})))
      const { lines, metrics, spans, text } = yield* exportedBy(program)
      const counts = [...refusals, ["200", 1] as const].map(([reason, count]) => [
        `effect_pix_webhook_deliveries_total ${reason} default {delivery}`,
        count
      ])
      assert.deepInclude(lastValues(metrics, webhookMetrics), Object.fromEntries(counts))
      const refused = lines.filter(({ attributes }) => attributes["webhook.outcome"] === "Refused")
      const reasons = refused.map(({ attributes: of, level }) =>
        [level, of["http.response.status_code"], of["error.type"]].join(" ")
      )
      assert.deepStrictEqual(
        reasons,
        refusals.map(([reason]) => `Warn ${reason}`)
      )
      for (const { spanId, traceId } of refused) {
        const span = spans.find((one) => one.spanId === spanId)
        assert.deepStrictEqual([span?.name, span?.traceId], ["Webhook.answer", traceId])
      }
      for (const hidden of [secret, "guessed", person]) assert.notInclude(text, hidden)
    }
  )

  live(
    "the failure of a handler fails its span and is logged with its kind, id and attempt, without the user's own error, every span and metric is in docs/observability.md, and every alert and panel finds what it reads under both exporters",
    Layer.fresh(world),
    function* () {
      let id = ""
      const program = Effect.gen(function* () {
        id = yield* paidCharge
        yield* post({}, {})
        yield* post({ hello: person })
        yield* post({ transactionId: id, status: "Paid", name: person })
        yield* exhaust("failed")
        for (let n = 0; n < 2; n++) yield* post({ transactionId: (yield* charge).id, status: "x" })
        yield* (yield* Webhook).check((yield* charge).id)
        const back = yield* paidCharge
        yield* (yield* Sandbox).refund(back)
        yield* post({ transactionId: back })
        yield* (yield* WebhookClient).idle
      }).pipe(
        Effect.provide(onSqlite({ onPaid: () => Effect.fail(`${person} has no order`) })),
        // What is not paid is said to be so by another word.
        lookingUp((answer) =>
          Effect.map(answer, (detail) =>
            /Paid|Refunded/.test(detail.enStatusTransaction) ? detail : { ...detail, enStatusTransaction: "Pago" }
          )
        )
      )
      const { exporting, lines, metrics, spans, text } = yield* exportedBy(program)
      assert.deepStrictEqual(exportedMetrics(metrics, webhookMetrics), documentedMetrics("webhook", "letters"))
      const { count, missing } = unread(exporting, webhookMetrics)
      assert.isAbove(count, 5)
      assert.deepStrictEqual(missing, [])
      const works = spans.filter(
        ({ attributes, name }) => name === "Webhook.process" && "webhook.handler" in attributes
      )
      const ends = works.map(({ attributes: of }) => [of["webhook.outcome"], of["webhook.handler"], of["error.type"]])
      assert.deepStrictEqual(
        ends,
        ["Waits", "Dead"].map((outcome) => [outcome, "onPaid", "Failure"])
      )
      assert.isTrue(works.every(({ failure }) => failure !== undefined))
      const failures = lines.filter(({ message }) => message.startsWith("Webhook: onPaid failed"))
      assert.deepStrictEqual(
        failures.map(({ attributes, level }) => `${level} ${String(attributes["webhook.id"])}`),
        [`Warn ${id}:Paid`, `Error ${id}:Paid`]
      )
      for (const { spanId } of failures) assert.isTrue(works.some((work) => work.spanId === spanId))
      const values = lastValues(metrics, webhookMetrics)
      assert.strictEqual(values["effect_pix_webhook_handlers_total Failure Failure onPaid {call}"], 2)
      assert.strictEqual(values["effect_pix_webhook_handlers_total Dead Failure onPaid {call}"], 1)
      assert.strictEqual(values["effect_pix_webhook_unlisted_total Pago default {lookup}"], 3)
      // Once, of two calls.
      assert.strictEqual(values["effect_pix_webhook_failed_centavos_total onPaid {centavo}"], 2500)
      // Of a refund that no code is for.
      assert.strictEqual(values["effect_pix_webhook_ends_total onRefunded {transaction}"], 1)
      assert.strictEqual(values["effect_pix_webhook_ends_centavos_total onRefunded {centavo}"], 2500)
      assert.strictEqual(lines.filter(({ message }) => message.includes('a lookup says "Pago"')).length, 1)
      assert.notInclude(text, person)
      // Spans have a hash of the transaction's id, and not the id.
      assert.notInclude(JSON.stringify(spans.filter(({ name }) => name.startsWith("Webhook."))), id)
    }
  )

  live(
    "a new process measures the rows of earlier ones: which wait, for how long and why, and dead letters",
    Layer.fresh(world),
    function* () {
      const database = Layer.succeedContext(yield* Layer.build(Layer.fresh(memory)))
      const started = (options: WebhookOptions) => Layer.provideMerge(Layer.fresh(webhookOf(options)), database)
      yield* Effect.gen(function* () {
        yield* post({ transactionId: yield* paidCharge })
        yield* exhaust("failed")
        yield* (yield* WebhookClient).idle
        yield* post({ transactionId: nobody(1), status: "Paid" })
        yield* post({ transactionId: nobody(2), status: "Paid" })
        const sql = yield* SqlClient.SqlClient
        const waits = sql`SELECT 1 FROM effect_pix_webhooks WHERE state = 'Open' AND value LIKE '%"waits"%'`
        yield* Effect.repeat(waits, { until: ({ length }) => length === 2 })
        yield* (yield* Sandbox).fault("getTransaction", Fault.refusal(401, "não"), { times: Infinity })
        yield* post({ transactionId: nobody(3), status: "Paid" })
        yield* Effect.repeat(waits, { until: ({ length }) => length === 3 })
        // As if more ids had arrived than may be looked up, and two of the deliveries an hour ago.
        yield* sql`INSERT INTO effect_pix_webhooks (webhook, name, state, value, due_at)
              SELECT webhook, name || '-more', 'First', value, due_at FROM effect_pix_webhooks WHERE state = 'Open'`
        yield* sql`UPDATE effect_pix_webhooks SET value = json_set(value, '$.since', json_extract(value, '$.since') - 3600000)
              WHERE ${sql.in("name", [nobody(1), nobody(3)])}`
      }).pipe(Effect.provide([started({ onPaid: () => Effect.fail("no") }), Logger.layer([])]))
      const { metrics } = yield* exportedBy(Effect.provide(measured, started({ firstLookupsPerSecond: 1 })))
      const values = lastValues(metrics, webhookMetrics)
      // One of the more ids may have been looked up.
      for (const reason of ["first", "outage"])
        assert.isAtLeast(values[`effect_pix_webhook_waiting default ${reason} {delivery}`] ?? 0, 1)
      for (const reason of ["early", "outage"]) {
        const age = values[`effect_pix_webhook_oldest_seconds default ${reason} s`] ?? 0
        assert.isTrue(age >= 3600 && age < 4000, `${reason}: ${age}`)
      }
      assert.strictEqual(values["effect_pix_webhook_oldest_seconds default due s"], 0)
      assert.deepInclude(values, {
        "effect_pix_webhook_waiting default early {delivery}": 2,
        "effect_pix_webhook_waiting default failed {delivery}": 0,
        "effect_pix_webhook_waiting default due {delivery}": 0,
        "effect_pix_dead_letters Webhook default {letter}": 1
      })
    }
  )

  for (const { layer, name } of [
    { name: "that records deliveries", layer: onSqlite({}) },
    { name: "that stores nothing", layer: Layer.provideMerge(Webhook.layer({ verifier }), memory) }
  ])
    effect(
      `a webhook ${name} counts what a check found and no delivery had told, and when one was taken last`,
      Layer.fresh(world),
      function* () {
        const program = Effect.gen(function* () {
          const { check } = yield* Webhook
          yield* TestClock.setTime(90_000)
          const [told, untold, open] = [yield* paidCharge, yield* paidCharge, (yield* charge).id]
          yield* post({ transactionId: told, status: "Paid" })
          yield* TestClock.adjust("1 second")
          for (const id of [untold, open]) yield* check(id)
          yield* TestClock.adjust("1 second")
          yield* post({ transactionId: untold, status: "Paid" }, strangers)
        }).pipe(Effect.provide(layer))
        const { lines, metrics } = yield* exportedBy(program)
        assert.deepInclude(lastValues(metrics, webhookMetrics), {
          "effect_pix_webhook_untold_total default onPaid {status}": 1,
          "effect_pix_webhook_last_delivery_seconds default s": 90
        })
        assert.lengthOf(
          lines.filter(({ message }) => message.includes("a check found a status that no delivery had told")),
          1
        )
      }
    )

  effect(
    "a lookup without an answer is a Timeout in the metrics, and one line a minute for each cause",
    Layer.fresh(world),
    function* () {
      const program = Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* sandbox.fault("getTransaction", Fault.refusal(401, "não"), { times: 1 })
        yield* sandbox.fault("getTransaction", Fault.silence(), { times: Infinity })
        for (let n = 0; n < 5; n++) yield* post({ transactionId: yield* paidCharge, status: "Paid" })
        yield* TestClock.adjust("110 seconds")
        yield* sandbox.clearFaults
        yield* TestClock.adjust("1 minute")
        yield* (yield* WebhookClient).idle
      }).pipe(Effect.provide(onSqlite({})))
      const { lines, metrics } = yield* exportedBy(program)
      const said = lines.filter(({ message }) => message.startsWith("Webhook: a lookup"))
      const noAnswer = "Webhook: a lookup got no answer in 30 seconds, and is repeated."
      assert.deepStrictEqual(
        said.map(({ level, message }) => `${level} ${message.replace(/\d+ more/, "N more")}`),
        [
          "Webhook: a lookup failed (401), and is repeated.",
          noAnswer,
          `${noAnswer} N more since the last such line.`
        ].map((line) => `Warn ${line}`)
      )
      const types = metrics.filter(({ name }) => name === "http.client.request.duration")
      assert.sameMembers(
        types.flatMap(({ attributes }) => attributes["error.type"] ?? []),
        ["Timeout", "401"]
      )
    }
  )

  effect(
    "a refusal is logged again after a minute, with the number of refusals that were not logged",
    Layer.fresh(world),
    function* () {
      const { layer, lines } = makeWarnings((line, { fiber }) =>
        [line, fiber.getRef(References.CurrentLogAnnotations)["webhook.refused"]].join(" refused: ")
      )
      yield* Effect.gen(function* () {
        for (let n = 0; n < 4; n++) yield* post({}, {})
        yield* TestClock.adjust("59 seconds")
        yield* post({}, {})
        assert.lengthOf(lines, 1)
        yield* TestClock.adjust("1 second")
        yield* post({}, {})
      }).pipe(Effect.provide([Webhook.layer({ verifier }), layer]))
      assert.lengthOf(lines, 2)
      assert.notInclude(lines[0], "more since")
      assert.include(lines[1], " 4 more since the last such line. refused: 5")
    }
  )
})
