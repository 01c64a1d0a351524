/**
 * A step of the database that is interrupted by another fiber, for example because the user's pool is closed while the webhook
 * still works.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { charge } from "../support/charges.ts"
import { interruptible } from "../support/interruptible.ts"
import { recording, world } from "../support/webhooks.ts"
import { live } from "../support/effect.ts"

describe("a step of the database that another fiber interrupts", () => {
  live(
    "after a handler it is no failure of the handler: it is not reported, and the event is handed out again and commits",
    world,
    function* () {
      const { client: sql, interrupted, interruptNext } = yield* interruptible
      yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
      const shipped = sql`SELECT charge FROM shipped`
      let handled = 0
      const { deadLetters, failures, idle, post } = yield* recording<SqlClient.SqlClient>(
        {
          onPaid: ({ transaction: { transactionId } }) =>
            sql`INSERT INTO shipped VALUES (${transactionId})`.pipe(
              Effect.andThen(Effect.suspend(() => (++handled === 1 ? interruptNext : Effect.void)))
            )
        },
        (options) => Webhook.layerSql(options)
      ).pipe(Effect.provideService(SqlClient.SqlClient, sql))
      const { id } = yield* charge
      yield* (yield* Sandbox).markPaid(id)
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 200)
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => handled > 1 })
      yield* idle
      assert.deepStrictEqual([handled, interrupted()], [2, 1])
      assert.deepStrictEqual(
        (yield* shipped).map((row) => ({ ...row })),
        [{ charge: id }]
      )
      assert.deepStrictEqual([failures, yield* deadLetters], [[], []])
    }
  )

  live("before the answer it is answered with 503, by the web handler too", world, function* () {
    const services = yield* Effect.context<Layer.Success<typeof world>>()
    const { client, interruptNext } = yield* interruptible
    const layer = Webhook.layerSql({}).pipe(
      Layer.provide(Layer.succeed(SqlClient.SqlClient, client)),
      Layer.provide(Layer.succeedContext(services))
    )
    const { dispose, handler, idle } = Webhook.toWebHandler(layer)
    yield* Effect.promise(idle)
    const post = Effect.promise(() =>
      handler(new Request("https://shop.example", { method: "POST", body: '{"hello":"world"}' })).then(
        ({ headers, status }) => [status, headers.get("retry-after")]
      )
    )
    yield* interruptNext
    assert.deepStrictEqual(
      [yield* post, yield* post],
      [
        [503, "30"],
        [200, null]
      ]
    )
    yield* Effect.promise(dispose)
  })

  live("it is logged as an interruption, and not as the defect of a handler", world, function* () {
    const lines: Array<string> = []
    const { client: sql, interruptNext } = yield* interruptible
    const handled: Array<string> = []
    const { idle, post } = yield* recording<SqlClient.SqlClient>(
      { onPaid: ({ id }) => (handled.push(id) === 1 ? interruptNext : Effect.void) },
      (options) => Webhook.layerSql(options)
    ).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]))
    )
    const { id } = yield* charge
    yield* (yield* Sandbox).markPaid(id)
    yield* post({ transactionId: id, status: "Paid" })
    yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => handled.length > 1 })
    yield* idle
    const log = lines.join("\n")
    assert.include(log, "Webhook: a step was interrupted, it is tried again")
    assert.notInclude(log, "died")
  })
})
