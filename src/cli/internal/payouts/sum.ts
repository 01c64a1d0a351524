/** How many payouts there are, and how much they are together. */
import * as BigDecimal from "effect/BigDecimal"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { PayoutState, PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import * as Money from "../../../pix/Money.ts"
import { notRead } from "../database.ts"
import { GivenAccount } from "./account.ts"

export interface Sum {
  readonly count: number
  /** A sum may be too large for an exact number. */
  readonly centavos: bigint
}

export const sumOf = (statuses: ReadonlyArray<PayoutStatus>): Sum => ({
  count: statuses.length,
  centavos: statuses.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
})

/** The payouts of the account by their state. */
export const totals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly state: PayoutState; readonly count: number | string; readonly sum: string }>`
    SELECT state AS "state", COUNT(*) AS "count", CAST(SUM(amount) AS TEXT) AS "sum" FROM effect_pix_payouts
    WHERE account = ${yield* GivenAccount} AND amount IS NOT NULL GROUP BY state`
  return new Map<PayoutState, Sum>(
    rows.map(({ count, state, sum }) => [state, { count: Number(count), centavos: BigInt(sum) }])
  )
}).pipe(mapDatabaseError("list"), Effect.mapError(notRead))

const inReais = (centavos: bigint) => Money.format(Money.reais(BigDecimal.make(centavos, 2)))

/** A count of a state and its sum: "2 parked, R$ 30,00". */
export const textOfState = (state: PayoutState, { centavos, count }: Sum): string =>
  `${count} ${state}, ${inReais(centavos)}`

/** A count and its sum, in both units: "2 payouts, R$ 30,00 (3000 centavos)". */
export const textOfSum = ({ centavos, count }: Sum): string =>
  `${count} payout${count === 1 ? "" : "s"}, ${inReais(centavos)} (${centavos} centavos)`
