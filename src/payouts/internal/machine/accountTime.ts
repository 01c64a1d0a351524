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
import * as Schema from "effect/Schema"
import { type Because, becauseOf } from "../../PayoutBecause.ts"
import type { Account, ReadAccount } from "./account.ts"
import { isNextNow, limits } from "./conditions.ts"
import { isWindowOpen, untilMinute } from "./days.ts"
import type { Said } from "./said.ts"

/** The columns of the account that say when its next request may leave. */
export type AccountTime = Pick<
  Account,
  "nextAt" | "setAt" | "heldAt" | "heldBecause" | "refusals" | "suspects" | "unknowns" | "shortOf" | "limitedAt"
>
type Timed = AccountTime & Pick<Account, "paceMost" | "pacePer">

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

const hasRested = ({ setAt }: AccountTime, now: number, time = minute) =>
  setAt === null || Math.abs(now - setAt) >= time

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

const doubling = (refusals: number) => Math.min(5000 * 2 ** refusals, longest)

/** The earliest time that the account's pace allows. */
const earliestAt = (account: Timed, now: number) => Math.min(account.setAt ?? 0, now) + spacingOf(account)

/** An answer that came now, and the account as it is. `isLate`: the service refused the account since its request was taken. */
interface Answer<Of> {
  readonly account: Timed
  readonly said: Of
  readonly isLate: boolean
  readonly now: number
}

/** The next request may leave as soon as the pace allows: none is under way alone, or a person changed what it waits for. */
const release = ({ account, now }: Omit<Answer<unknown>, "said" | "isLate">): Partial<AccountTime> =>
  account.nextAt === null ? {} : { nextAt: Math.min(account.nextAt, earliestAt(account, now)) }

/** The account after a person changed what it waits for. */
export const released = <Time extends Timed>(account: Time, now: number): Time => ({
  ...account,
  ...release({ account, now })
})

const hold = ({ account, now }: Answer<unknown>, because: string, wait: number): Partial<AccountTime> => ({
  nextAt: Math.max(now + wait, earliestAt(account, now)),
  setAt: now,
  heldAt: account.heldAt ?? now,
  heldBecause: because,
  refusals: account.refusals + 1,
  suspects: null,
  ...(isLimit(because) && { limitedAt: now })
})

/** An answer that cost a payout is counted; the third one alike without a success between stops the account. */
const count = ({ account, now, said: { because, costs } }: Answer<Of<"Refused">>): Partial<AccountTime> => {
  if (costs === undefined) return {}
  const unknowns = [...(account.unknowns?.split(" ") ?? []), costs].slice(-20)
  return {
    unknowns: unknowns.join(" "),
    ...(unknowns.filter((one) => one === costs).length >= 3 && {
      heldAt: account.heldAt ?? now,
      heldBecause: because,
      nextAt: now + stopped,
      setAt: now
    })
  }
}

const take = ({ account, now, said, ...one }: Answer<Of<"Taken">>): Partial<AccountTime> => ({
  ...release({ ...one, account, now }),
  heldAt: null,
  heldBecause: null,
  refusals: 0,
  suspects: null,
  ...(said.amount > 0 && { unknowns: null }),
  ...(account.shortOf !== null && said.amount >= account.shortOf && { shortOf: null }),
  ...(isLimit(account.heldBecause) && { limitedAt: now })
})

/** For how long a refusal holds the account: as long as the service named, and no shorter after others. */
const waitOf = ({ account: { refusals }, said: { named } }: Answer<Of<"Refused">>) =>
  named !== undefined && refusals === 0 ? named : Math.max(named ?? 0, doubling(refusals))

const suspectsOf = ({ account, said }: Answer<Of<"Unclear">>) => [
  ...new Set([...(account.suspects?.split(" ") ?? []), said.key])
]

const always = () => true
const nothing = () => ({})
const isLate = (one: { readonly isLate: boolean }) => one.isLate
const isHeld = ({ account }: Answer<unknown>) => account.heldBecause !== null

type Of<Tag extends Said["_tag"]> = Extract<Said, { _tag: Tag }>
type Rule<Tag extends Said["_tag"]> = readonly [
  when: (one: Answer<Of<Tag>>) => boolean,
  changes: (one: Answer<Of<Tag>>) => Partial<AccountTime>
]

/** What an answer changes: of the rules of what it says the first one that fits. */
const rules: { readonly [Tag in Said["_tag"]]: ReadonlyArray<Rule<Tag>> } = {
  Nothing: [
    [isLate, nothing],
    [always, release]
  ],
  Taken: [
    // A success of before a refusal ends no hold.
    [(one) => one.isLate && isHeld(one), nothing],
    // It says that the account still takes requests.
    [
      ({ account, now }) => account.pacePer === null && hasRested(account, now, minute / 2),
      (one) => ({ ...take(one), nextAt: one.now, setAt: one.now })
    ],
    [always, take]
  ],
  Refused: [
    // Of those that were under way together the first refusal counts, and the longest time that was named.
    [(one) => one.isLate && one.said.named === undefined, count],
    [isLate, (one) => ({ nextAt: Math.max(one.account.nextAt ?? 0, one.now + (one.said.named ?? 0)), ...count(one) })],
    [
      always,
      (one) => ({
        ...hold(one, one.said.because, waitOf(one)),
        ...(one.said.because === "Limit" && { shortOf: one.said.amount }),
        ...count(one)
      })
    ]
  ],
  Short: [
    [(one) => !one.said.isNews && one.isLate, ({ now }) => ({ limitedAt: now })],
    [({ said }) => !said.isNews, (one) => ({ ...release(one), limitedAt: one.now })],
    [
      isLate,
      ({ account, now, said }) => ({ shortOf: Math.min(account.shortOf ?? Infinity, said.amount), limitedAt: now })
    ],
    // After the first one another is tried at once.
    [({ account }) => account.refusals === 0, (one) => ({ ...hold(one, "Balance", 0), shortOf: one.said.amount })],
    [always, (one) => ({ ...hold(one, "Balance", doubling(one.account.refusals - 1)), shortOf: one.said.amount })]
  ],
  Unclear: [
    [isLate, nothing],
    // A 403 is about its payout, where another refusal holds the account.
    [
      (one) => isHeld(one) && one.account.suspects === null && one.said.because === "Credentials",
      (one) => ({ ...changesOf({ ...one, said: { _tag: "Taken", amount: 0 } }), suspects: one.said.key })
    ],
    [
      isHeld,
      (one) => ({
        ...hold(one, one.account.heldBecause ?? "", doubling(one.account.refusals)),
        suspects: one.account.suspects
      })
    ],
    // Those of three payouts are about the account.
    [
      (one) => suspectsOf(one).length >= 3,
      (one) => ({ ...hold(one, one.said.because, doubling(0)), suspects: suspectsOf(one).join(" ") })
    ],
    [always, (one) => ({ ...release(one), suspects: suspectsOf(one).join(" ") })]
  ]
}

const changesOf = <Tag extends Said["_tag"]>(one: Answer<Of<Tag>>): Partial<AccountTime> => {
  const tag: Tag = one.said._tag
  const ofTag: ReadonlyArray<Rule<Tag>> = rules[tag]
  return ofTag.find(([when]) => when(one))?.[1](one) ?? {}
}

/**
 * The account after an answer that came now, to a request that was taken when there were so many `refusals`: of those that were under
 * way together the first refusal counts, and no success of before it.
 */
export const afterAnswer = <Time extends Timed>(account: Time, said: Said, refusals: number, now: number): Time => ({
  ...account,
  ...changesOf({ account, said, now, isLate: account.refusals !== refusals })
})

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
