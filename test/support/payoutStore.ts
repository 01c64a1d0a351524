/** What reads and writes the rows of payouts: for the statements of the queue that none of its operations shows alone. */
import { Effect } from "effect"
import { sentenceOf } from "../../src/cli/internal/operator/describe.ts"
import { database } from "../../src/durable/Database.ts"
import { makeCore } from "../../src/payouts/internal/core.ts"
import { makeStore } from "../../src/payouts/internal/store/store.ts"
import { settingsOf } from "../../src/payouts/PayoutQueueOptions.ts"

/** The store of an account in the ambient database. */
export const storeOf = (account = "default") =>
  Effect.map(database, (found) => makeStore(found, { account, lease: 30_000 }))

/** The same with the steps of its rows. */
export const coreOf = Effect.gen(function* () {
  const store = yield* storeOf()
  return yield* makeCore(store, yield* settingsOf({}))
})

type Store = Effect.Success<ReturnType<typeof storeOf>>

/** A row as it is stored. */
export type StoredRow = NonNullable<Effect.Success<ReturnType<Store["get"]>>>

/** A status in the words of the command, in Portuguese. */
export const wordsOf = (status: Parameters<typeof sentenceOf>[0]): string => sentenceOf(status).pt
