/** What became of payouts: in their rows, in their history, and at the gateway. */
import { Effect, Option, Stream } from "effect"
import { type PayoutChange, PayoutQueue, type PayoutState, type PayoutStatus } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { keyOf } from "./payoutQueue.ts"

/** How many requests for payouts arrived, of all references or of one. */
export const requests = (reference?: string) =>
  Sandbox.use((sandbox) =>
    Effect.map(
      sandbox.requests,
      (all) =>
        all.filter(
          ({ idempotencyKey, operation }) =>
            operation === "requestWithdrawal" && (reference === undefined || idempotencyKey === keyOf(reference))
        ).length
    )
  )

/** How many payouts the gateway paid. */
export const paid = Sandbox.use((sandbox) => Effect.map(sandbox.withdrawals, ({ length }) => length))

/** The state of a payout, and why it is parked or for what it waits: `parked Operator`. */
export const stateOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.status(reference), (found) => {
    if (Option.isNone(found)) return "absent"
    const { because, state }: PayoutStatus & Record<string, unknown> = { ...found.value }
    return [state, because].filter(Boolean).join(" ")
  })
export const shown = (reference = "invoice-1") => PayoutQueue.use((queue) => stateOf(queue, reference))

/** A change of the history in one line, without its times. */
const lineOf = ({ _tag, state, ...change }: PayoutChange) => {
  const person = "by" in change ? ` by ${change.by}${"note" in change ? `: ${change.note}` : ""}` : ""
  const answer = "answer" in change ? ` ${change.answer} ${change.error?._tag ?? change.withdrawalId}` : ""
  const rest = "request" in change ? ` ${change.request}` : "because" in change ? ` ${change.because}` : ""
  return `${_tag}${answer}${rest}${person} > ${state}${change.mayHaveLeftAt === undefined ? "" : ", may have left"}`
}
export const linesOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.history(reference), (changes) => changes.map(lineOf))

/** Whether a request of a payout may have left. */
export const isInDoubt = (reference = "invoice-1") =>
  PayoutQueue.use((queue) =>
    Effect.map(queue.status(reference), (found) => "mayHaveLeftAt" in Option.getOrElse(found, () => ({})))
  )

/** The second at which each request of a payout was about to leave, after its submission. */
export const sentAt = (reference = "invoice-1") =>
  PayoutQueue.use((queue) =>
    Effect.map(queue.history(reference), ([first, ...changes]) =>
      changes
        .filter(({ _tag }) => _tag === "Marked")
        .map(({ at }) => Math.round((at.epochMilliseconds - (first?.at.epochMilliseconds ?? 0)) / 1000))
    )
  )

export const count = (state: PayoutState) => PayoutQueue.use((queue) => Stream.runCount(queue.list({ state })))
