/**
 * The observation of one case of a program: the values that are compared between the two states.
 */
import { Cause, Effect, Exit, Layer, Logger, References, Schema, Tracer } from "effect"
import { createHash } from "node:crypto"
import { inspect } from "node:util"

export interface Observation {
  /** The id of the case. It is the same in both states. */
  readonly id: string
  /** The kind of case, by which differences are grouped. */
  readonly kind: string
  /** The other properties of the case, which are counted within a class. */
  readonly dims: Readonly<Record<string, string>>
  /** Compared by value; a class names both values. */
  readonly exact: Readonly<Record<string, string | number>>
  /** Numbers that add up: a class says only that there are more or fewer. */
  readonly sums?: Readonly<Record<string, number>>
  /** Compared by value; a class names the lines that differ. `message`, `fields`, `logs` and `spans` go with a tag. */
  readonly texts?: Readonly<Record<string, string>>
  /** Details that are printed with an example. */
  readonly note?: string
}

/** A sequence of numbers from 0 to 1 that the seed decides (mulberry32). */
export const seeded = (seed: number) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, below: (count: number) => Math.floor(next() * count) }
}

/** A pseudo-random number, the same for the same parts. */
export const hashOf = (...parts: ReadonlyArray<number>): number =>
  seeded(parts.reduce((a, b) => (a * 31 + b) | 0)).next()

/** Runs all promises, microtasks and fibers that are ready, without a wait. */
const breathe = Effect.promise(() => new Promise<void>((done) => void setImmediate(done)))

/** Runs an effect to its end. Whenever nothing is ready, it advances the clock of the test, at most `steps` times. */
export const jumping = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  adjust: Effect.Effect<void>,
  steps: number
): Effect.Effect<A | undefined, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    for (let step = 0; step <= steps; step++) {
      for (let turn = 0; turn < 12; turn++) {
        const exit = fiber.pollUnsafe()
        if (exit !== undefined) return yield* exit
        yield* breathe
      }
      yield* adjust
    }
    return undefined
  })

const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Cause.isCause(value)
      ? (Cause.pretty(value).split("\n    at ")[0] ?? "")
      : inspect(value)

export interface Shown<A, E> {
  readonly exit: Exit.Exit<A, E>
  readonly logs: string
  readonly spans: string
  /** All printed texts, for the search for leaks. */
  readonly all: () => string
}

/** Runs an effect, and returns its logs and spans. */
export const shownBy = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Shown<A, E>, never, R> =>
  Effect.gen(function* () {
    const logs: Array<string> = []
    const spans: Array<Tracer.NativeSpan> = []
    const logger = Logger.make(({ cause, fiber, logLevel, message }) => {
      const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
        .map(([name, value]) => ` ${name}=${inspect(value)}`)
        .toSorted()
        .join("")
      const parts = (Array.isArray(message) ? message : [message]).map(textOf).join(" ")
      logs.push(`${logLevel} ${parts}${annotations}${cause.reasons.length === 0 ? "" : ` ${textOf(cause)}`}`)
    })
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const exit = yield* Effect.exit(effect).pipe(
      Effect.provide(Layer.merge(Logger.layer([logger]), Layer.succeed(Tracer.Tracer, tracer))),
      Effect.provideService(References.MinimumLogLevel, "All")
    )
    const lines = spans.map(
      ({ attributes, name }) =>
        `${name} ${[...attributes]
          .map(([key, value]) => `${key}=${inspect(value)}`)
          .toSorted()
          .join(" ")}`
    )
    return {
      exit,
      logs: logs.join("\n"),
      spans: lines.toSorted().join("\n"),
      all: () => {
        const bare = { depth: 12, showHidden: true, customInspect: false } as const
        const ends = spans.map(({ attributes, events, links, status }) =>
          inspect([attributes, events, links, status], bare)
        )
        const failure = Exit.isSuccess(exit) ? "" : `${Cause.pretty(exit.cause)}\n${inspect(exit.cause, bare)}`
        return [...logs, ...lines, ...ends, failure].join("\n")
      }
    }
  })

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const member = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined)

const word = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? `${value}` : "")

/** The error that an exit failed with; a defect is one too. */
export const failureOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

/** The parts of an error on which a caller acts: tag, outcome and reason. */
export const resultOf = (exit: Exit.Exit<unknown, unknown> | undefined): string => {
  if (exit === undefined) return "never ended"
  if (Exit.isSuccess(exit)) return "Success"
  return errorName(Cause.squash(exit.cause))
}

export const errorName = (error: unknown): string =>
  [
    member(error, "_tag") ?? (error instanceof Error ? `defect ${error.name}` : typeof error),
    member(error, "outcome"),
    member(error, "reason"),
    member(error, "conflict")
  ]
    .map(word)
    .filter((part) => part !== "")
    .join("/")

export const attemptsOf = (error: unknown): string => word(member(error, "attempts"))
export const serviceMessageOf = (error: unknown): string => word(member(error, "serviceMessage"))

/** The stored form of an error whose class is a schema. */
const stored = (error: unknown): string => {
  if (!(error instanceof Error) || !Schema.isSchema(error.constructor)) return ""
  // An error of the library needs no service to be encoded.
  return JSON.stringify(Schema.encodeUnknownSync(Schema.toCodecJson(error.constructor as Schema.Codec<unknown>))(error))
}

/** All texts that print an error, for the search for leaks. */
export const printed = (error: unknown): string =>
  error === undefined
    ? ""
    : [
        error instanceof Error ? String(error) : "",
        inspect(error),
        inspect(error, { depth: 12, showHidden: true, customInspect: false }),
        JSON.stringify(error),
        stored(error)
      ].join("\n")

/** The other fields of an error, as JSON. */
export const fieldsOf = (error: unknown): string => {
  if (!isRecord(error)) return ""
  const own = new Set([
    "_tag",
    "outcome",
    "reason",
    "conflict",
    "attempts",
    "serviceMessage",
    "message",
    "idempotencyKey",
    "stack",
    "name"
  ])
  const rest = Object.entries(error).filter(([name]) => !own.has(name) && !name.startsWith("~"))
  return rest
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .toSorted()
    .join("\n")
}

/** A message without the words of the service, since these are compared separately. */
export const templateOf = (error: unknown): string => {
  const message = word(member(error, "message"))
  const said = serviceMessageOf(error)
  return said === "" ? message : message.replaceAll(said, "«the service's words»")
}

const fingerprint = (key: string) => createHash("sha256").update(key).digest("hex")

/** Replaces the texts that differ from run to run: made keys and their fingerprints, ports, the path of the case. */
export const normaliser =
  (keys: Iterable<string>, place = "") =>
  (text: string): string => {
    let out = place === "" ? text : text.replaceAll(place, "")
    for (const key of keys) {
      out = out.replaceAll(key, "<key>").replaceAll(fingerprint(key).slice(0, 40), "<key's print>")
    }
    return out.replaceAll(/127\.0\.0\.1:\d+/g, "<gateway>").replaceAll(/localhost:\d+/g, "<gateway>")
  }
