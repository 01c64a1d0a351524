/**
 * A drill for who will be on call: a worker dies while the gateway pays, the next one goes on, and a person judges a refusal in
 * words that nobody knows. It runs in memory.
 */
import { Console, Effect, Layer, Option, Schedule } from "effect"
import { Money, PaymentsPolicy, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, type PayoutState } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"

/** A process that sends. A dead one holds its payouts for the lease. */
const worker = PayoutQueue.layerWorker({ lease: "1 second", poll: "200 millis", drain: "1 millis" })

const often = Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))

/** Starts a worker, and stops it when a payout has come into another state than these. */
const work = (reference: string, ...left: ReadonlyArray<PayoutState>) =>
  Effect.scoped(Effect.andThen(Layer.build(Layer.fresh(worker)), look(reference, left)))

const look = (reference: string, left: ReadonlyArray<PayoutState> = []) =>
  PayoutQueue.use((queue) => Effect.flatMap(queue.status(reference), Effect.fromOption)).pipe(
    Effect.map(({ state }) => state),
    Effect.repeat({ while: (state) => left.includes(state), schedule: often })
  )

const payout = (reference: string) => ({
  reference,
  amount: Money.centavos(2500),
  pixKey: PixKey.email("maria@example.com"),
  by: "ana"
})

const drill = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const queue = yield* PayoutQueue

  // 1. The gateway pays, and is silent. The worker is gone before there is an answer.
  yield* sandbox.fault("requestWithdrawal", Fault.silence({ executed: true }))
  yield* queue.submit(payout("drill-1"))
  const killed = yield* work("drill-1", "accepted")
  yield* Console.log(`1. The worker is dead. drill-1 is ${killed}: it may have been paid.`)

  // 2. The next worker asks with the same key.
  const next = yield* work("drill-1", "accepted", "unknown")
  const paid = (yield* sandbox.withdrawals).length
  yield* Console.log(
    `2. Another worker asked with the same key. drill-1 is ${next}, and the gateway has ${paid} payout.`
  )

  // 3. A refusal in words that no list knows proves nothing: the payout waits for a person.
  yield* sandbox.fault("requestWithdrawal", Fault.ownWords("Recusado pela política da casa."))
  yield* queue.submit(payout("drill-2"))
  const parked = yield* work("drill-2", "accepted", "unknown")
  yield* Console.log(`3. The gateway refused in unknown words. drill-2 is ${parked}.`)

  // 4. The person looks into the gateway's panel, finds no such withdrawal, and says so of the sentence.
  const sentence = Option.fromUndefinedOr((yield* queue.sentences)[0])
  if (Option.isSome(sentence))
    yield* queue.judge(sentence.value.digest, { as: "refused", seen: "drill-2", by: "ana", note: "not in the panel" })
  const judged = yield* look("drill-2")
  yield* Console.log(`4. A person judged the words. drill-2 is ${judged}.`)
  return { killed, next, paid, parked, judged }
})

// Short times, so that the drill takes seconds.
const gateway = Layer.provide(Sandbox.layerPayments, [
  Layer.succeed(SandboxOptions, { balance: 500_000 }),
  PaymentsPolicy.layer({ attemptTimeout: "1 second", deadline: "1 second" })
])
const layer = PayoutQueue.layerClient().pipe(
  Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" })),
  Layer.provideMerge(gateway)
)
const { judged, killed, next, paid, parked } = await Effect.runPromise(Effect.provide(drill, layer))
export const states = [killed, next, parked, judged] // => ["unknown", "posted", "parked", "refused"]
export const withdrawals = paid // => 1
