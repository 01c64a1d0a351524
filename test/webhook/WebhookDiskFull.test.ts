/** What a webhook says while the disk of its database is full. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TransactionHints } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { paidCharge } from "../support/charges.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { nobody } from "../support/webhooks.ts"

describe("a webhook on a full disk", () => {
  it.effect("a delivery is answered with 503, and the cause is in the log; it is taken when there is space", () => {
    const { layer, lines } = makeWarnings()
    const events: Array<string> = []
    const webhook = Webhook.layerSql({ onPaid: ({ id }) => Effect.sync(() => events.push(id)) })
    return Effect.gen(function* () {
      const { answer, idle } = yield* Webhook
      const sql = yield* SqlClient.SqlClient
      const post = (transactionId: string) =>
        Effect.map(
          answer(
            new Request("https://shop.example/pix", {
              method: "POST",
              body: JSON.stringify({ transactionId, status: "Paid" })
            })
          ),
          ({ status }) => status
        )
      const id = yield* paidCharge
      yield* sql`PRAGMA max_page_count = 1`
      const pages = Array.from({ length: 100 }, (_, n) => post(nobody(n)))
      const refused = (yield* Effect.all(pages)).filter((status) => status !== 200)
      assert.isNotEmpty(refused)
      assert.deepStrictEqual(new Set(refused), new Set([503]))
      const said = lines.filter((line) => line.includes("the disk of the database is full"))
      assert.lengthOf(said, 2)
      assert.match(said[0] ?? "", /^The database fails: /)
      assert.match(
        said[1] ?? "",
        /^Webhook: a delivery was answered with 503: record failed on the database \(DiskFull\)/
      )

      yield* sql`PRAGMA max_page_count = 1000000`
      // The forged ones would be looked up for a long time.
      yield* sql`DELETE FROM effect_pix_webhooks`
      assert.strictEqual(yield* post(id), 200)
      yield* idle
      assert.lengthOf(events, 1)
    }).pipe(
      Effect.provide(
        webhook.pipe(
          Layer.provideMerge(
            Layer.mergeAll(
              Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })),
              Layer.fresh(Sandbox.layerPayments),
              TransactionHints.layer,
              layer
            )
          )
        )
      )
    )
  })
})
