/**
 * Writes llms.txt: an index of the docs for a language model, each page with its sections. `npm run fix` runs it.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const read = (file: string) => readFileSync(join(root, file), "utf8")
const find = (pattern: string) => globSync(pattern, { cwd: root }).toSorted()

export const file = join(root, "llms.txt")

const page = (path: string) => {
  const prose = read(path).replaceAll(/^```.*?^```$/gms, "")
  const headings = (level: string) =>
    Array.from(prose.matchAll(new RegExp(`^${level} (.+)$`, "gm")), ([, text]) => text)
  const sections = headings("##")
  return `- [${headings("#")[0] ?? path}](${path})${sections.length === 0 ? "" : `: ${sections.join(" · ")}`}`
}

/** The index of the current docs. */
export const index = (): string => {
  const { description, name } = JSON.parse(read("package.json"))
  const others = find("docs/**/*.{ts,sql,yml,json}")
  return [
    `# ${name}`,
    `> ${description}`,
    "How to write code with it: [AGENTS.md](AGENTS.md). A first program, and each import: [README.md](README.md).",
    "## Pages",
    find("docs/**/*.md").map(page).join("\n"),
    "## Files to copy",
    others.map((path) => `- [${path}](${path})`).join("\n")
  ]
    .join("\n\n")
    .concat("\n")
}

if (import.meta.main) writeFileSync(file, index())
