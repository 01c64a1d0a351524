/** Runs `effect-pix payouts show`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { PayoutChange } from "../../../payouts/PayoutHistory.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import * as PixKey from "../../../pix/PixKey.ts"
import { requests, type Stored } from "../../../payouts/StoredPayouts.ts"
import { notRead } from "../database.ts"
import { writeResult } from "../output.ts"
import { plain, time } from "../text.ts"
import { GivenAccount } from "./account.ts"
import { dataOf, payeeOf, textOf } from "./describe.ts"
import { find, layerReading } from "./queue.ts"

const keyOf = (stored: Stored | undefined, full: boolean) => {
  if (typeof stored !== "object" || stored.pixKey === undefined) return undefined
  return full ? PixKey.value(stored.pixKey) : String(stored.pixKey)
}

const encodeChange = Schema.encodeSync(Schema.toCodecJson(PayoutChange))

/** One change of a payout, with the person of a step and the reason. */
const lineOf = (change: PayoutChange): string => {
  const words = [
    time(change.at),
    change._tag,
    "answer" in change ? change.answer : undefined,
    "error" in change ? change.error?._tag : undefined,
    "because" in change ? change.because : undefined,
    "withdrawalId" in change ? `withdrawal ${change.withdrawalId}` : undefined,
    `(${change.state})`,
    "by" in change ? `by ${change.by}` : undefined,
    "note" in change ? `: ${change.note}` : undefined
  ]
  return plain(words.filter((word) => word !== undefined).join(" "))
}

export const run = Effect.fnUntraced(function* ({
  full,
  json,
  reference
}: {
  readonly full: boolean
  readonly json: boolean
  readonly reference: string
}) {
  const status = yield* find(reference)
  const stored = (yield* Effect.mapError(requests(yield* GivenAccount, [status.idempotencyKey]), notRead)).get(
    status.idempotencyKey
  )
  const history = yield* Effect.flatMap(PayoutQueue, (queue) =>
    Effect.mapError(queue.history(status.reference), notRead)
  )
  const now = yield* Clock.currentTimeMillis
  const text = [textOf(status, now, payeeOf(stored, full)), ...history.map((change) => `  ${lineOf(change)}`)].join(
    "\n"
  )
  yield* writeResult(
    json,
    { ...dataOf(status), pixKey: keyOf(stored, full), history: history.map((change) => encodeChange(change)) },
    text
  )
}, Effect.provide(layerReading))
