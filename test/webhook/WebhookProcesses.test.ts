/**
 * Webhooks in several processes.
 */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { paidCharge } from "../support/charges.ts"
import { recording, world } from "../support/webhooks.ts"
import { live } from "../support/effect.ts"

describe("a lookup that is older than what another process handed out", () => {
  live("the process that lost its lease hands no stale status out", Layer.fresh(world), function* () {
    const payments = yield* Payments
    const sandbox = yield* Sandbox
    const sql = yield* SqlClient.SqlClient
    // A process whose only worker waits takes no other job.
    yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
    const onPaid = ({ id }: { readonly id: string }) => sql`INSERT INTO shipped VALUES (${id})`
    const starting = recording({ concurrency: 1, poll: "20 millis", onPaid })
    const id = yield* paidCharge
    const answered = yield* Deferred.make<void>()
    const mayArrive = yield* Deferred.make<void>()
    let looks = 0
    const first = yield* starting.pipe(
      Effect.provideService(Payments, {
        ...payments,
        getTransaction: (wanted) =>
          Effect.tap(payments.getTransaction(wanted), () =>
            ++looks === 1
              ? Effect.andThen(Deferred.succeed(answered, undefined), Deferred.await(mayArrive))
              : Effect.void
          )
      })
    )
    yield* first.post({ transactionId: id, status: "Paid" })
    yield* Deferred.await(answered)
    // While the answer Paid is on its way, the first process loses its lease, and another process looks the charge up.
    yield* sandbox.refund(id)
    yield* sql`UPDATE effect_pix_webhooks SET due_at = 0, taken_by = NULL`
    const second = yield* starting
    yield* second.idle
    yield* Deferred.succeed(mayArrive, undefined)
    yield* first.idle
    yield* Effect.sleep("50 millis")
    const [row] = yield* sql<{ readonly value: string }>`SELECT value FROM effect_pix_webhooks`
    assert.include(row?.value ?? "", '"handedOut":["Refunded"]')
    assert.deepStrictEqual(second.statuses(), ["Refunded"])
    assert.deepStrictEqual(yield* sql`SELECT * FROM shipped`, [])
    assert.strictEqual(looks, 1)
    assert.deepStrictEqual([first.reports, second.reports], [[], []])
  })
})
