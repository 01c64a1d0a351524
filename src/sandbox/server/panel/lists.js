/** The four lists. Each shows the newest rows that fit its search, and is loaded again when a row changed. */
import { el, keep } from "./dom.js"
import { ask } from "./server.js"
import * as rows from "./rows.js"
import { word } from "./words.js"

const make = {
  transactions: [(item) => item.transactionId, rows.charge, "emptyTransactions"],
  withdrawals: [(item) => item.id, rows.withdrawal, "emptyWithdrawals"],
  requests: [(item) => item.id, rows.request, "emptyRequests"],
  webhooks: [(item) => item.id, rows.webhook, "emptyWebhooks"]
}
const shown = 100
/** The status that each list is filtered by. */
const chosen = {}

/** The statuses of a list as buttons with counts. A second press of the chosen one removes the filter. */
const showStatuses = (name, counts) => {
  const group = document.querySelector(`[data-statuses="${name}"]`)
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const entries = [[undefined, all], ...Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1))]
  if (chosen[name] !== undefined && counts[chosen[name]] === undefined) entries.push([chosen[name], 0])
  const items = entries.map(([status, count]) => ({ status, count, isPressed: chosen[name] === status }))
  keep(
    group,
    items,
    ({ status }) => status ?? "all",
    ({ count, isPressed, status }) =>
      el(
        "button",
        {
          type: "button",
          class: "quiet",
          "aria-pressed": String(isPressed),
          onclick: () => {
            chosen[name] = isPressed ? undefined : status
            void refresh(name)
          }
        },
        `${status === undefined ? word("all") : word(`status.${status}`)} ${count.toLocaleString(document.documentElement.lang)}`
      )
  )
}

const show = (name, { counts, items, total }, search) => {
  showStatuses(name, counts)
  const [keyOf, row, empty] = make[name]
  const list = document.querySelector(`[data-rows="${name}"]`)
  if (items.length === 0) {
    list.replaceChildren(
      el(
        "li",
        { class: "empty" },
        search === "" && chosen[name] === undefined ? word(empty, location.origin) : word("nothing")
      )
    )
  } else keep(list, items, keyOf, row)
  document.querySelector(`[data-count="${name}"]`).textContent =
    total === 0 ? "" : word("shown", items.length, total.toLocaleString(document.documentElement.lang))
}

/**
 * Runs an effect at most once at a time, and once more if it was wanted meanwhile. A pause follows each run, so that a load
 * test does not load the panel. A failure is ignored: the page says that the connection is lost, and loads all when it is back.
 */
export const calm = (effect) => {
  let isBusy = false
  let isWanted = false
  const run = async () => {
    isWanted = isBusy
    if (isBusy) return
    isBusy = true
    const from = performance.now()
    await effect().catch(() => undefined)
    // The effect takes at most a sixth of the time, however many charges a load test makes.
    await new Promise((resolve) => setTimeout(resolve, Math.max(300, 5 * (performance.now() - from))))
    isBusy = false
    if (isWanted) await run()
  }
  return run
}

const refreshers = Object.fromEntries(
  Object.keys(make).map((name) => [
    name,
    calm(async () => {
      const { value } = document.querySelector(`[data-list="${name}"]`)
      const status = chosen[name] === undefined ? "" : `&status=${chosen[name]}`
      show(name, await ask("GET", `/${name}?limit=${shown}&search=${encodeURIComponent(value)}${status}`), value)
    })
  ])
)

export const names = Object.keys(make)
export const refresh = (name) => refreshers[name]?.()
