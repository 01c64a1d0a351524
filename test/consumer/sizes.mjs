/**
 * What programs bring along, minified and gzipped, against the most that they may.
 */
import { gzipSync } from "node:zlib"
import { build } from "esbuild"

const programs = {
  "a program that charges and lists": { most: 114_000, entry: "./size.ts" },
  "one error class": { most: 32_000, code: `import { NoPixKey } from "effect-pix"; console.log(NoPixKey)` },
  "a mark of a rehearsal, without a sandbox": {
    most: 33_500,
    code: `import { Effect } from "effect"; import { Rehearsed } from "effect-pix"; Effect.runFork(Rehearsed.fact("told", { reference: "1" }))`
  },
  Money: { most: 27_500, code: `import { Money } from "effect-pix"; console.log(Money.centavos(1))` }
}

for (const [name, { code, entry, most }] of Object.entries(programs)) {
  const { outputFiles } = await build({
    ...(entry === undefined ? { stdin: { contents: code, resolveDir: "." } } : { entryPoints: [entry] }),
    bundle: true,
    format: "esm",
    minify: true,
    write: false
  })
  const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length
  console.log(`${name}: ${bytes} bytes, at most ${most}`)
  if (bytes > most) process.exitCode = 1
}
