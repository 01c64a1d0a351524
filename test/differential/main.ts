/**
 * Two states of this repository, side by side: a commit that is frozen, and the working tree. Both are packed and
 * installed in their own folders, and both run the same programs. The differences are printed by class, each with a
 * count and an example. A class that no documented change explains is a defect.
 *
 * ```
 * npm run differential                            all areas against the frozen commit
 * npm run differential -- --base HEAD             against another commit
 * npm run differential -- --only faults,pages     some areas: faults, echoes, pages, payouts, crashes, webhooks
 * npm run differential -- --size small --seeds 20 less of each
 * npm run differential -- --split status          each value of a dimension is a class of its own (status, operation, transport, ...)
 * npm run differential -- --grep "key given"      prints the classes whose name holds this text (or matches it as an expression)
 * npm run differential -- --json differences.json all classes as JSON too
 * npm run differential -- --self                  the base against itself: zero, or the programs are not deterministic
 * ```
 *
 * It exits with 0 if nothing differs, with 1 if something does, and with 2 if it could not be done. The programs import
 * the library by its public imports alone, all of them in `doors.ts`: where a name changes, that is the file to edit.
 * The programs have their own gateways. No program waits for a random time.
 *
 * What is compared: tag, outcome, attempts, requests, the bytes at the gateway, and what is shown (message, the service's
 * words, other fields, logs, spans); of lists the rows delivered, lost and doubled; of payouts and webhooks what was paid
 * and handed out, and the states at the end. The areas `crashes` and the SQL half of `webhooks` copy the files of the
 * SQLite database before a statement, at a request or in a handler, as a kill would leave them, and start anew on the
 * copy.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { install, packCommit, packWorkingTree } from "./builds.ts"
import { classLines, compare, type DifferenceClass } from "./compare.ts"
import type { Observation } from "./observation.ts"

/** The commit that the working tree is compared with. */
const frozen = "95a088413b19fc9804b7ec649768940db036c808"

/** As areas.ts has them, which only loads where the library is installed. */
const areaNames = ["faults", "echoes", "pages", "payouts", "crashes", "webhooks"]

/** A time limit against a hang, for one area of one state. */
const longest = 10 * 60_000

const { values: flags } = parseArgs({
  options: {
    base: { type: "string", default: frozen },
    only: { type: "string", default: areaNames.join(",") },
    size: { type: "string", default: "full" },
    seeds: { type: "string", default: "60" },
    split: { type: "string", default: "" },
    grep: { type: "string", default: "" },
    json: { type: "string", default: "" },
    most: { type: "string", default: "400" },
    self: { type: "boolean", default: false },
    keep: { type: "boolean", default: false }
  }
})

const runArea = (folder: string, area: string) =>
  new Promise<ReadonlyArray<Observation>>((done, failed) => {
    const file = join(folder, `${area}.jsonl`)
    const args = ["--no-warnings", "child.ts", area, flags.size, flags.seeds, file]
    const env = { ...process.env, TZ: "America/Sao_Paulo", NODE_OPTIONS: "" }
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "inherit", "inherit"] })
    const guard = setTimeout(() => child.kill("SIGKILL"), longest)
    child.once("close", (code) => {
      clearTimeout(guard)
      if (code !== 0) return failed(new Error(`${area} of ${folder} ended with ${code}`))
      const lines = readFileSync(file, "utf8").split("\n")
      // The observations have the type that child.ts writes.
      done(lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Observation))
    })
  })

const temporary = mkdtempSync(join(tmpdir(), "effect-pix-differential-"))
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(0)} s`
try {
  const began = performance.now()
  const [base, head] = [join(temporary, "base"), join(temporary, "head")]
  const frozenTarball = packCommit(flags.base, temporary)
  install(frozenTarball, base)
  install(flags.self ? frozenTarball : packWorkingTree(temporary), head)
  console.log(
    `packed and installed in ${seconds(began)}: base ${flags.base.slice(0, 12)}, head ${flags.self ? "the same" : "the working tree"}`
  )

  const both = (area: string) => Promise.all([runArea(base, area), runArea(head, area)])
  const wanted = flags.only.split(",")
  // The area of kills mostly waits for leases, so the other areas run meanwhile.
  const kills = wanted.includes("crashes") ? both("crashes") : undefined
  kills?.catch(() => {})
  const all: Array<DifferenceClass> = []
  for (const area of wanted) {
    const start = performance.now()
    const [before, after] = await (area === "crashes" && kills !== undefined ? kills : both(area))
    const classes = compare(area, before, after, flags.split === "" ? [] : flags.split.split(","))
    all.push(...classes)
    const cases = classes.reduce((sum, { count }) => sum + count, 0)
    const found = classes.length === 0 ? "no differences" : `${cases} differences in ${classes.length} classes`
    console.log(`\n== ${area}: ${after.length} cases, ${found} (${seconds(start)})`)
    const printed = classes.filter(
      ({ name }) => flags.grep === "" || name.includes(flags.grep) || new RegExp(flags.grep).test(name)
    )
    for (const one of printed.slice(0, Number(flags.most))) console.log(classLines(one))
    if (printed.length > Number(flags.most))
      console.log(`        ... and ${printed.length - Number(flags.most)} more classes (--most)`)
  }
  if (flags.json !== "") writeFileSync(flags.json, JSON.stringify({ base: flags.base, classes: all }, undefined, 2))
  console.log(`\n${all.length === 0 ? "no differences" : `${all.length} classes of differences`}, in ${seconds(began)}`)
  process.exitCode = all.length === 0 ? 0 : 1
} catch (error) {
  console.error(error)
  process.exitCode = 2
} finally {
  if (flags.keep) console.log(`kept: ${temporary}`)
  else rmSync(temporary, { recursive: true, force: true })
}
