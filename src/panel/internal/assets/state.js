/**
 * What the page shows: what its address asks for, what the sandbox answered last, and what a person has typed.
 *
 * @import { functions, Name } from "../../../sandbox/SandboxFunctions.ts"
 * @import { SandboxTransaction, SandboxWithdrawal } from "../../../sandbox/SandboxLedger.ts"
 * @import { SandboxRequest } from "../../../sandbox/SandboxRequest.ts"
 * @import { SandboxWebhook } from "../../../sandbox/SandboxWebhook.ts"
 *
 * @typedef {{ [N in Name]: (typeof functions)[N]["output"]["Type"] }} Answers What each function answers.
 * @typedef {{ transactions: SandboxTransaction, withdrawals: SandboxWithdrawal, requests: SandboxRequest, webhooks: SandboxWebhook }} Rows
 * @typedef {Readonly<Record<string, string | number | undefined>>} Query
 * @typedef {keyof Rows} Listed A section with a list.
 * @typedef {Rows[Listed]} Row
 * @typedef {{ requests: ReadonlyArray<SandboxRequest>, webhooks: ReadonlyArray<SandboxWebhook>, charge?: number, payout?: number }} About
 * What happened to the open row, or the number of what it is about.
 * @typedef {{ total: number, counts: Readonly<Record<string, number>>, offset: number, items: ReadonlyArray<Row>, about?: About }} List
 * @typedef {typeof state["view"]} View
 * @typedef {{ view: View, overview: Answers["overview"], credentials: Answers["credentials"], charges: Readonly<Record<string, number>>,
 *   webhooks: Answers["webhooks"], list: List, faults: Answers["faults"] }} Seen
 */

/** @type {ReadonlyArray<Listed | "faults">} */
export const tabs = ["transactions", "withdrawals", "requests", "webhooks", "faults"]

/**
 * What the address asks for, which may be typed by hand: what does not fit is as if it were absent.
 * @param {{ search: string }} address
 */
export const viewOf = ({ search }) => {
  const query = new URLSearchParams(search)
  /** @param {string} name */
  const natural = (name) => {
    const value = Number(query.get(name))
    return Number.isSafeInteger(value) && value > 0 ? value : undefined
  }
  /** @type {"en" | "pt"} */
  const lang = /^\s*pt\b/i.test(query.get("lang") ?? navigator.language) ? "pt" : "en"
  return {
    tab: tabs.find((name) => name === query.get("tab")) ?? "transactions",
    search: query.get("search") ?? "",
    status: query.get("status") ?? undefined,
    /** From 1; without it the page of the open row, or the first. */
    page: natural("page"),
    /** The number of the open row. */
    open: natural("open"),
    lang
  }
}

export const state = {
  view: viewOf(location),
  isLost: false,
  toast: "",
  /** @type {Seen | undefined} */
  seen: undefined,
  /** The rows that have changed since the last answer. @type {Set<number>} */
  changed: new Set(),
  /** The groups of alike rows that are unfolded. @type {Set<number>} */
  unfolded: new Set(),
  /** The amounts as they are typed, by their fields, and the fault that is chosen. @type {Record<string, string>} */
  typed: {},
  fault: "resetAfter"
}

/** What the sandbox answered last: the page is shown once there is an answer. */
export const seen = () => {
  if (state.seen === undefined) throw new Error("the sandbox has not answered")
  return state.seen
}

/**
 * The number of a row.
 * @param {Row} row
 */
export const numberOf = (row) => ("rowId" in row ? row.rowId : row.id)

/**
 * What is asked for in an address.
 * @param {Query} query
 */
export const queryOf = (query) => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "")
  return new URLSearchParams(given.map(([name, value]) => [name, `${value}`]))
}

/** What is left out of the address of a section that is shown from its beginning. */
const fromStart = { search: "", status: undefined, page: undefined, open: undefined }

/**
 * The address of this view with changes. Another section is shown from its beginning.
 * @param {{ [K in keyof View]?: View[K] }} changes
 */
export const link = (changes) => {
  const view = { ...state.view, ...(changes.tab && fromStart), ...changes }
  return `/?${queryOf(view)}`
}
