/**
 * Every step of an operator, in one entry: its name, its help, its flags, its effect in the words that a person confirms, and its
 * call. The subcommands are made of the entries; `takeStep.ts` runs them.
 */
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { PayoutBecause } from "../../../payouts/PayoutBecause.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import { parseTime } from "../flags.ts"
import { plain } from "../text.ts"
import { textOfSum } from "./describe.ts"
import { accountStep, letterStep, payoutStep, sentenceStep, stateLetterStep } from "./step.ts"
import type { Group } from "./stepShape.ts"

const untilContinue = " The workers are paused: nothing is sent until `effect-pix payouts continue`."

const submittedBefore = Flag.String("submitted-before").pipe(
  Flag.withMetavar("time"),
  Flag.withDescription(
    "All that were submitted before it and did not end, as 2026-11-21T10:00:00Z: after the restore of a backup"
  ),
  Flag.filterMap(parseTime, () => "a time with its zone, as 2026-11-21T10:00:00Z"),
  Flag.map((until): Group => ({ states: ["accepted", "unknown", "parked"], filter: { until }, leavesLate: false })),
  Flag.optional
)

const parsePace = (text: string) => {
  const [, most, seconds] = /^(\d{1,6})\/(\d{1,5})$/.exec(text) ?? []
  if (text === "none") return Option.some(null)
  return most === undefined || seconds === undefined
    ? Option.none()
    : Option.some({ most: Number(most), per: `${Number(seconds)} seconds` as const })
}

const parseWindow = (text: string) => {
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? []
  if (text === "none") return Option.some(null)
  return from === undefined || to === undefined ? Option.none() : Option.some({ from, to })
}

const withdrawals = Flag.Int("withdrawal").pipe(
  Flag.withMetavar("id"),
  Flag.withDescription(
    "The one of this number of a withdrawal, as a webhook or the panel names it; as often as needed"
  ),
  Flag.atLeast(0)
)

/** All of one cause, in the states of a step. */
const because = (...states: ReadonlyArray<PayoutState>) =>
  Flag.Literals("because", PayoutBecause.literals).pipe(
    Flag.withMetavar("cause"),
    Flag.withDescription(
      `All that are ${states.join(" or ")} because of it, but for those in doubt since longer ago than the horizon`
    ),
    Flag.map((because): Group => ({ states, filter: { because }, leavesLate: true })),
    Flag.optional
  )

/** What a person must know who says that a payout was not paid. */
const riskOf = (status: PayoutStatus): string => {
  const panelFirst = "Look into the panel first: under another reference it is paid a second time."
  if ("withdrawalId" in status)
    return ` MONEY MAY HAVE MOVED: the service recorded it as withdrawal ${status.withdrawalId}. ${panelFirst}`
  return "mayHaveLeftAt" in status ? ` MONEY MAY HAVE MOVED: a request of it left. ${panelFirst}` : ""
}

export const payoutSteps = [
  payoutStep({
    name: "retry",
    about: "Send refused payouts again under their keys, or those that wait at once",
    flags: { group: because("accepted", "unknown") },
    effect: ({ isPaused, status: { state } }) => {
      const isRefused = state === "refused"
      if (isPaused) return `It may be sent ${isRefused ? "again" : "at once"}, under the same key.${untilContinue}`
      return isRefused
        ? "MONEY WILL MOVE: it is sent again, under the same key."
        : "It is sent at once, under the same key, and not at the time of its next attempt."
    },
    take: (queue, { status }, why) => queue.retry(status.reference, why)
  }),
  payoutStep({
    name: "park",
    about: "Park payouts: no worker sends them until they are resumed",
    flags: { group: submittedBefore },
    effect: ({ status }) =>
      status.state === "parked"
        ? "It is parked already. From now on an operator parked it."
        : "No worker sends it any more, until it is resumed. A request that is under way is not called back.",
    take: (queue, { status }, why) => queue.park(status.reference, why)
  }),
  payoutStep({
    name: "resume",
    about: "Give parked payouts back to the workers",
    flags: { group: because("parked") },
    effect: ({ isPaused }) =>
      "MONEY MAY MOVE: a worker sends it again, under the same key. It parks it again as PastHorizon where a request left longer ago than its horizon: then look into the panel." +
      (isPaused ? untilContinue : ""),
    take: (queue, { status }, why) => queue.resume(status.reference, why)
  }),
  payoutStep({
    name: "confirm",
    about: "Have payouts looked up at once, where your workers confirm",
    flags: { withdrawals, group: because("parked") },
    effect: () =>
      "A worker that confirms looks it up within a second, and stores what the service says. Nothing is sent.",
    take: (queue, { status }, why) => queue.confirm(status.reference, why)
  }),
  payoutStep({
    name: "cancel",
    about: "Cancel payouts of which nothing left: they are never sent",
    flags: { group: because("accepted", "parked") },
    effect: ({ status }) =>
      "It is never sent, and its reference is never new again. Where a request of it may have left, this is refused: park it then." +
      ("because" in status && status.because === "WaitedTooLong"
        ? " If a backup was restored, it may be paid already: look into the panel first."
        : ""),
    take: (queue, { status }, why) => queue.cancel(status.reference, why)
  }),
  payoutStep({
    name: "settle",
    about: "Say how payouts ended, as you learned it elsewhere",
    flags: {
      withdrawals,
      group: because("unknown", "parked"),
      as: Flag.Literals("as", ["paid", "failed", "returned"]).pipe(
        Flag.withDescription("How it ended, as the panel or a statement says; returned: it was paid, and came back")
      )
    },
    effect: ({ status }, { as }) =>
      as === "failed"
        ? `You say that it was not paid. Nothing is sent.${riskOf(status)}`
        : `You say that it was paid${as === "paid" ? "" : ", and that the money came back"}. Nothing is sent.`,
    take: (queue, { status }, why, { as }) => queue.settle(status.reference, { ...why, as })
  }),
  payoutStep({
    name: "forget",
    about: "Delete the payee's data of payouts that are over; their amounts and histories stay",
    flags: {},
    effect: ({ status: { state } }) =>
      `Its PIX key, description, metadata and payee are deleted for ever.${state === "refused" ? " It cannot be sent any more." : ""} Its reference, amount and history stay.`,
    take: (queue, { status }, why) => queue.forget(status.reference, why)
  })
] as const

export const accountSteps = [
  accountStep({
    name: "pause",
    about: "Stop all workers of the account within a second",
    flags: {},
    effect: () => "all workers stop within a second, until `continue`. What is under way is finished.",
    take: (queue, _, why) => queue.setPaused(true, why)
  }),
  accountStep({
    name: "continue",
    about: "Let all workers of the account continue",
    flags: {},
    effect: ({ sums }) => {
      const waiting = [
        ["never answered", sums.get("accepted")],
        ["in doubt, under the same key", sums.get("unknown")]
      ] as const
      const found = waiting.flatMap(([words, sum]) => (sum === undefined ? [] : [`  ${textOfSum(sum)}: ${words}`]))
      return found.length === 0
        ? "no payout waits now. What is submitted from now on is sent."
        : ["MONEY WILL MOVE: all workers send what waits.", ...found].join("\n")
    },
    take: (queue, _, why) => queue.setPaused(false, why)
  }),
  accountStep({
    name: "change-sender",
    about: "Say that the account's payouts are sent under another client id, base URL or company",
    flags: {
      fingerprint: Argument.String("fingerprint").pipe(
        Argument.withDescription("That of the new client id, as a worker shows it when it does not start")
      )
    },
    effect: ({ sums }, { fingerprint }) => {
      const unknown = sums.get("unknown")
      const inDoubt =
        unknown === undefined
          ? "No payout of it is unknown."
          : `${textOfSum(unknown)} of it UNKNOWN: under another client id they are not sent again, and are parked as OtherClientId.`
      return `MONEY WILL MOVE FROM ANOTHER ACCOUNT OF THE GATEWAY: workers of the sender ${plain(fingerprint)} send its payouts, and those of the earlier one do not start. ${inDoubt}`
    },
    take: (queue, _, why, { fingerprint }) => queue.changeSender(fingerprint, why)
  }),
  accountStep({
    name: "limits",
    about: "Set how often and when the account's payouts are sent, as your gateway allows it",
    flags: {
      pace: Flag.String("pace").pipe(
        Flag.withDescription("At most so many in so many seconds, as 5/60; or none"),
        Flag.filterMap(parsePace, () => "two whole numbers, as 5/60, or none"),
        Flag.optional
      ),
      window: Flag.String("window").pipe(
        Flag.withDescription("The times of a day of São Paulo between which they are sent, as 08:00-20:00; or none"),
        Flag.filterMap(parseWindow, () => "two times, as 08:00-20:00, or none"),
        Flag.optional
      )
    },
    effect: () =>
      "it holds for all workers from the next request on. What is in doubt is asked outside of a window too.",
    take: (queue, _, why, { pace, window }) =>
      queue.setLimits({ pace: Option.getOrUndefined(pace), window: Option.getOrUndefined(window) }, why)
  })
] as const

export const sentenceSteps = [
  sentenceStep({
    name: "judge",
    about: "Say what a refusal means that nobody knows: of all payouts that it parked, and of those to come",
    flags: {
      as: Flag.Literals("as", ["refused", "wait"]).pipe(
        Flag.withDescription("refused: nothing was executed, and they are over. wait: they are sent again")
      ),
      seen: Flag.String("seen").pipe(
        Flag.withMetavar("reference"),
        Flag.withDescription("The payout of it that you looked up in the panel of the gateway")
      )
    },
    asOf: ({ as }) => as,
    effect: (_, { as, seen }) =>
      as === "refused"
        ? `You say that nothing was executed, since ${plain(seen)} is not in the panel. They are refused, and so is what is refused in these words from now on. If the service executed one, what is paid in its place is paid twice.`
        : "MONEY WILL MOVE: they are sent again, under the same keys, within the horizon of their first requests.",
    take: (queue, { digest }, { by = "", note }, { as, seen }) => queue.judge(digest, { as, seen, by, note })
  })
] as const

export const stateLetterSteps = [
  stateLetterStep({
    name: "retry-letter",
    about: "Hand dead letters of onState to your code again, and then what they hold",
    flags: {},
    effect: () => "its state is handed to your code again within a second, and then the later states of its payout.",
    take: (queue, { id }, { by }) => queue.retryLetter(id, { by })
  }),
  stateLetterStep({
    name: "discard-letter",
    about: "Forget dead letters of onState that you dealt with elsewhere",
    flags: {},
    effect: () => "your code is never called with its state. The later states of its payout are handed to it.",
    take: (queue, { id }, { by }) => queue.discardLetter(id, { by })
  })
] as const

export const letterSteps = [
  letterStep({
    name: "retry",
    about: "Look the transactions of dead letters up again, and hand them to your code",
    flags: {},
    effect: () =>
      "its transaction is looked up again within a second, and what the lookup says is handed to your code again.",
    take: (webhooks, { id }, { by }) => webhooks.retry(id, { by })
  }),
  letterStep({
    name: "discard",
    about: "Forget dead letters that you dealt with elsewhere",
    flags: {},
    effect: () => "it is forgotten. Your code is not called for it, until another delivery or check arrives.",
    take: (webhooks, { id }, { by }) => webhooks.discard(id, { by })
  })
] as const
