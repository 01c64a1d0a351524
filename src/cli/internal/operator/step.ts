/**
 * The shape of an operator's step, and the subcommand that is made of it. What takes the steps is loaded when one is taken: it
 * brings the queue, the webhooks and a database driver.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StepOptions } from "../../../durable/Step.ts"
import type { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { Centavos } from "../../../pix/Money.ts"
import type { PayoutState, PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { WebhookClient } from "../../../webhook/Webhook.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import { json, person, text, yes } from "../flags.ts"
import { lazily } from "../lazily.ts"
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
  /** Of all payouts of the step, in centavos. */
  readonly sum: Centavos
}

/** The payouts that a flag finds, in place of their references. */
export interface Group {
  readonly states: ReadonlyArray<PayoutState>
  readonly has: (status: PayoutStatus) => boolean
}

/** The flags of a step about payouts. */
export interface PayoutFlags {
  readonly group?: Option.Option<Group>
}

type Queue = PayoutQueue["Service"]

export type PayoutStep<Own> = Step<Queue, Payout, Own, PayoutStatus>
/** Its result is `Asked` where it needs a second person. */
export type AccountStep<Own> = Step<Queue, Account, Own, "Changed" | "Asked" | void>
/** Its result is false where there is no such letter any more. */
export type LetterStep = Step<WebhookClient["Service"], StoredDelivery, unknown, boolean>

/** The sentence of its help, and its own flags. */
interface Entry<Flags> {
  readonly about: string
  readonly flags: Flags
}

type Flags = Command.Command.Config
type Values<F extends Flags> = Command.Command.Config.InferValue<F>

export const reference = Argument.String("reference").pipe(Argument.withDescription("Your own name of the payout"))
export const id = Argument.String("id").pipe(Argument.withDescription("A transaction's id, or the id of a dead letter"))

const given = { ...person, yes, json }
const load = () => import("./takeStep.ts")

export const payoutStep = <const F extends Flags>(step: Entry<F> & PayoutStep<Values<F> & PayoutFlags>) =>
  Command.make(
    step.name,
    { subjects: Argument.variadic(reference), own: step.flags, ...given },
    lazily(() => load().then(({ takePayoutStep }) => takePayoutStep(step)))
  ).pipe(Command.withDescription(step.about))

export const accountStep = <const F extends Flags>(step: Entry<F> & AccountStep<Values<F>>) =>
  Command.make(
    step.name,
    { own: step.flags, ...given },
    lazily(() => load().then(({ takeAccountStep }) => takeAccountStep(step)))
  ).pipe(Command.withDescription(step.about))

const webhook = text("webhook", "name", "The name of the webhook, where several have a dead letter of this id")

export const letterStep = (step: Entry<{}> & LetterStep) =>
  Command.make(
    step.name,
    { subjects: Argument.variadic(id), webhook, by: person.by, yes, json },
    lazily(() => load().then(({ takeLetterStep }) => takeLetterStep(step)))
  ).pipe(Command.withDescription(step.about))
