/**
 * Writes a request as a `curl` command for a shell, with variables for the credentials that a record does not show.
 */
import { headerNames } from "../../contract/Endpoints.ts"
import { quoted } from "../../internal/shell.ts"
import type { SandboxRequest } from "../../sandbox/SandboxRequest.ts"

/** Headers that curl sets by itself, or that belong to the connection. */
const own: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "transfer-encoding",
  "user-agent"
])

/** The variables of the shell in place of credentials that are not shown. */
const variables: Readonly<Record<string, string>> = {
  [headerNames.clientId.toLowerCase()]: "$PAYMENTS_CLIENT_ID",
  [headerNames.apiKey.toLowerCase()]: "$PAYMENTS_API_KEY"
}

const header = (name: string, value: string) => {
  const variable = value === "<redacted>" ? variables[name] : undefined
  return variable === undefined ? quoted(`${name}: ${value}`) : `"${name}: ${variable}"`
}

/** A request that can be sent. */
type Sent = Pick<SandboxRequest, "body" | "headers" | "method" | "origin" | "path" | "query">

/** The command that sends a request. */
export const curl = ({ body, headers, method, origin, path, query }: Sent): string => {
  const search = new URLSearchParams(query).toString()
  return [
    `curl -X ${method} ${quoted(`${origin}${path}${search === "" ? "" : `?${search}`}`)}`,
    ...Object.entries(headers)
      .filter(([name]) => !own.has(name))
      .map(([name, value]) => `  -H ${header(name, value)}`),
    ...(body === "" ? [] : [`  --data-raw ${quoted(body)}`])
  ].join(" \\\n")
}
