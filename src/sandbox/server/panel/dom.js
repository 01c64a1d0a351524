/** Makes elements. Text is never parsed as markup, so the data of callers is shown as text. */

/** Makes an element: attributes by name, `on...` as listeners, children as nodes or text. */
export const el = (name, attributes = {}, ...children) => {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? "" : String(value))
  }
  element.append(...children.flat(2).filter((child) => child !== undefined && child !== null))
  return element
}

export const byId = (id) => document.getElementById(id)

/**
 * Parses an amount as the command does: `2500` is centavos, `25,00`, `25.00` and `1.234,56` are reais. Returns centavos, or
 * `undefined` for any other text.
 */
export const centavosOf = (text) => {
  const plain = text.trim().replace(/^R\$\s*/, "")
  if (!/^\d{1,16}$|^\d{1,14}[.,]\d\d$|^\d{1,3}(?:\.\d{3})+,\d\d$/.test(plain)) return undefined
  const centavos = Number(plain.replaceAll(/[.,]/g, ""))
  return Number.isSafeInteger(centavos) ? centavos : undefined
}

const money = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" })
export const reais = (centavos, currency = "BRL") =>
  currency === "BRL" ? money.format(centavos / 100) : `${currency} ${(centavos / 100).toFixed(2)}`

/** Shows the items in a list. A row that did not change stays, and the focus and open details of a changed row are restored. */
export const keep = (list, items, keyOf, make) => {
  const before = new Map([...list.children].map((row) => [row.dataset.key, row]))
  let place = list.firstElementChild
  for (const item of items) {
    const key = String(keyOf(item))
    const version = `${document.documentElement.lang}${JSON.stringify(item)}`
    let row = before.get(key)
    before.delete(key)
    if (row === undefined || row.dataset.version !== version) {
      const next = make(item)
      next.dataset.key = key
      next.dataset.version = version
      if (row !== undefined) {
        const open = [...row.querySelectorAll("details")].map((details) => details.open)
        next.querySelectorAll("details").forEach((details, index) => (details.open = open[index] ?? false))
        const focused = row.contains(document.activeElement) ? document.activeElement : undefined
        const isPlace = row === place
        row.replaceWith(next)
        if (isPlace) place = next
        if (focused !== undefined) {
          const same = next.querySelector(`[data-act="${focused.dataset.act}"]`)
          ;(same ?? next.querySelector("button, summary"))?.focus()
        }
      }
      row = next
    }
    if (row === place) place = place.nextElementSibling
    else list.insertBefore(row, place)
  }
  for (const row of before.values()) row.remove()
}

let hide
/** Shows a text for a few seconds, also to screen readers. */
export const toast = (text) => {
  byId("toast").textContent = text
  clearTimeout(hide)
  hide = setTimeout(() => (byId("toast").textContent = ""), 4000)
}

export const copy = (text, said) => navigator.clipboard.writeText(text).then(() => toast(said))
