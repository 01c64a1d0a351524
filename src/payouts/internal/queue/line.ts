/**
 * The payouts of one worker that wait to be sent, and how many it may have under way. Nothing here reads or writes.
 *
 * Details: a worker begins an account with one request under way, and doubles after each that the service takes. While the service
 * refuses the account, or its requests are spaced, the oldest payout goes first, and only the next ones are held: all others stand
 * in the table, the oldest first.
 */
import * as Latch from "effect/Latch"
import type { Account } from "./account.ts"
import { isSpaced } from "./conditions.ts"
import type { Row } from "./row.ts"

type Waiting = Pick<Row, "idempotencyKey" | "submittedAt">

const isOlder = (one: Waiting, other: Waiting) =>
  one.submittedAt === other.submittedAt
    ? one.idempotencyKey < other.idempotencyKey
    : one.submittedAt < other.submittedAt

/** How many payouts are held that wait; `undefined`: as many as may be under way. */
const longest = (account: Account | undefined): number | undefined => {
  // The one that the balance did not cover last, and the one after it.
  if (account?.blockedBecause === "Balance") return 2
  return account !== undefined && (account.blockedAt !== null || isSpaced.of({ account })) ? 1 : undefined
}

export const makeLine = (concurrency: number) => {
  const waiting = new Set<Waiting>()
  const underWay = new Set<string>()
  /** Opened when another payout may be held. */
  const isFree = Latch.makeUnsafe(true)
  /** Wakes what waits: another payout may be sent. */
  const changed = Latch.makeUnsafe()
  let account: Account | undefined
  let most = 1

  const inLine = () => [...waiting].toSorted((one, other) => (isOlder(one, other) ? -1 : 1))

  return {
    isFree,
    changed,
    /** The account is read. */
    read: (read: Account) => {
      account = read
      if (read.blockedAt !== null) most = 1
      isFree.openUnsafe()
    },
    add: (row: Waiting) => waiting.add(row),
    /** It does not wait any more; what is under way leaves room for the next one. */
    leave: (row: Waiting, isSent: boolean) => {
      waiting.delete(row)
      if (isSent) underWay.add(row.idempotencyKey)
      isFree.openUnsafe()
    },
    end: (row: Waiting) => underWay.delete(row.idempotencyKey),
    /** One more may be under way. */
    hasRoom: () => underWay.size < concurrency,
    /** The service took a request. */
    grow: () => {
      most = Math.min(concurrency, most * 2)
    },
    /** It refused the account. */
    shrink: () => {
      most = 1
    },
    /** How many payouts may be held now. */
    most: () => {
      const held = longest(account)
      return held === undefined ? most : Math.min(Math.max(most, held), underWay.size + held)
    },
    /** Whether a payout is one of those that are held while the account is refused. */
    isHeld: (row: Waiting, read: Account) => inLine().indexOf(row) < (longest(read) ?? Infinity),
    /** Whether a payout is the next one: the oldest one, but for the one that the balance did not cover last, if another one waits. */
    isNext: (row: Waiting, { blockedBecause, refusedKey }: Account) => {
      const all = inLine()
      const covered = blockedBecause === "Balance" ? all.filter((one) => one.idempotencyKey !== refusedKey) : all
      return (covered[0] ?? all[0]) === row
    }
  }
}
