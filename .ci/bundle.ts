/**
 * Bundles the command, so that `npx effect-pix` needs nothing else installed and starts fast: a chunk a subcommand, and
 * one for the script of the references. The licences of what is in it go beside it.
 */
import { chmodSync, cpSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"

const bundle = await rolldown({
  input: "dist/cli/main.js",
  platform: "node",
  onwarn: (warning) => {
    throw new Error(warning.message)
  }
})
const { output } = await bundle.write({
  dir: "dist/cli.bundle",
  format: "esm",
  minify: true,
  entryFileNames: "[name].js",
  chunkFileNames: "[name].js"
})
await bundle.close()

/** The folder of the package that a module is of. */
const packageOf = (module: string) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module.replaceAll("\\", "/"))?.[0]
const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
const folders = new Set(modules.map(packageOf).filter((folder) => folder !== undefined))

const licences = [...folders].toSorted().map((folder) => {
  const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const texts = globSync("{LICENSE,LICENCE,license}*", { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), "utf8")
  )
  return [`${name} ${version} (${license})`, "", ...texts.map((text) => text.trim()), ""].join("\n")
})

rmSync("dist/cli", { recursive: true })
renameSync("dist/cli.bundle", "dist/cli")
cpSync("src/sandbox/server/panel", "dist/cli/panel", { recursive: true })
writeFileSync("dist/cli/THIRD-PARTY-LICENSES.txt", licences.join(`\n${"-".repeat(80)}\n\n`))
chmodSync("dist/cli/main.js", 0o755)
