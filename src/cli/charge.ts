/** `effect-pix charge`: creates a PIX charge and shows its QR code. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import process from "node:process"
import { Payments } from "../client/Payments.ts"
import { PaymentsPolicy } from "../client/PaymentsPolicy.ts"
import { isBelievable } from "../contract/Expiry.ts"
import { fromReferenceOption } from "../contract/IdempotencyKey.ts"
import { invalidRequest } from "../contract/Options.ts"
import type { PaymentsError } from "../contract/PaymentsError.ts"
import { issuesOf } from "../contract/RequestIssues.ts"
import { type CreatedPixTransaction, PixTransactionRequest } from "../contract/Transaction.ts"
import * as BrCode from "../pix/BrCode.ts"
import * as QrCode from "../pix/QrCode.ts"
import { waitUntilPaid } from "./gateway.ts"
import { client } from "./internal/client.ts"
import { inBoth } from "./internal/amount.ts"
import { codes, type Failed, failed } from "./internal/exit.ts"
import { again, amount, json, wait } from "./internal/flags.ts"
import { commandLineWith } from "./internal/invocation.ts"
import { note, writeJson, writeLine } from "./internal/output.ts"
import { perform } from "./internal/perform.ts"
import { plain, time } from "./internal/text.ts"

const encodeRequest = Schema.encodeUnknownResult(PixTransactionRequest)

const summaryOf = ({ amount, id, idempotencyKey, pix, status }: CreatedPixTransaction): string =>
  [
    `Charge ${plain(id)}: ${inBoth(amount)}, ${plain(status)}`,
    ...(pix.expirationDate === undefined ? [] : [`Expires ${time(pix.expirationDate)}`]),
    `Idempotency key ${plain(idempotencyKey)}`
  ].join("\n")

/** The charge without an expiry that cannot be its own. */
const withBelievableExpiry = (charge: CreatedPixTransaction) =>
  Effect.map(Clock.currentTimeMillis, (now): CreatedPixTransaction => {
    const { expirationDate, qrcode } = charge.pix
    const isKept = expirationDate === undefined || isBelievable(expirationDate, { createdAt: undefined, now })
    return isKept ? charge : { ...charge, pix: { qrcode } }
  })

/** What is wrong with the code of a charge. One with a URL may leave the amount to it. */
const problemsOf = ({ amount, pix }: CreatedPixTransaction): ReadonlyArray<string> => {
  const parsed = BrCode.parse(pix.qrcode)
  if (Result.isFailure(parsed)) return [parsed.failure.reason]
  const code = parsed.success
  const stated = BrCode.checkAmount(code, amount)
  const isMissing = stated === "not stated" && code.url === undefined
  return [
    ...code.problems.map(({ reason }) => reason),
    ...(stated === "different" ? ["does not state the amount asked for"] : []),
    ...(isMissing ? ["leaves the amount to the payer"] : [])
  ]
}

const printJson = (charge: CreatedPixTransaction) =>
  writeJson({
    transactionId: charge.id,
    amount: charge.amount,
    status: charge.status,
    copyAndPaste: charge.pix.qrcode,
    expiresAt: charge.pix.expirationDate,
    isSound: problemsOf(charge).length === 0,
    idempotencyKey: charge.idempotencyKey
  })

/** A QR code for a dark terminal, which is white on black on any other too: a phone may not read an inverted code. */
const onBlack = (code: string): string =>
  process.stdout.isTTY ? code.replaceAll(/^.+$/gm, "\u001b[97;40m$&\u001b[0m") : code

const printText = Effect.fnUntraced(function* (charge: CreatedPixTransaction) {
  const { qrcode } = charge.pix
  yield* writeLine(`${summaryOf(charge)}\n`)
  // A text that is too long for a QR code is shown without one.
  const code = yield* Effect.option(Effect.try(() => QrCode.terminal(qrcode)))
  if (Option.isSome(code)) yield* writeLine(`${onBlack(code.value)}\n`)
  yield* writeLine(plain(qrcode))
  const problems = problemsOf(charge)
  if (problems.length > 0) {
    yield* note(`Look at this code before you show it to a payer: it ${problems.join("; it ")}.`)
  }
})

/** The key of a reference, the same as `IdempotencyKey.fromReference` makes in a program. */
const keyOf = (reference: string) =>
  Effect.fromOption(fromReferenceOption("charge", reference)).pipe(
    Effect.mapError(() =>
      failed(
        "The reference cannot be used. It is a text that is not blank, has no space around it, and holds no character " +
          "that a person cannot see or distinguish from another."
      )
    )
  )

interface About {
  /** Whether `--again` was given. */
  readonly again: boolean
  /** More flags for the printed command line, in addition to the given ones and `--again`. */
  readonly flags?: ReadonlyArray<string>
}

const adviceOf = (error: PaymentsError, { again, flags = [] }: About): string => {
  if (error._tag === "IdempotencyConflict") {
    return [
      `The gateway answers as if this reference already had a charge.`,
      `- If that charge is the one you mean: run this with the same amount and data as then. It shows the result.`,
      `- If this is a second charge: give it a reference of its own.`,
      "- If you do not know: ask the operator of the gateway what the idempotency key was used for."
    ].join("\n")
  }
  const command = `To ask again safely, with the same key, run:\n  ${commandLineWith(again ? flags : [...flags, "--again"])}`
  if (!again) return command
  return [
    command,
    "This was a repetition already. If the answer stays the same, another one will not help: ask the operator of the gateway",
    `whether the idempotency key was executed. If it was, the charge exists. If it was not and will not be, make it`,
    "under another reference."
  ].join("\n")
}

/** Runs a write, and says what to do if its outcome is not known. */
const withAdvice = <A, E extends PaymentsError, R>(
  write: Effect.Effect<A, E, R>,
  about: About
): Effect.Effect<A, E | Failed, R> => {
  const policy = Effect.map(PaymentsPolicy, (current) =>
    PaymentsPolicy.make({
      ...current,
      onInterruptedWrite: (report) => {
        process.exitCode = codes.Unknown
        return note(`${report.message}\n${adviceOf(report, about)}`)
      }
    })
  )
  return write.pipe(
    Effect.mapError((error) =>
      error.outcome === "Unknown" ? failed(`${error.message}\n${adviceOf(error, about)}`, codes.Unknown) : error
    ),
    Effect.provideServiceEffect(PaymentsPolicy, policy)
  )
}

export const charge = Command.make(
  "charge",
  {
    amount,
    name: Flag.String("name").pipe(Flag.withDescription("The payer's name; always needed")),
    email: Flag.String("email").pipe(Flag.withDescription("The payer's e-mail address; always needed")),
    reference: Flag.String("reference").pipe(
      Flag.withDescription("Your own name of this charge: the idempotency key is made from it. Default: a new one"),
      Flag.optional
    ),
    expiresInDays: Flag.Int("expires-in-days").pipe(
      Flag.withDescription("After how many days it expires. Default: the service's"),
      Flag.optional
    ),
    wait,
    again,
    json
  },
  Effect.fnUntraced(function* ({ again, amount, email, expiresInDays, json, name, ...input }) {
    const reference = Option.getOrElse(input.reference, () => `charge-${randomUUID()}`)
    const idempotencyKey = yield* keyOf(reference)
    const request: PixTransactionRequest = {
      amount,
      paymentMethod: "PIX",
      customer: { name, email },
      ...(Option.isSome(expiresInDays) && { pix: { expiresInDays: expiresInDays.value } })
    }
    // What is not sent is not announced.
    yield* Effect.fromResult(
      Result.mapError(encodeRequest(request, { errors: "all" }), (error) =>
        invalidRequest("createTransaction", issuesOf(error), idempotencyKey)
      )
    )
    const send = Effect.flatMap(Payments, ({ createTransaction }) =>
      createTransaction(request, { idempotencyKey, earlier: again ? "Unknown" : "None" })
    ).pipe(Effect.flatMap(withBelievableExpiry))
    const flags = Option.isSome(input.reference) ? [] : ["--reference", reference]
    const charge = yield* perform({
      plan: `Charging ${inBoth(amount)}, reference ${plain(reference)}`,
      run: withAdvice(send, { again, flags }),
      summary: summaryOf,
      print: (created) => (json ? printJson(created) : printText(created))
    })
    if (input.wait) yield* waitUntilPaid(charge.id, { json, full: false }, charge.pix.expirationDate)
  }, Effect.provide(client))
).pipe(
  Command.withDescription("Create a PIX charge and show its QR code"),
  Command.withExamples([
    {
      command: "effect-pix charge 25,00 --name 'Maria Silva' --email maria@example.com --wait",
      description: "charge R$ 25,00 and wait until it is paid"
    }
  ])
)
