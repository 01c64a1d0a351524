/**
 * What earlier runs say of each reference, by the keys that it was sent under. In doubt money may have moved.
 *
 * | events of a key, in order | what is known of it |
 * |---|---|
 * | any `Done` | done |
 * | any `Unknown` | unknown, whatever was refused later: only a readable success says more |
 * | a `Started`, then no result of its own | unknown: the run ended while it may have been under way |
 * | a `Started`, then its `Refused` or `NotStarted`, whose `startedAt` is its time | nothing: it moved no money |
 * | only refused or not started | nothing |
 *
 * An event that occurs twice (the same `at`) counts once. A time that is not there counts as long ago.
 *
 * What is known of a reference under another key than asked for counts more than a doubt about the key itself: the
 * service recognises no payment under another key.
 */
import * as DateTime from "effect/DateTime"
import type { Centavos } from "../../pix/Money.ts"
import { type Unclear, unseen } from "./machine.ts"
import type { PayoutDone, PayoutEvent, PayoutStarted } from "../Payout.ts"

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

interface Key {
  done?: PayoutDone
  doubt?: Doubt
  /** Started, without a result so far. */
  open?: PayoutStarted
  /** The times of what was started. */
  readonly starts: Set<number>
}

/** What is known of a reference that is to be sent under a key. The answer has the key that it is known under. */
type History = (reference: string, idempotencyKey: string) => Past | undefined

/** Reads the events of earlier runs, in their order. */
export const makeHistory = (events: Iterable<PayoutEvent>): History => {
  const keys = new Map<string, Key>()
  const keysOf = new Map<string, Set<Key>>()

  const keyOf = (reference: string, idempotencyKey: string): Key => {
    const key: Key = keys.get(idempotencyKey) ?? { starts: new Set() }
    keys.set(idempotencyKey, key)
    keysOf.set(reference, (keysOf.get(reference) ?? new Set()).add(key))
    return key
  }
  const doubt = (key: Key, found: Omit<Doubt, "_tag">) => {
    key.doubt =
      key.doubt === undefined
        ? { _tag: "Doubt", ...found }
        : { ...key.doubt, since: earlier(key.doubt.since, found.since), error: found.error }
  }
  /** What is open stays without a result. */
  const giveUp = (key: Key) => {
    if (key.open === undefined) return
    const { amount, at, check, idempotencyKey, since = at } = key.open
    delete key.open
    doubt(key, {
      idempotencyKey,
      amount,
      check,
      since,
      error: key.doubt?.error ?? unseen(idempotencyKey, "Interrupted")
    })
  }

  /** What was started then has its result: it moved no money. */
  const close = (key: Key, startedAt: DateTime.Utc | undefined) => {
    const { at } = key.open ?? {}
    if (at !== undefined && startedAt !== undefined && DateTime.Equivalence(at, startedAt)) delete key.open
  }

  for (const event of events) {
    if (event._tag === "Repeated" || event.idempotencyKey === undefined) continue
    const { idempotencyKey, reference } = event
    const key = keyOf(reference, idempotencyKey)
    switch (event._tag) {
      case "Done":
        key.done ??= event
        break
      case "Unknown": {
        const { amount, at, check, error, since = at } = event
        giveUp(key)
        doubt(key, { idempotencyKey, amount, check, since, error })
        break
      }
      case "Started": {
        const time = event.at === undefined ? undefined : DateTime.toEpochMillis(event.at)
        if (time !== undefined && key.starts.has(time)) break
        if (time !== undefined) key.starts.add(time)
        giveUp(key)
        key.open = event
        break
      }
      case "Refused":
        if (event.error._tag === "ReferenceConflict") {
          const { amount, check, idempotencyKey, since } = event.error.earlier
          const before = keyOf(reference, idempotencyKey)
          doubt(before, {
            idempotencyKey,
            amount,
            check,
            since,
            error: before.doubt?.error ?? unseen(idempotencyKey, "Interrupted")
          })
        } else close(key, event.startedAt)
        break
      case "NotStarted":
        close(key, event.startedAt)
        break
    }
  }
  for (const key of keys.values()) giveUp(key)

  return (reference, idempotencyKey) => {
    const own = keys.get(idempotencyKey)
    if (own?.done !== undefined) return own.done
    const others = [...(keysOf.get(reference) ?? [])].filter((key) => key !== own)
    return others.map(({ done, doubt }) => done ?? doubt).find((past) => past !== undefined) ?? own?.doubt
  }
}
