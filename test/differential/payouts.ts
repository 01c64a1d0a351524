/**
 * Payouts: compares how a queue and a sheet end after each answer, after earlier runs, and after an operator's
 * steps.
 */
import { Effect, Exit, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { errorStatuses, someBodies } from "./bodies.ts"
import { withdrawn } from "./calls.ts"
import {
  Money,
  NodeSqlite,
  once,
  type PayoutItem,
  PayoutQueue,
  Payouts,
  PaymentsPolicy,
  paymentsOver,
  PixKey,
  type Queue
} from "./doors.ts"
import { type Arrived, keyOf, memoryGateway, type Reply } from "./gateway.ts"
import { errorName, failureOf, jumping, type Observation, resultOf, seeded, shownBy } from "./observation.ts"

const item = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email("maria@example.com")
})

/** A gateway that pays once for each key, after the scripted replies. Its ledger has the payments. */
const makeLedger = (script: (request: Arrived, turn: number, isPaid: boolean) => Reply | "pay" | "pay, lost") => {
  const paid = new Map<string, number>()
  const turns = new Map<string, number>()
  const gateway = memoryGateway((request) => {
    const key = keyOf(request)
    const turn = turns.get(key) ?? 0
    turns.set(key, turn + 1)
    const reply = script(request, turn, paid.has(key))
    if (reply !== "pay" && reply !== "pay, lost") return reply
    const id = paid.get(key) ?? paid.size + 1
    paid.set(key, id)
    return reply === "pay" ? withdrawn(request, id) : "lost"
  })
  return { ...gateway, paid, turns }
}

/** The state of a payout, and the tag and outcome of its error. */
const stateOf = (status: unknown): string => {
  if (typeof status !== "object" || status === null || !("state" in status)) return "absent"
  const because = "because" in status ? ` because ${String(status.because)}` : ""
  const error = "error" in status && status.error !== undefined ? ` with ${errorName(status.error)}` : ""
  const mark = "mayHaveLeftAt" in status && status.mayHaveLeftAt !== undefined ? ", may have left" : ""
  return `${String(status.state)}${because}${error}${mark}`
}

type Turn = Reply | "pay" | "pay, lost"

interface Script {
  readonly name: string
  readonly family: string
  readonly words: string
  readonly status: string
  readonly reply: (turn: number) => Turn
}

/** Each answer: for ever; once, then good; after money moved and the answer was lost; and after an answer in doubt. */
const scripts: ReadonlyArray<Script> = errorStatuses.flatMap((status) =>
  someBodies.flatMap((body): ReadonlyArray<Script> => {
    const nobody: Arrived = { method: "POST", path: "/", headers: {}, body: "" }
    const answer = { status, ...body.of(status, nobody) }
    const turns: Readonly<Record<string, (turn: number) => Turn>> = {
      always: () => answer,
      "once, then paid": (turn) => (turn === 0 ? answer : "pay"),
      "after a lost payment": (turn) => (turn === 0 ? "pay, lost" : answer),
      "after a lost payment, then paid": (turn) => (turn === 0 ? "pay, lost" : turn === 1 ? answer : "pay"),
      "after 429": (turn) => (turn === 0 ? { status: 429 } : answer)
    }
    return Object.entries(turns).map(([order, reply]) => ({
      name: `${status} ${body.name}, ${order}`,
      family: order,
      words: body.family,
      status: `${status}`,
      reply
    }))
  })
)
const others: ReadonlyArray<Script> = (
  [
    ["paid", ["pay"]],
    ["lost", ["lost"]],
    ["unsent", ["unsent"]],
    ["unsent, then paid", ["unsent", "pay"]],
    ["silent, then paid", ["silent", "pay"]],
    ["lost, unsent", ["lost", "unsent"]],
    ["lost, 429, 401", ["lost", { status: 429 }, { status: 401 }]],
    ["429 with Retry-After, then paid", [{ status: 429, headers: { "retry-after": "60" } }, "pay"]]
  ] satisfies ReadonlyArray<readonly [string, ReadonlyArray<Turn>]>
).map(([name, turns]) => ({
  name,
  family: name,
  words: "none",
  status: "none",
  reply: (turn: number): Turn => turns[Math.min(turn, turns.length - 1)] ?? "pay"
}))

const impatient = PaymentsPolicy.make({ ...once, attemptTimeout: "20 seconds" })

const payoutOf = (paid: ReadonlyMap<string, number>, turns: ReadonlyMap<string, number>) => ({
  paid: paid.size,
  requests: [...turns.values()].reduce((sum, count) => sum + count, 0)
})

const queued = (script: Script) =>
  Effect.gen(function* () {
    const { layer, paid, turns } = makeLedger((_, turn) => script.reply(turn))
    const states: Array<string> = []
    const shown = yield* shownBy(
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit(item("invoice-1"))
        for (let step = 0; step < 14; step++) {
          yield* jumping(Effect.never, Effect.void, 0)
          const state = stateOf(Option.getOrUndefined(yield* queue.status("invoice-1")))
          if (states.at(-1) !== state) states.push(state)
          yield* TestClock.adjust(step < 8 ? "5 seconds" : "2 minutes")
        }
        return stateOf(Option.getOrUndefined(yield* queue.status("invoice-1")))
      }).pipe(
        Effect.provide(
          Layer.provide(PayoutQueue.layer({ poll: "1 minute", concurrency: 1 }), [
            paymentsOver("https://gateway.example", layer),
            NodeSqlite.layer({ filename: ":memory:" })
          ])
        ),
        Effect.provideService(PaymentsPolicy, impatient)
      )
    )
    const observation: Observation = {
      id: `queue | ${script.name}`,
      kind: `queue, ${script.family}`,
      dims: { status: script.status, words: script.words },
      exact: { result: shown.exit._tag === "Success" ? shown.exit.value : resultOf(shown.exit), paid: paid.size },
      sums: { requests: payoutOf(paid, turns).requests },
      texts: { states: states.join(" > "), logs: [...new Set(shown.logs.split("\n"))].join("\n") },
      note: script.name
    }
    return observation
  }).pipe(Effect.provide(TestClock.layer()))

/** Two runs of a sheet in a row, on one database. */
const ran = (script: Script) =>
  Effect.gen(function* () {
    const { layer, paid, turns } = makeLedger((_, turn) => script.reply(turn))
    const run = (...items: ReadonlyArray<PayoutItem>) =>
      jumping(
        Effect.exit(Stream.runCollect(Payouts.stream(items, { allowAlike: true, waitFor: "1 minute" }))),
        TestClock.adjust("20 seconds"),
        30
      )
    const statesOf = (exit: Exit.Exit<ReadonlyArray<unknown>, unknown> | undefined) =>
      exit === undefined || Exit.isFailure(exit) ? [resultOf(exit)] : exit.value.map(stateOf)
    const observe = Effect.gen(function* () {
      const first = yield* run(item("invoice-1"), item("invoice-2"))
      const between = payoutOf(paid, turns).requests
      const second = yield* run(item("invoice-1"), item("invoice-2"))
      // A third run has another amount under the same key, so it must send nothing.
      const sent = payoutOf(paid, turns).requests
      const other = yield* run(item("invoice-1", 2000))
      const after = payoutOf(paid, turns)
      const observation: Observation = {
        id: `run | ${script.name}`,
        kind: `run, ${script.family}`,
        dims: { status: script.status, words: script.words },
        exact: {
          result: statesOf(first).join(" + "),
          "run again": statesOf(second).join(" + "),
          "with another amount": statesOf(other).join(" + "),
          paid: after.paid,
          requests: `${between}, ${sent - between}, ${after.requests - sent}`
        },
        note: script.name
      }
      return observation
    })
    return yield* observe.pipe(
      Effect.provide(
        Layer.provide(PayoutQueue.layer({ poll: "1 minute", concurrency: 1 }), [
          paymentsOver("https://gateway.example", layer),
          NodeSqlite.layer({ filename: ":memory:" })
        ])
      ),
      Effect.provideService(PaymentsPolicy, impatient),
      Effect.orDie
    )
  }).pipe(Effect.provide(TestClock.layer()))

const replies: ReadonlyArray<Turn> = [
  "pay",
  "pay",
  "pay, lost",
  "lost",
  "unsent",
  { status: 422, body: '{"message":"Recusado"}' },
  { status: 422 },
  { status: 409 },
  { status: 429 },
  { status: 503 },
  { status: 400, body: '{"message":"Saldo insuficiente"}' },
  "silent"
]
const steps = [
  "submit",
  "submit other",
  "park",
  "resume",
  "resume, not executed",
  "settle",
  "settle as failed",
  "retry",
  "pause",
  "continue",
  "wait",
  "wait long",
  "wait past the horizon"
] as const

const doStep = (queue: Queue, step: (typeof steps)[number], reference: string): Effect.Effect<unknown, unknown> => {
  switch (step) {
    case "submit":
      return queue.submit(item(reference))
    case "submit other":
      return queue.submit(item(reference, 2000))
    case "park":
      return queue.park(reference)
    case "resume":
      return queue.resume(reference)
    case "resume, not executed":
      return queue.resume(reference, { notExecuted: true })
    case "settle":
      return queue.settle(reference)
    case "settle as failed":
      return queue.settle(reference, { as: "failed" })
    case "retry":
      return queue.retry(reference)
    case "pause":
      return queue.setPaused(true)
    case "continue":
      return queue.setPaused(false)
    case "wait":
      return TestClock.adjust("3 seconds")
    case "wait long":
      return TestClock.adjust("5 minutes")
    case "wait past the horizon":
      return TestClock.adjust("13 hours")
  }
}

/** Random steps of an operator, while the gateway gives random answers. */
const operated = (seed: number) =>
  Effect.gen(function* () {
    const { below } = seeded(seed)
    const ofKey = new Map<string, number>()
    // The answers depend on key and turn, so that they are the same for another order of requests.
    const { layer, paid, turns } = makeLedger((request, turn, isPaid) => {
      const key = keyOf(request)
      const number = ofKey.get(key) ?? ofKey.size
      ofKey.set(key, number)
      const reply = replies[seeded(seed * 1000 + number * 50 + Math.min(turn, 4)).below(replies.length)] ?? "pay"
      return isPaid && turn > 2 ? "pay" : reply
    })
    const history: Array<string> = []
    const exit = yield* Effect.exit(
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        for (let turn = 0; turn < 24; turn++) {
          const reference = `invoice-${1 + below(2)}`
          const step = turn < 2 ? "submit" : (steps[below(steps.length)] ?? "wait")
          const result = yield* Effect.exit(doStep(queue, step, turn < 2 ? `invoice-${turn + 1}` : reference))
          yield* jumping(Effect.never, Effect.void, 0)
          const states = yield* Effect.forEach(["invoice-1", "invoice-2"], (one) =>
            Effect.map(queue.status(one), (status) => stateOf(Option.getOrUndefined(status)))
          )
          history.push(
            `${step} ${reference}: ${Exit.isFailure(result) ? errorName(failureOf(result)) : "done"}; ${states.join(" | ")}`
          )
        }
        yield* queue.setPaused(false)
        yield* TestClock.adjust("1 hour")
        yield* jumping(Effect.never, Effect.void, 0)
        return yield* Effect.forEach(["invoice-1", "invoice-2"], (one) =>
          Effect.map(queue.status(one), (status) => stateOf(Option.getOrUndefined(status)))
        )
      }).pipe(
        Effect.provide(
          Layer.provide(PayoutQueue.layer({ poll: "10 minutes", concurrency: 1 }), [
            paymentsOver("https://gateway.example", layer),
            NodeSqlite.layer({ filename: ":memory:" })
          ])
        ),
        Effect.provideService(PaymentsPolicy, impatient)
      )
    )
    const observation: Observation = {
      id: `operator | ${seed}`,
      kind: "operator",
      dims: {},
      exact: { result: Exit.isSuccess(exit) ? exit.value.join(" | ") : resultOf(exit), paid: paid.size },
      sums: { requests: payoutOf(paid, turns).requests },
      texts: { history: history.join("\n") },
      note: `seed ${seed}`
    }
    return observation
  }).pipe(Effect.provide(TestClock.layer()))

const quiet = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(shownBy(effect), ({ exit }) => exit)

export const payouts = Effect.fnUntraced(function* ({
  full,
  seeds
}: {
  readonly full: boolean
  readonly seeds: number
}) {
  const observations: Array<Observation> = []
  const all = [...others, ...(full ? scripts : scripts.filter((_, at) => at % 4 === 0))]
  for (const script of all) {
    observations.push(yield* queued(script))
    observations.push(yield* Effect.flatten(quiet(ran(script))))
  }
  for (let seed = 1; seed <= seeds * 2; seed++) observations.push(yield* Effect.flatten(quiet(operated(seed))))
  return observations
})
