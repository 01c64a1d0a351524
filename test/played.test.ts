/**
 * Plays each program of the docs that sends a write, twice and more in one process: its answers are lost, then it is refused. A
 * program that people copy must pay once, and must not be told that nothing moved where money has.
 */
import { assert, describe, test } from "@effect/vitest"
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import { blocks, read, root } from "./support/docBlocks.ts"
import { drivers } from "./support/playing/drivers.ts"
import * as World from "./support/playing/world.ts"

const out = join(root, "test/.played")

/** What sends a write, or asks for one. */
const writes =
  /\brequestWithdrawal\(|\bcreateTransaction\(|\bOrderCharge\.get\(|\bqueue\.submit|\bsubmitMany\(|\bPayouts\.run\(|\.submit\(/

/** What it submits is cancelled, or sealed under a key that no worker here has. */
const sendsNone = /\bqueue\.cancel\(|\bSeal\.aesGcm\(/

type Program = () => Promise<unknown>

/** The modules that a program of the docs gets in the place of those that it imports. */
const played: Readonly<Record<string, string>> = {
  "effect-pix": "client",
  "effect-pix/sandbox": "sandbox",
  "effect-pix/node": "node",
  "effect/http": "http",
  "@effect/platform-node": "platform"
}

/** The program as a function, which takes its gateway and its databases from the world. Loading it takes no time of its clock. */
const load = async (name: string, code: string): Promise<Program> => {
  const imports: Array<string> = []
  const own = code
    .replaceAll(/^import (?:[^;"]*?from )?"([^"]+)"$/gm, (statement, from: string) => {
      const path = played[from] === undefined ? from : `${root}/test/support/playing/${played[from]}.ts`
      imports.push(statement.replace(from, path.replace(/^\.\//, `${root}/docs/examples/`)))
      return ""
    })
    .replaceAll(/^export /gm, "")
    // A program finds the tables of its last run.
    .replaceAll(/CREATE TABLE (?!IF)/g, "CREATE TABLE IF NOT EXISTS ")
    .replaceAll("process.stdout.isTTY", "false")
    // What two hundred payouts show, twenty show in less time.
    .replaceAll(/^const count = 200$/gm, "const count = 20")
  const file = join(out, `${name.replaceAll(/[^\w.-]/g, "_")}.ts`)
  mkdirSync(out, { recursive: true })
  writeFileSync(file, `${imports.join("\n")}\nexport const program = async () => {\n${own}\n}\n`)
  const { program } = await import(file)
  return async () => {
    await program()
    await World.mainsEnd()
    // It may have submitted a payout, and ended before it was sent.
    await World.work()
  }
}

const examples = globSync("docs/examples/*.ts", { cwd: root }).toSorted()

/** A rehearsal plays its program itself, under every fault. */
const programs = [
  ...blocks.filter(({ name }) => !examples.includes(name)).map(({ code, name }) => ({ code, name })),
  ...examples.map((name) => ({ code: read(name), name }))
]
  .filter(({ code, name }) => writes.test(code) && !code.includes("Rehears") && drivers[name] === undefined)
  .map(({ code, name }) => ({ name, make: () => load(name, code), sends: !sendsNone.test(code) }))
  .concat(Object.entries(drivers).map(([name, driver]) => ({ name, make: async () => driver, sends: true })))

const wait = setTimeout
const pause = () => new Promise((resolve) => wait(resolve, 1))
const faked = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance", "hrtime"] as const

/** Runs a program once, for a day at most: its clock moves while it waits. Returns why it failed, if it did. */
const run = async (program: Program): Promise<unknown> => {
  vi.useFakeTimers({ toFake: [...faked] })
  try {
    const state: { isOver: boolean; failure: unknown } = { isOver: false, failure: undefined }
    const end = (failure: unknown) => Object.assign(state, { isOver: true, failure })
    void program().then(() => end(undefined), end)
    const until = Date.now() + 86_400_000
    for (let step = 1; !state.isOver && Date.now() < until; step = Math.min(step * 1.2, 600_000)) {
      await pause()
      vi.advanceTimersByTime(Math.round(step))
    }
    return state.isOver ? state.failure : new Error("it does not end")
  } finally {
    vi.useRealTimers()
  }
}

/** Plays a program in a world of its own, by these steps. */
const play = async (isCareless: boolean, ...steps: ReadonlyArray<() => Promise<unknown>>) => {
  World.begin(isCareless)
  try {
    const failures: Array<unknown> = []
    for (const step of steps) failures.push(await step())
    return { ...(await World.seen()), failures }
  } finally {
    await World.end()
  }
}
type Played = Awaited<ReturnType<typeof play>>

/** A key that the client made: each call without a key has another one, so each run makes another charge. */
const isMade = (key: string | undefined) => /^tx_\d+$/.test(key ?? "")
/** A trial has the sandbox make charges that were paid: each run has others, and pays out for each. */
const isPlayed = (key: string | undefined) => key === undefined
const denied = ({ refusedFalsely, told }: Played) => [...told.filter(({ isFalse }) => isFalse), ...refusedFalsely]
const charged = ({ charges }: Played) => charges.filter((key) => !isMade(key) && !isPlayed(key)).length
/** The charges under a key that the client made whose code the program has: one whose answer was lost is shown to nobody. */
const shown = ({ told }: Played) => told.filter(({ key, outcome }) => outcome === "Executed" && isMade(key)).length

describe("a program of the docs that sends a write", () => {
  rmSync(out, { recursive: true, force: true })

  test("is one of 40 at least", () => assert.isAtLeast(programs.length, 40))

  test.for(programs)("$name pays once, and is not told that nothing moved", async ({ make, sends }) => {
    const program = await make()
    const once = () => run(program)
    const alone = await play(false, once)
    assert.deepStrictEqual([alone.failures, denied(alone)], [[undefined], []])
    if (sends) assert.isAbove(alone.charges.length + alone.payouts.length, 0)
    const operations = new Set(alone.told.map(({ operation }) => operation))
    for (const write of ["createTransaction", "requestWithdrawal"] as const) {
      // Of a client of its own a program tells nothing.
      if (operations.size > 0 && !operations.has(write)) continue
      const steps = [
        () => World.loseAnswers(write).then(once),
        () => World.refuse(write).then(once),
        () => World.calm().then(once)
      ]
      const worlds = alone.charges.some(isPlayed) ? steps.length : 1
      for (const isCareless of [false, true]) {
        const disturbed = await play(isCareless, ...steps)
        assert.isAtMost(disturbed.payouts.length, alone.payouts.length * worlds)
        assert.isAtMost(charged(disturbed), charged(alone))
        assert.isAtMost(shown(disturbed), shown(alone) * steps.length)
        assert.deepStrictEqual(denied(disturbed), [])
        if (!disturbed.saysUnknown) break
      }
    }
  })
})
