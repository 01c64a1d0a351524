/**
 * The shape of an operator's step, and the subcommand that is made of it. What runs the steps is loaded when one is taken: it
 * brings the queue, the webhooks and a database driver.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { PayoutAccount } from "../../../payouts/PayoutHistory.ts"
import type { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutState, PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import type { WebhookClient } from "../../../webhook/Webhook.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import { by, json, person, text, yes } from "../flags.ts"
import { lazily } from "../lazily.ts"
import type { Sum } from "./describe.ts"

type Queue = PayoutQueue["Service"]

/** What every step has: its subcommand, the sentence of its help, and its own flags. */
interface Entry<Flags extends Command.Command.Config> {
  readonly name: string
  readonly about: string
  readonly flags: Flags
}

/** A payout, and whether the workers of its account are paused. */
export interface Payout {
  readonly status: PayoutStatus
  readonly isPaused: boolean
}

/** The payouts that a flag finds. */
export interface Group {
  readonly states: ReadonlyArray<PayoutState>
  readonly has: (status: PayoutStatus) => boolean
}

/** A step about one payout or many. */
export interface PayoutStep<Own> {
  readonly name: string
  /** The flag that finds payouts, in place of their references. */
  readonly group?: readonly [flag: string, of: (own: Own) => Option.Option<Group>] | undefined
  /** What it does to a payout, for the person who confirms it. */
  readonly effect: (payout: Payout, own: Own) => string
  readonly take: (queue: Queue, reference: string, why: StepOptions, own: Own) => ReturnType<Queue["park"]>
}

/** The account of the queue, and the sums of its payouts by their state. */
export interface Account extends PayoutAccount {
  readonly sums: ReadonlyMap<PayoutState, Sum>
  /** The time of the step, in milliseconds. */
  readonly now: number
}

/** A step about an account. */
export interface AccountStep<Own> {
  readonly name: string
  /** The account as it is. */
  readonly before: (account: Account, own: Own) => string
  readonly effect: (account: Account, own: Own) => string
  readonly take: (
    queue: Queue,
    why: StepOptions,
    own: Own
  ) => Effect.Effect<"Changed" | "Asked" | void, Effect.Error<ReturnType<Queue["changeSender"]>>>
  /** What was set, for machines. */
  readonly data: (own: Own) => object
  /** The account after it. */
  readonly after: (account: Account, own: Own) => string
}

/** A step about dead letters. */
export interface LetterStep {
  readonly name: string
  readonly effect: string
  readonly take: (
    webhooks: WebhookClient["Service"],
    letter: StoredDelivery,
    by: string
  ) => ReturnType<WebhookClient["Service"]["retry"]>
  /** What was done. */
  readonly after: string
}

const load = () => import("./takeStep.ts")

export const reference = Argument.String("reference").pipe(Argument.withDescription("Your own name of the payout"))
export const id = Argument.String("id").pipe(Argument.withDescription("A transaction's id, or the id of a dead letter"))

export const payoutStep = <const Flags extends Command.Command.Config>(
  step: Entry<Flags> & PayoutStep<Command.Command.Config.InferValue<Flags>>
) =>
  Command.make(
    step.name,
    { references: Argument.variadic(reference), own: step.flags, ...person, yes, json },
    lazily(() => load().then(({ takePayoutStep }) => takePayoutStep(step)))
  ).pipe(Command.withDescription(step.about))

export const accountStep = <const Flags extends Command.Command.Config>(
  step: Entry<Flags> & AccountStep<Command.Command.Config.InferValue<Flags>>
) =>
  Command.make(
    step.name,
    { own: step.flags, ...person, yes, json },
    lazily(() => load().then(({ takeAccountStep }) => takeAccountStep(step)))
  ).pipe(Command.withDescription(step.about))

export const letterStep = (step: Entry<{}> & LetterStep) =>
  Command.make(
    step.name,
    {
      ids: Argument.variadic(id),
      webhook: text("webhook", "name", "The name of the webhook, where several have a dead letter of this id"),
      by,
      yes,
      json
    },
    lazily(() => load().then(({ takeLetterStep }) => takeLetterStep(step)))
  ).pipe(Command.withDescription(step.about))
