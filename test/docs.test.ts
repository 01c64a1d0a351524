/** The pages: README.md and its neighbours, and docs/. `examples.test.ts` runs what they show. */
import { assert, describe, expect, test, vi } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { partOf, parts } from "../.ci/edges.ts"
import { written } from "../.ci/llms.ts"
import { blocks, files, read, root, writeBlocks } from "./support/docBlocks.ts"

writeBlocks()

/** The anchors of a page, as GitHub makes them of its headings, and those that it sets itself. */
const anchorsOf = (file: string) => {
  const prose = read(file).replaceAll(/^```.*?^```$/gms, "")
  const headings = Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, text = ""]) =>
    text
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-")
  )
  return [...headings, ...Array.from(prose.matchAll(/<a id="([^"]+)">/g), ([, id = ""]) => id)]
}

/** What a line of a diagram may be, by the diagram's first line: less than GitHub draws, so that what passes is drawn. */
const text = String.raw`[^"'\[\](){}|;:#<>]+`
const node = String.raw`\w+(?:\[${text}\]|\{${text}\}|\(\[${text}\]\)|\[\(${text}\)\])?`
const flow = String.raw`${node} (?:-->|-- ${text} -->|-\. ${text} \.->) ${node}`
const lineOf = new Map([
  ["flowchart LR", flow],
  [
    "sequenceDiagram",
    String.raw`participant \w+(?: as ${text})?|\w+(?:->>|-->>|--x)\w+: ${text}|Note over \w+(?:,\w+)?: ${text}`
  ]
])

/** The sentences of a page, outside of its tables, its code and what is generated. A code in a line is one word. */
const sentencesOf = (page: string) =>
  page
    .replaceAll(/^[ \t]*```.*?^[ \t]*```$/gms, "\n\n")
    .replaceAll(/<!-- Written by [^]*?<!-- The end of what [^]*?-->/g, "\n\n")
    .replaceAll(/<!--[^]*?-->|^ *\|.*$/gm, "\n\n")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/`[^`]*`/g, "code")
    .replaceAll(/<a id="[^"]*"><\/a>|[*_]/g, "")
    .split(/\n\s*\n|\n(?=\s*(?:[-*#]+|\d+\.) )/)
    .flatMap((part) =>
      part
        .replace(/^\s*(?:[-*#]+|\d+\.) /, "")
        .replaceAll(/\s+/g, " ")
        .split(/(?<=[.!?][)"”]?) (?=\S)/)
    )

describe("docs", () => {
  test("no sentence has more than 25 words, outside of tables and code", () => {
    for (const file of globSync(["README.md", "docs/**/*.md"], { cwd: root })) {
      const long = sentencesOf(read(file)).filter(
        (one) => one.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word)).length > 25
      )
      assert.deepStrictEqual(long, [], file)
    }
  })

  test("the docs have at most 24 pages", () => {
    assert.isAtMost(globSync("docs/**/*.md", { cwd: root }).length, 24)
  })

  test("the glossary has 18 words before the first payout, and at most 40 in all", () => {
    const [, words = ""] = read("docs/glossary.md").split(/^## .+$/m)
    const [first = [], later = []] = words
      .split("**Later**")
      .map((list) => Array.from(list.matchAll(/^- \*\*([^*]+)\*\*:/gm), ([, entry = ""]) => entry.split(", ")).flat())
    assert.lengthOf(first, 18)
    assert.isAtMost(first.length + later.length, 40)
  })

  test("each line of a diagram is one that GitHub draws", () => {
    const diagrams = globSync("docs/**/*.md", { cwd: root }).flatMap((file) =>
      Array.from(read(file).matchAll(/^```mermaid\n(.*?)^```$/gms), ([, body = ""]) => ({ file, body }))
    )
    assert.isAtLeast(diagrams.length, 2)
    for (const { body, file } of diagrams) {
      const [head = "", ...lines] = body.trimEnd().split("\n")
      const line = lineOf.get(head)
      assert.isDefined(line, `${file}: ${head}`)
      // `end` is a word of mermaid.
      for (const one of lines) assert.match(one, new RegExp(`^  (?!end\\b)(?:${line})$`), file)
    }
  })

  test("each page is on a shelf of the README", () => {
    const linked = Array.from(read("README.md").matchAll(/\]\((docs\/[^)#]+\.md)/g), ([, path]) => path)
    assert.includeMembers(linked, globSync("docs/**/*.md", { cwd: root }))
  })

  test("no block is skipped: each fence with `ts` is read, whatever its indentation", () => {
    assert.isAbove(blocks.length, 20)
    for (const file of files) {
      const fences = [...read(file).matchAll(/^[\s*]*```ts\b/gm)]
      assert.strictEqual(blocks.filter(({ name }) => name.startsWith(`${file}:`)).length, fences.length, file)
    }
  })

  test("the README's first program prints what the README says", async () => {
    const first = blocks.find(({ name }) => name.startsWith("README.md:"))
    assert.isDefined(first)
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
    // Another file may have run it in this process: a module is evaluated once.
    vi.resetModules()
    await import(first.module)
    const printed = log.mock.calls.map((line) => `${line.join(" ")}\n`).join("")
    log.mockRestore()
    expect(read("README.md")).toContain(`\`\`\`txt\n${printed}\`\`\``)
  })

  test("every link of the docs leads to an existing file, and in the package to one that it has", () => {
    const { files: shipped } = JSON.parse(read("package.json"))
    const isShipped = (target: string) =>
      ["README.md", "LICENSE", ...shipped].some((path) => target === path || target.startsWith(`${path}/`))
    for (const file of globSync(["*.{md,txt}", "docs/**/*.md", "skills/**/*.md"], { cwd: root })) {
      for (const [, target = ""] of read(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        const path = join(dirname(file), target)
        assert.isTrue(existsSync(join(root, path)), `${file} links to ${target}`)
        // Pictures are for who reads the repository.
        if (isShipped(file) && !/\.(?:png|svg)$/.test(target))
          assert.isTrue(isShipped(path), `${file} links to ${target}, which the package does not have`)
      }
    }
  })

  test("every link to a section leads to a heading", () => {
    for (const file of globSync(["*.md", "docs/**/*.{md,yml}"], { cwd: root })) {
      for (const [, target = "", anchor = ""] of read(file).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)) {
        const page = target === "" ? file : join(dirname(file), target)
        assert.include(anchorsOf(page), anchor, `${file} links to ${target}#${anchor}`)
      }
    }
  })

  test("every test that the README names exists", () => {
    const named = Array.from(read("README.md").matchAll(/`(test\/[^`]+)`/g), ([, path = ""]) => path)
    assert.isNotEmpty(named)
    for (const path of named) assert.isTrue(existsSync(join(root, path)), path)
  })

  test("no page has more than 220 lines, beside what is generated and those of which one heading is read", () => {
    const byHeading = ["docs/operations/runbook.md"]
    for (const file of globSync(["README.md", "docs/**/*.md"], { cwd: root, exclude: byHeading })) {
      const own = read(file).replaceAll(/<!-- Written by [^]*?<!-- The end of what [^]*?-->/g, "")
      assert.isAtMost(own.trimEnd().split("\n").length, 220, file)
    }
  })

  test("what a page lists of the code is what the code says (npm run fix writes it)", () => {
    const cells = (text: string) => text.replaceAll(/ +|-{2,}/g, " ")
    for (const { from, page, write } of parts)
      assert.strictEqual(cells(partOf(readFileSync(page, "utf8"), from)), cells(write()), page)
  })

  test("what agents read is made of the current pages, and the version is that of the package (npm run fix writes them)", () => {
    for (const [file, text] of Object.entries(written())) assert.strictEqual(read(file), text, file)
  })
})
