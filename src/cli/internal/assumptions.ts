/**
 * What `effect-pix doctor` checks: the eleven assumptions that lose money or sleep where they do not hold, each with the place that rests
 * on it, and what is seen where it does not hold: names of fields, and never a value.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
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

/** What the flags name, to be asked for too. */
export interface Asked {
  readonly transactionId: string | undefined
  readonly withdrawalId: number | undefined
  readonly webhookUrl: string | undefined
}

/** The answers of a gateway, by what was asked. */
export interface Answers extends Asked {
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
  readonly companyId: number | undefined
  /** The zone of a time without an offset. `undefined`: UTC. */
  readonly zone: DateTime.TimeZone | undefined
}

/** A finding. `seen`: what does not hold, or why it was not checked. */
export interface Finding {
  readonly verdict: "holds" | "wrong" | "unchecked"
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

/** Null counts as absent, as it does for the client: a required field is then not there. */
const parseJson = (text: string) =>
  Result.try((): unknown => JSON.parse(text, (_, value: unknown) => value ?? undefined))

/** The object of the documented success, or what the answer is instead. */
const rowOf = (given: Given): Read<Row> => {
  if (typeof given === "string") return Result.fail(given)
  if (given.status !== 200) return Result.fail(textOf(given))
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

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** The fields that are not as documented. The client leaves optional ones out. */
const misfits = (schema: Schema.Codec<unknown, unknown>, row: Row): Seen => {
  const decoded = Schema.decodeResult(schema, { errors: "all" })(row)
  if (Result.isSuccess(decoded)) return undefined
  const names = issuesOf(decoded.failure.issue).issues.map(({ path = [] }) =>
    path.map((part) => String(typeof part === "object" ? part.key : part).replace(/^\d+$/, "[]")).join(".")
  )
  return `not as documented: ${[...new Set(names)].slice(0, 20).join(", ")}`
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

/** Whether an answer is about another company than the settings, as far as both name one. */
const ofOtherCompany = ({ companyId }: Row, answers: Answers): Seen =>
  seenIf((companyId ?? answers.companyId) !== (answers.companyId ?? companyId), "it is of another company")

const plainId = (id: unknown): string => String(id).replaceAll("-", "").toLowerCase()

/** How the row of a lookup in the list differs from it. */
const otherRow = ({ lookup, newest }: Answers): Read<Seen> =>
  Result.gen(function* () {
    const detail = yield* rowOf(lookup)
    const { items, totalItems } = yield* pageOf(newest)
    const row = items.find(({ id }) => id === detail["id"])
    if (row === undefined)
      return items.length === totalItems
        ? "no row has its id"
        : yield* Result.fail("its row is not among the newest hundred")
    const apart = millisOf(row) - millisOf(detail)
    const isSame = row["amount"] === detail["value"] && (apart === 0 || Number.isNaN(apart))
    const isNamed = plainId(row["providerTxId"]) === plainId(detail["transactionId"])
    const meanings = [row["status"], detail["enStatusTransaction"]].map((word) => meaningOf(String(word), "charge"))
    return (
      seenIf(!isSame, "the row of its id has another amount or time") ??
      seenIf(!isNamed, "providerTxId is another id, or none") ??
      seenIf(
        meanings[0] !== meanings[1] && !meanings.includes("unlisted"),
        `the list's status means ${meanings.join(", and not ")}`
      )
    )
  })

/** How far a new row and the clock may be apart. */
const tolerance = 600_000

/** A time of a new record that is not one of the clock of its answer, and the setting that mends it. */
const wrongTime = (name: string, value: unknown, { date }: Answer, zone: Answers["zone"]): Seen => {
  const text = String(value)
  const at = parseInstant(zone === undefined ? text : toUtcText(text, zone))
  // A time with its offset, and a date alone, say what they mean.
  if (at === undefined || isDate(text) || hasOffset(text)) return undefined
  const late = Date.parse(date) - at.epochMilliseconds
  if (late < -tolerance) return `${name} is ahead of it: PAYMENTS_ZONE is wrong, or its Z cannot be true`
  return seenIf(
    Math.abs(late - brasilia) <= tolerance,
    `${name} is three hours behind it. If the row is new, ${
      /z$/i.test(text) ? "its Z cannot be true, and no setting mends it" : "set PAYMENTS_ZONE=America/Sao_Paulo"
    }`
  )
}

/** The newest row and the lookups against the clock of their answers. */
const otherTimes = ({ lookup, newest, withdrawal, zone }: Answers): Read<Seen> => {
  const records = [
    [newest, Result.map(pageOf(newest), ({ items }) => items[0])],
    [lookup, rowOf(lookup)],
    [withdrawal, rowOf(withdrawal)]
  ] as const
  const found = records.flatMap(([given, read]) => {
    const row = Result.getOrUndefined(read)
    return row !== undefined && typeof given === "object" ? [{ row, given }] : []
  })
  const seen = found.flatMap(({ given, row }) =>
    ["createdAt", "updatedAt", "updateDate"].map((name) => wrongTime(name, row[name], given, zone))
  )
  return found.length === 0 ? Result.fail("the list has no row") : Result.succeed(seen.find((one) => one !== undefined))
}

/** A word that no table has: nothing ends by it before its user lists it. It is shown if it is a plain word. */
const unlistedWord = ({ enStatusTransaction }: Row): Seen => {
  const status = String(enStatusTransaction)
  if (meaningOf(status, "charge") !== "unlisted") return undefined
  const word = /^[\p{L}_ -]{1,40}$/u.test(status) ? `"${status}"` : "its word"
  return `${word} is not listed. If it means paid, say so: GatewayFacts.layer({ statuses: { charge: { paid: [${word}] } } })`
}

const service = "docs/service.md#responses-sections-22-24-to-27"
const inRefusals = "docs/service.md#errors-and-limits-sections-7-8"
export const inSettings = "docs/getting-started.md#a-real-gateway-from-the-environment"

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

export const assumptions = [
  assume("The list has the documented fields", service, ({ newest }) => documented(newest, listTransactions.response)),
  assume(
    "The list is newest first, each row once",
    "docs/reconciling.md#what-is-promised-and-on-what-it-rests",
    ({ newest }) =>
      Result.map(
        pageOf(newest),
        ({ items }) =>
          seenIf(isUnsorted(items), "another order") ??
          seenIf(new Set(items.map(({ id }) => id)).size < items.length, "one id comes twice")
      )
  ),
  assume("The lookup is of the transaction asked for, with the documented fields", service, (answers) =>
    documented(
      answers.lookup,
      getTransaction.response,
      (row) =>
        seenIf(row["transactionId"] !== answers.transactionId, "it is of another one") ?? ofOtherCompany(row, answers)
    )
  ),
  assume("The lookup's status is listed", "docs/charging.md#statuses", ({ lookup }) =>
    Result.map(rowOf(lookup), unlistedWord)
  ),
  assume("The times are those of the service's clock", service, otherTimes),
  assume(
    "The lookup's row in the list has its id, amount, time and status",
    "docs/reconciling.md#which-ids-may-meet",
    otherRow
  ),
  assume("The balance is of PAYMENTS_COMPANY_ID, in reais", service, (answers) =>
    documented(
      answers.balance,
      getBalance.response,
      (row) => ofOtherCompany(row, answers) ?? seenIf((row["currency"] ?? "BRL") !== "BRL", "another currency")
    )
  ),
  assume(
    "The gateway has the lookup of a withdrawal, with the fields that were seen",
    "docs/payout-queue.md#was-it-paid",
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
    "docs/operating.md#what-the-answers-mean",
    ({ webhook }) => asked(webhook, hasStatus(405))
  )
]
