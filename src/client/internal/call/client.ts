/**
 * What all calls of one client share.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as HttpClient from "effect/http/HttpClient"
import type { Credentials } from "../../Credentials.ts"
import type { IdempotencyKeyGen } from "../../IdempotencyKeyGen.ts"
import { makeMisfitReport } from "../wire/misfits.ts"
import { type Bucket, makeBucket } from "./budget.ts"
import { type LookedUp, makeSettings } from "./settings.ts"

export interface ClientOptions {
  readonly client: HttpClient.HttpClient
  readonly credentials: Credentials["Service"]
  readonly keys: IdempotencyKeyGen["Service"]
  readonly baseUrl: URL
  readonly companyId: number | undefined
}

export interface Client extends Pick<ClientOptions, "credentials" | "keys" | "companyId"> {
  /** The budget of retries. */
  readonly bucket: Bucket
  /** Scheme, host and port. */
  readonly origin: string
  /** The path of the base URL, before every path of the contract. */
  readonly prefix: string
  /** The attributes that every span of a request has. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** Counts and logs the fields of an answer that did not fit. */
  readonly reportMisfits: ReturnType<typeof makeMisfitReport>
  readonly settingsOf: (fiber: Fiber.Fiber<unknown, unknown>) => LookedUp
}

export const makeClient = (options: ClientOptions): Effect.Effect<Client> =>
  Effect.map(Effect.context<never>(), (builtIn: Context.Context<never>) => {
    const { baseUrl, client, companyId, credentials, keys } = options
    return {
      credentials,
      keys,
      companyId,
      bucket: makeBucket(),
      origin: baseUrl.origin,
      prefix: baseUrl.pathname.replace(/(?<!\/)\/+$/, ""),
      attributes: {
        "server.address": baseUrl.hostname,
        "server.port": Number(baseUrl.port) || (baseUrl.protocol === "https:" ? 443 : 80),
        "url.scheme": baseUrl.protocol.slice(0, -1)
      },
      reportMisfits: makeMisfitReport(),
      settingsOf: makeSettings(client, builtIn)
    }
  })
