/**
 * How vitest tests the mutants of `mutants.ts`: with the fast tests and, after them, with the other tests of the folders with
 * mutants. A process that a test starts has no mutant in it.
 */
import { globSync, readFileSync } from "node:fs"
import { relative } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import config from "../vitest.config.ts"

const folders = (process.env["EFFECT_PIX_MUTANTS_FOLDERS"] ?? "").split(",")

/** These tests are of other things, or of the tests themselves, and take half of the time of all fast tests. */
const isLeftOut = (file: string) => {
  const [, folder = ""] = /^test\/(\w+)\//.exec(file) ?? []
  return ["", "pix", "sandbox", "support"].includes(folder) && !folders.includes(folder)
}
const fast = (config.test?.projects ?? [])
  .flatMap((project) =>
    typeof project === "object" && "test" in project && project.test?.name === "fast"
      ? (project.test.include ?? [])
      : []
  )
  .filter((file) => !isLeftOut(file))
if (fast.length === 0) throw new Error("vitest.config.ts has no project of fast tests")

const startsProcess =
  /node:child_process|SIGKILL|startPostgres|support\/(chromium|commandProcess|debian|hovers|pgbouncer)/
const own = folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`))
const isFast = new Set(fast)
const isOwn = new Set(own)

/** The test that kills most probably and costs least is the first. */
const include = [
  ...own.filter((file) => isFast.has(file)),
  ...fast.filter((file) => !isOwn.has(file)),
  ...own.filter((file) => !isFast.has(file) && !startsProcess.test(readFileSync(file, "utf8")))
]

class InOrder extends BaseSequencer {
  override sort(files: Array<TestSpecification>) {
    const place = ({ moduleId }: TestSpecification) => include.indexOf(relative(process.cwd(), moduleId))
    return Promise.resolve(files.toSorted((a, b) => place(a) - place(b)))
  }
}

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include,
    setupFiles: ["test/support/setup.ts"],
    // StrykerJS ends the run of a mutant that never ends.
    testTimeout: 300_000,
    isolate: false,
    provide: { postgres: process.env["EFFECT_PIX_MUTANTS_POSTGRES"] },
    sequence: { sequencer: InOrder }
  }
})
