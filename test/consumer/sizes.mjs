/**
 * What programs bring along, minified and gzipped, against the most that they may.
 */
import { gzipSync } from "node:zlib"
import { build } from "esbuild"

const programs = {
  "a program that charges and lists": { most: 106_000, entry: "./size.ts" },
  "a program that submits payouts and reads their states": {
    most: 126_000,
    code: `import { PayoutQueue } from "effect-pix/payouts"; console.log(PayoutQueue.layerClient())`
  },
  "an operator's view of the webhook": {
    most: 108_500,
    code: `import { Webhook } from "effect-pix/webhook"; console.log(Webhook.layerClient())`
  },
  "a webhook on a worker": {
    most: 153_000,
    code: `import { Layer } from "effect"; import { Payments } from "effect-pix"; import { Webhook } from "effect-pix/webhook"
      export default Webhook.toWebHandler(Layer.provide(Webhook.layer({}), Payments.layerFetch))`
  },
  "one error class": { most: 31_000, code: `import { NoPixKey } from "effect-pix"; console.log(NoPixKey)` },
  "a mark of a rehearsal, without a sandbox": {
    most: 32_000,
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
