/**
 * The sender of a request of the client: a hash is made only where it is needed.
 *
 * The fingerprint is shown and stored. So the client id has a share of 64 bits in it, and the secret one of 32: both have far
 * more, and no hash of so few bits can hold them. Two secrets of one client id share it once in four billion times.
 */
import * as Redacted from "effect/Redacted"
import { fingerprint, lanes } from "../../../internal/fingerprint.ts"
import type { Sender } from "../../../internal/sender.ts"
import type { ApiCredentials } from "../../Credentials.ts"

/** The sender with these credentials, at this base URL and of this company. */
export const makeSender = (
  baseUrl: string,
  companyId: number | undefined,
  { apiKey, clientId }: ApiCredentials
): Sender => ({
  baseUrl,
  companyId,
  fingerprint: (known) => {
    const company = companyId ?? known
    const owner = company === undefined ? { secret: lanes(Redacted.value(apiKey), 1) } : { company }
    return fingerprint(JSON.stringify([baseUrl, lanes(clientId, 2), owner]))
  }
})
