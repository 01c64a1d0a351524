/**
 * Runs `effect-pix payouts export`: payouts for an accountant, without the data of a payee. One page is held at a time, so a long
 * queue needs no more memory.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { decimal } from "../amount.ts"
import { hasReader, note, write } from "../output.ts"
import { csvRow, jsonLine, time } from "../text.ts"
import { dataOf } from "./describe.ts"
import { listOf, type Which } from "./list.ts"
import { layerReading } from "./queue.ts"

const csvHead = csvRow([
  "reference",
  "state",
  "amount_centavos",
  "amount_reais",
  "submitted_at",
  "updated_at",
  "withdrawal_id"
])

const csvLine = (status: PayoutStatus) =>
  csvRow([
    status.reference,
    status.state,
    `${status.amount}`,
    decimal(status.amount),
    time(status.submittedAt),
    time(status.updatedAt),
    "withdrawalId" in status ? `${status.withdrawalId ?? ""}` : ""
  ])

const jsonLineOf = (status: PayoutStatus) => jsonLine(dataOf(status))

export const run = Effect.fnUntraced(function* ({ json, state }: { readonly json: boolean; readonly state: Which }) {
  const lineOf = json ? jsonLineOf : csvLine
  let count = 0
  if (!json) yield* write(csvHead)
  yield* listOf(state).pipe(
    Stream.chunks,
    Stream.runForEachWhile((statuses) => {
      count += statuses.length
      return Effect.map(write(statuses.map(lineOf).join("")), hasReader)
    })
  )
  if (hasReader()) yield* note(`${count} payout(s)`)
}, Effect.provide(layerReading))
