/**
 * What `effect-pix doctor` checks: the twelve assumptions that lose money or sleep where they do not hold, each with the place that rests
 * on it, and what is seen where it does not hold: names of fields and kinds of values, never a value.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { refusalSentence } from "../../client/RefusalSentence.ts"
import { getBalance, getTransaction, getWithdrawal, listTransactions } from "../../contract/Endpoints.ts"
import { meaningOf } from "../../contract/Status.ts"
import { brasilia } from "../../contract/Expiry.ts"
import { hasOffset, isDate, parseInstant, toUtcText } from "../../internal/utc.ts"

export interface Answer {
  readonly status: number
  /** Its content type. */
  readonly type: string
  /** Its `Date` header. */
  readonly date: string
  readonly text: string
  /** Why there is no whole answer, without a header, an address or words of the transport. */
  readonly problem?: string
}

/** An answer, or the sentence that says why it was not asked for. */
type Given = Answer | string

/** The answers of a gateway, by what was asked. */
export interface Answers {
  /** The newest hundred rows of the list. */
  readonly newest: Given
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

/** A finding. `seen`: what does not hold, or why it was not checked; or how a refusal is known that was met. */
export interface Finding {
  readonly verdict: "holds" | "wrong" | "unchecked" | "met"
  readonly what: string
  readonly where: string
  readonly seen?: string
}

/** What an assumption is about, or why that is not there. */
type Read<A> = Result.Result<A, string>

/** What is wrong, if something is. */
type Seen = string | undefined

/** The finding about an assumption: it holds where no problem is seen. */
export const judge = (what: string, where: string, seen: Seen): Finding =>
  seen === undefined ? { verdict: "holds", what, where } : { verdict: "wrong", what, where, seen }

const assume =
  (what: string, where: string, check: (answers: Answers) => Read<Seen>) =>
  (answers: Answers): Finding =>
    Result.match(check(answers), {
      onFailure: (seen): Finding => ({ verdict: "unchecked", what, where, seen }),
      onSuccess: (seen) => judge(what, where, seen)
    })

const seenIf = (isWrong: boolean, seen: string): Seen => (isWrong ? seen : undefined)

/** What is seen in an answer, if it was asked for. */
const asked = (given: Given, seen: (answer: Answer) => Seen): Read<Seen> =>
  typeof given === "string" ? Result.fail(given) : Result.succeed(seen(given))

/** The status of an answer, or why there is none. */
const textOf = ({ problem, status }: Answer) => problem ?? `HTTP ${status}`

const hasStatus =
  (...statuses: ReadonlyArray<number>) =>
  (answer: Answer) =>
    seenIf(!statuses.includes(answer.status), textOf(answer))

const Row = Schema.Record(Schema.String, Schema.Unknown)
type Row = typeof Row.Type

/** Parses JSON. Null counts as absent, as it does for the client: a required field is then not there. */
const parseJson = (text: string): Result.Result<unknown, unknown> =>
  Result.try(() => JSON.parse(text, (_, value: unknown) => value ?? undefined))

/** The object of the documented success, or what the answer is instead. */
const rowOf = (given: Given): Read<Row> => {
  if (typeof given === "string") return Result.fail(given)
  if (given.status !== 200) return Result.fail(textOf(given))
  if (given.text.trim() === "") return Result.fail("it is empty")
  if (!/^application\/(?:[\w.+-]+\+)?json/i.test(given.type)) return Result.fail("its content type is no JSON")
  return Result.mapError(
    Result.flatMap(parseJson(given.text), Schema.decodeUnknownResult(Row)),
    () => "it is no JSON object"
  )
}

const Page = Schema.Struct({ res: Schema.Struct({ items: Schema.Array(Row), totalItems: Schema.Int }) })

const pageOf = (given: Given) =>
  Result.flatMap(rowOf(given), (json) =>
    Result.mapBoth(Schema.decodeUnknownResult(Page)(json), {
      onFailure: () => "its rows and counts are not there",
      onSuccess: ({ res }) => res
    })
  )

const kindOf = (value: unknown): string => {
  if (value === undefined) return "not there"
  if (Array.isArray(value)) return "a list"
  if (typeof value !== "number")
    return typeof value === "string" ? "a text of another form" : `of the type ${typeof value}`
  return Number.isInteger(value) ? "a whole number" : "a number with decimals"
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const valueAt = (value: unknown, keys: ReadonlyArray<string>): unknown =>
  keys.reduce((parent, key) => (Predicate.isObjectOrArray(parent) ? Reflect.get(parent, key) : undefined), value)

/** Why an answer is not as documented: it is no JSON, or fields of it do not fit. The client leaves optional ones out. */
const misfits = (schema: Schema.Codec<unknown, unknown>, row: Row): Seen => {
  const decoded = Schema.decodeResult(schema, { errors: "all" })(row)
  if (Result.isSuccess(decoded)) return undefined
  const seen = issuesOf(decoded.failure.issue).issues.map(({ path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part))
    return `${keys.join(".").replaceAll(/\.\d+/g, "[]") || "it"} is ${kindOf(valueAt(row, keys))}`
  })
  return [...new Set(seen)].slice(0, 20).join("; ")
}

/** Whether an answer has the documented fields, and then what else is seen in it. */
const documented = (given: Given, schema: Schema.Codec<unknown, unknown>, seen?: (row: Row) => Seen) =>
  asked(given, (answer) =>
    Result.match(rowOf(answer), { onFailure: (why) => why, onSuccess: (row) => misfits(schema, row) ?? seen?.(row) })
  )

const millisOf = (row: Row): number => parseInstant(String(row["createdAt"]))?.epochMilliseconds ?? Number.NaN

/** Whether a row is newer than the one before. A time that cannot be read misfits already. */
const isUnsorted = (rows: ReadonlyArray<Row>): boolean =>
  rows.some((row, index) => millisOf(row) > millisOf(rows[index - 1] ?? row))

/** The decimals of the balance, as they are written: a JavaScript number has lost digits already. */
const tooManyDecimals = (given: Given): Seen => {
  const text = typeof given === "object" ? given.text : ""
  const isLong = (field: string) => new RegExp(String.raw`"${field}"\s*:\s*"?-?\d+\.\d{2,}[1-9]`).test(text)
  const field = [...getBalance.decimals].find(isLong)
  return field === undefined ? undefined : `${field} has more than two`
}

/** Whether an answer is about another company than the settings, as far as both name one. */
const ofOtherCompany = ({ companyId }: Row, answers: Answers): Seen =>
  seenIf((companyId ?? answers.companyId) !== (answers.companyId ?? companyId), "it is of another company")

const plainId = (id: unknown): string => String(id).replaceAll("-", "").toLowerCase()

/** What is seen in a lookup and its row in the list. */
const withRow =
  (seen: (detail: Row, row: Row) => Seen) =>
  (answers: Answers): Read<Seen> =>
    Result.gen(function* () {
      const detail = yield* rowOf(answers.lookup)
      const { items, totalItems } = yield* pageOf(answers.newest)
      const row = items.find(({ id }) => id === detail["id"])
      if (row !== undefined) return seen(detail, row)
      return items.length === totalItems
        ? "no row has its id"
        : yield* Result.fail("its row is not among the newest hundred")
    })

/** How far a new row and the clock may be apart. */
const tolerance = 600_000

const fields = ["createdAt", "updatedAt", "updateDate"] as const

/** The times of a row that are not those of the clock of the service, and the setting that mends them. */
const wrongTimes = (
  { date, row }: { readonly row: Readonly<Record<string, unknown>>; readonly date: string },
  { zone }: { readonly zone: DateTime.TimeZone | undefined }
): string | undefined => {
  const clock = Option.getOrUndefined(Option.map(DateTime.make(date), DateTime.toEpochMillis))
  // A time with its offset, and a date alone, say what they mean.
  const times = fields.flatMap((field) => {
    const text = String(row[field])
    const at = parseInstant(zone === undefined ? text : toUtcText(text, zone))
    return at === undefined || isDate(text) || hasOffset(text)
      ? []
      : [{ field, text, millis: DateTime.toEpochMillis(at) }]
  })
  const seen = times.flatMap(({ field, millis, text }) => {
    const late = clock === undefined ? 0 : clock - millis
    const isUtc = /z$/i.test(text)
    if (Math.abs(late - brasilia) <= tolerance) {
      return isUtc
        ? [
            `${field} ends in Z and is three hours behind it. If the row is new, the Z cannot be true, and no setting mends it`
          ]
        : [
            `${field} is three hours behind it. If the row is new, set PAYMENTS_ZONE=America/Sao_Paulo (the option zone)`
          ]
    }
    return late < -tolerance
      ? [`${field} is ahead of it${isUtc ? ", so its Z cannot be true" : ": PAYMENTS_ZONE is wrong"}`]
      : []
  })
  return seen.length === 0 ? undefined : seen.join("; ")
}

/** The newest row and the lookups against the clock of their answers. */
const otherTimes = (answers: Answers): Read<Seen> => {
  const { lookup, newest, withdrawal } = answers
  const records = [
    [newest, Result.map(pageOf(newest), ({ items }) => items[0])],
    [lookup, rowOf(lookup)],
    [withdrawal, rowOf(withdrawal)]
  ] as const
  const found = records.flatMap(([given, read]) => {
    const row = Result.getOrUndefined(read)
    return row !== undefined && typeof given === "object" ? [{ row, date: given.date }] : []
  })
  if (found.length === 0) return Result.fail("the list has no row")
  return Result.succeed(found.map((one) => wrongTimes(one, answers)).find((seen) => seen !== undefined))
}

/** A word that no table has: nothing ends by it before its user lists it. It is shown if it is a plain word. */
const unlistedWord = ({ enStatusTransaction }: Row): Seen => {
  const status = String(enStatusTransaction)
  if (meaningOf(status, "charge") !== "unlisted") return undefined
  const word = /^[\p{L}_ -]{1,40}$/u.test(status) ? `"${status}"` : "its word"
  return `${word} is not listed. If it means paid, say so: GatewayFacts.layer({ statuses: { charge: { paid: [${word}] } } })`
}

const service = "docs/service.md#responses-sections-22-24-to-27"
const inRefusals = "docs/service.md#errors-and-limits-sections-7-8, src/client/internal/call/judge.ts"
const inEntries = "docs/errors.md#the-refusals-of-your-gateway"
const inRows = "docs/reconciling.md#which-ids-may-meet, src/transactions/Reconcile.ts"
export const inSettings = "docs/getting-started.md#a-real-gateway-from-the-environment, src/client/Payments.ts"

/** Whether the service answers and accepts the credentials. Where it does not, nothing else can be checked. */
export const judgeAccess = (first: Answer): ReadonlyArray<Finding> => {
  const { problem, status } = first
  const isRedirect = status >= 300 && status < 400
  const isDenied = status === 401 || status === 403
  return [
    judge("The service answers at PAYMENTS_BASE_URL", inSettings, problem),
    judge("PAYMENTS_BASE_URL is the service's own address", inSettings, seenIf(isRedirect, "it redirects elsewhere")),
    judge("The credentials are accepted", inSettings, seenIf(isDenied, textOf(first)))
  ]
}

/** The refusals in words that were met: those of a payout need an entry, since these are of reads. */
export const refusalsMet = (answers: Answers, secrets: ReadonlyArray<string>): ReadonlyArray<Finding> =>
  (
    [
      ["listTransactions", answers.newest],
      ["getTransaction", answers.lookup],
      ["getBalance", answers.balance],
      ["getWithdrawal", answers.withdrawal],
      ["getTransaction", answers.missing],
      ["listTransactions", answers.denied]
    ] as const
  ).flatMap(([operation, given]) => {
    if (typeof given === "string" || given.status < 400) return []
    const met = refusalSentence(operation, given.status, given.text, secrets)
    if (met === undefined) return []
    const seen = `${met.code === undefined ? "" : `code ${met.code}, `}digest ${met.digest.slice(0, 12)}`
    return [{ verdict: "met", what: `HTTP ${given.status} of ${operation}`, where: inEntries, seen }]
  })

export const assumptions = [
  assume("The list has the documented fields", `${service}, src/contract/Transaction.ts`, ({ newest }) =>
    documented(newest, listTransactions.response)
  ),
  assume(
    "The list is newest first, each row once",
    "docs/reconciling.md#what-is-promised-and-on-what-it-rests, src/transactions/internal/pageReader.ts",
    ({ newest }) =>
      Result.map(
        pageOf(newest),
        ({ items }) =>
          seenIf(isUnsorted(items), "another order") ??
          seenIf(new Set(items.map(({ id }) => id)).size < items.length, "one id comes twice")
      )
  ),
  assume(
    "The lookup is of the transaction asked for, with the documented fields",
    `${service}, src/contract/Transaction.ts`,
    (answers) =>
      documented(
        answers.lookup,
        getTransaction.response,
        (row) =>
          seenIf(row["transactionId"] !== answers.transactionId, "it is of another one") ?? ofOtherCompany(row, answers)
      )
  ),
  assume("The lookup's status is listed", "docs/charging.md#statuses, src/contract/Status.ts", ({ lookup }) =>
    Result.map(rowOf(lookup), unlistedWord)
  ),
  assume(
    "The times are those of the service's clock",
    `${service}, src/client/Payments.ts (zone), src/contract/Expiry.ts`,
    otherTimes
  ),
  assume(
    "The lookup's row in the list has its id, amount and time",
    inRows,
    withRow((detail, row) => {
      const apart = millisOf(row) - millisOf(detail)
      const isSame = row["amount"] === detail["value"] && (apart === 0 || Number.isNaN(apart))
      const isNamed = plainId(row["providerTxId"]) === plainId(detail["transactionId"])
      return (
        seenIf(!isSame, "the row of its id has another amount or time") ??
        seenIf(!isNamed, "providerTxId is another id, or none")
      )
    })
  ),
  assume(
    "The list's status means what the lookup's does",
    inRows,
    withRow((detail, row) => {
      const [listed, looked] = [row["status"], detail["enStatusTransaction"]].map((word) =>
        meaningOf(String(word), "charge")
      )
      return seenIf(listed !== looked && listed !== "unlisted" && looked !== "unlisted", `${listed}, and not ${looked}`)
    })
  ),
  assume(
    "The balance is of PAYMENTS_COMPANY_ID, in reais with at most two decimals",
    `${service}, src/contract/Balance.ts, src/pix/Money.ts (ReaisFromJson, toCentavos)`,
    (answers) =>
      documented(
        answers.balance,
        getBalance.response,
        (row) =>
          ofOtherCompany(row, answers) ??
          seenIf((row["currency"] ?? "BRL") !== "BRL", "another currency") ??
          tooManyDecimals(answers.balance)
      )
  ),
  assume(
    "The gateway has the lookup of a withdrawal, with the fields that were seen",
    "docs/payout-queue.md#was-it-paid, src/client/WithdrawalLookup.ts",
    ({ withdrawal, withdrawalId }) =>
      typeof withdrawal === "object" && withdrawal.status === 404
        ? Result.succeed("HTTP 404: it has none, or no withdrawal of this number")
        : documented(withdrawal, getWithdrawal.response, ({ id }) =>
            seenIf(id !== withdrawalId, "it is of another one")
          )
  ),
  assume("An unknown transaction is answered with 404", inRefusals, ({ missing }) => asked(missing, hasStatus(404))),
  assume("A wrong key is answered with 401 or 403", inRefusals, ({ denied }) => asked(denied, hasStatus(401, 403))),
  assume(
    "The webhook's address takes POST alone, as Webhook does",
    "docs/operating.md#what-the-answers-mean, src/webhook/Webhook.ts",
    ({ webhook }) => asked(webhook, hasStatus(405))
  )
]
