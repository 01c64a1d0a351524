/**
 * Runs at the same moment on one database, and while it does not answer.
 */
import { assert, describe } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { PayoutQueue, Payouts } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { databases, postgres } from "../support/database.ts"
import { live } from "../support/effect.ts"
import { gatewayOf, payout } from "../support/payoutQueue.ts"
import { paid, requests, shown } from "../support/payoutSeen.ts"
import { noPostgres } from "../support/postgres.ts"
import { listsOf, sheet } from "../support/sheets.ts"

const once = PaymentsPolicy.layer(PaymentsPolicy.once)
const gatewayWith = (fault: Fault.Fault) => Layer.merge(gatewayOf({ c: [fault] }), once)
const startProcess = Layer.build(Layer.fresh(PayoutQueue.layer({ poll: "50 millis" })))

/** A database of PostgreSQL whose connections have these settings. */
const settingsOf = (setting: string) =>
  Layer.unwrap(
    Effect.map(postgres, ({ url }) =>
      PgClient.layer({ url: Redacted.make(`${url}?options=${encodeURIComponent(`-c ${setting}`)}`) })
    )
  )

describe("runs of one sheet", () => {
  for (const { client, name, skip } of databases)
    live.skipIf(skip)(
      `at a time pay each line once, and the second takes up what the first leaves, on ${name}`,
      Layer.merge(client(), gatewayWith(Fault.retryAfter("1 hour"))),
      function* () {
        const sql = yield* SqlClient.SqlClient
        const [one, two] = [yield* startProcess, yield* startProcess]
        const items = sheet("a", "b", "c", "d")
        const first = yield* Effect.forkChild(Effect.provideContext(Payouts.run(items), one))
        const second = yield* Effect.forkChild(Effect.provideContext(Payouts.run(items.toReversed()), two))
        const states = Effect.provideContext(Effect.forEach(["a", "b", "c", "d"], shown), two)
        yield* Effect.repeat(Effect.andThen(Effect.sleep("10 millis"), states), {
          until: (all) => all.join() === "posted,posted,accepted RateLimited,posted"
        })
        yield* Fiber.interrupt(first)
        // The time that the service asked for is over.
        yield* sql`UPDATE effect_pix_payouts SET due_at = 1 WHERE reference = 'c'`
        assert.deepStrictEqual(listsOf(yield* Fiber.join(second)), { done: ["d", "c", "b", "a"] })
        assert.deepStrictEqual([yield* requests(), yield* paid], [5, 4])
      }
    )
})

describe.skipIf(noPostgres() !== undefined)("runs on PostgreSQL", () => {
  live.each([
    String.raw`default_transaction_isolation=read\ committed`,
    String.raw`default_transaction_isolation=repeatable\ read`
  ])("of payouts that look alike at the same moment: one of them is accepted, with %s", function* (setting) {
    yield* Effect.gen(function* () {
      const queue = yield* startProcess
      for (const round of [1, 2, 3]) {
        const runs = ["x", "y", "z"].map((side) => Payouts.run([payout(`${side}/${round}`, 1000 + round)]))
        const exits = yield* Effect.forEach(runs, (one) => Effect.exit(Effect.provideContext(one, queue)), {
          concurrency: "unbounded"
        })
        assert.lengthOf(exits.filter(Exit.isSuccess), 1, `round ${round}`)
      }
      assert.strictEqual(yield* paid, 3)
    }).pipe(Effect.provide(Layer.merge(settingsOf(setting), gatewayWith(Fault.none))))
  })
})
