/** What was not delivered is found: open charges every hour, and at São Paulo's midnight all of the last four months. */
import { DateTime, Effect, Layer, Schedule, Schema, Stream } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Reconcile } from "effect-pix"
import { Webhook } from "effect-pix/webhook"
import { Amount } from "./orders.ts"

const zone = "America/Sao_Paulo"

/** Whether this process does the job: one of them writes its name. What it leaves undone, the next run finds. */
const isMine = Effect.fn("isMine")(function* (job: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`INSERT INTO jobs (name) VALUES (${job}) ON CONFLICT DO NOTHING RETURNING name`).length > 0
})

/** Has each open charge looked up, as if a delivery had come. */
const sweep = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { check } = yield* Webhook
  const open = yield* sql<{ readonly id: string }>`SELECT id FROM charges
    WHERE status = 'Awaiting' AND sweep_until > ${DateTime.formatIso(yield* DateTime.now)}`
  yield* Effect.forEach(open, ({ id }) => check(id), { discard: true })
})

const known = SqlSchema.findAll({
  Request: Schema.Array(Schema.String),
  Result: Schema.Struct({ transactionId: Schema.String, amount: Amount, status: Schema.String }),
  execute: (ids) =>
    SqlClient.SqlClient.use(
      (sql) => sql`SELECT id AS ${sql("transactionId")}, amount, status FROM charges WHERE ${sql.in("id", ids)}`
    )
})

/** Compares the books with the gateway's list: a charge may come back for 91 days, and was open for a month at most. */
const reconcile = Effect.gen(function* () {
  const { check } = yield* Webhook
  const since = DateTime.subtract(yield* DateTime.now, { days: 91 + 30 })
  yield* Stream.runForEach(Reconcile.changes({ since, known }), (change) =>
    change._tag === "StatusDiffers"
      ? check(change.order.transactionId)
      : Effect.logError(`A person has to look at row ${change.row.id} of the gateway: ${change._tag}`)
  )
})

const job = <E, R>(name: string, times: string, work: Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const local = DateTime.setZoneNamedUnsafe(yield* DateTime.now, zone)
    const { day, hour, month, year } = DateTime.toParts(local)
    if (yield* isMine(`${name} ${year}-${month}-${day} ${hour}h`)) yield* work
  }).pipe(
    Effect.catchCause((cause) => Effect.logError(`The job ${name} failed`, cause)),
    Effect.withSpan(`job ${name}`),
    Effect.schedule(Schedule.cron(times, zone)),
    Effect.forkScoped
  )

export const jobs = Layer.effectDiscard(
  Effect.all([job("sweep", "0 * * * *", sweep), job("reconcile", "0 0 * * *", reconcile)])
)
