/** What `effect-pix charge` does. */
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import * as ChargeCode from "../../client/ChargeCode.ts"
import { Payments } from "../../client/Payments.ts"
import type { CreatedPixTransaction } from "../../contract/Transaction.ts"
import * as QrCode from "../../pix/QrCode.ts"
import { askingAgain } from "./again.ts"
import { inBoth, parseAmount } from "./amount.ts"
import { note, showDone, writeJson, writeLine } from "./output.ts"
import { keyOf } from "./reference.ts"
import { plain, time } from "./text.ts"
import { untilPaid } from "./wait.ts"

interface Input {
  readonly amount: string
  readonly name: string
  readonly email: string
  readonly reference: Option.Option<string>
  readonly expiresInDays: Option.Option<number>
  readonly background: Option.Option<"dark" | "light">
  readonly wait: boolean
  readonly again: boolean
  readonly json: boolean
}

const wordsOf = (input: Input, reference: string): ReadonlyArray<string> => [
  "charge",
  input.amount,
  "--name",
  input.name,
  "--email",
  input.email,
  "--reference",
  reference,
  ...Option.match(input.expiresInDays, { onNone: () => [], onSome: (days) => ["--expires-in-days", `${days}`] }),
  ...(input.wait ? ["--wait"] : []),
  ...(input.json ? ["--json"] : []),
  "--again"
]

/** Terminals that say their colours do so as `15;0`: text, then background. 7 and 15 are white. */
const backgroundOf = (given: Option.Option<"dark" | "light">) =>
  Option.match(given, {
    onSome: Effect.succeed,
    onNone: () =>
      Config.String("COLORFGBG").pipe(
        Effect.map((colours) => (/;(?:7|15)$/.test(colours) ? "light" : "dark")),
        Effect.orElseSucceed(() => "dark" as const)
      )
  })

const summaryOf = ({ amount, id, idempotencyKey, pix, status }: CreatedPixTransaction): string =>
  [
    `Charge ${plain(id)}: ${inBoth(amount)}, ${plain(status)}`,
    ...(pix.expirationDate === undefined ? [] : [`Expires ${time(pix.expirationDate)}`]),
    `Idempotency key ${plain(idempotencyKey)}`
  ].join("\n")

const show = Effect.fnUntraced(function* (charge: CreatedPixTransaction, input: Input) {
  const { amount, id, idempotencyKey, pix, status } = charge
  const { isSound, problems } = ChargeCode.of(charge)
  if (input.json) {
    const expires = pix.expirationDate === undefined ? {} : { expiresAt: DateTime.formatIso(pix.expirationDate) }
    yield* writeJson({
      transactionId: id,
      amount,
      status,
      copyAndPaste: pix.qrcode,
      ...expires,
      isSound,
      idempotencyKey
    })
    return
  }
  yield* writeLine(`${summaryOf(charge)}\n`)
  const background = yield* backgroundOf(input.background)
  // A text that no QR code can hold is shown as it is.
  const code = yield* Effect.option(Effect.try(() => QrCode.terminal(pix.qrcode, { background })))
  if (Option.isSome(code)) yield* writeLine(`${code.value}\n`)
  yield* writeLine(plain(pix.qrcode))
  if (!isSound) {
    yield* note(
      `Look at this code before you show it to a payer: it ${problems.map(({ reason }) => reason).join("; it ")}.`
    )
  }
})

export const run = Effect.fnUntraced(function* (input: Input) {
  const amount = yield* parseAmount(input.amount)
  const reference = Option.getOrElse(input.reference, () => `charge-${randomUUID()}`)
  const idempotencyKey = yield* keyOf("charge", reference)
  yield* note(`Charging ${inBoth(amount)}, reference ${plain(reference)}`)
  yield* Effect.gen(function* () {
    const payments = yield* Payments
    const charge = yield* askingAgain(
      payments.createTransaction(
        {
          amount,
          paymentMethod: "PIX",
          customer: { name: input.name, email: input.email },
          ...(Option.isSome(input.expiresInDays) && { pix: { expiresInDays: input.expiresInDays.value } })
        },
        { idempotencyKey, ...(input.again && { earlier: "Unknown" }) }
      ),
      { words: wordsOf(input, reference), again: input.again, kind: "charge" }
    )
    yield* showDone(summaryOf(charge), show(charge, input))
    if (input.wait) yield* untilPaid(charge.id, { json: input.json, full: false, expiresAt: charge.pix.expirationDate })
  }).pipe(Effect.provide(Payments.layerFetch))
})
