/**
 * The state that all calls of one client share: the address of the service, the settings by context, the budget of
 * retries, and the misfits that were logged.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import type * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Tracer from "effect/Tracer"
import * as Endpoints from "../../../contract/Endpoints.ts"
import type { Operation, RequestIssue } from "../../../contract/PaymentsError.ts"
import { Caller } from "../../../internal/caller.ts"
import { fingerprint, lanes } from "../../../internal/fingerprint.ts"
import { clockOffset, counter, histogram } from "../../../internal/metrics.ts"
import { monotonicMillisOf } from "../../../internal/monotonic.ts"
import { type Budget, makeBudget } from "../../../internal/retryBudget.ts"
import type { Sender } from "../../../internal/sender.ts"
import { countSinceLine, isTraced, type Lines, log } from "../../../internal/spans.ts"
import type { Transport } from "../../../internal/transport.ts"
import type { ApiCredentials, Credentials } from "../../Credentials.ts"
import type { IdempotencyKeyGen } from "../../IdempotencyKeyGen.ts"
import { areUnheld, GatewayFacts, unheldFacts } from "../../GatewayFacts.ts"
import { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import { markStarted } from "../../../internal/started.ts"
import { CurrentMerchant } from "../currentMerchant.ts"
import { phrasesOf } from "../words/phrases.ts"

export interface ClientOptions {
  readonly transport: Transport
  readonly credentials: Credentials["Service"]
  readonly keys: IdempotencyKeyGen["Service"]
  readonly baseUrl: URL
  readonly companyId: number | undefined
  /** The zone of a time without an offset. `undefined`: UTC. */
  readonly zone: DateTime.TimeZone | undefined
  readonly facts: GatewayFacts
}

export interface Client extends Pick<ClientOptions, "credentials" | "keys" | "companyId" | "zone" | "facts"> {
  /** Scheme, host and port. */
  readonly origin: string
  /** The path of the base URL, before every path of the contract. */
  readonly prefix: string
  readonly server: { readonly address: string; readonly port: number; readonly scheme: string }
  /** The merchant whose client it is, for log lines. */
  readonly merchant: string | undefined
  readonly meters: Meters
  /** The phrases of the refusals that the facts have. */
  readonly refusals: ReturnType<typeof phrasesOf>
  /** The sender with these credentials. */
  readonly senderWith: (credentials: ApiCredentials) => Sender
  /** The writes that ended in doubt, and by whom each was sent: see `recall`. */
  readonly doubts: Map<string, string | undefined>
  /** Counts and logs the fields of an answer that did not fit. */
  readonly reportMisfits: ReturnType<typeof makeMisfitReport>
  /** Logs what may happen at each call: that the service limits requests, that writes fail, that the budget refused a retry. */
  readonly report: ReturnType<typeof makeLimitReport>
  /** The settings of a call in a fiber, or what is wrong with them. */
  readonly settingsOf: ReturnType<typeof makeSettings>
}

export const makeClient = (options: ClientOptions): Effect.Effect<Client> =>
  Effect.map(Effect.tap(Effect.context<never>(), markStarted), (builtIn: Context.Context<never>) => {
    const { baseUrl, companyId, credentials, facts, keys, transport, zone } = options
    const prefix = baseUrl.pathname.replace(/(?<!\/)\/+$/, "")
    const server = {
      address: baseUrl.hostname,
      port: Number(baseUrl.port) || (baseUrl.protocol === "https:" ? 443 : 80),
      scheme: baseUrl.protocol.slice(0, -1)
    }
    const merchant = Context.get(builtIn, CurrentMerchant)
    const meters = makeMeters({ ...server, prefix }, merchant.label())
    return {
      credentials,
      keys,
      companyId,
      facts,
      zone,
      origin: baseUrl.origin,
      prefix,
      server,
      merchant: merchant.id,
      meters,
      refusals: phrasesOf(facts.refusals),
      senderWith: (current) => makeSender(baseUrl.origin + prefix, companyId, current),
      doubts: new Map(),
      reportMisfits: makeMisfitReport(meters),
      report: makeLimitReport(),
      settingsOf: makeSettings(transport, facts, builtIn)
    }
  })

/**
 * The sender with these credentials, at this base URL and of this company. A hash is made only where it is needed, and is shown and stored.
 * So the client id has a share of 64 bits in it, and the secret one of 32: both have far more, and no hash of so few bits can hold them.
 * Two secrets of one client id share it once in four billion times.
 */
const makeSender = (baseUrl: string, companyId: number | undefined, { apiKey, clientId }: ApiCredentials): Sender => ({
  baseUrl,
  companyId,
  fingerprint: (known) => {
    const company = companyId ?? known
    const owner = company === undefined ? { secret: lanes(Redacted.value(apiKey), 1) } : { company }
    return fingerprint(JSON.stringify([baseUrl, lanes(clientId, 2), owner]))
  }
})

/** The settings of a call, from its context. Times are in milliseconds. */
export interface CallSettings {
  readonly policy: PaymentsPolicy
  /** The wall clock: for times that other processes and the service know too. */
  readonly clock: Clock.Clock
  /** For durations: it never goes back, whatever happens to the wall clock. */
  readonly monotonicMillis: () => number
  readonly transport: Transport
  readonly isTraced: boolean
  /** Whether the headers of an attempt name its span to the service. */
  readonly isTracePropagated: boolean
  readonly attemptTimeout: number
  readonly deadline: number
  readonly maxRetryAfter: number
  /** The last moment at which a request may leave, by the wall clock. */
  readonly notAfter: number
  /** How long after the first request with its key a write in doubt may be sent. */
  readonly horizon: number
  readonly senderCheck: (sender: Sender) => boolean
  readonly onRefused: Caller["onRefused"]
  readonly budget: Budget
}

/** A call's own policy, else the one that the layer was built with, which may be the default. */
const readPolicy = (given: PaymentsPolicy): Result.Result<PaymentsPolicy, RequestIssue> =>
  Result.try({
    try: () => PaymentsPolicy.make(given),
    catch: (error) => ({
      path: "PaymentsPolicy",
      problem: `is not what PaymentsPolicy.make makes: ${Schema.isSchemaError(error) ? error.message : "cannot be read"}`
    })
  })

/**
 * Returns the settings for the context of a fiber, or what is wrong with them: a policy that `PaymentsPolicy.make` did not make, and
 * would not; or facts where the client was built without. `builtIn` is the context in which the client was built. Consecutive
 * calls in the same context share one result.
 */
const makeSettings = (transport: Transport, facts: GatewayFacts, builtIn: Context.Context<never>) => {
  const budget = makeBudget()
  const policyOfLayer = Context.get(builtIn, PaymentsPolicy)

  const readSettings = (fiber: Fiber.Fiber<unknown, unknown>): Result.Result<CallSettings, RequestIssue> => {
    const { context } = fiber
    if (areUnheld(Context.get(context, GatewayFacts), facts))
      return Result.fail({ path: "GatewayFacts", problem: unheldFacts })
    return Result.map(readPolicy(Context.getOrUndefined(context, PaymentsPolicy) ?? policyOfLayer), (policy) =>
      settingsWith(policy, fiber)
    )
  }

  const settingsWith = (policy: PaymentsPolicy, fiber: Fiber.Fiber<unknown, unknown>): CallSettings => {
    const { context } = fiber
    const clock = fiber.getRef(Clock.Clock)
    const caller = Context.get(context, Caller)
    const { isSender, notAfter = Number.POSITIVE_INFINITY, onRefused } = caller
    return {
      policy,
      clock,
      monotonicMillis: () => monotonicMillisOf(clock),
      transport,
      isTraced: isTraced(context),
      // The reference is true by default, which nobody has decided: the gateway is another company.
      isTracePropagated:
        (Context.getOrUndefined(context, HttpClient.TracerPropagationEnabled) ??
          Context.getOrUndefined(builtIn, HttpClient.TracerPropagationEnabled)) === true,
      attemptTimeout: Duration.toMillis(policy.attemptTimeout),
      deadline: Duration.toMillis(policy.deadline),
      maxRetryAfter: Duration.toMillis(policy.maxRetryAfter),
      notAfter,
      horizon: notAfter === Number.POSITIVE_INFINITY ? Duration.toMillis(policy.horizon) : Number.POSITIVE_INFINITY,
      senderCheck: isSender,
      onRefused,
      budget
    }
  }

  // A memo of one entry, since a context never changes. It is weak: a client lives long, and must not keep its last context alive.
  let last = new WeakMap<Context.Context<never>, ReturnType<typeof readSettings>>()
  return (fiber: Fiber.Fiber<unknown, unknown>): ReturnType<typeof readSettings> => {
    const known = last.get(fiber.context)
    if (known !== undefined) return known
    const settings = readSettings(fiber)
    last = new WeakMap([[fiber.context, settings]])
    return settings
  }
}

/** The call that a line is about. */
interface Subject {
  readonly operation: Operation
  /** The time of the monotonic clock. */
  readonly now: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly context: Context.Context<never>
  readonly span: Tracer.Span | undefined
}

/** The status of a withdrawal. One that is not in the vocabulary is a misfit that is not left out: nobody knows what it means. */
export const statusField = "enTransaction"

/** What an unlisted status of a withdrawal says, by the operation that shows it. */
const meaningOfUnlisted: Partial<Record<Operation, string>> = {
  requestWithdrawal: "The withdrawal was accepted: look up what became of it",
  getWithdrawal: "It does not say what became of the withdrawal"
}

/**
 * Fields that did not fit: each is counted once a call. One that was left out is logged once for a client, and an unlisted
 * status once a minute. No values.
 */
const makeMisfitReport = (meters: Meters) => {
  const logged = new Set<string>()
  const reportStatus = makeLimitReport()
  return Effect.fnUntraced(function* (fields: ReadonlySet<string>, subject: Subject) {
    const { attributes, context, now, operation, span } = subject
    for (const field of fields) {
      meters.countMisfit(1, context, operation, field)
      const name = `${operation}: ${field}`
      const named = { ...attributes, "payments.field": field }
      if (field === statusField) {
        const line = `${name} of the answer is no listed status. ${meaningOfUnlisted[operation] ?? ""}`
        yield* reportStatus(field, now, line, { attributes: named, span })
      } else if (!logged.has(name)) {
        logged.add(name)
        yield* log("Warn", `${name} of the answer does not fit the contract and was left out`, named, span)
      }
    }
  })
}

/**
 * Logs what may happen at each call: a line once a minute for a client and a kind, with the count of all since the last line. `now`
 * is of the monotonic clock. The metrics count every case.
 */
const makeLimitReport = () => {
  const lines: Lines = new Map()
  return (kind: string, now: number, line: string, { attributes, span }: Pick<Subject, "attributes" | "span">) => {
    const count = countSinceLine(lines, kind, now)
    if (count === undefined) return Effect.void
    const times = count === 1 ? "" : ` (${count} times since the last such line)`
    return log("Warn", line + times, attributes, span)
  }
}

// The metrics. Their attributes are names and statuses, so there are few: never a header, a body, a key or a person's data.

type Handle = Metric.Metric<number, unknown>

/** Makes the update of a metric. The handle is made once for each list of values of its attributes. */
const updateOf = <Values extends ReadonlyArray<string | number | undefined>>(
  make: (...values: Values) => Handle
): ((amount: number, context: Context.Context<never>, ...values: Values) => void) => {
  const handles = new Map<string, Handle>()
  return (amount, context, ...values) => {
    const key = values.join(" ")
    const handle = handles.get(key) ?? make(...values)
    handles.set(key, handle)
    handle.updateUnsafe(amount, context)
  }
}

/** The metrics of a client that sends to `server`, of a merchant if it is named. Durations are in seconds. */
const makeMeters = (
  server: { readonly address: string; readonly port: number; readonly prefix: string },
  merchant: string | undefined
) => ({
  recordAttempt: updateOf((operation: Operation, status: number | undefined, errorType: string | undefined) =>
    histogram("http.client.request.duration", "How long an attempt took: one HTTP request", {
      "http.request.method": Endpoints.all[operation].method,
      "url.template": server.prefix + Endpoints.all[operation].path,
      "server.address": server.address,
      "server.port": String(server.port),
      "http.response.status_code": status?.toString(),
      "error.type": errorType
    })
  ),

  recordCall: updateOf((operation: Operation, result: string, outcome: string, errorType: string | undefined) =>
    histogram("effect_pix_call_duration_seconds", "How long a call took, over all its attempts and waits", {
      operation,
      result,
      outcome,
      "server.address": server.address,
      "error.type": errorType,
      merchant
    })
  ),

  countFailed: updateOf((operation: Operation, outcome: string, errorType: string | undefined) =>
    counter(
      "effect_pix_call_failed_centavos_total",
      "{centavo}",
      "The sum of the writes that did not succeed: a write that is repeated counts each time",
      { operation, outcome, "error.type": errorType }
    )
  ),

  recordClockOffset: updateOf(() => clockOffset("gateway")),

  countRefusedRetry: updateOf((operation: Operation) =>
    counter(
      "effect_pix_retries_refused_total",
      "{retry}",
      "Retries that the retry budget refused, since too many calls failed",
      { operation, "server.address": server.address }
    )
  ),

  countMisfit: updateOf((operation: Operation, field: string) =>
    counter(
      "effect_pix_misfits_total",
      "{answer}",
      "Answers with an optional field that did not fit the contract and was left out",
      { operation, field }
    )
  )
})

type Meters = ReturnType<typeof makeMeters>
