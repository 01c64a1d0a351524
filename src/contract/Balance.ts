/**
 * The company's balance (`docs/service.md`). Its amounts are decimal **reais**, decoded exactly.
 */
import * as Schema from "effect/Schema"
import { IntegerId } from "../internal/wire.ts"
import { ReaisFromJson } from "../pix/Money.ts"
import { BalanceStatus } from "./StatusWords.ts"
import type { Currency } from "./Currency.ts"

/**
 * A balance record. `accBalance` is the amount available for withdrawals, `accBalanceCredit` the balance in credits
 * and `accBalanceCreditAwaiting` the credits awaiting release, all in reais. Pay out only while the status is `Released`.
 */
export const Balance = Schema.Struct({
  /** Absent in answers that were seen. */
  id: Schema.optionalKey(IntegerId),
  companyId: Schema.optionalKey(IntegerId),
  currency: Schema.optionalKey(Schema.String),
  /** `Released` means available. `Pending` was seen. */
  enBalanceStatus: BalanceStatus,
  /** The amount available for withdrawals, in reais. */
  accBalance: ReaisFromJson,
  /** The balance in credits, in reais. */
  accBalanceCredit: Schema.optionalKey(ReaisFromJson),
  /** Credits that await release, in reais. */
  accBalanceCreditAwaiting: Schema.optionalKey(ReaisFromJson)
})
export interface Balance extends Schema.Schema.Type<typeof Balance> {}

/** Whose balance to read, and in which currency. */
export interface BalanceOptions {
  /** Default: the `companyId` of the layer. */
  readonly companyId?: number | undefined
  /** Default: BRL. */
  readonly currency?: Currency | undefined
}
