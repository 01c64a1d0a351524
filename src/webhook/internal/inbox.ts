/**
 * The calls that were accepted: recorded first, then worked on in the background until each is finished, at the next
 * start if not in this one.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Balance } from "../../contract/Balance.ts"
import type { GetBalanceError } from "../../contract/PaymentsError.ts"
import { type UnconfirmedWithdrawal, WithdrawalNote } from "../WebhookEvent.ts"
import { inSpan } from "../../internal/spans.ts"
import { claimOf, type ConfirmOptions, makeConfirm, persistently } from "./confirm.ts"
import { digest, makeLocks } from "./keys.ts"
import type { Reading } from "./reader.ts"

export interface InboxOptions<P, M> extends Omit<ConfirmOptions<P, M>, "crowded"> {
  readonly balance: Effect.Effect<Balance, GetBalanceError>
  readonly read: (body: string) => Option.Option<Reading<P, M>>
  readonly capacity: number
}

const Note = Schema.fromJsonString(WithdrawalNote)
const decodeNote = Schema.decodeUnknownOption(Note)
const encodeNote = Schema.encodeEffect(Note)
const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Metadata comes back as text even where an object was sent. */
const plain = (metadata: unknown): unknown => Option.getOrElse(parseJson(metadata), () => metadata)

/** What is nested so deeply that it cannot be compared is not ours. */
const isSame = (ours: unknown, theirs: unknown): boolean =>
  Result.getOrElse(
    Result.try(() => Equal.equals(plain(ours), plain(theirs))),
    () => false
  )

const noteKeys = (withdrawal: {
  readonly idempotencyKey?: string | undefined
  readonly withdrawalId?: number | undefined
}) => [
  ...(withdrawal.idempotencyKey === undefined ? [] : [`withdrawal-key:${digest(withdrawal.idempotencyKey)}`]),
  ...(withdrawal.withdrawalId === undefined ? [] : [`withdrawal-id:${digest(String(withdrawal.withdrawalId))}`])
]

interface Work {
  /** The same call came again, or one that claims the same, after this one's lookup perhaps. */
  again: boolean
}

/** How many calls that claim the same of one transaction are confirmed, and how many reported, for themselves. */
const perClaim = 4

/** How long a caller waits for the store. */
const patience = "10 seconds"

export const makeInbox = Effect.fnUntraced(function* <P, M>(options: InboxOptions<P, M>) {
  const { capacity, store } = options
  const fibers = yield* FiberSet.make<unknown>()
  // With the context of the layer, not with that of a request: the work outlives the request.
  const fork = yield* FiberSet.runtime(fibers)<never>()
  /** The calls in work. One that comes again meanwhile is worked on once more afterwards. */
  const inWork = new Map<string, Work>()
  /** How many calls are being recorded. */
  let arriving = 0
  /** Nothing here waits for those who are told of a hint: they may be across a network. */
  const wake = (transactionId: string) => Effect.sync(() => void fork(options.wake(transactionId)))
  const { confirm, report } = makeConfirm({ ...options, wake, crowded: () => inWork.size > capacity / 2 })
  const locked = makeLocks()

  const noted = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
    for (const key of keys) {
      const note = decodeNote(yield* persistently(store.get(key)))
      if (Option.isSome(note)) return note.value
    }
    return undefined
  })

  const reportWithdrawal = Effect.fnUntraced(function* (
    id: string,
    { hint, untrusted }: Reading<P, M>,
    note?: WithdrawalNote
  ) {
    // Nothing vouches for such a call, so only the very same one counts as a repetition.
    const key = `withdrawal-call:${id}`
    if ((yield* persistently(store.get(key))) !== undefined) return true
    const metadata = note?.metadata
    const unconfirmed: UnconfirmedWithdrawal<P, M> = {
      _tag: "UnconfirmedWithdrawal",
      withdrawalId: hint.withdrawalId,
      idempotencyKey: hint.idempotencyKey,
      untrusted,
      evidence: {
        noted: note,
        sameMetadata:
          metadata === undefined || hint.metadata === undefined ? undefined : isSame(metadata, hint.metadata),
        balance: options.balance
      }
    }
    if (!(yield* report(unconfirmed))) return false
    yield* persistently(store.set(key, "reported"))
    return true
  })

  /** The calls that are being confirmed or reported, by what they claim of which transaction. */
  const claims = new Map<string, Set<Work>>()
  const enter = (key: string, state: Work) => {
    const states = claims.get(key) ?? new Set()
    claims.set(key, states.add(state))
    return () => {
      states.delete(state)
      if (states.size === 0 && claims.get(key) === states) claims.delete(key)
    }
  }

  /**
   * So that many calls about one transaction do not take the room of all others: where a few in work claim the same,
   * one of them looks once more for this one. It is recorded and unfinished, so this one need not be.
   */
  const confirmOrJoin = Effect.fnUntraced(function* (transactionId: string, { untrusted }: Reading<P, M>) {
    const key = `${claimOf(untrusted.status) ?? ""}:${transactionId.toLowerCase()}`
    const last = [...(claims.get(key) ?? [])].at(perClaim - 1)
    if (last !== undefined) {
      last.again = true
      return true
    }
    const state: Work = { again: false }
    const leave = enter(key, state)
    const outcome = yield* Effect.gen(function* () {
      while (true) {
        state.again = false
        const outcome = yield* confirm(transactionId, untrusted)
        if (state.again) continue
        // At once, so that no call joins what is over.
        leave()
        return outcome
      }
    }).pipe(Effect.ensuring(Effect.sync(leave)))
    if (typeof outcome === "boolean") return outcome
    // None joins a call that is reported, since it does not look again; but enough of the same report wait already.
    const reported = `${outcome.reason}:${key}`
    if ((claims.get(reported)?.size ?? 0) >= perClaim) return true
    return yield* Effect.ensuring(report(outcome), Effect.sync(enter(reported, state)))
  })

  const workOn = Effect.fnUntraced(function* (id: string, reading: Reading<P, M>) {
    const { hint, untrusted } = reading
    const note = yield* noted(noteKeys(hint))
    // A key of ours makes it a withdrawal, whatever else the call says.
    if (hint.about === "Withdrawal" || note !== undefined) return yield* reportWithdrawal(id, reading, note)
    if (hint.about === "Transaction" && hint.transactionId !== undefined) {
      return yield* confirmOrJoin(hint.transactionId, reading)
    }
    return yield* report({ _tag: "Unrecognised", untrusted })
  })

  /** Whether there is nothing more to do. Under the lock, so that no call comes in between unseen. */
  const close = (id: string, state: Work, finished: boolean) =>
    locked(
      id,
      Effect.gen(function* () {
        if (state.again) return false
        if (finished) yield* persistently(store.finish(id))
        else yield* Effect.logError("Webhook: a call was given up, it is resumed at the next start")
        inWork.delete(id)
        return true
      })
    )

  const job = (id: string, reading: Reading<P, M>, state: Work) =>
    inSpan("Webhook.process", { kind: "internal", attributes: {} }, () =>
      Effect.gen(function* () {
        do {
          state.again = false
        } while (!(yield* close(id, state, yield* workOn(id, reading))))
      })
    ).pipe(
      Effect.catchDefect(() => Effect.logError("Webhook: a call stopped, it is resumed at the next start")),
      Effect.ensuring(Effect.sync(() => inWork.get(id) === state && inWork.delete(id)))
    )

  const start = (id: string, reading: Reading<P, M>) => {
    const state = { again: false }
    inWork.set(id, state)
    fork(job(id, reading, state))
  }

  const take = Effect.fnUntraced(function* (id: string, body: string, reading: Reading<P, M>) {
    const known = inWork.get(id)
    if (known !== undefined) known.again = true
    else {
      yield* store.record({ id, body })
      start(id, reading)
    }
    if (reading.hint.transactionId !== undefined) yield* wake(reading.hint.transactionId)
  })

  /**
   * When it answers `true`, the call is recorded; `false` when there is too much to do, or the store is too slow. It
   * goes on by itself when the caller goes away: what is recorded is worked on.
   */
  const accept = (body: string, reading: Reading<P, M>) =>
    Effect.suspend(() => {
      const id = digest(body)
      if (arriving + (inWork.has(id) ? 0 : inWork.size) >= capacity) return Effect.succeed(false)
      arriving++
      const taking = fork(
        locked(id, take(id, body, reading)).pipe(Effect.result, Effect.ensuring(Effect.sync(() => arriving--)))
      )
      return Fiber.await(taking).pipe(
        // No success: the store is defective, or the process is about to end.
        Effect.flatMap((exit) =>
          Exit.isSuccess(exit) ? Effect.as(Effect.fromResult(exit.value), true) : Effect.succeed(false)
        ),
        Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed(false) })
      )
    })

  const resume = Effect.gen(function* () {
    for (const { body, id } of yield* persistently(store.unfinished)) {
      const reading = options.read(body)
      if (Option.isNone(reading)) {
        yield* Effect.logError("Webhook: a recorded call no longer fits the payload's schema, it is left where it is")
      } else {
        yield* locked(
          id,
          Effect.sync(() => inWork.has(id) || start(id, reading.value))
        )
      }
    }
  })
  fork(resume)

  return {
    accept,
    idle: FiberSet.awaitEmpty(fibers),
    remember: Effect.fnUntraced(function* (note: WithdrawalNote) {
      const text = yield* Effect.orDie(encodeNote(note))
      yield* Effect.forEach(noteKeys(note), (key) => store.set(key, text), { discard: true })
    })
  }
})
