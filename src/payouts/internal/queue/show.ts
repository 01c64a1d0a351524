/**
 * The status of a payout with its label, where this process can open it. What is stored, logged or handed out has no label.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PayoutStatus } from "../../PayoutStatus.ts"
import type { Seal } from "../../Seal.ts"
import { placeOf, readLabel } from "./request.ts"
import type { Row } from "./row.ts"
import { statusOf } from "./status.ts"

export type Show = ReturnType<typeof makeShow>

export const makeShow = (seal: Seal) => {
  const show = (row: Row): Effect.Effect<PayoutStatus> => {
    const status = statusOf(row)
    const { label } = row
    if (label === null) return Effect.succeed(status)
    const hidden = () => Effect.succeed(status)
    return Effect.suspend(() => seal.open(label, placeOf(row, "label"))).pipe(
      Effect.map((text) =>
        Option.match(readLabel(text), { onNone: () => status, onSome: (of) => ({ ...status, ...of }) })
      ),
      Effect.timeoutOrElse({ duration: "5 seconds", orElse: hidden }),
      Effect.catchDefect(hidden)
    )
  }
  return {
    show,
    /** A service that opens them may be far away. */
    showAll: (rows: ReadonlyArray<Row>) => Effect.forEach(rows, show, { concurrency: 10 })
  }
}
