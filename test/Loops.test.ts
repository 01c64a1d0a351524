/** Each loop of the library goes on, whatever ends what it calls, and says so. */
import { assert, describe } from "@effect/vitest"
import { Context, DateTime, Effect, Exit, Latch, Layer, Redacted, Scope } from "effect"
import { CredentialsReload } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Due } from "../src/durable/Due.ts"
import { workRows } from "../src/durable/WorkRows.ts"
import { effect } from "./support/effect.ts"
import { endsFromBelow, endStatements } from "./support/endedBelow.ts"
import { makeWarnings, payout, settle, worldOf } from "./support/payoutQueue.ts"
import { drawn } from "./support/seed.ts"

/** Minutes in which this process writes once in each. On a file only what was written wakes a loop. */
const minutes = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  for (let minute = 0; minute < count; minute++) {
    yield* Effect.exit(sql`INSERT INTO noise VALUES (1)`)
    yield* settle
    yield* TestClock.adjust("1 minute")
    yield* settle
  }
})

const tomorrow = Effect.map(DateTime.now, DateTime.add({ days: 1 }))

/** The lines of the loops of a queue and of a webhook, each with how its name begins. */
const loops = [
  "Payouts: the queue did not answer",
  "Payouts: confirming: the queue did not answer",
  "PayoutQueue: the queue did not answer",
  "Counting payouts",
  "Forgetting payouts",
  "Looking for awaited payouts",
  "Writing when a worker was seen",
  "Webhook: the queue did not answer",
  "Webhook: counting",
  "Webhook: forgetting"
]

describe("a loop", () => {
  effect.each(drawn(endsFromBelow))(
    "of a queue or a webhook goes on after %s of its statements, with a line",
    worldOf({}, undefined, "seen"),
    function* ([, end]) {
      const { layer, lines } = makeWarnings()
      const sql = yield* SqlClient.SqlClient
      const database = yield* endStatements(sql, "noise")
      yield* sql`CREATE TABLE noise (one INTEGER)`
      const onState = () => Effect.void
      const verifier = WebhookVerifier.sharedSecret({ header: "x-secret", secret: Redacted.make("secret") })
      const program = Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit({ ...payout("tomorrow"), notBefore: yield* tomorrow })
        yield* Effect.forkScoped(queue.await("tomorrow"))
        const hour = Effect.fnUntraced(function* (reference: string) {
          yield* queue.submit(payout(reference))
          yield* minutes(2)
          yield* TestClock.adjust("57 minutes")
          yield* minutes(2)
          return yield* database.seen
        })
        yield* hour("first")
        const before = yield* hour("before")
        yield* TestClock.adjust("57 minutes")
        yield* database.end(end)
        yield* minutes(3)
        yield* database.end(undefined)
        const after = yield* hour("after")
        return [...before].filter((text) => !after.has(text))
      })
      const app = Layer.mergeAll(
        PayoutQueue.layer({ confirm: true, onState }),
        Webhook.layerSql({ verifier, onPaid: () => Effect.void })
      )
      const missing = yield* program.pipe(Effect.scoped, Effect.provide(Layer.provideMerge(app, layer)))
      assert.deepStrictEqual(missing, [])
      assert.deepStrictEqual(
        [...new Set(lines.map((line) => line.replace(/ failed,.*|,.*/, "")))].toSorted(),
        loops.toSorted()
      )
    }
  )

  effect.each(endsFromBelow)("that renews leases goes on after %s of its statement, with a line", function* ([, end]) {
    const { layer, lines } = makeWarnings()
    let renewals = 0
    const due = {
      take: () => Effect.succeed(renewals === 0 ? [{ key: "held", tries: 1 }] : []),
      untilNext: Effect.never,
      giveBack: () => Effect.void,
      renew: () => Effect.suspend(() => (++renewals === 2 ? end : Effect.void))
    } as unknown as Due // what is called of it
    const options = { name: "Jobs", due, concurrency: 2, lease: 30_000, poll: 1000, isDue: Latch.makeUnsafe() }
    const handle = () => Effect.never
    yield* Effect.forkScoped(workRows({ ...options, followWrites: Effect.succeed(Effect.void), handle })).pipe(
      Effect.provide(layer)
    )
    for (let minute = 0; minute < 2; minute++) {
      yield* TestClock.adjust("1 minute")
      yield* settle
    }
    assert.isAbove(renewals, 4)
    assert.deepStrictEqual(lines, ["Jobs: renewing leases failed, and will run again"])
  })

  effect.each(endsFromBelow)("that loads credentials goes on after %s of the load, with a line", function* ([, end]) {
    const { layer, lines } = makeWarnings()
    let loads = 0
    const key = { clientId: "client", apiKey: Redacted.make("key") }
    const load = Effect.suspend(() => (++loads === 2 ? end : Effect.succeed(key)))
    yield* Layer.build(Layer.provide(CredentialsReload.layer({ load, every: "1 minute" }), layer))
    yield* TestClock.adjust("3 minutes")
    assert.strictEqual(loads, 4)
    assert.lengthOf(lines, 1)
    assert.match(lines[0] ?? "", /^Loading credentials failed/)
  })
})

effect("a queue and a webhook stop within ten seconds while their database hangs", worldOf(), function* () {
  const database = yield* endStatements(yield* SqlClient.SqlClient, "noise")
  const verifier = WebhookVerifier.sharedSecret({ header: "x-secret", secret: Redacted.make("secret") })
  const app = Layer.merge(
    PayoutQueue.layer({ confirm: true, onState: () => Effect.void }),
    Webhook.layerSql({ verifier, onPaid: () => Effect.void })
  )
  const scope = yield* Scope.make()
  const queue = Context.get(yield* Layer.buildWithScope(app, scope), PayoutQueue)
  yield* queue.submit(payout("invoice-1"))
  yield* database.end(Effect.uninterruptible(Effect.never))
  yield* settle
  const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
  yield* TestClock.adjust("10 seconds")
  assert.isDefined(closing.pollUnsafe())
})
