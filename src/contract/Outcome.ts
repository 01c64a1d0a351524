/**
 * The fields that errors of operations share: whether money may have moved, what has to change, and the mistakes in a
 * request.
 */
import * as Schema from "effect/Schema"

/**
 * Whether money may have moved.
 *
 * - `NotSent`: no request left this process. Nothing was executed.
 * - `Rejected`: the service refused the request. Nothing was executed.
 * - `Unknown`: the write may have been executed. Never send it under a new key: repeat it with the same one.
 * - `NoEffect`: a read got no usable answer. A read changes nothing.
 */
export const Outcome = Schema.Literals(["NotSent", "Rejected", "Unknown", "NoEffect"])
export type Outcome = typeof Outcome.Type

/**
 * What has to change before another attempt can succeed. Whether another attempt is *safe* follows from the outcome: after
 * `Unknown` it is safe only under the same key.
 *
 * - `Request`: the request. The same one is refused again; another one may succeed.
 * - `Balance`: the balance, or a limit, of the account. Other withdrawals may be refused as well until then.
 * - `Setup`: the credentials, the base URL or the database. Every call fails until they are corrected.
 * - `Service`: nothing of the request: an outage, of the database too. The same call may succeed later.
 */
export type Concern = "Request" | "Balance" | "Setup" | "Service"

/**
 * One mistake in a request: its path, and a predicate that says what is wrong there, such as `must be a string`. The
 * path is empty if the mistake concerns the whole request. A mistake never holds the value.
 */
export const RequestIssue = Schema.Struct({ path: Schema.String, problem: Schema.String })
export interface RequestIssue extends Schema.Schema.Type<typeof RequestIssue> {}

/** The mistakes as a part of a sentence. `whole` is the name that is written for an empty path. */
export const issuesInWords = (issues: ReadonlyArray<RequestIssue>, whole = "the request"): string =>
  issues.map(({ path, problem }) => `${path || whole} ${problem}`).join("; ")
