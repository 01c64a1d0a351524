/**
 * The conditions about money, each once. A condition is made of the columns of a payout and of its account, and of what is given
 * when it is asked; from it come a TypeScript predicate and a text of SQL, so that a worker and the statement that marks a
 * request ask the same.
 *
 * Details: a comparison with null is false in both, so nothing here negates one.
 */
import type { Fragment } from "effect/sql/Statement"
import * as Str from "effect/String"
import type { Because } from "../../PayoutBecause.ts"
import type { Database } from "../../../durable/Database.ts"
import type { Account } from "./account.ts"
import { openStates, type Row } from "./row.ts"

/** What is given when a condition is asked. */
interface Given {
  /** The time now, by the clock of the database. */
  readonly now: number
  /** The time now, by the clock of this process, which writes the marks. */
  readonly nowHere: number
  /** In milliseconds. */
  readonly horizon: number
  /** The minute of the day in São Paulo, by the clock of the database. */
  readonly minute: number
  /** How many refusals of the account were stored when the payout was taken. */
  readonly refusals: number
  /** The cap of a day by which it is counted. */
  readonly dailyCap: number | null
  /** The fingerprint of the worker's sender; null: it is not known. */
  readonly sender: string | null
}

/** An expression over some of what is asked. Its SQL has a `:name` where a value is given. */
export interface Term<Value, Needs = unknown> {
  readonly of: (asked: Needs) => Value
  readonly sql: string
}

type OfPayout<Name extends keyof Row> = { readonly payout: Pick<Row, Name> }
type OfAccount<Name extends keyof Account> = { readonly account: Pick<Account, Name> }
type OfGiven<Name extends keyof Given> = { readonly given: Pick<Given, Name> }

/** How a statement names the row of the account. */
export const accountAlias = "served"

const payout = <Name extends keyof Row>(name: Name): Term<Row[Name], OfPayout<Name>> => ({
  of: (asked) => asked.payout[name],
  sql: Str.camelToSnake(name)
})
const account = <Name extends keyof Account>(name: Name): Term<Account[Name], OfAccount<Name>> => ({
  of: (asked) => asked.account[name],
  sql: `${accountAlias}.${Str.camelToSnake(name)}`
})
const given = <Name extends keyof Given>(name: Name): Term<Given[Name], OfGiven<Name>> => ({
  of: (asked) => asked.given[name],
  sql: `:${name}`
})
const constant = <const Value extends string | number>(value: Value): Term<Value> => ({
  of: () => value,
  sql: typeof value === "number" ? String(value) : `'${value}'`
})

type Maybe = string | number | null
type Condition<Needs = unknown> = Term<boolean, Needs>
type NumberOf<Needs = unknown> = Term<number | null, Needs>

/** What some conditions ask for together. */
type Needs<Some extends ReadonlyArray<Condition<never>>> = Some[number]["of"] extends (asked: infer All) => boolean
  ? All
  : never
// What is asked is what all of them need.
const ask = (asked: unknown) => (condition: Condition<never>) => condition.of(asked as never)
const join = (some: ReadonlyArray<Condition<never>>, word: "AND" | "OR") =>
  `(${some.map(({ sql }) => sql).join(` ${word} `)})`

const all = <const Some extends ReadonlyArray<Condition<never>>>(...some: Some): Condition<Needs<Some>> => ({
  of: (asked) => some.every(ask(asked)),
  sql: join(some, "AND")
})
const any = <const Some extends ReadonlyArray<Condition<never>>>(...some: Some): Condition<Needs<Some>> => ({
  of: (asked) => some.some(ask(asked)),
  sql: join(some, "OR")
})
/** Of a column that is never null. */
const not = <A>(condition: Condition<A>): Condition<A> => ({
  of: (asked) => !condition.of(asked),
  sql: `NOT ${condition.sql}`
})
const isNull = <A>(term: Term<Maybe, A>): Condition<A> => ({
  of: (asked) => term.of(asked) === null,
  sql: `${term.sql} IS NULL`
})
const isKnown = <A>(term: Term<Maybe, A>): Condition<A> => ({
  of: (asked) => term.of(asked) !== null,
  sql: `${term.sql} IS NOT NULL`
})
const isOneOf = <A>(term: Term<Maybe, A>, values: ReadonlyArray<string>): Condition<A> => ({
  of: (asked) => values.includes(String(term.of(asked))),
  sql: `${term.sql} IN (${values.map((value) => `'${value}'`).join(", ")})`
})
/** Also where both are null. */
const isSame = <A, B>(one: Term<Maybe, A>, other: Term<Maybe, B>): Condition<A & B> => ({
  of: (asked) => one.of(asked) === other.of(asked),
  sql: `${one.sql} IS NOT DISTINCT FROM ${other.sql}`
})
const isAtMost = <A, B>(one: NumberOf<A>, other: NumberOf<B>): Condition<A & B> => ({
  of: (asked) => {
    const [value, limit] = [one.of(asked), other.of(asked)]
    return value !== null && limit !== null && value <= limit
  },
  sql: `${one.sql} <= ${other.sql}`
})

/** Of numbers that are not null where it is asked: a null is 0 in TypeScript, and null in SQL. */
const calculate = <A, B>(
  [one, other]: readonly [NumberOf<A>, NumberOf<B>],
  of: (one: number, other: number) => number,
  sql: (one: string, other: string) => string
): Term<number, A & B> => ({
  of: (asked) => of(one.of(asked) ?? 0, other.of(asked) ?? 0),
  sql: sql(one.sql, other.sql)
})
const minus = <A, B>(one: NumberOf<A>, other: NumberOf<B>) =>
  calculate(
    [one, other],
    (a, b) => a - b,
    (a, b) => `(${a} - ${b})`
  )
const earliest = <A, B>(one: NumberOf<A>, other: NumberOf<B>) =>
  calculate([one, other], Math.min, (a, b) => `(CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END)`)
const latest = <A, B>(one: NumberOf<A>, other: NumberOf<B>) =>
  calculate([one, other], Math.max, (a, b) => `(CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END)`)
const distance = <A, B>(one: NumberOf<A>, other: NumberOf<B>) =>
  calculate(
    [one, other],
    (a, b) => Math.abs(a - b),
    (a, b) => `ABS(${a} - ${b})`
  )
const when = <A, B, C>(condition: Condition<A>, then: NumberOf<B>, otherwise: NumberOf<C>): NumberOf<A & B & C> => ({
  of: (asked) => (condition.of(asked) ? then.of(asked) : otherwise.of(asked)),
  sql: `(CASE WHEN ${condition.sql} THEN ${then.sql} ELSE ${otherwise.sql} END)`
})

/** An index has the text as its condition. */
export const isOpen = isOneOf(payout("state"), openStates)

/** Its withdrawal is looked up when it is due: it has one, and its end is not known yet, or is doubted. */
export const isLookedUp = isKnown(payout("lookups"))

/** What is said of its end is not what its state says, or the service says both. */
export const isClaimed = any(
  payout("contradicted"),
  all(isKnown(payout("endedAs")), not(isSame(payout("endedAs"), payout("state"))))
)

/** A person has to find out how it ended: see `toCheck` of `PayoutStatus`. An index has the text as its condition. */
export const isToCheck = any(isClaimed, all(isOneOf(payout("state"), ["posted"]), isNull(payout("lookups"))))

/** The time has come before which it is not sent. */
export const isDueBy = any(isNull(payout("notBefore")), isAtMost(payout("notBefore"), given("now")))

/** A request of it left, as far as this database knows. */
const wasSent = isAtMost(constant(1), payout("sends"))

/** What was not to be sent before the move of the database cannot have been. */
const wasDueBeforeMove = any(isNull(payout("notBefore")), isAtMost(payout("notBefore"), account("movedAt")))

/**
 * What became of it may be lost: it was submitted before the account was in this database, or within the horizon after that, so that an
 * earlier row of its reference may be lost.
 */
export const mayBeLost = all(
  isAtMost(minus(payout("submittedAt"), given("horizon")), account("movedAt")),
  any(isAtMost(account("movedAt"), payout("submittedAt")), wasDueBeforeMove)
)

/** It is of this database: it was submitted since the account is in it, or could not be sent before. Asked of what has no mark. */
export const isOfThisDatabase = any(
  isNull(account("movedAt")),
  not(isAtMost(payout("submittedAt"), account("movedAt"))),
  all(
    isOneOf(payout("state"), ["accepted"]),
    isKnown(payout("notBefore")),
    not(isAtMost(payout("notBefore"), account("movedAt")))
  )
)

/** A worker was seen within the horizon. */
export const isSeen = isAtMost(distance(given("now"), account("seenAt")), given("horizon"))

/** For how long the waits that are no age are not counted, in milliseconds: three days. */
const longestUncounted = constant(3 * 24 * 3_600_000)

/** It is wanted for less than that. */
export const isUncounted = isAtMost(distance(given("now"), payout("wantedAt")), longestUncounted)

/** What an account waits for that is no age of its payouts. */
export const limits = ["Limit", "Balance", "Credentials", "RefusalUnknown"] as const satisfies ReadonlyArray<
  Because<"accepted">
>

/** The account has a limit that its user knows; or the service refuses it for a limit, the balance or the credentials, or did within the horizon. */
const isLimited = any(
  isKnown(account("pacePer")),
  isKnown(account("windowFrom")),
  isOneOf(account("heldBecause"), limits),
  all(isKnown(account("limitedAt")), isAtMost(distance(given("now"), account("limitedAt")), given("horizon")))
)

/** What a payout waits for since a time of its own, and not with its account. */
export const uncountedCauses = ["DailyCap", "OtherClientId"] as const

/** Since when a payout waits uncounted: for the cap of a day or other credentials, for a pause, or for a limit of the account. */
const uncountedSince = earliest(
  when(
    all(isOneOf(payout("because"), uncountedCauses), isKnown(payout("waitsSince"))),
    payout("waitsSince"),
    given("now")
  ),
  earliest(when(account("paused"), account("pausedAt"), given("now")), when(isLimited, constant(0), given("now")))
)

/** Until when the wait of a payout is counted. Only one of which nothing can have left waits uncounted, for three days, while a worker is seen. */
const countedUntil = when(
  all(isNull(payout("mayHaveLeftAt")), isUncounted, isKnown(account("servedAt")), isSeen),
  earliest(given("now"), latest(latest(payout("wantedAt"), account("servedAt")), uncountedSince)),
  given("now")
)

/** How long a payout has been waiting since it is wanted, in milliseconds. */
export const waitedMillis = minus(countedUntil, payout("wantedAt"))

/** It is wanted since at most the horizon, and not since a time that lies ahead by more. */
const isWanted = isAtMost(distance(countedUntil, payout("wantedAt")), given("horizon"))

/** No request of it may have left longer ago than the horizon, nor at a time that lies ahead by more. */
const isRepeatable = any(
  isNull(payout("mayHaveLeftAt")),
  isAtMost(distance(given("nowHere"), payout("mayHaveLeftAt")), given("horizon"))
)

/** It may be sent at this time: the service still knows its key, or has not seen it. */
export const isInTime = all(isWanted, isRepeatable)

const orZero = <A>(term: NumberOf<A>) => when(isKnown(term), term, constant(0))

/** The time of the account's next request has come. One that was set later than now counts as none: a clock was wrong. */
export const isNextNow = any(
  not(isAtMost(orZero(account("setAt")), given("now"))),
  isAtMost(orZero(account("nextAt")), given("now"))
)

/** The account has no time to wait for: its requests need no turns. */
export const isWithoutTurns = all(isNull(account("pacePer")), isNextNow)

const isAfterOpening = isAtMost(account("windowFrom"), given("minute"))
const isBeforeClosing = not(isAtMost(account("windowTo"), given("minute")))
const isOfOneDay = isAtMost(account("windowFrom"), account("windowTo"))

/** The window of the account is open, or it has none. What is in doubt after a request of its own is asked outside of it. */
export const isInWindow = any(
  isNull(account("windowFrom")),
  all(isKnown(payout("mayHaveLeftAt")), wasSent),
  all(isOfOneDay, isAfterOpening, isBeforeClosing),
  all(not(isOfOneDay), any(isAfterOpening, isBeforeClosing))
)

/**
 * A request of the payout may be sent: nobody paused the account or changed its cap, and the service has not refused it since the payout
 * was taken; the worker's sender is that of the account, where a mock has none; and it is its time.
 */
export const maySend = all(
  not(account("paused")),
  isSame(account("dailyCap"), given("dailyCap")),
  isSame(account("refusals"), given("refusals")),
  isSame(account("fingerprint"), given("sender")),
  isDueBy,
  isInWindow,
  isInTime
)

/** A condition as SQL, with the values that are given. */
export const fragmentOf = (
  { sql }: Pick<Database, "sql">,
  condition: Condition<never>,
  values: { readonly [Name in keyof Given]?: Fragment } = {}
): Fragment => {
  const parts = condition.sql.split(/:(\w+)/)
  const texts = parts.filter((_, index) => index % 2 === 0)
  const names = parts.filter((_, index) => index % 2 === 1)
  // Every odd part is a name that `given` wrote.
  const fragments = names.map((name) => values[name as keyof Given])
  // The tag of a template takes its texts as an array that also has them as `raw`.
  return sql(Object.assign(texts, { raw: texts }) as unknown as TemplateStringsArray, ...fragments)
}
