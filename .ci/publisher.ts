/**
 * Sets and checks the publisher of the package: `repository` in package.json, `bugs` and `homepage`, which depend
 * on it, and the address in SECURITY.md.
 *
 * - `npm run publisher -- <repository> <email>` fills them in: the https address of the public repository, and where a
 *   vulnerability may be reported (SECURITY.md).
 * - `prepublishOnly` runs it without arguments: it refuses while they are not filled in, and while CHANGELOG.md does not say
 *   what is in the version.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"

interface Manifest {
  readonly version?: string
  readonly homepage?: string
  readonly bugs?: { readonly url?: string; readonly email?: string }
  readonly repository?: { readonly type?: string; readonly url?: string }
}

const fieldsOf = (repository: string, email: string) => ({
  homepage: `${repository}#readme`,
  bugs: { url: `${repository}/issues`, email },
  repository: { type: "git", url: `git+${repository}.git` }
})

const field = /(?<=<!-- address -->).*?(?=<!-- \/address -->)/s

/** SECURITY.md with the address of the publisher. */
export const withAddress = (page: string, email: string): string => {
  if (!field.test(page)) throw new Error("SECURITY.md has no place for the address")
  return page.replace(field, email)
}

/** The manifest with the fields of its publisher, beside the licence in the order that the formatter wants. */
export const fillIn = (manifest: Manifest, repository: string, email: string): Manifest => {
  const url = repository.replace(/^git\+|\.git$|\/$/g, "")
  if (!/^https:\/\/[^/\s]+(\/[^/\s]+){2,}$/.test(url))
    throw new Error(`${repository} is no https address of a repository`)
  if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw new Error(`${email} is no e-mail address`)
  const { bugs, homepage, repository: at } = fieldsOf(url, email)
  const others = Object.entries(manifest).filter(([name]) => !["bugs", "homepage", "repository"].includes(name))
  return Object.fromEntries(
    others.flatMap(([name, value]) =>
      name === "license" ? Object.entries({ homepage, bugs, license: value, repository: at }) : [[name, value]]
    )
  )
}

interface Release {
  readonly manifest: Manifest
  readonly changelog: string
  /** SECURITY.md. */
  readonly security: string
  /** The changesets that no version contains. */
  readonly waiting: ReadonlyArray<string>
}

/** The reasons why the package may not be published. */
export const obstacles = ({ changelog, manifest, security, waiting }: Release): ReadonlyArray<string> => {
  const { bugs, homepage, repository, version } = manifest
  const url = repository?.url?.replace(/^git\+|\.git$/g, "") ?? ""
  const email = bugs?.email ?? ""
  const isFilledIn =
    url !== "" &&
    email !== "" &&
    JSON.stringify({ homepage, bugs, repository }) === JSON.stringify(fieldsOf(url, email))
  const missing = Object.entries({ repository, bugs, homepage }).flatMap(([name, value]) =>
    value === undefined ? [`no ${name}`] : []
  )
  return [
    ...(isFilledIn
      ? []
      : [
          `package.json does not say who publishes it (${missing.join(", ") || "they differ"}): run \`npm run publisher -- <repository> <email>\``
        ]),
    ...(field.exec(security)?.[0] === email
      ? []
      : ["SECURITY.md does not have the address: run `npm run publisher -- <repository> <email>`"]),
    ...(changelog.split("\n").includes(`## ${version}`)
      ? []
      : [`CHANGELOG.md has no entry for ${version}: run \`npm run release\``]),
    ...waiting.map((changeset) => `${changeset} is in no version: run \`npm run release\``)
  ]
}

if (import.meta.main) {
  const manifest: Manifest = JSON.parse(readFileSync("package.json", "utf8"))
  const security = readFileSync("SECURITY.md", "utf8")
  const [repository, email = ""] = process.argv.slice(2)
  if (repository === undefined) {
    const changelog = existsSync("CHANGELOG.md") ? readFileSync("CHANGELOG.md", "utf8") : ""
    for (const obstacle of obstacles({ manifest, changelog, security, waiting: globSync(".changeset/*.md") })) {
      console.error(obstacle)
      process.exitCode = 1
    }
  } else {
    writeFileSync("package.json", `${JSON.stringify(fillIn(manifest, repository, email), null, 2)}\n`)
    writeFileSync("SECURITY.md", withAddress(security, email))
  }
}
