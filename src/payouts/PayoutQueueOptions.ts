/**
 * The settings of the queue of payouts, with their defaults.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/**
 * How the stored request is sealed and opened, as with a key of yours. `reference` is that of the payout: what was sealed
 * for one must not open for another. What cannot be done now (a key service that is away) is a defect: a submit dies
 * of it, and a worker tries again.
 */
export interface Seal {
  /** From the request as JSON to the text that is stored. */
  readonly seal: (request: string, reference: string) => Effect.Effect<string>
  /** From the stored text to the request as JSON. It is interrupted after 30 seconds, and tried again later. */
  readonly open: (sealed: string, reference: string) => Effect.Effect<string>
}

/** What everybody who uses the queue has to agree on. */
export interface PayoutClientOptions {
  /** How the stored request is sealed. Default: it is stored as it is. */
  readonly seal?: Seal | undefined
  /** How often the database is asked for what other processes did. Default 1 second. */
  readonly poll?: Duration.Input | undefined
  /**
   * How long after a request may have left it may be repeated. It has to be below the time for which the service
   * remembers keys, which it does not document. Default 12 hours.
   */
  readonly horizon?: Duration.Input | undefined
}

/** How the payouts are sent. Workers that share a database need the same limits. */
export interface PayoutQueueOptions extends PayoutClientOptions {
  /** How many requests of this process may be under way. Default 20. */
  readonly concurrency?: number | undefined
  /** After how long the payouts of a process that is dead or stopped are taken over by another process. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How long a stop of the process waits for what is under way, before it cuts it off. Default 10 seconds. */
  readonly drain?: Duration.Input | undefined
  /** The most that one payout may be, in centavos; what is above is parked. Default: no limit. */
  readonly maxAmount?: number | undefined
  /** How many payouts all processes together begin in a second, at most 1000; 0.5 is one in two seconds. Default: no limit. */
  readonly perSecond?: number | undefined
  /**
   * What all processes together may send in a day, in centavos. What is unknown counts. The rest waits for the next day.
   * Default: no limit.
   */
  readonly dailyCap?: number | undefined
  /** Where a day begins. Default `America/Sao_Paulo`. */
  readonly zone?: string | undefined
  /** What is forgotten of payouts that are posted, settled, failed or refused, and when. */
  readonly forget?:
    | {
        /**
         * How long the request is stored: its PIX key, description and metadata. A refused payout cannot be sent after it.
         * Default 90 days.
         */
        readonly data?: Duration.Input | undefined
        /**
         * How long the rest of the row is stored, longer than `data`. A reference that was forgotten can be paid again.
         * Default: for ever.
         */
        readonly references?: Duration.Input | undefined
      }
    | undefined
}
