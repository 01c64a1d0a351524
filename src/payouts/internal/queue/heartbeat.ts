/**
 * Judges the database in which a worker is about to send: at its start, and in each new session of the server. One of many
 * workers judges, and the others find its heartbeat.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { repeatedly } from "../../../durable/Work.ts"
import { log } from "../../../internal/spans.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import type { ReadAccount } from "./accountStore.ts"
import { writePause } from "./entries.ts"
import { aDay, findingOf, mergedIdentity } from "./identity.ts"
import type { Settings } from "./settings.ts"
import { total } from "./signals.ts"
import type { Store } from "./store.ts"

/** A number of payouts, and their sum in centavos. */
const inWords = ({ amount, count }: ReturnType<typeof total>) => `${count} payout(s) (${format(Centavos.make(amount))})`

/** Reads the account, and judges its database where this worker has not judged the session. */
export const makeJudged = (
  { accounts, counts }: Store,
  { account, lease, pausedAfter }: Settings
): Effect.Effect<ReadAccount, SqlError> => {
  const { identity } = accounts
  const attributes = { "payments.account": account }
  let session: string | null | undefined
  let lastBeat: number | undefined

  const pause = Effect.fnUntraced(function* (
    read: ReadAccount,
    isRestored: boolean,
    stored: string | null,
    now: number
  ) {
    const since = read.beatAt === null ? "an unknown time" : DateTime.formatIso(DateTime.makeUnsafe(read.beatAt))
    const open = total((yield* counts).filter(({ state }) => state !== "parked"))
    const why = isRestored
      ? `The database of the account ${account} is a restored backup or a copy, last written by a worker at ${since}`
      : `No worker has served the account ${account} since ${since}, so its database may be a restored backup`
    const note =
      `${why}. The account is paused: ${inWords(open)} wait, and may have been paid since. ` +
      `Follow "A restored backup" of the runbook, and then go on: effect-pix payouts continue --account ${account}`
    const entry = writePause({ at: DateTime.makeUnsafe(now), paused: true, note })
    if (!(yield* identity.judged(read, stored, accounts.pausing(now, entry)))) return false
    yield* log("Error", note, attributes)
    return true
  })

  /** False where another process has written a heartbeat since the account was read. */
  const judge = Effect.fnUntraced(function* (read: ReadAccount) {
    // A backup may be older than the account.
    yield* accounts.insertIfAbsent
    const now = yield* Clock.currentTimeMillis
    const found = yield* identity.read
    const stored = mergedIdentity(read.identity, found)
    const silence = pausedAfter ?? (identity.isServer ? aDay : Number.POSITIVE_INFINITY)
    const finding = findingOf(read, found, { lastBeat, pausedAfter: silence })
    if (finding === "Same") return yield* identity.judged(read, stored)
    if (finding !== "Moved") return yield* pause(read, finding === "Restored", stored, now)
    const doubted = yield* identity.moved(read, stored, lease, now)
    if (doubted === undefined) return false
    yield* log(
      "Warn",
      `The database of the account ${account} has moved, as after a failover. ${inWords(doubted)} may have been sent meanwhile: they are in doubt, and are asked again under their keys.`,
      attributes
    )
    return true
  })

  return Effect.gen(function* () {
    for (;;) {
      const read = yield* accounts.get
      if (read.session === session) {
        lastBeat = Math.max(lastBeat ?? 0, read.beatAt ?? 0)
        return read
      }
      if (yield* judge(read)) session = read.session
    }
  })
}

/** Writes the heartbeat each minute. On a file it serves `pausedAfter` alone: without that, the file rests. */
export const makeBeat = (
  { accounts: { identity } }: Store,
  { pausedAfter }: Settings,
  current: Effect.Effect<ReadAccount, SqlError>
): Effect.Effect<void> =>
  identity.isServer || pausedAfter !== undefined
    ? repeatedly(
        "Writing the heartbeat",
        "1 minute",
        Effect.flatMap(current, (read) => identity.beat(read.session))
      )
    : Effect.void
