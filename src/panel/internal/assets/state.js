/** What the page shows: what its address asks for, what the sandbox answered last, and what a person has typed. */

export const tabs = ["transactions", "withdrawals", "requests", "webhooks", "faults"]

/** What the address asks for, which may be typed by hand: what does not fit is as if it were absent. */
export const viewOf = ({ search }) => {
  const query = new URLSearchParams(search)
  const natural = (name) => {
    const value = Number(query.get(name))
    return Number.isSafeInteger(value) && value > 0 ? value : undefined
  }
  return {
    tab: tabs.find((name) => name === query.get("tab")) ?? "transactions",
    search: query.get("search") ?? "",
    status: query.get("status") ?? undefined,
    /** From 1; without it the page of the open row, or the first. */
    page: natural("page"),
    /** The number of the open row. */
    open: natural("open"),
    lang: /^\s*pt\b/i.test(query.get("lang") ?? navigator.language) ? "pt" : "en"
  }
}

export const state = {
  view: viewOf(location),
  isLost: false,
  toast: "",
  /** The overview, credentials, counts by status, the list of the section, and what its open row is about. */
  seen: undefined,
  /** The rows that have changed since the last answer. */
  changed: new Set(),
  /** The groups of alike rows that are unfolded. */
  unfolded: new Set(),
  /** The amounts as they are typed, by their fields, and the fault that is chosen. */
  typed: {},
  fault: "resetAfter"
}

/** The number of a row. */
export const numberOf = ({ id, rowId }) => rowId ?? id

/** What is left out of the address of a section that is shown from its beginning. */
const fromStart = { search: "", status: undefined, page: undefined, open: undefined }

/** The address of this view with changes. Another section is shown from its beginning. */
export const link = (changes) => {
  const view = { ...state.view, ...(changes.tab && fromStart), ...changes }
  return `/?${new URLSearchParams(Object.entries(view).filter(([, value]) => value))}`
}
