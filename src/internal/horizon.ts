/**
 * The horizon of a key: how long after its first request the service is trusted to recognise it.
 */

/**
 * Whether a write in doubt must not be sent any more: the service may have forgotten its key. `since` and `now` are in
 * milliseconds; a time that is not known, or lies ahead by more than the horizon, is not trusted.
 */
export const isPastHorizon = (since: number | undefined, now: number, horizon: number): boolean =>
  since === undefined || Math.abs(now - since) > horizon
