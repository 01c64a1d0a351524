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

/** What a person typed, opened or is told stays as it is. */
const callbacks = {
  beforeNodeMorphed: (node) => !node.matches?.("[data-keep], select, input:not([type=search]), input:focus"),
  beforeAttributeUpdated: (name, { dataset }) => name !== "open" || dataset.row !== undefined
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
  if (change === "pushState") $("[data-row][open]")?.scrollIntoView({ block: "nearest" })
}

const send = async ({ dataset }, input) => {
  if (dataset.confirm && !confirm(dataset.confirm)) return
  const body = JSON.stringify({ ...JSON.parse(dataset.body ?? "{}"), ...input })
  const answer = await fetch(dataset.send, { method: "POST", headers: { "content-type": "application/json" }, body })
  toast(answer.ok ? $("#toast").dataset.done : (await answer.json()).message)
  await ask()
}

document.addEventListener("submit", (event) => {
  event.preventDefault()
  const input = {}
  for (const { dataset, name, type, value } of event.target.elements) {
    if (dataset.amount !== undefined) input[name] = centavosOf(value)
    else if (name && value !== "") input[name] = type === "number" ? Number(value) : value
  }
  if ("amount" in input && input.amount === undefined) toast($("#toast").dataset.amount)
  else void send(event.target, input)
})
document.addEventListener("click", (event) => {
  const target = event.target.closest("a[href^='/?']:not([data-whole]), summary[data-go], button")
  // The second click of a double click would make another charge, or press what has moved under the pointer.
  if (event.detail > 1 && target?.matches("button")) return event.preventDefault()
  const { copy, go: address = target?.getAttribute("href"), send: path } = target?.dataset ?? {}
  if (path) void send(target)
  if (copy) void navigator.clipboard.writeText(copy).then(() => toast($("#toast").dataset.copied))
  if (!address || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  void go(address)
})
document.addEventListener("input", ({ target }) => {
  showAmounts()
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
