/**
 * Hands each state of a payout out to `onState`: once, in the order of its entries, in a transaction with what the user's code
 * writes. It is called again where it fails, until it succeeds or is a dead letter, which holds the later states of its payout.
 */
import type * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Database } from "../../../durable/Database.ts"
import {
  afterFailure,
  causeType,
  defaultTimeout,
  delayOf,
  handleRow,
  makeRun,
  warnFailed,
  withUserCode
} from "../../../durable/HandOut.ts"
import { TryAgain } from "../../../durable/Work.ts"
import { workRows } from "../../../durable/WorkRows.ts"
import type { Lines } from "../../../internal/spans.ts"
import type { OnState } from "../../OnState.ts"
import { logFields } from "../machine/answers.ts"
import type { Core } from "../core.ts"
import { readStatus } from "../machine/status.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { countHandOut } from "../signals/signals.ts"
import type { TakenState } from "../store/states.ts"

/** The user's code failed. `failure` is its own error, and is not named `cause`, because spans export the cause of an error. */
class HandlerFailed extends Data.TaggedError("HandlerFailed")<{ readonly failure: Cause.Cause<unknown> }> {}

/** How many states are handed out at a time. Each has a connection, which the sends need too; SQLite has one. */
const atATime = { sqlite: 1, pg: 4 }
/** How many are held: one statement takes them. */
const most = 64

export const makeHandOut = <R>(
  core: Core,
  { account, lease, poll }: Settings,
  database: Database,
  onState: OnState<R>,
  context: Context.Context<R>
) => {
  const { followWrites, states } = core.store
  const timeout = Duration.toMillis(defaultTimeout(database))
  const run = makeRun(context, timeout)
  const lines: Lines = new Map()

  const handOut = Effect.fnUntraced(function* (taken: TakenState) {
    const read = readStatus(taken.status)
    // It is given back, for a process that can read it.
    if (Option.isNone(read)) return yield* new TryAgain({ reason: "Unreadable" })
    const status = read.value
    const id = Number(taken.key)
    yield* Effect.annotateCurrentSpan(logFields(status))
    const call = Effect.gen(function* () {
      const exit = yield* run(onState, status, { id })
      const errorType = Exit.isFailure(exit) ? causeType(exit.cause) : undefined
      yield* countHandOut(account, exit._tag, errorType)
      if (Exit.isFailure(exit)) return yield* new HandlerFailed({ failure: exit.cause })
    })
    const handedOut = withUserCode(database, {
      begin: states.remove(taken, timeout),
      work: call,
      failed: (failure) => new HandlerFailed({ failure })
    })
    const failed = yield* handedOut.pipe(
      Effect.as(undefined),
      Effect.catchTag("HandlerFailed", (failed) => Effect.succeed(failed))
    )
    if (failed === undefined) {
      yield* Effect.annotateCurrentSpan("payouts.outcome", "Finished")
      // The next state of the payout may be due.
      return yield* core.isStateDue.open
    }
    const attempt = Number(taken.failures) + 1
    const millis = yield* delayOf(afterFailure, attempt)
    const isDead = millis === undefined
    const errorType = causeType(failed.failure)
    const outcome = { "payouts.outcome": isDead ? "Dead" : "Waits", "error.type": errorType }
    yield* Effect.annotateCurrentSpan(outcome)
    if (isDead) yield* countHandOut(account, "Dead", errorType)
    yield* warnFailed(
      lines,
      { name: "PayoutQueue", handler: "onState", attempt, isDead, letters: "PayoutQueue.deadLetters" },
      {
        ...logFields(status),
        "payments.account": account,
        "payouts.entry": id,
        "payouts.attempts": attempt,
        ...outcome
      }
    )
    yield* states.fail(taken, attempt, millis)
    // Its end is stored already: it only makes the span fail.
    return yield* failed
  })

  return workRows({
    name: "PayoutQueue",
    due: states.due,
    concurrency: most,
    atATime: atATime[database.dialect],
    lease,
    poll,
    isDue: core.isStateDue,
    followWrites,
    handle: (row) =>
      handleRow(
        "PayoutQueue",
        "PayoutQueue.handOut",
        { "payments.account": account, "payouts.entry": Number(row.key) },
        () => handOut(row)
      )
  })
}
