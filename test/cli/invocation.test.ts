import { assert, describe, test } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { onTestFinished } from "vitest"
import { commandLineOf } from "../../src/cli/internal/invocation.ts"

const installed = "/app/node_modules/.bin/effect-pix"

describe("the command line that a person is told to repeat", () => {
  test.each([
    ["node and the file, for a file", ["/app/dist/main.js"], {}, "node /app/dist/main.js --key k"],
    ["the path, for a command that is not on PATH", [installed], { PATH: "/usr/bin" }, `${installed} --key k`],
    ["the path, where there is no PATH", [installed], {}, `${installed} --key k`],
    ["the name, where node was given no file", [], {}, "effect-pix --key k"],
    ["npx", [installed], { npm_lifecycle_event: "npx" }, "npx effect-pix --key k"],
    [
      "npx with its packages",
      [installed],
      { npm_lifecycle_event: "npx", npm_config_package: "a.tgz\nb" },
      "npx -p a.tgz -p b -- effect-pix --key k"
    ],
    [
      "npx, where npm names no package",
      [installed],
      { npm_lifecycle_event: "npx", npm_config_package: "\n" },
      "npx effect-pix --key k"
    ],
    ["the file, for another script of npm", ["main.js"], { npm_lifecycle_event: "test" }, "node main.js --key k"],
    ["the words as they were, quoted", ["main.js", "-d", "a b"], {}, "node main.js -d 'a b' --key k"],
    ["the flags before --", ["main.js", "pay", "--", "-1"], {}, "node main.js pay --key k -- -1"]
  ])("is %s", (_, words, env, expected) => {
    assert.strictEqual(commandLineOf({ argv: ["/usr/bin/node", ...words], env }, ["--key", "k"]), expected)
  })

  test("is the name alone, for a command on PATH", () => {
    const folder = mkdtempSync(join(tmpdir(), "effect-pix-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const command = join(folder, "effect-pix")
    writeFileSync(command, "")
    const env = { PATH: ["/nowhere", folder].join(delimiter) }
    assert.strictEqual(commandLineOf({ argv: ["/usr/bin/node", command, "doctor"], env }, []), "effect-pix doctor")
  })
})
