/**
 * What the command reads of stored payouts besides the queue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { requests, requireAccount, requireTables, type Stored, totals } from "../../src/payouts/StoredPayouts.ts"
import { payout } from "../support/payoutQueue.ts"

const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)
const client = NodeSqlite.layer({ filename: ":memory:" })

const submitted = Effect.gen(function* () {
  const plain = yield* Layer.build(PayoutQueue.layerClient())
  const sealed = yield* Layer.build(
    PayoutQueue.layerClient({
      seal: {
        seal: (request) => Effect.succeed(`sealed:${request.length}`),
        open: () => Effect.die("nobody opens it")
      }
    })
  )
  const submit = (reference: string) =>
    Effect.flatMap(PayoutQueue, (queue) => queue.submit({ ...payout(reference), description: "July" }))
  yield* Effect.provide(submit("plain"), plain)
  yield* Effect.provide(submit("forgotten"), plain)
  const toOneself = { reference: "to oneself", amount: payout("any").amount }
  yield* Effect.provide(
    PayoutQueue.use((queue) => queue.submit(toOneself)),
    plain
  )
  yield* Effect.provide(submit("sealed"), sealed)
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE effect_pix_payouts SET request = NULL WHERE reference = 'forgotten'`
})

describe("stored payouts", () => {
  it.effect("show whom they pay, or that they are sealed or forgotten", () =>
    Effect.gen(function* () {
      yield* submitted
      const stored = yield* requests(
        "default",
        ["plain", "sealed", "forgotten", "to oneself", "never submitted"].map(keyOf)
      )
      assert.deepStrictEqual(
        stored,
        new Map<string, Stored>([
          [keyOf("plain"), { pixKey: PixKey.email("maria@example.com"), description: "July" }],
          [keyOf("to oneself"), { pixKey: undefined, description: undefined }],
          [keyOf("sealed"), "Sealed"],
          [keyOf("forgotten"), "Forgotten"]
        ])
      )
      assert.deepStrictEqual(yield* requests("default", []), new Map())
    }).pipe(Effect.scoped, Effect.provide(client))
  )

  it.effect("are refused where there are no tables, which are not made, and read from tables of this version", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const error = yield* Effect.flip(requireTables)
      assert.deepStrictEqual(yield* sql`SELECT name FROM sqlite_master`, [])
      assert.match(error.message, /table/)
      yield* Layer.build(PayoutQueue.layerClient())
      yield* requireTables
    }).pipe(Effect.scoped, Effect.provide(client))
  )

  it.effect("are summed by their state and their account, exactly also beyond the safe integers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* submitted
      const largest = Number.MAX_SAFE_INTEGER
      yield* sql`UPDATE effect_pix_payouts SET amount = ${largest}, state = 'parked' WHERE reference <> 'plain'`
      assert.deepStrictEqual(
        yield* totals("default"),
        new Map([
          ["accepted", { count: 1, centavos: BigInt(payout("any").amount) }],
          ["parked", { count: 3, centavos: 3n * BigInt(largest) }]
        ])
      )
      assert.deepStrictEqual(yield* totals("another"), new Map())
    }).pipe(Effect.scoped, Effect.provide(client))
  )

  it.effect("of an account that nobody knows are refused, and the known accounts are named", () =>
    Effect.gen(function* () {
      const plain = yield* Layer.build(PayoutQueue.layerClient({ account: "shops" }))
      yield* Effect.provide(
        PayoutQueue.use((queue) => Effect.andThen(queue.submit(payout("1")), queue.setPaused(true))),
        plain
      )
      yield* requireAccount("shops")
      yield* requireAccount("default")
      const error = yield* Effect.flip(requireAccount("shop"))
      assert.include(error.message, "shop has no payouts in this database, which has the accounts: default, shops")
    }).pipe(Effect.scoped, Effect.provide(client))
  )
})
