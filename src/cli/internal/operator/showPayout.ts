/**
 * Runs `effect-pix payouts show`: a payout, its history, and whom it pays, masked unless `--full` is given. Then the history has
 * an entry of who was shown it, before it is shown.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { mapDatabaseError } from "../../../durable/Database.ts"
import { PayoutChange } from "../../../payouts/PayoutHistory.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import * as PixKey from "../../../pix/PixKey.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { Seal } from "../../../payouts/Seal.ts"
import { notRead } from "../database.ts"
import { failed } from "../exit.ts"
import { GivenAccount, whyOf, type Words } from "../flags.ts"
import { writeResult } from "../output.ts"
import { plain, time } from "../text.ts"
import { dataOf, textOf } from "./describe.ts"
import { find, givenSeal, layerQueue, layerReading, whatIsSealed } from "./queue.ts"

const decodeRequest = Schema.decodeUnknownOption(Schema.fromJsonString(WithdrawalRequestBody))

/** Whom a payout pays, by its stored request, and the PIX key of that: masked, or with `full` as it was given. */
const payeeOf = Effect.fnUntraced(function* ({ idempotencyKey: key, reference }: PayoutStatus, full: boolean) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly request: string | null }>`SELECT request AS "request" FROM effect_pix_payouts
    WHERE account = ${yield* GivenAccount} AND idempotency_key = ${key}`.pipe(
    mapDatabaseError("read"),
    Effect.mapError(notRead)
  )
  if (row === undefined || row.request === null) return { text: "forgotten" }
  const seal = yield* givenSeal
  const request = decodeRequest(seal === undefined ? row.request : yield* openedBy(seal, row.request, reference))
  // It was sealed, or a newer version wrote it.
  if (Option.isNone(request)) return { text: "sealed by the program" }
  const { pixKey, pixKeyType = "" } = request.value
  if (pixKey === undefined) return { text: "the company's own PIX key" }
  const valid = Result.getOrUndefined(PixKey.fromPair(pixKey, pixKeyType))
  const masked = valid === undefined ? `${pixKeyType} ***` : String(valid)
  return full ? { text: `${valid?.type ?? "key"} ${pixKey}`, pixKey } : { text: masked, pixKey: masked }
})

/** What a seal opens; the text itself where it does not. */
const openedBy = (seal: Seal, text: string, reference: string) =>
  Effect.catchDefect(seal.open(text, reference), () => Effect.succeed(text))

const encodeChange = Schema.encodeSync(Schema.toCodecJson(PayoutChange))

/** One change of a payout, with the person of a step and the reason. */
const lineOf = (change: PayoutChange): string => {
  const words = [
    time(change.at),
    change._tag,
    "answer" in change ? change.answer : undefined,
    "error" in change ? change.error?._tag : undefined,
    "because" in change ? change.because : undefined,
    "step" in change ? change.step : undefined,
    "withdrawalId" in change ? `withdrawal ${change.withdrawalId}` : undefined,
    "notBefore" in change ? time(change.notBefore) : undefined,
    "replacement" in change ? `by ${change.replacement}` : undefined,
    `(${change.state})`,
    "by" in change ? `by ${change.by}` : undefined,
    "note" in change ? `: ${change.note}` : undefined
  ]
  return plain(words.filter((word) => word !== undefined).join(" "))
}

interface Input extends Pick<Words, "note"> {
  /** Needed for `full` alone. */
  readonly by: Option.Option<string>
  readonly full: boolean
  readonly json: boolean
  readonly reference: string
}

const show = Effect.fnUntraced(function* ({ by, full, json, note, reference }: Input) {
  const status = yield* find(reference)
  const queue = yield* PayoutQueue
  const why = full && Option.isSome(by) ? whyOf({ by: by.value, note }) : undefined
  const sealed = why && (yield* whatIsSealed(reference, why))
  // Without the key nothing was opened.
  const reason = (yield* givenSeal) && sealed?.reason
  const payee = yield* payeeOf(status, full)
  const history = yield* Effect.mapError(queue.history(status.reference), notRead)
  const now = yield* Clock.currentTimeMillis
  const text = [textOf(status, now, payee.text, reason), ...history.map((change) => `  ${lineOf(change)}`)].join("\n")
  yield* writeResult(
    json,
    { ...dataOf(status), reason, pixKey: payee.pixKey, history: history.map((change) => encodeChange(change)) },
    text
  )
})

export const run = (input: Input) =>
  input.full && Option.isNone(input.by)
    ? failed(
        "--full shows personal data, so it needs --by: who is shown it. That is stored in the history of the payout."
      )
    : Effect.provide(show(input), input.full ? layerQueue : layerReading)
