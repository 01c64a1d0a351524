/** Runs `effect-pix payouts pause` and `continue`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { doubtful } from "../database.ts"
import { whyOf, type Words } from "../flags.ts"
import { writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { textOfPause } from "./describe.ts"
import { layerQueue, pauseOf, readAccount } from "./queue.ts"
import { textOfSum, totals } from "./sum.ts"

interface Input extends Words {
  readonly json: boolean
  readonly yes: boolean
}

const running = "The workers are not paused."

/** What is sent when the workers continue. */
const waitingText = Effect.map(totals, (sums) => {
  const texts = [
    ["never answered", sums.get("accepted")],
    ["in doubt, under the same key", sums.get("unknown")]
  ] as const
  const found = texts.flatMap(([words, sum]) => (sum === undefined ? [] : [`  ${textOfSum(sum)}: ${words}`]))
  return found.length === 0
    ? "continue: no payout waits now. What is submitted from now on is sent."
    : ["continue: MONEY WILL MOVE: all workers send what waits.", ...found].join("\n")
})

const runPause = Effect.fnUntraced(function* (paused: boolean, { by, json, note, yes }: Input) {
  const queue = yield* PayoutQueue
  const was = pauseOf(yield* readAccount)
  const name = paused ? "pause" : "continue"
  const now = paused ? "The workers are paused." : running
  yield* perform({
    plan: [
      was === undefined ? running : textOfPause(was, yield* Clock.currentTimeMillis),
      paused
        ? "pause: all workers stop within a second, until `continue`. What is under way is finished."
        : yield* waitingText
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

export const pause = (input: Input) => runPause(true, input)
export const goOn = (input: Input) => runPause(false, input)
