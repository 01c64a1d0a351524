/**
 * The `ts` blocks of README.md and its neighbours, of docs/ and of the docstrings in src/, and each file of docs/examples/ that
 * asserts something, as modules in test/.docs/: the type-check compiles them with the sources, and `test/examples.test.ts` runs them. `node test/support/docBlocks.ts` writes them.
 * A line that ends in `// => value` asserts that value, of an expression or of what a `const` is given; an expression of
 * several lines has it on the last one, which then begins with a closing bracket or a dot. A block has the line numbers of its
 * file. Text that cannot be run is in a `txt` or `sh` block.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

export const root = resolve(import.meta.dirname, "../..")
const out = join(root, "test/.docs")
export const read = (file: string) => readFileSync(join(root, file), "utf8")

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
    const declared = /^\s*(?:export )?const (\w+)(?:: [^=]+)? = /.exec(lines[first] ?? "")?.[1]
    lines[index] = declared === undefined ? `${start}, ${expected})` : `${start}; $eq(${declared}, ${expected})`
    if (declared === undefined) lines[first] = lines[first]?.replace(/^\s*/, "$&;$eq(") ?? ""
  }
  return lines.join("\n")
}

/** The values that a block shows how to make. They are exported, since its reader uses them, and the block may not. */
const declaredIn = (code: string) => Array.from(code.matchAll(/^const (\w+)/gm), ([, name]) => name).join(", ")

const blocksOf = (file: string) =>
  [...read(file).matchAll(/^([ \t]*(?:\* )?)```ts\n(.*?)^\1```$/gms)].map((match) => {
    const [, prefix = "", body = ""] = match
    const line = match.input.slice(0, match.index).split("\n").length
    const indent = new RegExp(`^${prefix.trimEnd().replace("*", "\\*")} ?`, "gm")
    const code = prefix === "" ? body : body.replaceAll(indent, "")
    return { name: `${file}:${line}`, module: join(out, file, `${line}.ts`), line, code }
  })

export const files = globSync(["*.md", "docs/**/*.md", "src/**/*.ts"], { cwd: root }).toSorted()
const recipes = globSync("docs/examples/*.ts", { cwd: root })
  .toSorted()
  .map((file) => ({ name: file, module: join(out, file, "1.ts"), line: 0, code: read(file) }))
  .filter(({ code }) => code.includes(" // => "))
export const blocks = [...files.flatMap(blocksOf), ...recipes]

/** Writes the modules that have changed, and removes those whose block is gone. */
export const writeBlocks = (): void => {
  const header = 'import { deepStrictEqual as $eq } from "node:assert/strict"; export { $eq };'
  const modules = new Map(
    blocks.map(({ code, line, module }) => [
      module,
      `${header}${"\n".repeat(line)}${withAssertions(code)}export { ${declaredIn(code)} }\n`
    ])
  )
  for (const entry of globSync("**/*.ts", { cwd: out, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !modules.has(path)) rmSync(path)
  }
  for (const [module, text] of modules) {
    if (existsSync(module) && readFileSync(module, "utf8") === text) continue
    mkdirSync(dirname(module), { recursive: true })
    writeFileSync(module, text)
  }
}

if (import.meta.main) writeBlocks()
