/**
 * Each `ts` block of README.md and its neighbours, of docs/ and of the docstrings in src/ is compiled, then run as a module of its own.
 * A line that ends in `// => value` asserts that value, of an expression or of what a `const` is given; an expression
 * of several lines has it on the last one, which then begins with a closing bracket or a dot. A block has the line
 * numbers of its file. Text that cannot be run is in a `txt` or `sh` block.
 */
import { assert, describe, expect, test, vi } from "@effect/vitest"
import { execFile } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { promisify } from "node:util"
import { index } from "../.ci/llms.ts"

const root = resolve(import.meta.dirname, "..")
const out = join(import.meta.dirname, ".docs")
const run = promisify(execFile)
const read = (file: string) => readFileSync(join(root, file), "utf8")

/** Turns `a // => b` into `$eq(a, b)`, on the same line. */
const withAssertions = (code: string) => {
  const lines = code.split("\n")
  for (const [index, line] of lines.entries()) {
    const [, start, expected] = /^(.*?);?\s*\/\/ => (.+)$/.exec(line) ?? []
    if (start === undefined || expected === undefined) continue
    const indent = line.search(/\S/)
    const continues = (at: string) => !/\S/.test(at) || at.search(/\S/) > indent || /^\s*[)\]}.]/.test(at)
    let first = index
    while (first > 0 && continues(lines[first] ?? "")) first--
    const declared = /^\s*const (\w+)(?:: [^=]+)? = /.exec(lines[first] ?? "")?.[1]
    lines[index] = declared === undefined ? `${start}, ${expected})` : `${start}; $eq(${declared}, ${expected})`
    if (declared === undefined) lines[first] = lines[first]?.replace(/^\s*/, "$&;$eq(") ?? ""
  }
  return lines.join("\n")
}

const blocksOf = (file: string) =>
  [...read(file).matchAll(/^([ \t]*(?:\* )?)```ts\n(.*?)^\1```$/gms)].map((match) => {
    const [, prefix = "", body = ""] = match
    const line = match.input.slice(0, match.index).split("\n").length
    const indent = new RegExp(`^${prefix.trimEnd().replace("*", "\\*")} ?`, "gm")
    const code = prefix === "" ? body : body.replaceAll(indent, "")
    return { name: `${file}:${line}`, module: join(out, file, `${line}.ts`), line, code }
  })

const files = globSync(["*.md", "docs/**/*.md", "src/**/*.ts"], { cwd: root }).toSorted()
const blocks = files.flatMap(blocksOf)

rmSync(out, { recursive: true, force: true })
for (const { code, line, module } of blocks) {
  mkdirSync(dirname(module), { recursive: true })
  const header = 'import { deepStrictEqual as $eq } from "node:assert/strict"; export { $eq };'
  writeFileSync(module, `${header}${"\n".repeat(line)}${withAssertions(code)}`)
}
writeFileSync(
  join(out, "tsconfig.json"),
  JSON.stringify({
    extends: "../../tsconfig.json",
    compilerOptions: { noUnusedLocals: false },
    include: [],
    files: blocks.map(({ module }) => relative(out, module))
  })
)

describe("docs", () => {
  test("the blocks are found", () => {
    assert.isAbove(blocks.length, 20)
  })

  test("no block is skipped: each fence with `ts` is read, whatever its indentation", () => {
    for (const file of files) {
      const fences = [...read(file).matchAll(/^[\s*]*```ts\b/gm)]
      assert.strictEqual(blocks.filter(({ name }) => name.startsWith(`${file}:`)).length, fences.length, file)
    }
  })

  test("the README's first program prints what the README says", async () => {
    const first = blocks.find(({ name }) => name.startsWith("README.md:"))
    assert.isDefined(first)
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
    await import(first.module)
    const printed = log.mock.calls.map((line) => `${line.join(" ")}\n`).join("")
    log.mockRestore()
    expect(read("README.md")).toContain(`\`\`\`txt\n${printed}\`\`\``)
  })

  test("every link of the docs leads to an existing file", () => {
    for (const file of globSync(["*.{md,txt}", "docs/**/*.md"], { cwd: root })) {
      for (const [, target = ""] of read(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        assert.isTrue(existsSync(join(root, dirname(file), target)), `${file} links to ${target}`)
      }
    }
  })

  test("llms.txt lists the current pages (npm run fix writes it)", () => {
    assert.strictEqual(read("llms.txt"), index())
  })

  test("the blocks compile", async () => {
    await run("npm", ["run", "--silent", "types", out], { cwd: root }).catch((error: { readonly stdout: string }) => {
      throw new Error(error.stdout)
    })
  })

  test.for(blocks)("$name", ({ module }) => import(module))
})
