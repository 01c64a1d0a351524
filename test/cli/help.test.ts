/** What the command says of itself. */
import { describe, expect } from "@effect/vitest"
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
