/**
 * One reference has one key in single calls and the queue, so a refusal may be about an earlier call that paid.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { IdempotencyKey, Payments, PaymentsPolicy, PixKey } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { layerMemory, payout, settle } from "../support/payoutQueue.ts"
import { bytes } from "../support/rawReplies.ts"
import { effect } from "../support/effect.ts"

const layer = Layer.provideMerge(layerMemory(), PaymentsPolicy.layer(PaymentsPolicy.once))

const reference = "invoice-42"
const request = { amount: payout(reference).amount, pixKey: PixKey.email("maria@example.com") }
const idempotencyKey = IdempotencyKey.fromReference("payout", reference)

/** Pays the reference by a single call, after which the service refuses the next request with its key. */
const paidThenRefused = (refusal: Fault.Fault) =>
  Effect.gen(function* () {
    const payments = yield* Payments
    const sandbox = yield* Sandbox
    yield* payments.requestWithdrawal(request, { idempotencyKey })
    yield* sandbox.fault("requestWithdrawal", refusal, { times: 1 })
    return sandbox
  })

/** Refusals with words, without words, and with a body that cannot be read. */
const refusals: ReadonlyArray<readonly [string, Fault.Fault]> = [
  ["in words of a duplicate", Fault.refusal(422, "Requisição duplicada")],
  ["in words that say that it was asked before", Fault.refusal(422, "Saque já solicitado para esta referência")],
  ["in words that say that it is under way", Fault.refusal(422, "Saque em processamento")],
  ["in a code", Fault.answer(422, { body: `{"code":"WITHDRAWAL_ALREADY_REQUESTED"}` })],
  ["with 400, in words that say that it was asked before", Fault.refusal(400, "This payout was already made")],
  ["with 403, in words that say that it was asked before", Fault.refusal(403, "Pagamento já efetuado")],
  ["with 409 and other words", Fault.refusal(409, "Saldo insuficiente")],
  ["without words", Fault.empty(422, { executed: false })],
  ["unreadably, in JSON that does not end", Fault.answer(422, { body: `{"message":"Conta bloq` })],
  ["with 404, unreadably", bytes(404, new Uint8Array([0x4e, 0xe3, 0xff, 0x00]))]
]

describe("a reference that a single call paid", () => {
  effect.each(refusals)("is never refused in the queue when the service refuses it %s", layer, function* ([, refusal]) {
    const sandbox = yield* paidThenRefused(refusal)
    const queue = yield* PayoutQueue
    yield* queue.submit(payout(reference))
    yield* settle
    assert.strictEqual((yield* sandbox.requests).length, 2)
    assert.strictEqual(Option.getOrThrow(yield* queue.status(reference)).state, "unknown")
    // The next request with the key is answered with the withdrawal of the first call.
    yield* TestClock.adjust("1 hour")
    assert.strictEqual((yield* queue.await(reference)).state, "posted")
    assert.strictEqual((yield* sandbox.withdrawals).length, 1)
  })

  effect("is refused by a caller who says that no earlier request can have been executed", layer, function* () {
    const payments = yield* Payments
    const sandbox = yield* Sandbox
    const unread = Fault.answer(422, { body: `{"message":"Conta bloq` })
    for (const refusal of [Fault.refusal(422, "Saque já solicitado"), Fault.empty(422, { executed: false }), unread]) {
      const pay = (earlier?: "None") =>
        Effect.flip(payments.requestWithdrawal(request, { idempotencyKey, ...(earlier !== undefined && { earlier }) }))
      yield* sandbox.fault("requestWithdrawal", refusal, { times: 2 })
      const declared = yield* pay("None")
      assert.deepStrictEqual([declared._tag, declared.outcome], ["RequestRejected", "Rejected"])
      assert.strictEqual((yield* pay()).outcome, "Unknown")
    }
    // Words about idempotency or duplication count for every key.
    yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave de idempotência já usada"), { times: 1 })
    const duplicate = yield* Effect.flip(payments.requestWithdrawal(request, { idempotencyKey, earlier: "None" }))
    assert.deepStrictEqual([duplicate._tag, duplicate.outcome], ["IdempotencyConflict", "Unknown"])
  })
})
