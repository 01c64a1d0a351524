/**
 * A step of the database that is interrupted by itself, as where the user's pool is closed while the webhook still works.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { charge } from "../support/charges.ts"
import { recording, world } from "../support/webhooks.ts"

/** A SQLite whose next transaction is interrupted at its end, instead of committed, when `interruptNext` says so. */
const interruptible = Effect.gen(function* () {
  const sql = Context.get(yield* Layer.build(NodeSqlite.layer({ filename: ":memory:" })), SqlClient.SqlClient)
  let isNext = false
  const end = Effect.suspend(() => {
    if (!isNext) return Effect.void
    isNext = false
    return Effect.interrupt
  })
  const client: SqlClient.SqlClient = new Proxy(sql, {
    get: (target, property, receiver) =>
      property === "withTransaction"
        ? <A, E, R>(effect: Effect.Effect<A, E, R>) => target.withTransaction(Effect.tap(effect, () => end))
        : property === "withoutTransforms"
          ? () => client
          : Reflect.get(target, property, receiver)
  })
  return { client, interruptNext: Effect.sync(() => (isNext = true)) }
})

describe("a step of the database that is interrupted by itself", () => {
  it.live(
    "after a handler it is no failure of the handler's: nothing is told, and the event is handed out once more and commits",
    () =>
      Effect.gen(function* () {
        const { client: sql, interruptNext } = yield* interruptible
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
        assert.strictEqual(handled, 2)
        assert.deepStrictEqual(
          (yield* shipped).map((row) => ({ ...row })),
          [{ charge: id }]
        )
        assert.deepStrictEqual([failures, yield* deadLetters], [[], []])
      }).pipe(Effect.provide(world))
  )
})
