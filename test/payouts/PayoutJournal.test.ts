import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { PayoutJournal } from "effect-pix/payouts"
import { failing, failures, item, keyOf, makeModel, referencesOf } from "../support/payouts.ts"

describe("a journal of a run", () => {
  const written = Effect.gen(function* () {
    const script = failing({ b: failures.refused, ç: failures.unknown })
    const events = yield* Stream.runCollect(
      makeModel({ script }).stream([item("a"), item("b"), item("ç")], { concurrency: 1 })
    )
    return { events, text: events.map(PayoutJournal.line).join("") }
  })

  it.effect("is read up to its last whole line, wherever it ends", () =>
    Effect.gen(function* () {
      const { events, text } = yield* written
      const bytes = Buffer.from(text)
      for (let end = 0; end <= bytes.length; end += 1) {
        const cut = bytes.subarray(0, end)
        const lines = cut.toString("latin1").split("\n").length - 1
        const journal = yield* PayoutJournal.read(cut.toString())
        assert.strictEqual(journal.events.length, lines)
        assert.strictEqual(journal.length, cut.lastIndexOf("\n") + 1)
      }
      assert.deepStrictEqual((yield* PayoutJournal.read(text)).events, events)
    })
  )

  it.effect("sends the payout whose result is torn again under the same key, and no other payout", () =>
    Effect.gen(function* () {
      const { text } = yield* written
      const { events } = yield* PayoutJournal.read(text.slice(0, -5))
      const model = makeModel()
      const report = yield* model.run([item("a"), item("b"), item("ç")], { previous: events })
      assert.deepStrictEqual(referencesOf(report.done), ["a", "b", "ç"])
      assert.deepStrictEqual(model.calls.toSorted(), [keyOf("b"), keyOf("ç")].toSorted())
    })
  )

  it.effect("is not read where a line in the middle is no event, and the error names the line", () =>
    Effect.gen(function* () {
      const { text } = yield* written
      const [first = "", ...rest] = text.split("\n")
      const error = yield* Effect.flip(PayoutJournal.read([first, first.slice(0, 20), ...rest].join("\n")))
      assert.strictEqual(error._tag, "InvalidJournal")
      assert.match(error.message, /^Line 2 of the journal/)
    })
  )
})
