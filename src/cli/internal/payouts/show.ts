/** Runs `effect-pix payouts show`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as PixKey from "../../../pix/PixKey.ts"
import { requests, type Stored } from "../../../payouts/StoredPayouts.ts"
import { notRead } from "../database.ts"
import { writeResult } from "../output.ts"
import { plain } from "../text.ts"
import { dataOf, payeeOf, textOf } from "./describe.ts"
import { find, layerQueue } from "./queue.ts"

const keyOf = (stored: Stored | undefined, full: boolean) => {
  if (typeof stored !== "object" || stored.pixKey === undefined) return undefined
  return full ? PixKey.value(stored.pixKey) : String(stored.pixKey)
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
  const stored = (yield* Effect.mapError(requests([status.idempotencyKey]), notRead)).get(status.idempotencyKey)
  const now = yield* Clock.currentTimeMillis
  const text = `${textOf(status, now)}\n${"To".padEnd(14)} ${plain(payeeOf(stored, full))}`
  yield* writeResult(json, { ...dataOf(status), pixKey: keyOf(stored, full) }, text)
}, Effect.provide(layerQueue))
