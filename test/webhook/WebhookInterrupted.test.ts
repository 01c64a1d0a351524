/**
 * A step of the database that is interrupted by itself, as where the user's pool is closed while the webhook still works.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { charge } from "../support/charges.ts"
import { interruptible } from "../support/interruptible.ts"
import { recording, world } from "../support/webhooks.ts"

describe("a step of the database that is interrupted by itself", () => {
  it.live(
    "after a handler it is no failure of the handler's: nothing is told, and the event is handed out once more and commits",
    () =>
      Effect.gen(function* () {
        const { client: sql, interrupted, interruptNext } = yield* interruptible
        yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
        const shipped = sql`SELECT charge FROM shipped`
        let handled = 0
        const { deadLetters, failures, idle, post } = yield* recording<SqlClient.SqlClient>(
          {
            retry: Schedule.recurs(0),
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
      }).pipe(Effect.provide(world))
  )
})
