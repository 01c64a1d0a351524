/**
 * `npm run bench` compares the cost of calls with raw undici, fetch and other clients, in one run, on one loopback
 * server in another process. Prints tables, and writes all figures as JSON to `coverage/bench.json`.
 *
 * - `npm run bench -- --quick` measures less, in about a minute.
 * - `npm run bench -- --write` also writes the tables into test/bench/figures.md and the chart into docs/performance.svg.
 * - `npm run bench -- --check` compares our ratios with those in test/bench/ratios.json, and fails where one is more
 *   than a quarter above.
 * - `npm run bench -- payouts` measures the queue of payouts on a PostgreSQL instead, in two minutes at most, and
 *   `-- payout-sizes` what 1,000,000 payouts take there.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import effectPackage from "effect/package.json" with { type: "json" }
import undiciPackage from "undici/package.json" with { type: "json" }
import { calls, callsOverTls, listShapes } from "./calls.ts"
import { cold } from "./cold.ts"
import { heap } from "./memory.ts"
import { install, peerVersions } from "./peers.ts"
import { payoutSizes } from "./payoutSizes.ts"
import { throughput, throughputTable } from "./payouts.ts"
import { chart, markdown, type Results } from "./report.ts"
import { checks, sizes } from "./sizes.ts"

const root = join(import.meta.dirname, "../..")
const has = (flag: string) => process.argv.includes(flag)
const isQuick = has("--quick")

const machine = [
  `Node ${process.versions.node} (its own undici, under fetch, ${process.versions["undici"]}), undici ${undiciPackage.version},`,
  `effect ${effectPackage.version}, ${peerVersions}; ${availableParallelism()} cores, a loopback server in another process.`
].join(" ")

const rounds = isQuick ? { rounds: 5, milliseconds: 50, warmUp: 200 } : { rounds: 11, milliseconds: 70, warmUp: 400 }

const measure = Effect.gen(function* () {
  yield* Effect.sync(install)
  const results: Results = {
    machine,
    calls: yield* calls(rounds),
    tls: yield* callsOverTls(rounds),
    shapes: yield* listShapes(rounds),
    heap: yield* heap(isQuick ? 1000 : 10_000, ["undici", "oursNode", "oursFetch", "fetch", "stripe"]),
    cold: yield* cold(isQuick ? 3 : 11),
    sizes: yield* Effect.promise(sizes),
    checks: checks(isQuick ? 1 : 3)
  }
  return results
})

const oursIn = (tables: Results["calls"], title: string) =>
  tables.flatMap(({ call, inFlight, rows }) =>
    rows
      .filter(({ client }) => client.startsWith("ours"))
      .map(({ client, cpu }) => [`${call} ${inFlight} ${client}${title}`, cpu.p15] as const)
  )

/** Our ratios, by name, which `--check` compares. */
const ratiosOf = ({ calls: measured, cold: starts, shapes, sizes: bundles, tls }: Results): Record<string, number> => ({
  ...Object.fromEntries([...oursIn(measured, ""), ...oursIn(tls, " over TLS")]),
  ...Object.fromEntries(shapes.map(({ cpu, shape }) => [`list in shape ${shape}`, cpu.p15])),
  ...Object.fromEntries(starts.slice(1).map(({ ratio, title }) => [`cold start: ${title}`, ratio.median])),
  ...Object.fromEntries(bundles.map(({ kilobytes, title }) => [`kB: ${title}`, kilobytes]))
})

const committed = join(import.meta.dirname, "ratios.json")

const check = Effect.fnUntraced(function* (ratios: Record<string, number>) {
  const known = JSON.parse(readFileSync(committed, "utf8")) as Record<string, number> // written by `--write`
  const worse = Object.entries(ratios).filter(([name, ratio]) => ratio > (known[name] ?? Infinity) * 1.25)
  yield* Console.log(`${Object.keys(ratios).length} ratios checked, ${worse.length} worse.`)
  for (const [name, ratio] of worse) yield* Console.error(`${name}: ${ratio.toFixed(2)}, was ${known[name]}`)
  if (worse.length > 0) process.exitCode = 1
})

const begin = "<!-- figures: written by `npm run bench -- --write` -->"

const write = (results: Results) => {
  const page = join(root, "test/bench/figures.md")
  const [before = ""] = readFileSync(page, "utf8").split(begin)
  writeFileSync(page, `${before}${begin}\n\n${markdown(results)}\n`)
  writeFileSync(join(root, "docs/performance.svg"), chart(results))
  const rounded = Object.fromEntries(
    Object.entries(ratiosOf(results)).map(([name, ratio]) => [name, Number(ratio.toFixed(2))])
  )
  writeFileSync(committed, `${JSON.stringify(rounded, undefined, 2)}\n`)
}

const program = Effect.gen(function* () {
  const results = yield* measure
  yield* Console.log(markdown(results))
  mkdirSync(join(root, "coverage"), { recursive: true })
  writeFileSync(join(root, "coverage/bench.json"), JSON.stringify(results))
  if (has("--write")) write(results)
  if (has("--check")) yield* check(ratiosOf(results))
}).pipe(Effect.timeout("20 minutes"))

const queue = has("payouts")
  ? Effect.map(throughput(2000), throughputTable)
  : has("payout-sizes")
    ? payoutSizes(1_000_000, 10_000)
    : undefined

NodeRuntime.runMain(queue === undefined ? program : Effect.flatMap(queue, Console.log))
