/**
 * Works through the items of a run: judges them in order, sends those that may be sent, and emits each step as an event.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Payments } from "../../client/Payments.ts"
import { NotAfter } from "../../internal/notAfter.ts"
import type { PayoutEvent } from "../Payout.ts"
import { heldBack, makePlan, type NotSent, notSent, type Start } from "./plan.ts"
import type { Items, Settings } from "./settings.ts"
import { afterAnswer, namesOf, unseen } from "./machine.ts"

/** Emits an event to the reader of the run, and waits until the reader has handled it. */
export type Emit = (event: PayoutEvent) => Effect.Effect<void>

/** Works through all items. Fails with the error of their source, after every payout that was started has its result. */
export const drive = Effect.fnUntraced(function* <E, R>(items: Items<E, R>, settings: Settings, emit: Emit) {
  const { getBalance, requestWithdrawal } = yield* Payments
  const { concurrency, isStop } = settings
  const clock = yield* Clock.Clock
  const now = () => DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
  const plan = makePlan(settings)
  // A list is read to its end before anything is sent, so nothing was sent where reading it throws.
  const input = Stream.isStream(items) ? items : [...items]
  let judge = plan.judge()
  let stopped: NotSent | undefined
  if (settings.checkBalance !== undefined) {
    const balance = yield* Effect.result(getBalance(settings.checkBalance))
    if (Result.isFailure(balance)) {
      stopped = { reason: "BalanceUnknown", error: balance.failure }
    } else {
      const { accBalance } = balance.success
      judge = Array.isArray(input) ? plan.judgeWhole(input, accBalance, now()) : plan.judge(accBalance)
    }
  }

  /** The event in place of sending, where the item must not be sent any more. */
  const withheld = (start: Start, startedAt?: DateTime.Utc) =>
    stopped === undefined
      ? heldBack(start, settings, now())
      : notSent(start, { ...stopped, ...(startedAt && { startedAt }) }, now())

  const send = Effect.fnUntraced(function* ({ asked, doubt, keyed, request }: Start, startedAt: DateTime.Utc) {
    const { idempotencyKey } = keyed
    const since = doubt === undefined ? startedAt : doubt.since
    const exit = yield* requestWithdrawal(
      request,
      doubt === undefined ? { idempotencyKey } : { idempotencyKey, earlier: "Unknown" }
    ).pipe(
      Effect.provideService(NotAfter, DateTime.toEpochMillis(since ?? startedAt) + settings.keyHorizon),
      Effect.annotateLogs(namesOf(keyed)),
      Effect.exit
    )
    // A call that died may have been sent.
    const answer = Exit.isSuccess(exit)
      ? Result.succeed(exit.value)
      : Result.fail(Option.getOrElse(Cause.findErrorOption(exit.cause), () => unseen(idempotencyKey, "Unrecognised")))
    const known = afterAnswer(answer, idempotencyKey, doubt !== undefined)
    const at = now()
    if (known._tag === "Recorded") {
      return { _tag: "Done", ...asked, at, withdrawal: known.withdrawal } satisfies PayoutEvent
    }
    // The refusal of a payout in doubt becomes an `OutcomeUnknown`: the run stops at either of the two.
    const failure = Option.getOrElse(Result.getFailure(answer), () => known.error)
    const stop = [failure, known.error].find((error) => isStop(error))
    if (stop !== undefined) stopped ??= { reason: "Stopped", error: stop }
    return known._tag === "Refused"
      ? ({ _tag: "Refused", ...keyed, at, startedAt, error: known.error } satisfies PayoutEvent)
      : ({ _tag: "Unknown", ...asked, at, ...(since && { since }), error: known.error } satisfies PayoutEvent)
  })

  const pay = Effect.fnUntraced(function* (start: Start) {
    const before = withheld(start)
    if (before !== undefined) return yield* emit(before)
    const at = now()
    const { asked, doubt } = start
    yield* emit({ _tag: "Started", ...asked, at, ...(doubt?.since && { since: doubt.since }) })
    // While it waited for its reader, another payout may have stopped the run.
    yield* emit(withheld(start, at) ?? (yield* send(start, at)))
  })

  yield* Stream.runDrain(
    Stream.mapEffect(
      Array.isArray(input) ? Stream.fromArray(input) : input,
      (item, index) => {
        const planned = judge(item, index, now())
        return planned._tag === "Start" ? pay(planned) : emit(planned)
      },
      { concurrency, unordered: true }
    )
  )
})
