/**
 * Measures the size of a program's bundle, minified and gzipped, and the time of type-checking a consumer, beside a
 * program that uses only Effect.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { folder, peer } from "./peers.ts"
import { quantile } from "./statistics.ts"

interface Esbuild {
  readonly build: (
    options: object
  ) => Promise<{ readonly outputFiles: ReadonlyArray<{ readonly contents: Uint8Array }> }>
}

const dist = join(import.meta.dirname, "../../dist")
const chargeAndList = (layer: string) => `
  const program = Effect.gen(function* () {
    const payments = yield* Payments
    yield* payments.createTransaction({ amount: Money.centavos(2500), paymentMethod: "PIX", customer: { name: "M", email: "m@e.x" } })
    return yield* payments.listTransactions()
  })
  Effect.runPromise(Effect.provide(program, ${layer}))`

const programs = {
  "charge and list": `import * as Effect from "effect/Effect"; import { Money, Payments } from "DIST/index.js"; ${chargeAndList("Payments.layerFetch")}`,
  "one error class": `import { NoPixKey } from "DIST/index.js"; console.log(NoPixKey)`,
  Money: `import { Money } from "DIST/index.js"; console.log(Money.centavos(1))`,
  "the whole index": `import * as All from "DIST/index.js"; console.log(All)`,
  "Effect and one Schema": `import * as Schema from "effect/Schema"; import * as Effect from "effect/Effect"; Effect.runPromise(Schema.decodeUnknownEffect(Schema.Struct({ a: Schema.String }))({}))`,
  "Effect's HttpClient": `import * as Effect from "effect/Effect"; import * as HttpClient from "effect/http/HttpClient"; import * as FetchHttpClient from "effect/http/FetchHttpClient"; Effect.runPromise(Effect.provide(HttpClient.get("https://x.example"), FetchHttpClient.layer))`
}

export interface Size {
  readonly title: string
  /** kB of 1000 bytes, minified and gzipped. */
  readonly kilobytes: number
}

export const sizes = async (): Promise<ReadonlyArray<Size>> => {
  const { build } = await peer<Esbuild>("esbuild")
  const measured: Array<Size> = []
  for (const [title, program] of Object.entries(programs)) {
    const { outputFiles } = await build({
      stdin: { contents: program.replaceAll("DIST", dist), resolveDir: dist, loader: "ts" },
      bundle: true,
      format: "esm",
      minify: true,
      write: false,
      logLevel: "error"
    })
    const bytes = gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length
    measured.push({ title, kilobytes: bytes / 1000 })
  }
  return measured
}

const consumers = {
  "a program of Effect's alone": `import { Effect } from "effect"; import { HttpClient } from "effect/http"; export const program = Effect.flatMap(HttpClient.get("x"), ({ json }) => json)`,
  "the same with effect-pix": `import { Effect } from "effect"; import { Money, Payments } from "effect-pix"; export const program = Effect.flatMap(Payments, (payments) => payments.createTransaction({ amount: Money.centavos(1), paymentMethod: "PIX", customer: { name: "M", email: "m@e.x" } }))`
}

export interface Check {
  readonly title: string
  readonly seconds: number
}

/** Type-checks each consumer against the built library. */
export const checks = (rounds: number): ReadonlyArray<Check> => {
  const root = join(import.meta.dirname, "../..")
  return Object.entries(consumers).map(([title, program], index) => {
    const place = join(folder, `consumer${index}`)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, "main.mts"), program)
    writeFileSync(
      join(place, "tsconfig.json"),
      JSON.stringify({
        extends: join(root, "tsconfig.json"),
        compilerOptions: { paths: { "effect-pix": [join(dist, "index.d.ts")] }, plugins: [] },
        include: [],
        files: ["main.mts"]
      })
    )
    const times = Array.from({ length: rounds }, () => {
      const begun = performance.now()
      execFileSync("tsc", ["-p", place], { cwd: root })
      return (performance.now() - begun) / 1000
    })
    return { title, seconds: quantile(times, 0.5) }
  })
}
