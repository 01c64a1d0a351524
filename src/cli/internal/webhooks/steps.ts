/** Runs `effect-pix webhooks retry` and `discard`: shows the dead letter and the effect of the step, and asks for confirmation. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as References from "effect/References"
import { WebhookClient } from "../../../webhook/Webhook.ts"
import { doubtful } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { plain } from "../text.ts"
import { find, layerClient, layerNamed, textOf } from "./read.ts"

interface Input {
  readonly by: string
  readonly id: string
  readonly json: boolean
  readonly webhook: Option.Option<string>
  readonly yes: boolean
}

const isNone = () => failed("No dead letter has this id. Nothing was changed.", codes.Rejected)

/** The steps: their effect, and the text that is printed when it is done. */
const steps = {
  retry: {
    effect:
      "its transaction is looked up again within a second, and what the lookup says is handed to your code again.",
    done: "It is tried again."
  },
  discard: {
    effect: "it is forgotten. Your code is not called for it, until another delivery or check arrives.",
    done: "It is forgotten."
  }
} as const

const runStep = Effect.fnUntraced(
  function* (step: keyof typeof steps, { by, id, json, webhook, yes }: Input) {
    const letters = (yield* find(id)).filter(
      (stored) => stored.state === "Dead" && Option.getOrElse(webhook, () => stored.webhook) === stored.webhook
    )
    const [letter] = letters
    if (letter === undefined) return yield* isNone()
    if (letters.length > 1) {
      const names = letters.map((each) => each.webhook).join(", ")
      return yield* failed(`Several webhooks have a dead letter of this id: choose one by --webhook, of ${names}.`)
    }
    const { id: name, webhook: of } = letter
    const { done, effect } = steps[step]
    yield* perform({
      plan: `${textOf(letter, yield* Clock.currentTimeMillis)}\n${step}: ${effect}`,
      confirm: { noun: step, question: `${step} ${plain(id)}?`, unconfirmed: "Nothing was changed.", yes },
      run: Effect.flatMap(WebhookClient, (client) => client[step](name, { by })).pipe(
        Effect.provide(layerNamed(of)),
        // The line that says who took the step.
        Effect.provideService(References.MinimumLogLevel, "Info"),
        Effect.catchTag("DatabaseError", (error) => Effect.fail(doubtful(error, `webhooks show ${plain(id)}`))),
        // Another process changed it meanwhile.
        Effect.filterOrFail((isDone) => isDone, isNone)
      ),
      summary: () => done,
      print: () => writeResult(json, { webhook: of, id: name, step }, done)
    })
  },
  Effect.provide(layerClient("write"))
)

export const retry = (input: Input) => runStep("retry", input)
export const discard = (input: Input) => runStep("discard", input)
