/**
 * The processes that a scenario starts, kills, stops and continues, and the checks of the result.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"

const script = (name: string) => join(import.meta.dirname, name)

/** The executed payouts: one key for each time that money moved. */
export interface Ledger {
  readonly requests: number
  readonly keys: ReadonlyArray<string>
}

/** A payout in the table. */
export interface Payout {
  readonly key: string
  readonly state: string
}

export const startGateway = async () => {
  const child = spawn(process.execPath, ["--no-warnings", script("gateway.ts")], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => {
    const line = await lines.next()
    if (line.done === true) throw new Error("the gateway is gone")
    return JSON.parse(line.value)
  }
  // The values have the types that gateway.ts prints.
  const place = (await next()) as { readonly baseUrl: string; readonly clientId: string; readonly apiKey: string }
  const sendCommand = async (command: string): Promise<Ledger> => {
    child.stdin.write(`${command}\n`)
    return (await next()) as Ledger
  }
  return {
    env: { GATEWAY: place.baseUrl, CLIENT_ID: place.clientId, API_KEY: place.apiKey },
    sendCommand,
    stop: () => child.kill("SIGKILL")
  }
}

export interface Worker {
  readonly child: ChildProcess
  /** Resolves when the worker has printed this word; rejects if it ends before. */
  readonly said: (word: string) => Promise<void>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<void>
}

export const startWorker = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>): Worker => {
  const child = spawn(process.execPath, ["--no-warnings", script("worker.ts"), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const words = new Set<string>()
  const waiting = new Set<() => void>()
  let errors = ""
  let isOver = false
  const wake = () => {
    for (const look of waiting) look()
  }
  createInterface({ input: child.stdout }).on("line", (line) => {
    words.add(line.trim())
    wake()
  })
  child.stderr.on("data", (chunk) => {
    errors += String(chunk)
  })
  const ended = new Promise<void>((done) => {
    child.once("close", () => {
      isOver = true
      wake()
      done()
    })
  })
  const said = (word: string) =>
    new Promise<void>((done, failed) => {
      const look = () => {
        if (words.has(word)) done()
        else if (isOver) failed(new Error(`the worker ended before it said "${word}": ${errors}`))
        else return
        waiting.delete(look)
      }
      waiting.add(look)
      look()
    })
  return { child, said, ended, kill: (signal) => void child.kill(signal) }
}

export const pause = (millis: number) => new Promise<void>((done) => setTimeout(done, millis))

/** Repeats a check until it is true, for at most four minutes. Returns the time that it took. */
export const until = async (holds: () => Promise<boolean>, what: string): Promise<number> => {
  const began = performance.now()
  while (!(await holds())) {
    if (performance.now() - began > 240_000) throw new Error(`after four minutes still not: ${what}`)
    await pause(50)
  }
  return performance.now() - began
}

/** Checks the rules that must hold after any kill, and returns the violations in words. */
export const violations = (count: number, payouts: ReadonlyArray<Payout>, ledger: Ledger): ReadonlyArray<string> => {
  const paid = new Set(ledger.keys)
  const found: Array<string> = []
  if (paid.size !== ledger.keys.length) found.push(`${ledger.keys.length - paid.size} payout(s) were paid twice`)
  if (payouts.length !== count) found.push(`${payouts.length} of ${count} payouts are known`)
  for (const { key, state } of payouts) {
    if (state !== "posted" && state !== "refused") found.push(`${key} is ${state}`)
    if (state === "refused" && paid.has(key)) found.push(`${key} is refused, and was executed`)
    if (state === "posted" && !paid.has(key)) found.push(`${key} is posted, and was not executed`)
  }
  return found
}
