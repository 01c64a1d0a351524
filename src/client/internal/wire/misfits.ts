/**
 * Fields that did not fit the contract and were left out: counted by operation and field, each once a call, and logged
 * once for each field of a client. Never their values. The names are those of the contract, so there are few.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Operation } from "../../../contract/PaymentsError.ts"

const misfits = Metric.counter("effect_pix_misfits", {
  description: "Answers with an optional field that did not fit the contract and was left out, by operation and field",
  incremental: true
})

/** Counts and logs the fields of one operation's answers: a name counts once, however many rows have it. */
export const misfitsOf = (operation: Operation) => {
  const told = new Set<string>()
  return Effect.fnUntraced(function* (fields: ReadonlyArray<string>) {
    for (const field of new Set(fields)) {
      yield* Metric.update(Metric.withAttributes(misfits, { operation, field }), 1)
      if (told.has(field)) continue
      told.add(field)
      yield* Effect.logWarning(`${operation}: ${field} of the answer does not fit the contract and was left out`)
    }
  })
}
