/**
 * The subcommand that is made of an operator's step. What takes the steps is loaded when one is taken: it
 * brings the queue, the webhooks and a database driver.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { json, person, text, yes } from "../flags.ts"
import { lazily } from "../lazily.ts"
import type { AccountStep, LetterStep, PayoutFlags, PayoutStep, SentenceStep, StateLetterStep } from "./stepShape.ts"

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

const digest = Argument.String("digest").pipe(
  Argument.withDescription("That of the sentence, or its first eight characters or more")
)

export const sentenceStep = <const F extends Flags>(step: Entry<F> & SentenceStep<Values<F>>) =>
  Command.make(
    step.name,
    { digest, own: step.flags, ...given },
    lazily(() => load().then(({ takeSentenceStep }) => takeSentenceStep(step)))
  ).pipe(Command.withDescription(step.about))

const letter = Argument.String("id").pipe(Argument.withDescription("The number of a dead letter"))

export const stateLetterStep = (step: Entry<{}> & StateLetterStep) =>
  Command.make(
    step.name,
    { subjects: Argument.variadic(letter), by: person.by, yes, json },
    lazily(() => load().then(({ takeStateLetterStep }) => takeStateLetterStep(step)))
  ).pipe(Command.withDescription(step.about))

const webhook = text("webhook", "name", "The name of the webhook, where several have a dead letter of this id")

export const letterStep = (step: Entry<{}> & LetterStep) =>
  Command.make(
    step.name,
    { subjects: Argument.variadic(id), webhook, by: person.by, yes, json },
    lazily(() => load().then(({ takeLetterStep }) => takeLetterStep(step)))
  ).pipe(Command.withDescription(step.about))
