/**
 * Runs `effect-pix payouts list`: the payouts, their sums, and whether something stops the workers or waits for a person; and `show`: a
 * payout, its history, and whom it pays, masked unless `--full` is given.
 */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { PayoutBecause } from "../../../payouts/PayoutBecause.ts"
import { PayoutChange } from "../../../payouts/PayoutHistory.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { PayoutState } from "../../../payouts/PayoutState.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import * as PixKey from "../../../pix/PixKey.ts"
import { notRead } from "../database.ts"
import { givenLang, join, text } from "../lang.ts"
import { currentView, type Format, linesOfFields, printList } from "../list.ts"
import { hasReader, note, writeResult } from "../output.ts"
import { plain, time } from "../text.ts"
import { columns, dataOf, fieldsOf, inReais, textOfPause, withReason } from "./describe.ts"
import { find, givenSeal, layerReading, listPayouts, readAccount, readSums, requestOf, whatIsSealed } from "./queue.ts"
import { by, changes, hidden, states as stateWords, withdrawal } from "./words.ts"

/** The states that need a person, the most urgent first. */
const waiting: ReadonlyArray<PayoutState> = ["parked", "unknown", "accepted"]

interface Listed extends Format {
  readonly because: PayoutBecause | undefined
  readonly full: boolean
  readonly since: DateTime.Utc | undefined
  readonly toCheck: boolean
  readonly state: PayoutState | "waiting" | "all" | undefined
  readonly until: DateTime.Utc | undefined
}

/** The service's words for why it refused or failed: sealed, where the key of the program is not given. */
const reasonOf = Effect.fnUntraced(function* (reference: string, full: boolean) {
  const sealed = full ? whatIsSealed(reference) : Effect.orElseSucceed(whatIsSealed(reference), () => undefined)
  const isOpen = (yield* givenSeal) !== undefined
  const reason = (yield* sealed)?.reason
  return reason === undefined || isOpen ? reason : hidden.sealed
})

const open = (status: PayoutStatus) => Effect.map(reasonOf(status.reference, true), (reason) => ({ ...status, reason }))

export const runList = Effect.fnUntraced(function* ({
  because,
  full,
  since,
  state: given,
  toCheck,
  until,
  ...format
}: Listed) {
  const [account, lang] = [yield* readAccount, yield* givenLang]
  const filter = { because, toCheck: toCheck || undefined, since, until }
  // What is to be checked was sent, and a period is about all that was submitted in it.
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const state = given ?? (isFiltered ? "all" : "waiting")
  const states = state === "waiting" ? waiting : [state === "all" ? undefined : state]
  const rows = listPayouts(states, filter)
  yield* full ? printList(Stream.mapEffect(rows, open), withReason, format) : printList(rows, columns, format)
  if (!hasReader()) return
  const sums = yield* readSums(states, filter)
  const found = PayoutState.literals.flatMap((state) => {
    const sum = sums.get(state)
    return sum === undefined ? [] : [{ state, ...sum }]
  })
  const notes = [
    ...found.map(({ centavos, count, state: one }) => join(`${count} `, stateWords[one], `, ${inReais(centavos)}`)),
    ...(found.length === 0 ? [text("There is none.", "Não há nenhum.")] : []),
    ...(account.paused
      ? [
          join(text("The workers are ", "Os envios estão "), textOfPause(account)),
          text(
            "Nothing is sent until `effect-pix payouts continue`.",
            "Nada é enviado até `effect-pix payouts continue`."
          )
        ]
      : [])
  ]
  yield* note(notes.map((one) => one[lang]).join("\n"))
}, Effect.provide(layerReading))

/** Whom a payout pays, by its stored request, and the PIX key of that: masked, or with `full` as it was given. */
const payeeOf = Effect.fnUntraced(function* (status: PayoutStatus, full: boolean) {
  const request = yield* requestOf(status)
  // A newer version may have written it, in place of a seal.
  if (typeof request === "string") return { text: hidden[request] }
  const { pixKey, pixKeyType = "" } = request
  if (pixKey === undefined) return { text: hidden.own }
  const valid = Result.getOrUndefined(PixKey.fromPair(pixKey, pixKeyType))
  const masked = valid === undefined ? `${pixKeyType} ***` : String(valid)
  return full ? { text: `${valid?.type ?? "key"} ${pixKey}`, pixKey } : { text: masked, pixKey: masked }
})

const encodeChange = Schema.encodeSync(Schema.toCodecJson(PayoutChange))

/** One change of a payout, with the person of a step and the reason. */
const lineOf = (change: PayoutChange) => {
  const parts = [
    time(change.at),
    changes[change._tag],
    "answer" in change ? change.answer : undefined,
    "error" in change ? change.error?._tag : undefined,
    "because" in change ? change.because : undefined,
    "withdrawalId" in change ? join(withdrawal, ` ${change.withdrawalId}`) : undefined,
    join("(", stateWords[change.state], ")"),
    "by" in change ? join(by, ` ${plain(change.by ?? "")}`) : undefined
  ].flatMap((part) => (part === undefined ? [] : [part, " "]))
  const note = "note" in change && change.note !== undefined ? `: ${plain(change.note)}` : ""
  return join("  ", ...parts.slice(0, -1), note)
}

interface Shown {
  readonly full: boolean
  readonly json: boolean
  readonly reference: string
}

export const runShow = Effect.fnUntraced(function* ({ full, json, reference }: Shown) {
  const status = yield* find(reference)
  const queue = yield* PayoutQueue
  const reason = yield* reasonOf(reference, full)
  const payee = yield* payeeOf(status, full)
  const history = yield* Effect.mapError(queue.history(status.reference), notRead)
  const view = yield* currentView
  const fields = [
    ...fieldsOf(status),
    [text("Reason", "Motivo"), reason] as const,
    [text("To", "Para"), payee.text] as const
  ]
  yield* writeResult(
    json,
    {
      ...dataOf(status),
      reason: typeof reason === "object" ? reason.en : reason,
      pixKey: payee.pixKey,
      history: history.map((change) => encodeChange(change))
    },
    [linesOfFields(fields, view), ...history.map((one) => lineOf(one)[view.lang])].join("\n")
  )
}, Effect.provide(layerReading))
