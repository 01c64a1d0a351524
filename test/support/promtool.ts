/** Prometheus's own tool: of the machine, else the one that `debian.ts` unpacked. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { unpacked } from "./debian.ts"

/** Its path; `undefined` if there is none. */
export const promtool = [...(process.env["PATH"] ?? "").split(delimiter), join(unpacked("prometheus") ?? "", "usr/bin")]
  .map((folder) => join(folder, "promtool"))
  .find((file) => existsSync(file))

/** Runs it. */
export const runPromtool = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(promtool ?? "promtool", args, {
    encoding: "utf8",
    maxBuffer: 100_000_000
  })
  return { status, text: stdout + stderr }
}

/** Runs it on a file of YAML, which JSON is. */
export const runPromtoolOn = (args: ReadonlyArray<string>, content: unknown) => {
  const folder = mkdtempSync(join(tmpdir(), "effect-pix-"))
  try {
    const file = join(folder, "promtool.yml")
    writeFileSync(file, JSON.stringify(content))
    return runPromtool(...args, file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
