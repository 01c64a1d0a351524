/**
 * Writes a request as a `curl` command for a shell, with the credentials as variables.
 */
import * as Redacted from "effect/Redacted"
import { headerNames } from "../../contract/Endpoints.ts"
import type { RecordedRequest } from "../SandboxRequest.ts"

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Headers that curl sets by itself, or that belong to the connection. */
const own: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "transfer-encoding",
  "user-agent"
])

/** The variables of the shell in place of the credentials. */
const variables: Readonly<Record<string, string>> = {
  [headerNames.clientId.toLowerCase()]: "$PAYMENTS_CLIENT_ID",
  [headerNames.apiKey.toLowerCase()]: "$PAYMENTS_API_KEY"
}

const header = (name: string, value: string) => {
  const variable = variables[name]
  return variable === undefined ? quoted(`${name}: ${value}`) : `"${name}: ${variable}"`
}

interface Command {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Empty if there is no body. */
  readonly body: string
}

export const writeCurl = ({ body, headers, method, url }: Command): string =>
  [
    `curl -X ${method} ${quoted(url)}`,
    ...Object.entries(headers)
      .filter(([name]) => !own.has(name))
      .map(([name, value]) => `  -H ${header(name, value)}`),
    ...(body === "" ? [] : [`  --data-raw ${quoted(body)}`])
  ].join(" \\\n")

/** The command that sends a request again. */
export const curl = ({ headers, method, origin, path, query, text }: RecordedRequest): string => {
  const search = new URLSearchParams(query).toString()
  const url = `${origin}${path}${search === "" ? "" : `?${search}`}`
  return writeCurl({ method, url, headers, body: Redacted.value(text) })
}
