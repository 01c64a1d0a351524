/**
 * Writes the bodies that were seen of the gateway and that it does not document, for a sandbox with `as: "seen"`
 * (`docs/service.md`). The members and the kinds of their values are those that were seen, the values are made up. What
 * was not seen, as a list or the lookup of a charge, is answered as documented.
 *
 * Details, all as seen: the time of a record and of a payment is that of Brasília, without an offset or with a false `Z`;
 * the expiry of a charge is a true time with seven digits of a second.
 */
import * as DateTime from "effect/DateTime"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { lanes } from "../../internal/fingerprint.ts"
import * as PixKey from "../../pix/PixKey.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import type { Settings } from "../SandboxOptions.ts"
import { digest, uuid } from "./ids.ts"

/** The id of a charge: 26 hexadecimal characters. */
export const chargeId = (text: string): string => lanes(text, 5).slice(0, 26)

const brasilia = 3 * 60 * 60 * 1000

/** An instant as Brasília's clock shows it, without an offset. */
const localOf = (iso: string) => DateTime.formatIso(DateTime.makeUnsafe(Date.parse(iso) - brasilia)).replace("Z", "")

/** An instant as Brasília's clock shows it, with six digits of a second and no offset. */
const local = (iso: string) => `${localOf(iso)}000`

/** An instant in whole seconds. */
const seconds = (iso: string) => iso.replace(/\.\d+/, "")

/** The end-to-end id of a payment at an instant. */
const endToEndId = (text: string, at: string) =>
  `E12345678${at.replaceAll(/\D/g, "").slice(0, 12)}${lanes(text, 2).slice(0, 11)}`

/** The fields of a creation that its answer or its webhook repeats, beyond those that are documented to. */
export type SentFields = Pick<
  SandboxTransaction,
  "externalRef" | "postbackUrl" | "installments" | "traceable" | "metadata"
>

/** These fields of the body of a creation, which is a JSON object. */
export const sentFields = (body: string): SentFields => {
  const sent: { readonly [name: string]: Schema.Json } = JSON.parse(body)
  const { externalRef, installments, metadata = null, postbackUrl, traceable } = sent
  return {
    ...(Predicate.isString(externalRef) && { externalRef }),
    ...(Predicate.isString(postbackUrl) && { postbackUrl }),
    ...(Predicate.isNumber(installments) && { installments }),
    ...(Predicate.isBoolean(traceable) && { traceable }),
    ...(metadata !== null && { metadata })
  }
}

/** The code of a charge and its expiry. */
const codeOf = ({ expiresAt, qrcode, transactionId }: SandboxTransaction) => ({
  brcode: qrcode,
  qrcode: null,
  payloadBase64: btoa(qrcode ?? ""),
  imagemQrCodeInBase64: null,
  qrcodeBase64: null,
  txId: transactionId,
  expiresAt: expiresAt?.replace("Z", "0000+00:00")
})

/** The answer to the creation of a charge. */
export const createdBody = ({ companyId, seed }: Settings, charge: SandboxTransaction) => ({
  data: {
    id: charge.transactionId,
    externalRef: charge.externalRef ?? null,
    amount: charge.amount,
    refundedAmount: 0,
    providerCompanyId: uuid(`${seed}/company`),
    companyId,
    installments: charge.installments ?? 1,
    paymentMethod: charge.paymentMethod,
    status: "WAITING_PAYMENT",
    postbackUrl: charge.postbackUrl ?? null,
    metadata: charge.metadata ?? null,
    traceable: charge.traceable ?? true,
    secureId: null,
    secureUrl: null,
    ...(charge.qrcode !== undefined && { pix: codeOf(charge) })
  },
  status: 200,
  message: "Transação criada e registrada com sucesso."
})

/** The balance, in reais. */
export const balanceBody = ({ companyId }: Settings, centavos: number) => ({
  companyId,
  currency: "BRL",
  enBalanceStatus: "Released",
  accBalance: centavos / 100
})

const words: Record<SandboxWithdrawal["status"], string> = {
  Awaiting: "Pending",
  Processing: "Processing",
  Settled: "Successful",
  Rejected: "Failure",
  Returned: "Refunded"
}

/** The reason of a failure that nobody gave another one. */
const reasonOf = ({ reason = "Invalid Pix Entry", status }: SandboxWithdrawal) =>
  status === "Rejected" ? reason : null

const documentOf = ({ creditorDocument }: Settings, { pixKey, pixKeyType }: SandboxWithdrawal) =>
  pixKeyType === "CPF" || pixKeyType === "CNPJ" ? pixKey : creditorDocument

const recordOf = (settings: Settings, payout: SandboxWithdrawal) => ({
  id: payout.id,
  companyId: settings.companyId,
  idempotencyKey: payout.idempotencyKey ?? null,
  value: payout.amount / 100,
  pixKey: payout.pixKey,
  pixKeyType: payout.pixKeyType ?? null,
  creditorDocument: documentOf(settings, payout),
  description: payout.description ?? null,
  currency: payout.currency,
  enTransaction: words[payout.status],
  createdAt: local(payout.createdAt)
})

/** The answer to the request of a payout: its first state, whatever became of it since. */
export const requestedBody = (settings: Settings, payout: SandboxWithdrawal) => ({
  ...recordOf(settings, payout),
  ...(payout.failedAtOnce === true ? { providerErrorDescription: reasonOf(payout) } : { enTransaction: words.Awaiting })
})

/** What the provider of the gateway says of a payout, in its record and in its webhooks. */
const providerOf = (payout: SandboxWithdrawal) => ({
  provider: "SANDBOX",
  providerStatus: payout.status === "Rejected" ? "3" : 1,
  providerTid: `wld-${String(payout.id).padStart(8, "0")}`,
  providerPaymentId: uuid(`payment/${payout.id}/${payout.createdAt}`),
  providerAmount: payout.amount / 100,
  providerErrorDescription: reasonOf(payout)
})

const endToEndOf = ({ createdAt, id, status }: SandboxWithdrawal) =>
  status === "Settled" || status === "Returned" ? endToEndId(`payout/${id}/${createdAt}`, createdAt) : null

/** The answer to the lookup of a payout. */
export const lookupBody = (settings: Settings, payout: SandboxWithdrawal) => ({
  ...recordOf(settings, payout),
  amount: payout.amount,
  ...providerOf(payout),
  providerEndToEndId: endToEndOf(payout),
  updateDate: local(payout.updatedAt)
})

const cashInWords: Record<SandboxTransaction["status"], string> = {
  Awaiting: "pending",
  Paid: "successful",
  Cancelled: "cancelled",
  Failed: "failure",
  Refunded: "refunded"
}

const company = { document: "11222333000181", ispb: "12345678", agency: "0001", account: "123456" }

/** The webhook of a charge. Only that of a payment was seen: the words for other states are made up. */
export const cashInBody = (settings: Settings, charge: SandboxTransaction): Schema.Json => {
  const { amount, customer, paid = amount, paymentMethod, rowId, states, transactionId, updatedAt } = charge
  const paidAt = states.find(({ status }) => status === "Paid")?.at
  const id = paidAt !== undefined && paymentMethod === "PIX" ? endToEndId(`charge/${transactionId}`, paidAt) : null
  return {
    object: "transaction",
    type: "cashin",
    status: cashInWords[charge.status],
    companyId: settings.companyId,
    transactionId,
    subTransactionId: rowId,
    externalRef: charge.externalRef ?? null,
    method: paymentMethod.toLowerCase(),
    value: paid,
    amount: paid / 100,
    currency: charge.currency,
    endToEndId: id,
    providerEndToEndId: id,
    providerTxId: transactionId,
    pixKey: settings.pixKey === undefined ? null : PixKey.toPair(settings.pixKey).pixKey,
    providerAmount: paid / 100,
    providerCreditedAt: paidAt === undefined ? null : local(paidAt),
    providerPayload: {},
    payer: { name: customer.name, documentId: customer.document?.number ?? null, bankName: null, ispb: null },
    receiver: { name: null, documentId: company.document },
    processedAt: `${local(updatedAt)}Z`
  }
}

/** The webhook of a payout; `undefined` for a state of which none was seen. */
export const cashOutBody = (settings: Settings, payout: SandboxWithdrawal): Schema.Json | undefined => {
  const { amount, createdAt, currency, metadata, pixKey, pixKeyType, status, updatedAt } = payout
  if (status === "Processing" || payout.failedAtOnce === true) return undefined
  const document = documentOf(settings, payout)
  return {
    object: "withdraw",
    type: "cashout",
    status: words[status].toLowerCase(),
    companyId: settings.companyId,
    withdrawId: payout.id,
    value: amount / 100,
    valueInCents: amount,
    currency,
    ...providerOf(payout),
    endToEndId: endToEndOf(payout),
    providerConfirmedAt: status === "Settled" ? seconds(updatedAt) : null,
    providerDebitedAt: null,
    providerErrorCode: status === "Rejected" ? "AC03" : null,
    providerPayload: "{}",
    pixKey,
    pixKeyType: pixKeyType ?? null,
    creditorDocument: document,
    payer: { name: settings.merchant.name, ...company },
    receiver: { name: "PESSOA EXEMPLO", document, ispb: "87654321", agency: "0001", account: "654321" },
    createdAt: seconds(createdAt),
    updatedAt: seconds(updatedAt),
    processedAt: seconds(updatedAt),
    metadata: metadata === undefined ? null : Predicate.isString(metadata) ? metadata : JSON.stringify(metadata)
  }
}

/** The id of the event that a webhook is about: the same at each attempt, and for each target. */
export const eventId = ({ seed }: Settings, json: Schema.Json, createdAt: string): string =>
  uuid(`${seed}/event/${createdAt}/${digest(json)}`)

const instant = /"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)((?:\.\d+)?)(Z?)"/g

/** JSON whose times are Brasília's, without an offset or with a false `Z`. A time with another offset stays. */
export const withLocalTimes = (json: string, times: "Local" | "FalseZ"): string =>
  json.replaceAll(instant, (_, second: string, fraction: string, zone: string) => {
    const whole = zone === "Z" ? localOf(`${second}Z`).slice(0, second.length) : second
    return `"${whole}${fraction.padEnd(7, "0").replace(/^0/, ".")}${times === "FalseZ" ? "Z" : ""}"`
  })

/** The answer to a creation whose code has another name. */
export const withCode = (json: string, name: "brcode" | "qrcode"): string => {
  const body: { readonly data?: { readonly pix?: { readonly brcode?: string; readonly qrcode?: string } } } =
    JSON.parse(json)
  const pix = body.data?.pix
  const code = pix?.brcode ?? pix?.qrcode
  if (code === undefined) return json
  const named =
    name === "brcode"
      ? { brcode: code, qrcode: null, payloadBase64: btoa(code) }
      : { brcode: null, qrcode: code, payloadBase64: null }
  return JSON.stringify({ ...body, data: { ...body.data, pix: { ...pix, ...named } } })
}
