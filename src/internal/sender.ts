/**
 * The sender of a request: the base URL, the client id and the company under which it is sent. An idempotency key
 * belongs to a sender, so a write in doubt is sent again only under the same one.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Under whom a request is sent. No secret can be read from it. */
export interface Sender {
  /** The client's own company. */
  readonly companyId: number | undefined
  /**
   * A hash of base URL, client id and company: the client's own company, else `companyId`. With no known company the
   * secret is hashed too, since it is then the secret that decides which company pays.
   */
  readonly fingerprint: (companyId?: number) => string
}

/**
 * Runs before the first byte of each attempt of a write, with the sender of that attempt. `false`: the attempt is not
 * sent, and the call ends with the reason `OtherClientId`.
 */
export const SenderCheck = Context.Reference<(sender: Sender) => boolean>("effect-pix/SenderCheck", {
  defaultValue: () => () => true
})

/** Senders by the identity of the service. A `Payments` that a user wrapped or mocked is another object, without one. */
const senders = new WeakMap<object, Effect.Effect<Sender>>()

/** Registers the effect that reads the current sender of a `Payments`. */
export const registerSender = (payments: object, sender: Effect.Effect<Sender>): void => {
  senders.set(payments, sender)
}

/** The effect that reads the current sender of this `Payments` object, if the client made it. */
export const senderOf = (payments: object): Effect.Effect<Sender> | undefined => senders.get(payments)
