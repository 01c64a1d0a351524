/**
 * Writes whose end is not known: what to do next is printed, also when a signal ends a write that may be under way. The
 * one safe thing is the same write under the same key, by the command that is shown. Each step leads on: what asking again
 * cannot find out, the people behind the gateway can.
 */
import * as Effect from "effect/Effect"
import process from "node:process"
import { PaymentsPolicy } from "../../client/PaymentsPolicy.ts"
import type { PaymentsError } from "../../contract/PaymentsError.ts"
import { codes, type Failed, failed } from "./exit.ts"
import { commandLine } from "./invocation.ts"
import { note } from "./output.ts"

interface About {
  readonly kind: "charge" | "payout"
  /** The words of the command that asks again. */
  readonly words: ReadonlyArray<string>
  /** Whether this is such a command already. */
  readonly again: boolean
}

const adviceOf = (error: PaymentsError, { again, kind, words }: About): string => {
  if (error._tag === "IdempotencyConflict") {
    return [
      `The gateway answers as if this reference stood for a ${kind} already.`,
      `- If that ${kind} is the one you mean: run it with the amount and the data of then. It shows what became of it.`,
      `- If this is a second ${kind}: give it a reference of its own.`,
      "- If you do not know: whoever runs the gateway can say what the idempotency key was used for."
    ].join("\n")
  }
  const command = `To ask again safely, with the same key, run:\n  ${commandLine(words)}`
  if (!again) return command
  return [
    command,
    "It was asked again already. If the answer stays the same, asking helps no more: whoever runs the gateway can say",
    `whether the idempotency key was executed. If it was, the ${kind} is made. If it was not and will not be, make it`,
    "under another reference."
  ].join("\n")
}

/** Runs a write, and says what to do where its end is not known. */
export const askingAgain = <A, E extends PaymentsError, R>(
  write: Effect.Effect<A, E, R>,
  about: About
): Effect.Effect<A, E | Failed, R> => {
  const policy = Effect.map(PaymentsPolicy, (current) =>
    PaymentsPolicy.make({
      ...current,
      onInterruptedWrite: (report) => {
        process.exitCode = codes.Unknown
        return note(`${report.message}\n${adviceOf(report, about)}`)
      }
    })
  )
  return write.pipe(
    Effect.mapError((error) =>
      error.outcome === "Unknown" ? failed(`${error.message}\n${adviceOf(error, about)}`, codes.Unknown) : error
    ),
    Effect.provideServiceEffect(PaymentsPolicy, policy)
  )
}
