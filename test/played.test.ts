/**
 * Plays each program of the docs that sends a write twice in one process: first its answers are lost, then it is refused. A program
 * that people copy must pay once, and must not be told that nothing moved where money has.
 */
import { assert, describe, test } from "@effect/vitest"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import { blocks, root } from "./support/docBlocks.ts"
import * as World from "./support/playing/world.ts"

const out = join(root, "test/.played")

/** What sends a write, or asks for one. */
const writes =
  /\brequestWithdrawal\(|\bcreateTransaction\(|\bOrderCharge\.get\(|\bqueue\.submit|\bsubmitMany\(|\bPayouts\.run\(|\.submit\(/

/** A rehearsal plays its program itself, under every fault. */
const programs = blocks
  .filter(({ code }) => writes.test(code) && !code.includes("Rehears"))
  .map(({ code, name }) => ({ code, name }))

type Program = () => Promise<void>

/** The program as a function, which takes its gateway and its databases from the world. Loading it takes no time of its clock. */
const load = async (name: string, code: string): Promise<Program> => {
  const imports: Array<string> = []
  const own = code.replaceAll(/^import (?:[^;"]*?from )?"[^"]+"$/gm, (statement) => {
    imports.push(statement.replace(/"effect-pix\/(sandbox|node)"/, `"${root}/test/support/playing/$1.ts"`))
    return ""
  })
  const file = join(out, `${name.replaceAll(/[^\w.-]/g, "_")}.ts`)
  mkdirSync(out, { recursive: true })
  writeFileSync(
    file,
    `${imports.join("\n")}\nexport const program = async () => {\n${own.replaceAll(/^export /gm, "")}\n}\n`
  )
  return (await import(file)).program
}

const wait = setTimeout
const pause = () => new Promise((resolve) => wait(resolve, 1))
const faked = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance", "hrtime"] as const

/** Runs a program once, for a day at most: its clock moves while it waits. It may fail: that is told by the calls. */
const run = async (program: Program): Promise<void> => {
  vi.useFakeTimers({ toFake: [...faked] })
  try {
    const state = { isOver: false }
    const end = () => (state.isOver = true)
    void program().then(end, end)
    const until = Date.now() + 86_400_000
    for (let step = 1; !state.isOver && Date.now() < until; step = Math.min(step * 1.2, 600_000)) {
      await pause()
      vi.advanceTimersByTime(Math.round(step))
    }
  } finally {
    vi.useRealTimers()
  }
}

/** Plays a program, and returns what was executed and what is wrong. */
const play = async (program: Program, disturb: boolean) => {
  await World.begin()
  try {
    if (disturb) await World.loseAnswers(3)
    await run(program)
    if (disturb) {
      await World.refuse()
      await run(program)
      await run(program)
    }
    const { executed, paid, told } = await World.seen()
    const successes = new Set(told.filter(({ outcome }) => outcome === "Executed").map(({ key }) => key))
    const isFalse = ({ key, outcome, tag }: World.Told) =>
      (outcome === "Rejected" || outcome === "NotSent") &&
      tag !== "InvalidRequest" &&
      tag !== "BelowMinimum" &&
      executed.includes(key) &&
      !successes.has(key)
    return { paid, denied: told.filter(isFalse) }
  } finally {
    await World.end()
  }
}

describe("a program of the docs that sends a write", () => {
  rmSync(out, { recursive: true, force: true })

  test("is one of 40 at least", () => assert.isAtLeast(programs.length, 40))

  test.for(programs)("$name pays once, and is not told that nothing moved", async ({ code, name }) => {
    const program = await load(name, code)
    const { paid } = await play(program, false)
    const careless = code.replaceAll('earlier: "Unknown"', 'earlier: "None"').replaceAll(': "Unknown"\n', ': "None"\n')
    const played = careless === code ? [program] : [program, await load(`${name}-none`, careless)]
    for (const one of played) {
      const disturbed = await play(one, true)
      assert.isAtMost(disturbed.paid, paid)
      assert.deepStrictEqual(disturbed.denied, [])
    }
  })
})
