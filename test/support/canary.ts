/**
 * Marked secrets and marked personal data, the texts that print a value, and the search for the marks in these texts.
 */
import { Cause, Effect, Exit, Formatter, Logger, Metric, References, Schema, type Tracer } from "effect"
import { inspect } from "node:util"
import { recordingTracer } from "./spans.ts"

export const secrets = {
  apiKey: "sk-CanaryKey-9f3b7c21",
  clientId: "canary-client-4d2e8a"
}

/** A person who does not exist: all data is made up. */
export const person = {
  cpf: "52998224725",
  cnpj: "12ABC34501DE35",
  email: "zulmira.canary@correio-zz.example",
  phone: "5511987654321",
  evp: "7d9f0335-8dcc-4054-9bf9-0dbd61d36906",
  name: "Zulmira Canária Quixadá",
  customerId: "cust-canary-77120",
  reference: "ref-canary-55011",
  item: "Canary item of a cart",
  ip: "203.0.113.177",
  description: "aluguel-canary do apartamento",
  metadata: "metadata-canary-3301",
  copyAndPaste:
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D"
}

/** Folds a text to letters and digits, so that no punctuation, case, accent or escape hides a value. */
const fold = (text: string) =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")

const unescape = (text: string) =>
  text
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8"))
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))

const marks = Object.entries({ ...secrets, ...person }).map(([name, value]) => [name, fold(value)] as const)

/** The names of the marked values that the text holds, in any spelling. */
export const leaksIn = (text: string): ReadonlyArray<string> => {
  const printed = [fold(text), fold(unescape(text))]
  return marks.flatMap(([name, mark]) => (printed.some((folded) => folded.includes(mark)) ? [name] : []))
}

const bare = { depth: Infinity, showHidden: true, customInspect: false } as const

/** The stored form of an error whose class is a schema. */
const stored = (error: Error): string =>
  Schema.isSchema(error.constructor)
    ? // Encoding an error of this library needs no service.
      JSON.stringify(Schema.encodeUnknownSync(Schema.toCodecJson(error.constructor as Schema.Codec<unknown>))(error))
    : ""

/** All texts that print a value, by the way of printing. */
export const renderings = (value: unknown): Record<string, string> => ({
  String: String(value),
  JSON: JSON.stringify(value) ?? "",
  inspect: inspect(value),
  "inspect, all of it": inspect(value, { depth: Infinity, showHidden: true }),
  "inspect, bare": inspect(value, bare),
  Formatter: Formatter.format(value),
  "Formatter, JSON": Formatter.formatJson(value),
  ...(value instanceof Error && { stack: value.stack ?? "", message: value.message, stored: stored(value) })
})

const renderingsOfExit = (exit: Exit.Exit<unknown, unknown>): Record<string, string> => {
  if (Exit.isSuccess(exit)) return {}
  const { cause } = exit
  const errors = cause.reasons.map((reason) =>
    Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
  )
  return {
    "Cause.pretty": Cause.pretty(cause),
    cause: Object.values(renderings(cause)).join("\n"),
    ...Object.assign({}, ...errors.map(renderings))
  }
}

const program = "program"

/** Whether a span ended with more than success, interruption, or an error's tag and outcome. */
const hasValue = ({ status }: Tracer.Span): boolean => {
  if (status._tag !== "Ended") return false
  if (Exit.isSuccess(status.exit)) return status.exit.value !== undefined
  const isTag = (reason: Cause.Reason<unknown>) =>
    Cause.isFailReason(reason) && /^\w+(: \w+)?$/.test(String(reason.error))
  return !status.exit.cause.reasons.every((reason) => Cause.isInterruptReason(reason) || isTag(reason))
}

/**
 * Runs an effect with logs of every level, traces and metrics: its exit, the numbers of logged lines and of spans, and every
 * printed text by its printer. `valuesInSpans` names the spans that ended with a value: not the program's own, and not those of
 * statements of a store.
 */
export const printedBy = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const { layer, spans } = recordingTracer()
    const logger = Logger.make((line) => {
      const { cause, fiber, message } = line
      const annotations = fiber.getRef(References.CurrentLogAnnotations)
      lines.push(
        [Logger.formatLogFmt.log(line), Logger.formatJson.log(line), Logger.formatSimple.log(line)].join("\n"),
        [message, annotations, fiber.getRef(References.CurrentLogSpans)].map((part) => inspect(part, bare)).join("\n"),
        Cause.pretty(cause),
        inspect(cause, bare)
      )
    })
    const registry = new Map()
    const logged = Effect.tapCause(effect, (cause) => Effect.logError("it failed", cause))
    const exit = yield* Effect.exit(Effect.withSpan(logged, program)).pipe(
      Effect.provide([Logger.layer([logger]), layer]),
      Effect.provideService(References.MinimumLogLevel, "All"),
      Effect.provideService(Metric.MetricRegistry, registry)
    )
    const metrics = yield* Effect.provideService(Metric.snapshot, Metric.MetricRegistry, registry)
    return {
      exit,
      lines: lines.length / 4,
      spans: spans.length,
      valuesInSpans: spans.filter(hasValue).flatMap(({ name }) => (/^(program$|sql)/.test(name) ? [] : [name])),
      texts: {
        ...renderingsOfExit(exit),
        logs: lines.join("\n"),
        spans: spans
          .map((span) => [span.name, inspect([span.attributes, span.events, span.links], bare)].join("\n"))
          .join("\n"),
        metrics: inspect(
          metrics.map(({ attributes, description, id }) => [id, description, attributes]),
          bare
        )
      }
    }
  })

/** The leaks: the name of the value, and the name of the printer. */
export const leaks = ({ texts }: { readonly texts: Readonly<Record<string, string>> }): ReadonlyArray<string> =>
  Object.entries(texts).flatMap(([where, text]) => leaksIn(text).map((name) => `${name} in ${where}`))
