/**
 * The sentences of refusals that nobody knows, and what a person said of them.
 *
 * A sentence is known by its digest, which its `OutcomeUnknown` has: refusals that differ only by their request have one. The queue parks
 * what is refused by one, and never asks it again by itself. A judgement is a person's word, and no proof: what it ends keeps the doubt
 * of its request.
 */
import * as Schema from "effect/Schema"
import { Person } from "../durable/Step.ts"
import { Centavos } from "../pix/Money.ts"

/** What a sentence means: nothing was executed, and the payout is `refused`; or it ends by itself, and the payout is sent again. */
export const JudgedAs = Schema.Literals(["refused", "wait"])
/** See the schema of the same name. */
export type JudgedAs = typeof JudgedAs.Type

/** What a person said of a sentence. */
export const Judgement = Schema.Struct({
  digest: Schema.String,
  as: JudgedAs,
  /** The payout that the person looked up in the gateway's panel. */
  seen: Schema.String,
  at: Schema.DateTimeUtcFromString,
  ...Person.fields
})
/** See the schema of the same name. */
export interface Judgement extends Schema.Schema.Type<typeof Judgement> {}

/** A sentence, and the payouts that it parked. Their `amount` is in centavos. */
export const PayoutSentence = Schema.Struct({
  /** Its SHA-256, in hexadecimal. */
  digest: Schema.String,
  /** How many payouts it parked or ended, and their sum in centavos. */
  count: Schema.Int,
  amount: Centavos,
  /** Since when. */
  since: Schema.DateTimeUtcFromString,
  /** The oldest of them: look it up in the panel. Its `payee` has the words, where the queue has a `seal`. */
  reference: Schema.String,
  /** The HTTP status, and the code of the service where it is one. */
  status: Schema.optionalKey(Schema.Int),
  code: Schema.optionalKey(Schema.String),
  /** It has a word of doubt, or only says that the request failed: each payout is settled by itself. */
  oneByOne: Schema.optionalKey(Schema.Literal(true)),
  judgement: Schema.optionalKey(Judgement)
})
/** See the schema of the same name. */
export interface PayoutSentence extends Schema.Schema.Type<typeof PayoutSentence> {}
