/**
 * Asks the sandbox over `/_sandbox`: what it holds, once a second what has changed, and the steps that a person presses.
 *
 * @import { functions, Name } from "../../../sandbox/SandboxFunctions.ts"
 * @import { SandboxRequest } from "../../../sandbox/SandboxRequest.ts"
 * @import { SandboxWebhook } from "../../../sandbox/SandboxWebhook.ts"
 * @import { SandboxTransaction, SandboxWithdrawal } from "../../../sandbox/SandboxLedger.ts"
 * @import { About, Answers, List, Listed, Query, Row, View } from "./state.js"
 * @typedef {Exclude<Name, "awaitWebhooks" | "rotateCredentials" | "changes" | "credentials" | "faults" | "overview" | "timeline" | "transaction" | Listed>} Step
 * @typedef {{ [N in Name]: (typeof functions)[N]["input"]["Encoded"] }} Inputs
 * @typedef {{ message: string, portuguese?: string, _tag?: string, status: number | string }} Refusal
 */
import { link, numberOf, queryOf, seen, state, viewOf } from "./state.js"
import { clock, money, word, wordOf } from "./text.js"

/** How many rows a page has. */
export const pageSize = 100

/** Shows the state. The page sets it. */
let show = () => {}
/**
 * Changes what is typed or unfolded, and shows it.
 * @param {() => unknown} effect
 */
export const change = (effect) => {
  effect()
  show()
}
/** @type {Record<string, ReturnType<typeof setTimeout>>} */
const timers = {}
/** @type {(name: string, millis: number, effect: () => unknown) => void} */
const later = (name, millis, effect) => {
  clearTimeout(timers[name])
  timers[name] = setTimeout(() => effect(), millis)
}
/** @param {string} text */
export const say = (text) => {
  state.toast = text
  show()
  later("toast", 8000, () => say(""))
}

/** @param {Response} answer */
const answerOf = async (answer) => {
  const json = await answer.json()
  if (!answer.ok) throw json
  return json
}
/** @type {<N extends Name>(name: N, query?: Query) => Promise<Answers[N]>} */
const read = async (name, query = {}) => {
  return answerOf(await fetch(`/_sandbox/${name}?${queryOf(query)}`))
}
/** @type {<N extends Name>(name: N, input?: object) => Promise<Answers[N]>} */
const call = async (name, input = {}) => {
  const headers = { "content-type": "application/json" }
  return answerOf(await fetch(`/_sandbox/${name}`, { method: "POST", headers, body: JSON.stringify(input) }))
}

/**
 * The charge or the payout that a request or a webhook is about.
 * @type {(one: SandboxRequest | SandboxWebhook) => Promise<Pick<About, "charge" | "payout"> | undefined>}
 */
const subjectOf = async (one) => {
  const { transactionId, withdrawalId } = one
  if (withdrawalId !== undefined) return { payout: withdrawalId }
  const found = transactionId && (await read("transaction", { transactionId }).catch(() => undefined))
  if (found) return { charge: found.rowId }
  const { idempotencyKey: search, operation } = "operation" in one ? one : {}
  if (!search || (operation !== "createTransaction" && operation !== "requestWithdrawal")) return {}
  const { items } = await read(operation === "createTransaction" ? "transactions" : "withdrawals", { search })
  const row = items.find(({ idempotencyKey }) => idempotencyKey === search)
  return row && ("rowId" in row ? { charge: row.rowId } : { payout: row.id })
}

/** @type {(view: View & { tab: Listed }) => Promise<List>} */
const listOf = async ({ open, page, search, status, tab }) => {
  const place = page === undefined && open !== undefined ? { row: open } : { offset: ((page ?? 1) - 1) * pageSize }
  const list = await read(tab, { search, status, limit: pageSize, ...place })
  const row = list.items.find((one) => numberOf(one) === open)
  if (row === undefined) return list
  if ("customer" in row) return { ...list, about: await read("timeline", { transactionId: row.transactionId }) }
  if ("pixKey" in row) return { ...list, about: await read("timeline", { withdrawalId: row.id }) }
  return { ...list, about: { requests: [], webhooks: [], ...(await subjectOf(row)) } }
}

let turn = 0
/** Asks for all that this view shows. An answer that another question has overtaken is not used. */
const load = async () => {
  const mine = ++turn
  const { view } = state
  const { tab } = view
  // The number of the last change is older than what it is said of: what changes meanwhile is asked for again.
  const overview = await read("overview")
  const [credentials, charges, webhooks, faults, list] = await Promise.all([
    read("credentials"),
    read("transactions", { limit: 0 }),
    read("webhooks", { limit: 1 }),
    tab === "faults" ? read("faults") : [],
    tab === "faults" ? { counts: {}, items: [], offset: 0, total: 0 } : listOf({ ...view, tab })
  ])
  if (mine !== turn) return
  const isOther = state.seen?.view.tab !== tab
  const before = new Map(state.seen?.list.items.map((row) => [numberOf(row), JSON.stringify(row)]))
  const isChanged = (/** @type {Row} */ row) =>
    before.has(numberOf(row)) && before.get(numberOf(row)) !== JSON.stringify(row)
  const changed = isOther ? [] : list.items.filter(isChanged)
  if (isOther || changed.length > 0) state.changed = new Set(changed.map(numberOf))
  state.seen = { view, overview, credentials, charges: charges.counts, webhooks, list, faults }
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
/** @param {() => void} shown */
export const start = (shown) => {
  show = shown
  addEventListener("popstate", () => go())
  void live()
}

/**
 * Goes to an address, and shows what it asks for.
 * @type {(address?: string, change?: "pushState" | "replaceState") => Promise<void>}
 */
export const go = async (address, change = "pushState") => {
  if (address !== undefined) history[change](undefined, "", address)
  state.view = viewOf(location)
  await load().catch(() => (state.isLost = true))
  if (address !== undefined && change === "pushState")
    document.querySelector(".row:has(> .details)")?.scrollIntoView({ block: "nearest" })
}
/**
 * The list of what is typed, at once in the field and a moment later in the address.
 * @param {string} text
 */
export const search = (text) => {
  state.view = { ...state.view, search: text, page: undefined, open: undefined }
  show()
  later("search", 150, () => go(link({}), "replaceState"))
}

/** @param {SandboxTransaction} charge */
const ofCharge = ({ amount, paid, rowId, status }) => word(`charge_${status}`, rowId, money(paid ?? amount))
const ofCharges = { charge: ofCharge, markPaid: ofCharge, cancel: ofCharge, fail: ofCharge, refund: ofCharge }
/** @param {SandboxWithdrawal} payout */
const ofPayout = ({ amount, id, status }) => word(`payout_${status}`, id, money(amount))
/**
 * What came of each step.
 * @type {{ [N in Step]: (done: Answers[N], input: Inputs[N]) => string }}
 */
const told = {
  ...ofCharges,
  withdraw: ofPayout,
  processWithdrawal: ofPayout,
  settleWithdrawal: ofPayout,
  rejectWithdrawal: ofPayout,
  returnWithdrawal: ofPayout,
  credit: ({ balance }) => word("did_credit", money(balance)),
  advance: ({ now }) => word("did_advance", clock(now)),
  fault: (_, { operation }) => word("did_fault", state.fault, wordOf(operation)),
  clearFaults: () => word("did_clearFaults"),
  setOffline: (_, { offline }) => word(`did_setOffline_${offline}`),
  forgetKeys: () => word("did_forgetKeys"),
  reset: () => word("did_reset"),
  subscribe: (_, { url }) => word("did_subscribe", url),
  unsubscribe: (_, { url }) => word("did_unsubscribe", url),
  sendWebhook: () => word("did_sendWebhook"),
  resendWebhook: (_, { id }) => word("did_resendWebhook", id)
}
/** @param {unknown} refusal */
const refusalOf = (refusal) => {
  if (refusal instanceof Error) return word("lost")
  // What `answerOf` throws is the JSON of a refusal.
  const { _tag, message, portuguese, status } = /** @type {Refusal} */ (refusal)
  if (_tag === "SandboxConflict") return word("cannot", wordOf(`${status}`))
  if (_tag === "SandboxNotFound") return word("gone")
  return (state.view.lang === "pt" ? portuguese : undefined) ?? message
}
/**
 * Does a step, and says what came of it: at once that it is done, and then how its webhook was answered.
 * @type {<N extends Step>(name: N, input: Inputs[N]) => Promise<void>}
 */
export const act = async (name, input) => {
  const newest = seen().webhooks.items[0]?.id ?? 0
  try {
    const text = told[name](await call(name, input), input)
    say(text)
    await load()
    await call("awaitWebhooks")
    const { items } = await read("webhooks", { limit: 20 })
    const ended = items.filter(({ attempts, id }) => id > newest && attempts.length > 0)
    if (ended.length === 0 || state.toast !== text) return
    const answers = new Set(ended.map(({ attempts }) => attempts.at(-1)?.status))
    const how = answers.has(undefined) ? "notAnswered" : answers.size > 1 ? "wereAnswered" : "wasAnswered"
    say(word(how, text, [...answers].join(", ")))
  } catch (refusal) {
    say(refusalOf(refusal))
  }
}
