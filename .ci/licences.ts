/**
 * Checks the licences of all code that a user gets: the dependencies and peer dependencies with all their dependencies,
 * and the bundled code (`.ci/bundle.ts`). If a licence is not in the list, a person decides: add it here, or remove the
 * dependency.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path/posix"

const allowed = new Set(["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"])

/** Whether a licence is in the list, or is a choice with one that is. */
export const isAllowed = (licence: unknown): boolean =>
  typeof licence === "string" &&
  licence
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((choice) => allowed.has(choice))

interface Locked {
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The packages that are installed for a user, by their paths in the lock. */
export const installed = (packages: Readonly<Record<string, Locked>>): ReadonlyMap<string, Locked> => {
  const found = new Map<string, Locked>()
  /** A package is found as Node finds it: in the folder that needs it, or in one above. */
  const find = (from: string, name: string): string | undefined => {
    const path = join(from, "node_modules", name)
    if (path in packages) return path
    const above = from.lastIndexOf("node_modules")
    return from === "" ? undefined : find(from.slice(0, Math.max(above - 1, 0)), name)
  }
  const visit = (from: string) => {
    const { dependencies, optionalDependencies, peerDependencies } = packages[from] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = find(from, name)
      const locked = path === undefined ? undefined : packages[path]
      // An optional package of another platform need not be locked.
      if (path === undefined || locked === undefined || found.has(path)) continue
      found.set(path, locked)
      visit(path)
    }
  }
  visit("")
  return found
}

if (import.meta.main) {
  const lock: { readonly packages: Record<string, Locked> } = JSON.parse(readFileSync("package-lock.json", "utf8"))
  for (const [path, { license }] of installed(lock.packages)) {
    if (isAllowed(license)) continue
    console.error(`${path} has the licence ${license ?? "that it does not name"}, which .ci/licences.ts does not allow`)
    process.exitCode = 1
  }
}
