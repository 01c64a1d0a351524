/** Asks the sandbox over `/_sandbox`: what it holds, once a second what has changed, and the steps that a person presses. */
import { link, numberOf, state, viewOf } from "./state.js"
import { clock, money, word, wordOf } from "./text.js"

/** How many rows a page has. */
export const pageSize = 100

/** Shows the state. The page sets it. */
let show = () => {}
/** Changes what is typed or unfolded, and shows it. */
export const change = (effect) => {
  effect()
  show()
}
const timers = {}
const later = (name, millis, effect) => {
  clearTimeout(timers[name])
  timers[name] = setTimeout(() => effect(), millis)
}
export const say = (text) => {
  state.toast = text
  show()
  later("toast", 8000, () => say(""))
}

const answerOf = async (answer) => {
  const json = await answer.json()
  if (!answer.ok) throw json
  return json
}
const read = async (name, query = {}) => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "")
  return answerOf(await fetch(`/_sandbox/${name}?${new URLSearchParams(given)}`))
}
const call = async (name, input = {}) => {
  const headers = { "content-type": "application/json" }
  return answerOf(await fetch(`/_sandbox/${name}`, { method: "POST", headers, body: JSON.stringify(input) }))
}

/** The charge or the payout that a request or a webhook is about. */
const subjectOf = async ({ idempotencyKey, operation, transactionId, withdrawalId }) => {
  if (withdrawalId !== undefined) return { payout: withdrawalId }
  if (transactionId !== undefined) {
    const charge = await read("transaction", { transactionId }).catch(() => ({}))
    return { charge: charge.rowId }
  }
  const section = { createTransaction: "transactions", requestWithdrawal: "withdrawals" }[operation]
  if (section === undefined || idempotencyKey === undefined) return {}
  const { items } = await read(section, { search: idempotencyKey })
  const row = items.find((one) => one.idempotencyKey === idempotencyKey)
  return row ? { [section === "transactions" ? "charge" : "payout"]: numberOf(row) } : {}
}

const listOf = async ({ open, page, search, status, tab }) => {
  if (tab === "faults") return { items: await read("faults") }
  const place = page === undefined && open !== undefined ? { row: open } : { offset: ((page ?? 1) - 1) * pageSize }
  const list = await read(tab, { search, status, limit: pageSize, ...place })
  const row = list.items.find((one) => numberOf(one) === open)
  if (row === undefined) return list
  const { transactionId, id } = row
  if (tab === "transactions") return { ...list, about: await read("timeline", { transactionId }) }
  return { ...list, about: await (tab === "withdrawals" ? read("timeline", { withdrawalId: id }) : subjectOf(row)) }
}

let turn = 0
/** Asks for all that this view shows. An answer that another question has overtaken is not used. */
const load = async () => {
  const mine = ++turn
  const { view } = state
  // The number of the last change is older than what it is said of: what changes meanwhile is asked for again.
  const overview = await read("overview")
  const [credentials, charges, webhooks, list] = await Promise.all([
    read("credentials"),
    read("transactions", { limit: 0 }),
    read("webhooks", { limit: 1 }),
    listOf(view)
  ])
  if (mine !== turn) return
  const isOther = state.seen?.view.tab !== view.tab
  const before = new Map(isOther ? [] : state.seen.list.items.map((row) => [numberOf(row), JSON.stringify(row)]))
  const changed = list.items.filter((row) => (before.get(numberOf(row)) ?? JSON.stringify(row)) !== JSON.stringify(row))
  if (isOther || changed.length > 0) state.changed = new Set(changed.map(numberOf))
  state.seen = { view, overview, credentials, charges: charges.counts, webhooks, list }
  state.isLost = false
  show()
}

/** Asks once a second what changed. */
const live = async () => {
  try {
    const overview = await read("overview")
    if (state.isLost || overview.sequence !== state.seen?.overview.sequence) await load()
    else state.seen = { ...state.seen, overview }
  } catch {
    state.isLost = true
  }
  show()
  later("live", 1000, live)
}
export const start = (shown) => {
  show = shown
  addEventListener("popstate", () => go())
  void live()
}

/** Goes to an address, and shows what it asks for. */
export const go = async (address, change = "pushState") => {
  if (address !== undefined) history[change](undefined, "", address)
  state.view = viewOf(location)
  await load().catch(() => (state.isLost = true))
  if (address !== undefined && change === "pushState")
    document.querySelector(".row:has(> .details)")?.scrollIntoView({ block: "nearest" })
}
/** The list of what is typed, at once in the field and a moment later in the address. */
export const search = (text) => {
  state.view = { ...state.view, search: text, page: undefined, open: undefined }
  show()
  later("search", 150, () => go(link({}), "replaceState"))
}

/** What came of a step. */
const told = (name, input, done) => {
  if (done.rowId !== undefined) return word(`charge_${done.status}`, done.rowId, money(done.paid ?? done.amount))
  if (done.pixKey !== undefined) return word(`payout_${done.status}`, done.id, money(done.amount))
  const values = {
    credit: () => [money(done.balance)],
    advance: () => [clock(done.now)],
    fault: () => [input.fault, wordOf(input.operation)],
    subscribe: () => [input.url],
    unsubscribe: () => [input.url],
    resendWebhook: () => [input.id]
  }[name]
  return word(name === "setOffline" ? `did_setOffline_${input.offline}` : `did_${name}`, ...(values?.() ?? []))
}
const refusalOf = (refusal) => {
  if (refusal instanceof Error) return word("lost")
  const { _tag, message, portuguese, status } = refusal
  if (_tag === "SandboxConflict") return word("cannot", wordOf(status))
  if (_tag === "SandboxNotFound") return word("gone")
  return (state.view.lang === "pt" ? portuguese : undefined) ?? message
}
/** Does a step, and says what came of it: at once that it is done, and then how its webhook was answered. */
export const act = async (name, input) => {
  const newest = state.seen.webhooks.items[0]?.id ?? 0
  try {
    const text = told(name, input, await call(name, input))
    say(text)
    await load()
    await call("awaitWebhooks")
    const { items } = await read("webhooks", { limit: 20 })
    const ended = items.filter(({ attempts, id }) => id > newest && attempts.length > 0)
    if (ended.length === 0 || state.toast !== text) return
    const answers = new Set(ended.map(({ attempts }) => attempts.at(-1).status))
    const how = answers.has(undefined) ? "notAnswered" : answers.size > 1 ? "wereAnswered" : "wasAnswered"
    say(word(how, text, [...answers].join(", ")))
  } catch (refusal) {
    say(refusalOf(refusal))
  }
}
