/**
 * Checks the database in which a worker is about to send: at its start, and in each new session of the server. In another database
 * than that in which a worker was seen last, what may have been sent since then is in doubt. One of many workers checks, and the
 * others find that it did.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import { repeatedly } from "../../../durable/Work.ts"
import { log } from "../../../internal/spans.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import type { ReadAccount } from "../machine/account.ts"
import { isMoved, mergedIdentity } from "../store/identity.ts"
import type { Row } from "../machine/row.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Store } from "../store/store.ts"

const isoOf = (millis: number) => DateTime.formatIso(DateTime.makeUnsafe(millis))

/** The warning names the period, since what was submitted in it may be missing altogether. */
const textOf = ({ account, readAt, seenAt }: ReadAccount, doubted: ReadonlyArray<Row>): string => {
  const since = seenAt === null ? "an unknown time" : isoOf(seenAt)
  const sum = format(Centavos.make(doubted.reduce((sum, { amount }) => sum + amount, 0)))
  return (
    `The database of the account ${account} is another one than before, as after a failover or a restored backup: a worker was ` +
    `seen in it at ${since}, and it is ${isoOf(readAt)} now. What was submitted in this period may be missing here, and may be ` +
    `paid: compare the panel since ${since}. ${doubted.length} payout(s) (${sum}) of it may have been sent: they are in doubt, ` +
    "and are asked again under their keys."
  )
}

/** Reads the account, and checks its database where this worker has not checked the session. */
export const makeCheckedAccount = (store: Store, { horizon }: Settings): Effect.Effect<ReadAccount, SqlError> => {
  const { accounts } = store
  const { identity } = accounts
  let session: string | null | undefined
  let lastSeen: number | undefined

  /** False where another process has checked it since the account was read. */
  const check = Effect.fnUntraced(function* (read: ReadAccount) {
    // A backup may be older than the account.
    yield* accounts.insertIfAbsent
    const found = yield* identity.read
    const stored = mergedIdentity(read.identity, found)
    if (!isMoved(read, found, lastSeen)) return yield* identity.checked(read, stored, horizon)
    const now = yield* Clock.currentTimeMillis
    const doubted = yield* store.transaction(
      Effect.gen(function* () {
        if (!(yield* identity.checked(read, stored, horizon))) return undefined
        return yield* store.doubt(read, now)
      })
    )
    if (doubted === undefined) return false
    yield* log("Warn", textOf(read, doubted), { "payments.account": read.account })
    return true
  })

  return Effect.gen(function* () {
    for (;;) {
      const read = yield* accounts.get
      if (read.session === session) {
        lastSeen = Math.max(lastSeen ?? 0, read.seenAt ?? 0)
        return read
      }
      if (yield* check(read)) session = read.session
    }
  })
}

/** A worker is seen at least once a minute; in a file, while something waits in it. */
export const makeSeen = (
  { accounts: { identity }, followWrites }: Store,
  { horizon }: Settings,
  current: Effect.Effect<ReadAccount, SqlError>
): Effect.Effect<void> =>
  repeatedly(
    "Writing when a worker was seen",
    "1 minute",
    // Its own write is no news, so it goes on by itself as long as something waits.
    Effect.repeat(
      Effect.flatMap(current, (read) => identity.see(read.session, horizon)),
      { while: (isWaiting) => isWaiting, schedule: Schedule.spaced("1 minute") }
    ),
    followWrites
  )
