/** Checks of the service: access, the lookup, the balance, and how it refuses. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { getBalance, getTransaction, listTransactions } from "../../../contract/Endpoints.ts"
import { detailWords } from "../../../contract/Status.ts"
import { type Answer, type Ask, checkSuccess } from "./ask.ts"
import { NoAnswer } from "../http.ts"
import { type Findings, places } from "./findings.ts"
import { millisOf, type Row, type RowsSeen } from "./list.ts"
import { checkDecimals, checkShape, checkTimes, checkWords } from "./values.ts"

/** Checks whether the service answers and accepts the credentials. If not, nothing else can be checked. */
export const checkAccess = Effect.fnUntraced(function* (findings: Findings, ask: Ask) {
  const answer = yield* ask(listTransactions, { query: { page: "1", pageSize: "1" } })
  if (answer instanceof NoAnswer) {
    findings.add("wrong", "The service answers at PAYMENTS_BASE_URL", places.settings, answer.problem)
    return false
  }
  findings.add("holds", "The service answers at PAYMENTS_BASE_URL", places.settings)
  const { status } = answer
  const isRedirect = status >= 300 && status < 400
  findings.expect(
    !isRedirect,
    "PAYMENTS_BASE_URL is the service's own address",
    places.settings,
    "it redirects elsewhere"
  )
  const isDenied = status === 401 || status === 403
  findings.expect(!isDenied, "The credentials are accepted", places.settings, `HTTP ${status}`)
  return !isRedirect && !isDenied
})

const fieldOf = (json: unknown, name: string): unknown =>
  Predicate.isObject(json) ? Reflect.get(json, name) : undefined

export const checkBalance = Effect.fnUntraced(function* (findings: Findings, ask: Ask, companyId: number | undefined) {
  if (companyId === undefined) {
    return findings.add("skipped", "Balance", places.balance, "PAYMENTS_COMPANY_ID is not set")
  }
  const answer = yield* ask(getBalance, { params: { companyId: `${companyId}` }, query: { currency: "BRL" } })
  if (!checkSuccess(findings, "The balance", answer)) return
  const { json, text } = answer
  checkShape(findings, "Balance", getBalance.response, json, places.balance)
  checkDecimals(findings, text, getBalance.decimals)
  const company = fieldOf(json, "companyId")
  const isOurs = company === undefined || company === null || company === companyId
  findings.expect(isOurs, "Balance: companyId is the one asked for", places.balance, "it is another one")
  checkWords(findings, "Words of the balance's currency", [fieldOf(json, "currency") ?? "BRL"], ["BRL"], true)
  checkWords(
    findings,
    "Words of the balance's enBalanceStatus",
    [fieldOf(json, "enBalanceStatus")],
    ["Released"],
    false
  )
})

export const checkLookup = Effect.fnUntraced(function* (
  findings: Findings,
  ask: Ask,
  transactionId: string | undefined,
  companyId: number | undefined,
  seen: RowsSeen
) {
  if (transactionId === undefined) {
    return findings.add("skipped", "Lookup", places.detail, "give --transaction ID: a list's rows carry no such id")
  }
  const answer = yield* ask(getTransaction, { params: { transactionId } })
  if (!checkSuccess(findings, "The lookup", answer)) return
  const { json } = answer
  checkShape(findings, "Lookup", getTransaction.response, json, places.detail)
  const isOurs = fieldOf(json, "transactionId") === transactionId
  findings.expect(isOurs, "Lookup: transactionId is the one asked for", places.detail, "it is another one")
  const company = fieldOf(json, "companyId")
  if (companyId !== undefined && typeof company === "number") {
    const ours = "Lookup: companyId is that of PAYMENTS_COMPANY_ID"
    findings.expect(company === companyId, ours, places.settings, "it is another one")
  }
  const status = fieldOf(json, "enStatusTransaction")
  // `TransactionWait` ends at these words. At any other word it waits until its deadline.
  checkWords(findings, "Words of the lookup's enStatusTransaction", [status], detailWords, true)
  const system = [fieldOf(json, "enPaymentSystem")].filter(Predicate.isNotNullish)
  checkWords(findings, "Words of the lookup's enPaymentSystem", system, ["Pix", "Boleto", "CreditCard"], false)
  checkTimes(findings, "Lookup: updateDate", [fieldOf(json, "updateDate")], true)
  checkTimes(findings, "Lookup: createdAt", [fieldOf(json, "createdAt")], false)
  if (Predicate.isObject(json)) checkRow(findings, { ...json }, seen)
})

/** Reconciling takes the id of a lookup for the id of its row in the list. */
const checkRow = (findings: Findings, detail: Row, { isWhole, rows }: RowsSeen) => {
  const what = "Lookup: id is the id of its row in the list"
  const row = rows.find(({ id }) => id === detail["id"])
  if (row !== undefined) {
    const apart = millisOf(row) - millisOf(detail)
    // Where a time cannot be read, that is a finding of its own.
    const isSame = row["amount"] === detail["value"] && (apart === 0 || Number.isNaN(apart))
    findings.expect(isSame, what, places.rows, "the row of this id has another amount or time")
  } else if (isWhole) findings.add("wrong", what, places.rows, "no row has this id")
  else findings.add("skipped", what, places.rows, "its row is not among the newest and the oldest hundred")
}

const hasWords = ({ json, text }: Answer): boolean => {
  if (!Predicate.isObject(json)) return text.trim() !== ""
  return ["message", "error", "errors", "detail", "title"].some((name) => Object.hasOwn(json, name))
}

const statusOf = (answer: Answer | NoAnswer) => (answer instanceof NoAnswer ? undefined : answer.status)
const seenOf = (answer: Answer | NoAnswer) => (answer instanceof NoAnswer ? answer.problem : `HTTP ${answer.status}`)

/** An id that no transaction has. */
const unusedId = "00000000-0000-4000-8000-000000000000"

/** Checks the refusals of the service, as far as reads show them. `askWrongly` sends a wrong key. */
export const checkRefusals = Effect.fnUntraced(function* (findings: Findings, ask: Ask, askWrongly: Ask) {
  const missing = yield* ask(getTransaction, { params: { transactionId: unusedId } })
  const what = "An unknown transaction is answered with 404"
  findings.expect(statusOf(missing) === 404, what, places.refusals, seenOf(missing))
  const denied = yield* askWrongly(listTransactions, { query: { page: "1", pageSize: "1" } })
  findings.expect(
    statusOf(denied) === 401 || statusOf(denied) === 403,
    "A wrong key is answered with 401 or 403",
    places.refusals,
    seenOf(denied)
  )
  const answers = [missing, denied].filter((answer) => "status" in answer)
  const refusals = answers.filter(({ status }) => status >= 400)
  if (refusals.length === 0) return
  findings.expect(
    refusals.every(hasWords),
    "A refusal says why: message, error, errors, detail or title in JSON, or text",
    places.refusals,
    "it has no words that are known"
  )
})
