/**
 * Prometheus's own checks of the alert rules, and tests of them: which alert fires for which signals, after which time. They
 * need `promtool`: of the machine, else the one that `debian.ts` unpacked.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join, resolve } from "node:path"
import { unpacked } from "./support/debian.ts"
import { missing } from "./support/missing.ts"

const find = () => {
  const own = unpacked("prometheus")
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...(own === undefined ? [] : [join(own, "usr/bin")])
  ]
  return folders.map((folder) => join(folder, "promtool")).find((file) => existsSync(file))
}

const promtool = find()
const absent = promtool === undefined ? missing("promtool") : undefined

const run = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(promtool ?? "promtool", args, { encoding: "utf8" })
  assert.strictEqual(status, 0, stdout + stderr)
  return stdout
}

describe.skipIf(absent !== undefined)(
  `the alert rules in Prometheus${absent === undefined ? "" : ` (${absent})`}`,
  () => {
    it("each rule is one that Prometheus takes", () => {
      assert.match(run("check", "rules", resolve("docs/operations/alerts.yml")), /SUCCESS: \d\d rules found/)
    })

    it("each alert fires for its signals after its time, and for no others", () => {
      assert.include(run("test", "rules", resolve("test/alerts-test.yml")), "SUCCESS")
    })
  }
)
