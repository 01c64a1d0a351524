/**
 * The figures as Markdown tables, and as a chart.
 */
import type { Table } from "./calls.ts"
import type { Cold } from "./cold.ts"
import type { Row } from "./double.ts"
import type { Held } from "./memory.ts"
import type { Check, Size } from "./sizes.ts"
import type { Figure } from "./statistics.ts"

export interface Results {
  readonly machine: string
  readonly calls: ReadonlyArray<Table>
  /** The same over TLS. */
  readonly tls: ReadonlyArray<Table>
  readonly heap: ReadonlyArray<Held>
  readonly cold: ReadonlyArray<Cold>
  readonly sizes: ReadonlyArray<Size>
  readonly checks: ReadonlyArray<Check>
}

const titles = { create: "Create a charge", lookup: "Look one up", list: "List 100 rows", withdraw: "Withdraw" }
const nameOf = ({ call, inFlight }: Table) =>
  `${titles[call]}, ${inFlight === 1 ? "one at a time" : `${inFlight} in flight`}`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map((_, index) => (index === 0 ? "---" : "--:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n")

const cell = ({ high, low, median, p15 }: Figure) =>
  `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)}), p15 ${p15.toFixed(2)}`
const plain = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2))

const callTable = (measured: Table): string =>
  [
    `**${nameOf(measured)}** (1.00 is ${measured.unit.toFixed(0)} us of CPU here)`,
    "",
    table(
      ["client", "CPU per call", "calls/s", "p50 ms", "p99 ms", "kB allocated"],
      measured.rows.map((row) => [
        row.title,
        cell(row.cpu),
        row.calls.median.toFixed(2),
        plain(row.p50),
        plain(row.p99),
        plain(row.bytes / 1000)
      ])
    )
  ].join("\n")

/** The calls without a network, as the table that `storedRatios` reads. */
export const doubleTable = (rows: ReadonlyArray<Row>): string =>
  table(
    ["call", "us of CPU", "ratio"],
    rows.map(({ micros, ratio, title }) => [title, plain(micros), ratio.toFixed(2)])
  )

/** The ratios of such a table in a text, by the call. */
export const storedRatios = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text.split("\n").flatMap((line): Array<[string, number]> => {
      const [, call, ratio] = /^\| (.+?) +\| +[\d.]+ \| +([\d.]+) \|$/.exec(line) ?? []
      return call === undefined ? [] : [[call, Number(ratio)]]
    })
  )

/** The tables of the calls over sockets, and of what else is measured. */
export const markdown = (results: Results): string =>
  [
    results.machine,
    "",
    "## Calls, against undici",
    "",
    results.calls.map(callTable).join("\n\n"),
    "",
    "## Over TLS",
    "",
    "A self-signed certificate for `localhost`, on connections that stay open. The limit of a client over HTTP/1.1 is undici's",
    "`dispatch`: nothing that is built on it is cheaper.",
    "",
    results.tls.map(callTable).join("\n\n"),
    "",
    "## Heap of a charge in flight, 10,000 at a time",
    "",
    table(
      ["client", "kB"],
      results.heap.map(({ bytes, title }) => [title, plain(bytes / 1000)])
    ),
    "",
    "## Cold start, to the first answer",
    "",
    table(
      ["program", "ms", "ratio"],
      results.cold.map(({ ratio, time, title }) => [title, time.median.toFixed(0), ratio.median.toFixed(2)])
    ),
    "",
    "## Bundles, and type-checking a consumer",
    "",
    table(
      ["program", "kB, minified and gzipped"],
      results.sizes.map((size) => [size.title, size.kilobytes.toFixed(1)])
    ),
    "",
    table(
      ["program", "seconds of tsc"],
      results.checks.map(({ seconds, title }) => [title, seconds.toFixed(2)])
    )
  ].join("\n")

interface Bar {
  readonly title: string
  readonly ratio: number
  readonly kind: "ours" | "peer" | "unit"
}

/** What the chart leaves out: the second undici, whose mean with the first is the 1.00, and what differs by noise alone. */
const undrawn = new Set<string>(["undici", "undiciAgain", "oursNodeTraced", "oursFetchTraced", "fetchSignal"])

const barsOf = ({ rows }: Table): ReadonlyArray<Bar> =>
  rows
    .filter(({ client }) => !undrawn.has(client))
    .map(({ client, cpu, title }): Bar => {
      const kind = client.startsWith("ours") ? "ours" : "peer"
      return { title: title.replaceAll(/[`*]/g, "").replaceAll("&", "&amp;"), ratio: cpu.median, kind }
    })
    .concat({ title: "undici Pool.request + JSON.parse", ratio: 1, kind: "unit" })
    .toSorted((a, b) => a.ratio - b.ratio)

const rowHeight = 24
const labels = 340

const draw = (measured: Table, heading: string, top: number, scale: number): string => {
  const bars = barsOf(measured).map(({ kind, ratio, title }, index) => {
    const y = top + 14 + index * rowHeight
    const width = ratio * scale
    return [
      `<text x="${labels - 8}" y="${y + 13}" text-anchor="end" class="${kind}">${title}</text>`,
      `<rect x="${labels}" y="${y}" width="${width.toFixed(1)}" height="17" rx="2" class="${kind}"/>`,
      `<text x="${(labels + width + 6).toFixed(1)}" y="${y + 13}">${ratio.toFixed(2)}</text>`
    ].join("")
  })
  return [`<text x="16" y="${top}" class="heading">${heading}</text>`, ...bars].join("\n")
}

/** What a charge over `Payments.layerFetch` costs, for a reader who knows no ratio. */
const plainWords = ({ rows, unit }: Table): string => {
  const fetched = rows.find(({ client }) => client === "oursFetch")
  const micros = unit * (fetched?.cpu.median ?? Number.NaN)
  return `A charge over Payments.layerFetch took ${(micros / 1000).toFixed(1)} ms of CPU here: 10 charges a second take ${(micros / 1000).toFixed(0)} % of a core.`
}

/** A chart of what a charge costs at 64 in flight, over HTTP and over TLS: CPU per call, undici = 1.00. */
export const chart = ({ calls, tls }: Results): string => {
  const isDrawn = ({ call, inFlight }: Table) => call === "create" && inFlight === 64
  const [http, secure] = [calls.find(isDrawn), tls.find(isDrawn)]
  if (http === undefined || secure === undefined) throw new Error("The charges at 64 in flight were not measured")
  const [first, second] = [barsOf(http), barsOf(secure)]
  const scale = 320 / Math.max(...[...first, ...second].map(({ ratio }) => ratio))
  const below = 86 + first.length * rowHeight
  const end = below + 34 + second.length * rowHeight
  const about = "CPU per charge, 64 in flight (undici = 1.00, less is better)"
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${end + 24}" role="img" aria-label="${about}">
<style>text{font:13px system-ui,sans-serif;fill:#555}.title{font-weight:600;font-size:15px}.heading,.ours{font-weight:600}rect.peer{fill:#9aa5b1}rect.unit{fill:#5b6b7a}rect.ours{fill:#2f7d5b}@media(prefers-color-scheme:dark){text{fill:#bbb}rect.peer{fill:#5c6670}rect.unit{fill:#8b99a6}rect.ours{fill:#4caf7f}}</style>
<text x="16" y="26" class="title">${about}</text>
${draw(http, "over HTTP", 56, scale)}
${draw(secure, "over TLS", below, scale)}
<text x="16" y="${end + 6}">${plainWords(http)}</text>
</svg>
`
}
