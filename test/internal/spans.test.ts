import { assert, test } from "@effect/vitest"
import { Exit } from "effect"
import { OutcomeUnknown } from "effect-pix"
import { withoutValues } from "../../src/internal/spans.ts"

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
