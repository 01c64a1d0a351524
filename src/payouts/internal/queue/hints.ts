/**
 * Finds payouts by what a webhook or a panel names: the number of a withdrawal, or its key; and stores what a webhook claims.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"
import type { GatewayFacts } from "../../../client/GatewayFacts.ts"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { meaningOf } from "../../../contract/Status.ts"
import { log } from "../../../internal/spans.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { PayoutStatus } from "../../PayoutStatus.ts"
import { payoutLabel } from "../machine.ts"
import type { Core } from "./core.ts"
import { isClaimed } from "./conditions.ts"
import { guard, operationsOf } from "./operation.ts"
import type { Row } from "./row.ts"
import { payoutFields } from "./signals.ts"
import { asRead } from "./reading.ts"
import { statusOf } from "./status.ts"

/** What names a payout: the number of its withdrawal, its key, or both. */
export interface Named {
  readonly withdrawalId?: number | undefined
  readonly idempotencyKey?: string | undefined
}

/** What a webhook claims of a payout. */
export interface Hint extends Named {
  readonly status: string
  readonly endToEndId?: string | undefined
}

const isNumber = (id: unknown): id is number => Number.isSafeInteger(id) && Number(id) >= 0
/** A text that a key may be: another one is in no row. */
const isKey = (key: string) => /^[!-~]{1,64}$/.test(key)

/** What is wrong with a hint, which a caller without types may have given. */
const issuesOf = ({ endToEndId, idempotencyKey, status, withdrawalId }: Hint): ReadonlyArray<RequestIssue> => {
  const isNamed = withdrawalId !== undefined || idempotencyKey !== undefined
  const wrong: ReadonlyArray<readonly [path: string, isWrong: boolean, problem: string]> = [
    ["withdrawalId", !isNamed, "or idempotencyKey must be given"],
    ["withdrawalId", withdrawalId !== undefined && !isNumber(withdrawalId), "must be a whole number from 0"],
    ["idempotencyKey", idempotencyKey !== undefined && !Predicate.isString(idempotencyKey), "must be a text"],
    ["status", !Predicate.isString(status), "must be a text"],
    ["endToEndId", endToEndId !== undefined && !Predicate.isString(endToEndId), "must be a text"]
  ]
  return wrong.flatMap(([path, isWrong, problem]) => (isWrong ? [{ path, problem }] : []))
}

export const makeHints = (core: Core, { confirm }: Settings, facts: Effect.Effect<GatewayFacts>) => {
  const { store } = core
  const { writing } = operationsOf(store)

  /** The row that has what is named: the number and the key, if both are. */
  const rowOf = ({ idempotencyKey: key, withdrawalId: id }: Named): Effect.Effect<Row | undefined, SqlError> => {
    if ((key !== undefined && !isKey(key)) || (id !== undefined && !isNumber(id))) return Effect.undefined
    const found = key !== undefined ? store.get(key) : id !== undefined ? store.ofWithdrawal(id) : Effect.undefined
    return Effect.map(found, (row) => (id === undefined || row?.withdrawalId === id ? row : undefined))
  }

  /** What is claimed now, and was not before. Where lookups decide, they say how it ended. */
  const logClaimed = (before: Row, after: Row) =>
    !isClaimed.of({ payout: after }) || after.endedAs === before.endedAs
      ? Effect.void
      : log(
          confirm === undefined ? "Warn" : "Debug",
          `A webhook claims that a payout ${after.endedAs === "paid" ? "was paid" : after.endedAs} (${payoutLabel(after)}, which is ${after.state}). That is no proof: look in the panel, and settle it. Nothing is paid again by itself.`,
          payoutFields(after)
        )

  const claim = Effect.fnUntraced(function* (hint: Hint) {
    const issues = Predicate.isObject(hint) ? issuesOf(hint) : [{ path: "hint", problem: "must be an object" }]
    if (issues.length > 0) return yield* invalidWithdrawal(issues)
    const found = yield* rowOf(hint)
    if (found === undefined) return Option.none<PayoutStatus>()
    const claimed = meaningOf(hint.status, "payout", (yield* facts).statuses)
    let before = found
    const after = yield* core.stepBy(
      found,
      (row) => {
        before = row
        return { _tag: "Claimed", claimed }
      },
      // No claim is refused.
      (_, problem) => Effect.die(problem)
    )
    if (after === undefined) return Option.none<PayoutStatus>()
    yield* store.afterCommit(logClaimed(before, after))
    return Option.some(statusOf(after))
  })

  return {
    hint: (hint: Hint) => writing("hint", claim(hint)),
    find: (named: Named) =>
      guard("find")(
        Effect.gen(function* () {
          const row = Predicate.isObject(named) ? yield* rowOf(named) : undefined
          const [read] = row === undefined ? [] : yield* asRead(store, [row])
          return Option.map(Option.fromUndefinedOr(read), statusOf)
        })
      )
  }
}
