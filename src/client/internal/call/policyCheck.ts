/**
 * Checks a policy. Each call checks it, since a caller without types may give anything.
 */
import { constFalse } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { RequestIssue } from "../../../contract/PaymentsError.ts"
import { millisOf } from "../../../contract/Options.ts"
import type { PaymentsPolicy, RetryBudget } from "../../PaymentsPolicy.ts"

type Issues = ReadonlyArray<RequestIssue>

/** Whether a setting is right, and the sentence for one that is not. */
type Check = readonly [isRight: (value: unknown) => boolean, problem: string]
type Checks<Settings> = { readonly [Name in keyof Settings]: Check }

const someTime: Check = [(value) => (millisOf(value) ?? 0) > 0, "must be a duration above zero"]
const schedule: Check = [Schedule.isSchedule, "must be a Schedule"]
const fn: Check = [Predicate.isFunction, "must be a function"]
const tokens: Check = [(value) => Number.isFinite(value) && Number(value) >= 0, "must be a number from 0"]

const oneOf = (...words: ReadonlyArray<string>): Check => [
  (value) => Predicate.isString(value) && words.includes(value),
  `must be one of ${words.join(", ")}`
]

const budget: Checks<RetryBudget> = {
  capacity: tokens,
  retryCost: tokens,
  throttledRetryCost: tokens,
  refund: tokens
}

const policy: Checks<PaymentsPolicy> = {
  attemptTimeout: someTime,
  deadline: someTime,
  retryReads: schedule,
  retryWrites: schedule,
  writes: oneOf("same-key", "only-unsent", "never"),
  horizon: someTime,
  maxRetryAfter: [(value) => millisOf(value) !== undefined, "must be a duration"],
  maxResponseBytes: [(value) => Number.isSafeInteger(value) && Number(value) >= 1, "must be a whole number from 1"],
  brCode: oneOf("report", "require"),
  acceptValue: fn,
  refusal: fn,
  retryBudget: [
    (value) => value === "unlimited" || Predicate.isObject(value),
    `must be unlimited, or { ${Object.keys(budget).join(", ")} }`
  ],
  onInterruptedWrite: fn
}

const wrongIn = (value: unknown, checks: Record<string, Check>, path: string): Issues =>
  Predicate.isObject(value)
    ? Object.entries(checks).flatMap(([name, [isRight, problem]]) => {
        // A setting that throws when it is read is wrong.
        const isFit = Result.try(() => isRight(value[name]))
        return Result.getOrElse(isFit, constFalse) ? [] : [{ path: `${path}.${name}`, problem }]
      })
    : [{ path, problem: `must be what ${path}.make makes` }]

/** All mistakes in a policy. */
export const settingErrors = (given: PaymentsPolicy): Issues => {
  const retryBudget = Predicate.isObject(given) ? given.retryBudget : undefined
  return [
    ...wrongIn(given, policy, "PaymentsPolicy"),
    ...(Predicate.isObject(retryBudget) ? wrongIn(retryBudget, budget, "PaymentsPolicy.retryBudget") : [])
  ]
}
