/**
 * What earlier runs say of each reference, by the keys that it was sent under. In doubt money may have moved.
 *
 * | events of a key | what is known of it |
 * |---|---|
 * | any `Done` | done |
 * | any `Unknown` | unknown, whatever was refused later: only a readable success says more |
 * | a `Started` whose time no `Refused` or `NotStarted` has as its `startedAt` | unknown: the run ended while it may have been under way |
 * | the `earlier` request of a `ReferenceConflict` | unknown |
 * | nothing of these | nothing: no money moved |
 *
 * The order of the events does not matter, nor how often one occurs. A time that is not there counts as long ago.
 *
 * What is known of a reference under another key than asked for counts more than a doubt about the key itself: the
 * service recognises no payment under another key.
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
  /** Since when; not known where it was stored without a time. */
  readonly since: DateTime.Utc | undefined
  readonly error: Unclear
}

/** What is known of a reference under one key. */
export type Past = PayoutDone | Doubt

/** The earlier of two times; one that is not known is earlier than any. */
const earlier = (a: DateTime.Utc | undefined, b: DateTime.Utc | undefined) =>
  a === undefined || b === undefined ? undefined : DateTime.min(a, b)

/** A request that may have been executed; `error` where its run was told why. */
type Request = Omit<Doubt, "_tag" | "error" | "idempotencyKey"> & { readonly error?: Unclear }

/** What the events say of one key. */
interface Key {
  readonly idempotencyKey: string
  done?: PayoutDone
  readonly unknown: Array<Request>
  readonly started: Array<PayoutStarted>
  /** When those requests were started that moved no money, in milliseconds. */
  readonly ended: Set<number>
}

const requestOf = ({ amount, at, check, since = at }: PayoutStarted | PayoutUnknown, error?: Unclear): Request => ({
  amount,
  check,
  since,
  ...(error && { error })
})

const doubtOf = ({ ended, idempotencyKey, started, unknown }: Key): Doubt | undefined => {
  const isOpen = ({ at }: PayoutStarted) => at === undefined || !ended.has(DateTime.toEpochMillis(at))
  const requests = [...unknown, ...started.filter(isOpen).map((event) => requestOf(event))]
  const [first] = requests
  if (first === undefined) return undefined
  return {
    _tag: "Doubt",
    idempotencyKey,
    amount: first.amount,
    check: first.check,
    since: requests.map(({ since }) => since).reduce(earlier),
    error: unknown.findLast(({ error }) => error !== undefined)?.error ?? unseen(idempotencyKey, "Interrupted")
  }
}

/** What is known of a reference that is to be sent under a key. The answer has the key that it is known under. */
type History = (reference: string, idempotencyKey: string) => Past | undefined

/** Reads the events of earlier runs. */
export const makeHistory = (events: Iterable<PayoutEvent>): History => {
  const keys = new Map<string, Key>()
  const keysOf = new Map<string, Set<Key>>()
  const keyOf = (reference: string, idempotencyKey: string): Key => {
    const key = keys.get(idempotencyKey) ?? { idempotencyKey, unknown: [], started: [], ended: new Set() }
    keys.set(idempotencyKey, key)
    keysOf.set(reference, (keysOf.get(reference) ?? new Set()).add(key))
    return key
  }

  for (const event of events) {
    if (event._tag === "Repeated" || event.idempotencyKey === undefined) continue
    const key = keyOf(event.reference, event.idempotencyKey)
    switch (event._tag) {
      case "Done":
        key.done ??= event
        break
      case "Unknown":
        key.unknown.push(requestOf(event, event.error))
        break
      case "Started":
        key.started.push(event)
        break
      case "Refused":
      case "NotStarted":
        if (event.startedAt !== undefined) key.ended.add(DateTime.toEpochMillis(event.startedAt))
        // A stop has the failure of another payout.
        if (event._tag === "Refused" && event.error._tag === "ReferenceConflict") {
          const { amount, check, idempotencyKey, since } = event.error.earlier
          keyOf(event.reference, idempotencyKey).unknown.push({ amount, check, since })
        }
        break
    }
  }

  return (reference, idempotencyKey) => {
    const own = keys.get(idempotencyKey)
    if (own?.done !== undefined) return own.done
    for (const key of keysOf.get(reference) ?? []) {
      const past = key === own ? undefined : (key.done ?? doubtOf(key))
      if (past !== undefined) return past
    }
    return own && doubtOf(own)
  }
}
