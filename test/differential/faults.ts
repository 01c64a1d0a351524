/** The fault matrix: statuses, bodies, transports and keys, for writes and reads. */
import { Effect, Exit, Fiber, Layer, Schedule } from "effect"
import type { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { type Body, errorBodies, errorStatuses, someBodies, successBodies } from "./bodies.ts"
import { calls, givenKey, type KeyMode, keyModes, type OperationCall } from "./calls.ts"
import { nodeTransport, type Payments, PaymentsPolicy, paymentsOver, socketTransports, twice } from "./doors.ts"
import { type Answer, type Arrived, keyOf, memoryGateway, type Reply, socketGateway, wireOf } from "./gateway.ts"
import {
  attemptsOf,
  failureOf,
  fieldsOf,
  jumping,
  normaliser,
  type Observation,
  resultOf,
  serviceMessageOf,
  type Shown,
  shownBy,
  templateOf
} from "./observation.ts"

/**
 * The statuses at which words may matter. They are tested with all bodies, and the other statuses with one body of each
 * family.
 */
const telling = [302, 400, 401, 402, 403, 404, 409, 412, 422, 423, 425, 429, 451, 500, 503]

interface Script {
  readonly name: string
  /** The name of the answer in a class. */
  readonly family: string
  readonly status: string
  readonly reply: (call: OperationCall) => (request: Arrived, turn: number) => Reply
}

const bodyText = ({ body = "" }: Answer): string => (typeof body === "string" ? body : new TextDecoder().decode(body))

const lasting = (statuses: ReadonlyArray<number>, bodies: ReadonlyArray<Body>): ReadonlyArray<Script> =>
  statuses.flatMap((status) =>
    bodies.map((body): Script => ({
      name: `${status} ${body.name}`,
      family: body.family,
      status: `${status}`,
      reply: () => (request) => ({ status, ...body.of(status, request) })
    }))
  )

const successes: ReadonlyArray<Script> = [200, 201, 202, 203, 204, 206].flatMap((status) =>
  successBodies.map((body): Script => ({
    name: `${status} ${body.name}`,
    family: `success, ${body.name}`,
    status: `${status}`,
    reply: (call) => (request) => ({ status, ...body.of(bodyText(call.good(request))) })
  }))
)

/** The first attempt is lost after it was sent, or is answered with a 503. The second attempt gets this answer. */
const inDoubt = (statuses: ReadonlyArray<number>, bodies: ReadonlyArray<Body>): ReadonlyArray<Script> =>
  statuses.flatMap((status) =>
    bodies.map((body): Script => ({
      name: `lost, then ${status} ${body.name}`,
      family: `after doubt, ${body.family}`,
      status: `${status}`,
      reply: () => (request, turn) => (turn === 0 ? "lost" : { status, ...body.of(status, request) })
    }))
  )

const first = (name: string, ...replies: ReadonlyArray<Reply | "good">): Script => ({
  name,
  family: name,
  status: "none",
  reply: (call) => (request, turn) => {
    const reply = replies[Math.min(turn, replies.length - 1)] ?? "good"
    return reply === "good" ? call.good(request) : reply
  }
})

const retryAfter = (status: number, header: string): Script => ({
  name: `${status}, Retry-After ${header}`,
  family: "Retry-After",
  status: `${status}`,
  reply: () => () => ({ status, headers: { "retry-after": header } })
})

const redirects = [301, 302, 303, 307, 308].map((status): Script => ({
  name: `${status} to elsewhere`,
  family: "redirect",
  status: `${status}`,
  reply: () => () => ({ status, headers: { location: "https://elsewhere.example/?a=1" } })
}))

const unavailable: Answer = { status: 503 }
const connections = [
  first("lost", "lost"),
  first("lost once", "lost", "good"),
  first("503 once", unavailable, "good"),
  first("503, 409, good", unavailable, { status: 409 }, "good"),
  first("lost, 425, good", "lost", { status: 425 }, "good"),
  first("429, good", { status: 429 }, "good"),
  first("429, lost", { status: 429 }, "lost"),
  first("401, good", { status: 401 }, "good"),
  ...redirects
]
const inMemoryOnly = [
  first("unsent", "unsent"),
  first("unsent once", "unsent", "good"),
  first("unsent, lost, unsent", "unsent", "lost", "unsent"),
  ...[429, 503, 409, 425].flatMap((status) =>
    ["0", "1", "3600", "-1", "1.5", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"].map(
      (header) => retryAfter(status, header)
    )
  )
]
const stalls = [first("silent", "silent"), first("silent once", "silent", "good"), first("head, then silence", "head")]
const socketsOnly = [first("hang-up", "hangUp"), first("hang-up once", "hangUp", "good"), first("cut", "cut")]

interface Case {
  readonly call: OperationCall
  readonly mode: KeyMode
  readonly transport: string
  readonly script: Script
}

const modesOf = (call: OperationCall): ReadonlyArray<KeyMode> => (call.isWrite ? keyModes : ["made"])

const casesOf = (transport: string, scripts: ReadonlyArray<Script>, of = calls): ReadonlyArray<Case> =>
  of.flatMap((call) => modesOf(call).flatMap((mode) => scripts.map((script) => ({ call, mode, transport, script }))))

const observed = (
  { call, mode, script, transport }: Case,
  { exit, logs, spans }: Shown<unknown, unknown>,
  arrived: ReadonlyArray<Arrived>,
  place: string
): Observation => {
  const error = failureOf(exit)
  const clean = normaliser(new Set([givenKey, ...arrived.map(keyOf)].filter((key) => key !== "")), place)
  const isWrite = call.isWrite ? `write, key ${mode}` : "read"
  return {
    id: [transport, call.operation, mode, script.name].join(" | "),
    kind: `${isWrite}, ${script.family}`,
    dims: { status: script.status, operation: call.operation, transport },
    exact: {
      result: resultOf(exit),
      attempts: attemptsOf(error),
      requests: arrived.length,
      "different requests": new Set(
        arrived.map(({ body, headers, path }) => `${path} ${keyOf({ method: "", path, headers, body })} ${body}`)
      ).size
    },
    texts: {
      wire: clean(wireOf(arrived)),
      value: Exit.isSuccess(exit) ? clean(JSON.stringify(exit.value) ?? "") : "",
      serviceMessage: clean(serviceMessageOf(error)),
      message: clean(templateOf(error)),
      fields: clean(fieldsOf(error)),
      logs: clean(logs.replaceAll(serviceMessageOf(error) || "\0", "«the service's words»")),
      spans: clean(spans)
        .replaceAll(/(server\.port|network\.peer\.port)=\d+/g, "$1=<port>")
        .replaceAll(/c\d+x/g, "")
    },
    note: `${transport}, ${call.operation}, key ${mode}: ${script.name}`
  }
}

const policy = (times: number, attemptTimeout: "20 seconds" | "3 seconds" | "1 minute") =>
  twice({
    retryReads: Schedule.recurs(times),
    retryWrites: Schedule.recurs(times),
    maxResponseBytes: 65_536,
    attemptTimeout,
    deadline: "3 minutes"
  })

const inMemory = (one: Case) =>
  Effect.gen(function* () {
    const { arrived, layer } = memoryGateway(one.script.reply(one.call))
    const run = one.call.run(one.mode).pipe(Effect.provide(paymentsOver("https://gateway.example", layer)))
    const shown = yield* shownBy(
      jumping(
        Effect.exit(Effect.provideService(run, PaymentsPolicy, policy(2, "20 seconds"))),
        TestClock.adjust("20 seconds"),
        30
      )
    )
    const exit =
      Exit.isSuccess(shown.exit) && shown.exit.value !== undefined
        ? shown.exit.value
        : Exit.die(new Error("it never ended"))
    return observed(one, { ...shown, exit }, arrived, "\0")
  }).pipe(Effect.provide(TestClock.layer()))

/** A write that is interrupted while its request is under way. */
const interrupted = (call: OperationCall, mode: KeyMode) =>
  Effect.gen(function* () {
    const reports: Array<string> = []
    const { arrived, layer } = memoryGateway(() => "silent")
    const withReports = PaymentsPolicy.make({
      onInterruptedWrite: (report) =>
        Effect.sync(() => void reports.push(`${report._tag}/${report.outcome}/${report.reason}: ${report.message}`))
    })
    const run = call
      .run(mode)
      .pipe(
        Effect.provide(paymentsOver("https://gateway.example", layer)),
        Effect.provideService(PaymentsPolicy, withReports)
      )
    const shown = yield* shownBy(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(run)
        yield* jumping(Effect.never, Effect.void, 2)
        yield* Fiber.interrupt(fiber)
      })
    )
    const clean = normaliser(new Set([givenKey, ...arrived.map(keyOf)].filter((key) => key !== "")))
    const seen: Observation = {
      id: `interrupted | ${call.operation} | ${mode}`,
      kind: `${call.isWrite ? `write, key ${mode}` : "read"}, interrupted`,
      dims: { operation: call.operation, transport: "memory" },
      exact: { reports: reports.length, requests: arrived.length },
      texts: { reports: clean(reports.join("\n")), logs: clean(shown.logs) }
    }
    return seen
  }).pipe(Effect.provide(TestClock.layer()))

const overSocket =
  (gateway: Effect.Success<typeof socketGateway>, shared: Layer.Layer<HttpClient.HttpClient>, turn: number) =>
  (one: Case, times: number, attemptTimeout: "3 seconds" | "1 minute") =>
    Effect.gen(function* () {
      const name = `c${turn}x`
      const arrived = gateway.plan(name, one.script.reply(one.call))
      const layer: Layer.Layer<Payments> | undefined = socketTransports[one.transport]?.(
        `${gateway.url}/${name}`,
        shared
      )
      if (layer === undefined) return yield* Effect.die(new Error(`no transport ${one.transport}`))
      const run = one.call.run(one.mode).pipe(Effect.provide(layer))
      const shown = yield* shownBy(Effect.provideService(run, PaymentsPolicy, policy(times, attemptTimeout)))
      return observed(one, shown, arrived, `/${name}`)
    })

export interface Size {
  readonly full: boolean
}

export const faults = Effect.fnUntraced(function* ({ full }: Size) {
  const bodies = full ? errorBodies : someBodies
  const writes = calls.filter(({ isWrite }) => isWrite)
  const observations: Array<Observation> = []
  const memory = [
    ...casesOf("memory", [
      ...lasting(telling, bodies),
      ...lasting(
        errorStatuses.filter((status) => !telling.includes(status)),
        someBodies
      ),
      ...successes,
      ...connections,
      ...inMemoryOnly,
      ...stalls
    ]),
    ...casesOf("memory", inDoubt(errorStatuses, someBodies), writes)
  ]
  for (const one of memory) observations.push(yield* inMemory(one))
  for (const call of calls) for (const mode of modesOf(call)) observations.push(yield* interrupted(call, mode))

  const gateway = yield* socketGateway
  const shared = Layer.succeedContext(yield* Layer.build(nodeTransport))
  const few = someBodies.filter(({ family }) =>
    ["plain refusal", "about idempotency", "wordless", "unreadable"].includes(family)
  )
  let turn = 0
  const run = (cases: ReadonlyArray<Case>, times: number, timeout: "3 seconds" | "1 minute", concurrency: number) =>
    Effect.forEach(cases, (one) => overSocket(gateway, shared, turn++)(one, times, timeout), { concurrency })
  const names = Object.keys(socketTransports)
  const slow = yield* Effect.forkChild(
    run(
      names.flatMap((transport) => casesOf(transport, stalls)),
      1,
      "3 seconds",
      200
    )
  )
  for (const transport of names) {
    const quick = casesOf(transport, [
      ...lasting(errorStatuses, full ? few : few.slice(0, 2)),
      ...successes.filter(({ status }) => ["200", "201"].includes(status)),
      ...connections,
      ...socketsOnly
    ])
    observations.push(...(yield* run(quick, 1, "1 minute", 8)))
  }
  observations.push(...(yield* Fiber.join(slow)))
  return observations
}, Effect.scoped)
