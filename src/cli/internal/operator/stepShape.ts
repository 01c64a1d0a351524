/** The shape of an operator's step: what it is about, and what it does. `steps.ts` makes a subcommand of one, `takeStep.ts` takes it. */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StepOptions } from "../../../durable/Step.ts"
import type { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutSentence } from "../../../payouts/PayoutSentence.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { PayoutState, PayoutStateConflict } from "../../../payouts/PayoutState.ts"
import type { Label, Text } from "../lang.ts"
import type { Account } from "./describe.ts"

/** A step, which says in both languages what it does: for help, for the pages, and for the person who confirms it. */
export interface Step<Subject, Own> extends Text {
  readonly name: string
  /** What it does to a subject, where that depends on it or on the flags of the step. */
  readonly effect?: (subject: Subject, own: Own, does: Text) => Label
}

interface Taken<Subject, Own, Done> extends Step<Subject, Own> {
  readonly take: (
    queue: Queue,
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
  readonly as?: "paid" | "failed" | "returned"
}

type Queue = PayoutQueue["Service"]

/** A step about payouts, which the queue has under its name. */
export interface PayoutStep<Own> extends Step<Payout, Own> {
  readonly name: PayoutStateConflict["operation"]
}
export type AccountStep<Own> = Taken<Account, Own, void>

/** A sentence with its words, where the key of the program's seal is given. */
export interface Worded extends PayoutSentence {
  readonly words: string | undefined
}

/** A step with a sentence that nobody knows. Its result is what it moved. */
export interface SentenceStep<Own> extends Taken<Worded, Own, ReadonlyArray<PayoutStatus>> {
  readonly asOf: (own: Own) => "refused" | "wait"
}

/** A step with a dead letter, of the queue or of the webhooks. */
export interface LetterStep extends Step<unknown, unknown> {
  readonly name: "retry" | "discard"
}
