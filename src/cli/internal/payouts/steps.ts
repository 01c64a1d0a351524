/** Runs the steps of an operator. It shows the payout and the effect of the step before the person confirms it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { inBoth } from "../amount.ts"
import { doubtful } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { whyOf, type Words } from "../flags.ts"
import { writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { ageOf, plain } from "../text.ts"
import { dataOf, reasonOf, textOf, textOfPause } from "./describe.ts"
import { find, layerQueue, notFound, pauseOf } from "./queue.ts"

/** A step: its effect, in words for the person who confirms it, and the call. */
interface Step {
  readonly name: string
  readonly effectOf: (status: PayoutStatus) => string
  readonly take: PayoutQueue["Service"]["park"]
}

interface Input extends Words {
  readonly json: boolean
  readonly reference: string
  readonly yes: boolean
}

const runStep = Effect.fnUntraced(function* (
  makeStep: (queue: PayoutQueue["Service"]) => Step,
  { by, json, note, reference, yes }: Input
) {
  const step = makeStep(yield* PayoutQueue)
  const before = yield* find(reference)
  const began = yield* Clock.currentTimeMillis
  const why = reasonOf(before)
  const name = plain(reference)
  yield* perform({
    plan: [
      `Payout ${name}: ${inBoth(before.amount)}, ${before.state}${why === "" ? "" : ` (${why})`}, submitted ${ageOf(before.submittedAt, began)} ago`,
      `${step.name}: ${step.effectOf(before)}`
    ].join("\n"),
    confirm: { noun: step.name, question: `${step.name} ${name}?`, unconfirmed: "Nothing was changed.", yes },
    run: step.take(reference, whyOf({ by, note })).pipe(
      Effect.catchTags({
        PayoutNotFound: notFound,
        PayoutStateConflict: ({ message }) =>
          failed(message.replace("notExecuted: true", "--not-executed"), codes.Rejected),
        DatabaseError: (error) => doubtful(error, `payouts show ${name}`),
        // The command opens no transaction.
        ForeignTransaction: Effect.die
      })
    ),
    summary: ({ state }) => `Payout ${name} is ${state}.`,
    print: (status) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => writeResult(json, dataOf(status), textOf(status, now)))
  })
}, Effect.provide(layerQueue))

export const retry = (input: Input) =>
  runStep(
    (queue) => ({
      name: "retry",
      effectOf: ({ state }) =>
        state === "refused"
          ? "MONEY WILL MOVE: it is sent again, under the same key."
          : "It is sent at once, under the same key, and not at the time of its next attempt.",
      take: queue.retry
    }),
    input
  )

export const park = (input: Input) =>
  runStep(
    (queue) => ({
      name: "park",
      effectOf: () =>
        "No worker sends it any more, until it is resumed. A request that is under way is not called back.",
      take: queue.park
    }),
    input
  )

export const resume = ({ notExecuted, ...input }: Input & { readonly notExecuted: boolean }) =>
  runStep(
    (queue) => ({
      name: "resume",
      effectOf: () =>
        notExecuted
          ? "MONEY WILL MOVE: you say that the service executed no request of it, and it is sent again. If that is wrong, it is paid twice."
          : "MONEY MAY MOVE: a worker sends it again, under the same key. It parks it again as PastHorizon where a request left longer ago than its horizon: then look into the panel.",
      take: (reference, why) => queue.resume(reference, { ...why, notExecuted })
    }),
    input
  )

export const settle = ({ as, ...input }: Input & { readonly as: "settled" | "failed" }) =>
  runStep(
    (queue) => ({
      name: "settle",
      effectOf: (status) => {
        const recorded =
          "withdrawalId" in status && as === "failed"
            ? ` The service recorded it as withdrawal ${status.withdrawalId}: look into the panel first.`
            : ""
        return `You say that it ${as === "settled" ? "was paid" : "was not paid"}. Nothing is sent.${recorded}`
      },
      take: (reference, why) => queue.settle(reference, { ...why, as })
    }),
    input
  )

const running = "The workers are not paused."

const runPause = Effect.fnUntraced(function* (paused: boolean, { by, json, note, yes }: Omit<Input, "reference">) {
  const queue = yield* PayoutQueue
  const was = yield* pauseOf(queue)
  const name = paused ? "pause" : "continue"
  const now = paused ? "The workers are paused." : running
  yield* perform({
    plan: [
      was === undefined ? running : textOfPause(was, yield* Clock.currentTimeMillis),
      paused
        ? "pause: all workers stop within a second, until `continue`. What is under way is finished."
        : "continue: MONEY WILL MOVE: all workers send what waits."
    ].join("\n"),
    confirm: { noun: name, question: `${name}?`, unconfirmed: "Nothing was changed.", yes },
    run: queue.setPaused(paused, whyOf({ by, note })).pipe(
      Effect.catchTags({
        DatabaseError: (error) => doubtful(error, "payouts list"),
        ForeignTransaction: Effect.die
      })
    ),
    summary: () => now,
    print: () => writeResult(json, { paused }, now)
  })
}, Effect.provide(layerQueue))

type Pausing = Omit<Input, "reference">
export const pause = (input: Pausing) => runPause(true, input)
export const goOn = (input: Pausing) => runPause(false, input)
