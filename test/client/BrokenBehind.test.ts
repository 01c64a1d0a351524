/**
 * What the words of a 4xx make of a withdrawal, over tables of sentences: whether a call behind the service broke, a
 * limit was reached, another withdrawal is under way, or nothing of the kind.
 */
import { assert, describe } from "@effect/vitest"
import { Payments, type PaymentsError } from "effect-pix"
import { Effect } from "effect"
import { effect } from "../support/effect.ts"
import { optionsOf, type Past, reusedClient } from "../support/failing.ts"
import { withdrawal } from "../support/operations.ts"
import { phrases } from "../support/phrases.ts"
import { respond } from "../support/Wire.ts"
import shapes from "../tables/frameworkShapes.json" with { type: "json" }

const { client, wire } = reusedClient()

/** The error of a withdrawal that is refused with this body. */
const refused = Effect.fnUntraced(function* (status: number, body: unknown, past: Past) {
  wire.script(respond(status, body))
  const payments = yield* Payments
  return yield* Effect.flip(payments.requestWithdrawal(withdrawal, optionsOf("requestWithdrawal", past)))
})

/** The sentences of a file whose error, of a 400 or a 422, is not as wanted, and that error. */
const misread = Effect.fnUntraced(function* (name: string, past: Past, isWanted: (error: PaymentsError) => boolean) {
  const found: Array<string> = []
  for (const message of phrases(name)) {
    const errors = yield* Effect.forEach([400, 422], (status) => refused(status, { message }, past))
    const wrong = errors.find((error) => !isWanted(error))
    if (wrong !== undefined) found.push(`${message} (${wrong._tag})`)
  }
  return found
})
const isLimit = (tag: string) => tag === "LimitReached"
const isAtMost = (found: ReadonlyArray<string>, share: number, name: string) =>
  assert.isAtMost(found.length, Math.floor(phrases(name).length * share), found.join("\n"))

describe.each(["None", "made"] as const)("of a key whose past is %s,", (past) => {
  effect("a refusal that says that a call behind the service broke leaves the outcome unknown", client, function* () {
    const wanted = ({ _tag }: PaymentsError) => _tag === "OutcomeUnknown"
    isAtMost(yield* misread("brokenBehind", past, wanted), 0.025, "brokenBehind")
  })

  effect("an ordinary refusal does not leave the outcome unknown", client, function* () {
    const found = yield* misread("ordinaryRefusals", past, ({ outcome }) => outcome === "Rejected")
    isAtMost(found, 0.005, "ordinaryRefusals")
  })

  effect("a refusal that says a limit is LimitReached", client, function* () {
    isAtMost(yield* misread("limits", past, ({ _tag }) => isLimit(_tag)), 0, "limits")
  })

  effect("a withdrawal that exists or is under way is not a limit", client, function* () {
    const wanted = ({ _tag }: PaymentsError) => !isLimit(_tag)
    isAtMost(yield* misread("underWay", past, wanted), 0, "underWay")
  })

  effect("a refusal in the shape of a usual framework is rejected, and most are shown", client, function* () {
    const unknown: Array<string> = []
    const silent: Array<string> = []
    for (const { body, name, says } of shapes) {
      const error = yield* refused(422, body, past)
      if (error.outcome !== "Rejected") unknown.push(`${name} (${error._tag})`)
      else if (!error.message.includes(says)) silent.push(`${name}: ${error.message}`)
    }
    assert.deepStrictEqual(unknown, [])
    assert.isAtMost(silent.length, Math.floor(shapes.length / 4), silent.join("\n"))
  })
})
