/**
 * How many modules of the library each import loads: a budget, so that a program pays only for what it takes. A module
 * more than the budget is either worth it, and the budget grows in the same commit, or it is loaded by mistake.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"

const [, self, given] = process.argv

/** The most modules, and the rooms of which none is loaded. */
const budgets = {
  ".": { most: 128, never: /^(cli|durable|node|panel|payouts|rehearsal|sandbox|webhook)\// },
  "./api": { most: 27, never: /^(cli|client|durable|node|panel|payouts|rehearsal|sandbox|transactions|webhook)\// },
  "./node": { most: 117, never: /^(cli|durable|panel|payouts|rehearsal|sandbox|transactions|webhook)\// },
  "./payouts": { most: 140, never: /^(cli|client\/Payments$|node|panel|rehearsal|sandbox|transactions|webhook)\// },
  "./sandbox": { most: 171, never: /^(cli|durable|node|payouts|panel\/internal|transactions|webhook)\// },
  "./webhook": { most: 92, never: /^(cli|client\/Payments$|node|panel|payouts|rehearsal|sandbox)\// }
}

if (given?.startsWith("import:")) {
  const loaded = new Set()
  registerHooks({
    load: (url, context, next) => {
      const [, module] = /\/effect-pix\/dist\/(.*)\.js$/.exec(url) ?? []
      if (module !== undefined) loaded.add(module)
      return next(url, context)
    }
  })
  await import(given.slice("import:".length))
  console.log([...loaded].join("\n"))
} else {
  const manifest = JSON.parse(readFileSync(fileURLToPath(import.meta.resolve("effect-pix/package.json")), "utf8"))
  for (const name of Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"))) {
    const imported = `import:${name.replace(/^\./, "effect-pix")}`
    const modules = execFileSync(process.execPath, [self, imported], { encoding: "utf8" }).trim().split("\n")
    const { most, never } = budgets[name]
    const wrong = modules.filter((module) => never.test(module))
    console.log(
      `${name} loads ${modules.length} modules, at most ${most}${wrong.map((module) => `; not ${module}`).join("")}`
    )
    if (modules.length > most || wrong.length > 0) process.exitCode = 1
  }
}
