/**
 * The steps of a command that changes something: it shows the plan, asks for confirmation, runs it, and prints the result.
 *
 * - The plan is written to stderr before anything is sent, also with `--yes`.
 * - A person confirms on a terminal, or gives `--yes`. A `y` from a pipe is not accepted.
 * - If stdout fails, or a signal ends the command while it writes the result, stderr says what was done: otherwise the person
 *   could believe that nothing was.
 */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Terminal from "effect/Terminal"
import process from "node:process"
import { codes, type Failed, failed } from "./exit.ts"
import { hasTerminal } from "./invocation.ts"
import { note } from "./output.ts"

interface Confirmation {
  /** The noun for what is confirmed: "payout". */
  readonly noun: string
  /** The question to the person. */
  readonly question: string
  /** The sentence for a step that nobody confirmed: "Nothing was sent." */
  readonly unconfirmed: string
  /** Whether `--yes` was given. */
  readonly yes: boolean
}

interface Steps<A, E, R, R2> {
  /** What will happen, in lines. Personal data is masked. */
  readonly plan: string
  /** If absent, no confirmation is needed. */
  readonly confirm?: Confirmation
  readonly run: Effect.Effect<A, E, R>
  /** What was done, in lines: for stderr, if stdout fails. */
  readonly summary: (done: A) => string
  /** Writes the result to stdout. */
  readonly print: (done: A) => Effect.Effect<void, Failed, R2>
}

/** Asks the question on stderr, since stdout is for data. */
const ask = Effect.fnUntraced(function* (message: string) {
  const terminal = yield* Terminal.Terminal
  const onStderr = Terminal.make({
    ...terminal,
    display: (text) => Effect.sync(() => process.stderr.write(text))
  })
  return yield* Prompt.run(Prompt.Confirm({ message, initial: false })).pipe(
    Effect.provideService(Terminal.Terminal, onStderr)
  )
})

const confirmed = Effect.fnUntraced(function* ({ noun, question, unconfirmed, yes }: Confirmation) {
  if (yes) return
  const notConfirmed = `Not confirmed. ${unconfirmed}`
  if (!hasTerminal()) {
    return yield* failed(`${notConfirmed} Without a terminal a ${noun} needs --yes.`, codes.NotConfirmed)
  }
  const answer = yield* ask(question).pipe(
    Effect.catchTag("QuitError", () => Effect.fail(failed(notConfirmed, codes.Interrupted)))
  )
  if (!answer) return yield* failed(notConfirmed, codes.NotConfirmed)
})

/** Runs the steps in their order, and returns the result. */
export const perform = Effect.fnUntraced(function* <A, E, R, R2>(steps: Steps<A, E, R, R2>) {
  yield* note(steps.plan)
  if (steps.confirm !== undefined) yield* confirmed(steps.confirm)
  const done = yield* steps.run
  const wasDone = () => `It was done all the same:\n${steps.summary(done)}`
  yield* steps.print(done).pipe(
    Effect.mapError(({ code, message }) => failed(`${message} ${wasDone()}`, code)),
    Effect.onInterrupt(() => note(`Ended before stdout was written. ${wasDone()}`))
  )
  return done
})
