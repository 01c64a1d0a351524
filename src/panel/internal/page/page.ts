/**
 * The sandbox's page, made on the server. Its script asks for it again when something changed, and exchanges what differs.
 */
import * as Effect from "effect/Effect"
import type { Call } from "../../../sandbox/SandboxFunctions.ts"
import type { SandboxOverview } from "../../../sandbox/SandboxOverview.ts"
import { connect } from "./connect.ts"
import { faultsPage, leftOf } from "./faults.ts"
import { type Html, html } from "./html.ts"
import { searchOf } from "./list.ts"
import { listsOf } from "./sections.ts"
import { fromStart, type Listed, tabs, type View } from "./view.ts"
import { makeWriter, type Writer } from "./write.ts"

const card = (id: string, title: string, value: string, more: Html | undefined) =>
  html`<div class="card">
    <h2>${title}</h2>
    <p class="value ${value.length > 14 && "long"}" id="${id}">${value}</p>
    ${more}
  </div>`

const more = (label: string, inside: Html) =>
  html`<details>
    <summary>${label}</summary>
    ${inside}
  </details>`

const textInput = (id: string, name: string, label: string, attributes: Html) =>
  html`<label class="hidden" for="${id}">${label}</label>
    <input id="${id}" name="${name}" placeholder="${label}" autocomplete="off" ${attributes} />`

/** What stands beside the search of a section. */
const toolsOf = ({ act, amount, word }: Writer, name: Listed, seen: SandboxOverview): Html | undefined => {
  if (name === "transactions") {
    return html`<form id="charge" class="inline" data-send="/_sandbox/charge">
      ${textInput("payer", "name", word("payer"), html``)} ${amount("chargeAmount", "25,00", word("chargeAmount"))}
      <button class="main">${word("newCharge")}</button>
    </form>`
  }
  if (name === "withdrawals") {
    return html`<form id="payout" class="inline" data-send="/_sandbox/withdraw">
      ${seen.pixKey === undefined && textInput("payoutKey", "pixKey", word("pixKey"), html`required`)}
      ${amount("payoutAmount", "25,00", word("payoutAmount"))}
      <button class="main">${word("newPayout")}</button>
    </form>`
  }
  if (name !== "webhooks") return undefined
  return html`<form id="target" class="inline" data-send="/_sandbox/subscribe">
      <label class="hidden" for="targetUrl">${word("targetUrl")}</label>
      <input id="targetUrl" name="url" type="url" placeholder="http://127.0.0.1:3000/webhooks" required />
      <button>${word("subscribe")}</button>
    </form>
    <ul class="targets">
      ${seen.targets.map(
        (url) => html`<li><code>${url}</code> ${act({ name: "unsubscribe", input: { url } }, "remove", url)}</li>`
      )}
    </ul>`
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f766e'/%3E%3Cpath d='M16 5l11 11-11 11L5 16z' fill='none' stroke='white' stroke-width='3' stroke-linejoin='round'/%3E%3C/svg%3E"

/** The page of a view. */
export const pageOf = Effect.fnUntraced(function* (call: Call, view: View) {
  const seen = yield* call("overview", {})
  const writer = makeWriter(view, Date.parse(seen.now))
  const { act, amount, clock, copy, count, lang, link, money, word } = writer
  const { Awaiting: open = 0 } = (yield* call("transactions", { limit: 1 })).counts
  const { tab } = view
  const lists = listsOf(call, writer, seen.targets.length > 0)
  const content =
    tab === "faults"
      ? faultsPage(writer, seen.faults, seen.offline)
      : html`${searchOf(writer, tab, toolsOf(writer, tab, seen))} ${yield* lists[tab]}`

  const other = view.language === "pt" ? "en" : "pt"
  const baseUrl = view.host === undefined ? seen.baseUrl : `http://${view.host}`
  const left = seen.faults.reduce((sum, one) => sum + one.left, 0)

  return html`<!doctype html>
    <html lang="${lang}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${open > 0 && `(${count(open)}) `}effect-pix sandbox</title>
        <link rel="icon" href="${icon}" />
        <link rel="stylesheet" href="/panel/panel.css" />
        <script type="module" src="/panel/panel.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">${word("skip")}</a>
        <header class="top">
          <div class="bar">
            <h1><span class="mark" aria-hidden="true"></span>effect-pix <span class="thin">sandbox</span></h1>
            <span
              id="state"
              class="pill"
              role="status"
              data-keep
              data-live="${word("live")}"
              data-lost="${word("lost")}"
            >
            </span>
            <span class="address"><code>${baseUrl}</code></span>
            ${connect(writer, { ...(yield* call("credentials", {})), baseUrl, companyId: seen.companyId })}
            <a href="${link({ language: other })}" hreflang="${other}" lang="${other}" data-whole>
              ${other === "pt" ? "Português" : "English"}
            </a>
          </div>
          ${
            (seen.offline || left > 0) &&
            html`<p class="warning">
              ${seen.offline && word("isOffline")} ${left > 0 && word("hasFaults")}
              ${left > 0 && html`<a href="${link({ tab: "faults", ...fromStart })}">${leftOf(writer, left)}</a>`}
            </p>`
          }
        </header>
        <main id="main" tabindex="-1">
          <section class="cards" aria-label="${word("glance")}">
            ${card(
              "balance",
              word("balance"),
              money(seen.balance),
              more(
                word("credit"),
                html`<form id="credit" class="stack" data-send="/_sandbox/credit">
                  ${amount("creditAmount", "100,00", word("creditAmount"))}
                  <button>${word("add")}</button>
                </form>`
              )
            )}
            ${card(
              "awaited",
              word("awaited"),
              money(seen.awaited),
              html`<p class="more">
                <a href="${link({ ...fromStart, tab: "transactions", status: "Awaiting" })}"
                  >${word("open", count(open))}</a
                >
              </p>`
            )}
            ${card(
              "pixKey",
              word("pixKey"),
              seen.pixKey?.pixKeyType ?? word("none"),
              seen.pixKey &&
                more(
                  word("showKey"),
                  html`<p><code>${seen.pixKey.pixKey}</code> ${copy(seen.pixKey.pixKey, word("pixKey"))}</p>`
                )
            )}
            ${card(
              "clock",
              word("clock"),
              clock(Date.parse(seen.now)),
              more(
                word("advance"),
                html`<div class="acts">
                  ${act({ name: "advance", input: { seconds: 3600 } }, "hour")}
                  ${act({ name: "advance", input: { seconds: 86_400 } }, "day")}
                  ${act({ name: "advance", input: { seconds: 604_800 } }, "week")}
                </div>`
              )
            )}
          </section>
          <div class="tabs" role="tablist" aria-label="${word("sections")}">
            ${tabs.map(
              (name) =>
                html`<a
                  role="tab"
                  id="tab-${name}"
                  href="${link({ tab: name, ...fromStart })}"
                  aria-selected="${String(name === tab)}"
                  aria-controls="content"
                  tabindex="${name === tab ? 0 : -1}"
                  >${word(name)}</a
                >`
            )}
          </div>
          <section id="content" role="tabpanel" aria-labelledby="tab-${tab}">${content}</section>
        </main>
        <footer>${word("unofficial")} ${word(seen.stateFile === undefined ? "notStored" : "stored")}</footer>
        <p
          id="toast"
          role="status"
          data-keep
          data-copied="${word("copied")}"
          data-done="${word("done")}"
          data-amount="${word("notMoney")}"
        ></p>
      </body>
    </html>`.text
})
