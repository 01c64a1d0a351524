/**
 * Decides who may steer. Any web page can make a browser on this machine send requests to a loopback port, so a request of
 * a browser is taken from the sandbox's own page alone:
 *
 * - `Origin`, if present, is the sandbox's own.
 * - `Sec-Fetch-Site`, if present, says the same, or that a person typed the address.
 * - `Host` is an address, `localhost`, the name that the sandbox listens on, or a name that its options allow. Other names may
 *   have been rebound to this machine (DNS rebinding). This check applies to the gateway's paths too.
 */
import { isLoopback } from "../../internal/loopback.ts"
import * as Refusal from "../../sandbox/Refusal.ts"

const isAddress = (name: string) => /^\d{1,3}(?:\.\d{1,3}){3}$|^\[[\da-f:.]+\]$/i.test(name)

const nameOf = (host: string) => host.replace(/:\d+$/, "").toLowerCase()

export interface BrowserHeaders {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly site: string | undefined
}

/** Whether the `Host` of a request is a name that the sandbox knows. */
export const isKnownHost = (host: string | undefined, allowedHosts: ReadonlyArray<string>): boolean => {
  const name = nameOf(host ?? "")
  return isAddress(name) || isLoopback(name) || allowedHosts.includes(name)
}

/** The refusal of a request; `undefined` if it is allowed. */
export const refusalOf = (
  headers: BrowserHeaders,
  allowedHosts: ReadonlyArray<string>
): Refusal.Refusal | undefined => {
  const { host, origin, site } = headers
  if (!isKnownHost(host, allowedHosts)) return Refusal.unknownHost
  if (origin !== undefined && origin !== `http://${host}`) return Refusal.notOwnPage
  if (site !== undefined && site !== "same-origin" && site !== "none") return Refusal.notOwnPage
  return undefined
}
