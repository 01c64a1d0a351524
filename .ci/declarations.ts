/**
 * Removes the declarations of modules that the types of no door mention: nobody can import them, and they are half of
 * all. `.ci/smoke` compiles consumers against what is left.
 */
import { globSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"

const { exports } = JSON.parse(readFileSync("package.json", "utf8"))

const reached = new Set<string>()
const reach = (declaration: string) => {
  if (reached.has(declaration)) return
  reached.add(declaration)
  for (const [, module = ""] of readFileSync(declaration, "utf8").matchAll(/"(\.{1,2}\/[^"]+)\.[jt]s"/g)) {
    reach(join(declaration, "..", `${module}.d.ts`))
  }
}
for (const door of Object.values<string>(exports)) if (door.endsWith(".js")) reach(join(door.replace(/js$/, "d.ts")))

for (const declaration of globSync("dist/**/*.d.ts")) {
  if (reached.has(declaration)) continue
  rmSync(declaration)
  rmSync(`${declaration}.map`)
}
