/**
 * Who may send deliveries to the webhook. The service documents no signature (`docs/service.md`), so until it
 * does, a secret in a header or in the path, or a list of addresses, refuses deliveries of strangers.
 *
 * - A verifier only reduces load and noise. An accepted delivery is still a hint: `Webhook` confirms it by a lookup. So a
 *   repeated delivery does no harm, and no verifier checks the time of a signature.
 * - {@link hmac} is the usual form of a signature, for a proxy of your own that signs. When the service documents another
 *   one, write a verifier for it: an object with `verify`.
 *
 * Gotchas:
 * - Prefer {@link headerSecret}. With {@link pathSecret} the address is the secret, and addresses are written down by
 *   proxies and by the server's own tracer: set `HttpMiddleware.TracerDisabledWhen` for that path.
 * - {@link ipAllowList} believes the connection, never a header. Behind a proxy use Effect's
 *   `HttpMiddleware.xForwardedHeaders` with the proxies that you trust, or pass `remoteAddress` to the web handler.
 *
 * @example
 * ```ts
 * import { Redacted } from "effect"
 * import { WebhookVerifier } from "effect-pix/webhook"
 *
 * const verifier = WebhookVerifier.all([
 *   WebhookVerifier.ipAllowList(["203.0.113.0/24", "2001:db8::/32"]),
 *   WebhookVerifier.headerSecret({ header: "X-Webhook-Secret", secret: Redacted.make("kept-in-a-secret-store") })
 * ])
 * ```
 */
declare module "./WebhookVerifier.ts" {}

import { hmac as macOf } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Arr from "effect/Array"
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { ConfigurationError } from "../contract/ConfigurationError.ts"
import * as Settings from "../contract/Settings.ts"

/** The parts of a delivery that a verifier can check. */
export interface WebhookRequest {
  /** The headers, by names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The path of the address, not decoded. */
  readonly path: string
  /** The sender's address, if it is known. */
  readonly remoteAddress: Option.Option<string>
  /** The body, byte for byte. */
  readonly body: Uint8Array
}

/** A verifier refuses the delivery. The error never has the expected value. */
export class WebhookRefused extends legible(
  Schema.TaggedError<WebhookRefused>("effect-pix/WebhookRefused")("WebhookRefused", {
    /** The name of the verifier. */
    by: Schema.String,
    /** `Missing`: the delivery does not have the checked part. */
    reason: Schema.Literals(["Missing", "Mismatch"])
  })
) {
  override get message(): string {
    return `The webhook delivery was refused by ${this.by}: ${this.reason}.`
  }
}

/** Decides whose deliveries are accepted. Write your own with an object of this shape. */
export interface WebhookVerifier {
  /** Accepts the delivery, or fails with `WebhookRefused`. */
  readonly verify: (request: WebhookRequest) => Effect.Effect<void, WebhookRefused>
  /** Whether the path holds a secret: the delivery is then left out of the server's access log. Default: no. */
  readonly secretInPath?: boolean | undefined
  /** The verifier's own settings are wrong: it accepts no delivery, and the layer of `Webhook` fails with this. */
  readonly problem?: ConfigurationError | undefined
}

/** One secret, or several: the old and the new one, while they are exchanged. */
export type Secrets = Redacted.Redacted | ReadonlyArray<Redacted.Redacted>

const refuse = (by: string, reason: WebhookRefused["reason"]) => new WebhookRefused({ by, reason })
const accept = (by: string, good: boolean) => (good ? Effect.void : refuse(by, "Mismatch"))

const wrong = (by: string, problem: string): WebhookVerifier => ({
  verify: () => refuse(by, "Mismatch"),
  problem: Settings.wrong(`WebhookVerifier.${by}`, problem)
})

const digest = (text: string) => sha256(utf8ToBytes(text))

/**
 * The delivery must have the `expected` value of one of the secrets. The comparison takes constant time for any length,
 * because it compares digests.
 */
const bySecret = (
  by: string,
  secrets: Secrets,
  given: (request: WebhookRequest) => string | undefined,
  expected: (secret: string, request: WebhookRequest) => string = (secret) => secret
): WebhookVerifier => {
  const all = (Redacted.isRedacted(secrets) ? [secrets] : secrets).map((secret) => Redacted.value(secret))
  if (all.length === 0 || all.some((secret) => secret.trim() === "")) return wrong(by, "has an empty secret")
  return {
    verify: (request) => {
      const value = given(request)
      if (value === undefined) return refuse(by, "Missing")
      const found = digest(value)
      const matches = all.filter((secret) => Mac.timingSafeEqual(digest(expected(secret, request)), found))
      return accept(by, matches.length > 0)
    }
  }
}

/** Accepts every delivery. */
export const none: WebhookVerifier = { verify: () => Effect.void }

/** The delivery must carry a secret in a header. The comparison takes constant time. */
export const headerSecret = (options: {
  /** Which header, as `X-Webhook-Secret`. */
  readonly header: string
  readonly secret: Secrets
}): WebhookVerifier => {
  const header = options.header.toLowerCase()
  return bySecret("headerSecret", options.secret, ({ headers }) => headers[header])
}

const lastSegment = (path: string): string | undefined => {
  const segment = path.slice(path.lastIndexOf("/") + 1)
  const decoded = Result.try(() => decodeURIComponent(segment))
  return Result.isSuccess(decoded) && decoded.success !== "" ? decoded.success : undefined
}

/**
 * The last segment of the path must be a secret, as in `/webhooks/pix/<secret>`: route it with `/webhooks/pix/:secret`.
 * The comparison takes constant time.
 */
export const pathSecret = (options: { readonly secret: Secrets }): WebhookVerifier => ({
  ...bySecret("pathSecret", options.secret, ({ path }) => lastSegment(path)),
  secretInPath: true
})

/**
 * The body must be signed with a shared secret: HMAC-SHA-256 (RFC 2104), in hexadecimal with small letters. The comparison
 * takes constant time.
 */
export const hmac = (options: {
  /** The header of the signature. */
  readonly header: string
  readonly secret: Secrets
  /** The text before the signature in the header, as `sha256=`. Default: none. */
  readonly prefix?: string | undefined
}): WebhookVerifier => {
  const header = options.header.toLowerCase()
  const signature = (secret: string, { body }: WebhookRequest) =>
    `${options.prefix ?? ""}${bytesToHex(macOf(sha256, utf8ToBytes(secret), body))}`
  return bySecret("hmac", options.secret, ({ headers }) => headers[header], signature)
}

const mapped = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i

/** The delivery must come from one of these networks, in CIDR notation, or from one of these addresses. */
export const ipAllowList = (networks: ReadonlyArray<string>): WebhookVerifier => {
  const by = "ipAllowList"
  const read = Result.all(
    networks.map((network) =>
      Result.orElse(IpNetwork.fromString(network), () =>
        Result.flatMap(NetAddress.ipFromString(network), (address) =>
          IpNetwork.fromAddress(address, NetAddress.width(address))
        )
      )
    )
  )
  if (Result.isFailure(read)) return wrong(by, "names what is not an address or a network as 10.0.0.0/8")
  const allowed = read.success
  return {
    verify: ({ remoteAddress }) => {
      if (Option.isNone(remoteAddress)) return refuse(by, "Missing")
      // A server that listens on both families shows an IPv4 peer in its IPv6 form.
      const address = NetAddress.ipFromString(remoteAddress.value.replace(mapped, ""))
      return accept(
        by,
        Result.isSuccess(address) && allowed.some((network) => IpNetwork.contains(network, address.success))
      )
    }
  }
}

/** Each of these verifiers must accept the delivery. An empty list accepts every delivery. */
export const all = (verifiers: ReadonlyArray<WebhookVerifier>): WebhookVerifier => {
  const settings = verifiers.flatMap(({ problem }) => problem?.settings ?? [])
  return {
    verify: (request) => Effect.forEach(verifiers, ({ verify }) => verify(request), { discard: true }),
    secretInPath: verifiers.some(({ secretInPath }) => secretInPath === true),
    problem: Arr.isArrayNonEmpty(settings) ? new ConfigurationError({ settings }) : undefined
  }
}
