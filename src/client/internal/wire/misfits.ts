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

/** The report of one client: a name counts once a call, however many rows have it. */
export const makeMisfitReport = () => {
  const logged = new Set<string>()
  return Effect.fnUntraced(function* (operation: Operation, fields: ReadonlySet<string>) {
    for (const field of fields) {
      yield* Metric.update(Metric.withAttributes(misfits, { operation, field }), 1)
      const name = `${operation}: ${field}`
      if (logged.has(name)) continue
      logged.add(name)
      yield* Effect.logWarning(`${name} of the answer does not fit the contract and was left out`)
    }
  })
}
