/** Runs one program against the library that is installed beside it: `node child.ts <area> <size> <seeds> <file>`. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { areas } from "./areas.ts"

const [area = "", size = "full", seeds = "0", file = ""] = process.argv.slice(2)
const run = areas[area]
if (run === undefined) throw new Error(`no area ${area}`)
const observations = await Effect.runPromise(run({ full: size === "full", seeds: Number(seeds) }))
writeFileSync(file, observations.map((one) => JSON.stringify(one)).join("\n"))
// An area that interrupts programs may leave work running, so the process is ended here.
process.exit(0)
