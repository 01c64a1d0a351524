/**
 * Sends the payouts of the queue. The order for one payout: wait until it may be sent, or park it; open its request; commit the mark
 * that a request may have left, by a statement that asks the same; send; store the answer. A process may end between any two steps, and another process then
 * starts from the first step.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"
import { inSpan } from "../../../internal/spans.ts"
import { clientOfLayer } from "../../../client/PaymentsClient.ts"
import { paymentsTag } from "../../../client/PaymentsTag.ts"
import type { WithdrawalLookup } from "../../../client/WithdrawalLookup.ts"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { DueRow } from "../../../durable/Due.ts"
import { delayInterrupt, makeWarn, orTryAgain, repeatedly, TryAgain } from "../../../durable/Work.ts"
import { workRows } from "../../../durable/WorkRows.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { Seal } from "../../Seal.ts"
import { logFields } from "../machine.ts"
import type { ReadAccount } from "./account.ts"
import { makeConfirm } from "./confirm.ts"
import { type Core, linksOf } from "./core.ts"
import { type Later, makeGate, type Permit } from "./gate.ts"
import { makeSeen } from "./checkDatabase.ts"
import { payoutKey, placeOf, readRequest } from "./request.ts"
import type { Row } from "./row.ts"
import { changedMeanwhile } from "./marking.ts"
import { makeSend } from "./send.ts"
import { refuseDocsKey, serve } from "./sender.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { logParked } from "./payoutLog.ts"
import { payoutFields, keyFields, spanFields } from "./signals.ts"

/** The name of the worker in the log. */
const name = "Payouts"

/** What a seal that did not open a request is told as: the name of its defect, and never its message. */
const unopened = (defect: unknown) => {
  const cause = Predicate.isError(defect) ? defect.name : "Defect"
  const text = `The stored request of a payout cannot be opened now (${cause}), so it is not sent. Give seal the key that sealed it, as an earlier one`
  return { level: "Error", of: "Waits", cause, text } as const
}

const sealTimeout = () => Object.assign(new Error("The seal took too long"), { name: "SealTimeout" })

const inWindow = { level: "Warn", of: "Waits", cause: "Window" } as const

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
    Effect.catchTag(mapDatabaseError("send")(effect), "DatabaseError", (error) =>
      Effect.andThen(
        error.isRetryable ? Effect.void : warn(Cause.fail(error)),
        Effect.fail(new TryAgain({ reason: error.reason }))
      )
    )
  yield* refuseDocsKey(seal, client)
  yield* serve(store, settings, client, handsOut)
  const gate = yield* makeGate(core, settings)
  yield* gate.current

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

  const send = makeSend({ client, core, settings, gate, payments, park, seal })

  /** It says what it waits for, once; then it is tried again by its own back-off. */
  const waitToOpen = Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    if (row.state !== "accepted" || row.because === "Unreadable") return
    const at = { account, horizon: settings.horizon, now: yield* Clock.currentTimeMillis }
    yield* core.step(row, { _tag: "Waits", at, because: "Unreadable" })
  })

  /** Returns why the payout has to be tried again, if it has to. */
  const openAndSend = Effect.fnUntraced(function* (row: Row, permit: Permit) {
    const request = yield* Effect.tapErrorTag(open(row), "TryAgain", () => waitToOpen(row, permit.account))
    const isOfRow = Option.getOrUndefined(payoutKey(row.account, row.reference)) === row.idempotencyKey
    return request !== undefined && isOfRow
      ? yield* delayInterrupt(settings.drain)(send(row, request, permit))
      : yield* Effect.as(park(row, "Unreadable"), undefined)
  })

  /** It waits in the table until its time, or until the window of its account opens. */
  const putBack = Effect.fnUntraced(function* (row: Row, { account, because, dueIn }: Later) {
    const at = { account, horizon: settings.horizon, now: yield* Clock.currentTimeMillis }
    const waits = yield* core.step(row, { _tag: "Waits", at, because }, { dueIn })
    if (typeof waits !== "object") return yield* changedMeanwhile()
    if (because === "Window")
      yield* core.logPayout(row, { ...inWindow, text: "A payout waits for the window of its account." })
  })

  const sendIfAllowed = Effect.fnUntraced(
    function* (row: Row) {
      const permit = yield* gate.untilAllowed(row)
      if (Predicate.isString(permit)) return yield* park(row, permit)
      if ("dueIn" in permit) return yield* putBack(row, permit)
      const failure = yield* Effect.ensuring(openAndSend(row, permit), Effect.ignore(gate.releaseProbe(permit, row)))
      if (failure !== undefined) return yield* new TryAgain({ reason: failure })
    },
    (effect, row) => Effect.annotateLogs(orTryAgain(name, payoutFields(row))(retrying(effect)), logFields(row))
  )

  const handle = (taken: DueRow) =>
    Effect.gen(function* () {
      const row = yield* store.readTaken(taken)
      yield* inSpan(
        "PayoutQueue.send",
        { kind: "internal", attributes: spanFields(row), root: true, links: linksOf(row) },
        () => sendIfAllowed(row)
      )
    }).pipe(orTryAgain(name, keyFields(taken.key)))

  const { concurrency, lease, poll } = settings
  const { due, followWrites } = store
  const { data, record } = settings.forget
  /** Deletes the data of payouts that ended long ago, and their records. */
  const forgetOld = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.andThen(store.forget(now - data), record === undefined ? Effect.void : store.forgetRecord(now - record))
  )
  const forget = repeatedly("Forgetting payouts", "1 hour", forgetOld)
  const run = workRows({
    name,
    due,
    concurrency,
    lease,
    poll,
    isDue: core.isDue,
    followWrites,
    room: gate.room,
    handle
  })
  const confirm =
    settings.confirm &&
    lookup &&
    (yield* makeConfirm(core, settings, settings.confirm, { client, gate, lookup, open, retrying, seal }))
  return { run, forget, confirm: confirm?.run, seen: makeSeen(store, settings, gate.current) }
})
