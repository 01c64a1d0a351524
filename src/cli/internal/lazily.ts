/** Loads what a command does when it is run. */
import * as Effect from "effect/Effect"

export const lazily =
  <Input, E, R>(load: () => Promise<{ readonly run: (input: Input) => Effect.Effect<void, E, R> }>) =>
  (input: Input): Effect.Effect<void, E, R> =>
    Effect.flatMap(Effect.promise(load), ({ run }) => run(input))
