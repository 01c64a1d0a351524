/**
 * What a call takes from its context: looked up once for all calls of one context.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import type * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { isTraced } from "../../../internal/spans.ts"
import { offered, type Transport } from "../../../internal/transport.ts"
import { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import { RefusalRules } from "../../RefusalRules.ts"
import { NotAfter } from "../../../internal/notAfter.ts"
import { transportOf } from "../transport/clientTransport.ts"
import { wrongInPolicy, wrongInRules } from "./policy.ts"

export interface Settings {
  readonly policy: PaymentsPolicy
  readonly rules: RefusalRules
  readonly clock: Clock.Clock
  readonly transport: Transport
  readonly isTraced: boolean
  /** In milliseconds, as the others. */
  readonly attemptTimeout: number
  readonly deadline: number
  readonly maxRetryAfter: number
  /** The last moment at which a request may leave. */
  readonly notAfter: number
}

const platformClock = Context.get(Context.empty(), Clock.Clock)

/** What a call takes from its context, or what is wrong with it. */
export type LookedUp = Result.Result<Settings, ReadonlyArray<RequestIssue>>

/** Looks settings up for the client of one layer, which was built in `builtIn`. */
export const makeSettings = (client: HttpClient.HttpClient, builtIn: Context.Context<never>) => {
  const own = offered(client)

  const transportIn = (context: Context.Context<never>, isPlatformClock: boolean): Transport => {
    const init = Context.getOrUndefined(context, FetchHttpClient.RequestInit)
    // Its timers are the platform's, and it knows nothing of the fetch that one call may bring.
    const isOwn =
      isPlatformClock && init === undefined && Context.getOrUndefined(context, FetchHttpClient.Fetch) === undefined
    return own !== undefined && isOwn
      ? own
      : transportOf(client, {
          context,
          init: init ?? Context.getOrUndefined(builtIn, FetchHttpClient.RequestInit),
          isPlatformClock
        })
  }

  const lookUp = (fiber: Fiber.Fiber<unknown, unknown>): LookedUp => {
    const { context } = fiber
    const clock = fiber.getRef(Clock.Clock)
    // A call's own policy, else the one that the layer was built with, else the default.
    const policy = Context.getOrUndefined(context, PaymentsPolicy) ?? Context.get(builtIn, PaymentsPolicy)
    const rules = Context.getOrUndefined(context, RefusalRules) ?? Context.get(builtIn, RefusalRules)
    const issues = [...wrongInPolicy(policy), ...wrongInRules(rules)]
    if (issues.length > 0) return Result.fail(issues)
    return Result.succeed({
      policy,
      clock,
      rules,
      transport: transportIn(context, clock === platformClock),
      isTraced: isTraced(context),
      attemptTimeout: Duration.toMillis(policy.attemptTimeout),
      deadline: Duration.toMillis(policy.deadline),
      maxRetryAfter: Duration.toMillis(policy.maxRetryAfter),
      notAfter: Context.get(context, NotAfter)
    })
  }

  let last: { readonly context: Context.Context<never>; readonly lookedUp: LookedUp } | undefined
  return (fiber: Fiber.Fiber<unknown, unknown>): LookedUp => {
    if (last?.context !== fiber.context) last = { context: fiber.context, lookedUp: lookUp(fiber) }
    return last.lookedUp
  }
}
