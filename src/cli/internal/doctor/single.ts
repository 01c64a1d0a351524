/** Checks of the balance, and of one transaction that was looked up. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { getBalance, getTransaction } from "../../../contract/Endpoints.ts"
import { detailWords } from "../../../contract/Status.ts"
import type { Ask } from "./ask.ts"
import { type Findings, places } from "./findings.ts"
import { isSuccess } from "./service.ts"
import { checkShape } from "./shape.ts"
import { checkDecimals, checkTimes, checkWords } from "./values.ts"

const fieldOf = (json: unknown, name: string): unknown =>
  Predicate.isObject(json) ? Reflect.get(json, name) : undefined

export const checkBalance = Effect.fnUntraced(function* (findings: Findings, ask: Ask, companyId: number | undefined) {
  if (companyId === undefined) {
    return findings.tell("skipped", "Balance", places.balance, "PAYMENTS_COMPANY_ID is not set")
  }
  const answer = yield* ask(getBalance, { params: { companyId: `${companyId}` }, query: { currency: "BRL" } })
  if (!isSuccess(findings, "The balance", answer)) return
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
  companyId: number | undefined
) {
  if (transactionId === undefined) {
    return findings.tell("skipped", "Lookup", places.detail, "give --transaction ID: a list's rows carry no such id")
  }
  const answer = yield* ask(getTransaction, { params: { transactionId } })
  if (!isSuccess(findings, "The lookup", answer)) return
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
  // TransactionWait ends by these words, so another one is waited on for ever.
  checkWords(findings, "Words of the lookup's enStatusTransaction", [status], detailWords, true)
  const system = [fieldOf(json, "enPaymentSystem")].filter(Predicate.isNotNullish)
  checkWords(findings, "Words of the lookup's enPaymentSystem", system, ["Pix", "Boleto", "CreditCard"], false)
  checkTimes(findings, "Lookup: updateDate", [fieldOf(json, "updateDate")], true)
  checkTimes(findings, "Lookup: createdAt", [fieldOf(json, "createdAt")], false)
})
