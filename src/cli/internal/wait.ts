/** Waits for a charge, tells each change, and ends with a code that says whether it is paid. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import * as TransactionWait from "../../transactions/TransactionWait.ts"
import { detailJson, detailText } from "./detail.ts"
import { codes, failed } from "./exit.ts"
import { note, writeJson, writeLine } from "./output.ts"
import { plain } from "./text.ts"

export const untilPaid = Effect.fnUntraced(function* (
  transactionId: string,
  options: { readonly json: boolean; readonly full: boolean; readonly expiresAt?: DateTime.Utc | undefined }
) {
  const { expiresAt, full, json } = options
  const waiting = expiresAt === undefined ? {} : { expiresAt }
  const last = yield* TransactionWait.changes(transactionId, waiting).pipe(
    Stream.tap(({ enStatusTransaction }) => note(`The charge is ${plain(enStatusTransaction)}.`)),
    Stream.runLast
  )
  // The stream ends with the detail that ended it.
  const detail: TransactionDetail = yield* Effect.fromOption(last).pipe(Effect.orDie)
  yield* json ? writeJson(detailJson(detail, full)) : writeLine(detailText(detail, full))
  if (detail.enStatusTransaction !== "Paid") return yield* failed("The charge ended without being paid.", codes.NotPaid)
})
