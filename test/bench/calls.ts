/**
 * Measures the cost of a call: CPU, time and allocated bytes, for each operation, one at a time and 64 in flight.
 *
 * Each client has its own process, and only one process works at a time. In each round every client is measured once.
 * The figures of a round are divided by those of raw undici in the same round (the mean of two processes), so that a
 * slow machine changes no ratio.
 */
import type { ChildProcess } from "node:child_process"
import { Array, Effect } from "effect"
import { type Certificate, makeCertificate } from "./certificate.ts"
import { type ContenderName, contenders, names } from "./contenders.ts"
import type { Call } from "./payloads.ts"
import { message, start, startServer } from "./processes.ts"
import { type Figure, figure } from "./statistics.ts"
import type { Job, Sample } from "./worker.ts"

export interface Rounds {
  readonly rounds: number
  readonly milliseconds: number
  readonly warmUp: number
}

export interface Row {
  readonly client: ContenderName
  readonly title: string
  /** CPU for a call, against undici. */
  readonly cpu: Figure
  /** Calls a second, against undici. */
  readonly calls: Figure
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Bytes of the heap that a call allocates. */
  readonly bytes: number
}

export interface Table {
  readonly call: Call
  readonly inFlight: number
  /** The CPU time of the ratio 1.00, in microseconds. */
  readonly unit: number
  readonly rows: ReadonlyArray<Row>
}

const flags = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"]

const scenarios = (["create", "lookup", "list", "withdraw"] as const).flatMap((call) =>
  [64, 1].map((inFlight) => ({ call, inFlight }))
)

type Worker = { readonly child: ChildProcess; readonly name: ContenderName }

const sendJob = <A>(child: ChildProcess, job: Job) => message<A>(child, job)

const measure = Effect.fnUntraced(function* (
  workers: ReadonlyArray<Worker>,
  scenario: { readonly call: Call; readonly inFlight: number },
  { milliseconds, rounds, warmUp }: Rounds
) {
  for (const { child } of workers) {
    yield* sendJob<Sample>(child, { kind: "time", ...scenario, milliseconds: warmUp })
  }
  const samples = yield* Effect.forEach(Array.range(1, rounds), (round) =>
    Effect.gen(function* () {
      const taken = new Map<ContenderName, Sample>()
      for (const { child, name } of Array.rotate(workers, round)) {
        taken.set(name, yield* sendJob<Sample>(child, { kind: "time", ...scenario, milliseconds }))
      }
      return taken
    })
  )
  const bytes = new Map<ContenderName, number>()
  for (const { child, name } of workers) {
    const calls = scenario.call === "list" ? 100 : 400
    bytes.set(name, yield* sendJob<number>(child, { kind: "bytes", ...scenario, calls }))
  }
  const of = (round: ReadonlyMap<ContenderName, Sample>, name: ContenderName, column: keyof Sample) =>
    round.get(name)?.[column] ?? Number.NaN
  const base = (round: ReadonlyMap<ContenderName, Sample>, column: keyof Sample) =>
    (of(round, "undici", column) + of(round, "undiciAgain", column)) / 2
  const rows = workers.map(({ name }): Row => ({
    client: name,
    title: contenders[name].title,
    cpu: figure(samples.map((round) => of(round, name, "cpu") / base(round, "cpu"))),
    calls: figure(samples.map((round) => base(round, "time") / of(round, name, "time"))),
    p50: figure(samples.map((round) => of(round, name, "p50"))).median,
    p99: figure(samples.map((round) => of(round, name, "p99"))).median,
    bytes: bytes.get(name) ?? Number.NaN
  }))
  const unit = figure(samples.map((round) => base(round, "cpu"))).median
  return { ...scenario, unit, rows } satisfies Table
})

/** Starts a server, and a process for each of these clients, which trusts its certificate. */
const prepare = Effect.fnUntraced(function* (chosen: ReadonlyArray<ContenderName>, certificate?: Certificate) {
  const { origin } = yield* startServer(certificate)
  const env = certificate ? { NODE_EXTRA_CA_CERTS: certificate.cert } : {}
  return yield* Effect.forEach(chosen, (name) =>
    Effect.map(start("worker.ts", [name, origin], flags, env), ({ child }): Worker => ({ child, name }))
  )
})

/** All scenarios, for the clients named. */
export const calls = (rounds: Rounds, chosen: ReadonlyArray<ContenderName> = names) =>
  Effect.gen(function* () {
    const workers = yield* prepare(chosen)
    return yield* Effect.forEach(scenarios, (scenario) => measure(workers, scenario, rounds))
  }).pipe(Effect.scoped)

/** A charge over TLS, on connections that stay open. */
export const callsOverTls = (rounds: Rounds) =>
  Effect.gen(function* () {
    const chosen = ["undici", "undiciAgain", "dispatch", "oursNode", "oursFetch", "fetch", "fetchSignal"] as const
    const workers = yield* prepare(chosen, yield* makeCertificate)
    return yield* Effect.forEach([64, 1], (inFlight) => measure(workers, { call: "create", inFlight }, rounds))
  }).pipe(Effect.scoped)
