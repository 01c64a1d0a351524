/**
 * The packages that only the bench uses. They are installed when the bench runs, and not by `npm ci`.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const versions = {
  axios: "1.21.1",
  esbuild: "0.28.2",
  ky: "1.14.3",
  mercadopago: "3.6.1",
  openai: "7.55.0",
  stripe: "23.1.0"
}

const root = join(import.meta.dirname, "../..")
export const folder = join(root, "node_modules/.cache/effect-pix/bench")

/** Installs the missing packages. */
export const install = (): void => {
  const wanted = JSON.stringify({ private: true, dependencies: versions })
  const manifest = join(folder, "package.json")
  if (existsSync(join(folder, "node_modules")) && existsSync(manifest) && readFileSync(manifest, "utf8") === wanted)
    return
  mkdirSync(folder, { recursive: true })
  writeFileSync(manifest, wanted)
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: folder })
}

/**
 * Loads the module of a peer. The bench declares its type, since the package is not installed when types are checked.
 */
export const peer = async <Module>(name: string): Promise<Module> => {
  // A module in that folder, so that names are resolved from there.
  const loader = join(folder, "load.mjs")
  writeFileSync(loader, "export const load = (name) => import(name)\n")
  const { load } = (await import(pathToFileURL(loader).href)) as { readonly load: (name: string) => Promise<Module> }
  return load(name)
}

export const peerVersions = Object.entries(versions)
  .filter(([name]) => name !== "esbuild")
  .map(([name, version]) => `${name} ${version}`)
  .join(", ")
