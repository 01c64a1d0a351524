/**
 * The operations of an account: its pause, its sender and its limits.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import { accountOf, checkedFingerprint, checkedPerson, invalid, writeChange, writePause } from "./entries.ts"
import { changeLimits } from "./limits.ts"
import { guard, operationsOf } from "./operation.ts"
import type { Core } from "./core.ts"
import { accountKey } from "./store.ts"
import type { Limits } from "../../PayoutQueueOptions.ts"

export const makeAccountClient = (core: Core) => {
  const { store } = core
  const { writing } = operationsOf(store)
  return {
    setPaused: (paused: boolean, options: StepOptions = {}) =>
      writing(
        "setPaused",
        Effect.flatMap(Effect.all([checkedPerson(options), DateTime.now]), ([person, at]) =>
          Effect.andThen(
            store.accounts.setPaused(paused, writePause({ at, paused, ...person })),
            paused ? store.afterCommit(core.accountChanged) : core.releaseAccount
          )
        )
      ),
    isPaused: mapDatabaseError("isPaused")(Effect.map(store.accounts.get, ({ paused }) => paused)),
    changeSender: (fingerprint: string, options: StepOptions = {}) =>
      writing(
        "changeSender",
        Effect.gen(function* () {
          const person = yield* checkedPerson(options)
          yield* checkedFingerprint(fingerprint)
          const other = yield* store.accounts.otherOf(fingerprint)
          if (other !== undefined) return yield* invalid("fingerprint", `is that of the account ${other}`)
          const entry = writeChange({ fingerprint, ...person, at: yield* DateTime.now })
          yield* store.changeAccount(store.accounts.changeSender(fingerprint), entry)
        })
      ),
    setLimits: (limits: Limits, options: StepOptions = {}) =>
      writing(
        "setLimits",
        Effect.gen(function* () {
          yield* changeLimits(store, limits, yield* checkedPerson(options))
          yield* core.releaseAccount
        })
      ),
    account: guard("account")(
      Effect.map(Effect.all([store.accounts.get, store.history(accountKey)]), ([row, changes]) =>
        accountOf(row, changes)
      )
    )
  }
}
