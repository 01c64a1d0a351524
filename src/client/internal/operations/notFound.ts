/**
 * The 404 of a lookup. Empty or JSON, it is the service's own: what was asked for does not exist. A page is the 404 of a load
 * balancer.
 */
import { type PaymentsError, UnexpectedResponse } from "../../../contract/PaymentsError.ts"
import type { OwnError } from "../call/error.ts"

const notOfService = [{ path: "", problem: "is neither empty nor JSON" }]

/** The errors that only a lookup has: `missing` makes that of the service's own 404. */
export const notFound =
  <E extends PaymentsError>(missing: (fields: Parameters<OwnError<E>>[1]) => E): OwnError<E | UnexpectedResponse> =>
  ({ isPage, status, unread }, fields) => {
    if (status !== 404) return undefined
    const reason = unread ?? (isPage ? "Unreadable" : undefined)
    return reason === undefined
      ? missing(fields)
      : new UnexpectedResponse({ ...fields, outcome: "NoEffect", reason, issues: notOfService })
  }
