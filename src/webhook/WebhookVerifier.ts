/**
 * Who may send deliveries to the webhook. The service documents no signature (`docs/service.md`), so until it
 * does, a secret in a header or in the path refuses deliveries of strangers. A list of addresses is a proxy's or a firewall's work.
 *
 * - A verifier only reduces load and noise. An accepted delivery is still a hint: `Webhook` confirms it by a lookup. So a
 *   repeated delivery does no harm.
 * - A verifier is a function. For a signature, write your own: it gets the headers and the body byte for byte.
 * - A secret may be an `Effect`, which is run at each delivery: so it is exchanged without a restart. Keep what it reads for a
 *   while, as below: whoever knows the address makes it run as often as he likes.
 *
 * Gotchas:
 * - Prefer {@link sharedSecret} where the gateway sends a header of yours. The panel that was seen takes one address and no
 *   header: {@link pathSecret} serves it. Neither this library nor the span and the access log of Effect's server show the
 *   secret then, but proxies write addresses down.
 *
 * @example
 * ```ts
 * import { Config, Effect } from "effect"
 * import { WebhookVerifier } from "effect-pix/webhook"
 *
 * const verifier = Effect.gen(function* () {
 *   const secret = yield* Effect.cachedWithTTL(Config.Redacted("WEBHOOK_SECRET"), "1 minute")
 *   return WebhookVerifier.sharedSecret({ header: "X-Webhook-Secret", secret })
 * })
 * ```
 */
declare module "./WebhookVerifier.ts" {}

import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import * as Arr from "effect/Array"
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { ConfigurationError, settingError } from "../contract/ConfigurationError.ts"

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
    /**
     * `Missing`: the delivery does not have the checked part. `NoSecret`: the verifier's own secret could not be read, or no
     * delivery can have it, so the delivery is answered with 503 and not with 401.
     */
    reason: Schema.Literals(["Missing", "Mismatch", "NoSecret"]),
    /** What is wrong with the verifier's own secret, as a predicate: "has an empty secret". */
    problem: Schema.optionalKey(Schema.String)
  })
) {
  override get message(): string {
    const problem = this.problem === undefined ? "" : ` The verifier ${this.problem}.`
    return `The webhook delivery was refused by ${this.by}: ${this.reason}.${problem}`
  }
}

/**
 * Decides whose deliveries are accepted: accepts the delivery, or fails with `WebhookRefused`. Your own verifier is a function
 * of this shape.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { WebhookVerifier } from "effect-pix/webhook"
 * import { createHmac, timingSafeEqual } from "node:crypto"
 *
 * const key = "kept-in-a-secret-store"
 *
 * // A signature that a proxy adds.
 * const signed: WebhookVerifier.WebhookVerifier = ({ body, headers }) => {
 *   const found = Buffer.from(headers["x-signature"] ?? "", "hex")
 *   const expected = createHmac("sha256", key).update(body).digest()
 *   return found.length === expected.length && timingSafeEqual(found, expected)
 *     ? Effect.void
 *     : new WebhookVerifier.WebhookRefused({ by: "signature", reason: "Mismatch" })
 * }
 * ```
 */
export interface WebhookVerifier {
  /** Accepts the delivery, or fails with `WebhookRefused`. */
  (request: WebhookRequest): Effect.Effect<void, WebhookRefused>
  /**
   * Whether the last segment of the path is a secret: the delivery is then left out of the server's access log, and the segment
   * out of the server's span. Default: no.
   */
  readonly secretInPath?: boolean | undefined
  /** The verifier's own settings are wrong: it accepts no delivery, and the layer of `Webhook` fails with this. */
  readonly problem?: ConfigurationError | undefined
}

/** One secret, or several: the old and the new one, while they are exchanged. */
export type Secrets = Redacted.Redacted | ReadonlyArray<Redacted.Redacted>

/** The secrets, or an effect that reads them: it is run at each delivery, and may take 10 seconds. See `Effect.cachedWithTTL`. */
export type SecretsInput<E> = Secrets | Effect.Effect<Secrets, E>

const refuse = (by: string, reason: WebhookRefused["reason"], problem?: string) =>
  new WebhookRefused({ by, reason, ...(problem === undefined ? {} : { problem }) })
const accept = (by: string, good: boolean) => (good ? Effect.void : refuse(by, "Mismatch"))

const wrong = (by: string, problem: string): WebhookVerifier =>
  Object.assign(() => refuse(by, "Mismatch"), { problem: settingError(`WebhookVerifier.${by}`, problem) })

const digest = (text: string) => sha256(utf8ToBytes(text))

const notHeld =
  "has a secret that no header can hold: it may have visible ASCII characters, and spaces between them (is there a space or a line break at its end?)"

/** The texts of the secrets, or what is wrong with one of them. */
const textsOf = (secrets: Secrets): Result.Result<ReadonlyArray<string>, string> => {
  const texts = (Redacted.isRedacted(secrets) ? [secrets] : secrets).map((secret) => Redacted.value(secret))
  if (texts.length === 0 || texts.some((text) => text.trim() === "")) return Result.fail("has an empty secret")
  return texts.every((text) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text))
    ? Result.succeed(texts)
    : Result.fail(notHeld)
}

/** The same of secrets that are read. Why they could not be read is not shown: the failure may hold them. */
const readTexts = <E>(read: Effect.Effect<Secrets, E>): Effect.Effect<ReturnType<typeof textsOf>> =>
  Effect.timeout(read, "10 seconds").pipe(
    Effect.map(textsOf),
    Effect.catchCause(() => Effect.succeed(Result.fail("could not read its secret")))
  )

/**
 * The delivery must have one of the secrets. The comparison takes constant time for any length, because it compares digests.
 */
const bySecret = <E>(
  by: string,
  input: SecretsInput<E>,
  given: (request: WebhookRequest) => string | undefined
): WebhookVerifier => {
  const fixed = Effect.isEffect(input) ? undefined : textsOf(input)
  if (fixed !== undefined && Result.isFailure(fixed)) return wrong(by, fixed.failure)
  const texts = Effect.isEffect(input) ? readTexts(input) : Effect.succeed(textsOf(input))
  return Effect.fnUntraced(function* (request) {
    const value = given(request)
    if (value === undefined) return yield* refuse(by, "Missing")
    const secrets = yield* texts
    if (Result.isFailure(secrets)) return yield* refuse(by, "NoSecret", secrets.failure)
    const found = digest(value)
    const matches = secrets.success.filter((secret) => Mac.timingSafeEqual(digest(secret), found))
    return yield* accept(by, matches.length > 0)
  })
}

/** The delivery must carry a secret in a header. The comparison takes constant time. */
export const sharedSecret = <E>(options: {
  /** Which header, as `X-Webhook-Secret`. */
  readonly header: string
  readonly secret: SecretsInput<E>
}): WebhookVerifier => {
  const header = options.header.toLowerCase()
  return bySecret("sharedSecret", options.secret, ({ headers }) => headers[header])
}

const lastSegment = (path: string): string | undefined => {
  const segment = path.slice(path.lastIndexOf("/") + 1)
  const decoded = Result.try(() => decodeURIComponent(segment))
  return Result.isSuccess(decoded) && decoded.success !== "" ? decoded.success : undefined
}

/**
 * The last segment of the path must be a secret, as in `/webhooks/pix/<secret>`: route it with `/webhooks/pix/:secret`, and
 * enter the whole address in the gateway's panel. The comparison takes constant time. The secret is in no span and no line of
 * this library, and is removed from the span and the access log of Effect's server.
 */
export const pathSecret = <E>(options: { readonly secret: SecretsInput<E> }): WebhookVerifier =>
  Object.assign(
    bySecret("pathSecret", options.secret, ({ path }) => lastSegment(path)),
    { secretInPath: true }
  )

/** Each of these verifiers must accept the delivery. An empty list accepts every delivery. */
export const all = (verifiers: ReadonlyArray<WebhookVerifier>): WebhookVerifier => {
  const settings = verifiers.flatMap(({ problem }) => problem?.settings ?? [])
  return Object.assign(
    (request: WebhookRequest) => Effect.forEach(verifiers, (verify) => verify(request), { discard: true }),
    {
      secretInPath: verifiers.some(({ secretInPath }) => secretInPath === true),
      problem: Arr.isArrayNonEmpty(settings) ? new ConfigurationError({ settings }) : undefined
    }
  )
}
