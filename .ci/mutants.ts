/**
 * Mutants: StrykerJS makes small mistakes in the sources, one at a time, and runs the tests that reach each of them. What
 * no test notices is given to the compiler, and what that accepts too is printed: no test proves that code.
 *
 * ```
 * npm run mutants                                           of the lines that differ from `main`, at most 60
 * npm run mutants -- src/payouts/Payouts.ts src/webhook     all mutants of a file and of a folder
 * npm run mutants -- src/payouts --sample 40              40 of each path, others each time; the seed is printed
 * npm run mutants -- src/payouts --sample 40 --seed 7       the same 40 for the same seed and code
 * npm run mutants -- src/payouts --minutes 30               at most so long for each path (60 where nothing is said)
 * npm run mutants -- --rooms                                12 of each folder of src: fails if a score falls below the range of test/mutants.md
 * npm run mutants -- --rooms --write                        writes these scores
 * ```
 *
 * A sample says within which range the score of all mutants lies, and that only for code that no test was written for by its survivors:
 * so each run draws another seed.
 *
 * The first use installs StrykerJS under node_modules/.cache: it has more packages than all else here. The compiler is
 * asked without its rule about unused names, since nearly each statement that is left out breaks that.
 */
import { spawn, spawnSync } from "node:child_process"
import { hash } from "node:crypto"
import { once } from "node:events"
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join, relative, resolve } from "node:path/posix"
import { parseArgs } from "node:util"
import { noPostgres, startPostgres } from "../test/support/postgres.ts"

interface Place {
  readonly line: number
  readonly column: number
}

interface Mutant {
  readonly id: string
  readonly location: { readonly start: Place; readonly end: Place }
  readonly mutatorName: string
  readonly replacement: string
}

interface Listed extends Mutant {
  readonly file: string
}

interface Tested extends Mutant {
  readonly status: string
  readonly statusReason?: string
}

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: ReadonlyArray<Tested> }>>
}

/** What a command that was started exits with; `null` if it took too long. */
const run = async (command: string, args: ReadonlyArray<string>, minutes = 10, more = {}): Promise<unknown> => {
  const env = { ...process.env, ...more }
  const child = spawn(command, args, { stdio: ["ignore", 2, 2], timeout: minutes * 60_000, env })
  const [status] = await once(child, "exit")
  return status
}

/** What is drawn: so many mutants of each path, by a seed. */
interface Draw {
  /** The folder of the sources, since StrykerJS works on a copy that has all mutants in it. */
  readonly root: string
  readonly count: number
  readonly seed: string
  readonly paths: ReadonlyArray<string>
}

const isIn = (path: string, file: string) => file === path || file.startsWith(`${path}/`)

/** A mutant's rank: by its line of code and not by that line's number, so that another line of the file draws no other. */
const rankOf = ({ root, seed }: Draw, { file, location, mutatorName, replacement }: Listed) => {
  const line = readFileSync(join(root, file), "utf8").split("\n")[location.start.line]
  return hash("sha1", JSON.stringify([seed, file, line, location.start.column, mutatorName, replacement]))
}

/** Draws the sample. StrykerJS gives all mutants at once to a checker, and tests those that it lets through. */
const sample = () => {
  const wanted: Draw = JSON.parse(process.env["EFFECT_PIX_MUTANTS_DRAW"] ?? "")
  const drawn = new Set<string>()
  const draw = (mutants: ReadonlyArray<Listed>) => {
    const ranked = mutants.map((mutant) => ({ id: mutant.id, rank: rankOf(wanted, mutant) }))
    for (const { id } of ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, wanted.count)) drawn.add(id)
  }
  return {
    init: () => Promise.resolve(),
    group: (mutants: ReadonlyArray<Mutant & { readonly fileName: string }>) => {
      const listed = mutants.map((mutant) => ({ ...mutant, file: relative(process.cwd(), mutant.fileName) }))
      for (const path of wanted.paths) draw(listed.filter(({ file }) => isIn(path, file)))
      return Promise.resolve([mutants.map(({ id }) => id)])
    },
    check: (mutants: ReadonlyArray<Mutant>) => {
      const verdict = (id: string) =>
        drawn.has(id) ? { status: "passed" } : { status: "compileError", reason: "not drawn" }
      return Promise.resolve(Object.fromEntries(mutants.map(({ id }) => [id, verdict(id)])))
    }
  }
}

export const strykerPlugins = [{ kind: "Checker", name: "sample", factory: sample }]

const version = "10.1.1"
const cache = `node_modules/.cache/effect-pix/stryker-${version}`
const stryker = join(cache, "node_modules/@stryker-mutator/core/bin/stryker.js")
const folder = "coverage/mutants"

const install = async () => {
  if (existsSync(stryker)) return
  const packages = ["core", "vitest-runner"].map((name) => `@stryker-mutator/${name}@${version}`)
  const quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
  // Its peer is vitest, which is here already.
  if ((await run("npm", ["install", "--prefix", cache, "--legacy-peer-deps", ...quiet, ...packages])) !== 0)
    throw new Error(`StrykerJS ${version} could not be installed`)
}

const test = async (files: ReadonlyArray<string>, draw: Draw | undefined, minutes: number): Promise<Report> => {
  const config = {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner", ...(draw === undefined ? [] : [import.meta.filename])],
    checkers: draw === undefined ? [] : ["sample"],
    // Forks: tests name their databases by the process.
    vitest: { configFile: ".ci/mutants.config.ts", related: false, pool: "forks" },
    mutate: files,
    // What runs once, when a module is loaded, would need all tests for each mutant.
    ignoreStatic: true,
    concurrency: 2,
    // What a busy machine does slowly is no hang.
    timeoutMS: 60_000,
    timeoutFactor: 4,
    dryRunTimeoutMinutes: minutes,
    // StrykerJS reads it with an API that TypeScript 7 does not have.
    tsconfigFile: "none.json",
    disableTypeChecks: false,
    ignorePatterns: ["coverage", "dist", "test/.command", "test/.docs"],
    tempDirName: join(folder, "tree"),
    cleanTempDir: "always",
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: join(folder, "report.json") }
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "stryker.json"), JSON.stringify(config))
  const server = noPostgres() === undefined ? await startPostgres() : undefined
  const status = await run(process.execPath, [stryker, "run", join(folder, "stryker.json")], minutes, {
    // A test process keeps for each test which mutants it reaches.
    NODE_OPTIONS: "--max-old-space-size=8000",
    EFFECT_PIX_MUTANTS_FOLDERS: [...new Set(files.map((file) => file.split("/")[1] ?? ""))].join(","),
    ...(server !== undefined && { EFFECT_PIX_MUTANTS_POSTGRES: server.url }),
    ...(draw !== undefined && { EFFECT_PIX_MUTANTS_DRAW: JSON.stringify(draw) })
  })
  await server?.stop()
  if (status !== 0) throw new Error(status === null ? `not done after ${minutes} minutes` : "StrykerJS failed")
  return JSON.parse(readFileSync(join(folder, "report.json"), "utf8"))
}

/** Compiles the library once for each mutant, in a copy, and gives those that compile. */
const compiling = (report: Report): ReadonlySet<Tested> => {
  const copy = join(folder, "types")
  mkdirSync(copy, { recursive: true })
  cpSync("src", join(copy, "src"), { recursive: true })
  cpSync("tsconfig.json", join(copy, "tsconfig.json"))
  const info = ["--noEmit", "--incremental", "--tsBuildInfoFile", join(copy, "info.json")]
  const unused = ["--noUnusedLocals", "false", "--noUnusedParameters", "false"]
  const compiles = () => spawnSync("tsc", ["-p", join(copy, "src"), ...info, ...unused]).status === 0
  if (!compiles()) throw new Error("the library does not compile")
  return new Set(
    Object.entries(report.files).flatMap(([file, { mutants, source }]) => {
      const lines = source.split("\n")
      const offset = ({ column, line }: Place) =>
        lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column - 1
      const accepted = mutants.filter(isAlive).filter(({ location: { end, start }, replacement }) => {
        writeFileSync(join(copy, file), source.slice(0, offset(start)) + replacement + source.slice(offset(end)))
        return compiles()
      })
      writeFileSync(join(copy, file), source)
      return accepted
    })
  )
}

const isStatic = ({ status }: Tested) => status === "Ignored"
const isAlive = ({ status }: Tested) => status === "Survived" || status === "NoCoverage"
const isHang = ({ status, statusReason }: Tested) => status === "Timeout" || /timed out in/.test(statusReason ?? "")
const isKilled = ({ status }: Tested) => ["Killed", "RuntimeError", "Timeout"].includes(status)

interface Score {
  readonly name: string
  readonly tests: number
  readonly hangs: number
  readonly compiler: number
  readonly survived: number
}

const scoresOf = (report: Report, paths: ReadonlyArray<string>, survivors: ReadonlySet<Tested>) => {
  const files = Object.entries(report.files).map(([file, { mutants }]): Score => {
    const killed = mutants.filter(isKilled)
    const hangs = killed.filter(isHang).length
    const alive = mutants.filter(isAlive)
    const survived = alive.filter((mutant) => survivors.has(mutant)).length
    return { name: file, tests: killed.length - hangs, hangs, compiler: alive.length - survived, survived }
  })
  const sum = (name: string, rows: ReadonlyArray<Score>): Score => {
    const of = (column: "tests" | "hangs" | "compiler" | "survived") => rows.reduce((all, row) => all + row[column], 0)
    return { name, tests: of("tests"), hangs: of("hangs"), compiler: of("compiler"), survived: of("survived") }
  }
  const sums = paths.map((path) =>
    sum(
      path,
      files.filter(({ name }) => isIn(path, name))
    )
  )
  return { files, sums: [...sums, sum("all", files)] }
}

const head =
  "| sources | mutants | killed by tests | by a hang | by the compiler alone | survived | tests | and compiler |"

/** The percentages between which the share of all mutants lies, 19 times of 20, where so many of a sample are killed (Wilson). */
const rangeOf = (killed: number, count: number): readonly [low: number, high: number] => {
  const z = 1.96
  const share = killed / count
  const middle = share + z ** 2 / (2 * count)
  const half = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2))
  const percent = (part: number) => Math.round((100 * part) / (1 + z ** 2 / count))
  return [percent(middle - half), percent(middle + half)]
}

const tableOf = (scores: ReadonlyArray<Score>) =>
  [
    head,
    `| --- |${" --: |".repeat(7)}`,
    ...scores.flatMap(({ compiler, hangs, name, survived, tests }) => {
      const count = tests + hangs + compiler + survived
      const range = (part: number) => `${rangeOf(part, count).join("-")} %`
      const shares = [range(tests + hangs), range(tests + hangs + compiler)]
      const label = name.includes("/") ? `\`${name}\`` : name
      return count === 0 ? [] : [`| ${[label, count, tests, hangs, compiler, survived, ...shares].join(" | ")} |`]
    })
  ].join("\n")

const printAlive = (report: Report, survivors: ReadonlySet<Tested>) => {
  const every = Object.values(report.files).flatMap(({ mutants }) => mutants)
  const loaded = every.filter(isStatic).length
  console.log(
    `\nThe files have ${every.length} mutants. ${loaded} of them are of code that runs once, at load: not tested.`
  )
  for (const [file, { mutants, source }] of Object.entries(report.files))
    for (const mutant of mutants.filter(isAlive)) {
      const { location, mutatorName, replacement, status } = mutant
      const { line, column } = location.start
      const code = source.split("\n").slice(line - 1, location.end.line)
      const verdict = survivors.has(mutant) ? "survived" : "compiler alone"
      console.log(
        `\n${verdict}${status === "NoCoverage" ? ", no test reaches it" : ""}: ${file}:${line}:${column} ${mutatorName}`
      )
      console.log(`- ${short(code.map((text) => text.trim()).join(" "))}\n+ ${short(replacement)}`)
    }
}

const short = (text: string) => {
  const line = text.replaceAll(/\s+/g, " ")
  return line.length > 140 ? `${line.slice(0, 140)}...` : line
}

/** The lines of the sources that differ from `main`, as StrykerJS names them. */
const changed = () => {
  const git = (...args: ReadonlyArray<string>) => spawnSync("git", args, { encoding: "utf8" }).stdout
  const base = git("merge-base", "HEAD", "origin/main").trim() || git("merge-base", "HEAD", "main").trim()
  let file = ""
  const ranges = git("diff", "--unified=0", base, "--", "src/**/*.ts")
    .split("\n")
    .flatMap((line) => {
      file = /^\+\+\+ b\/(.*)/.exec(line)?.[1] ?? file
      const [, first, count = "1"] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
      return first === undefined || count === "0" ? [] : [`${file}:${first}-${Number(first) + Number(count) - 1}`]
    })
  const untracked = git("ls-files", "--others", "--exclude-standard", "src/**/*.ts").split("\n")
  return [...ranges, ...untracked.filter((name) => name !== "")]
}

const page = "test/mutants.md"
const rooms = () => globSync("src/*/").toSorted()

/** The range of what tests and the compiler kill, of each row of a table. */
const rangesOf = (text: string) =>
  new Map(
    Array.from(text.matchAll(/^\| (\S+) .*\| +(\d+)-(\d+) % \|$/gm), ([, name, low, high]) => [
      name,
      { low: Number(low), high: Number(high) }
    ])
  )

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: "string" },
      rooms: { type: "boolean", default: false },
      sample: { type: "string" },
      seed: { type: "string", default: String(Date.now()) },
      write: { type: "boolean", default: false }
    }
  })
  const isChange = positionals.length === 0 && !values.rooms
  const named = (values.rooms ? rooms() : isChange ? changed() : positionals).map((path) => path.replace(/\/$/, ""))
  if (named.length === 0) throw new Error("No source differs from main. Name files or folders, or --rooms.")
  const paths = isChange ? ["src"] : named
  const count = values.sample ?? (values.rooms ? "12" : isChange ? "60" : undefined)
  if (Number.isNaN(Number(count ?? 1))) throw new Error("--sample is how many mutants are drawn of each path")
  if (count !== undefined) console.log(`Drawn by --seed ${values.seed}`)
  await install()
  const minutes = Number(values.minutes ?? 60)
  const testPaths = (files: ReadonlyArray<string>, paths: ReadonlyArray<string>) =>
    test(
      files,
      count === undefined ? undefined : { count: Number(count), root: resolve(), seed: values.seed, paths },
      minutes
    )
  const found: Record<string, Report["files"][string]> = {}
  if (isChange) Object.assign(found, (await testPaths(named, paths)).files)
  // One path at a time: a test process stores which mutants each test reaches.
  else
    for (const path of paths) {
      const files = statSync(path).isDirectory() ? globSync(`${path}/**/*.ts`).toSorted() : [path]
      Object.assign(found, (await testPaths(files, [path])).files)
    }
  const report: Report = { files: found }
  const survivors = compiling(report)
  const scores = scoresOf(report, paths, survivors)
  console.log(tableOf(values.rooms ? scores.sums : [...scores.files, ...scores.sums]))
  printAlive(report, survivors)
  if (values.rooms) {
    const text = readFileSync(page, "utf8")
    const now = tableOf(scores.sums)
    const after = rangesOf(now)
    const fell = [...rangesOf(text)].filter(([name, { low }]) => (after.get(name)?.high ?? 100) < low)
    if (values.write) writeFileSync(page, text.replace(/^\| sources [^]*?(?=\n\n)/m, now))
    else if (fell.length > 0) {
      console.log(`\nThese scores fell below the ranges of ${page}: ${fell.map(([name]) => name).join(", ")}`)
      process.exitCode = 1
    }
  }
}
