/** The rows of charges, payouts, requests and webhooks. Only the open row has its details. */
import * as Predicate from "effect/Predicate"
import * as QrCode from "../../../pix/QrCode.ts"
import { curl } from "../curl.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../../../sandbox/SandboxLedger.ts"
import type { SandboxRequest } from "../../../sandbox/SandboxRequest.ts"
import type { SandboxWebhook } from "../../../sandbox/SandboxWebhook.ts"
import { nameOf } from "./faults.ts"
import { type Html, html } from "./html.ts"
import { deliveries, type Happened, story, targetOf, timeline, toneOf } from "./timeline.ts"
import type { Word } from "./words.ts"
import { fromStart } from "./view.ts"
import type { Writer } from "./write.ts"

/** What the details of the open row need beside the row itself. */
export interface Related extends Happened {
  readonly hasTarget: boolean
  /** The row that a request or a webhook is about. */
  readonly charge: SandboxTransaction | undefined
  readonly payout: SandboxWithdrawal | undefined
}

interface Line {
  readonly id: number
  readonly at: string
  readonly what: Html
  readonly status: Html
  readonly who: Html | string
  readonly acts: ReadonlyArray<Html | false>
  readonly label: Word
}

const row = ({ link, time, view, word }: Writer, line: Line, details: Html | undefined) => {
  const address = link({ open: details === undefined ? line.id : undefined, page: view.page })
  // A click anywhere on the line goes where its link goes.
  return html`<li id="row-${line.id}" class="row">
    <div class="line" data-go="${address}">
      <a class="number" href="${address}" aria-expanded="${String(details !== undefined)}"
        ><span class="hidden">${word(line.label)} </span>#${line.id}</a
      >${time(line.at)}${line.what}${line.status}
      <span class="who">${line.who}</span>
      <span class="acts">${line.acts.filter((one) => one !== false)}</span>
    </div>
    ${details && html`<div class="details">${details}</div>`}
  </li>`
}

type Field = readonly [name: string, value: Html | string | undefined, isCopied?: boolean]

/** Names with their values, and buttons that copy some of these. */
const fields = ({ copy }: Writer, all: ReadonlyArray<Field>) =>
  html`<dl class="fields">
    ${all.map(([name, value, isCopied = false]) =>
      value === undefined
        ? html``
        : html`<div>
            <dt>${name}</dt>
            <dd>${value} ${isCopied && typeof value === "string" && copy(value, name)}</dd>
          </div>`
    )}
  </dl>`

const amountOf = ({ money }: Writer, centavos: number) => html`<strong class="amount">${money(centavos)}</strong>`

/** The code of a charge, and the same one in the size of the screen. */
const qrOf = ({ word }: Writer, { qrcode, rowId }: SandboxTransaction) => {
  if (qrcode === undefined) return undefined
  const picture = html`<img src="${QrCode.dataUrl(qrcode)}" alt="${word("qrOf", rowId)}" width="200" height="200" />`
  return html`<div class="qr">
    ${picture}
    <button type="button" popovertarget="qr">${word("enlarge")}</button>
    <div id="qr" popover class="large">
      ${picture}<button type="button" popovertarget="qr" popovertargetaction="hide">${word("close")}</button>
    </div>
  </div>`
}

/** The status that a charge had before its last one. */
const earlier = { Paid: "Awaiting", Cancelled: "Awaiting", Failed: "Awaiting", Refunded: "Paid" } as const

/** Faults of a rehearsal that a person can try: as buttons, for what the charge and its webhooks allow. */
const faultsOf = (writer: Writer, charge: SandboxTransaction, { hasTarget, webhooks }: Related) => {
  const { act, amount, link, word } = writer
  const { rowId, status, transactionId } = charge
  const about = word("charge", rowId)
  const last = webhooks.at(-1)
  const documented = { event: "transaction.updated", transactionId, amount: charge.amount, updatedAt: charge.createdAt }
  // What an earlier webhook of the charge said: in the words of the gateway that sent the last one.
  const sent: unknown = last?.json
  const early = (status: keyof typeof earlier) =>
    last?.eventId !== undefined && Predicate.isObject(sent)
      ? { ...sent, status: status === "Refunded" ? "successful" : "pending" }
      : { ...documented, status: earlier[status] }
  const tools = [
    (status === "Awaiting" || status === "Cancelled") &&
      html`<p>
        ${act({ name: "markPaid", input: { transactionId, late: true } }, "payLate", about)}
        <span class="note">${word("payLateNote")}</span>
      </p>`,
    status === "Awaiting" &&
      html`<form class="inline" data-send="/_sandbox/markPaid" data-body="${JSON.stringify({ transactionId })}">
        ${amount(`paid-${rowId}`, "1,00", word("otherAmount"))}
        <button aria-label="${word("payOther")}: ${about}">${word("payOther")}</button>
      </form>`,
    last !== undefined &&
      html`<p>
        ${act({ name: "resendWebhook", input: { id: last.id } }, "deliverTwice", about)}
        <span class="note">${word("deliverTwiceNote")}</span>
      </p>`,
    hasTarget &&
      status !== "Awaiting" &&
      html`<p>
        ${act({ name: "sendWebhook", input: { json: early(status) } }, "outOfOrder", about)}
        <span class="note">${word("outOfOrderNote")}</span>
      </p>`,
    !hasTarget && html`<p><a href="${link({ ...fromStart, tab: "webhooks" })}">${word("noTarget")}</a></p>`
  ]
  return html`<h3>${word("tryFaults")}</h3>
    <div class="tries">${tools.filter((one) => one !== false)}</div>`
}

/** A charge. */
export const charge = (writer: Writer, one: SandboxTransaction, related: Related | undefined): Html => {
  const { act, exact, money, pill, word } = writer
  const { customer, expiresAt, paid, qrcode, rowId, status, transactionId } = one
  const about = word("charge", rowId)
  const input = { transactionId }
  const isOpen = status === "Awaiting"
  return row(
    writer,
    {
      id: rowId,
      at: one.createdAt,
      what: amountOf(writer, paid ?? one.amount),
      status: pill(status),
      who: customer.name,
      label: "code",
      acts: [
        isOpen && act({ name: "markPaid", input }, "pay", about, "main"),
        isOpen && act({ name: "cancel", input }, "cancel", about),
        isOpen && act({ name: "fail", input }, "fail", about),
        status === "Paid" && act({ name: "refund", input }, "refund", about)
      ]
    },
    related &&
      html`<div class="code">
          ${qrOf(writer, one)}
          ${fields(writer, [
            ["id", transactionId, true],
            [word("pixText"), qrcode, true],
            [word("key"), one.idempotencyKey ?? word("none"), one.idempotencyKey !== undefined],
            [word("method"), one.paymentMethod],
            [word("paidAmount"), paid === undefined ? undefined : money(paid)],
            ["e-mail", customer.email],
            [word("expires"), expiresAt && exact(expiresAt)]
          ])}
        </div>
        ${faultsOf(writer, one, related)}
        ${timeline(writer, story(writer, one.createdAt, one.states, "created", related))}`
  )
}

/** A payout. */
export const payout = (writer: Writer, one: SandboxWithdrawal, related: Related | undefined): Html => {
  const { act, pill, word } = writer
  const { id, idempotencyKey, pixKey, pixKeyType = "PIX", status } = one
  const about = word("payout", id)
  const isOpen = status === "Awaiting" || status === "Processing"
  const states = one.states ?? (status === "Awaiting" ? [] : [{ status, at: one.updatedAt }])
  return row(
    writer,
    {
      id,
      at: one.createdAt,
      what: amountOf(writer, one.amount),
      status: pill(status),
      who: html`${word("to", pixKeyType)} <span class="id">${pixKey}</span>`,
      label: "details",
      acts: [
        isOpen && act({ name: "settleWithdrawal", input: { id } }, "settle", about, "main"),
        status === "Awaiting" && act({ name: "processWithdrawal", input: { id } }, "process", about),
        isOpen && act({ name: "rejectWithdrawal", input: { id } }, "reject", about),
        status === "Settled" && act({ name: "returnWithdrawal", input: { id } }, "giveBack", about)
      ]
    },
    related &&
      html`${fields(writer, [
        ["id", String(id), true],
        [pixKeyType, pixKey, true],
        [word("key"), idempotencyKey ?? word("none"), idempotencyKey !== undefined],
        [word("description"), one.description],
        [word("reason"), one.reason]
      ])}
      ${timeline(writer, story(writer, one.createdAt, states, "asked", related))}`
  )
}

/** The link to the charge or the payout that a request or a webhook is about. */
const aboutOf = ({ linkTo, word }: Writer, { charge, payout }: Related) => {
  if (charge !== undefined) return linkTo("transactions", charge.rowId, word("charge", `#${charge.rowId}`))
  return payout && linkTo("withdrawals", payout.id, word("payout", `#${payout.id}`))
}

/** A request. */
export const request = (writer: Writer, one: SandboxRequest, related: Related | undefined): Html => {
  const { block, pill, word } = writer
  const { answer, body, fault, headers, id, idempotencyKey, method, operation, path, status } = one
  const command = curl(one)
  return row(
    writer,
    {
      id,
      at: one.arrivedAt,
      what: html`<strong class="name">${operation ?? method}</strong>`,
      status: pill(status ?? 0, toneOf(status)),
      who: html`<span class="id">${method} ${path}</span>`,
      label: "details",
      acts: [
        fault !== undefined && pill(word("met", nameOf(fault)), "bad"),
        html`<button type="button" data-copy="${command}" aria-label="${word("copyCurl")}: ${word("request", id)}">
          ${word("copyCurl")}
        </button>`
      ]
    },
    related &&
      html`${fields(writer, [
          [word("about"), aboutOf(writer, related)],
          [word("key"), idempotencyKey, true]
        ])}
        ${answer !== undefined && block(word("answered"), answer)} ${body !== "" && block(word("body"), body)}
        <h3>${word("headers")}</h3>
        ${fields(writer, Object.entries(headers))}`
  )
}

/** A webhook. */
export const webhook = (writer: Writer, one: SandboxWebhook, related: Related | undefined): Html => {
  const { act, block, pill, word } = writer
  const { attempts, id, json, state } = one
  const last = attempts.at(-1)
  const text = JSON.stringify(json)
  return row(
    writer,
    {
      id,
      at: one.createdAt,
      what: html`<strong class="name"
        >${/^\{(?:"event"|"object":"\w+","type"):"([\w.]+)"/.exec(text)?.[1] ?? "webhook"}</strong
      >`,
      status: pill(state),
      who: html`<span class="id">${word("delivery", targetOf(one))}</span>`,
      label: "details",
      acts: [
        last !== undefined && last.status === undefined && pill(0, "bad"),
        act({ name: "resendWebhook", input: { id } }, "again", word("webhook", id))
      ]
    },
    related &&
      html`${fields(writer, [[word("about"), aboutOf(writer, related)]])} ${timeline(writer, deliveries(writer, one))}
      ${block(word("body"), text)}`
  )
}
