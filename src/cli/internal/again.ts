/**
 * Writes whose end is not known. The one safe thing to do is the same write under the same key, so the command that does
 * it is printed, also when ctrl-C ends a write that may be under way.
 */
import * as Effect from "effect/Effect"
import process from "node:process"
import { PaymentsPolicy } from "../../client/PaymentsPolicy.ts"
import type { PaymentsError } from "../../contract/PaymentsError.ts"
import { codes, type Failed, failed } from "./exit.ts"
import { commandLine } from "./invocation.ts"
import { note } from "./output.ts"

const mayBeAsked = (error: PaymentsError): boolean =>
  error.outcome === "Unknown" && !(error._tag === "IdempotencyConflict" && error.conflict === "Reused")

/** Runs a write; `words` are those of the command that asks again. */
export const askingAgain = <A, E extends PaymentsError, R>(
  write: Effect.Effect<A, E, R>,
  words: ReadonlyArray<string>
): Effect.Effect<A, E | Failed, R> => {
  const advice = `To ask again safely, with the same key, run:\n  ${commandLine(words)}`
  const policy = Effect.map(PaymentsPolicy, (current) =>
    PaymentsPolicy.make({
      ...current,
      onInterruptedWrite: (report) => {
        process.exitCode = codes.Unknown
        return note(`${report.message}\n${advice}`)
      }
    })
  )
  return write.pipe(
    Effect.mapError((error) => (mayBeAsked(error) ? failed(`${error.message}\n${advice}`, codes.Unknown) : error)),
    Effect.provideServiceEffect(PaymentsPolicy, policy)
  )
}
