/**
 * Writes what is known of the package elsewhere: the version that a program exports; and what language models read: llms.txt, an index of the docs, each page with its sections; and the skill of the
 * package, AGENTS.md where agents look for one (the convention of TanStack Intent). `npm run fix` runs it.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const read = (file: string) => readFileSync(join(root, file), "utf8")
const find = (pattern: string) => globSync(pattern, { cwd: root }).toSorted()

const page = (path: string) => {
  const prose = read(path).replaceAll(/^```.*?^```$/gms, "")
  const headings = (level: string) =>
    Array.from(prose.matchAll(new RegExp(`^${level} (.+)$`, "gm")), ([, text]) => text)
  const sections = headings("##")
  return `- [${headings("#")[0] ?? path}](${path})${sections.length === 0 ? "" : `: ${sections.join(" · ")}`}`
}

/** The index of the current docs. */
const index = (): string => {
  const { description, name } = JSON.parse(read("package.json"))
  const others = find("docs/**/*.{ts,py,sql,yml,yaml,json}")
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

/** AGENTS.md as a skill: its head says when an agent should load it, and of which pages it is made. */
const skill = (): string => {
  const { name, version } = JSON.parse(read("package.json"))
  const guide = read("AGENTS.md")
  const head = [
    "---",
    `name: ${name}`,
    "description: >",
    "  Write code that charges by PIX, boleto or card, looks charges up, takes webhooks or pays out with effect-pix and Effect.",
    "  Load it before you write or review a call that moves money: keys, outcomes, retries, webhooks, merchants, tests.",
    "metadata:",
    "  type: core",
    `  library: ${name}`,
    `  library_version: "${version}"`,
    "sources:",
    ...[
      "AGENTS.md",
      "docs/outcomes.md",
      "docs/charging.md",
      "docs/webhooks.md",
      "docs/first-payout.md",
      "docs/testing.md"
    ].map((page) => `  - ${page}`),
    "---"
  ]
  return `${head.join("\n")}\n\n${guide.replaceAll("](", "](../../").replaceAll("](../../http", "](http")}`
}

/** Each file with what it should say. */
export const written = (): Record<string, string> => ({
  "src/internal/version.ts": `/** The version of this package. Written by .ci/llms.ts. */\nexport const version = "${JSON.parse(read("package.json")).version}"\n`,
  "llms.txt": index(),
  "skills/effect-pix/SKILL.md": skill()
})

if (import.meta.main) {
  for (const [file, text] of Object.entries(written())) writeFileSync(join(root, file), text)
}
