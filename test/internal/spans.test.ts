import { assert, test } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { OutcomeUnknown } from "effect-pix"
import { inSpan, withoutValues } from "../../src/internal/spans.ts"
import { effect } from "../support/effect.ts"
import { interruptAt } from "../support/interruptingScheduler.ts"
import { recordingTracer } from "../support/spans.ts"

const unknown = new OutcomeUnknown({
  operation: "requestWithdrawal",
  attempts: 1,
  idempotencyKey: "key-canary",
  outcome: "Unknown",
  reason: "Interrupted"
})

test("a span ends with the kind of its exit, and without a value or the text of an error", () => {
  assert.deepStrictEqual(withoutValues(Exit.succeed("maria@example.com")), Exit.void)
  assert.deepStrictEqual(withoutValues(Exit.fail(unknown)), Exit.fail("OutcomeUnknown: Unknown"))
  assert.deepStrictEqual(withoutValues(Exit.fail("maria@example.com")), Exit.fail("Failed"))
  assert.deepStrictEqual(withoutValues(Exit.fail({ _tag: 42 })), Exit.fail("Failed"))
  assert.deepStrictEqual(withoutValues(Exit.die(new Error("maria@example.com"))), Exit.fail("Defect"))
  assert.isTrue(Exit.hasInterrupts(withoutValues(Exit.interrupt(1))))
})

effect("a span that was begun ends, at whichever step its fiber is interrupted", function* () {
  const { layer, spans } = recordingTracer()
  const work = Effect.provide(
    inSpan("work", {}, () => Effect.yieldNow),
    layer
  )
  let at = 0
  while ((yield* interruptAt(work, ++at)).wasInterrupted);
  assert.isAbove(at, 10)
  assert.isAbove(spans.length, 5)
  assert.deepStrictEqual(
    spans.filter(({ status }) => status._tag !== "Ended"),
    []
  )
})
