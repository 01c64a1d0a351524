/**
 * Plays outages of a shop on the test's clock, and lets Prometheus evaluate the alerts of docs/operations on what it exported: which
 * alert names each, after how many minutes, whom it pages, and how many lines the library writes. `npm run outages` plays all, and writes test/outages.md;
 * with `EFFECT_PIX_OUTAGE=slow20,trigger` these; else three are played. They need `promtool`.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { effect } from "./support/effect.ts"
import { missing } from "./support/missing.ts"
import { type Fired, firedIn, shownIn, sumsIn } from "./support/outages/judge.ts"
import { type Outage, outages } from "./support/outages/outages.ts"
import { calm, length, type Played } from "./support/outages/played.ts"
import { play } from "./support/outages/world.ts"
import { sentQueries } from "./support/dashboard.ts"
import { promtool } from "./support/promtool.ts"

const absent = promtool === undefined ? missing("promtool") : undefined
const isAll = ["EFFECT_PIX_OUTAGES", "EFFECT_PIX_SOAK"].some((name) => process.env[name] !== undefined)
const file = resolve("test/outages.md")
const few = new Set(["revoked", "charges422", "paused"])
/** The names of a few, whose rows of the page are written anew. */
const chosen = process.env["EFFECT_PIX_OUTAGE"]?.split(",")
const played = Object.entries(outages).filter(([name]) => chosen?.includes(name) ?? (isAll || few.has(name)))

/** The panels that none of them fills. */
const rarer = [
  "Refused retries, and answers that do not fit",
  "Calls of handlers, by result",
  "Calls of handlers, by result"
]

const written = readFileSync(file, "utf8").split("\n")
const rows = new Map(
  Object.entries(outages).flatMap(([name, { what }]) =>
    written.filter((line) => line.startsWith(`| ${what} |`)).map((line) => [name, line] as const)
  )
)
const shown = new Set<string>()

const reais = (sum: number) => `R$ ${sum.toFixed(2).replace(".", ",")}`
const most = 300
/** How many lines an hour were written in the outage. */
const linesOf = ({ lines }: Played) =>
  Math.round((60 / (length - calm)) * [...lines.values()].reduce((a, b) => a + b, 0))
const rowOf = ({ also = [], named, unsaid, what }: Outage, fired: ReadonlyArray<Fired>, played: Played) => {
  const right = fired.filter(({ alert }) => (named.length === 0 ? also : named).includes(alert))
  // A ticket may come before the page.
  const first = right.find(({ severity }) => severity === "page") ?? right[0]
  const signal =
    first === undefined
      ? "nothing"
      : `${linkOf(first.alert)} ${first.after}${first.severity === "ticket" ? ", ticket" : ""}`
  const others = fired.filter(({ alert }) => alert !== first?.alert).map(({ after, alert }) => `${alert} ${after}`)
  const money = [
    ...sumsIn(played.series).map(([of, sum]) => `${of}: ${reais(sum)}`),
    ...(unsaid === undefined ? [] : [unsaid])
  ]
  return `| ${[what, signal, others.join(", "), money.join("; "), linesOf(played)].join(" | ")} |`
}
const linkOf = (alert: string) => `[${alert}](../docs/operations/runbook.md#${alert.toLowerCase()})`

const page = () =>
  [
    "# Outages that were played",
    "",
    "<!-- Written by npm run outages -->",
    "",
    "A shop in memory charges every 10 seconds and pays out every 20. After 8 minutes the outage begins, and lasts 25. Prometheus evaluates",
    "[`alerts.yml`](../docs/operations/alerts.yml) each minute: which alert names it after how many minutes, a page before a ticket; what else fires, which is true",
    "too; the money that the metrics name at the end; and how many lines an hour the library writes. Where nothing is wrong nobody is paged.",
    "",
    "| outage | signal | fires too, after minutes | money | lines |",
    "| --- | --- | --- | --- | --- |",
    ...Object.keys(outages).flatMap((name) => rows.get(name) ?? []),
    ""
  ].join("\n")

describe.skipIf(absent !== undefined)(`the outages of a shop (${absent ?? "played"})`, () => {
  effect("where all is well, no alert fires", function* () {
    const played = yield* play({}, () => Effect.void)
    assert.deepStrictEqual(firedIn(played.series), [])
    assert.deepStrictEqual([...played.lines], [])
  })

  for (const [name, outage] of played) {
    const { also = [], begin, named, setting, what } = outage
    const end = named.length === 0 ? "and nobody is paged" : `which ${named.join(" or ")} names within 10 minutes`
    effect(`${what}, ${end}, and nothing false fires, in at most ${most} lines an hour`, function* () {
      const played = yield* play(setting ?? {}, begin)
      const fired = firedIn(played.series)
      rows.set(name, rowOf(outage, fired, played))
      if (isAll) for (const query of shownIn(played.series)) shown.add(query)
      const text = JSON.stringify(fired)
      const ofOthers = fired.filter(({ alert }) => ![...named, ...also].includes(alert))
      assert.deepStrictEqual(ofOthers, [], text)
      const isPaged = fired.some(({ severity }) => severity === "page")
      if (named.length === 0) assert.isFalse(isPaged, text)
      else
        assert.isTrue(
          fired.some(({ after, alert }) => named.includes(alert) && after >= 0 && after <= 10),
          text
        )
      assert.isAtMost(linesOf(played), most, JSON.stringify([...played.lines]))
    })
  }

  effect.skipIf(!isAll)(
    "each panel of the dashboard shows something of one of them, but for what is rarer",
    function* () {
      const rare = sentQueries.filter(({ expr, title }) => !shown.has(`${title}: ${expr}`))
      yield* Effect.sync(() =>
        assert.sameMembers(
          rare.map(({ title }) => title),
          rarer
        )
      )
    }
  )

  effect.skipIf(process.env["EFFECT_PIX_OUTAGES"] === undefined && chosen === undefined)(
    "the page has what was played",
    function* () {
      yield* Effect.sync(() => writeFileSync(file, page()))
    }
  )
})
