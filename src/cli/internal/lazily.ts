/** Loads the code of a command only when it runs, for commands that need code that the others do not. */
import * as Effect from "effect/Effect"

export const lazily =
  <Input, E, R>(load: () => Promise<(input: Input) => Effect.Effect<void, E, R>>) =>
  (input: Input): Effect.Effect<void, E, R> =>
    Effect.flatMap(Effect.promise(load), (run) => run(input))
