/** `effect-pix balance`: shows the company's balance. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Payments } from "../client/Payments.ts"
import * as Money from "../pix/Money.ts"
import { client } from "./internal/client.ts"
import { decimal } from "./internal/amount.ts"
import { failed } from "./internal/exit.ts"
import { json } from "./internal/flags.ts"
import { writeResult } from "./internal/output.ts"
import { fieldLines, plain } from "./internal/text.ts"

/** The failure of a balance without a company: no other input of it can be invalid. */
const noCompany = failed("No company is named: set PAYMENTS_COMPANY_ID, or give --company. Nothing was sent.")

const decimalOrAbsent = (reais: Money.Reais | undefined) => reais && decimal(reais)

export const balance = Command.make(
  "balance",
  {
    company: Flag.Int("company").pipe(
      Flag.withDescription("The id of the company. Default: PAYMENTS_COMPANY_ID"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function* ({ company, json }) {
    const payments = yield* Payments
    const found = yield* payments
      .getBalance({ companyId: Option.getOrUndefined(company) })
      .pipe(Effect.catchTag("InvalidRequest", (error) => Effect.fail(Option.isNone(company) ? noCompany : error)))
    const { accBalance, accBalanceCredit, accBalanceCreditAwaiting, companyId, currency, enBalanceStatus } = found
    const isReleased = enBalanceStatus.toLowerCase() === "released"
    const data = {
      companyId,
      currency,
      status: enBalanceStatus,
      available: decimal(accBalance),
      credit: decimalOrAbsent(accBalanceCredit),
      awaiting: decimalOrAbsent(accBalanceCreditAwaiting)
    }
    const text = fieldLines({
      Available: `${Money.format(accBalance)}  (${plain(enBalanceStatus)}${isReleased ? "" : ": not released, do not pay out yet"})`,
      Credit: accBalanceCredit && Money.format(accBalanceCredit),
      Awaiting: accBalanceCreditAwaiting && Money.format(accBalanceCreditAwaiting)
    })
    yield* writeResult(json, data, text)
  }, Effect.provide(client))
).pipe(Command.withDescription("Show the company's balance"))
