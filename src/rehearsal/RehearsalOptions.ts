/**
 * The options of a rehearsal: the stores of the program, the world around it, and what is played.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { RehearsalWorld } from "./RehearsalWorld.ts"
import type { Sandbox } from "../sandbox/Sandbox.ts"
import type { SandboxOptions } from "../sandbox/SandboxOptions.ts"

/** A rule of your own, checked after each run: it fails with a sentence that says what is broken. */
export type RehearsalRule<S> = (world: RehearsalWorld) => Effect.Effect<unknown, string, S>

/** See `Rehearsal.run`. */
export interface RehearsalOptions<S> {
  /**
   * What survives the death of a process: built once for each run, in a fresh world. `Layer.sync(Orders, () => new Map())`
   * is a store in memory, `NodeSqlite.layer({ filename: ":memory:" })` a database. A layer may need the `Sandbox`, and act on it
   * while the program runs: `Layer.effectDiscard(Effect.forkScoped(...))`. Gotcha: a value that was made before, as in
   * `Layer.succeed`, would be the same in all runs.
   * Default: nothing survives.
   */
  readonly stores?: Layer.Layer<S, Error, Sandbox> | undefined
  /**
   * A payer pays each charge whose creation was answered, this long after the answer; in some schedules another amount, or not at
   * all, late, or the charge is refunded. Default: nobody pays.
   */
  readonly payAfter?: Duration.Input | undefined
  /**
   * How many processes run the program at once on the same `stores`. Each of them also stands still for 15 minutes at each
   * call. Default: 1.
   */
  readonly processes?: number | undefined
  /** Rules of your own, by their names. Default: none. */
  readonly rules?: Readonly<Record<string, RehearsalRule<S>>> | undefined
  /**
   * For a program that is not meant to end, such as a worker: it is stopped after this time, and `never-ends` is not
   * checked. Default: it has to end, within four days and 10,000 calls.
   */
  readonly stopAfter?: Duration.Input | undefined
  /**
   * Plays the schedule of this name alone, as a finding has it, or else all whose names contain it, such as `webhook` or `death`.
   * `first look` plays those that find most mistakes. Deaths between two statements of the library's own tables (`inner step`),
   * refusals that differ from another one in their cause alone, and faults of one request, which the client repeats, are only
   * played where they are asked for.
   * Default: all others, those of the first look first.
   */
  readonly only?: string | undefined
  /** The options of the gateway. With `as: "seen"` payouts end, most of them after a minute. Default: a balance of R$ 1.000.000,00. */
  readonly sandbox?: SandboxOptions | undefined
}
