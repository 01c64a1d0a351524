/**
 * The sender of a request of the client: a hash is made only where it is needed.
 */
import * as Redacted from "effect/Redacted"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import type { Sender } from "../../../internal/sender.ts"
import type { ApiCredentials } from "../../Credentials.ts"

/** The sender with these credentials, at this base URL and of this company. */
export const makeSender = (
  baseUrl: string,
  companyId: number | undefined,
  { apiKey, clientId }: ApiCredentials
): Sender => ({
  companyId,
  fingerprint: (known) => {
    const company = companyId ?? known
    const owner = company === undefined ? { secret: Redacted.value(apiKey) } : { company }
    return fingerprint(JSON.stringify([baseUrl, clientId, owner]))
  }
})
