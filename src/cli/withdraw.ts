/** `effect-pix withdraw`: sends a payout by PIX, after it is confirmed. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { Payments } from "../client/Payments.ts"
import * as Money from "../pix/Money.ts"
import * as PixKey from "../pix/PixKey.ts"
import { client } from "./internal/client.ts"
import { decimal, inBoth } from "./internal/amount.ts"
import { failed } from "./internal/exit.ts"
import { again, amount, json, yes } from "./internal/flags.ts"
import { writeResult } from "./internal/output.ts"
import { perform } from "./internal/perform.ts"
import { plain } from "./internal/text.ts"
import { keyOf, withAdvice } from "./internal/write.ts"

/** The PIX key of the flag, else of the variable. The kind is required with either. */
const pixKeyOf = Effect.fnUntraced(function* (flag: Option.Option<string>, kind: Option.Option<PixKey.PixKeyType>) {
  const variable = Effect.orElseSucceed(Config.option(Config.String("PAYMENTS_PIX_KEY")), () => Option.none())
  const given = Option.isSome(flag) ? flag : yield* variable
  if (Option.isNone(given)) {
    return Option.isNone(kind)
      ? undefined
      : yield* failed("--pix-key-type is there, but no PIX key. Give --pix-key, or set PAYMENTS_PIX_KEY.")
  }
  if (Option.isNone(kind))
    return yield* failed("Give the kind of the key with --pix-key-type: CPF, CNPJ, EMAIL, PHONE or EVP.")
  return yield* Effect.fromResult(
    Result.mapError(PixKey.make(kind.value, given.value), ({ message }) => failed(`${message}.`))
  )
})

export const withdraw = Command.make(
  "withdraw",
  {
    amount,
    reference: Flag.String("reference").pipe(
      Flag.withDescription(
        "Your own name of this payout, as an invoice's number. The same reference is the same payout"
      )
    ),
    pixKey: Flag.String("pix-key").pipe(
      Flag.withDescription(
        "The payee's PIX key. PAYMENTS_PIX_KEY is not in the shell's history. Default: the company's own key"
      ),
      Flag.optional
    ),
    pixKeyType: Flag.Literals("pix-key-type", PixKey.PixKeyType.literals).pipe(
      Flag.withDescription("The kind of the key. Always needed, since eleven digits may be a CPF or a phone"),
      Flag.optional
    ),
    description: Flag.String("description").pipe(Flag.withDescription("A text for the payee"), Flag.optional),
    yes,
    again,
    json
  },
  Effect.fnUntraced(function* ({ again, amount, json, reference, yes, ...input }) {
    const idempotencyKey = yield* keyOf("payout", reference)
    const pixKey = yield* pixKeyOf(input.pixKey, input.pixKeyType)
    const to = pixKey === undefined ? "the company's own PIX key" : String(pixKey)
    const what = `${inBoth(amount)} to ${to}`
    const request = { amount, pixKey, description: Option.getOrUndefined(input.description) }
    const send = Effect.flatMap(Payments, ({ requestWithdrawal }) =>
      requestWithdrawal(request, { idempotencyKey, ...(again && { earlier: "Unknown" }) })
    )
    const summaryOf = ({ enTransaction, id, idempotencyKey, value }: Effect.Success<typeof send>) =>
      `Withdrawal ${id}: ${Money.format(value)} to ${to}, ${plain(enTransaction)}\nIdempotency key ${plain(idempotencyKey)}`
    yield* perform({
      plan: `Payout of ${what}\nReference ${plain(reference)}, idempotency key ${idempotencyKey}`,
      confirm: { noun: "payout", question: `Pay out ${what}?`, unconfirmed: "Nothing was sent.", yes },
      run: withAdvice(send, { kind: "payout", again }),
      summary: summaryOf,
      print: (withdrawal) => {
        const { enTransaction, id, idempotencyKey, value } = withdrawal
        const data = { id, reais: decimal(value), status: enTransaction, to, idempotencyKey }
        return writeResult(json, data, summaryOf(withdrawal))
      }
    })
  }, Effect.provide(client))
).pipe(
  Command.withDescription("Pay money out by PIX: shows the amount and the payee, and asks"),
  Command.withExamples([
    {
      command: "effect-pix withdraw 150,00 --reference invoice-42 --pix-key 52998224725 --pix-key-type CPF",
      description: "pay R$ 150,00 to a CPF"
    },
    {
      command: "effect-pix withdraw 150,00 --reference invoice-42 --yes",
      description: "to the company's own key, from a script"
    }
  ])
)
