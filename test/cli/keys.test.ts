/** The keys of a sandbox that runs in a terminal, and the help of every command. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { accountSteps, letterSteps, payoutSteps } from "../../src/cli/internal/operator/steps.ts"
import { main, hasPty, runHere as run, runLine, runOnTerminal, start } from "../support/command.ts"
import { live } from "../support/effect.ts"

/** A folder with a browser in it that does nothing. */
const browser = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "effect-pix-"))
    for (const name of ["xdg-open", "open"]) writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 })
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

describe("a key that is pressed while the sandbox runs (needs python3)", () => {
  live.skipIf(!hasPty)("the keys open the panel, pay, and quit with 0", function* () {
    const env = { PATH: `${yield* browser}${delimiter}${process.env["PATH"] ?? ""}` }
    const { code, stdout } = yield* runOnTerminal(
      ["sandbox", "--port", "0"],
      [
        ["q quits", "o"],
        ["Opened the panel.", "p"],
        ["No charge awaits its payment.", "q"]
      ],
      env
    )
    expect([code, stdout.trimEnd().endsWith("Stopped.")]).toEqual([0, true])
  })

  live.skipIf(!hasPty)("the key `p` pays the newest charge of a stored state", function* () {
    const file = join(yield* browser, "state.json")
    const sandbox = yield* start(["sandbox", "--port", "0", "--json", "--state", file])
    const { env } = JSON.parse(yield* sandbox.shown("\n"))
    for (const amount of ["10,00", "25,00"]) {
      yield* run(["charge", amount, "--name", "Maria", "--email", "m@example.com"], env)
    }
    sandbox.kill("SIGINT")
    yield* sandbox.ended
    const { stdout } = yield* runOnTerminal(
      ["sandbox", "--port", "0", "--state", file],
      [
        ["q quits", "p"],
        ["Paid R$ 25,00", "p"],
        ["Paid R$ 10,00", "q"]
      ]
    )
    expect(stdout.trimEnd().endsWith("Stopped.")).toBe(true)
  })

  live.skipIf(!hasPty)("ctrl-C ends the sandbox with 0", function* () {
    const { code } = yield* runOnTerminal(["sandbox", "--port", "0"], [["q quits", "\u0003"]])
    expect(code).toBe(0)
  })
})

describe("a terminal that is closed (needs python3)", () => {
  /** Runs a command on a pseudo-terminal, and closes that once the keys are explained. */
  const closing = `
import os, pty, sys
pid, master = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while b"q quits" not in seen: seen += os.read(master, 65536)
os.close(master)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`

  live.skipIf(!hasPty)("a closed terminal ends the sandbox with 0, as ctrl-C does", function* () {
    const line = `python3 -c '${closing}' "${process.execPath}" src/cli/main.ts sandbox --port 0`
    const { code, stderr } = yield* runLine(line)
    expect([code, stderr]).toEqual([0, ""])
  })
})

describe("the entry", () => {
  live("the entry says which Node it needs before it loads code that an older one cannot read", function* () {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })"
    const line = `"${process.execPath}" --import "data:text/javascript,${older}" ${main} sandbox`
    const { code, stderr, stdout } = yield* runLine(line)
    expect([code, stdout, stderr]).toEqual([1, "", "effect-pix needs Node 22.19 or newer. This is Node 18.20.0.\n"])
  })
})

describe("the page of the operator's commands", () => {
  it("names each step with the sentence of its help", () => {
    const page = readFileSync("docs/operator-commands.md", "utf8")
    const steps = Array.from(page.matchAll(/^\| `([\w-]+)` +\| (.+?) +\|$/gm), ([, name, about]) => [name, about])
    expect(steps).toEqual(
      [...payoutSteps, ...accountSteps, ...letterSteps].map(({ description, name }) => [name, description])
    )
  })
})

describe("the help", () => {
  live("the help names each command and each exit code", function* () {
    const { code, stderr, stdout } = yield* run(["--help"])
    expect([code, stderr]).toEqual([0, ""])
    for (const name of ["sandbox", "charge", "transactions", "transaction", "balance", "withdraw", "doctor"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} {2,}`, "m"))
    }
    for (const exit of ["0", "1", "2", "3", "4", "5", "6", "7", "8", "130"]) {
      expect(stdout).toMatch(new RegExp(`^  ${exit} +\\w`, "m"))
    }
  })

  live("a call without a command shows the help, and an unknown command gets a sentence", function* () {
    const [bare, help] = [yield* run([]), yield* run(["--help"])]
    expect([bare.code, bare.stdout]).toEqual([0, help.stdout])
    const typo = yield* run(["sandbax"])
    expect([typo.code, typo.stdout]).toEqual([1, ""])
    expect(typo.stderr).toContain("sandbox")
  })
})
