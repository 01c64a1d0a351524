/**
 * Calls `Payments` in memory: the requests that it sent, its result, the lines that it logged and the fields of the answer
 * that did not fit.
 */
import { inspect } from "node:util"
import { assert } from "@effect/vitest"
import { Effect, Layer, Logger, Metric, Result } from "effect"
import { type FailureReason, GatewayFacts, type PaymentsError, type PaymentsOptions, PaymentsPolicy } from "effect-pix"
import { companyId, type Service, service } from "./operations.ts"
import { impatientSettings } from "./policies.ts"
import { paymentsOn, type Reply, respond, scripted, shown } from "./Wire.ts"

export type Use = (payments: Service) => Effect.Effect<unknown, PaymentsError>

const baseUrl = "https://gateway.example"

interface Calling extends Partial<PaymentsOptions> {
  readonly policy?: Partial<PaymentsPolicy>
  readonly facts?: Partial<GatewayFacts>
  /** How often the call is made. */
  readonly times?: number
}

/** Makes a call that gets these replies. `companyId` is that of the client. */
export const call = Effect.fnUntraced(function* (
  use: Use,
  replies: Reply | readonly [Reply, ...ReadonlyArray<Reply>],
  { facts, policy, times = 1, ...options }: Calling = {}
) {
  const { layer, sent } = scripted(...(isScript(replies) ? replies : ([replies] as const)))
  const lines: Array<readonly [level: string, text: string]> = []
  const logger = Logger.make(({ logLevel, message }) => void lines.push([logLevel, String(message)]))
  const [results, metrics] = yield* Effect.gen(function* () {
    const payments = yield* service
    const results = yield* Effect.replicateEffect(Effect.result(use(payments)), times)
    return [results, yield* Metric.snapshot] as const
  }).pipe(
    Effect.provide([
      Layer.provide(paymentsOn(layer, { baseUrl, companyId, ...options }), GatewayFacts.layer(facts ?? {})),
      Logger.layer([logger])
    ]),
    Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ ...impatientSettings, ...policy })),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )
  const [result = assert.fail("it was not called")] = results
  const misfits = metrics.flatMap(({ attributes, id, state }) =>
    id === "effect_pix_misfits_total" && "count" in state
      ? [[String(attributes?.["field"]), Number(state.count)] as const]
      : []
  )
  return { result, sent, lines, misfits: Object.fromEntries(misfits) }
})

const isScript = (
  replies: Reply | readonly [Reply, ...ReadonlyArray<Reply>]
): replies is readonly [Reply, ...ReadonlyArray<Reply>] => Array.isArray(replies)

/** The request of a call that succeeds with one request: its method and URL, its headers and its text. */
export const requestOf = (use: Use, reply: Reply, options?: Calling) =>
  Effect.map(call(use, reply, options), ({ result, sent }) => {
    assert(Result.isSuccess(result), JSON.stringify(result))
    assert.strictEqual(sent.length, 1)
    const [{ bytes, headers, method, url } = assert.fail("nothing was sent")] = sent
    const text = bytes === undefined ? undefined : new TextDecoder().decode(bytes)
    return { value: result.success, method, path: url.slice(baseUrl.length), headers, text }
  })

/** The error of a call that fails. */
export const errorOf = (use: Use, replies: Parameters<typeof call>[1], options?: Calling) =>
  Effect.map(call(use, replies, options), ({ result, sent }) => ({
    error: Result.getOrThrow(Result.flip(result)),
    requests: sent.length
  }))

export const headersOf = (idempotencyKey?: string) => ({
  accept: "application/json",
  "x-client-id": "client-4711",
  "x-api-key": "sk_live_0f9d2c7b",
  ...(idempotencyKey === undefined
    ? { "cache-control": "no-store" }
    : { "content-type": "application/json", "idempotency-key": idempotencyKey })
})

/** An answer that is read: its value, and the optional fields that did not fit, which are left out, counted and logged. */
export type Read = readonly [what: string, body: unknown, value: unknown, leftOut?: ReadonlyArray<string>]

/** Checks an answer with success: a text is sent as it is. */
export const checkRead = (operation: string, use: Use, [, body, value, leftOut = []]: Read, status = 200) =>
  Effect.map(call(use, respond(status, body)), ({ lines, misfits, result, sent }) => {
    assert(Result.isSuccess(result), JSON.stringify(result))
    assert.deepStrictEqual(shown(result.success), value)
    assert.deepStrictEqual(Object.keys(misfits).toSorted(), [...leftOut])
    assert.deepStrictEqual(
      lines.map(([, line]) => line).toSorted(),
      leftOut.map((field) => `${operation}: ${field} of the answer does not fit the contract and was left out`)
    )
    assert.strictEqual(sent.length, 1)
  })

/** Answers with success that do not count as one: the reason, the field that is wrong, and the bodies. */
export type NotRead = readonly [reason: FailureReason, path: string, ...bodies: ReadonlyArray<unknown>]

/** Checks that an answer is no success, that nothing is sent again, and that the first field named is this one. */
export const checkNotRead = (use: Use, [reason, path]: NotRead, body: unknown, status = 200) =>
  Effect.map(call(use, respond(status, body)), ({ misfits, result, sent }) => {
    const error = Result.getOrThrow(Result.flip(result))
    assert(error._tag === "OutcomeUnknown" || error._tag === "UnexpectedResponse")
    assert.strictEqual(error._tag === "OutcomeUnknown", error.idempotencyKey !== undefined)
    assert.deepStrictEqual([error.reason, error.issues?.[0]?.path], [reason, path], JSON.stringify(body))
    assert.deepStrictEqual([sent.length, misfits], [1, {}])
    return error
  })

/** The mark of inputs that no error may show. */
export const canary = "canary-7f3e"

/** Inputs that the client refuses before it sends anything: the path that the error names, and the inputs. */
export type Refused = readonly [path: string, ...inputs: ReadonlyArray<unknown>]

export const checkRefused = (use: Use, [path]: Refused, input: unknown, options: Calling = {}) =>
  Effect.map(errorOf(use, respond(500), options), ({ error, requests }) => {
    const given = inspect(input, { maxStringLength: 40 })
    assert(error._tag === "InvalidRequest", given)
    assert.deepStrictEqual([error.outcome, error.attempts, requests], ["NotSent", 0, 0])
    const paths = error.issues.map((issue) => issue.path)
    assert.include(paths, path, given)
    const printed = `${String(error)} ${JSON.stringify(error)}`
    // The name of a field may be shown; its value never is.
    assert.notInclude(path.includes("canary") ? printed.replaceAll(path, "") : printed, canary, given)
  })

/** Values that cannot be written as JSON, or that throw when they are read. */
const cyclic: Record<string, unknown> = { canary }
cyclic["self"] = cyclic
let deep: unknown = canary
for (let level = 0; level < 50_000; level++) deep = { level: deep }
const getter = { get: () => assert.fail(canary), enumerable: true }
const throwing = Object.defineProperties({}, { companyId: getter, idempotencyKey: getter })
export const odd = { cyclic, deep, throwing }

/** Half a million characters, which an expression of quadratic time would read for minutes. */
export const long = (text: string) => text.repeat(500_000 / text.length)

/** The nulls of these fields. */
export const nulls = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, null]))

export const without = (value: object, ...names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
