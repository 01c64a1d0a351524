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
import { note } from "./output.ts"

interface Steps<A, E, R, R2> {
  /** What will happen, in lines. Personal data is masked. */
  readonly plan: string
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

/** Has a person confirm the step of this name. Fails if nobody does. */
export const confirmed = Effect.fnUntraced(function* (name: string, question: string) {
  const not = "Not confirmed. Nothing was changed."
  // Questions are asked on stderr, and answered on stdin.
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    return yield* failed(`${not} Without a terminal a ${name} needs --yes.`, codes.NotConfirmed)
  const answer = yield* Effect.catchTag(ask(question), "QuitError", () => failed(not, codes.Interrupted))
  if (!answer) return yield* failed(not, codes.NotConfirmed)
})

/** Runs the steps in their order, and returns the result. */
export const perform = Effect.fnUntraced(function* <A, E, R, R2>(steps: Steps<A, E, R, R2>) {
  yield* note(steps.plan)
  const done = yield* steps.run
  const wasDone = () => `It was done all the same:\n${steps.summary(done)}`
  yield* steps.print(done).pipe(
    Effect.mapError(({ code, message }) => failed(`${message} ${wasDone()}`, code)),
    Effect.onInterrupt(() => note(`Ended before stdout was written. ${wasDone()}`))
  )
  return done
})
