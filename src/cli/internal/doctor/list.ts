/** Checks of the list: its envelope, pages, orders, limits and rows. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { listTransactions } from "../../../contract/Endpoints.ts"
import { parseInstant } from "../../../internal/utc.ts"
import { type Ask, checkSuccess } from "./ask.ts"
import { type Findings, places } from "./findings.ts"
import { checkShape, checkTimes, checkWords, kindOf } from "./values.ts"

const Row = Schema.Record(Schema.String, Schema.Unknown)

/** A raw page, whose values have to be checked. */
const Page = Schema.Struct({
  items: Schema.Array(Row),
  totalItems: Schema.optional(Schema.Unknown),
  totalPages: Schema.optional(Schema.Unknown),
  currentPage: Schema.optional(Schema.Unknown),
  pageSize: Schema.optional(Schema.Unknown)
})
type Page = typeof Page.Type
export type Row = typeof Row.Type

/** The newest and the oldest rows, and whether the list has no others. */
export interface RowsSeen {
  readonly rows: ReadonlyArray<Row>
  readonly isWhole: boolean
}

const noRows: RowsSeen = { rows: [], isWhole: false }

const decodeEnvelope = Schema.decodeUnknownOption(Schema.Struct({ res: Page }))

const pageOf = (json: unknown): Page | undefined => Option.getOrUndefined(decodeEnvelope(json))?.res

export const millisOf = (row: Row): number => parseInstant(String(row["createdAt"]))?.epochMilliseconds ?? Number.NaN

const isSorted = (rows: ReadonlyArray<Row>, sign: 1 | -1): boolean =>
  rows.every((row, index) => {
    const before = rows[index - 1]
    const step = before === undefined ? 0 : sign * (millisOf(row) - millisOf(before))
    return Number.isNaN(step) || step >= 0
  })

const idsOf = (page: Page) => page.items.map((row) => String(row["id"])).join()

/** Reads pages, compares them with one another, and returns their rows. */
export const checkList = Effect.fnUntraced(function* (findings: Findings, ask: Ask): Effect.fn.Return<RowsSeen> {
  const read = Effect.fnUntraced(function* (query: Readonly<Record<string, string>>) {
    const answer = yield* ask(listTransactions, { query })
    return checkSuccess(findings, "The list", answer) ? answer.json : undefined
  })
  const json = yield* read({ page: "1", pageSize: "100", sort: "createdAt_desc" })
  if (json === undefined) return noRows
  const ok = Predicate.isObject(json) ? Reflect.get(json, "ok") : undefined
  findings.expect(
    ok === true,
    "List: the envelope is { ok: true, res }",
    places.list,
    `ok is ${ok === false ? "false" : kindOf(ok)}`
  )
  checkShape(findings, "List", listTransactions.response, json, places.list)
  const newest = pageOf(json)
  if (newest === undefined) {
    findings.add("wrong", "List: the rows are under res.items", places.list, "they are not")
    return noRows
  }
  checkRows(findings, newest)
  checkCounts(findings, newest)

  const again = pageOf(yield* read({ page: "1", pageSize: "100", sort: "createdAt_desc" }))
  const isQuiet = again !== undefined && again.totalItems === newest.totalItems
  const keeps = "List: rows keep their order from one request to the next"
  if (isQuiet)
    findings.expect(idsOf(again) === idsOf(newest), keeps, places.pages, "the same page came in another order")
  else findings.add("skipped", keeps, places.pages, "the list grew meanwhile")

  const oldest = pageOf(yield* read({ page: "1", pageSize: "100", sort: "createdAt_asc" }))
  findings.expect(isSorted(newest.items, -1), "List: createdAt_desc is newest first", places.limits, "it is not")
  findings.expect(isSorted(oldest?.items ?? [], 1), "List: createdAt_asc is oldest first", places.limits, "it is not")

  const plain = pageOf(yield* read({}))
  if (plain !== undefined) checkDefaults(findings, plain, newest)

  const past = pageOf(yield* read({ page: `${Number(newest.totalPages) + 2 || 1000}`, pageSize: "100" }))
  const beyond = "List: a page past the end is there and has no rows"
  if (past === undefined) findings.add("wrong", beyond, places.pages, "it has no rows to read")
  else findings.expect(past.items.length === 0, beyond, places.pages, "it has rows")

  yield* checkSecond(findings, read, newest)
  const rows = [...newest.items, ...(oldest?.items ?? [])]
  return { rows, isWhole: newest.items.length === newest.totalItems }
})

const checkSecond = Effect.fnUntraced(function* <E, R>(
  findings: Findings,
  read: (query: Readonly<Record<string, string>>) => Effect.Effect<unknown, E, R>,
  newest: Page
) {
  const what = "List: page and pageSize are honoured"
  const [first, second] = newest.items
  if (first === undefined || second === undefined) {
    return findings.add("skipped", what, places.limits, "there are not two rows")
  }
  const page = pageOf(yield* read({ page: "2", pageSize: "1", sort: "createdAt_desc" }))
  const isRight = page?.items.length === 1 && page.items[0]?.["id"] !== first["id"]
  findings.expect(isRight, what, places.limits, "the second page of one row is not one other row")
  const echoes = page?.currentPage === 2 && page.pageSize === 1
  findings.expect(echoes, "List: currentPage and pageSize say what was asked for", places.pages, "they say otherwise")
})

const checkCounts = (findings: Findings, { items, pageSize, totalItems, totalPages }: Page) => {
  const total = Number(totalItems)
  const size = "List: a pageSize of 100 is honoured"
  findings.expect(
    pageSize === 100 && items.length <= 100,
    size,
    places.limits,
    `there are ${items.length} rows, and it says ${kindOf(pageSize)} other than 100`
  )
  const shown = "List: a page is full, or the last one"
  findings.expect(
    items.length === Math.min(100, total),
    shown,
    places.pages,
    `${items.length} rows of a list that counts ${total > 100 ? "more than 100" : "others"}`
  )
  const pages = "List: totalPages is totalItems by the size of a page, rounded up"
  // An empty list may have one page or none: the client accepts both.
  const isRight = total === 0 ? Number(totalPages) <= 1 : totalPages === Math.ceil(total / 100)
  findings.expect(isRight, pages, places.pages, "it is another number")
}

const checkDefaults = (findings: Findings, plain: Page, newest: Page) => {
  const isRight = plain.pageSize === 50 && plain.currentPage === 1
  findings.expect(
    isRight,
    "List: without parameters it is page 1 of 50 rows",
    places.limits,
    "it is another page or size"
  )
  const [ours, first] = [plain.items[0], newest.items[0]]
  const isNewest = ours === undefined || first === undefined || ours["id"] === first["id"] || isSorted([ours, first], 1)
  findings.expect(isNewest, "List: without parameters the newest come first", places.limits, "another row is the first")
}

const checkRows = (findings: Findings, { items }: Page) => {
  if (items.length === 0)
    return findings.add("skipped", "List: rows are as documented", places.list, "there are no rows")
  const ids = items.map((row) => row["id"])
  findings.expect(new Set(ids).size === ids.length, "List: each row has its own id", places.list, "one id comes twice")
  const words = items.map((row) => row["status"])
  checkWords(findings, "Words of the list's status", words, ["PENDING"], false)
  const methods = items.map((row) => row["paymentMethod"]).filter(Predicate.isNotNullish)
  checkWords(findings, "Words of the list's paymentMethod", methods, ["PIX", "BOLETO", "CREDIT_CARD"], false)
  const times = items.flatMap((row) => [row["createdAt"], row["updatedAt"]])
  checkTimes(findings, "List", times, false)
  const leads = items.map((row) => row["leadId"]).filter((id) => typeof id === "string")
  const uuids = leads.every((id) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id))
  if (leads.length > 0) findings.expect(uuids, "List: leadId is a UUID", places.list, "it has another form")
}
