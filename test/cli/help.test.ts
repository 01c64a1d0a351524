/** What the command says of itself, and before it runs. */
import { describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { accountSteps, letterSteps, payoutSteps } from "../../src/cli/internal/operator/steps.ts"
import { main, run as runProcess, runHere as run, runLine } from "../support/command.ts"
import { live } from "../support/effect.ts"

describe("the help", () => {
  live("the help names each command and each exit code, and no flag of it takes a secret", function* () {
    const { code, stderr, stdout } = yield* run(["--help"])
    expect([code, stderr]).toEqual([0, ""])
    for (const name of ["sandbox", "charge", "transactions", "transaction", "balance", "withdraw", "doctor"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} {2,}`, "m"))
      const help = yield* run([name, "--help"])
      expect([help.code, help.stdout]).toEqual([
        0,
        expect.not.stringMatching(/--(?:api-key|client-id|secret)(?![-\w])/)
      ])
    }
    for (const exit of ["0", "1", "2", "3", "4", "5", "6", "7", "8", "130"]) {
      expect(stdout).toMatch(new RegExp(`^  ${exit} +\\w`, "m"))
    }
  })

  live("a call without a command shows the help, and an unknown command gets a sentence", function* () {
    const [bare, help] = [yield* run([]), yield* run(["--help"])]
    expect([bare.code, bare.stdout]).toEqual([0, help.stdout])
    const typo = yield* run(["sandbax"])
    expect([typo.code, typo.stdout, typo.stderr]).toEqual([1, "", expect.stringContaining("sandbox")])
  })

  it("the page of the command names each step of an operator with the sentence of its help", () => {
    const [, tables = ""] = readFileSync("docs/command.md", "utf8").split("\n### Steps\n")
    const steps = Array.from(tables.matchAll(/^\| `([\w-]+)` +\| (.+?) +\|$/gm), ([, name, about]) => [name, about])
    expect(steps).toEqual(
      [...payoutSteps, ...accountSteps, ...letterSteps].map(({ description, name }) => [name, description])
    )
  })
})

describe("the entry", () => {
  live("the entry says which Node it needs before it loads code that an older one cannot read", function* () {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })"
    const line = `"${process.execPath}" --import "data:text/javascript,${older}" ${main} sandbox`
    const { code, stderr, stdout } = yield* runLine(line)
    expect([code, stdout, stderr]).toEqual([1, "", "effect-pix needs Node 22.19 or newer. This is Node 18.20.0.\n"])
  })

  live("the entry logs why a command failed at the level debug, and not otherwise", function* () {
    expect((yield* runProcess(["payouts", "list"])).stderr).not.toContain("level=DEBUG")
    expect((yield* runProcess(["payouts", "list", "--log-level", "debug"])).stderr).toMatch(/level=DEBUG.* cause=/)
  })
})
