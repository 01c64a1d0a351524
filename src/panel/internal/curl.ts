/**
 * Writes a request as a `curl` command for a shell, with the credentials as variables.
 */
import { headerNames } from "../../contract/Endpoints.ts"
import type { SandboxRequest } from "../../sandbox/SandboxRequest.ts"

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

/** The command that sends a request again. */
export const curl = ({ body, headers, method, origin, path, query }: SandboxRequest): string => {
  const search = new URLSearchParams(query).toString()
  return [
    `curl -X ${method} ${quoted(`${origin}${path}${search === "" ? "" : `?${search}`}`)}`,
    ...Object.entries(headers)
      .filter(([name]) => !own.has(name))
      .map(([name, value]) => `  -H ${header(name, value)}`),
    ...(body === "" ? [] : [`  --data-raw ${quoted(body)}`])
  ].join(" \\\n")
}
