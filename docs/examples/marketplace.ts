/**
 * A marketplace: what an order brings is split between its sellers and the house, in the transaction that marks it as paid.
 * The gateway pays nothing below R$ 10,00, so a small share is held until the seller's sum reaches it. What did not arrive is
 * held again; `returned-payout.ts` shows how the queue learns of it.
 */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type OnState, PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"

interface Seller {
  readonly id: string
  readonly pixKey: PixKey.PixKey
}

/** The gateway refuses a smaller payout. */
const smallest = Money.centavos(1000)

/** Adds a share to what the seller has coming, and pays the sum out once it is large enough. */
const credit = Effect.fn("credit")(function* (seller: Seller, share: Money.Centavos, order: string) {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* PayoutQueue
  // The row is locked until the end of the transaction, so that two orders of one seller come one after the other.
  const [held] = yield* sql<{ readonly centavos: number | bigint }>`INSERT INTO held (seller, centavos)
    VALUES (${seller.id}, ${share}) ON CONFLICT (seller) DO UPDATE SET centavos = held.centavos + ${share} RETURNING centavos`
  const sum = Number(held?.centavos ?? 0)
  if (sum < smallest) return
  yield* queue.submit({ reference: `${seller.id}/${order}`, amount: Money.centavos(sum), pixKey: seller.pixKey })
  yield* sql`UPDATE held SET centavos = 0 WHERE seller = ${seller.id}`
})

/** Holds again what did not arrive, with the seller's next share. If its end is corrected to `paid`, the sum is taken back. */
const onState: OnState<SqlClient.SqlClient> = Effect.fn("onState")(function* ({ amount, reference, state }) {
  const sql = yield* SqlClient.SqlClient
  const isBack = state === "failed" || state === "returned" || state === "cancelled"
  if (!isBack && state !== "paid") return
  const changed = yield* isBack
    ? sql`INSERT INTO back VALUES (${reference}) ON CONFLICT DO NOTHING RETURNING reference`
    : sql`DELETE FROM back WHERE reference = ${reference} RETURNING reference`
  if (changed.length === 0) return
  const seller = reference.slice(0, reference.indexOf("/"))
  yield* sql`UPDATE held SET centavos = centavos + ${isBack ? amount : 0 - amount} WHERE seller = ${seller}`
})

/** Stands for your tables of orders and sellers. */
const sellers = ["ana", "bia"].map((id): Seller => ({ id, pixKey: PixKey.email(`${id}@example.com`) }))
const percentages = [60, 30, 10] // the last one is the house's

export const webhook = Webhook.layerSql({
  onPaid: Effect.fn("onPaid")(function* ({ transaction: { transactionId, value } }) {
    // The sum of the shares is exactly what was paid.
    const shares = Money.split(value, percentages)
    yield* Effect.forEach(
      sellers,
      (seller, index) => credit(seller, shares[index] ?? Money.centavos(0), transactionId),
      {
        discard: true
      }
    )
  })
})

// A trial: three orders of R$ 20,00, each paid once and told twice. Then one payout comes back, as a person says.
const trial = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { answer } = yield* Webhook
  const { idle } = yield* WebhookClient
  yield* sandbox.subscribe(answer)
  for (const _ of [1, 2, 3]) {
    const { transactionId } = yield* sandbox.charge(2000)
    yield* sandbox.markPaid(transactionId)
    yield* sandbox.awaitWebhooks
    yield* answer(new Request("https://shop.example/", { method: "POST", body: JSON.stringify({ transactionId }) }))
    yield* idle
  }
  const sql = yield* SqlClient.SqlClient
  const queue = yield* PayoutQueue
  const rows = yield* sql<{ readonly reference: string }>`SELECT reference FROM effect_pix_payouts ORDER BY reference`
  yield* Effect.forEach(rows, ({ reference }) => queue.await(reference))
  const paid = (yield* sandbox.withdrawals).map(({ amount }) => amount).toSorted((a, b) => a - b)
  const held = sql<{ readonly centavos: number }>`SELECT centavos FROM held ORDER BY seller`
  const before = yield* held
  yield* queue.settle(rows[0]?.reference ?? "", { as: "returned", by: "the support" })
  const after = yield* Effect.repeat(held, {
    while: ([ana]) => ana?.centavos === 0,
    schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))
  })
  return [paid, before.map(({ centavos }) => centavos), after.map(({ centavos }) => centavos)]
})

const tables = Layer.effectDiscard(
  SqlClient.SqlClient.use((sql) =>
    Effect.andThen(
      sql`CREATE TABLE held (seller TEXT PRIMARY KEY, centavos BIGINT NOT NULL)`,
      sql`CREATE TABLE back (reference TEXT PRIMARY KEY)`
    )
  )
)
const layer = webhook.pipe(
  Layer.provideMerge(PayoutQueue.layer({ onState })),
  Layer.provideMerge(tables),
  Layer.provideMerge([NodeSqlite.layer({ filename: ":memory:" }), Sandbox.layerPayments])
)
export const result = await Effect.runPromise(Effect.provide(trial, layer)) // => [[1200, 1200, 1200, 1200], [0, 600], [1200, 600]]
