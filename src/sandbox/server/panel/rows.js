/** The rows of charges, payouts, requests and webhooks. */
import { copy, el, reais, toast } from "./dom.js"
import { ask } from "./server.js"
import { time, word } from "./words.js"

const tones = {
  Awaiting: "warn",
  Paid: "good",
  Settled: "good",
  Taken: "good",
  Failed: "bad",
  Rejected: "bad",
  GivenUp: "bad",
  Refunded: "again",
  Pending: "warn"
}

const pill = (status) => el("span", { class: `pill ${tones[status] ?? ""}` }, word(`status.${status}`))

/** Runs an action. Its button is disabled meanwhile, and a failure is shown. */
export const act = (button, effect) => {
  if (button) button.disabled = true
  return effect()
    .catch((error) => toast(error.message))
    .finally(() => {
      if (button) button.disabled = false
    })
}

const button = (name, label, effect, isMain) =>
  el(
    "button",
    {
      type: "button",
      class: isMain ? "main" : undefined,
      "data-act": name,
      "aria-label": label,
      onclick: (event) => act(event.currentTarget, effect)
    },
    word(`acts.${name}`)
  )

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

const small = (label, text) => el("p", { class: "note" }, `${label}: `, el("span", { class: "id" }, text))

const chargeActs = { Awaiting: ["pay", "cancel", "expire", "fail"], Paid: ["refund"] }

const lineOf = (...cells) => el("div", { class: "line" }, cells)
const actsOf = (...buttons) => el("div", { class: "acts" }, buttons)
const more = (label, ...children) =>
  el(
    "details",
    { class: "more" },
    el("summary", { "data-act": "details" }, el("span", { class: "hidden" }, label)),
    ...children
  )
const copyButton = (name, text, ...label) =>
  el("button", { type: "button", "data-act": name, onclick: () => copy(text, word("copied")) }, ...label)

export const charge = (item) => {
  const { amount, currency, customer, paymentMethod, qrcode, rowId, status, transactionId } = item
  const path = `/transactions/${transactionId}`
  const acts = (chargeActs[status] ?? []).filter((name) => name !== "expire" || paymentMethod === "PIX")
  return el(
    "li",
    {},
    lineOf(
      el("span", { class: "note" }, `#${rowId} · ${time(item.createdAt)}`),
      el("strong", { class: "amount" }, reais(amount, currency)),
      pill(status),
      el("span", { class: "who" }, customer.name),
      actsOf(
        acts.map((name) =>
          button(name, word("actOn", word(`acts.${name}`), rowId), () => ask("POST", `${path}/${name}`), name === "pay")
        )
      )
    ),
    more(
      `${word("code")} #${rowId}`,
      el(
        "div",
        { class: "code" },
        qrcode &&
          el("img", {
            src: `/_sandbox${path}/qrcode.svg`,
            alt: word("qrOf", rowId),
            width: 200,
            height: 200,
            loading: "lazy"
          }),
        el(
          "div",
          {},
          qrcode && el("p", { class: "text id" }, qrcode),
          qrcode && copyButton("copy", qrcode, word("copyText")),
          small("id", transactionId),
          small(word("method"), paymentMethod),
          small(word("key"), item.idempotencyKey ?? word("none")),
          small("e-mail", customer.email),
          item.expiresAt && small(word("expires"), time(item.expiresAt))
        )
      )
    )
  )
}

export const withdrawal = (item) => {
  const { amount, id, idempotencyKey, pixKey, pixKeyType, status } = item
  const acts = status === "Awaiting" ? ["settle", "reject"] : []
  return el(
    "li",
    {},
    lineOf(
      el("span", { class: "note" }, `#${id} · ${time(item.createdAt)}`),
      el("strong", { class: "amount" }, reais(amount)),
      pill(status),
      el("span", { class: "who" }, `${word("to")} `, el("span", { class: "id" }, `${pixKeyType ?? "PIX"} ${pixKey}`)),
      actsOf(
        acts.map((name) =>
          button(
            name,
            word("actOnPayout", word(`acts.${name}`), id),
            () => ask("POST", `/withdrawals/${id}/${name}`),
            name === "settle"
          )
        )
      )
    ),
    more(
      `${word("details")} #${id}`,
      el(
        "div",
        {},
        small(word("key"), idempotencyKey ?? word("none")),
        item.description && small(word("description"), item.description)
      )
    )
  )
}

const toneOf = (status) => (status === undefined || status >= 500 ? "bad" : status >= 400 ? "warn" : "good")

export const request = (item) => {
  const { answer, body, curl, fault, headers, id, method, operation, path, status } = item
  return el(
    "li",
    {},
    lineOf(
      el("span", { class: "note" }, `#${id} · ${time(item.arrivedAt)}`),
      el("strong", { class: "amount" }, operation ?? method),
      el("span", { class: `pill ${toneOf(status)}` }, String(status ?? word("noStatus"))),
      el("span", { class: "who id" }, `${method} ${path}`),
      actsOf(
        fault === "None" ? undefined : el("span", { class: "pill bad" }, word("met", fault)),
        copyButton("curl", curl, word("copyCurl"), el("span", { class: "hidden" }, ` #${id}`))
      )
    ),
    more(
      `${word("details")} #${id}`,
      el(
        "dl",
        { class: "headers" },
        Object.entries(headers).map(([name, value]) => [el("dt", {}, name), el("dd", { class: "id" }, value)])
      ),
      body === "" ? undefined : el("pre", { tabindex: 0, "aria-label": word("body") }, pretty(body)),
      answer && el("p", { class: "note" }, word("answered")),
      answer && el("pre", { tabindex: 0, "aria-label": word("answered") }, pretty(answer))
    )
  )
}

const attemptRow = ({ answer, at, error, millis, status }) =>
  el(
    "tr",
    {},
    [time(at), status ?? error ?? "", `${Math.round(millis)} ms`, answer].map((cell) => el("td", {}, cell))
  )

export const webhook = (item) => {
  const { attempts, id, json, nextAttemptAt, state, target } = item
  return el(
    "li",
    {},
    lineOf(
      el("span", { class: "note" }, `#${id} · ${time(item.createdAt)}`),
      el("strong", { class: "amount" }, `${json?.event ?? "webhook"} ${json?.status ?? ""}`),
      pill(state),
      el("span", { class: "who id" }, `→ ${target} (${attempts.length})`),
      actsOf(
        el(
          "button",
          {
            type: "button",
            "data-act": "again",
            onclick: (event) =>
              act(event.currentTarget, () => ask("POST", `/webhooks/${id}/resend`).then(() => toast(word("sent"))))
          },
          word("again"),
          el("span", { class: "hidden" }, ` #${id}`)
        )
      )
    ),
    more(
      `${word("details")} #${id}`,
      el("pre", { tabindex: 0, "aria-label": word("body") }, JSON.stringify(json, undefined, 2)),
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            word("attempt").map((name) => el("th", { scope: "col" }, name))
          )
        ),
        el("tbody", {}, attempts.map(attemptRow))
      ),
      nextAttemptAt && small(word("next"), time(nextAttemptAt))
    )
  )
}
