/** Runs `effect-pix payouts change-sender`: a client id, base URL or company of the account changed, and the change is meant. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { doubtful, notRead } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { whyOf, type Words } from "../flags.ts"
import { writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { layerQueue } from "./queue.ts"

export const run = Effect.fnUntraced(function* ({
  by,
  fingerprint,
  json,
  note,
  yes
}: Words & { readonly fingerprint: string; readonly json: boolean; readonly yes: boolean }) {
  const queue = yield* PayoutQueue
  const { account, fingerprint: before } = yield* Effect.mapError(queue.account, notRead)
  const unknown = yield* Effect.mapError(Stream.runCount(queue.list({ state: "unknown" })), notRead)
  const inDoubt =
    unknown === 0
      ? "No payout of it is unknown."
      : `${unknown} payout(s) of it are UNKNOWN: under another client id they are not sent again, and are parked as OtherClientId.`
  const now = `Payouts of the account ${account} are sent by the sender ${fingerprint}.`
  yield* perform({
    plan: [
      `Account ${account}: its sender is ${before ?? "not known yet"}. ${inDoubt}`,
      `change-sender: MONEY WILL MOVE FROM ANOTHER ACCOUNT OF THE GATEWAY: workers of the sender ${fingerprint} send its payouts, and those of the earlier one do not start.`
    ].join("\n"),
    confirm: {
      noun: "change-sender",
      question: `change-sender of ${account}?`,
      unconfirmed: "Nothing was changed.",
      yes
    },
    run: queue.changeSender(fingerprint, whyOf({ by, note })).pipe(
      Effect.catchTags({
        InvalidRequest: ({ message }) => failed(message, codes.Rejected),
        DatabaseError: (error) => doubtful(error, "payouts list"),
        // The command opens no transaction.
        ForeignTransaction: Effect.die
      })
    ),
    summary: () => now,
    print: () => writeResult(json, { account, fingerprint }, now)
  })
}, Effect.provide(layerQueue))
