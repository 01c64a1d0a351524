/**
 * `npm run bench` measures, and prints tables:
 *
 * - what a call costs without a network (`double.ts`);
 * - the cost of calls beside raw undici, fetch and other clients, on one loopback server in another process; heaps, cold starts,
 *   bundles and type checks. That takes a quarter of an hour.
 *
 * - `npm run bench -- --quick` measures the first alone, in some 15 seconds.
 * - `npm run bench -- --write` also writes the tables into test/bench/figures.md and, of a whole run, the chart into
 *   docs/performance.svg.
 * - `npm run bench -- --check` compares the ratios of the first with those in test/bench/figures.md, and fails where one is more than a
 *   quarter above, three times in a row. `npm run full` does so.
 * - `npm run bench -- payouts` measures the queue of payouts on a PostgreSQL instead, in two minutes at most, and
 *   `-- payout-sizes` what 1,000,000 payouts take there.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import effectPackage from "effect/package.json" with { type: "json" }
import undiciPackage from "undici/package.json" with { type: "json" }
import { calls, callsOverTls } from "./calls.ts"
import { cold } from "./cold.ts"
import type { Row } from "./double.ts"
import { heap } from "./memory.ts"
import { install, peerVersions } from "./peers.ts"
import { payoutSizes } from "./payoutSizes.ts"
import { throughput, throughputTable } from "./payouts.ts"
import { start } from "./processes.ts"
import { chart, doubleTable, markdown, type Results, storedRatios } from "./report.ts"
import { checks, sizes } from "./sizes.ts"

const root = join(import.meta.dirname, "../..")
const page = join(root, "test/bench/figures.md")
const has = (flag: string) => process.argv.includes(flag)

const machine = [
  `Node ${process.versions.node} (its own undici, under fetch, ${process.versions["undici"]}), undici ${undiciPackage.version},`,
  `effect ${effectPackage.version}, ${peerVersions}; ${availableParallelism()} cores, a loopback server in another process.`
].join(" ")

/** Puts a text after the line of the page that names this part of it, in place of the text up to the next such line or heading. */
const write = (part: "double" | "figures", text: string) => {
  const parts = readFileSync(page, "utf8").split(/^(?=<!-- (?:double|figures): |## Over sockets)/m)
  const written = parts.map((old) =>
    old.startsWith(`<!-- ${part}: `) ? `${old.slice(0, old.indexOf("\n"))}\n\n${text}\n\n` : old
  )
  writeFileSync(page, `${written.join("").trimEnd()}\n`)
}

/** The calls without a network, in a process of their own. */
const double = Effect.map(start<ReadonlyArray<Row>>("double.ts"), ({ first }) => first).pipe(Effect.scoped)

/** The calls that are more than a quarter above what is stored. */
const worse = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const stored = storedRatios(readFileSync(page, "utf8"))
  return rows.flatMap(({ ratio, title }) => {
    const most = (stored.get(title) ?? 0) * 1.25
    return ratio <= most ? [] : [`${title}: ${ratio.toFixed(2)}, at most ${most.toFixed(2)}`]
  })
}

const best = (first: ReadonlyArray<Row>, second: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  first.map((row, index) => {
    const other = second[index]
    return other !== undefined && other.ratio < row.ratio ? other : row
  })

/** The best of up to three measurements, as long as one is worse than what is stored. */
const checkDouble = Effect.gen(function* () {
  let rows = yield* double
  for (let again = 0; again < 2 && worse(rows).length > 0; again++) rows = best(rows, yield* double)
  for (const line of worse(rows)) yield* Console.error(line)
  if (worse(rows).length > 0) process.exitCode = 1
  return rows
})

const withoutNetwork = Effect.gen(function* () {
  const rows = yield* has("--check") ? checkDouble : double
  yield* Console.log(
    `The CPU of a call without a network, against \`dispatch\` and \`JSON.parse\`:\n\n${doubleTable(rows)}`
  )
  if (has("--write")) write("double", doubleTable(rows))
})

const rounds = { rounds: 11, milliseconds: 70, warmUp: 400 }

const overSockets = Effect.gen(function* () {
  yield* Effect.sync(install)
  const results: Results = {
    machine,
    calls: yield* calls(rounds),
    tls: yield* callsOverTls(rounds),
    heap: yield* heap(10_000, ["undici", "oursNode", "oursFetch", "fetch", "stripe"]),
    cold: yield* cold(11),
    sizes: yield* Effect.promise(sizes),
    checks: checks(3)
  }
  yield* Console.log(markdown(results))
  if (!has("--write")) return
  write("figures", markdown(results))
  writeFileSync(join(root, "docs/performance.svg"), chart(results))
})

const program = has("payouts")
  ? Effect.flatMap(Effect.map(throughput(2000), throughputTable), Console.log)
  : has("payout-sizes")
    ? Effect.flatMap(payoutSizes(1_000_000, 10_000), Console.log)
    : has("--quick")
      ? withoutNetwork
      : Effect.andThen(withoutNetwork, overSockets)

NodeRuntime.runMain(Effect.timeout(program, "20 minutes"))
