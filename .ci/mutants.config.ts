/**
 * How vitest tests the mutants of `mutants.ts`: with all tests that start no process, since a process has no mutant in it. First
 * come the tests of the folders with mutants.
 */
import { readFileSync } from "node:fs"
import { relative } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import config from "../vitest.config.ts"

const folders = (process.env["EFFECT_PIX_MUTANTS_FOLDERS"] ?? "").split(",")

const startsProcess =
  /node:child_process|SIGKILL|startPostgres|support\/(chromium|commandProcess|debian|hovers|pgbouncer)/
const folderOf = (file: string) => /^test\/(\w+)\//.exec(file)?.[1]

/** The tests of a project. Those in the root of `test` are of the pages and the package, and those of `support` of the tests. */
const testsOf = (name: "fast" | "live") =>
  (config.test?.projects ?? [])
    .flatMap((project) =>
      typeof project === "object" && "test" in project && project.test?.name === name
        ? (project.test.include ?? [])
        : []
    )
    .filter((file) => ![undefined, "support"].includes(folderOf(file)))
    .filter((file) => !startsProcess.test(readFileSync(file, "utf8")))
const isOwn = (file: string) => folders.includes(folderOf(file) ?? "")
const ownFirst = (files: ReadonlyArray<string>) => [...files.filter(isOwn), ...files.filter((file) => !isOwn(file))]
const [fast, live] = [testsOf("fast"), testsOf("live")]
if (fast.length === 0 || live.length === 0) throw new Error("vitest.config.ts has no project of fast or of live tests")

/** The test that kills most probably and costs least is the first. */
const include = [...ownFirst(fast), ...ownFirst(live)]

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
