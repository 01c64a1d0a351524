/**
 * Runs each `ts` block of README.md and its neighbours, of docs/ and of the docstrings in src/: see support/docBlocks.ts. The
 * type-check (`npm run types .`) compiles them. Each runs on both kinds of gateway: `vitest.config.ts` has a project of its own
 * for a sandbox that answers as the gateway was seen to.
 */
import { assert, describe, test } from "@effect/vitest"
import { Effect } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { quickstart } from "../docs/examples/quickstart.ts"
import { blocks, writeBlocks } from "./support/docBlocks.ts"

writeBlocks()

describe("an example of the docs", () => {
  test.for(blocks)("$name", ({ module }) => import(module))

  test("docs/examples/quickstart.ts", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* quickstart(sandbox.markPaid, () => Effect.void)
      assert.strictEqual(yield* sandbox.balance, 1500)
      const { as } = yield* sandbox.overview
      assert.strictEqual(as, process.env["EFFECT_PIX_AS"] ?? "documented")
    }).pipe(Effect.provide(Sandbox.layerPayments), Effect.runPromise))
})
