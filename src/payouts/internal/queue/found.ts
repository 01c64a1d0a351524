/**
 * What the record of a lookup says of a payout, and whether it is about that payout at all. Nothing here reads or writes.
 */
import * as Predicate from "effect/Predicate"
import { meaningOf, type Words } from "../../../contract/Status.ts"
import { plainWord } from "../../../contract/StatusWords.ts"
import type { WithdrawalDetail, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { compareToCentavo } from "../../../internal/decimal.ts"
import { displayMessage } from "../../../internal/mask.ts"
import { endToEnd } from "../../../internal/wire.ts"
import { isOtherKey } from "../../../pix/OtherKey.ts"
import type { Account } from "./account.ts"
import type { Found } from "./events.ts"
import { reaisText, type Row } from "./row.ts"

const endToEndIdOf = (text: string | undefined) => (text !== undefined && endToEnd.test(text) ? text : undefined)

/** What a record says. */
export const foundOf = (detail: WithdrawalDetail, statuses: Words): Found => ({
  meaning: meaningOf(detail.enTransaction, "payout", statuses),
  word: plainWord(detail.enTransaction),
  endToEndId: endToEndIdOf(detail.providerEndToEndId),
  value: reaisText(detail.value),
  updatedAt: detail.updateDate?.epochMilliseconds
})

/** The provider's words for why it failed, masked as the words of a refusal are. */
export const reasonOf = ({ creditorDocument, description, pixKey, providerErrorDescription }: WithdrawalDetail) =>
  providerErrorDescription === undefined
    ? undefined
    : displayMessage(providerErrorDescription, () =>
        [pixKey, creditorDocument, description].filter(Predicate.isNotUndefined)
      ) || undefined

const isOtherAmount = ({ amount, value }: WithdrawalDetail, row: Row) =>
  amount === undefined ? compareToCentavo(value, row.amount) !== 0 : amount !== row.amount

/**
 * The fields by which a record is about another payout. `request` is the stored one, where it can be opened. A record without the key
 * is about none.
 */
export const othersOf = (
  detail: WithdrawalDetail,
  row: Row,
  { companyId }: Pick<Account, "companyId">,
  request: WithdrawalRequestBody | undefined
): ReadonlyArray<string> => {
  const { pixKey, pixKeyType } = request ?? {}
  const others = {
    idempotencyKey: detail.idempotencyKey !== row.idempotencyKey,
    amount: isOtherAmount(detail, row),
    pixKey:
      detail.pixKey !== undefined &&
      pixKey !== undefined &&
      pixKeyType !== undefined &&
      isOtherKey(detail.pixKey, { pixKey, pixKeyType }),
    companyId: detail.companyId !== undefined && companyId !== null && detail.companyId !== companyId
  }
  return Object.entries(others).flatMap(([field, isOther]) => (isOther ? [field] : []))
}
