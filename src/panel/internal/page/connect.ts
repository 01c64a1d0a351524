/** What a program needs to reach the sandbox: its settings for a shell and for a file, and a request for curl. Each is copied by one button. */
import { all, headerNames } from "../../../contract/Endpoints.ts"
import { shellWord } from "../../../internal/shell.ts"
import { curl } from "../curl.ts"
import { type Html, html } from "./html.ts"
import type { Writer } from "./write.ts"

/** The address of the gateway, its company, and the credentials that it accepts. */
export interface Access {
  readonly baseUrl: string
  readonly companyId: number
  readonly clientId: string
  readonly apiKey: string
}

export const connect = ({ block, copy, word }: Writer, { apiKey, baseUrl, clientId, companyId }: Access): Html => {
  const variables = Object.entries({
    PAYMENTS_BASE_URL: baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: apiKey,
    PAYMENTS_COMPANY_ID: `${companyId}`
  }).map(([name, value]) => `${name}=${shellWord(value)}`)
  const balance = curl({
    method: all.getBalance.method,
    origin: baseUrl,
    path: all.getBalance.path.replace(":companyId", `${companyId}`),
    query: {},
    headers: {
      [headerNames.clientId]: clientId,
      [headerNames.apiKey]: apiKey,
      [headerNames.accept]: "application/json"
    },
    body: ""
  })
  const texts = [
    ["inShell", variables.map((line) => `export ${line}`).join("\n")],
    ["inFile", variables.join("\n")],
    ["withCurl", balance]
  ] as const
  return html`<button type="button" popovertarget="connect">${word("connect")}</button>
    <div id="connect" popover class="sheet" role="dialog" aria-labelledby="connect-title">
      <h2 id="connect-title">${word("connect")}</h2>
      <p class="note">${word("connectNote")} <a href="/openapi.json">${word("openapi")}</a></p>
      ${texts.map(([name, text]) => block(word(name), text, copy(text, word(name))))}
      <button type="button" popovertarget="connect" popovertargetaction="hide">${word("close")}</button>
    </div>`
}
