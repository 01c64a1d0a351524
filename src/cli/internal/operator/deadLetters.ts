/** `dead-letters` of `effect-pix payouts` and of `effect-pix webhooks`: lists them, and has the steps with them. */
import * as Command from "effect/cli/Command"
import { format, lazily } from "../flags.ts"
import { letterSteps } from "./steps.ts"

export const deadLetters = (group: keyof typeof letterSteps, about: string) =>
  Command.make(
    "dead-letters",
    format,
    lazily(() => import("./letters.ts").then(({ listLetters }) => listLetters(group)))
  ).pipe(Command.withDescription(about), Command.withSubcommands(letterSteps[group].map(({ command }) => command)))
