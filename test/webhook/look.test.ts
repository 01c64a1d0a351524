import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { makeHandlers } from "../../src/webhook/internal/handlers.ts"
import { makeLook } from "../../src/webhook/internal/look.ts"
import { roomMemory } from "../../src/webhook/internal/room.ts"
import { Duration } from "effect"
import { charge, lookups } from "../support/charges.ts"
import { world } from "../support/webhooks.ts"

describe("a lookup", () => {
  it.effect("that is older than what another process handed out is made again", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const room = yield* roomMemory()
      const handed: Array<string> = []
      let isFirst = true
      const look = makeLook({
        room,
        lookupTimeout: Duration.seconds(10),
        wake: () => Effect.void,
        handlers: makeHandlers(
          { onStatus: ({ transaction }) => Effect.sync(() => handed.push(transaction.enStatusTransaction)) },
          Context.empty(),
          Duration.seconds(1)
        ),
        payments: {
          getTransaction: Effect.fnUntraced(function* (transactionId) {
            const detail = yield* payments.getTransaction(transactionId)
            if (isFirst) {
              isFirst = false
              // While the answer, Paid, is on its way, the charge is refunded, and another process hands that out.
              yield* Effect.orDie(sandbox.refund(id))
              yield* Effect.orDie(
                room.modify(`handed:${id}`, () =>
                  Effect.succeed([undefined, { state: "Kept", value: '["Refunded"]' }] as const)
                )
              )
            }
            return detail
          })
        }
      })
      const judge = yield* look(id, () => Effect.succeed({}))
      assert.deepStrictEqual(handed, [])
      assert.isUndefined(judge("Paid"))
      assert.strictEqual(yield* lookups, 2)
    }).pipe(Effect.provide(world))
  )
})
