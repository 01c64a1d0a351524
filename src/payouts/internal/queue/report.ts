/**
 * What an answer says of all payouts of its account: its time, and how many payouts in a row an answer ended. Ten of them pause the
 * account, since a rule may read the answers wrongly: a person looks.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { log } from "../../../internal/spans.ts"
import { reasonOf } from "../machine.ts"
import type { Said } from "./accountTime.ts"
import type { Core } from "./core.ts"
import { writePause } from "./entries.ts"
import type { Row } from "./row.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { payoutFields } from "./signals.ts"
import { endsToHold, type Permit, type Take } from "./take.ts"

export type Report = ReturnType<typeof makeReport>

export const makeReport = (
  { accountChanged, logPayout, store: { accounts } }: Core,
  take: Take,
  { account }: Settings
) => {
  const fields = { "payments.account": account }
  /** Whether this process has counted an end since the service took a payout. */
  let hasCounted = false

  /** Pauses the account, and says why in its history. */
  const hold = Effect.fnUntraced(function* (note: string) {
    const at = yield* DateTime.now
    yield* Effect.andThen(accounts.setPaused(true, writePause({ at, paused: true, note })), accountChanged)
  })

  const countEnds = Effect.fnUntraced(function* (
    permit: Permit,
    { state }: Row,
    error: RequestWithdrawalError | undefined
  ) {
    if (error === undefined) {
      if (!hasCounted && permit.account.endsInRow === 0) return
      hasCounted = false
      return yield* Effect.andThen(accounts.endRow, take.forget)
    }
    if (state !== "refused" && state !== "failed") return
    hasCounted = true
    const count = yield* Effect.tap(accounts.countEnd, take.forget)
    if (count < endsToHold || (yield* take.current).paused) return
    const text = `${count} payouts in a row were refused or failed, and the service took none between them.`
    yield* hold(text)
    yield* log(
      "Error",
      `The payouts of the account ${account} are paused: ${text} See why in effect-pix payouts list, and continue when that is right.`,
      fields
    )
  })

  /** Stores what an answer says about all payouts of the account. */
  const report = Effect.fnUntraced(function* (
    permit: Permit,
    row: Row,
    said: Said,
    error: RequestWithdrawalError | undefined
  ) {
    yield* countEnds(permit, row, error)
    const changed = yield* take.retime(permit, said)
    if (changed === undefined) return
    const { after, before } = changed
    if (before.heldBecause === null && after.heldBecause !== null) {
      const words = error === undefined ? undefined : reasonOf(error)
      const what =
        after.heldBecause === "Outage" ? "The service leaves payouts in doubt" : "The service refuses the payouts"
      const text = `${what} of the account ${account}: ${after.heldBecause}.${words === undefined ? "" : ` The service said: "${words}".`} One payout at a time is tried until it takes one.`
      yield* logPayout(row, { level: "Warn", of: "Waits", cause: after.heldBecause, text })
    }
    if (before.heldBecause !== null && after.heldBecause === null)
      yield* log("Info", `The service takes the requests of the account ${account} again.`, {
        ...payoutFields(row),
        ...fields
      })
  })

  return { hold, report }
}
