/**
 * A worker of the queue: takes the payouts that may be sent (`take.ts`) and sends each (`send.ts`), looks up those that were recorded, and
 * deletes old data.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"
import { reasonOf, refusedBy } from "../../../internal/databaseFailure.ts"
import { inSpan } from "../../../internal/spans.ts"
import { clientOfLayer } from "../../../client/PaymentsClient.ts"
import { paymentsTag } from "../../../client/PaymentsTag.ts"
import type { WithdrawalLookup } from "../../../client/WithdrawalLookup.ts"
import { report } from "../../../durable/Failures.ts"
import { makeWarn, orTryAgain, repeatedly, TryAgain } from "../../../durable/Work.ts"
import { workRows } from "../../../durable/WorkRows.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { Seal } from "../../Seal.ts"
import { logFields } from "../machine/answers.ts"
import type { ReadAccount } from "../machine/account.ts"
import { makeConfirm } from "./confirm.ts"
import type { Core } from "../core.ts"
import { makeSeen } from "./checkDatabase.ts"
import { placeOf, readRequest } from "../store/request.ts"
import type { Row } from "../machine/row.ts"
import { makeReport } from "./record.ts"
import { changedMeanwhile } from "./mark.ts"
import { makeSend } from "./send.ts"
import { refuseDocsKey, serve } from "./sender.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { logParked } from "../signals/log.ts"
import { payoutFields, keyFields, spanFields } from "../signals/signals.ts"
import { makeTake, type Permit, type TakenRow } from "./take.ts"

/** The name of the worker in the log. */
const name = "Payouts"

/** What a seal that did not open a request is told as: the name of its defect, and never its message. */
const unopened = (defect: unknown) => {
  const cause = Predicate.isError(defect) ? defect.name : "Defect"
  const text = `The stored request of a payout cannot be opened now (${cause}), so it is not sent. Give seal the key that sealed it, as an earlier one`
  return { level: "Error", of: "Waits", cause, text } as const
}

const sealTimeout = () => Object.assign(new Error("The seal took too long"), { name: "SealTimeout" })

/** What a worker is made of beside its rows. */
export interface WorkerParts {
  readonly seal: Seal
  /** Where payouts are looked up. */
  readonly lookup: WithdrawalLookup["Service"] | undefined
  /** Whether states are handed out to `onState`. */
  readonly handsOut: boolean
}

export const makeWorker = Effect.fnUntraced(function* (
  core: Core,
  settings: Settings,
  { handsOut, lookup, seal }: WorkerParts
) {
  const { store } = core
  const payments = yield* paymentsTag
  const client = yield* clientOfLayer
  const warn = makeWarn(`The database refuses a payout of the account ${settings.account}, which is tried again`)
  /** Tries again later where the database fails. An outage has lines of its own; a row that is refused has none but this. */
  const retrying = <A, R>(effect: Effect.Effect<A, SqlError | TryAgain, R>) =>
    Effect.catchTag(effect, "SqlError", (error) =>
      Effect.andThen(
        error.isRetryable ? report(error) : warn(Cause.fail(error), { "database.refused_by": refusedBy(error) }),
        Effect.fail(new TryAgain({ reason: reasonOf(error) }))
      )
    )
  yield* refuseDocsKey(seal, client)
  yield* serve(store, settings, client, handsOut)

  const park = Effect.fnUntraced(function* (row: Row, because: Because<"parked">) {
    const parked = yield* core.step(row, { _tag: "Parked", because })
    if (parked === undefined) return yield* changedMeanwhile()
    yield* Effect.annotateCurrentSpan(payoutFields(row))
    yield* logParked(core.logPayout, row, because)
  })

  /** The stored request, if it is that of this payout. What a seal cannot open now waits, and is told. */
  const open = (row: Row) =>
    row.request === null
      ? Effect.undefined
      : seal.open(row.request, placeOf(row, "request")).pipe(
          Effect.map((text) => Option.filter(readRequest(text), ({ amount }) => amount === row.amount)),
          Effect.map(Option.getOrUndefined),
          Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.die(sealTimeout()) }),
          Effect.catchDefect((defect) =>
            Effect.andThen(core.logPayout(row, unopened(defect)), new TryAgain({ reason: "Unreadable" }))
          )
        )

  /** It says what it waits for, once; then it is tried again by its own back-off. */
  const waitFor = Effect.fnUntraced(function* (row: Row, account: ReadAccount, because: "Unreadable" | "Database") {
    if (row.state !== "accepted" || row.because === because) return
    const at = { account, horizon: settings.horizon, now: yield* Clock.currentTimeMillis }
    yield* core.step(row, { _tag: "Waits", at, because })
  })
  const openOrWait = (row: Row, account: ReadAccount) =>
    Effect.tapErrorTag(open(row), "TryAgain", () => waitFor(row, account, "Unreadable"))

  const take = yield* makeTake(core, settings, client)
  yield* take.current
  const send = makeSend({
    client,
    core,
    open: openOrWait,
    park,
    payments,
    report: makeReport(core, take, settings),
    seal,
    settings,
    take
  })

  const sendOrTryAgain = Effect.fnUntraced(
    function* (row: Row, permit: Permit) {
      // Where the row cannot have its mark, it may have why.
      const wait = ({ isRetryable }: SqlError) =>
        isRetryable ? Effect.void : Effect.ignore(waitFor(row, permit.account, "Database"))
      const failure = yield* Effect.tapErrorTag(send(row, permit), "SqlError", wait)
      if (failure !== undefined) return yield* new TryAgain({ reason: failure })
    },
    (effect, row) => Effect.annotateLogs(orTryAgain(name, payoutFields(row))(retrying(effect)), logFields(row))
  )

  const handle = (taken: TakenRow) =>
    Effect.gen(function* () {
      const row = yield* store.readTaken(taken)
      const options = { kind: "internal", attributes: spanFields(row), root: true } as const
      yield* inSpan("PayoutQueue.send", options, () => sendOrTryAgain(row, taken.permit))
    }).pipe(orTryAgain(name, keyFields(taken.key)))

  const { concurrency, lease, poll } = settings
  const { followWrites } = store
  /** Deletes the data of payouts that ended long ago. */
  const forgetOld = Effect.flatMap(Clock.currentTimeMillis, (now) => store.forget(now - settings.forget.data))
  const forget = repeatedly("Forgetting payouts", "1 hour", forgetOld)
  const run = workRows({
    name,
    due: take.rows,
    concurrency,
    most: take.most,
    lease,
    poll,
    isDue: core.isDue,
    followWrites,
    handle
  })
  const confirm =
    settings.confirm &&
    lookup &&
    makeConfirm(core, settings, settings.confirm, { client, take, lookup, open, retrying, seal })
  return { run, forget, confirm: confirm?.run, seen: makeSeen(store, settings, take.current) }
})
