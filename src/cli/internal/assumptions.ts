/**
 * What `effect-pix doctor` checks: one list of assumptions, each with the place that rests on it, the answer that shows it, and what is
 * seen where it does not hold: names of fields and kinds of values, never a value.
 */
import type * as DateTime from "effect/DateTime"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { getBalance, getTransaction, getWithdrawal, listTransactions } from "../../contract/Endpoints.ts"
import { meaningOf } from "../../contract/Status.ts"
import { parseInstant } from "../../internal/utc.ts"
import { wrongTimes } from "./clock.ts"
import { type Answer, NoAnswer } from "./http.ts"

/** An answer; none, with its problem; or the sentence that says why it was not asked for. */
type Given = Answer | NoAnswer | string

/** The answers of a gateway, by what was asked. */
export interface Answers {
  /** The newest hundred rows of the list, and the oldest. */
  readonly newest: Given
  readonly oldest: Given
  /** The second page of one row each, and a page past the end. */
  readonly second: Given
  readonly past: Given
  readonly lookup: Given
  readonly balance: Given
  /** The lookup of a withdrawal, which was only seen. */
  readonly withdrawal: Given
  /** A transaction that nobody has, and the list with a wrong key. */
  readonly missing: Given
  readonly denied: Given
  /** A GET of the webhook's address. */
  readonly webhook: Given
  /** What was asked for. */
  readonly transactionId: string | undefined
  readonly withdrawalId: number | undefined
  readonly companyId: number | undefined
  /** The zone of a time without an offset. `undefined`: UTC. */
  readonly zone: DateTime.TimeZone | undefined
}

type AnswerName = Exclude<keyof Answers, "companyId" | "transactionId" | "withdrawalId" | "zone">

/** A finding. `seen`: what does not hold, or why it was not checked. */
export interface Finding {
  readonly verdict: "holds" | "wrong" | "unchecked"
  readonly what: string
  readonly where: string
  readonly seen?: string
}

/** What an assumption is about, or why that is not there. */
type Read<A> = Result.Result<A, string>

/** The finding about an assumption: it holds where no problem is seen. */
export const judge = (what: string, where: string, seen: string | undefined): Finding =>
  seen === undefined ? { verdict: "holds", what, where } : { verdict: "wrong", what, where, seen }

/** `seen` returns `undefined` where the assumption holds. */
const assume =
  <A>(
    what: string,
    where: string,
    read: (answers: Answers) => Read<A>,
    seen: (value: A, answers: Answers) => string | undefined
  ) =>
  (answers: Answers): Finding =>
    Result.match(read(answers), {
      onFailure: (why): Finding => ({ verdict: "unchecked", what, where, seen: why }),
      onSuccess: (value) => judge(what, where, seen(value, answers))
    })

const given =
  (name: AnswerName) =>
  (answers: Answers): Read<Answer | NoAnswer> => {
    const answer = answers[name]
    return typeof answer === "string" ? Result.fail(answer) : Result.succeed(answer)
  }

/** The status of an answer, or why there is none. */
const textOf = (answer: Answer | NoAnswer) => (answer instanceof NoAnswer ? answer.problem : `HTTP ${answer.status}`)

const hasStatus =
  (...statuses: ReadonlyArray<number>) =>
  (answer: Answer | NoAnswer) =>
    "status" in answer && statuses.includes(answer.status) ? undefined : textOf(answer)

/** Parses JSON. Null counts as absent, as it does for the client: a required field is then not there. */
const parseJson = (text: string): Result.Result<unknown, unknown> =>
  Result.try(() => JSON.parse(text, (_, value: unknown) => value ?? undefined))

/** The JSON of the documented success, or what the answer is instead. */
const parse = (answer: Answer | NoAnswer): Read<unknown> => {
  if (!("status" in answer) || answer.status !== 200) return Result.fail(textOf(answer))
  const isJson = /^application\/(?:[\w.+-]+\+)?json/i.test(answer.type)
  const problem = answer.text.trim() === "" ? "it is empty" : isJson ? "it is no JSON" : "its content type is no JSON"
  return isJson ? Result.mapError(parseJson(answer.text), () => problem) : Result.fail(problem)
}

const json = (name: AnswerName) => (answers: Answers) => Result.flatMap(given(name)(answers), parse)

const Row = Schema.Record(Schema.String, Schema.Unknown)
type Row = typeof Row.Type

const Page = Schema.Struct({ items: Schema.Array(Row), totalItems: Schema.Int, totalPages: Schema.Int })
const decodePage = Schema.decodeUnknownResult(Schema.Struct({ res: Page }))

const page = (name: AnswerName) => (answers: Answers) =>
  Result.flatMap(json(name)(answers), (body) =>
    Result.mapBoth(decodePage(body), {
      onFailure: () => "its rows and counts are not there",
      onSuccess: ({ res }) => res
    })
  )

const decodeRow = Schema.decodeUnknownResult(Row)

const record = (name: AnswerName) => (answers: Answers) =>
  Result.flatMap(json(name)(answers), (body) => Result.mapError(decodeRow(body), () => "it is no object"))

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return value === null ? "null" : "not there"
  if (Array.isArray(value)) return "a list"
  if (typeof value !== "number")
    return typeof value === "string" ? "a text of another form" : `of the type ${typeof value}`
  return Number.isInteger(value) ? "a whole number" : "a number with decimals"
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const valueAt = (value: unknown, keys: ReadonlyArray<string>): unknown =>
  keys.reduce((parent, key) => (Predicate.isObjectOrArray(parent) ? Reflect.get(parent, key) : undefined), value)

/** Why an answer is not as documented: it is no JSON, or fields of it do not fit. The client leaves optional ones out. */
const misfits = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  return (answer: Answer | NoAnswer): string | undefined =>
    Result.match(parse(answer), {
      onFailure: identity,
      onSuccess: (value) => {
        const decoded = decode(value)
        if (Result.isSuccess(decoded)) return undefined
        const seen = issuesOf(decoded.failure.issue).issues.map(({ path = [] }) => {
          const keys = path.map((part) => String(typeof part === "object" ? part.key : part))
          return `${keys.join(".").replaceAll(/\.\d+/g, "[]") || "it"} is ${kindOf(valueAt(value, keys))}`
        })
        return [...new Set(seen)].slice(0, 20).join("; ")
      }
    })
}

const holdsIf = (holds: boolean, seen: string) => (holds ? undefined : seen)

const millisOf = (row: Row): number => parseInstant(String(row["createdAt"]))?.epochMilliseconds ?? Number.NaN

/** Whether times grow (1) or fall (-1). A time that cannot be read misfits already. */
const isSorted = (rows: ReadonlyArray<Row>, sign: 1 | -1): boolean =>
  rows.every((row, index) => !(sign * (millisOf(row) - millisOf(rows[index - 1] ?? row)) < 0))

/** The decimals of the balance, as they are written: a JavaScript number has lost digits already. */
const tooManyDecimals = (answer: Answer | NoAnswer): string | undefined => {
  const found = [...getBalance.decimals].flatMap((field) => {
    const text = "text" in answer ? answer.text : ""
    const digits = new RegExp(String.raw`"${field}"\s*:\s*"?-?\d+\.(\d*[1-9])`).exec(text)?.[1]?.length ?? 0
    return digits > 2 ? [`${field} has ${digits}`] : []
  })
  return holdsIf(found.length === 0, found.join("; "))
}

/** Whether an answer is about the company of the settings, as far as both name one. */
const isOfCompany = ({ companyId }: Row, answers: Answers): string | undefined =>
  holdsIf((companyId ?? answers.companyId) === (answers.companyId ?? companyId), "another company")

/** The row of the list that has the id of the lookup. Reconciling takes one for the other. */
const rowOfLookup = (answers: Answers): Read<{ readonly detail: Row; readonly row: Row | undefined }> =>
  Result.gen(function* () {
    const detail = yield* record("lookup")(answers)
    const newest = yield* page("newest")(answers)
    const oldest = Result.getOrUndefined(page("oldest")(answers))
    const row = [...newest.items, ...(oldest?.items ?? [])].find(({ id }) => id === detail["id"])
    if (row === undefined && newest.items.length !== newest.totalItems) {
      return yield* Result.fail("its row is not among the newest and the oldest hundred")
    }
    return { detail, row }
  })

/** The lookup, and its row. */
const withRow = (answers: Answers): Read<{ readonly detail: Row; readonly row: Row }> =>
  Result.flatMap(rowOfLookup(answers), ({ detail, row }) =>
    row === undefined ? Result.fail("no row has the id of the lookup") : Result.succeed({ detail, row })
  )

const plainId = (id: unknown): string => String(id).replaceAll("-", "").toLowerCase()

const twoRows = (answers: Answers) =>
  Result.flatMap(page("newest")(answers), ({ items: [first, another] }) =>
    first === undefined || another === undefined
      ? Result.fail("the list has fewer than two rows")
      : Result.map(page("second")(answers), ({ items }) => [first["id"], ...items.map(({ id }) => id)])
  )

/** The record of a lookup or the newest row, and when it was served. */
const served =
  (name: "newest" | "lookup" | "withdrawal") =>
  (answers: Answers): Read<{ readonly row: Row; readonly date: string }> =>
    Result.gen(function* () {
      const answer = yield* given(name)(answers)
      const row = name === "newest" ? (yield* page(name)(answers)).items[0] : yield* record(name)(answers)
      if (row === undefined) return yield* Result.fail("the list has no row")
      return { row, date: "date" in answer ? answer.date : "" }
    })

/** A word that no table has: nothing ends by it before its user lists it. It is shown if it is a plain word. */
const unlistedWord = ({ enStatusTransaction }: Row): string | undefined => {
  const status = String(enStatusTransaction)
  if (meaningOf(status, "charge") !== "unlisted") return undefined
  const word = /^[\p{L}_ -]{1,40}$/u.test(status) ? `"${status}"` : "its word"
  return `${word} is not listed. If it means paid, say so: GatewayFacts.layer({ statuses: { charge: { paid: [${word}] } } })`
}

const service = "docs/service.md#responses-sections-22-24-to-27"
const inList = `${service}, src/contract/Transaction.ts (TransactionListItem)`
const inDetail = `${service}, src/contract/Transaction.ts (TransactionDetail)`
const inBalance = `${service}, src/contract/Balance.ts`
const inPages = "docs/listing.md#what-is-promised-and-on-what-it-rests, src/transactions/internal/pageReader.ts"
const inRefusals = "docs/service.md#errors-and-limits-sections-7-8, src/client/internal/call/judge.ts"
const inRows = "docs/reconciling.md#which-ids-may-meet, src/transactions/Reconcile.ts"
const inDecimals = `${service}, src/pix/Money.ts (ReaisFromJson, toCentavos)`
const inTimes = `${service}, src/client/Payments.ts (zone), src/contract/Expiry.ts`
const inStatus = "docs/charging.md#statuses, src/contract/Status.ts"
const inWebhook = "docs/webhooks-operating.md#what-the-answers-mean, src/webhook/Webhook.ts"
const inWithdrawal = "docs/payouts.md#the-lookup-that-was-seen, src/client/WithdrawalLookup.ts"
export const inSettings = "docs/getting-started.md#a-real-gateway-from-the-environment, src/client/Payments.ts"

/** Whether the service answers and accepts the credentials. Where it does not, nothing else can be checked. */
export const judgeAccess = (first: Answer | NoAnswer): ReadonlyArray<Finding> => {
  const status = "status" in first ? first.status : undefined
  const isRedirect = status !== undefined && status >= 300 && status < 400
  const isDenied = status === 401 || status === 403
  return [
    judge("The service answers at PAYMENTS_BASE_URL", inSettings, holdsIf(status !== undefined, textOf(first))),
    judge("PAYMENTS_BASE_URL is the service's own address", inSettings, holdsIf(!isRedirect, "it redirects elsewhere")),
    judge("The credentials are accepted", inSettings, holdsIf(!isDenied, textOf(first)))
  ]
}

/** Why a gateway has no lookup of a withdrawal, as far as its answer shows it. */
const noWithdrawalLookup = (answer: Answer | NoAnswer): string | undefined =>
  "status" in answer && answer.status === 404
    ? "HTTP 404: it has none, or no withdrawal of this number"
    : misfits(getWithdrawal.response)(answer)

export const assumptions = [
  assume("The list is JSON with the documented fields", inList, given("newest"), misfits(listTransactions.response)),
  assume("The list says ok: true", inList, record("newest"), ({ ok }) =>
    holdsIf(ok === true, `ok is ${ok === false ? "false" : kindOf(ok)}`)
  ),
  assume("Each row of a page has an id of its own", inPages, page("newest"), ({ items }) =>
    holdsIf(new Set(items.map(({ id }) => id)).size === items.length, "one id comes twice")
  ),
  assume("createdAt_desc is newest first", inPages, page("newest"), ({ items }) =>
    holdsIf(isSorted(items, -1), "another order")
  ),
  assume("createdAt_asc is oldest first", inPages, page("oldest"), ({ items }) =>
    holdsIf(isSorted(items, 1), "another order")
  ),
  assume("A page of 100 rows is full, or the last one", inPages, page("newest"), ({ items, totalItems }) =>
    holdsIf(items.length === Math.min(100, totalItems), `${items.length} rows, and another totalItems`)
  ),
  // An empty list may have one page or none: the client accepts both.
  assume("totalPages is totalItems by 100, rounded up", inPages, page("newest"), ({ totalItems, totalPages }) =>
    holdsIf(totalPages === Math.ceil(totalItems / 100) || (totalItems === 0 && totalPages === 1), "another number")
  ),
  assume("The second page of one row has the second row", inPages, twoRows, ([first, ...others]) =>
    holdsIf(others.length === 1 && others[0] !== first, "other rows")
  ),
  assume("A page past the end is there, without rows", inPages, given("past"), (_, answers) =>
    Result.match(page("past")(answers), {
      onFailure: identity,
      onSuccess: ({ items }) => holdsIf(items.length === 0, "it has rows")
    })
  ),
  assume("The lookup is JSON with the documented fields", inDetail, given("lookup"), misfits(getTransaction.response)),
  assume("The lookup is about the transaction asked for", inDetail, record("lookup"), (detail, { transactionId }) =>
    holdsIf(detail["transactionId"] === transactionId, "another one")
  ),
  assume("The lookup is about PAYMENTS_COMPANY_ID", inSettings, record("lookup"), isOfCompany),
  assume(
    "The lookup's updateDate says its offset from UTC",
    inDetail,
    record("lookup"),
    ({ updateDate = "Z" }, { zone }) =>
      holdsIf(
        zone !== undefined || /(?:Z|[+-]\d{2}(?::?\d{2})?|null)$/i.test(String(updateDate)),
        "it does not, and is read as UTC"
      )
  ),
  assume("The newest row's times are those of the service's clock", inTimes, served("newest"), wrongTimes),
  assume("The lookup's times are those of the service's clock", inTimes, served("lookup"), wrongTimes),
  assume("The lookup's status is listed", inStatus, record("lookup"), unlistedWord),
  assume("The lookup's id is that of its row in the list", inRows, rowOfLookup, ({ detail, row }) => {
    if (row === undefined) return "no row has this id"
    const apart = millisOf(row) - millisOf(detail)
    const isSame = row["amount"] === detail["value"] && (apart === 0 || Number.isNaN(apart))
    return holdsIf(isSame, "the row of this id has another amount or time")
  }),
  assume("The row's providerTxId is the id of its lookup", inRows, withRow, ({ detail, row }) =>
    holdsIf(plainId(row["providerTxId"]) === plainId(detail["transactionId"]), "it is another id, or none")
  ),
  assume("The list's status means what the lookup's does", inRows, withRow, ({ detail, row }) => {
    const [listed, looked] = [
      meaningOf(String(row["status"]), "charge"),
      meaningOf(String(detail["enStatusTransaction"]), "charge")
    ]
    return holdsIf(listed === looked || listed === "unlisted" || looked === "unlisted", `${listed}, and not ${looked}`)
  }),
  assume("The balance is JSON with the documented fields", inBalance, given("balance"), misfits(getBalance.response)),
  assume("The balance is of PAYMENTS_COMPANY_ID", inBalance, record("balance"), isOfCompany),
  assume("The balance is in BRL", inBalance, record("balance"), ({ currency }) =>
    holdsIf((currency ?? "BRL") === "BRL", "another currency")
  ),
  assume("The balance is in reais, with at most two decimals", inDecimals, given("balance"), tooManyDecimals),
  assume(
    "The gateway has the lookup of a withdrawal, with the fields that were seen",
    inWithdrawal,
    given("withdrawal"),
    noWithdrawalLookup
  ),
  assume(
    "The lookup of a withdrawal is about the number asked for",
    inWithdrawal,
    record("withdrawal"),
    ({ id }, { withdrawalId }) => holdsIf(id === withdrawalId, "another one")
  ),
  assume("The withdrawal's times are those of the service's clock", inTimes, served("withdrawal"), wrongTimes),
  assume("An unknown transaction is answered with 404", inRefusals, given("missing"), hasStatus(404)),
  assume("A wrong key is answered with 401 or 403", inRefusals, given("denied"), hasStatus(401, 403)),
  assume("The webhook's address takes POST alone, as Webhook does", inWebhook, given("webhook"), hasStatus(405))
]
