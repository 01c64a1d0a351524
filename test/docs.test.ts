/**
 * Runs each `ts` block of README.md and its neighbours, of docs/ and of the docstrings in src/: see support/docBlocks.ts. The
 * type-check (`npm run types .`) compiles them.
 */
import { assert, describe, expect, test, vi } from "@effect/vitest"
import { existsSync, globSync } from "node:fs"
import { dirname, join } from "node:path"
import { index } from "../.ci/llms.ts"
import { blocks, files, read, root, writeBlocks } from "./support/docBlocks.ts"

writeBlocks()

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

  test.for(blocks)("$name", ({ module }) => import(module))
})
