/** Elements, made without ever reading text as markup: what callers send is shown as text. */

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
 * Reads a sum as the command does: `2500` is centavos, `25,00`, `25.00` and `1.234,56` are reais. Gives centavos, or
 * `undefined` for anything else.
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

/** Puts the items into a list: rows stay where they are unless they changed, and so do focus and what is open. */
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
/** Says something for a moment, to eyes and to screen readers. */
export const toast = (text) => {
  byId("toast").textContent = text
  clearTimeout(hide)
  hide = setTimeout(() => (byId("toast").textContent = ""), 4000)
}

export const copy = (text, said) => navigator.clipboard.writeText(text).then(() => toast(said))
