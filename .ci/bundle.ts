/**
 * Bundles the code that users do not install beside the package, and its licences:
 *
 * - The command, so that `npx effect-pix` needs nothing else installed and starts fast. The sandbox is a chunk of its own,
 *   and so is what asks a database, with its driver. The panel is not copied: the package has it once.
 * - The used part of brazilian-utils: 6 kB of 8 MB.
 * - htm and Preact, for the sandbox's page: htm's own file of both, as it is. package.json has the version of Preact in it.
 *
 * `dist/bundled.cdx.json` names each of these packages with its version, where an audit of what is installed finds it (CycloneDX).
 */
import { chmodSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type OutputOptions, rolldown } from "rolldown"
import { isAllowed } from "./licences.ts"

/** The folder of the package that contains a module. */
const packageOf = (module: string) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module.replaceAll("\\", "/"))?.[0]

/** What is bundled, by its name and version. */
const components = new Map<string, object>()

const licenceOf = (folder: string) => {
  const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  if (!isAllowed(license)) throw new Error(`${name} has the licence ${license}, which .ci/licences.ts does not allow`)
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`
  components.set(purl, { type: "library", name, version, purl, licenses: [{ expression: license }] })
  const texts = globSync("{LICENSE,LICENCE,license}*", { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), "utf8")
  )
  return [`${name} ${version} (${license})`, "", ...texts.map((text) => text.trim()), ""].join("\n")
}

const line = `${"-".repeat(80)}\n\n`
const licencesOf = (folders: ReadonlyArray<string>) => folders.map(licenceOf).join(`\n${line}`)

/** Bundles a module with all that it imports; returns the licences of the packages in it. */
const bundle = async (input: string, output: OutputOptions): Promise<string> => {
  const built = await rolldown({
    input,
    platform: "node",
    plugins: [{ name: "panel", transform: (code) => code.replace('"./assets/"', '"../panel/internal/assets/"') }],
    onwarn: (warning) => {
      throw new Error(warning.message)
    }
  })
  const written = await built.write({ format: "esm", entryFileNames: "[name].js", ...output })
  await built.close()
  const modules = written.output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
  const folders = new Set(modules.map(packageOf).filter((folder) => folder !== undefined))
  return licencesOf([...folders].toSorted())
}

const commandLicences = await bundle("dist/cli/main.js", {
  dir: "dist/cli.bundle",
  minify: true,
  // Marks for bundlers say nothing to Node.
  comments: { annotation: false, jsdoc: false, legal: true },
  chunkFileNames: "[name].js"
})
rmSync("dist/cli", { recursive: true })
renameSync("dist/cli.bundle", "dist/cli")
writeFileSync("dist/cli/THIRD-PARTY-LICENSES.txt", commandLicences)
chmodSync("dist/cli/main.js", 0o755)

// After the command: its licences are found by the import that this replaces.
const used = "dist/pix/internal/brazilianUtils.js"
const licences = await bundle(used, {
  file: used,
  banner: "/*! From @brazilian-utils/brazilian-utils (MIT): see THIRD-PARTY-LICENSES.txt of effect-pix. */"
})
const preact = readFileSync(new URL(import.meta.resolve("htm/preact/standalone")), "utf8")
const banner = "/*! htm (Apache-2.0) and Preact (MIT): see THIRD-PARTY-LICENSES.txt of effect-pix. */"
writeFileSync("dist/panel/internal/assets/preact.js", `${banner}\n${preact}`)
const page = licencesOf(["node_modules/htm", "node_modules/preact"])
writeFileSync("dist/THIRD-PARTY-LICENSES.txt", `${licences}${line}${page}`)
const list = { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components: [...components.values()] }
writeFileSync("dist/bundled.cdx.json", `${JSON.stringify(list, null, 1)}\n`)
