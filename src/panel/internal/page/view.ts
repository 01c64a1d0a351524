/** What a page shows. It is in the address, so that a view can be linked. */
export const tabs = ["transactions", "withdrawals", "requests", "webhooks", "faults"] as const

/** A section of the page. */
type Tab = (typeof tabs)[number]

/** A section with a list. */
export type Listed = Exclude<Tab, "faults">

/** A section, its search, filter, page and open row, the language, and the time zone of the browser. */
export interface View {
  readonly tab: Tab
  readonly search: string
  readonly status: string | undefined
  /** From 1; without it the page of the open row, or the first. */
  readonly page: number | undefined
  /** The number of the open row. */
  readonly open: number | undefined
  readonly language: "en" | "pt"
  readonly timeZone: string
  /** The host and port under which the browser reaches the sandbox. */
  readonly host: string | undefined
}

type Headers = Readonly<Record<string, string | undefined>>

/** The time zone that the page's script sends, or UTC. */
const timeZoneOf = (name = "UTC") => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return "UTC"
  }
}

/** The view of an address, which may be typed by hand: what does not fit is as if it were absent. */
export const viewOf = (query: URLSearchParams, headers: Headers): View => {
  const natural = (name: string) => {
    const value = Number(query.get(name))
    return Number.isSafeInteger(value) && value > 0 ? value : undefined
  }
  return {
    tab: tabs.find((name) => name === query.get("tab")) ?? "transactions",
    search: query.get("search") ?? "",
    status: query.get("status") ?? undefined,
    page: natural("page"),
    open: natural("open"),
    language: /^\s*pt\b/i.test(query.get("lang") ?? headers["accept-language"] ?? "") ? "pt" : "en",
    timeZone: timeZoneOf(headers["x-time-zone"]),
    host: headers["host"]
  }
}

/** What is left out of the address of a section that is shown from its beginning. */
export const fromStart = { search: "", status: undefined, page: undefined, open: undefined } as const

/** The address of a view. */
export const addressOf = ({ language, open, page, search, status, tab }: View): string => {
  const all = { tab, search, status, page: page?.toString(), open: open?.toString(), lang: language }
  return `/?${new URLSearchParams(Object.entries(all).filter((entry): entry is [string, string] => Boolean(entry[1])))}`
}
