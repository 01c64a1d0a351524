/**
 * Who may call the webhook. The service documents no signature (service interface, section 6), so until it does, a
 * secret in a header or in the path, and a list of addresses, keep strangers out. For the day when a signature is
 * documented there is {@link hmac}.
 *
 * Gotchas:
 * - A verifier only keeps load and noise away. Even a delivery that passes is a hint: `Webhook` confirms it by a lookup.
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

import { hmac as macOf } from "@noble/hashes/hmac.js"
import { sha1 } from "@noble/hashes/legacy.js"
import { sha256, sha512 } from "@noble/hashes/sha2.js"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Mac from "effect/crypto/Mac"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ConfigurationError } from "../contract/ConfigurationError.ts"
import * as Settings from "../contract/Settings.ts"

/** What a verifier sees of a delivery. */
export interface WebhookRequest {
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The path of the address, as it came. */
  readonly path: string
  /** Where the delivery comes from, where that is known. */
  readonly remoteAddress: Option.Option<string>
  /** The body, byte for byte. */
  readonly body: Uint8Array
}

/** The delivery is not acceptable. It never says what was expected. */
export class WebhookRefused extends Schema.TaggedError<WebhookRefused>("effect-pix/WebhookRefused")("WebhookRefused", {
  /** Which verifier. */
  by: Schema.String,
  /** `Missing`: what it looks for is not there. `Stale`: the timestamp is too old, or of the future. */
  reason: Schema.Literals(["Missing", "Mismatch", "Stale"])
}) {
  override get message(): string {
    return `The webhook delivery was refused by ${this.by}: ${this.reason}.`
  }
}

/** Decides who may call. Write your own with an object of this shape. */
export interface WebhookVerifier {
  readonly verify: (request: WebhookRequest) => Effect.Effect<void, WebhookRefused>
  /** The path holds a secret: the server's access log says nothing about the delivery. Default: no. */
  readonly secretInPath?: boolean | undefined
  /** What it was made from is wrong: it takes no delivery, and the layer of `Webhook` fails with this. */
  readonly problem?: ConfigurationError | undefined
}

/** One secret, or several: the old and the new one, while they are exchanged. */
export type Secrets = Redacted.Redacted | ReadonlyArray<Redacted.Redacted>

const text = new TextEncoder()

const wrong = (by: string, problem: string): WebhookVerifier => ({
  verify: () => refuse(by, "Mismatch"),
  problem: Settings.wrong(`WebhookVerifier.${by}`, problem)
})

const withSecrets = (
  by: string,
  secrets: Secrets,
  verifier: (secrets: ReadonlyArray<Uint8Array>) => WebhookVerifier
): WebhookVerifier => {
  const all = (Redacted.isRedacted(secrets) ? [secrets] : secrets).map((secret) => Redacted.value(secret))
  return all.length === 0 || all.some((secret) => secret.trim() === "")
    ? wrong(by, "has an empty secret")
    : verifier(all.map((secret) => text.encode(secret)))
}

/** In constant time for its length too: digests are compared, which are as long as each other. */
const isOneOf = (secrets: ReadonlyArray<Uint8Array>, given: string): boolean => {
  const digest = sha256(text.encode(given))
  return secrets.reduce((found, secret) => Mac.timingSafeEqual(sha256(secret), digest) || found, false)
}

const refuse = (by: string, reason: WebhookRefused["reason"]) => new WebhookRefused({ by, reason })
const accept = (by: string, good: boolean) => (good ? Effect.void : refuse(by, "Mismatch"))

/** Takes every delivery. What it brings is only a hint all the same. */
export const none: WebhookVerifier = { verify: () => Effect.void }

/** The delivery must carry a secret in a header. The comparison takes constant time. */
export const headerSecret = (options: {
  /** Which header, as `X-Webhook-Secret`. */
  readonly header: string
  readonly secret: Secrets
}): WebhookVerifier => {
  const by = "headerSecret"
  const header = options.header.toLowerCase()
  return withSecrets(by, options.secret, (secrets) => ({
    verify: ({ headers }) => {
      const given = headers[header]
      return given === undefined ? refuse(by, "Missing") : accept(by, isOneOf(secrets, given))
    }
  }))
}

/**
 * The last segment of the path must be a secret, as in `/webhooks/pix/<secret>`: route it with `/webhooks/pix/:secret`.
 * The comparison takes constant time.
 */
export const pathSecret = (options: { readonly secret: Secrets }): WebhookVerifier => {
  const by = "pathSecret"
  return withSecrets(by, options.secret, (secrets) => ({
    secretInPath: true,
    verify: ({ path }) => {
      const last = path.slice(path.lastIndexOf("/") + 1)
      const given = Result.getOrElse(
        Result.try(() => decodeURIComponent(last)),
        () => ""
      )
      return given === "" ? refuse(by, "Missing") : accept(by, isOneOf(secrets, given))
    }
  }))
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

/** How a signature is made and sent. */
export interface HmacOptions {
  /** The header of the signature. */
  readonly header: string
  readonly secret: Secrets
  /** Default `sha256`. */
  readonly algorithm?: "sha1" | "sha256" | "sha512" | undefined
  /** Default `hex`. */
  readonly encoding?: "hex" | "base64" | undefined
  /** What stands before the signature in the header, as `sha256=`. Default: nothing. */
  readonly prefix?: string | undefined
  /**
   * A header with the time of signing, in seconds or milliseconds since 1970. It must not be further away than
   * `tolerance`, back or ahead (default 5 minutes), and it is part of what is signed. Default: no timestamp.
   */
  readonly timestamp?: { readonly header: string; readonly tolerance?: Duration.Input | undefined } | undefined
  /** What is signed. Default: the body; with a timestamp, `<timestamp>.<body>`. */
  readonly signed?: ((parts: { readonly body: Uint8Array; readonly timestamp: string }) => Uint8Array) | undefined
}

const hashes = { sha1, sha256, sha512 }

const signedWithTime = ({ body, timestamp }: { readonly body: Uint8Array; readonly timestamp: string }): Uint8Array => {
  const head = text.encode(`${timestamp}.`)
  const all = new Uint8Array(head.length + body.length)
  all.set(head)
  all.set(body, head.length)
  return all
}

const isFresh = (timestamp: string, now: number, tolerance: number): boolean => {
  if (!/^\d{1,15}$/.test(timestamp)) return false
  const given = Number(timestamp)
  return Math.abs(now - (given < 100_000_000_000 ? given * 1000 : given)) <= tolerance
}

/**
 * The body must be signed with a shared secret, by HMAC (RFC 2104). The comparison takes constant time.
 *
 * The service documents no signature today: what its header, algorithm and encoding will be is for you to say.
 */
export const hmac = (options: HmacOptions): WebhookVerifier => {
  const by = "hmac"
  const hash = hashes[options.algorithm ?? "sha256"]
  const decode = (options.encoding ?? "hex") === "hex" ? Hex.decode : Base64.decode
  const prefix = options.prefix ?? ""
  const header = options.header.toLowerCase()
  const timeHeader = options.timestamp?.header.toLowerCase()
  const tolerance = Duration.toMillis(Duration.fromInputUnsafe(options.timestamp?.tolerance ?? "5 minutes"))
  const signed = options.signed ?? (timeHeader === undefined ? ({ body }) => body : signedWithTime)
  return withSecrets(by, options.secret, (secrets) => ({
    verify: Effect.fnUntraced(function* ({ body, headers }) {
      const given = headers[header]
      const timestamp = timeHeader === undefined ? "" : headers[timeHeader]
      if (given === undefined || timestamp === undefined) return yield* refuse(by, "Missing")
      if (timeHeader !== undefined && !isFresh(timestamp, yield* Clock.currentTimeMillis, tolerance)) {
        return yield* refuse(by, "Stale")
      }
      const signature = given.startsWith(prefix) ? decode(given.slice(prefix.length).trim()) : undefined
      if (signature === undefined || Result.isFailure(signature)) return yield* refuse(by, "Mismatch")
      const message = signed({ body, timestamp })
      const good = secrets.reduce(
        (found, secret) => Mac.timingSafeEqual(macOf(hash, secret, message), signature.success) || found,
        false
      )
      return yield* accept(by, good)
    })
  }))
}

/** What several verifiers are together, beside whom they take. */
const together = (verifiers: ReadonlyArray<WebhookVerifier>) => {
  const settings = verifiers.flatMap(({ problem }) => problem?.settings ?? [])
  return {
    secretInPath: verifiers.some(({ secretInPath }) => secretInPath === true),
    ...(Arr.isArrayNonEmpty(settings) ? { problem: new ConfigurationError({ settings }) } : {})
  }
}

/** Each of them must take the delivery. An empty list takes every delivery. */
export const all = (verifiers: ReadonlyArray<WebhookVerifier>): WebhookVerifier => ({
  verify: (request) => Effect.forEach(verifiers, ({ verify }) => verify(request), { discard: true }),
  ...together(verifiers)
})

/** One of them must take the delivery. An empty list takes none. */
export const any = (verifiers: ReadonlyArray<WebhookVerifier>): WebhookVerifier => ({
  verify: Effect.fnUntraced(function* (request) {
    let refused = refuse("any", "Missing")
    for (const { verify } of verifiers) {
      const result = yield* Effect.result(verify(request))
      if (Result.isSuccess(result)) return
      refused = result.failure
    }
    return yield* refused
  }),
  ...together(verifiers)
})
