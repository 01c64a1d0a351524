/**
 * Removes the declarations that no entry point of the package needs for its types. Nobody can import them, and they are
 * half of all declarations. `.ci/smoke` compiles consumers against the others. Removes the maps to sources that are not shipped, too.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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
for (const entry of Object.values<string>(exports)) if (entry.endsWith(".js")) reach(join(entry.replace(/js$/, "d.ts")))

for (const declaration of globSync("dist/**/*.d.ts")) {
  const isReached = reached.has(declaration)
  if (isReached && !declaration.includes("/internal/")) continue
  rmSync(`${declaration}.map`)
  if (!isReached) rmSync(declaration)
  else writeFileSync(declaration, readFileSync(declaration, "utf8").replace(/\/\/# sourceMappingURL=.*/, ""))
}
