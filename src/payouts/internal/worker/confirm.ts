/**
 * Confirms payouts: looks their withdrawals up when they are due, and stores what the records say. Sends have fibers of their own, so
 * neither waits for the other. A withdrawal is looked up by one worker at a time, and what it says changes the row that was read or
 * nothing.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import type { PaymentsClient } from "../../../client/PaymentsClient.ts"
import { PaymentsPolicy } from "../../../client/PaymentsPolicy.ts"
import type { WithdrawalLookup } from "../../../client/WithdrawalLookup.ts"
import { meaningOf, type Words } from "../../../contract/Status.ts"
import { plainWord } from "../../../contract/StatusWords.ts"
import type { WithdrawalDetail, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import type { DueRow } from "../../../durable/Due.ts"
import { makeWarn, orTryAgain, TryAgain } from "../../../durable/Work.ts"
import { type Rows, workRows } from "../../../durable/WorkRows.ts"
import { Caller } from "../../../internal/caller.ts"
import { compareToCentavo } from "../../../internal/decimal.ts"
import { displayMessage } from "../../../internal/mask.ts"
import type { Sender } from "../../../internal/sender.ts"
import { inSpan } from "../../../internal/spans.ts"
import { endToEnd } from "../../../internal/wire.ts"
import { isOtherKey } from "../../../pix/OtherKey.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Seal } from "../../Seal.ts"
import { logFields } from "../machine/answers.ts"
import { databaseTime, type ReadAccount, type Account } from "../machine/account.ts"
import { leftOf, lookupSpacing } from "../machine/accountTime.ts"
import type { Core } from "../core.ts"
import type { Event, Found } from "../machine/events.ts"
import { logFound, logOther, logUnconfirmed } from "../signals/log.ts"
import { makeSealing } from "./record.ts"
import { type Row, reaisText } from "../machine/row.ts"
import { changedMeanwhile } from "./mark.ts"
import { isOf } from "./sender.ts"
import { keyFields, payoutFields, spanFields } from "../signals/signals.ts"
import type { Take } from "./take.ts"

const name = "Payouts: confirming"

/** How many lookups of this process may be under way. */
const concurrency = 10

const minute = 60_000
const longKnown = 60 * minute

/** The request of a row, where it can be opened. */
type Open = (row: Row) => Effect.Effect<WithdrawalRequestBody | undefined, TryAgain>

export const makeConfirm = (
  core: Core,
  { account: accountName, lease, poll }: Settings,
  { until }: { readonly until: number },
  given: {
    readonly client: PaymentsClient["Service"]
    readonly take: Take
    readonly lookup: WithdrawalLookup["Service"]
    readonly open: Open
    readonly seal: Seal
    readonly retrying: <A, R>(effect: Effect.Effect<A, SqlError | TryAgain, R>) => Effect.Effect<A, TryAgain, R>
  }
) => {
  const { client, lookup, open, retrying, seal, take } = given
  const { sealReason } = makeSealing(seal, core.logPayout)
  const { accounts, followWrites, lookups } = core.store
  const warn = makeWarn(`Lookups of withdrawals of the account ${accountName} fail, and are repeated`)

  let again: number | undefined
  /** Takes the next lookup in its turn. Sends go before it where the account has a pace. */
  const due: Rows = {
    take: Effect.fnUntraced(function* (taker: string, lease: number) {
      const account = yield* take.current
      const sends = yield* core.store.findDue
      const rows = yield* lookups.take(taker, lease, 1, {
        turn: (found) => accounts.lookupTurn(account, sends, found)
      })
      again = rows.length === 0 ? undefined : lookupSpacing
      return rows
    }),
    untilNext: Effect.gen(function* () {
      const millis = yield* lookups.untilNext
      if (millis > 0) return millis
      const account = yield* accounts.get
      return Math.min(
        minute,
        Math.max(lookupSpacing, (account.lookupAt ?? 0) - account.readAt, leftOf(account, account.readAt))
      )
    }),
    renew: lookups.renew,
    giveBack: lookups.giveBack,
    again: () => again
  }

  const ask = (id: number, account: ReadAccount) =>
    lookup.get(id).pipe(
      Effect.updateService(Caller, (caller) => ({
        ...caller,
        isSender: (sender: Sender) => isOf(sender, account, account.fingerprint)
      })),
      // A repetition has its own place among the lookups of a second.
      Effect.provideServiceEffect(
        PaymentsPolicy,
        Effect.map(client.policy, (policy) => PaymentsPolicy.make({ ...policy, retryReads: Schedule.recurs(0) }))
      ),
      Effect.result
    )

  /** Takes the step of an event; fails where another process changed the row first. */
  const step = Effect.fnUntraced(function* (row: Row, event: Event<"LookedUp" | "LookupMissed">) {
    const after = yield* core.step(row, event)
    // Only a mark is refused by a cap or a time.
    if (typeof after !== "object") return yield* changedMeanwhile()
    yield* Effect.annotateCurrentSpan(payoutFields(after))
    yield* logUnconfirmed(core.logPayout, row, after, until)
    return after
  })
  const miss = (row: Row, now: number) => step(row, { _tag: "LookupMissed", now, until })

  const store = Effect.fnUntraced(function* (row: Row, account: ReadAccount, detail: WithdrawalDetail, now: number) {
    const others = othersOf(detail, row, account, detail.pixKey === undefined ? undefined : yield* open(row))
    if (others.length > 0) return yield* Effect.andThen(miss(row, now), logOther(row, others))
    const found = foundOf(detail, client.facts.statuses)
    const said = found.meaning === "paid" || found.meaning === "open" ? undefined : reasonOf(detail)
    const reason = yield* sealReason(row, said)
    const after = yield* step(row, { _tag: "LookedUp", now, until, found, reason })
    yield* logFound(core.logPayout, row, after, found, said)
  })

  const confirm = Effect.fnUntraced(
    function* (row: Row) {
      const account = yield* take.current
      // A number is there, since only a record is looked up.
      const answer = yield* ask(row.withdrawalId ?? 0, account)
      // The clock of this process may be wrong, and others have written the times of the row.
      const now = databaseTime(account, yield* Clock.currentTimeMillis)
      if (Result.isSuccess(answer)) {
        return yield* store(row, account, answer.success, now)
      }
      const { failure } = answer
      const isUnknown = failure._tag === "WithdrawalNotFound"
      // A number that the service named so long ago, and does not know, is a sign that it has no lookup.
      if (!isUnknown || now - (row.markedAt ?? row.submittedAt) >= longKnown) yield* warn(Cause.fail(failure))
      if (isUnknown) return yield* miss(row, now)
      return yield* new TryAgain({ reason: failure._tag })
    },
    (effect, row) => Effect.annotateLogs(orTryAgain(name, payoutFields(row))(retrying(effect)), logFields(row))
  )

  const handle = (taken: DueRow) =>
    Effect.gen(function* () {
      const row = yield* core.store.readTaken(taken)
      const options = { kind: "internal", attributes: spanFields(row), root: true } as const
      yield* inSpan("PayoutQueue.confirm", options, () => confirm(row))
    }).pipe(orTryAgain(name, keyFields(taken.key)))

  return { run: workRows({ name, due, concurrency, lease, poll, isDue: core.isLookupDue, followWrites, handle }) }
}

const endToEndIdOf = (text: string | undefined) => (text !== undefined && endToEnd.test(text) ? text : undefined)

/** What a record says. */
const foundOf = (detail: WithdrawalDetail, statuses: Words): Found => ({
  meaning: meaningOf(detail.enTransaction, "payout", statuses),
  word: plainWord(detail.enTransaction),
  endToEndId: endToEndIdOf(detail.providerEndToEndId),
  value: reaisText(detail.value),
  updatedAt: detail.updateDate?.epochMilliseconds
})

/** The provider's words for why it failed, masked as the words of a refusal are. */
const reasonOf = ({ creditorDocument, description, pixKey, providerErrorDescription }: WithdrawalDetail) =>
  providerErrorDescription === undefined
    ? undefined
    : displayMessage(providerErrorDescription, () =>
        [pixKey, creditorDocument, description].filter(Predicate.isNotUndefined)
      ) || undefined

const isOtherAmount = ({ amount, value }: WithdrawalDetail, row: Row) =>
  amount === undefined ? compareToCentavo(value, row.amount) !== 0 : amount !== row.amount

/**
 * The fields by which a record is about another payout. `request` is the stored one, where it can be opened. A record without the key
 * is about none.
 */
const othersOf = (
  detail: WithdrawalDetail,
  row: Row,
  { companyId }: Pick<Account, "companyId">,
  request: WithdrawalRequestBody | undefined
): ReadonlyArray<string> => {
  const { pixKey, pixKeyType } = request ?? {}
  const others = {
    idempotencyKey: detail.idempotencyKey !== row.idempotencyKey,
    amount: isOtherAmount(detail, row),
    pixKey:
      detail.pixKey !== undefined &&
      pixKey !== undefined &&
      pixKeyType !== undefined &&
      isOtherKey(detail.pixKey, { pixKey, pixKeyType }),
    companyId: detail.companyId !== undefined && companyId !== null && detail.companyId !== companyId
  }
  return Object.entries(others).flatMap(([field, isOther]) => (isOther ? [field] : []))
}
