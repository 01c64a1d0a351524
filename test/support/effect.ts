/**
 * Tests whose body is a generator, with the layer that it needs before it. The scope of the test ends before its layer does.
 *
 * ```ts
 * effect("a payout is posted once", queueOver(bank), function* () {
 *   const queue = yield* PayoutQueue
 * })
 * ```
 */
import { it } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"

type Body<Args extends Array<unknown>, R> = (
  ...args: Args
) => Generator<Effect.Effect<unknown, unknown, R>, unknown, never>

interface Register<Args extends Array<unknown>> {
  (title: string, body: Body<Args, Scope.Scope>): void
  <R, E>(title: string, layer: Layer.Layer<R, E>, body: Body<Args, NoInfer<R> | Scope.Scope>): void
}

interface Tests extends Register<[]> {
  readonly each: <Case>(cases: ReadonlyArray<Case>) => Register<[Case]>
  readonly skipIf: (condition: unknown) => Register<[]>
}

type Run<Args extends Array<unknown>> = (
  title: string,
  run: (...args: Args) => Effect.Effect<unknown, unknown, Scope.Scope>
) => void

const register =
  <Args extends Array<unknown>>(test: Run<Args>): Register<Args> =>
  <R, E>(
    title: string,
    ...given: [Body<Args, Scope.Scope>] | [layer: Layer.Layer<R, E>, body: Body<Args, R | Scope.Scope>]
  ) =>
    test(title, (...args) =>
      given.length === 1
        ? Effect.gen(() => given[0](...args))
        : Effect.gen(() => given[1](...args)).pipe(Effect.scoped, Effect.provide(given[0]))
    )

const tests = (tester: typeof it.live): Tests =>
  Object.assign(
    register<[]>((title, run) => tester(title, () => run())),
    {
      each: <Case>(cases: ReadonlyArray<Case>) =>
        register<[Case]>((title, run) => tester.each(cases)(title, (each) => run(each))),
      skipIf: (condition: unknown) => register<[]>((title, run) => tester.skipIf(condition)(title, () => run()))
    }
  )

/** A turn of the event loop, in which sockets and promises go on, also under `TestClock`. */
export const nextTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** A test under `TestClock`. */
export const effect = tests(it.effect)

/** A test with the clock of the machine. */
export const live = tests(it.live)
