/** The lists of the page: each with the rows that fit, and what is known about the row that is open. */
import * as Effect from "effect/Effect"
import type { Call } from "../../../sandbox/SandboxFunctions.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../../../sandbox/SandboxLedger.ts"
import type { SandboxRequest } from "../../../sandbox/SandboxRequest.ts"
import type { SandboxWebhook } from "../../../sandbox/SandboxWebhook.ts"
import { nameOf } from "./faults.ts"
import type { Html } from "./html.ts"
import { type Found, list, pageSize } from "./list.ts"
import { charge, payout, type Related, request, webhook } from "./rows.ts"
import type { Listed } from "./view.ts"
import type { Writer } from "./write.ts"

/** Whether a request or a webhook is about a row: it names the row, or asked for it under its key. */
const isAbout = (row: SandboxTransaction | SandboxWithdrawal, one: SandboxRequest | SandboxWebhook): boolean => {
  const isCharge = "transactionId" in row
  if (isCharge ? one.transactionId === row.transactionId : one.withdrawalId === row.id) return true
  if (!("operation" in one) || row.idempotencyKey === undefined) return false
  return (
    one.operation === (isCharge ? "createTransaction" : "requestWithdrawal") &&
    one.idempotencyKey === row.idempotencyKey
  )
}

/** Requests of one kind differ in nothing that a row says in short. */
const kindOfRequest = ({ fault, method, operation, status }: SandboxRequest): string =>
  [operation ?? method, status, fault !== undefined && nameOf(fault)].join(" ")

/** Writes the list of each section. */
export const listsOf = (call: Call, writer: Writer, hasTarget: boolean): Record<Listed, Effect.Effect<Html>> => {
  const { open, page: asked, search, status } = writer.view
  const none: Related = { requests: [], webhooks: [], hasTarget, charge: undefined, payout: undefined }
  const all = { limit: 1_000_000 }
  const fitting = { search, status, ...all }

  const happened = (row: SandboxTransaction | SandboxWithdrawal) =>
    Effect.map(Effect.all([call("requests", all), call("webhooks", all)]), ([requests, webhooks]) => ({
      requests: requests.items.filter((one) => isAbout(row, one)).toReversed(),
      webhooks: webhooks.items.filter((one) => isAbout(row, one)).toReversed()
    }))
  const subject = (one: SandboxRequest | SandboxWebhook) =>
    Effect.map(Effect.all([call("transactions", all), call("withdrawals", all)]), ([charges, payouts]) => ({
      charge: charges.items.find((row) => isAbout(row, one)),
      payout: payouts.items.find((row) => isAbout(row, one))
    }))

  /** A row that is open is on the page that is shown, however many newer rows there are. */
  const listOf = Effect.fnUntraced(function* <A>(
    name: Listed,
    read: Effect.Effect<Omit<Found, "page" | "rows"> & { readonly items: ReadonlyArray<A> }>,
    numberOf: (row: A) => number,
    relate: (row: A) => Effect.Effect<Partial<Related>>,
    write: (writer: Writer, row: A, related: Related | undefined) => Html,
    kindOf?: (row: A) => string
  ) {
    const { counts, items, total } = yield* read
    const index = items.findIndex((row) => numberOf(row) === open)
    const opened = items[index]
    const page = asked ?? Math.floor(Math.max(index, 0) / pageSize) + 1
    const related = opened === undefined ? none : { ...none, ...(yield* relate(opened)) }
    const rows = items.slice((page - 1) * pageSize, page * pageSize).map((row) => ({
      id: numberOf(row),
      kind: row === opened ? undefined : kindOf?.(row),
      html: write(writer, row, row === opened ? related : undefined)
    }))
    return list(writer, name, { counts, page, rows, total })
  })
  return {
    transactions: listOf("transactions", call("transactions", fitting), ({ rowId }) => rowId, happened, charge),
    withdrawals: listOf("withdrawals", call("withdrawals", fitting), ({ id }) => id, happened, payout),
    requests: listOf("requests", call("requests", fitting), ({ id }) => id, subject, request, kindOfRequest),
    webhooks: listOf("webhooks", call("webhooks", fitting), ({ id }) => id, subject, webhook)
  }
}
