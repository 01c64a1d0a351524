/**
 * A payout by a single call, without the queue, for a program of promises: a row of your own table is written before the call, and
 * each outcome has an answer for HTTP. `POST` with the same id again is safe.
 */
import { Cause, Effect, Exit, Layer, ManagedRuntime, Option } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments, type PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"

const runtime = ManagedRuntime.make(Layer.merge(NodeSqlite.layer({ filename: ":memory:" }), Sandbox.layerPayments))
const payments = await runtime.runPromise(Payments)
const sql = await runtime.runPromise(SqlClient.SqlClient)
await runtime.runPromise(sql`CREATE TABLE IF NOT EXISTS asked (id TEXT PRIMARY KEY)`)

type Answer = [status: number, text: string]
const payOut = async (id: string, centavos: number, pixKey: string, pixKeyType: PixKey.PixKeyType): Promise<Answer> => {
  const amount = Option.getOrUndefined(Money.centavosOption(centavos))
  if (amount === undefined) return [422, "the amount is a whole number of centavos"]
  const inserted = await runtime.runPromise(sql`INSERT INTO asked VALUES (${id}) ON CONFLICT DO NOTHING RETURNING id`)
  const earlier = inserted.length === 1 ? "None" : "Unknown"
  const idempotencyKey = IdempotencyKey.fromReference("payout", id)
  const exit = await runtime.runPromise(
    Effect.exit(payments.requestWithdrawal({ amount, pixKey, pixKeyType }, { idempotencyKey, earlier }))
  )
  if (Exit.isSuccess(exit)) return [201, `payout ${exit.value.id}`]
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined) throw Cause.squash(exit.cause) // a bug, or a signal that cancelled it
  // A wrong input is about this call alone: an earlier one may have been executed.
  const isClean = earlier === "None" && error.outcome !== "Unknown"
  if (isClean) await runtime.runPromise(sql`DELETE FROM asked WHERE id = ${id}`)
  // What was asked for has to change: the same request is refused again. Of an `IdempotencyConflict`, a person has to look.
  if (error.concerns === "Request") return [error.outcome === "Unknown" ? 409 : 422, error._tag]
  switch (error.outcome) {
    case "NotSent":
    case "NoEffect":
    case "Rejected": // nothing moved
      return [503, error._tag]
    case "Unknown": // money may have moved: ask again with the same id
      return [202, `${id} is not known yet`]
  }
}
export const wrong = await payOut("42", 1000, "supplier(at)example.com", "EMAIL") // => [422, "InvalidRequest"]
export const small = await payOut("42", 900, "supplier@example.com", "EMAIL") // => [422, "BelowMinimum"]
export const empty = await payOut("42", 1000, "supplier@example.com", "EMAIL") // => [503, "InsufficientBalance"]
await runtime.dispose()
