/**
 * What `effect-pix withdraw` does. Nothing is sent before a person said yes, or `--yes` did; a `y` from a pipe is
 * neither.
 */
import * as Config from "effect/Config"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Terminal from "effect/Terminal"
import process from "node:process"
import { Payments } from "../../client/Payments.ts"
import type { Withdrawal, WithdrawalRequest } from "../../contract/Withdrawal.ts"
import * as Money from "../../pix/Money.ts"
import * as PixKey from "../../pix/PixKey.ts"
import { askingAgain } from "./again.ts"
import { decimal, inBoth, parseAmount } from "./amount.ts"
import { codes, failed } from "./exit.ts"
import { hasTerminal } from "./invocation.ts"
import { note, showDone, writeJson, writeLine } from "./output.ts"
import { keyOf } from "./reference.ts"
import { plain } from "./text.ts"

interface Input {
  readonly amount: string
  readonly reference: string
  readonly pixKey: Option.Option<string>
  readonly pixKeyType: Option.Option<PixKey.PixKeyType>
  readonly description: Option.Option<string>
  readonly yes: boolean
  readonly again: boolean
  readonly json: boolean
}

const flagOf = (name: string, value: Option.Option<string>) =>
  Option.match(value, { onNone: () => [], onSome: (text) => [name, text] })

const wordsOf = (input: Input): ReadonlyArray<string> => [
  "withdraw",
  input.amount,
  "--reference",
  input.reference,
  ...flagOf("--pix-key", input.pixKey),
  ...flagOf("--pix-key-type", input.pixKeyType),
  ...flagOf("--description", input.description),
  ...(input.yes ? ["--yes"] : []),
  ...(input.json ? ["--json"] : []),
  "--again"
]

/** The key of the flag, else of the variable, whose kind must be said as well. */
const pixKeyOf = Effect.fnUntraced(function* ({ pixKey, pixKeyType }: Input) {
  const given = Option.isSome(pixKey)
    ? pixKey
    : yield* Effect.orElseSucceed(Config.option(Config.String("PAYMENTS_PIX_KEY")), () => Option.none())
  if (Option.isNone(given)) {
    return Option.isNone(pixKeyType)
      ? undefined
      : yield* failed("--pix-key-type is there, but no PIX key. Give --pix-key, or set PAYMENTS_PIX_KEY.")
  }
  if (Option.isNone(pixKeyType))
    return yield* failed("Say with --pix-key-type what kind of key it is: CPF, CNPJ, EMAIL, PHONE or EVP.")
  return yield* Effect.fromResult(
    Result.mapError(PixKey.make(pixKeyType.value, given.value), ({ message }) => failed(`${message}.`))
  )
})

/** Asks on stderr, since stdout is for data. */
const ask = Effect.fnUntraced(function* (message: string) {
  const terminal = yield* Terminal.Terminal
  const onStderr = Terminal.make({
    ...terminal,
    display: (text) => Effect.sync(() => process.stderr.write(text))
  })
  return yield* Prompt.run(Prompt.Confirm({ message, initial: false })).pipe(
    Effect.provideService(Terminal.Terminal, onStderr)
  )
})

const refused = "Not confirmed. Nothing was sent."

const confirm = Effect.fnUntraced(function* (input: Input, what: string) {
  if (input.yes) return
  if (!hasTerminal()) {
    return yield* failed(`${refused} Without a terminal a payout needs --yes.`, codes.NotConfirmed)
  }
  const answer = yield* ask(what).pipe(Effect.catchTag("QuitError", () => Effect.fail(failed(refused, 130))))
  if (!answer) return yield* failed(refused, codes.NotConfirmed)
})

const show = (withdrawal: Withdrawal, to: string, input: Input) => {
  const { enTransaction, id, idempotencyKey, value } = withdrawal
  const text = `Withdrawal ${id}: ${Money.format(value)} to ${to}, ${plain(enTransaction)}\nIdempotency key ${plain(idempotencyKey)}`
  const json = { id, reais: decimal(value), status: enTransaction, to, idempotencyKey }
  return showDone(text, input.json ? writeJson(json) : writeLine(text))
}

export const run = Effect.fnUntraced(function* (input: Input) {
  const amount = yield* parseAmount(input.amount)
  const idempotencyKey = yield* keyOf("payout", input.reference)
  const pixKey = yield* pixKeyOf(input)
  const to = pixKey === undefined ? "the company's own PIX key" : String(pixKey)
  const what = `${inBoth(amount)} to ${to}`
  yield* note(`Payout of ${what}\nReference ${plain(input.reference)}, idempotency key ${idempotencyKey}`)
  yield* confirm(input, `Pay out ${what}?`)
  const request: WithdrawalRequest = {
    amount,
    ...(pixKey !== undefined && { pixKey }),
    ...(Option.isSome(input.description) && { description: input.description.value })
  }
  const withdrawal = yield* Effect.flatMap(Payments, (payments) =>
    askingAgain(payments.requestWithdrawal(request, { idempotencyKey, ...(input.again && { earlier: "Unknown" }) }), {
      words: wordsOf(input),
      again: input.again,
      kind: "payout"
    })
  ).pipe(Effect.provide(Payments.layerFetch))
  yield* show(withdrawal, to, input)
})
