/** `effect-pix sandbox`, killed with kill -9. */
import { describe, expect } from "@effect/vitest"

import { join } from "node:path"
import { run, start } from "../support/command.ts"
import { folder } from "../support/operated.ts"
import { live } from "../support/effect.ts"

describe("the sandbox's command with a state file", () => {
  live("the sandbox's command refuses a file that is in use, and starts on it after a kill", function* () {
    const args = ["sandbox", "--port", "0", "--state", join(yield* folder, "state.json")]
    const first = yield* start(args)
    yield* first.shown("PAYMENTS_COMPANY_ID")
    const { code, stderr } = yield* run(args)
    expect([code, stderr.trim().split("\n").length]).toEqual([1, 1])
    expect(stderr).toContain(`process ${first.pid}`)
    first.kill("SIGKILL")
    yield* first.ended
    const second = yield* start(args)
    expect(yield* second.shown("PAYMENTS_COMPANY_ID")).toContain("stored in")
  })
})
