/**
 * Runs `effect-pix payouts change-sender` and `four-eyes`: the sender of an account and its limit, which two people change where
 * it has a limit.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { parseAmount, inBoth } from "../amount.ts"
import { doubtful, notRead } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { whyOf, type Words } from "../flags.ts"
import { writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { waitsForSecond } from "./describe.ts"
import { layerQueue, readAccount } from "./queue.ts"

interface Input extends Words {
  readonly json: boolean
  readonly yes: boolean
}

interface Step {
  readonly name: string
  readonly account: string
  readonly plan: ReadonlyArray<string>
  readonly take: ReturnType<PayoutQueue["Service"]["changeSender"]>
  /** The account after it, for machines and for people. */
  readonly data: object
  readonly now: string
}

const runStep = ({ account, data, name, now, plan, take }: Step, { json, yes }: Input) => {
  const textOf = (done: "Changed" | "Asked") => (done === "Changed" ? now : waitsForSecond(name))
  return perform({
    plan: plan.join("\n"),
    confirm: { noun: name, question: `${name} of ${account}?`, unconfirmed: "Nothing was changed.", yes },
    run: take.pipe(
      Effect.catchTags({
        InvalidRequest: ({ message }) => failed(message, codes.Rejected),
        DatabaseError: (error) => doubtful(error, "payouts list"),
        // The command opens no transaction.
        ForeignTransaction: Effect.die
      })
    ),
    summary: textOf,
    print: (done) => writeResult(json, { account, step: done, ...data }, textOf(done))
  })
}

/** A client id, base URL or company of the account changed, and the change is meant. */
export const changeSender = Effect.fnUntraced(function* (input: Input & { readonly fingerprint: string }) {
  const { fingerprint } = input
  const queue = yield* PayoutQueue
  const { account, fingerprint: before } = yield* readAccount
  const unknown = yield* Effect.mapError(Stream.runCount(queue.list({ state: "unknown" })), notRead)
  const inDoubt =
    unknown === 0
      ? "No payout of it is unknown."
      : `${unknown} payout(s) of it are UNKNOWN: under another client id they are not sent again, and are parked as OtherClientId.`
  yield* runStep(
    {
      name: "change-sender",
      account,
      plan: [
        `Account ${account}: its sender is ${before ?? "not known yet"}. ${inDoubt}`,
        `change-sender: MONEY WILL MOVE FROM ANOTHER ACCOUNT OF THE GATEWAY: workers of the sender ${fingerprint} send its payouts, and those of the earlier one do not start.`
      ],
      take: queue.changeSender(fingerprint, whyOf(input)),
      data: { fingerprint },
      now: `Payouts of the account ${account} are sent by the sender ${fingerprint}.`
    },
    input
  )
}, Effect.provide(layerQueue))

const textOfLimit = (above: Parameters<typeof inBoth>[0] | null | undefined) =>
  above === null || above === undefined
    ? "None needs a second person"
    : `A payout above ${inBoth(above)} needs a second person`

/** The limit above which a payout needs a second person. */
export const fourEyes = Effect.fnUntraced(function* (input: Input & { readonly above: string }) {
  const above = input.above === "none" ? null : yield* parseAmount(input.above)
  yield* Effect.gen(function* () {
    const queue = yield* PayoutQueue
    const { account, fourEyesAbove } = yield* readAccount
    yield* runStep(
      {
        name: "four-eyes",
        account,
        plan: [
          `Account ${account}: ${textOfLimit(fourEyesAbove)}.`,
          `four-eyes: ${textOfLimit(above)}, of those that are sent from now on. What waits for a second person already, waits on.`
        ],
        take: queue.setFourEyes(above, whyOf(input)),
        data: { fourEyesAbove: above },
        now: `Payouts of the account ${account}: ${textOfLimit(above)}.`
      },
      input
    )
  }).pipe(Effect.provide(layerQueue))
})
