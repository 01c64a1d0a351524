/** Sends what buttons and forms say, and exchanges what differs in the page. */
import { Idiomorph } from "./idiomorph.js"

const $ = (selector) => document.querySelector(selector)
const money = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" })
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
const timers = {}
const later = (name, millis, effect) => {
  clearTimeout(timers[name])
  timers[name] = setTimeout(() => effect(), millis)
}
const toast = (text) => {
  $("#toast").textContent = text
  later("toast", 4000, () => ($("#toast").textContent = ""))
}

/** As the command reads an amount: `2500` is centavos, `25,00` and `1.234,56` are reais. */
const centavosOf = (text) => {
  const plain = text.trim().replace(/^R\$\s*/, "")
  const isAmount = /^\d{1,15}$|^\d{1,13}[.,]\d\d$|^\d{1,3}(?:\.\d{3}){1,3},\d\d$/.test(plain)
  return isAmount ? Number(plain.replaceAll(/[.,]/g, "")) : undefined
}
const showAmounts = () => {
  for (const { id, value } of document.querySelectorAll("[data-amount]:is(input)")) {
    const centavos = centavosOf(value)
    $(`#${id}-read`).textContent = centavos === undefined ? "?" : money.format(centavos / 100)
  }
}

/** The fields that the chosen fault uses, and what a client sees of it. */
const showFault = () => {
  const { fields, sees } = $("#fault")?.selectedOptions[0].dataset ?? {}
  if (fields === undefined) return
  const used = JSON.parse(fields)
  $("#sees").textContent = sees
  for (const field of document.querySelectorAll("[data-field]")) {
    const input = field.querySelector("input")
    input.disabled = field.hidden = used[input.name] === undefined
    input.placeholder = used[input.name] ?? ""
  }
}

/** What a person typed, opened or is told stays as it is. */
const callbacks = {
  beforeNodeMorphed: (node) => !node.matches?.("[data-keep], select, input:not([type=search]), input:focus"),
  beforeAttributeUpdated: (name) => name !== "open"
}
const shown = { version: "", turn: 0 }
/** Asks for the page of this address, if it is not of this version. An answer that another question has overtaken is not used. */
const ask = async (known = "") => {
  const turn = ++shown.turn
  const answer = await fetch(location.href, { headers: { "x-time-zone": timeZone, "if-none-match": known } })
  const text = await answer.text()
  if (turn !== shown.turn || !answer.ok) return
  shown.version = answer.headers.get("etag")
  const next = new DOMParser().parseFromString(text, "text/html")
  document.title = next.title
  Idiomorph.morph(document.body, next.body, { morphStyle: "innerHTML", callbacks })
  showAmounts()
  showFault()
}
/** Asks once a second what changed, and says whether there is an answer. */
const live = async () => {
  const state = (await ask(shown.version).catch(() => "lost")) ?? "live"
  $("#state").textContent = $("#state").dataset[state]
  $("#state").className = `pill ${state}`
  later("live", 1000, live)
}
const go = async (address, change = "pushState") => {
  history[change](undefined, "", address)
  await ask()
  if (change === "pushState") $(".row:has(> .details)")?.scrollIntoView({ block: "nearest" })
}

const send = async ({ dataset }, input) => {
  if (dataset.confirm && !confirm(dataset.confirm)) return
  const body = JSON.stringify({ ...JSON.parse(dataset.body ?? "{}"), ...input })
  const answer = await fetch(dataset.send, { method: "POST", headers: { "content-type": "application/json" }, body })
  const { message, portuguese = message } = answer.ok ? { message: $("#toast").dataset.done } : await answer.json()
  toast(document.documentElement.lang === "en" ? message : portuguese)
  await ask()
}

document.addEventListener("submit", (event) => {
  event.preventDefault()
  const input = {}
  for (const { dataset, disabled, name, type, value } of event.target.elements) {
    if (disabled) continue
    if (dataset.amount !== undefined) input[name] = centavosOf(value)
    else if (name && value !== "") input[name] = type === "number" ? Number(value) : value
  }
  if ("amount" in input && input.amount === undefined) toast($("#toast").dataset.amount)
  else void send(event.target, input)
})
document.addEventListener("click", (event) => {
  const target = event.target.closest("a, button, .line")
  // The second click of a double click would make another charge, or press what has moved under the pointer.
  if (event.detail > 1 && target?.matches("button, .line")) return event.preventDefault()
  // Neither a link that leaves the page, nor text that was selected, is a click on a row.
  if (target?.matches("a:not([href^='/?']), [data-whole]")) return
  if (target?.matches(".line") && getSelection().type === "Range") return
  const { copy, go: address = target?.getAttribute("href"), send: path } = target?.dataset ?? {}
  if (path) void send(target)
  if (copy) void navigator.clipboard.writeText(copy).then(() => toast($("#toast").dataset.copied))
  if (!address || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  void go(address)
})
document.addEventListener("input", ({ target }) => {
  showAmounts()
  showFault()
  if (target.type !== "search") return
  const url = new URL(location.href)
  url.searchParams.set("search", target.value)
  url.searchParams.delete("page")
  url.searchParams.delete("open")
  later("search", 150, () => go(url, "replaceState"))
})
document.addEventListener("keydown", (event) => {
  const { key, target } = event
  const next = { ArrowRight: target.nextElementSibling, ArrowLeft: target.previousElementSibling }[key]
  if (key === "/" && !target.matches("input, select")) {
    event.preventDefault()
    $("[type=search]")?.focus()
  } else if (next && target.role === "tab") {
    next.focus()
    next.click()
  }
})
addEventListener("popstate", () => void ask())
void live()
