/**
 * Takes snapshots of a SQLite database as a kill would leave it: its files before a statement or at another moment. The
 * memory of the process is lost, and its written files stay, committed or not.
 */
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { DatabaseSync, StatementSync } from "node:sqlite"

let beforeStatement: (() => void) | undefined

const hook = (prototype: object, names: ReadonlyArray<string>) => {
  for (const name of names) {
    const original: unknown = Reflect.get(prototype, name)
    if (typeof original !== "function") continue
    Reflect.set(prototype, name, function (this: unknown, ...args: ReadonlyArray<unknown>): unknown {
      beforeStatement?.()
      return Reflect.apply(original, this, args)
    })
  }
}
hook(StatementSync.prototype, ["run", "all", "get", "iterate"])
hook(DatabaseSync.prototype, ["exec"])

const suffixes = ["", "-wal"]

export interface Snapshot<A> {
  /** The part of the program in which the snapshot was taken. */
  readonly phase: string
  /** The state of the gateway at that time. */
  readonly world: A
  /** Writes the snapshot as a new database. */
  readonly restore: (file: string) => void
}

/** How many different states of a phase are kept. */
const most = 16

/** Takes snapshots of one database before each of its statements, until it is stopped. One program at a time. */
export const recorder = <A>(file: string, now: () => { readonly phase: string; readonly world: A }) => {
  const taken: Array<Snapshot<A>> = []
  const counts = new Map<string, number>()
  const seen = new Set<string>()
  const take = () => {
    const { phase, world } = now()
    const parts = suffixes.map((suffix) => (existsSync(file + suffix) ? readFileSync(file + suffix) : undefined))
    const hash = createHash("sha256").update(phase)
    for (const part of parts) hash.update(part ?? "absent")
    const digest = hash.digest("hex")
    const count = counts.get(phase) ?? 0
    if (seen.has(digest) || count >= most) return
    seen.add(digest)
    counts.set(phase, count + 1)
    taken.push({
      phase,
      world,
      restore: (to) => {
        for (const [at, part] of parts.entries()) if (part !== undefined) writeFileSync(to + (suffixes[at] ?? ""), part)
      }
    })
  }
  beforeStatement = take
  return {
    take,
    stop: () => {
      beforeStatement = undefined
      return taken
    }
  }
}
