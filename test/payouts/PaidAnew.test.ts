/**
 * A payout that is ended, and another one that is submitted in its place, in one transaction of the caller: the recipe of
 * docs/payout-queue.md.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Latch, Fiber, Layer, Option } from "effect"
import type { PayoutItem, PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { databases } from "../support/database.ts"
import { live } from "../support/effect.ts"
import { gatewayOnce, keyOf, payout, payouts, startWorker } from "../support/payoutQueue.ts"
import { stateOf } from "../support/payoutSeen.ts"

const by = "ana"
type Queue = PayoutQueue["Service"]

/** `between` happens after the end of the first one, and before the submit. */
const payAnew = Effect.fnUntraced(function* <E = never>(
  queue: Queue,
  end: Effect.Effect<unknown, { readonly _tag: string }>,
  anew: PayoutItem,
  between: Effect.Effect<unknown, E, SqlClient.SqlClient> = Effect.void
) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.withTransaction(Effect.andThen(Effect.andThen(end, between), queue.submit(anew)))
})

describe.each(databases)("on $name", ({ client, name, skip }) => {
  const layer = Layer.merge(Layer.fresh(client()), gatewayOnce)
  const isPostgres = name.includes("PostgreSQL")

  live.skipIf(skip)("both are committed, or neither, whatever ends the process between them", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* startWorker({ poll: "20 millis" })
    // A worker has looked at the database: before that nothing is cancelled.
    yield* queue.submit(payout("invoice-1"))
    yield* queue.await("invoice-1")
    yield* queue.setPaused(true)
    const begun = yield* Latch.make()
    const ends: Record<string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>> = {
      "a failure": Effect.fail("no"),
      "a defect": Effect.die("no"),
      "an interruption": Effect.andThen(begun.open, Effect.never),
      ...(isPostgres && { "the end of its connection": sql`SELECT pg_terminate_backend(pg_backend_pid())` })
    }
    for (const [how, between] of Object.entries(ends)) {
      for (const [step, take, before] of [
        ["cancel", (of: string) => queue.cancel(of, { by }), "accepted Paused"],
        ["settle", (of: string) => queue.settle(of, { by, as: "failed" }), "posted"]
      ] as const) {
        const first = `${step}, ${how}`
        yield* queue.submit(payout(first))
        if (step === "settle")
          yield* sql`UPDATE effect_pix_payouts SET state = 'posted', withdrawal_id = 7 WHERE reference = ${first}`
        const fiber = yield* Effect.forkChild(payAnew(queue, take(first), payout(`${first} anew`), between))
        if (how === "an interruption") {
          yield* begun.await
          yield* begun.close
          yield* Fiber.interrupt(fiber)
        }
        assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)), first)
        assert.deepStrictEqual(
          [yield* stateOf(queue, first), yield* stateOf(queue, `${first} anew`)],
          [before, "absent"]
        )
        assert.lengthOf(yield* queue.history(first), 1)
        yield* payAnew(queue, take(first), payout(`${first} anew`))
        assert.strictEqual(yield* stateOf(queue, `${first} anew`), "accepted Paused")
        assert.include(["cancelled", "failed"], yield* stateOf(queue, first))
      }
    }
  })

  live.skipIf(skip)(
    "of both exactly one is executed, whoever is first of the worker and the person",
    layer,
    function* () {
      const queue = yield* startWorker({ poll: "20 millis", concurrency: 4 })
      const all = payouts(60)
      yield* queue.submitMany(all)
      const results = yield* Effect.forEach(
        all,
        ({ reference }) =>
          payAnew(queue, queue.cancel(reference, { by }), payout(`${reference} anew`)).pipe(
            Effect.retry({ while: (error) => error._tag === "DatabaseError" }),
            Effect.asSome,
            Effect.catchTag("PayoutStateConflict", () => Effect.succeedNone)
          ),
        { concurrency: 4 }
      )
      const submitted = results.filter(Option.isSome).length
      for (const [index, { reference }] of all.entries()) {
        const [winner, other] = Option.isSome(results[index]!)
          ? [`${reference} anew`, reference]
          : [reference, `${reference} anew`]
        assert.strictEqual((yield* queue.await(winner)).state, "posted")
        assert.strictEqual(yield* stateOf(queue, other), winner === reference ? "absent" : "cancelled")
      }
      const sent = (yield* Sandbox.use((sandbox) => sandbox.withdrawals)).map(({ idempotencyKey }) => idempotencyKey)
      assert.lengthOf(sent, all.length)
      assert.lengthOf(
        sent.filter((key) => all.some(({ reference }) => key === keyOf(`${reference} anew`))),
        submitted
      )
    }
  )
})
