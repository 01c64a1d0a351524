/**
 * The time of an account: when its next request may leave. It is a function of the account's row and of what happened, which all
 * workers share. Nothing here reads or writes.
 *
 * - A request that the service takes shortens it: the next one may leave at once, or after the spacing of the account's pace.
 * - A refusal of the account lengthens it: to the time that the service named, else to 5, 10, 20 seconds and so on, up to 5 minutes. The
 *   account is held then: one payout at a time is tried.
 * - A failure that may be about its payout alone counts where three payouts in a row had one.
 * - The first request after a minute of rest, or while the account is held, moves it by its own deadline, until it is answered. So few
 *   payouts meet a refusal that is new.
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { type Because, becauseOf } from "../../PayoutBecause.ts"
import { accountCause, causeOfOneOrAll, digestOf, isAboutPayout, sentenceIn } from "./answers.ts"
import type { Account, ReadAccount } from "./account.ts"
import { isNextNow, limits } from "./conditions.ts"
import { isWindowOpen, untilMinute } from "./days.ts"
import type { Row } from "./row.ts"

/** The columns of the account that say when its next request may leave. */
export type AccountTime = Pick<
  Account,
  "nextAt" | "setAt" | "heldAt" | "heldBecause" | "refusals" | "suspects" | "unknowns" | "shortOf" | "limitedAt"
>
type Timed = AccountTime & Pick<Account, "paceMost" | "pacePer">

/** What an answer says of the account. Durations are in milliseconds. */
export type Said =
  /** The service took an amount, or refused a payout by itself (0): it takes the requests of the account. */
  | { readonly _tag: "Taken"; readonly amount: number }
  /** It refuses the requests of the account, for the time that it named. */
  | {
      readonly _tag: "Refused"
      readonly because: Because<"accepted">
      readonly named: number | undefined
      readonly amount: number
      /** What a third answer alike stops the account for: the payout is parked or ended by it. */
      readonly costs?: string | undefined
    }
  /** The balance does not cover the amount. It is no news of a payout that waits for the balance. */
  | { readonly _tag: "Short"; readonly isNews: boolean; readonly amount: number }
  /** It may be about the payout, or about the account: it broke, was silent, or gave no word. */
  | { readonly _tag: "Unclear"; readonly because: Because<"accepted">; readonly key: string }
  /** Nothing left, or nothing is said of the account. */
  | { readonly _tag: "Nothing" }

const minute = 60_000
const longest = 5 * minute

/** The time between two lookups of an account, by all of its workers: five a second. */
export const lookupSpacing = 200

/** How long a request may be late, in milliseconds: it leaves in this time after its own, or takes another time. */
export const marginOf = ({ pacePer }: Pick<Account, "pacePer">): number =>
  pacePer === null ? Infinity : Math.ceil(Math.min(1000, pacePer / 25))

/** How far apart the requests of an account are, in milliseconds: so that `most` of them, and one that is late, are not in one `per`. */
export const spacingOf = (account: Pick<Account, "paceMost" | "pacePer">): number =>
  account.pacePer === null ? 0 : Math.ceil((account.pacePer + marginOf(account)) / (account.paceMost ?? 1))

/** In how many milliseconds the next request may leave, at a time of the database's clock. */
export const leftOf = (account: Pick<Account, "nextAt" | "setAt">, now: number): number =>
  isNextNow.of({ account, given: { now } }) ? 0 : (account.nextAt ?? 0) - now

const hasRested = ({ setAt }: AccountTime, now: number) => setAt === null || Math.abs(now - setAt) >= minute

/** Whether each request has to take its turn: the account has something to wait for, or nobody knows whether the service takes it. */
export const givesTurns = (account: Timed, now: number): boolean =>
  account.pacePer !== null || account.heldBecause !== null || leftOf(account, now) > 0 || hasRested(account, now)

/**
 * The account after a request took its turn, and the time of that request. `deadline`: how long it may take, in milliseconds. `isAlone`:
 * its amount was refused before, so no other is sent until its answer.
 */
export const afterTurn = (account: Timed, now: number, deadline: number, isAlone = false) => {
  const { heldBecause, nextAt } = account
  // A turn that is taken a moment after its time moves no later one.
  const isOnTime = nextAt !== null && nextAt <= now && now - nextAt <= marginOf(account) / 2 && account.pacePer !== null
  const time = isOnTime ? nextAt : now
  const alone = isAlone || heldBecause !== null || hasRested(account, now) ? now + deadline : 0
  return { time, next: { nextAt: Math.max(time + spacingOf(account), alone), setAt: now } }
}

const isLimit = (because: string | null) => limits.some((limit) => limit === because)

/** How long an account is stopped: until a person releases it. */
const stopped = 1000 * 365 * 24 * 60 * minute

/** The account after an answer that cost a payout; the third one alike without a success between stops it. */
const counted = <Time extends Timed>(
  account: Time,
  { because, costs }: Said & { readonly _tag: "Refused" },
  now: number
): Time => {
  if (costs === undefined) return account
  const unknowns = [...(account.unknowns?.split(" ") ?? []), costs].slice(-20)
  const isThird = unknowns.filter((one) => one === costs).length >= 3
  const after = { ...account, unknowns: unknowns.join(" ") }
  return isThird
    ? { ...after, heldAt: account.heldAt ?? now, heldBecause: because, nextAt: now + stopped, setAt: now }
    : after
}

const doubling = (refusals: number) => Math.min(5000 * 2 ** refusals, longest)

/** The earliest time that the account's pace allows. */
const earliestAt = (account: Timed, now: number) => Math.min(account.setAt ?? 0, now) + spacingOf(account)

/** The next request may leave as soon as the pace allows: none is under way alone, or a person changed what it waits for. */
export const released = <Time extends Timed>(account: Time, now: number): Time => {
  const { nextAt } = account
  return nextAt === null ? account : { ...account, nextAt: Math.min(nextAt, earliestAt(account, now)) }
}

const held = <Time extends Timed>(account: Time, because: Because<"accepted">, wait: number, now: number): Time => ({
  ...account,
  nextAt: Math.max(now + wait, earliestAt(account, now)),
  setAt: now,
  heldAt: account.heldAt ?? now,
  heldBecause: because,
  refusals: account.refusals + 1,
  suspects: null,
  limitedAt: isLimit(because) ? now : account.limitedAt
})

/**
 * The account after an answer that came now, to a request that was taken when there were so many `refusals`: of those that were under
 * way together the first refusal counts, and no success of before it.
 */
export const afterAnswer = <Time extends Timed>(account: Time, said: Said, refusals: number, now: number): Time => {
  const { heldBecause, limitedAt, nextAt, setAt, shortOf, suspects } = account
  const isLate = account.refusals !== refusals
  switch (said._tag) {
    case "Nothing":
      return isLate ? account : released(account, now)
    case "Taken": {
      if (isLate && heldBecause !== null) return account
      const isOld = account.pacePer === null && (setAt === null || Math.abs(now - setAt) >= minute / 2)
      return {
        ...released(account, now),
        ...(isOld && { nextAt: now, setAt: now }),
        heldAt: null,
        heldBecause: null,
        refusals: 0,
        suspects: null,
        ...(said.amount > 0 && { unknowns: null }),
        shortOf: shortOf !== null && said.amount >= shortOf ? null : shortOf,
        limitedAt: isLimit(heldBecause) ? now : limitedAt
      }
    }
    case "Refused": {
      const { because, named } = said
      // Of those that were under way together, the longest time counts.
      if (isLate)
        return counted(
          named === undefined ? account : { ...account, nextAt: Math.max(nextAt ?? 0, now + named) },
          said,
          now
        )
      const own = doubling(account.refusals)
      const wait = named === undefined || account.refusals > 0 ? Math.max(named ?? 0, own) : named
      return {
        ...counted(held(account, because, wait, now), said, now),
        ...(because === "Limit" && { shortOf: said.amount })
      }
    }
    case "Short": {
      if (!said.isNews) return { ...(isLate ? account : released(account, now)), limitedAt: now }
      if (isLate) return { ...account, shortOf: Math.min(shortOf ?? Infinity, said.amount), limitedAt: now }
      // After the first one another is tried at once.
      const wait = account.refusals === 0 ? 0 : doubling(account.refusals - 1)
      return { ...held(account, "Balance", wait, now), shortOf: said.amount }
    }
    case "Unclear": {
      if (isLate) return account
      // A 403 is about its payout, where another refusal holds the account.
      if (heldBecause !== null && suspects === null && said.because === "Credentials")
        return { ...afterAnswer(account, { _tag: "Taken", amount: 0 }, refusals, now), suspects: said.key }
      if (heldBecause !== null)
        return { ...held(account, heldBecause as Because<"accepted">, doubling(account.refusals), now), suspects } // a word of the table
      const keys = [...new Set([...(suspects?.split(" ") ?? []), said.key])]
      return keys.length >= 3
        ? { ...held(account, said.because, doubling(0), now), suspects: keys.join(" ") }
        : { ...released(account, now), suspects: keys.join(" ") }
    }
  }
}

/** Whether two times are the same: nothing has to be written. */
export const isSameTime = (one: AccountTime, other: AccountTime): boolean =>
  one.nextAt === other.nextAt &&
  one.setAt === other.setAt &&
  one.heldBecause === other.heldBecause &&
  one.refusals === other.refusals &&
  one.suspects === other.suspects &&
  one.unknowns === other.unknowns &&
  one.shortOf === other.shortOf &&
  one.limitedAt === other.limitedAt

/**
 * For how long the service asked to wait, in milliseconds: at most an hour counts, of a limit a day, and less than a second does not.
 */
export const requestedWait = (failure: RequestWithdrawalError): number | undefined => {
  const requested = "retryAfter" in failure ? failure.retryAfter : undefined
  const millis = requested === undefined ? 0 : Duration.toMillis(requested)
  return millis < 1000 ? undefined : Math.min(millis, (failure._tag === "LimitReached" ? 24 : 1) * 60 * minute)
}

/**
 * What an answer to the request of a payout says of its account. `refusedAs`: the tag of the error that a refusal is by itself, where an
 * earlier request leaves the payout in doubt.
 */
export const saidBy = (
  answer: Result.Result<unknown, RequestWithdrawalError>,
  refusedAs: string | undefined,
  { amount, because: own, idempotencyKey: key }: Pick<Row, "amount" | "idempotencyKey" | "because">
): Said => {
  if (Result.isSuccess(answer)) return { _tag: "Taken", amount }
  const { failure } = answer
  if (sentenceIn(failure) !== undefined)
    return { _tag: "Refused", because: "RefusalUnknown", named: undefined, amount, costs: digestOf(failure) }
  const ofOneOrAll = causeOfOneOrAll(failure)
  if (ofOneOrAll !== undefined) return { _tag: "Unclear", because: ofOneOrAll, key }
  const because = accountCause(failure, refusedAs)
  if (failure._tag === "WithdrawalFailed" && because !== undefined)
    return { _tag: "Refused", because, named: undefined, amount, costs: because }
  if (because === "Balance") return { _tag: "Short", isNews: own !== because, amount }
  if (because !== undefined) return { _tag: "Refused", because, named: requestedWait(failure), amount }
  if (isAboutPayout(failure)) return { _tag: "Taken", amount: 0 }
  if ("reason" in failure && (failure.reason === "OtherClientId" || failure.reason === "PastHorizon"))
    return { _tag: "Nothing" }
  return { _tag: "Unclear", because: "Outage", key }
}

const dayMillis = 86_400_000
/** For how long after the time of its next request an account counts as one whose pace holds its payouts: then nobody sends. */
const paceFor = 60_000

/** Why an account holds what has no cause of its own, and since when it holds nothing. */
interface Held {
  readonly because: Because<"accepted"> | undefined
  readonly since: number
}

const isBecause = Schema.is(becauseOf.accepted)

/** Why an account holds its payouts at a time of the database. */
export const heldOf = (account: ReadAccount, now: number): Held => {
  const { heldBecause, nextAt, pacePer, windowFrom } = account
  const opened = windowFrom === null ? 0 : now + Duration.toMillis(untilMinute(now, windowFrom)) - dayMillis
  // A time that was set later than now holds nothing.
  const isPaced = nextAt !== null && pacePer !== null && (nextAt <= now || leftOf(account, now) > 0)
  const next = isPaced ? nextAt : 0
  const ofService = isBecause(heldBecause) ? heldBecause : isPaced && next + paceFor > now ? "Pace" : undefined
  const because = account.paused ? "Paused" : isWindowOpen(account, now) ? ofService : "Window"
  return { because, since: Math.min(now, Math.max(opened, next)) }
}

/** What an accepted payout waits for that has a cause of its own, or none. A pause holds all but those whose time has not come. */
export const becauseHeld = (own: string | null, { because }: Held): string | undefined =>
  because === "Paused" && own !== "NotBefore" ? because : (own ?? because)
