/** Runs the steps of an operator. It shows the payouts and the effect of the step before the person confirms it. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { InvalidRequest } from "../../../contract/PaymentsError.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { ParkedBecause, PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { inBoth } from "../amount.ts"
import { doubtful } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"
import { whyOf, type Words } from "../flags.ts"
import { note, write, writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { ageOf, jsonLine, plain } from "../text.ts"
import { dataOf, reasonOf, textOf, waitsForSecond } from "./describe.ts"
import { tableHead, tableLine } from "./list.ts"
import { layerQueue, notFound, pauseOf, readAccount } from "./queue.ts"
import { selected, type Selection } from "./selection.ts"
import { sumOf, textOfSum } from "./sum.ts"

/** A step: its effect, in words for the person who confirms it, and the call. */
interface Step {
  readonly name: string
  /** The effect on a payout. `isPaused`: the workers are paused. */
  readonly effectOf: (status: PayoutStatus, isPaused: boolean) => string
  readonly take: PayoutQueue["Service"]["park"]
}

interface Input extends Words {
  readonly json: boolean
  readonly references: ReadonlyArray<string>
  readonly yes: boolean
}

const lineOf = (status: PayoutStatus, now: number) => {
  const why = reasonOf(status)
  return `Payout ${plain(status.reference)}: ${inBoth(status.amount)}, ${status.state}${why === "" ? "" : ` (${why})`}, submitted ${ageOf(status.submittedAt, now)} ago`
}

/** The payouts of which the step was taken, and the failure of each of the others. */
interface Taken {
  readonly done: ReadonlyArray<PayoutStatus>
  readonly failures: ReadonlyArray<Failed>
}

/** Takes the step for one payout after the other. What the database does not answer ends it, and names the rest. */
const takeAll = Effect.fnUntraced(function* (
  { name, take }: Step,
  statuses: ReadonlyArray<PayoutStatus>,
  words: Words
): Effect.fn.Return<Taken, InvalidRequest> {
  const done: Array<PayoutStatus> = []
  const failures: Array<Failed> = []
  for (const [index, { reference }] of statuses.entries()) {
    const taken = yield* take(reference, whyOf(words)).pipe(
      Effect.catchTags({
        PayoutNotFound: notFound,
        PayoutStateConflict: ({ message }) =>
          failed(message.replace("notExecuted: true", "--not-executed"), codes.Rejected),
        DatabaseError: (error) => doubtful(error, `payouts show ${plain(reference)}`),
        // The command opens no transaction.
        ForeignTransaction: Effect.die
      }),
      Effect.result
    )
    if (Result.isSuccess(taken)) {
      done.push(taken.success)
      continue
    }
    if (taken.failure._tag !== "Failed") return yield* taken.failure
    failures.push(taken.failure)
    if (taken.failure.code === codes.Rejected) continue
    const rest = statuses.slice(index + 1).map((one) => plain(one.reference))
    if (rest.length > 0) failures.push(failed(`${name} was not tried for: ${rest.join(", ")}`, codes.Rejected))
    break
  }
  return { done, failures }
})

const runStep = Effect.fnUntraced(function* (
  makeStep: (queue: PayoutQueue["Service"]) => Step,
  { because, by, json, note: why, references, submittedBefore, yes }: Input & Selection
) {
  const queue = yield* PayoutQueue
  const step = makeStep(queue)
  const statuses = yield* selected({
    references,
    ...(because && { because }),
    ...(submittedBefore && { submittedBefore })
  })
  const [first] = statuses
  if (first === undefined) return yield* note(`${step.name}: there is no such payout. Nothing was changed.`)
  const began = yield* Clock.currentTimeMillis
  const isPaused = pauseOf(yield* readAccount) !== undefined
  const effects = Object.entries(Arr.groupBy(statuses, (status) => step.effectOf(status, isPaused)))
  const isOne = statuses.length === 1
  const { failures } = yield* perform({
    plan: [
      ...statuses.map((status) => lineOf(status, began)),
      ...effects.map(([effect, some]) => `${step.name}: ${textOfSum(sumOf(some))}: ${effect}`)
    ].join("\n"),
    confirm: {
      noun: step.name,
      question: `${step.name} ${isOne ? plain(first.reference) : textOfSum(sumOf(statuses))}?`,
      unconfirmed: "Nothing was changed.",
      yes
    },
    run: takeAll(step, statuses, { by, note: why }),
    summary: ({ done }) => done.map(({ reference, state }) => `Payout ${plain(reference)} is ${state}.`).join("\n"),
    print: Effect.fnUntraced(function* ({ done: [one, ...others] }) {
      if (one === undefined) return
      const asked = [one, ...others].filter((status) => status.asked !== undefined)
      if (asked.length > 0) yield* note(`${textOfSum(sumOf(asked))}: ${waitsForSecond(step.name)}`)
      const now = yield* Clock.currentTimeMillis
      if (isOne) return yield* writeResult(json, dataOf(one), textOf(one, now))
      const lines = [one, ...others].map((status) => (json ? jsonLine(dataOf(status)) : tableLine(status, now)))
      yield* write(`${json ? "" : tableHead}${lines.join("")}`)
    })
  })
  const [worst] = failures.toSorted((one, other) => other.code - one.code)
  if (worst !== undefined) return yield* failed(failures.map(({ message }) => message).join("\n"), worst.code)
}, Effect.provide(layerQueue))

const untilContinue = " The workers are paused: nothing is sent until `effect-pix payouts continue`."

export const forget = (input: Input) =>
  runStep(
    (queue) => ({
      name: "forget",
      effectOf: ({ state }) =>
        `Its PIX key, description, metadata and payee are deleted for ever.${state === "refused" ? " It cannot be sent any more." : ""} Its reference, amount and history stay.`,
      take: queue.forget
    }),
    input
  )

export const retry = (input: Input) =>
  runStep(
    (queue) => ({
      name: "retry",
      effectOf: ({ state }, isPaused) => {
        const isRefused = state === "refused"
        if (isPaused) return `It may be sent ${isRefused ? "again" : "at once"}, under the same key.${untilContinue}`
        return isRefused
          ? "MONEY WILL MOVE: it is sent again, under the same key."
          : "It is sent at once, under the same key, and not at the time of its next attempt."
      },
      take: queue.retry
    }),
    input
  )

export const park = (input: Input & { readonly submittedBefore: Option.Option<string> }) =>
  runStep(
    (queue) => ({
      name: "park",
      effectOf: (status) =>
        status.state === "parked"
          ? "It is parked already. From now on an operator parked it."
          : "No worker sends it any more, until it is resumed. A request that is under way is not called back.",
      take: queue.park
    }),
    input
  )

export const resume = ({
  notExecuted,
  ...input
}: Input & { readonly because: Option.Option<ParkedBecause>; readonly notExecuted: boolean }) =>
  runStep(
    (queue) => ({
      name: "resume",
      effectOf: (_, isPaused) =>
        (notExecuted
          ? "MONEY WILL MOVE: you say that the service executed no request of it, and it is sent again. If that is wrong, it is paid twice."
          : "MONEY MAY MOVE: a worker sends it again, under the same key. It parks it again as PastHorizon where a request left longer ago than its horizon: then look into the panel.") +
        (isPaused ? untilContinue : ""),
      take: (reference, why) => queue.resume(reference, { ...why, notExecuted })
    }),
    input
  )

/** What a person must know who says that a payout was not paid. */
const riskOf = (status: PayoutStatus): string => {
  if ("withdrawalId" in status)
    return ` MONEY MAY HAVE MOVED: the service recorded it as withdrawal ${status.withdrawalId}. Look into the panel first: under another reference it is paid a second time.`
  return "mayHaveLeftAt" in status
    ? " MONEY MAY HAVE MOVED: a request of it left. Look into the panel first: under another reference it is paid a second time."
    : ""
}

export const settle = ({ as, ...input }: Input & { readonly as: "settled" | "failed" }) =>
  runStep(
    (queue) => ({
      name: "settle",
      effectOf: (status) =>
        as === "settled"
          ? "You say that it was paid. Nothing is sent."
          : `You say that it was not paid. Nothing is sent.${riskOf(status)}`,
      take: (reference, why) => queue.settle(reference, { ...why, as })
    }),
    input
  )
