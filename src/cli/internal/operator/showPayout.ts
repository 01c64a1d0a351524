/** Runs `effect-pix payouts show`: a payout, its history, and whom it pays, masked unless `--full` is given. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { PayoutChange } from "../../../payouts/PayoutHistory.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import * as PixKey from "../../../pix/PixKey.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { notRead } from "../database.ts"
import { writeResult } from "../output.ts"
import { fieldLines, plain, time } from "../text.ts"
import { dataOf, fieldsOf } from "./describe.ts"
import * as inPortuguese from "./inPortuguese.ts"
import { english } from "./inPortuguese.ts"
import { find, givenSeal, layerReading, requestOf, whatIsSealed } from "./queue.ts"

/** Whom a payout pays, by its stored request, and the PIX key of that: masked, or with `full` as it was given. */
const payeeOf = Effect.fnUntraced(function* (status: PayoutStatus, full: boolean) {
  const request = yield* requestOf(status)
  // A newer version may have written it, in place of a seal.
  if (typeof request === "string") return { text: request === "sealed" ? "sealed by the program" : request }
  const { pixKey, pixKeyType = "" } = request
  if (pixKey === undefined) return { text: "the company's own PIX key" }
  const valid = Result.getOrUndefined(PixKey.fromPair(pixKey, pixKeyType))
  const masked = valid === undefined ? `${pixKeyType} ***` : String(valid)
  return full ? { text: `${valid?.type ?? "key"} ${pixKey}`, pixKey } : { text: masked, pixKey: masked }
})

const encodeChange = Schema.encodeSync(Schema.toCodecJson(PayoutChange))

/** One change of a payout, with the person of a step and the reason. */
const lineOf = ({ by, changeOf, stateOf, withdrawal }: typeof english, change: PayoutChange): string => {
  const words = [
    time(change.at),
    changeOf(change._tag),
    "answer" in change ? change.answer : undefined,
    "error" in change ? change.error?._tag : undefined,
    "because" in change ? change.because : undefined,
    "withdrawalId" in change ? `${withdrawal} ${change.withdrawalId}` : undefined,
    `(${stateOf(change.state)})`,
    "by" in change ? `${by} ${change.by}` : undefined
  ]
  const note = "note" in change && change.note !== undefined ? `: ${change.note}` : ""
  return plain(words.filter((word) => word !== undefined).join(" ") + note)
}

interface Input {
  readonly full: boolean
  readonly json: boolean
  readonly lang: "en" | "pt"
  readonly reference: string
}

const show = Effect.fnUntraced(function* ({ full, json, lang, reference }: Input) {
  const status = yield* find(reference)
  const queue = yield* PayoutQueue
  const sealed = full ? yield* whatIsSealed(reference) : undefined
  // Without the key nothing was opened.
  const reason = (yield* givenSeal) && sealed?.reason
  const payee = yield* payeeOf(status, full)
  const history = yield* Effect.mapError(queue.history(status.reference), notRead)
  const now = yield* Clock.currentTimeMillis
  const fields = fieldsOf(status, now, payee.text, reason)
  const [shown, words] = lang === "pt" ? [inPortuguese.fieldsOf(fields, status), inPortuguese.words] : [fields, english]
  const text = [fieldLines(shown), ...history.map((change) => `  ${lineOf(words, change)}`)].join("\n")
  yield* writeResult(
    json,
    { ...dataOf(status), reason, pixKey: payee.pixKey, history: history.map((change) => encodeChange(change)) },
    text
  )
})

export const run = (input: Input) => Effect.provide(show(input), layerReading)
