/**
 * What is known of each reference from earlier runs, by the keys under which it was sent. In doubt, money may have moved.
 *
 * | events of a key | what is known of it |
 * |---|---|
 * | any `Done` | done |
 * | any `Unknown` | unknown, whatever was refused later: only a readable success ends a doubt |
 * | a `Started` whose time no `Refused` or `NotStarted` has as its `startedAt` | unknown: the run ended while it may have been under way |
 * | the `earlier` request of a `ReferenceConflict` | unknown |
 * | nothing of these | nothing: no money moved |
 *
 * The order of the events does not matter, nor how often an event occurs: a journal may be given twice, so starts and
 * ends are not counted. An absent time counts as long ago.
 * Gotcha: two processes that start one reference in the same millisecond have the same start, so an end of one ends both.
 *
 * A payment or a doubt under another key precedes a doubt under the key of the run, since the service does not recognise a
 * payment under another key.
 */
import * as DateTime from "effect/DateTime"
import type { Centavos } from "../../pix/Money.ts"
import { type Unclear, unseen } from "./machine.ts"
import type { PayoutDone, PayoutEvent, PayoutStarted, PayoutUnknown } from "../Payout.ts"

/** An earlier run may have paid. */
export interface Doubt {
  readonly _tag: "Doubt"
  readonly idempotencyKey: string
  readonly amount: Centavos
  readonly check: string | undefined
  /** When it began; not known where the event was stored without a time. */
  readonly since: DateTime.Utc | undefined
  readonly error: Unclear
}

/** What is known of a reference under one key. */
export type Past = PayoutDone | Doubt

/** An event of one key. */
type KeyedEvent = Exclude<PayoutEvent, { readonly _tag: "Repeated" }>

/** The earlier of two times; a time that is not known is earlier than any. */
const earlier = (a: DateTime.Utc | undefined, b: DateTime.Utc | undefined) =>
  a === undefined || b === undefined ? undefined : DateTime.min(a, b)

/** What is known from the events of one key. */
const pastOf = (idempotencyKey: string, events: ReadonlyArray<KeyedEvent>): Past | undefined => {
  const done = events.find(({ _tag }) => _tag === "Done")
  if (done?._tag === "Done") return done
  const ended = new Set(
    events.map((event) => "startedAt" in event && event.startedAt && DateTime.toEpochMillis(event.startedAt))
  )
  const isUnclear = (event: KeyedEvent): event is PayoutStarted | PayoutUnknown =>
    event._tag === "Unknown" ||
    (event._tag === "Started" && (event.at === undefined || !ended.has(DateTime.toEpochMillis(event.at))))
  const requests = events.filter(isUnclear)
  const [first] = requests
  if (first === undefined) return undefined
  const last = requests.findLast(({ _tag }) => _tag === "Unknown")
  return {
    _tag: "Doubt",
    idempotencyKey,
    amount: first.amount,
    check: first.check,
    since: requests.map(({ at, since = at }) => since).reduce(earlier),
    error: last?._tag === "Unknown" ? last.error : unseen(idempotencyKey, "Interrupted")
  }
}

/** What is known of a reference that is to be sent under a key. The result has the key of the earlier request. */
type History = (reference: string, idempotencyKey: string) => Past | undefined

/** Reads the events of earlier runs. */
export const makeHistory = (events: Iterable<PayoutEvent>): History => {
  const eventsOf = new Map<string, Array<KeyedEvent>>()
  const add = (event: KeyedEvent) => {
    const known = eventsOf.get(event.reference)
    if (known === undefined) eventsOf.set(event.reference, [event])
    else known.push(event)
  }
  for (const event of events) {
    if (event._tag === "Repeated") continue
    add(event)
    if (event._tag !== "Refused" || event.error._tag !== "ReferenceConflict") continue
    // The conflict shows that a request was started before, and not how it ended.
    const { state: _, ...request } = event.error.earlier
    add({ _tag: "Started", index: event.index, reference: event.reference, ...request })
  }
  return (reference, idempotencyKey) => {
    const known = eventsOf.get(reference) ?? []
    const keys = new Set(known.flatMap((event) => event.idempotencyKey ?? []))
    const pasts = [...keys].flatMap(
      (key) =>
        pastOf(
          key,
          known.filter((event) => event.idempotencyKey === key)
        ) ?? []
    )
    const own = pasts.find((past) => past.idempotencyKey === idempotencyKey)
    if (own?._tag === "Done") return own
    return pasts.find((past) => past !== own) ?? own
  }
}
