/** The payouts of a step: named by their references, or found by why they are parked or by when they were submitted. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { ParkedBecause, PayoutState, PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { notRead } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { plain } from "../text.ts"
import { find } from "./queue.ts"

/** How the payouts of a step are chosen: by exactly one of these. */
export interface Selection {
  readonly references: ReadonlyArray<string>
  readonly because?: Option.Option<ParkedBecause>
  readonly submittedBefore?: Option.Option<string>
}

const list = (states: ReadonlyArray<PayoutState>, isChosen: (status: PayoutStatus) => boolean) =>
  Effect.flatMap(PayoutQueue, (queue) =>
    Stream.fromIterable(states).pipe(
      Stream.flatMap((state) => queue.list({ state })),
      Stream.filter(isChosen),
      Stream.runCollect,
      Effect.mapError(notRead)
    )
  )

/** All of them, or a failure that names each unknown reference. */
const findAll = Effect.fnUntraced(function* (references: ReadonlyArray<string>) {
  const results = yield* Effect.forEach([...new Set(references)], (reference) => Effect.result(find(reference)))
  const [found, unknown] = Arr.separate(results)
  if (unknown.length === 0) return found
  const unread = unknown.find(({ code }) => code !== codes.Rejected)
  const messages = unknown.map(({ message }) => message).join("\n")
  return yield* unread ?? failed(`${messages}\nNothing was changed.`, codes.Rejected)
})

/** A time with its zone: without one, two people read two times. */
const parseTime = (text: string) =>
  Effect.fromOption(Option.filter(DateTime.make(text), () => /(?:Z|:\d\d(?:\.\d+)?[+-]\d\d:\d\d)$/.test(text))).pipe(
    Effect.mapError(() =>
      failed(`--submitted-before ${plain(text)} is no time. Write it with its zone, as 2026-11-21T10:00:00Z.`)
    )
  )

/** The chosen payouts, in the order in which they were named or submitted. */
export const selected = Effect.fnUntraced(function* ({ because, references, submittedBefore }: Selection) {
  const reason = because && Option.getOrUndefined(because)
  const before = submittedBefore && Option.getOrUndefined(submittedBefore)
  const given = [references.length > 0, reason !== undefined, before !== undefined].filter((isGiven) => isGiven).length
  if (given !== 1) {
    const flags = [because && "--because", submittedBefore && "--submitted-before"].filter((flag) => flag !== undefined)
    const ways = ["references", ...flags]
    return yield* failed(
      flags.length === 0 ? "Name at least one reference." : `Choose the payouts by one of ${ways.join(", ")}.`
    )
  }
  if (reason !== undefined) return yield* list(["parked"], (one) => one.state === "parked" && one.because === reason)
  if (before === undefined) return yield* findAll(references)
  const limit = yield* parseTime(before)
  return yield* list(["accepted", "unknown", "parked"], ({ submittedAt }) => DateTime.isLessThan(submittedAt, limit))
})
