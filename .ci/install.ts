/**
 * Writes npm's lines where the pages say how the package is had from a checkout. The release runs it, and nothing else does:
 * before that, the name on npm is nobody's, and `npx` would run what a stranger put there.
 */
import { readFileSync, writeFileSync } from "node:fs"

const fence = (...lines: ReadonlyArray<string>) => ["```sh", ...lines, "```"].join("\n")
const install = [`npm init -y && npm pkg set type=module`, `npm install effect-pix effect@~4.1.0`]

const pages: Record<string, string> = {
  "README.md": fence(...install, "npx --no-install effect-pix sandbox    # the gateway, with this page"),
  "docs/getting-started.md": fence(...install),
  "docs/leiame.md": fence(...install, "npx --no-install effect-pix sandbox    # o gateway, com esta página")
}

for (const [page, lines] of Object.entries(pages)) {
  const text = readFileSync(page, "utf8")
  const written = text.replace(/<!-- checkout.*?<!-- \/checkout -->/s, lines)
  if (!written.includes(install[1] ?? "")) throw new Error(`${page} does not say how to install the package`)
  writeFileSync(page, written)
}
