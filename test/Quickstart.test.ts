import { assert } from "@effect/vitest"
import { Sandbox } from "effect-pix/sandbox"
import { TestConsole } from "effect/testing"
import { quickstart } from "../docs/examples/quickstart.ts"
import { effect } from "./support/effect.ts"

effect(
  "the quickstart charges, is paid, looks up, lists, reads the balance and pays out",
  Sandbox.layerPayments,
  function* () {
    const sandbox = yield* Sandbox
    yield* quickstart(sandbox.markPaid)
    const [charged, qrCode, copyAndPaste, ...rest] = (yield* TestConsole.logLines).map(String)
    assert.include(charged, "Charged R$ 25,00.")
    assert.include(qrCode, "▄▄▄▄▄")
    assert.match(copyAndPaste ?? "", /^000201.*540525\.00.*6304[0-9A-F]{4}$/)
    assert.deepStrictEqual(rest, [
      "The charge is now Paid.",
      "The company has 1 transaction(s).",
      "Its balance is R$ 25,00.",
      "Paid out R$ 10,00; the payout is Awaiting."
    ])
    assert.strictEqual(yield* sandbox.balance, 1500)
  }
)
