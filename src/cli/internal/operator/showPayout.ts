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
import { plain, time } from "../text.ts"
import { dataOf, textOf } from "./describe.ts"
import { find, givenSeal, layerReading, requestOf, whatIsSealed } from "./queue.ts"
import { changes, hidden, type Lang, states, words } from "./words.ts"

interface Input {
  readonly full: boolean
  readonly json: boolean
  readonly lang: Lang
  readonly reference: string
}

/** Whom a payout pays, by its stored request, and the PIX key of that: masked, or with `full` as it was given. */
const payeeOf = Effect.fnUntraced(function* (status: PayoutStatus, { full, lang }: Input) {
  const request = yield* requestOf(status)
  // A newer version may have written it, in place of a seal.
  if (typeof request === "string") return { text: hidden[request][lang] }
  const { pixKey, pixKeyType = "" } = request
  if (pixKey === undefined) return { text: hidden.own[lang] }
  const valid = Result.getOrUndefined(PixKey.fromPair(pixKey, pixKeyType))
  const masked = valid === undefined ? `${pixKeyType} ***` : String(valid)
  return full ? { text: `${valid?.type ?? "key"} ${pixKey}`, pixKey } : { text: masked, pixKey: masked }
})

const encodeChange = Schema.encodeSync(Schema.toCodecJson(PayoutChange))

/** One change of a payout, with the person of a step and the reason. */
const lineOf = (change: PayoutChange, lang: Lang): string => {
  const parts = [
    time(change.at),
    changes[change._tag][lang],
    "answer" in change ? change.answer : undefined,
    "error" in change ? change.error?._tag : undefined,
    "because" in change ? change.because : undefined,
    "withdrawalId" in change ? `${words.withdrawal[lang]} ${change.withdrawalId}` : undefined,
    `(${states[change.state][lang]})`,
    "by" in change ? `${words.by[lang]} ${change.by}` : undefined
  ]
  const note = "note" in change && change.note !== undefined ? `: ${change.note}` : ""
  return plain(parts.filter((part) => part !== undefined).join(" ") + note)
}

/** The service's words for why it refused or failed: sealed, where the key of the program is not given. */
const reasonOf = Effect.fnUntraced(function* ({ full, lang, reference }: Input) {
  const sealed = full ? whatIsSealed(reference) : Effect.orElseSucceed(whatIsSealed(reference), () => undefined)
  const isOpen = (yield* givenSeal) !== undefined
  const reason = (yield* sealed)?.reason
  return reason === undefined || isOpen ? reason : hidden.sealed[lang]
})

const show = Effect.fnUntraced(function* (input: Input) {
  const { json, lang, reference } = input
  const status = yield* find(reference)
  const queue = yield* PayoutQueue
  const reason = yield* reasonOf(input)
  const payee = yield* payeeOf(status, input)
  const history = yield* Effect.mapError(queue.history(status.reference), notRead)
  const view = { now: yield* Clock.currentTimeMillis, lang }
  const lines = history.map((change) => `  ${lineOf(change, lang)}`)
  yield* writeResult(
    json,
    { ...dataOf(status), reason, pixKey: payee.pixKey, history: history.map((change) => encodeChange(change)) },
    [textOf(status, view, { payee: payee.text, reason }), ...lines].join("\n")
  )
})

export const run = (input: Input) => Effect.provide(show(input), layerReading)
