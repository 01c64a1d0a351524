/** The list of a section: its search, its filters, a page of its rows, and the pages beside it. */
import * as Arr from "effect/Array"
import { type Html, html } from "./html.ts"
import type { Listed } from "./view.ts"
import type { Writer } from "./write.ts"

/** How many rows a page has. */
export const pageSize = 100

/** The rows of a page, and how many fit in all. */
export interface Found {
  readonly total: number
  /** The number of rows that fit the search, by status. */
  readonly counts: Readonly<Record<string, number>>
  readonly page: number
  readonly rows: ReadonlyArray<Row>
}

/** A row. One that follows another of its kind is folded where the screen is narrow. */
interface Row {
  readonly id: number
  readonly kind: string | undefined
  readonly html: Html
}

const folded = ({ count, word }: Writer, rows: ReadonlyArray<Row>): ReadonlyArray<Html> =>
  Arr.isReadonlyArrayNonEmpty(rows)
    ? Arr.groupWith(rows, (a, b) => a.kind !== undefined && a.kind === b.kind).flatMap(([first, ...others]) =>
        others.length < 2
          ? [first, ...others].map((one) => one.html)
          : [
              first.html,
              html`<li class="alike">
                <details id="alike-${others.at(-1)?.id}">
                  <summary>${word("alike", count(others.length))}</summary>
                  <ul>
                    ${others.map((one) => one.html)}
                  </ul>
                </details>
              </li>`
            ]
      )
    : []

/** The search of a section, with its own tools beside it. */
export const searchOf = ({ view, word }: Writer, name: Listed, tools?: Html) =>
  html`<div class="tools">
    <input
      id="search-${name}"
      type="search"
      value="${view.search}"
      aria-label="${word(`search_${name}`)}"
      placeholder="${word(`search_${name}`)}"
      aria-keyshortcuts="/"
    />
    ${tools}
  </div>`

const filters = ({ count, link, view, word, wordOf }: Writer, counts: Found["counts"]) => {
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0)
  const chosen = view.status === undefined || view.status in counts ? {} : { [view.status]: 0 }
  const filter = (status: string | undefined, text: string) =>
    html`<button
      type="button"
      data-go="${link({ status, page: undefined, open: undefined })}"
      aria-pressed="${String(view.status === status)}"
    >
      ${text}
    </button>`
  return html`<div class="statuses" role="group" aria-label="${word("byStatus")}">
    ${filter(undefined, `${word("all")} ${count(all)}`)}
    ${Object.entries({ ...counts, ...chosen })
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, number]) => filter(status, `${wordOf(status)} ${count(number)}`))}
  </div>`
}

const rangeOf = ({ count, word }: Writer, { page, rows, total }: Found) => {
  const from = (page - 1) * pageSize
  const range = total <= pageSize ? `${rows.length}` : `${count(from + 1)}–${count(from + rows.length)}`
  return word("of", range).replace("{}", count(total))
}

/** The filters, the rows and the pages of a section. */
export const list = (writer: Writer, name: Listed, found: Found): Html => {
  const { link, view, word } = writer
  const { counts, page, rows, total } = found
  const to = (next: number, label: "newer" | "older") =>
    html`<a href="${link({ page: next, open: undefined })}">${word(label)}</a>`
  const isFiltered = view.search !== "" || view.status !== undefined
  return html`<div class="filters">
      ${filters(writer, counts)}
      <p class="note">${total > 0 && rangeOf(writer, found)}</p>
    </div>
    <ul class="rows" data-rows="${name}">
      ${rows.length > 0 ? folded(writer, rows) : html`<li class="empty">${word(isFiltered ? "nothing" : `empty_${name}`)}</li>`}
    </ul>
    ${
      total > pageSize &&
      html`<nav class="pages" aria-label="${word("pages")}">
        ${page > 1 ? to(page - 1, "newer") : html`<span></span>`}
        <span class="note">${rangeOf(writer, found)}</span>
        ${page * pageSize < total ? to(page + 1, "older") : html`<span></span>`}
      </nav>`
    }`
}
