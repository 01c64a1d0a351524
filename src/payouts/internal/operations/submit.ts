/**
 * Accepts payouts: checks and seals all of them, and inserts all or none.
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { DatabaseError } from "../../../durable/Database.ts"
import { Centavos } from "../../../pix/Money.ts"
import { LooksAlike, type PayoutItem, PayoutsNotAccepted, ReferenceConflict } from "../../Payout.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Seal } from "../../Seal.ts"
import type { Core } from "../core.ts"
import {
  isSameRequest,
  nameOf,
  placeOf,
  sealed,
  type Stored,
  type Submission,
  submission,
  readRequest
} from "../store/request.ts"
import { Row } from "../machine/row.ts"
import type { Store } from "../store/store.ts"

export type Wrong = PayoutsNotAccepted["wrong"][number]

/** A run of a sheet. */
export interface Run {
  /** Whether a reference may look like another one. */
  readonly isAllowed: (reference: string) => boolean
}

interface Inserted {
  readonly row: Row
  readonly isNew: boolean
}

/** How long a run compares its payouts with earlier ones, in milliseconds. */
const aDay = 86_400_000

/** The sum of payouts in centavos, each key once. Beyond the safe integers it is above every limit. */
export const sumOf = (payouts: ReadonlyArray<Pick<Submission, "amount" | "idempotencyKey">>): number => {
  const amounts = new Map(payouts.map(({ amount, idempotencyKey }) => [idempotencyKey, amount]))
  return Math.min(
    [...amounts.values()].reduce((sum, amount) => sum + amount, 0),
    Number.MAX_SAFE_INTEGER
  )
}

/** Rolls back where a payout is wrong. */
export const allOrNone = <A>({ rows, wrong }: { readonly rows: A; readonly wrong: ReadonlyArray<Wrong> }) =>
  Arr.isReadonlyArrayNonEmpty(wrong)
    ? Effect.fail(new PayoutsNotAccepted({ outcome: "NotSent", wrong }))
    : Effect.succeed(rows)

/** How a payout differs from the earlier one of its reference. */
const conflictOf = (row: Row, earlier: Row, isSame: boolean): ReferenceConflict | undefined => {
  const differs = [
    ...(earlier.amount === row.amount ? [] : ["amount" as const]),
    ...(isSame ? [] : ["content" as const])
  ]
  if (differs.length === 0) return undefined
  return new ReferenceConflict({
    outcome: "NotSent",
    reference: row.reference,
    amount: Centavos.make(row.amount),
    differs,
    earlier: {
      idempotencyKey: earlier.idempotencyKey,
      amount: Centavos.make(earlier.amount),
      since: DateTime.makeUnsafe(earlier.submittedAt)
    }
  })
}

export const makeAccept = (core: Core, settings: Settings, seal: Seal) => {
  const { store } = core
  const { account } = settings
  const findAlike = makeFindAlike(store, seal)
  /** A run compares its payouts with others. */
  const transactionOf = (run: Run | undefined) => (run === undefined ? store.transaction : store.readCommitted)

  /** Whether an earlier payout asked for the same. Of one whose request was deleted only the amount is known. */
  const isSameContent = (row: Row, { text }: Submission) =>
    row.request === null
      ? Effect.succeed(true)
      : Effect.map(seal.open(row.request, placeOf(row, "request")), (stored) => isSameRequest(stored, text))

  /** Checks and seals all, before the transaction begins. */
  const sealAll = Effect.forEach((payout: PayoutItem) =>
    Effect.flatMap(Effect.fromResult(submission(account, payout)), (one) =>
      Effect.map(sealed(seal, one), (stored) => [one, stored] as const)
    ).pipe(Effect.result)
  )

  /** Inserts one payout, or finds it. A conflict is a value, so that the transaction goes on to the next payout. */
  const insert = Effect.fnUntraced(function* (
    submitted: Submission,
    stored: Stored
  ): Effect.fn.Return<Result.Result<Inserted, Wrong["error"]>, SqlError | DatabaseError> {
    const now = yield* Clock.currentTimeMillis
    // A clock that is ahead must not make the doubt look younger than it is.
    const mayHaveLeftAt = stored.state === "unknown" ? Math.min(stored.mayHaveLeftAt ?? now, now) : null
    const row = Row.make({ ...stored, mayHaveLeftAt, submittedAt: now, updatedAt: now })
    const inserted = yield* core.insert(row)
    if (inserted !== undefined) return Result.succeed({ row: inserted, isNew: true })
    const earlier = yield* store.get(row.idempotencyKey)
    if (earlier === undefined) {
      // The row was committed after this transaction had begun, so this transaction does not see it.
      return yield* new DatabaseError({ operation: "submit", reason: "SerializationError", isRetryable: true })
    }
    if (stored.state === "unknown" && earlier.mayHaveLeftAt === null && earlier.withdrawalId === null) {
      const problem = `is that of a payout (${earlier.state}) that was submitted as one that no call began. Park it, look in the panel, and settle it`
      return Result.fail(invalidWithdrawal([{ path: "reference", problem }]))
    }
    const isSame = yield* isSameContent(earlier, submitted)
    const differing = conflictOf(row, earlier, isSame)
    return differing === undefined ? Result.succeed({ row: earlier, isNew: false }) : Result.fail(differing)
  })

  /** Those that look like another payout, and may not. */
  const alikeOf = (judged: ReadonlyArray<Judged>, { isAllowed }: Run) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => findAlike(judged, now - aDay, isAllowed))

  /** Inserts all. A run compares what is new. */
  const insertAll = Effect.fnUntraced(function* (
    payouts: ReadonlyArray<PayoutItem>,
    wanted: Effect.Success<ReturnType<typeof sealAll>>,
    run: Run | undefined
  ) {
    const rows: Array<Row> = []
    const judged: Array<Judged> = []
    /** By key, since the same line twice is one payout. */
    const earlier = new Map<string, Row>()
    const wrong: Array<Wrong> = []
    for (const [index, one] of wanted.entries()) {
      const inserted = Result.isFailure(one) ? Result.fail(one.failure) : yield* insert(...one.success)
      if (Result.isFailure(inserted)) {
        wrong.push({ index, ...nameOf(payouts[index]), error: inserted.failure })
        continue
      }
      const { isNew, row } = inserted.success
      rows.push(row)
      if (isNew) judged.push({ index, row })
      else if (!judged.some((one) => one.row.idempotencyKey === row.idempotencyKey))
        earlier.set(row.idempotencyKey, row)
    }
    if (run !== undefined) {
      for (const { index, other, row } of yield* alikeOf(judged, run)) {
        const { reference } = row
        const amount = Centavos.make(row.amount)
        const error = new LooksAlike({ outcome: "NotSent", reference, amount, other })
        wrong.push({ index, reference, amount, error })
      }
    }
    return {
      rows,
      earlier: [...earlier.values()],
      wrong: wrong.toSorted((a, b) => a.index - b.index)
    }
  })

  /**
   * Inserts all in one transaction, and returns their rows and what is wrong with each; `decide` may roll back. The right
   * payouts are inserted also where another one is wrong, to find every conflict.
   */
  const acceptAll = <A, E>(
    payouts: ReadonlyArray<PayoutItem>,
    run: Run | undefined,
    decide: (accepted: Effect.Success<ReturnType<typeof insertAll>>) => Effect.Effect<A, E>
  ) =>
    Effect.flatMap(sealAll(payouts), (wanted) =>
      transactionOf(run)(Effect.flatMap(insertAll(payouts, wanted, run), decide))
    )

  return acceptAll
}

/** A row that is judged. */
interface Judged {
  /** Its place in the sheet. */
  readonly index: number
  readonly row: Row
}

/** A payout, and the reference of the other one. */
interface Alike extends Judged {
  readonly other: string
}

/** The key and its kind as they are sent. The company's own key is one key. */
const pairOf = (text: string): string | undefined =>
  Option.getOrUndefined(
    Option.map(readRequest(text), ({ pixKey = null, pixKeyType = null }) => JSON.stringify([pixKey, pixKeyType]))
  )

/** The first payout that a judged one looks like. */
const otherOf = (
  { index, row }: Judged,
  rows: ReadonlyArray<Row>,
  pairs: ReadonlyMap<string, string | undefined>,
  places: ReadonlyMap<string, number>
) => {
  const own = pairs.get(row.idempotencyKey)
  return rows.find(({ idempotencyKey }) => {
    const pair = pairs.get(idempotencyKey)
    return (
      idempotencyKey !== row.idempotencyKey &&
      (places.get(idempotencyKey) ?? -1) < index &&
      (pair === undefined || own === undefined || pair === own)
    )
  })
}

const makeFindAlike = (store: Store, seal: Seal) => {
  const openPair = ({ account, reference, request }: Row): Effect.Effect<string | undefined> =>
    request === null
      ? Effect.undefined
      : Effect.suspend(() => seal.open(request, { account, reference, column: "request" })).pipe(
          Effect.map(pairOf),
          Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.undefined }),
          Effect.catchDefect(() => Effect.undefined)
        )

  /**
   * Compares rows of this transaction with those that were submitted since a time, and with those before them in the sheet. No
   * other transaction compares payouts of the same amount until this one ends.
   */
  return Effect.fnUntraced(function* (
    judged: ReadonlyArray<Judged>,
    since: number,
    isAllowed: (reference: string) => boolean
  ): Effect.fn.Return<ReadonlyArray<Alike>, SqlError> {
    const places = new Map(judged.map(({ index, row }) => [row.idempotencyKey, index]))
    const found: Array<Alike> = []
    // In one order, so that two transactions do not wait for each other.
    for (const amount of [...new Set(judged.map(({ row }) => row.amount))].toSorted((a, b) => a - b)) {
      yield* store.lockAmount(amount)
      const own = judged.filter(({ row }) => row.amount === amount)
      const compared = own.filter(({ row }) => !isAllowed(row.reference))
      if (compared.length === 0) continue
      const stored = yield* store.ofAmount(amount, Math.max(0, since))
      // One that is resumed may be older.
      const byKey = new Map([...stored, ...own.map(({ row }) => row)].map((row) => [row.idempotencyKey, row]))
      const rows = [...byKey.values()]
      if (rows.length < 2) continue
      const pairs = new Map(
        yield* Effect.forEach(rows, (row) => Effect.map(openPair(row), (pair) => [row.idempotencyKey, pair] as const))
      )
      for (const one of compared) {
        const other = otherOf(one, rows, pairs, places)
        if (other !== undefined) found.push({ ...one, other: other.reference })
      }
    }
    return found.toSorted((a, b) => a.index - b.index)
  })
}
