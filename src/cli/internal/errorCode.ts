/**
 * The code of an error: of the system, of OpenSSL, of PostgreSQL or of the transport. It is the only text of an error that
 * shows nothing of a request, a URL or a file.
 */
import * as Predicate from "effect/Predicate"

/** The first code in a chain of causes. */
export const codeOf = (error: unknown, depth = 0): string | undefined => {
  if (!Predicate.isObject(error) || depth > 8) return undefined
  const code = Reflect.get(error, "code")
  return typeof code === "string" && /^\w{1,50}$/.test(code) ? code : codeOf(Reflect.get(error, "cause"), depth + 1)
}

const problems: Readonly<Record<string, string>> = {
  EAI_AGAIN: "the host name could not be looked up",
  ECONNREFUSED: "the connection is refused: nobody listens there",
  ECONNRESET: "the connection was closed before an answer",
  ENOENT: "there is no such socket",
  ENOTFOUND: "the host name is not known",
  ETIMEDOUT: "no answer in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection could be made in time",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  "28000": "the user is refused",
  "28P01": "the password is refused",
  "3D000": "no database has this name",
  "53300": "no connection is left"
}

const tlsCode = /^ERR_(?:SSL|TLS)_|CERT|^UNABLE_TO_VERIFY|^HOSTNAME_MISMATCH$|^EPROTO$/

/** A code of a connection in words; `undefined` for any other code. */
export const problemOf = (code: string): string | undefined =>
  problems[code] ?? (tlsCode.test(code) ? "the TLS certificate or handshake is not acceptable" : undefined)
