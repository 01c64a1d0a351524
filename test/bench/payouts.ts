/**
 * `npm run bench -- payouts`: payouts a second and statements a payout for 1, 2 and 4 workers on one PostgreSQL, with and without
 * a cap of the day, as ratios to one worker of the same run. Each worker is a queue of its own with its own connections, in
 * this process, and the gateway is in memory: what grows with the workers is the share of the database.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer, Redacted } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { makeBank } from "./bank.ts"
import { payouts } from "../support/payoutQueue.ts"
import { startPostgres } from "../support/postgres.ts"
import { makeStatements } from "../support/statements.ts"
import { oneAttempt } from "../support/policies.ts"

interface Throughput {
  readonly workers: number
  readonly hasCap: boolean
  readonly perSecond: number
  readonly statements: number
}

export const connect = (url: string) =>
  Layer.orDie(Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 10 })))

/** Builds a worker with connections of its own. */
export const buildWorker = (url: string, bank: ReturnType<typeof makeBank>, options: PayoutQueueOptions) =>
  Layer.build(
    Layer.fresh(PayoutQueue.layerWorker({ poll: "50 millis", ...options })).pipe(
      Layer.provide([
        bank.makeClient("client-a", { companyId: 1 }).layer,
        PaymentsPolicy.layer(oneAttempt),
        connect(url)
      ])
    )
  )

/** Pays payouts that were submitted before the workers begin. */
const pay = Effect.fnUntraced(function* (server: string, count: number, workers: number, options: PayoutQueueOptions) {
  const name = `bench_${workers}_${options.dailyCap === undefined ? "free" : "capped"}_${count}`
  const url = server.replace(/postgres$/, name)
  yield* Effect.provide(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE DATABASE ${name}`)),
    connect(server)
  )
  const { layer: counting, texts } = makeStatements()
  const bank = makeBank()
  return yield* Effect.gen(function* () {
    const queue = yield* PayoutQueue
    const sql = yield* SqlClient.SqlClient
    yield* queue.setPaused(true)
    yield* Effect.replicateEffect(Effect.provide(buildWorker(url, bank, options), counting), workers)
    yield* queue.submitMany(payouts(count))
    // Workers that read the pause look again a second later.
    yield* Effect.sleep("1500 millis")
    texts.length = 0
    const begin = yield* Clock.currentTimeMillis
    yield* queue.setPaused(false)
    const open = sql`SELECT 1 FROM effect_pix_payouts WHERE state <> 'posted' LIMIT 1`
    yield* Effect.repeat(Effect.delay(open, "100 millis"), { until: (rows) => rows.length === 0 })
    const took = (yield* Clock.currentTimeMillis) - begin
    return {
      workers,
      hasCap: options.dailyCap !== undefined,
      perSecond: (count / took) * 1000,
      statements: texts.length / count
    }
  }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(), connect(url))))
})

/** Measures each number of workers, after one run that is not counted. */
export const throughput = (count: number) =>
  Effect.gen(function* () {
    const { url } = yield* Effect.acquireRelease(
      Effect.promise(() => startPostgres()),
      (server) => Effect.promise(() => server.stop())
    )
    yield* pay(url, 200, 1, {})
    const found: Array<Throughput> = []
    for (const dailyCap of [undefined, 1_000_000_000_000]) {
      for (const workers of [1, 2, 4]) {
        found.push(yield* pay(url, count, workers, dailyCap === undefined ? {} : { dailyCap }))
      }
    }
    return found
  }).pipe(Effect.scoped, Effect.timeout("2 minutes"))

/** The figures as a table. */
export const throughputTable = (found: ReadonlyArray<Throughput>): string =>
  [
    "| workers | cap of the day | payouts a second | to one worker | statements a payout |",
    "| ------: | -------------- | ---------------: | ------------: | ------------------: |",
    ...found.map(({ hasCap, perSecond, statements, workers }) => {
      const one = found.find((other) => other.workers === 1 && other.hasCap === hasCap)?.perSecond ?? perSecond
      return `| ${workers} | ${hasCap ? "yes" : "no"} | ${perSecond.toFixed(0)} | ${(perSecond / one).toFixed(2)} | ${statements.toFixed(2)} |`
    })
  ].join("\n")
