/**
 * Who may steer. Any web page can make a browser on this machine send requests to a loopback port, so what a browser
 * sends is taken from the sandbox's own page alone:
 *
 * - `Origin`, where it is sent, is the sandbox's own.
 * - `Sec-Fetch-Site`, where it is sent, says the same, or that a person typed the address.
 * - `Host` is an address, `localhost`, or the name that the sandbox listens on: a name that was rebound to this machine
 *   (DNS rebinding) is another.
 */
import { isLoopback } from "../../internal/loopback.ts"

const isAddress = (name: string) => /^\d{1,3}(?:\.\d{1,3}){3}$|^\[[\da-f:.]+\]$/i.test(name)

const nameOf = (host: string) => host.replace(/:\d+$/, "").toLowerCase()

export interface Asking {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly site: string | undefined
}

/** Why a request is not let in; `undefined` where it is. */
export const objection = ({ host, origin, site }: Asking, listensOn: string): string | undefined => {
  const name = nameOf(host ?? "")
  if (!isAddress(name) && !isLoopback(name) && name !== listensOn.toLowerCase()) {
    return "The sandbox is reached by an address or as localhost, not by this name."
  }
  if (origin !== undefined && origin !== `http://${host}`) return "Only the sandbox's own page may do this."
  if (site !== undefined && site !== "same-origin" && site !== "none") return "Only the sandbox's own page may do this."
  return undefined
}
