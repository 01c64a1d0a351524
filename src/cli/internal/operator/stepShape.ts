/** The shape of an operator's step: what it is about, and what it does. `step.ts` makes a subcommand of one, `takeStep.ts` takes it. */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StepOptions } from "../../../durable/Step.ts"
import type { PayoutLetter } from "../../../payouts/OnState.ts"
import type { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutSentence } from "../../../payouts/PayoutSentence.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import type { WebhookClient } from "../../../webhook/Webhook.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import type { Account } from "./describe.ts"

/** A step. `Subject` is what it is about, `Own` are its own flags. */
export interface Step<Service, Subject, Own, Done> {
  readonly name: string
  /** What it does to a subject, for the person who confirms it. */
  readonly effect: (subject: Subject, own: Own) => string
  readonly take: (
    service: Service,
    subject: Subject,
    why: StepOptions,
    own: Own
  ) => Effect.Effect<Done, { readonly _tag: string; readonly message: string }>
}

/** A payout, and whether the workers of its account are paused. */
export interface Payout {
  readonly status: PayoutStatus
  readonly isPaused: boolean
}

/** Which payouts are listed, beside their state. */
export type Filter = Omit<NonNullable<Parameters<Queue["list"]>[0]>, "state">

/** The payouts that a flag finds, in place of their references. */
export interface Group {
  readonly states: ReadonlyArray<PayoutState>
  readonly filter: Filter
  /** It leaves out what a person has to look at one by one. */
  readonly leavesLate: boolean
}

/** The flags of a step about payouts. */
export interface PayoutFlags {
  readonly group?: Option.Option<Group>
  /** The numbers of withdrawals, beside the references. */
  readonly withdrawals?: ReadonlyArray<number>
}

type Queue = PayoutQueue["Service"]

export type PayoutStep<Own> = Step<Queue, Payout, Own, PayoutStatus>
export type AccountStep<Own> = Step<Queue, Account, Own, void>
/** A sentence with its words, where the key of the program's seal is given. */
export interface Worded extends PayoutSentence {
  readonly words: string | undefined
}

/** A step with a sentence that nobody knows. Its result is what it moved. */
export interface SentenceStep<Own> extends Step<Queue, Worded, Own, ReadonlyArray<PayoutStatus>> {
  readonly asOf: (own: Own) => "refused" | "wait"
}
/** A step with a dead letter of `onState`. Its result is false where there is no such letter any more. */
export type StateLetterStep = Step<Queue, PayoutLetter, unknown, boolean>
/** Its result is false where there is no such letter any more. */
export type LetterStep = Step<WebhookClient["Service"], StoredDelivery, unknown, boolean>
