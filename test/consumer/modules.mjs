/**
 * Which modules of the library each door loads. `node modules.mjs` compares them with modules.json and says what
 * differs; `node modules.mjs --write` writes that file anew.
 */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"

const [, self, door] = process.argv
const known = new URL("modules.json", import.meta.url)

const loadedBy = (name) =>
  execFileSync(process.execPath, [self, `door:${name}`], { encoding: "utf8" })
    .trim()
    .split("\n")

if (door?.startsWith("door:")) {
  const loaded = new Set()
  registerHooks({
    load: (url, context, next) => {
      const [, module] = /\/effect-pix\/dist\/(.*)\.js$/.exec(url) ?? []
      if (module !== undefined) loaded.add(module)
      return next(url, context)
    }
  })
  await import(door.slice("door:".length))
  console.log([...loaded].toSorted((a, b) => (a < b ? -1 : 1)).join("\n"))
} else {
  const manifest = JSON.parse(readFileSync(fileURLToPath(import.meta.resolve("effect-pix/package.json")), "utf8"))
  const doors = Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"))
  const found = Object.fromEntries(doors.map((name) => [name, loadedBy(name.replace(/^\./, "effect-pix"))]))
  if (door === "--write") {
    writeFileSync(known, `${JSON.stringify(found, undefined, 2)}\n`)
  } else {
    const expected = JSON.parse(readFileSync(known, "utf8"))
    let differs = false
    for (const name of new Set([...doors, ...Object.keys(expected)])) {
      const now = new Set(found[name])
      const then = new Set(expected[name])
      for (const module of now.difference(then)) console.log(`${name} now loads ${module}`)
      for (const module of then.difference(now)) console.log(`${name} no longer loads ${module}`)
      differs ||= now.symmetricDifference(then).size > 0
    }
    if (differs) process.exit(1)
  }
}
