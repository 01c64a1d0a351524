/** What the command says of itself, and of the command line that a person is told to repeat. */
import { assert, describe, expect, test } from "@effect/vitest"
import { commandLineOf } from "../../src/cli/internal/invocation.ts"
import { run, runRows } from "../support/command.ts"
import { live } from "../support/effect.ts"

describe("the help", () => {
  live("the help names each command and each exit code, and no flag of it takes a secret", function* () {
    const { code, stderr, stdout } = yield* run(["--help"])
    expect([code, stderr]).toEqual([0, ""])
    for (const name of ["sandbox", "charge", "transactions", "transaction", "withdrawal", "balance", "doctor"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} {2,}`, "m"))
      yield* runRows({}, [[`${name} --help`, 0, /^(?!.*--(?:api-key|client-id|secret)(?![-\w]))/s]])
    }
    expect(stdout).not.toContain("undefined")
    for (const exit of ["0", "1", "2", "3", "4", "5", "6", "7", "8", "130"])
      expect(stdout).toMatch(new RegExp(`^  ${exit} +\\w`, "m"))
    expect(yield* run([])).toEqual({ code, stderr, stdout })
  })

  live("an unknown command gets a sentence", function* () {
    yield* runRows({}, [["sandbax", 1, "", /sandbox[^]*\nSee `effect-pix --help` for what it takes\.\n$/]])
  })
})

describe("the command line that a person is told to repeat", () => {
  const installed = "/app/node_modules/.bin/effect-pix"
  const npx = { npm_lifecycle_event: "npx" }

  test.each([
    ["node and the file, for a file", ["/app/dist/main.js"], {}, "node /app/dist/main.js --key k"],
    ["the path, for a command that is installed", [installed], {}, `${installed} --key k`],
    ["the name, where node was given no file", [], {}, "effect-pix --key k"],
    ["npx", [installed], npx, "npx effect-pix --key k"],
    ["the file, for another script of npm", ["main.js"], { npm_lifecycle_event: "test" }, "node main.js --key k"],
    ["the words as they were, quoted", ["main.js", "-d", "a b"], {}, "node main.js -d 'a b' --key k"],
    ["the flags before --", ["main.js", "pay", "--", "-1"], {}, "node main.js pay --key k -- -1"]
  ])("the command line is %s", (_, words, env, expected) => {
    assert.strictEqual(commandLineOf({ argv: ["/usr/bin/node", ...words], env }, ["--key", "k"]), expected)
  })
})
