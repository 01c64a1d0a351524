/**
 * The operations of the queue on the account: its pause, its sender, and the warning of an account that nobody serves.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { log } from "../../../internal/spans.ts"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import { type DatabaseError, type ForeignTransaction, mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import { accountOf, checkedFingerprint, checkedPerson, writePause, writeSender, wrongFingerprint } from "./entries.ts"
import { accountKey, type Store } from "./store.ts"

/** Runs one operation in its span, and names it in failures of the database. */
type Guard = (operation: string) => <A>(effect: Effect.Effect<A, SqlError>) => Effect.Effect<A, DatabaseError>
/** The same in the caller's transaction, where there is one. */
type Writing = <A>(
  operation: string,
  effect: Effect.Effect<A, SqlError | InvalidRequest>
) => Effect.Effect<A, InvalidRequest | ForeignTransaction | DatabaseError>

/** Warns of payouts that no worker will send, as where the name of the account is misspelt: it looks once a minute. */
export const makeServedWarning = ({ accounts }: Store, account: string): Effect.Effect<void, SqlError> => {
  let isServed = false
  let readAt = Number.NEGATIVE_INFINITY
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (isServed || now - readAt < 60_000) return
    readAt = now
    isServed = (yield* accounts.get).servedAt !== null
    if (isServed) return
    yield* log("Warn", `Payouts are submitted to the account ${account}, which no worker ever served.`, {
      "payments.account": account
    })
  })
}

export const accountOperations = (store: Store, guard: Guard, writing: Writing) => ({
  setPaused: (paused: boolean, options: StepOptions = {}) =>
    writing(
      "setPaused",
      Effect.flatMap(Effect.all([checkedPerson(options), DateTime.now]), ([person, at]) =>
        store.accounts.setPaused(paused, DateTime.toEpochMillis(at), writePause({ at, paused, ...person }))
      )
    ),
  isPaused: mapDatabaseError("isPaused")(Effect.map(store.accounts.get, ({ paused }) => paused)),
  changeSender: (fingerprint: string, options: StepOptions = {}) =>
    writing(
      "changeSender",
      Effect.gen(function* () {
        const person = yield* checkedPerson(options)
        const at = yield* DateTime.now
        yield* checkedFingerprint(fingerprint)
        const other = yield* store.accounts.otherOf(fingerprint)
        if (other !== undefined) return yield* wrongFingerprint(`is that of the account ${other}`)
        yield* store.changeSender(fingerprint, writeSender({ at, fingerprint, ...person }))
      })
    ),
  account: guard("account")(
    Effect.map(Effect.all([store.accounts.get, store.history(accountKey)]), ([row, senders]) => accountOf(row, senders))
  )
})
