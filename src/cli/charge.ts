/** `effect-pix charge`: creates a PIX charge and shows its QR code. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import * as Path from "node:path"
import process from "node:process"
import { Payments } from "../client/Payments.ts"
import { PaymentsPolicy } from "../client/PaymentsPolicy.ts"
import { fromReferenceOption } from "../contract/IdempotencyKey.ts"
import type { PaymentsError } from "../contract/PaymentsError.ts"
import type { CreatedPixTransaction, PixTransactionRequest } from "../contract/Transaction.ts"
import * as QrCode from "../pix/QrCode.ts"
import { waitUntilPaid } from "./gateway.ts"
import { client } from "./internal/client.ts"
import { inBoth } from "./internal/amount.ts"
import { codes, failed } from "./internal/exit.ts"
import { again, amount, json, optional, wait } from "./internal/flags.ts"
import { note, writeJson, writeLine } from "./internal/output.ts"
import { perform } from "./internal/perform.ts"
import { plain, shellWord, time } from "./internal/text.ts"

const summaryOf = ({ amount, id, idempotencyKey, pix, status }: CreatedPixTransaction): string =>
  [
    `Charge ${plain(id)}: ${inBoth(amount)}, ${plain(status)}`,
    ...(pix.expirationDate === undefined ? [] : [`Expires ${time(pix.expirationDate)}`]),
    `Idempotency key ${plain(idempotencyKey)}`
  ].join("\n")

const printJson = (charge: CreatedPixTransaction) =>
  writeJson({
    transactionId: charge.id,
    amount: charge.amount,
    status: charge.status,
    copyAndPaste: charge.pix.qrcode,
    expiresAt: charge.pix.expirationDate,
    idempotencyKey: charge.idempotencyKey
  })

/** A QR code for a dark terminal, which is white on black on any other too: a phone may not read an inverted code. */
const onBlack = (code: string): string =>
  process.stdout.isTTY ? code.replaceAll(/^.+$/gm, "\u001b[97;40m$&\u001b[0m") : code

const printText = Effect.fnUntraced(function* (charge: CreatedPixTransaction) {
  const { qrcode } = charge.pix
  yield* writeLine(`${summaryOf(charge)}\n`)
  // A text that is too long for a QR code is shown without one.
  const code = Result.getOrUndefined(Result.try(() => QrCode.terminal(qrcode)))
  if (code !== undefined) yield* writeLine(`${onBlack(code)}\n`)
  yield* writeLine(plain(qrcode))
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

/** The command line of this process, quoted for a shell, with more flags. They are inserted before `--`. */
const commandLineWith = (flags: ReadonlyArray<string>): string => {
  const { argv, env } = process
  const [, script = "effect-pix", ...given] = argv
  const end = given.indexOf("--")
  const installed = Path.basename(script) === "effect-pix" ? [script] : ["node", script]
  const command = env["npm_lifecycle_event"] === "npx" ? ["npx", "effect-pix"] : installed
  return [...command, ...given.toSpliced(end === -1 ? given.length : end, 0, ...flags)].map(shellWord).join(" ")
}

/** What to do if the outcome is not known: the command line, with the missing flags. */
const adviceOf = ({ _tag }: PaymentsError, isAgain: boolean, flags: ReadonlyArray<string>): string => {
  if (_tag === "IdempotencyConflict") {
    return [
      "The gateway answers as if this reference already had a charge.",
      "- If that charge is the one you mean: run this with the same amount and data as then. It shows the result.",
      "- If this is a second charge: give it a reference of its own.",
      "- If you do not know: ask the operator of the gateway what the idempotency key was used for."
    ].join("\n")
  }
  const command = `To ask again safely, with the same key, run:\n  ${commandLineWith(flags)}`
  return isAgain
    ? `${command}\nThis was a repetition already. If the answer stays the same, ask the operator of the gateway whether the ` +
        "idempotency key was executed. If it was, the charge exists. If it was not and will not be, make it under another reference."
    : command
}

export const charge = Command.make(
  "charge",
  {
    amount,
    name: Flag.String("name").pipe(Flag.withDescription("The payer's name; always needed")),
    email: Flag.String("email").pipe(Flag.withDescription("The payer's e-mail address; always needed")),
    reference: Flag.String("reference").pipe(
      Flag.withDescription("Your own name of this charge: the idempotency key is made from it. Default: a new one"),
      optional
    ),
    expiresInDays: Flag.Int("expires-in-days").pipe(
      Flag.withDescription("After how many days it expires. Default: the service's"),
      optional
    ),
    wait,
    again,
    json
  },
  Effect.fnUntraced(function* ({ again, amount, email, expiresInDays, json, name, ...input }) {
    const reference = input.reference ?? `charge-${randomUUID()}`
    const idempotencyKey = yield* keyOf(reference)
    const request: PixTransactionRequest = {
      amount,
      paymentMethod: "PIX",
      customer: { name, email },
      ...(expiresInDays !== undefined && { pix: { expiresInDays } })
    }
    const flags = [...(input.reference === undefined ? ["--reference", reference] : []), ...(again ? [] : ["--again"])]
    const policy = yield* PaymentsPolicy
    const send = Effect.flatMap(Payments, ({ createTransaction }) =>
      createTransaction(request, { idempotencyKey, earlier: again ? "Unknown" : "None" })
    ).pipe(
      Effect.mapError((error) =>
        error.outcome === "Unknown"
          ? failed(`${error.message}\n${adviceOf(error, again, flags)}`, codes.Unknown)
          : error
      ),
      Effect.provideService(
        PaymentsPolicy,
        PaymentsPolicy.make({
          ...policy,
          onInterruptedWrite: (report) => {
            process.exitCode = codes.Unknown
            return note(`${report.message}\n${adviceOf(report, again, flags)}`)
          }
        })
      )
    )
    const charge = yield* perform({
      plan: `Charging ${inBoth(amount)}, reference ${plain(reference)}`,
      run: send,
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
