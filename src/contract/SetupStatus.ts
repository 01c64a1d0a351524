/**
 * The statuses by which, without words, something on the way to the service answers: a wrong address, or the balancer of a deploy. The
 * way has to be set up anew, not the request.
 */
export const setupStatuses: ReadonlySet<number> = new Set([404, 405, 410, 415, 417, 421, 426, 428, 451])
