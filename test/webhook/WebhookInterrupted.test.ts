/**
 * A step of the database that another fiber interrupts, for example because the user's pool is closed while the webhook works.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { interruptible } from "../support/interruptible.ts"
import { delivery, finish, recording, world } from "../support/webhooks.ts"

describe("a step of the database that another fiber interrupts", () => {
  effect("after a handler it is no failure of that: the event is handed out again and commits", world, function* () {
    const lines: Array<string> = []
    const { client: sql, interrupted, interruptNext } = yield* interruptible
    yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
    let handled = 0
    const webhook = yield* recording({
      onPaid: ({ transaction: { transactionId } }) =>
        sql`INSERT INTO shipped VALUES (${transactionId})`.pipe(
          Effect.andThen(Effect.suspend(() => (++handled === 1 ? interruptNext : Effect.void)))
        )
    }).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]))
    )
    const id = yield* paidCharge
    yield* webhook.claim(id)
    yield* finish(webhook)
    assert.deepStrictEqual([handled, interrupted()], [2, 1])
    assert.strictEqual(JSON.stringify(yield* sql`SELECT charge FROM shipped`), JSON.stringify([{ charge: id }]))
    assert.deepStrictEqual([webhook.failures, yield* webhook.deadLetters], [[], []])
    assert.include(lines.join("\n"), "Webhook: a step was interrupted, it is tried again")
    assert.notInclude(lines.join("\n"), "died")
  })

  effect("before the answer it is answered with 503, and the next try with 200", world, function* () {
    const { client, interruptNext } = yield* interruptible
    const { answer, idle } = yield* Effect.provideService(recording(), SqlClient.SqlClient, client)
    yield* idle
    yield* interruptNext
    const post = Effect.map(
      Effect.suspend(() => answer(delivery("{}"))),
      ({ headers, status }) => [status, headers.get("retry-after")]
    )
    assert.deepStrictEqual(
      [yield* post, yield* post],
      [
        [503, "30"],
        [200, null]
      ]
    )
  })
})
