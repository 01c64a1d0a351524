/**
 * `npm run bench`: what a call costs beside raw undici, stripe-node and bare fetch, on one loopback server in another
 * process. Prints ratios only: an absolute figure says more about the machine than about the client.
 *
 * Each client has a process of its own and only one of them works at a time. They take turns, round after round, and a
 * round's figures are divided by raw undici's of the same round, so that a machine that slows down slows all of them
 * down; the table shows the median of the rounds and, in brackets, the quartiles.
 */
import { type ChildProcess, fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { NodeRuntime } from "@effect/platform-node"
import { Array, Console, Effect, Order } from "effect"
import effectPackage from "effect/package.json" with { type: "json" }
import undiciPackage from "undici/package.json" with { type: "json" }
import { Stripe } from "stripe"
import { type ContenderName, contenders } from "./clients.ts"
import type { Job, Sample } from "./worker.ts"

const rounds = 11
const milliseconds = 70
const warmUp = 400

const scenarios: ReadonlyArray<{ readonly title: string } & Pick<Job, "call" | "inFlight">> = [
  { title: "create, 64 in flight", call: "create", inFlight: 64 },
  { title: "create, 1 in flight", call: "create", inFlight: 1 },
  { title: "list of 100 rows, 64 in flight", call: "list", inFlight: 64 }
]

/** The next message of a process, after telling it `job`. Its death is a defect. */
const message = <A>(child: ChildProcess, job?: Job) =>
  Effect.callback<A>((resume) => {
    const onMessage = (value: A) => done(Effect.succeed(value))
    const onExit = (code: number | null) => done(Effect.die(new Error(`${child.spawnargs.join(" ")} ended: ${code}`)))
    const stop = () => {
      child.off("message", onMessage)
      child.off("exit", onExit)
    }
    const done = (exit: Effect.Effect<A>) => {
      stop()
      resume(exit)
    }
    child.once("message", onMessage)
    child.once("exit", onExit)
    if (job !== undefined) child.send(job)
    return Effect.sync(stop)
  })

/** Ends a process that was started here, and waits until it is gone. */
const end = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** A process that ends with the scope, however that ends. Gives what it says when it is ready. */
const start = Effect.fnUntraced(function* <A>(
  file: string,
  args: ReadonlyArray<string> = [],
  flags: ReadonlyArray<string> = []
) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(new URL(file, import.meta.url), args, { execArgv: [...flags] })),
    end
  )
  return { child, first: yield* message<A>(child) }
})

const names = Object.keys(contenders) as ReadonlyArray<ContenderName> // the keys of a literal

type Column = "cpu" | "calls"
type Ratios = Record<Column, ReadonlyArray<number>>

const measure = Effect.gen(function* () {
  const { first: port } = yield* start<number>("server.ts")
  const workers = yield* Effect.forEach(
    names,
    (name) =>
      Effect.map(start("worker.ts", [name, String(port)], contenders[name].flags), ({ child }) => ({ child, name })),
    { concurrency: 2 }
  )
  return yield* Effect.forEach(scenarios, (scenario) =>
    Effect.gen(function* () {
      for (const { child } of workers) yield* message<Sample>(child, { ...scenario, milliseconds: warmUp })
      const samples = yield* Effect.forEach(Array.range(1, rounds), (round) =>
        Effect.gen(function* () {
          const turn = Array.rotate(workers, round)
          const taken = yield* Effect.forEach(turn, ({ child, name }) =>
            Effect.map(message<Sample>(child, { ...scenario, milliseconds }), (sample) => [name, sample] as const)
          )
          return Object.fromEntries(taken) as Record<ContenderName, Sample> // each took its turn
        })
      )
      const ratios = (name: ContenderName): Ratios => ({
        cpu: samples.map((round) => round[name].cpu / round.undici.cpu),
        calls: samples.map((round) => round.undici.time / round[name].time)
      })
      return { title: scenario.title, ratios }
    })
  )
})

const quantile = (values: ReadonlyArray<number>, part: number) => {
  const sorted = Array.sort(values, Order.Number)
  return sorted[Math.round((sorted.length - 1) * part)] ?? Number.NaN
}
const cell = (values: ReadonlyArray<number>) => {
  const [low, median, high] = [0.25, 0.5, 0.75].map((part) => quantile(values, part).toFixed(2))
  return `${median} (${low}–${high})`
}

const table = (results: Effect.Success<typeof measure>) => [
  "| client | CPU per call | calls/s |",
  "|---|---|---|",
  ...results.flatMap(({ ratios, title }) => [
    `| **${title}** | | |`,
    ...names.map((name) => {
      const { calls, cpu } = ratios(name)
      return `| ${contenders[name].title} | ${cell(cpu)} | ${cell(calls)} |`
    })
  ])
]

const program = Effect.gen(function* () {
  const results = yield* measure
  const { node, undici } = process.versions
  yield* Console.log(
    [
      `Node ${node} (its own undici, under fetch, ${undici}), undici ${undiciPackage.version}, effect ${effectPackage.version},`,
      `stripe ${Stripe.PACKAGE_VERSION}, ${availableParallelism()} cores; a loopback server in another process.`,
      `Medians of ${rounds} interleaved rounds against undici = 1.00 (quartiles in brackets). Fewer CPU and more calls/s are better.`,
      "",
      ...table(results)
    ].join("\n")
  )
}).pipe(Effect.scoped, Effect.timeout("58 seconds"))

NodeRuntime.runMain(program)
