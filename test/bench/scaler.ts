/**
 * A process for one point of a curve. Its message names the work and the size. It answers with the measured point.
 */
import { setImmediate } from "node:timers/promises"
import { Context, Effect, Layer, ManagedRuntime, Stream } from "effect"
import { HttpClient } from "effect/http"
import { Money, Payments, PixKey, TransactionStream } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, Payouts } from "effect-pix/payouts"
import { node, paymentsOn } from "./contenders.ts"
import { charge } from "./payloads.ts"
import type { Point } from "./scale.ts"

const [origin = ""] = process.argv.slice(2)
const runtime = ManagedRuntime.make(Layer.provideMerge(paymentsOn(node, origin), node))
const payments = await runtime.runPromise(Payments)

const collected = async () => {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await setImmediate()
  }
  return process.memoryUsage().heapUsed
}

/** Microseconds of CPU for each of `count`. */
const cpuOf = async (count: number, work: Effect.Effect<unknown, unknown, Payments>): Promise<number> => {
  const cpu = process.cpuUsage()
  await runtime.runPromise(work)
  const { system, user } = process.cpuUsage(cpu)
  return (system + user) / count
}

const many = (count: number, concurrency: number) =>
  Effect.forEach(Array.from({ length: count }), () => payments.createTransaction(charge), {
    concurrency,
    discard: true
  })

const payout = (index: number) => ({
  reference: `invoice-${index}`,
  amount: Money.centavos(1000),
  pixKey: PixKey.email("maria@example.com")
})

let run = 0

const measure: Record<string, (at: number) => Promise<Point>> = {
  inFlight: async (at) => {
    const count = Math.max(at, 2000)
    await cpuOf(count, many(count, at))
    return { at, value: await cpuOf(count, many(count, at)) }
  },
  rows: async (at) => {
    const rows = TransactionStream.stream({ limit: at })
    const value = await cpuOf(at, Stream.runDrain(rows))
    return { at, value, heap: (await collected()) / 1e6 }
  },
  merchants: async (at) => {
    const client = await runtime.runPromise(HttpClient.HttpClient)
    const before = await collected()
    const context = Layer.build(paymentsOn(Layer.succeed(HttpClient.HttpClient, client), origin))
    const built = await Effect.runPromise(Effect.scoped(Effect.replicateEffect(context, at)))
    for (const merchant of built) await Effect.runPromise(Context.get(merchant, Payments).createTransaction(charge))
    return { at, value: ((await collected()) - before) / built.length }
  },
  single: async (at) => {
    const pay = Effect.forEach(
      Array.from({ length: at }, (_, index) => payout(index)),
      ({ reference, ...request }) =>
        payments.requestWithdrawal(request, { idempotencyKey: `${reference}-${run}`, earlier: "None" }),
      { concurrency: 16, discard: true }
    )
    await cpuOf(at, pay)
    return { at, value: await cpuOf(at, pay) }
  },
  batch: async (at) => {
    run++
    const items = Array.from({ length: at }, (_, index) => payout(index))
    const queue = Layer.provide(PayoutQueue.layer({ concurrency: 16 }), NodeSqlite.layer({ filename: ":memory:" }))
    const pay = Effect.provide(Payouts.run(items, { allowAlike: true }), queue)
    await cpuOf(at, pay)
    return { at, value: await cpuOf(at, pay) }
  }
}

process.on("message", ({ at, kind }: { readonly at: number; readonly kind: string }) => {
  const found = measure[kind]
  if (found === undefined) throw new Error(kind)
  found(at).then(
    (point) => process.connected && process.send?.(point),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    }
  )
})
process.on("disconnect", () => process.exit())
process.send?.("ready")
