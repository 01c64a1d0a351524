/**
 * The errors of the operations by status, headers and words of an answer. Faults.test.ts tests the faults whose errors
 * depend on the transport.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Schedule } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { calls, companyId, createTransaction, lookUp, type OperationCall } from "../support/operations.ts"
import { answeredRows, expectedOf, outcomeOf, type Row, succeeded } from "../support/faultRows.ts"

const memory = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 100_000, companyId }))
const policy = PaymentsPolicy.make({ retryReads: Schedule.recurs(1), retryWrites: Schedule.recurs(1) })

/** Makes one call to a new gateway that answers this number of requests with the faults. */
const play = Effect.fnUntraced(
  function* (call: OperationCall, faults: Row["faults"], times: number) {
    const { baseUrl, fault, requests, transactions, withdrawals } = yield* Sandbox
    // The lookup needs a transaction.
    if (call.operation === "getTransaction") yield* createTransaction.run
    const known = (yield* transactions)[0]?.transactionId
    const run = known === undefined ? call.run : lookUp(known)
    const before = (yield* requests).length
    yield* fault(call.operation, typeof faults === "function" ? faults(baseUrl) : faults, { times })
    const result = yield* Effect.result(Effect.provideService(run, PaymentsPolicy, policy))
    const executed = yield* call.operation === "createTransaction" ? transactions : withdrawals
    return {
      outcome: outcomeOf(result, (yield* requests).length - before),
      executed: call.isWrite ? executed.length : 0
    }
  },
  Effect.provide([memory, Logger.layer([])])
)

describe("a gateway that answers", () => {
  for (const row of answeredRows) {
    it.live(`every operation ends as documented after ${row.name}`, () =>
      Effect.forEach(
        calls,
        Effect.fnUntraced(function* (call) {
          const expected = expectedOf(row, call, "memory")
          const isSequence = Array.isArray(row.faults)
          const lasting = yield* play(call, row.faults, isSequence ? 1 : Infinity)
          assert.deepStrictEqual(
            lasting,
            { outcome: expected, executed: call.isWrite ? row.executed : 0 },
            call.operation
          )
          // A retry succeeds if the fault has ended by then, and nothing is executed twice.
          if (isSequence || expected.requests !== 2) return
          const once = yield* play(call, row.faults, 1)
          assert.deepStrictEqual(once, { outcome: succeeded(2).read, executed: call.isWrite ? 1 : 0 }, call.operation)
        }),
        { discard: true }
      )
    )
  }
})
