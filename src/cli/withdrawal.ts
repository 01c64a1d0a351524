/** `effect-pix withdrawal`: looks up one withdrawal, where the gateway has that lookup. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { WithdrawalLookup } from "../client/WithdrawalLookup.ts"
import type { WithdrawalDetail } from "../contract/Withdrawal.ts"
import { displayMessage } from "../internal/mask.ts"
import * as Money from "../pix/Money.ts"
import * as PixKey from "../pix/PixKey.ts"
import { decimal, inBoth } from "./internal/amount.ts"
import { client } from "./internal/client.ts"
import { full, json } from "./internal/flags.ts"
import { writeResult } from "./internal/output.ts"
import { fieldLines, maskNumber, time } from "./internal/text.ts"

/** The key of the record, masked; a text that is no key of its kind as a number is. */
const maskKey = (pixKey: string, type: string | undefined) =>
  Result.match(PixKey.fromPair(pixKey, type ?? ""), { onSuccess: String, onFailure: () => maskNumber(pixKey) })

/** The payee and the words of a record, masked unless all of it is to be shown. */
const personOf = (detail: WithdrawalDetail, isFull: boolean) => {
  const { creditorDocument, description, pixKey, pixKeyType, providerErrorDescription: reason } = detail
  if (isFull) return { pixKey, document: creditorDocument, description, reason }
  const sent = [pixKey, creditorDocument, description].flatMap((text) => (text === undefined ? [] : [text]))
  return {
    pixKey: pixKey && maskKey(pixKey, pixKeyType),
    document: creditorDocument && maskNumber(creditorDocument),
    description: undefined,
    reason: reason && displayMessage(reason, () => sent)
  }
}

export const withdrawal = Command.make(
  "withdrawal",
  {
    id: Argument.Int("id").pipe(Argument.withDescription("The number that the service answered to the withdrawal")),
    full,
    json
  },
  Effect.fnUntraced(function* ({ full, id, json }) {
    const { get } = yield* WithdrawalLookup
    const detail = yield* get(id)
    const { amount, companyId, createdAt, enTransaction, idempotencyKey, providerEndToEndId, updateDate, value } =
      detail
    const person = personOf(detail, full)
    const data = {
      id,
      status: enTransaction,
      amount,
      value: decimal(value),
      idempotencyKey,
      endToEndId: providerEndToEndId,
      companyId,
      createdAt,
      updatedAt: updateDate,
      ...person
    }
    const text = fieldLines({
      Withdrawal: id,
      Status: enTransaction,
      Amount: amount === undefined ? undefined : inBoth(amount),
      Value: Money.format(value),
      Key: idempotencyKey,
      "End-to-end id": providerEndToEndId,
      Reason: person.reason,
      Created: time(createdAt),
      Updated: time(updateDate),
      "PIX key": person.pixKey,
      Document: person.document,
      Description: person.description
    })
    yield* writeResult(json, data, text)
  }, Effect.provide(client))
).pipe(
  Command.withDescription(
    "Look a withdrawal up, where the gateway can.\n\n" +
      "  This lookup was seen, and is not documented: effect-pix doctor --withdrawal ID says whether yours has it."
  ),
  Command.withShortDescription("Look a withdrawal up, where the gateway can")
)
