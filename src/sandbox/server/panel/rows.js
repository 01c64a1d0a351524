/** How a charge, a payout, a request and a webhook are shown. */
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

/** Does something, with the button out of reach meanwhile, and says what went wrong. */
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

export const charge = (item) => {
  const { amount, currency, customer, paymentMethod, qrcode, rowId, status, transactionId } = item
  const path = `/transactions/${transactionId}`
  const picture = `/_sandbox${path}/qrcode.svg`
  const acts = (chargeActs[status] ?? []).filter((name) => name !== "expire" || paymentMethod === "PIX")
  return el(
    "li",
    {},
    el(
      "div",
      { class: "line" },
      qrcode === undefined
        ? el("span", { class: "no-code" }, paymentMethod === "BOLETO" ? "BOLETO" : "CARD")
        : el("img", { class: "thumb", src: picture, alt: "", width: 64, height: 64, loading: "lazy" }),
      el(
        "div",
        { class: "who" },
        el("p", { class: "amount" }, reais(amount, currency), pill(status)),
        el("p", {}, customer.name),
        el("p", { class: "note" }, `#${rowId} · ${time(item.createdAt)}`)
      ),
      el(
        "div",
        { class: "acts" },
        acts.map((name) =>
          button(name, word("actOn", word(`acts.${name}`), rowId), () => ask("POST", `${path}/${name}`), name === "pay")
        )
      )
    ),
    el(
      "details",
      { class: "more" },
      el("summary", { "data-act": "details" }, word("code")),
      el(
        "div",
        { class: "code" },
        qrcode && el("img", { src: picture, alt: word("qrOf", rowId), width: 200, height: 200, loading: "lazy" }),
        el(
          "div",
          {},
          qrcode && el("p", { class: "text id" }, qrcode),
          qrcode &&
            el(
              "button",
              { type: "button", "data-act": "copy", onclick: () => copy(qrcode, word("copied")) },
              word("copyText")
            ),
          small("id", transactionId),
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
    el(
      "div",
      { class: "line" },
      el("span", { class: "no-code" }, pixKeyType ?? "PIX"),
      el(
        "div",
        { class: "who" },
        el("p", { class: "amount" }, reais(amount), pill(status)),
        el("p", {}, `${word("to")} `, el("span", { class: "id" }, pixKey)),
        el("p", { class: "note" }, `#${id} · ${time(item.createdAt)} · ${idempotencyKey ?? ""}`)
      ),
      el(
        "div",
        { class: "acts" },
        acts.map((name) =>
          button(
            name,
            word("actOnPayout", word(`acts.${name}`), id),
            () => ask("POST", `/withdrawals/${id}/${name}`),
            name === "settle"
          )
        )
      )
    )
  )
}

const toneOf = (status) => (status === undefined || status >= 500 ? "bad" : status >= 400 ? "warn" : "good")

export const request = (item) => {
  const { body, curl, fault, headers, method, operation, path, status } = item
  return el(
    "li",
    {},
    el(
      "div",
      { class: "line" },
      el("span", { class: `pill ${toneOf(status)}` }, String(status ?? word("noStatus"))),
      el(
        "div",
        { class: "who" },
        el("p", {}, el("strong", {}, operation ?? method), fault === "None" ? undefined : " "),
        el("p", { class: "id" }, `${method} ${path}`),
        el("p", { class: "note" }, `#${item.id} · ${time(item.arrivedAt)}`)
      ),
      el(
        "div",
        { class: "acts" },
        fault === "None" ? undefined : el("span", { class: "pill bad" }, word("met", fault)),
        el(
          "button",
          { type: "button", "data-act": "curl", onclick: () => copy(curl, word("copied")) },
          word("copyCurl"),
          el("span", { class: "hidden" }, ` #${item.id}`)
        )
      )
    ),
    el(
      "details",
      { class: "more" },
      el("summary", { "data-act": "details" }, word("details")),
      el(
        "dl",
        { class: "headers" },
        Object.entries(headers).map(([name, value]) => [el("dt", {}, name), el("dd", { class: "id" }, value)])
      ),
      body === "" ? undefined : el("pre", { tabindex: 0, "aria-label": word("body") }, pretty(body))
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
    el(
      "div",
      { class: "line" },
      pill(state),
      el(
        "div",
        { class: "who" },
        el("p", {}, el("strong", {}, json?.event ?? "webhook"), ` ${json?.status ?? ""}`),
        el("p", { class: "id" }, `→ ${target}`),
        el("p", { class: "note" }, `#${id} · ${time(item.createdAt)} · ${word("attempts")}: ${attempts.length}`)
      ),
      el(
        "div",
        { class: "acts" },
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
    el(
      "details",
      { class: "more" },
      el("summary", { "data-act": "details" }, word("details")),
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
