/**
 * Seals what is stored beside a request: the payee that a record names, and the service's words for why it refused or failed.
 */
import * as Effect from "effect/Effect"
import type { Seal } from "../../Seal.ts"
import type { LogPayout } from "./payoutLog.ts"
import { placeOf, unsealed } from "./request.ts"
import type { Row } from "./row.ts"

/** Seals texts of a row. What fails or takes too long is not stored, so that the rest is. */
export const makeSealing = (seal: Seal, logPayout: LogPayout) => {
  const sealText = (row: Row, what: "payee" | "reason", text: string): Effect.Effect<string | null> => {
    const line = { level: "Error", of: "Unsealed", cause: what } as const
    return Effect.suspend(() => seal.seal(text, placeOf(row, what))).pipe(
      Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.die("the seal took too long") }),
      Effect.catchDefect(() =>
        Effect.as(
          logPayout(row, { ...line, text: `The ${what} of a record could not be sealed, and is not stored` }),
          null
        )
      )
    )
  }
  /** The service's words, which may name a person: nothing stores them in clear. */
  const sealReason = (row: Row, words: string | undefined) =>
    words === undefined || seal === unsealed ? Effect.succeed(null) : sealText(row, "reason", words)
  return { sealText, sealReason }
}
