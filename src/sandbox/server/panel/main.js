/** The panel: shows the overview, handles its forms and buttons, and reloads what changed. */
import { byId, centavosOf, el, reais, toast } from "./dom.js"
import { calm, names, refresh } from "./lists.js"
import { act } from "./rows.js"
import { ask, listen } from "./server.js"
import { choose, other, time, translate, word } from "./words.js"

const sections = [...names, "faults"]
let chosen = sections.includes(location.hash.slice(1)) ? location.hash.slice(1) : "transactions"
const stale = new Set(names)
let isLive = false

const span = (seconds) => {
  const days = Math.floor(seconds / 86400)
  const hours = Math.round((seconds % 86400) / 3600)
  return [days > 0 ? `${days} d` : "", hours > 0 ? `${hours} h` : ""].filter((part) => part !== "").join(" ") || "< 1 h"
}

let clock = { before: 0, ahead: 0 }
const tick = () => {
  const pushed = clock.ahead > 0 ? ` (${word("ahead", span(clock.ahead))})` : ""
  byId("clock").textContent = `${time(Date.now() + clock.before)}${pushed}`
}

const glance = calm(async () => {
  const now = await ask("GET", "")
  byId("balance").textContent = reais(now.balance)
  byId("awaited").textContent = reais(now.awaited)
  byId("pixKey").textContent =
    now.pixKey === undefined ? word("noKey") : `${now.pixKey.pixKeyType} ${now.pixKey.pixKey}`
  clock = { before: Date.parse(now.now) - Date.now(), ahead: now.aheadSeconds }
  tick()
  byId("address").textContent = now.baseUrl
  byId("offline").checked = now.offline
  const operations = byId("faultOperation")
  if (operations.length === 1) operations.append(...now.operations.map((name) => el("option", {}, name)))
  byId("footer").textContent = `${word("unofficial")} ${word(now.isKept ? "kept" : "notKept")}`
  const warnings = [
    now.offline ? word("isOffline") : "",
    now.faults.length > 0 ? word("hasFaults", now.faults.length) : ""
  ].filter((text) => text !== "")
  byId("warning").hidden = warnings.length === 0
  byId("warning").textContent = warnings.join(" ")
  byId("planned").replaceChildren(
    ...(now.faults.length === 0
      ? [el("li", { class: "note" }, word("noFaults"))]
      : now.faults.map(({ fault, left, operation }) =>
          el("li", {}, el("span", {}, el("strong", {}, fault), ` · ${operation}`), el("span", {}, word("left", left)))
        ))
  )
  byId("targets").replaceChildren(
    ...now.targets.map((url) =>
      el(
        "li",
        {},
        el("code", {}, url),
        el(
          "button",
          {
            type: "button",
            "aria-label": `${word("remove")} ${url}`,
            onclick: (event) =>
              act(event.currentTarget, () => ask("DELETE", `/webhooks/targets?url=${encodeURIComponent(url)}`))
          },
          word("remove")
        )
      )
    )
  )
})

const renew = () => {
  if (stale.delete(chosen)) void refresh(chosen)
}

const choice = (name) => {
  chosen = name
  history.replaceState(undefined, "", `#${name}`)
  for (const section of sections) {
    byId(section).hidden = section !== name
    const tab = byId(`tab-${section}`)
    tab.setAttribute("aria-selected", String(section === name))
    tab.tabIndex = section === name ? 0 : -1
  }
  renew()
}

const everything = () => {
  for (const name of names) stale.add(name)
  void glance()
  renew()
}

const sayLive = () => {
  byId("live").textContent = word(isLive ? "live" : "lost")
  byId("live").className = `pill ${isLive ? "good" : "bad"}`
}

const speak = () => {
  sayLive()
  byId("language").textContent = other() === "pt" ? "Português" : "English"
  byId("language").lang = other() === "pt" ? "pt-BR" : "en"
  const notes = word("notes")
  const { value } = byId("faultName")
  byId("faultName").replaceChildren(...Object.keys(notes).map((name) => el("option", { value: name }, name)))
  byId("faultName").value = value || "resetAfter"
  byId("faultNote").textContent = notes[byId("faultName").value]
  byId("pushes").replaceChildren(
    ...Object.entries(word("push")).map(([seconds, label]) =>
      el(
        "button",
        {
          type: "button",
          onclick: (event) =>
            act(event.currentTarget, () => ask("POST", "/clock/advance", { seconds: Number(seconds) }))
        },
        label
      )
    )
  )
  everything()
}

const onSubmit = (id, effect) =>
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault()
    void act(event.submitter, () => effect(Object.fromEntries(new FormData(event.currentTarget))))
  })
const onClick = (id, effect) =>
  byId(id).addEventListener("click", (event) => {
    void act(event.currentTarget, effect)
  })
const said = () => toast(word("done"))
const sum = async (text, effect) => {
  const amount = centavosOf(text)
  if (amount === undefined) toast(word("notMoney"))
  else await effect(amount)
}

onSubmit("credit", ({ amount }) => sum(amount, (centavos) => ask("POST", "/balance/credit", { amount: centavos })))
onSubmit("charge", ({ amount }) => sum(amount, (centavos) => ask("POST", "/transactions", { amount: centavos })))
onSubmit("keyForm", (key) => ask("PUT", "/pix-key", key).then(said))
onSubmit("target", ({ url }) => ask("POST", "/webhooks/targets", { url }).then(() => byId("target").reset()))
onSubmit("fault", ({ fault, message, operation, seconds, status, times }) =>
  ask("POST", "/faults", {
    fault,
    operation,
    times: Number(times),
    seconds: Number(seconds),
    ...(status !== "" && { status: Number(status) }),
    ...(message !== "" && (fault === "answer" ? { body: message } : { message }))
  }).then(said)
)
/** Shows next to an amount how it is parsed, while it is typed. */
const showAmount = ({ target }) => {
  const centavos = centavosOf(target.value)
  const output = document.querySelector(`output[for="${target.id}"]`)
  output.textContent = centavos === undefined ? "?" : reais(centavos)
}
for (const id of ["creditAmount", "chargeAmount"]) {
  byId(id).addEventListener("input", showAmount)
  showAmount({ target: byId(id) })
}

onClick("removeKey", () => ask("DELETE", "/pix-key").then(said))
onClick("clearFaults", () => ask("DELETE", "/faults").then(said))
onClick("forgetKeys", () => ask("POST", "/forget-keys").then(said))
onClick("reset", async () => {
  if (confirm(word("sure"))) await ask("POST", "/reset").then(said)
})
byId("offline").addEventListener("change", ({ currentTarget }) => {
  void act(currentTarget, () => ask("PUT", "/offline", { offline: currentTarget.checked }))
})
byId("faultName").addEventListener("change", () => {
  byId("faultNote").textContent = word(`notes.${byId("faultName").value}`)
})
byId("language").addEventListener("click", () => {
  choose(other())
  speak()
})

for (const name of names) {
  document.querySelector(`[data-list="${name}"]`).addEventListener("input", () => void refresh(name))
}
for (const tab of document.querySelectorAll("[role=tab]")) {
  const name = tab.getAttribute("aria-controls")
  tab.addEventListener("click", () => choice(name))
  tab.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (step === undefined) return
    const next = sections.at((sections.indexOf(name) + step) % sections.length)
    choice(next)
    byId(`tab-${next}`).focus()
  })
}

const lists = { Transaction: "transactions", Withdrawal: "withdrawals", Request: "requests", Webhook: "webhooks" }
translate()
speak()
choice(chosen)
setInterval(tick, 1000)
listen({
  onLive: () => {
    isLive = true
    sayLive()
  },
  onLost: () => {
    isLive = false
    sayLive()
  },
  onMissed: everything,
  onChange: (kind) => {
    if (kind === "Reset") return everything()
    if (kind in lists) stale.add(lists[kind])
    // A request may have met a fault, which is no longer planned then.
    if (kind !== "Webhook") void glance()
    renew()
  }
})
