/**
 * What a room of this library gives to the calls of a client that it makes, such as the queue of payouts: all of it decides before
 * the first byte whether a request leaves.
 */
import * as Context from "effect/Context"
import { constVoid } from "effect/Function"
import type { Sender } from "./sender.ts"

export interface Caller {
  /**
   * The time, in milliseconds since 1970, after which a call sends no request: its payout could be paid twice then. The deadline of
   * the policy is not enough, since a process may be suspended between two steps of a call. A caller that gives one has a horizon
   * of its own.
   */
  readonly notAfter: number | undefined
  /**
   * Whether an attempt may be sent by this sender. `false`: it is not sent, and the call ends with the reason
   * `OtherClientId`.
   */
  readonly isSender: (sender: Sender) => boolean
  /** Is told of the refusal that ends a call. */
  readonly onRefused: (refused: Refused) => void
}

interface Refused {
  /**
   * The tag of the error that it is by itself, where an earlier request leaves the call in doubt: what concerns all payouts of an account
   * is known all the same.
   */
  readonly tagInDoubt: string | undefined
  /** The digest of what only the client's own table knows: a person's judgement of it goes before that. */
  readonly digest: (() => string | undefined) | undefined
}

/** Anybody may send. */
const anySender = (): boolean => true

/** A reference and no argument, since the queue makes its calls through the user's `Payments`, decorated or not. */
export const Caller = Context.Reference<Caller>("effect-pix/Caller", {
  defaultValue: () => ({ notAfter: undefined, isSender: anySender, onRefused: constVoid })
})
