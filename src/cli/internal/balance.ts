/** What `effect-pix balance` does. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Payments } from "../../client/Payments.ts"
import * as Money from "../../pix/Money.ts"
import { decimal } from "./amount.ts"
import { writeJson, writeLine } from "./output.ts"
import { plain } from "./text.ts"

interface Input {
  readonly company: Option.Option<number>
  readonly json: boolean
}

const digits = (reais: Money.Reais | undefined) => reais && decimal(reais)

export const run = Effect.fnUntraced(function* ({ company, json }: Input) {
  const payments = yield* Payments
  const balance = yield* payments.getBalance(
    Option.match(company, { onNone: () => ({}), onSome: (companyId) => ({ companyId }) })
  )
  const { accBalance, accBalanceCredit, accBalanceCreditAwaiting, companyId, currency, enBalanceStatus } = balance
  if (json) {
    return yield* writeJson({
      companyId,
      currency,
      status: enBalanceStatus,
      available: digits(accBalance),
      credit: digits(accBalanceCredit),
      awaiting: digits(accBalanceCreditAwaiting)
    })
  }
  yield* writeLine(`Available  ${Money.format(accBalance)}  (${plain(enBalanceStatus)})`)
  if (accBalanceCredit !== undefined) yield* writeLine(`Credit     ${Money.format(accBalanceCredit)}`)
  if (accBalanceCreditAwaiting !== undefined) yield* writeLine(`Awaiting   ${Money.format(accBalanceCreditAwaiting)}`)
}, Effect.provide(Payments.layerFetch))
