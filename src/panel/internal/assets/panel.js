/**
 * The page of the sandbox: a client of `/_sandbox`, in two languages.
 *
 * @import { Html } from "./preact.js"
 * @import { Answers, Listed } from "./state.js"
 * @import { Word } from "./text.js"
 */
import { html, render } from "./preact.js"
import { amountField, block, button, copy, list, submit } from "./rows.js"
import { link, seen, state, tabs } from "./state.js"
import { act, change, go, search, start } from "./store.js"
import { clock, count, curl, lang, money, nameOf, sees, shellWord, word } from "./text.js"

/** What a program needs to reach the sandbox: its settings for a shell and for a file, and a request for curl. */
const connect = () => {
  const { credentials, overview } = seen()
  const { apiKey, clientId } = credentials
  // A program uses the name under which the browser reached the page.
  const { origin } = location
  const variables = Object.entries({
    PAYMENTS_BASE_URL: origin,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: apiKey,
    PAYMENTS_COMPANY_ID: `${overview.companyId}`
  }).map(([name, value]) => `${name}=${shellWord(value)}`)
  const headers = { "x-client-id": clientId, "x-api-key": apiKey, accept: "application/json" }
  const path = `/api/Balance/balance/${overview.companyId}`
  const { pixKey, pixKeyType = "" } = overview.pixKey ?? {}
  /** @type {(name: Word, text: string) => Html} */
  const shown = (name, text) => block(word(name, pixKeyType), text, copy(text, word(name, pixKeyType)))
  return html`<button type="button" popovertarget="connect">${word("connect")}</button>
    <div id="connect" popover="auto" class="sheet" role="dialog" aria-labelledby="connect-title">
      <h2 id="connect-title">${word("connect")}</h2>
      <p class="note">${word("connectNote")} <a href="/openapi.json">${word("openapi")}</a></p>
      ${shown("inShell", variables.map((line) => `export ${line}`).join("\n"))} ${shown("inFile", variables.join("\n"))}
      ${shown("withCurl", curl({ method: "GET", origin, path, headers }))} ${pixKey && shown("companyKey", pixKey)}
      <button type="button" popovertarget="connect" popovertargetaction="hide">${word("close")}</button>
    </div>`
}

/** @param {number} left */
const leftOf = (left) => (left === 1 ? word("oneLeft") : word("left", count(left)))

const header = () => {
  const { faults, offline } = seen().overview
  const left = faults.reduce((sum, one) => sum + one.left, 0)
  const other = state.view.lang === "pt" ? "en" : "pt"
  const { isLost } = state
  const warned = html`${offline && word("isOffline")} ${left > 0 && word("hasFaults")}${" "}
    ${left > 0 && html`<a href=${link({ tab: "faults" })}>${leftOf(left)}</a>`}`
  return html`<a class="skip" href="#main">${word("skip")}</a>
    <header class="top">
      <div class="bar">
        <h1><img src="/panel/icon.svg" alt="" width="22" height="22" />effect-pix <span>sandbox</span></h1>
        <span id="state" class="pill ${isLost ? "bad" : "good"}" role="status">${word(isLost ? "lost" : "connected")}</span>
        <span class="address"><code>${location.origin}</code></span>
        ${connect()}
        <a href=${link({ lang: other })} hreflang=${other} lang=${other}>${other === "pt" ? "Português" : "English"}</a>
      </div>
      ${(offline || left > 0) && html`<p class="warning">${warned}</p>`}
    </header>`
}

/** @type {(id: Word, value: string) => Html} */
const figure = (id, value) => html`<h2>${word(id)}</h2><p class="value" id=${id}>${value}</p>`

const cards = () => {
  const { charges, overview, webhooks } = seen()
  /** @type {(status: string, label: Word) => string} */
  const ended = (status, label) => word(label, count(webhooks.counts[status] ?? 0))
  /** @type {(status: string, label: Word) => Html} */
  const endedLink = (status, label) => html`<a href=${link({ tab: "webhooks", status })}>${ended(status, label)}</a>`
  return html`<section class="cards" aria-label=${word("glance")}>
    <div class="card">${figure("balance", money(overview.balance))}
      <details><summary>${word("addMoney")}</summary>
        <form id="credit" class="stack" onSubmit=${submit("credit")}>
          ${amountField("creditAmount", "100,00", word("amountToAdd"))} <button>${word("add")}</button>
        </form>
      </details>
    </div>
    <div class="card">${figure("awaited", money(overview.awaited))}
      <p class="more">
        <a href=${link({ tab: "transactions", status: "Awaiting" })}>${word("open", count(charges["Awaiting"] ?? 0))}</a>
      </p>
    </div>
    <div class="card">${figure("webhooks", ended("Taken", "sent"))}
      <p class="more">${endedLink("GivenUp", "refused")} ${endedLink("Pending", "waiting")}</p>
    </div>
    <div class="card">${figure("clock", clock(overview.now))}
      <details><summary>${word("advance")}</summary>
        <div class="acts">
          ${button("advance", { seconds: 3600 }, "hour")} ${button("advance", { seconds: 86_400 }, "day")}
          ${button("advance", { seconds: 604_800 }, "week")}
        </div>
      </details>
    </div>
  </section>`
}

/** @type {(id: string, name: string, label: string, required: boolean) => Html} */
const textInput = (id, name, label, required) =>
  html`<label class="hidden" for=${id}>${label}</label>
    <input id=${id} name=${name} placeholder=${label} autocomplete="off" required=${required} />`

/**
 * What stands beside the search of a section.
 * @type {Readonly<Record<Listed, () => Html | undefined>>}
 */
const tools = {
  transactions: () => html`<form id="charge" class="inline" onSubmit=${submit("charge")}>
    ${textInput("payer", "name", word("payer"), false)}
    ${amountField("chargeAmount", "25,00", word("chargeAmount"))}
    <button class="main">${word("newCharge")}</button>
  </form>`,
  withdrawals: () => html`<form id="payout" class="inline" onSubmit=${submit("withdraw")}>
    ${seen().overview.pixKey === undefined && textInput("payoutKey", "pixKey", word("pixKey"), true)}
    ${amountField("payoutAmount", "25,00", word("payoutAmount"))}
    <button class="main">${word("newPayout")}</button>
  </form>`,
  requests: () => undefined,
  webhooks: () => html`<form id="target" class="inline" onSubmit=${submit("subscribe")}>
      <label class="hidden" for="targetUrl">${word("targetUrl")}</label>
      <input id="targetUrl" name="url" type="url" placeholder="http://127.0.0.1:3000/webhooks" required />
      <button>${word("addTarget")}</button>
    </form>
    <ul class="targets">
      ${seen().overview.targets.map(
        (url) => html`<li><code>${url}</code> ${button("unsubscribe", { url }, "remove", url, "small")}</li>`
      )}
    </ul>`
}

/**
 * The numbers that a field takes. A text has none.
 * @type {Readonly<Record<string, readonly [number, number]>>}
 */
const bounds = { times: [1, 1_000_000], seconds: [0, 86_400], status: [200, 599] }
/**
 * A field of the chosen fault, with its default in it.
 * @type {(name: "times" | "seconds" | "status" | "message", value: number | string | undefined) => Html | undefined}
 */
const field = (name, value) => {
  if (value === undefined) return undefined
  const [min, max] = bounds[name] ?? []
  return html`<div key=${name}>
    <label for=${name}>${word(name === "times" ? name : `field_${name}`)}</label>
    <input id=${name} name=${name} type=${min === undefined ? "text" : "number"} min=${min} max=${max}
      placeholder=${value} autocomplete="off" />
  </div>`
}

const operations =
  "any createTransaction getTransaction listTransactions getBalance requestWithdrawal getWithdrawal".split(" ")
/** @param {{ target: HTMLSelectElement }} event */
const choose = ({ target }) => change(() => (state.fault = target.value))
/** @param {Answers["faults"]} faults */
const faultForm = (faults) => {
  const { fields = {} } = faults.find(({ name }) => name === state.fault) ?? {}
  return html`<form id="plan" class="card stack" onSubmit=${submit("fault")}>
    <h2>${word("planFault")}</h2>
    <label for="operation">${word("operation")}</label>
    <select id="operation" name="operation" autocomplete="off">
      ${operations.map((name) => html`<option value=${name}>${name}</option>`)}
    </select>
    <label for="fault">${word("fault")}</label>
    <select id="fault" name="fault" autocomplete="off" value=${state.fault} onChange=${choose}>
      ${faults.map(({ name }) => html`<option value=${name}>${name} · ${word(`fault_${name}`)}</option>`)}
    </select>
    <output id="sees" class="note" for="fault">${sees(state.fault)}</output>
    <div class="pair">
      ${field("times", 1)} ${field("seconds", fields.seconds)} ${field("status", fields.status)} ${field("message", fields.message)}
    </div>
    <button class="main">${word("plan")}</button>
  </form>`
}

/** @param {Answers["overview"]["faults"][number]} one */
const planned = ({ fault, left, operation }) =>
  html`<li>
    <span><strong>${nameOf(fault)}</strong> · ${operation}</span>
    <a href=${link({ tab: "requests", search: operation === "any" ? "" : operation })}>${leftOf(left)}</a>
  </li>`
const faultsPage = () => {
  const { faults, offline } = seen().overview
  return html`<div class="columns">
    ${faultForm(seen().faults)}
    <div class="stack">
      <div class="card stack">
        <h2>${word("planned")}</h2>
        ${faults.length === 0 && html`<p class="note">${word("noFaults")}</p>`}
        <ul class="plain">${faults.map(planned)}</ul>
        <div class="acts">
          ${faults.length > 0 && button("clearFaults", {}, "clearFaults")} ${button("forgetKeys", {}, "forgetKeys")}
        </div>
      </div>
      <div class="card stack">
        <button type="button" role="switch" aria-checked=${`${offline}`} aria-label=${word("offline")}
          aria-describedby="offline-note" onClick=${() => act("setOffline", { offline: !offline })}>
          ${word("offline")} <span class="pill ${offline ? "bad" : ""}">${word(offline ? "on" : "off")}</span>
        </button>
        <p id="offline-note" class="note">${word("offlineNote")}</p>
      </div>
      <div class="card stack">
        <h2>${word("startOver")}</h2>
        <button type="button" class="danger" popovertarget="reset">${word("reset")}</button>
        <div id="reset" popover="auto" class="sheet" role="alertdialog" aria-labelledby="reset-title" aria-describedby="sure">
          <h2 id="reset-title">${word("reset")}</h2>
          <p id="sure">${word("sure")}</p>
          <div class="acts">
            <button type="button" class="danger" popovertarget="reset" popovertargetaction="hide"
              onClick=${() => act("reset", {})}>${word("reset")}</button>
            <button type="button" popovertarget="reset" popovertargetaction="hide">${word("keep")}</button>
          </div>
        </div>
      </div>
    </div>
  </div>`
}

/** @param {{ target: HTMLInputElement }} event */
const typed = ({ target }) => search(target.value)
/** @param {Listed | "faults"} tab */
const section = (tab) =>
  tab === "faults"
    ? faultsPage()
    : html`<div class="tools">
          <input id="search-${tab}" type="search" value=${state.view.search} aria-label=${word(`search_${tab}`)}
            placeholder=${word(`search_${tab}`)} aria-keyshortcuts="/" onInput=${typed} />
          ${tools[tab]()}
        </div>
        ${list(tab)}`

/** @param {Listed | "faults"} name */
const tabOf = (name) => {
  const isSelected = name === state.view.tab
  return html`<a role="tab" id="tab-${name}" href=${link({ tab: name })} aria-selected=${`${isSelected}`}
    aria-controls="content" tabindex=${isSelected ? 0 : -1}>${word(name)}</a>`
}

const page = () => {
  const { overview, view } = seen()
  return html`${header()}
    <main id="main" tabindex="-1">
      ${cards()}
      <div class="tabs" role="tablist" aria-label=${word("sections")}>${tabs.map(tabOf)}</div>
      <section key=${view.tab} id="content" role="tabpanel" aria-labelledby="tab-${view.tab}">${section(view.tab)}</section>
    </main>
    <footer>${word("unofficial")} ${word(overview.stateFile === undefined ? "notStored" : "stored")}</footer>
    <p id="toast" role="status">${state.toast}</p>`
}

/** @param {Event} event */
const elementOf = ({ target }) => (target instanceof Element ? target : undefined)
/** @param {string} selector */
const focusOn = (selector) => {
  const element = document.querySelector(selector)
  if (element instanceof HTMLElement) element.focus()
}

/**
 * The second click of a double click would make another charge, or press what has moved under the pointer.
 * @param {MouseEvent} event
 */
const ignoreSecond = (event) => {
  if (event.detail < 2 || !elementOf(event)?.closest("button, .line")) return
  event.preventDefault()
  event.stopPropagation()
}
addEventListener("click", ignoreSecond, true)
addEventListener("click", (event) => {
  const href = elementOf(event)?.closest("a[href^='/?']")?.getAttribute("href")
  if (!href || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  void go(href)
})
addEventListener("keydown", (event) => {
  const { key } = event
  const element = elementOf(event)
  if (key === "/" && !element?.matches("input, select")) {
    event.preventDefault()
    focusOn("[type=search]")
  } else if (element?.role === "tab" && /^Arrow(?:Right|Left)$/.test(key)) {
    const next = tabs[tabs.indexOf(state.view.tab) + (key === "ArrowRight" ? 1 : -1)]
    if (next === undefined) return
    focusOn(`#tab-${next}`)
    void go(link({ tab: next }))
  }
})

start(() => {
  if (state.seen === undefined) return
  const { Awaiting = 0 } = seen().charges
  document.documentElement.lang = lang()
  document.title = `${Awaiting > 0 ? `(${count(Awaiting)}) ` : ""}effect-pix sandbox`
  const row = document.activeElement?.closest(".row")?.id
  render(page(), document.body)
  // The button that had the focus may be gone: its row has it then.
  if (document.activeElement === document.body) focusOn(`#${row} a`)
})
