/**
 * What a rehearsal is told about a program and the world around it.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { RehearsalWorld } from "./RehearsalWorld.ts"
import type { Sandbox } from "./Sandbox.ts"
import type { SandboxOptions } from "./SandboxOptions.ts"

/** A rule of your own, checked after each run: it fails with a sentence that says what is broken. */
export type RehearsalRule<S> = (world: RehearsalWorld) => Effect.Effect<unknown, string, S>

/** See `Rehearsal.run`. */
export interface RehearsalOptions<S> {
  /**
   * What survives the death of a process: built once for each run, in a fresh world. `Layer.sync(Orders, () => new Map())`
   * is a store in memory, `NodeSqlite.layer({ filename: ":memory:" })` a database. Gotcha: a value that was made before, as
   * in `Layer.succeed`, would be the same in all runs.
   * Default: nothing survives.
   */
  readonly stores?: Layer.Layer<S, Error> | undefined
  /** What others do while the program runs, as a payer who refunds. Default: nothing. */
  readonly meanwhile?: Effect.Effect<unknown, Error, Sandbox | S> | undefined
  /**
   * A payer pays each charge that the program knows of, this long after its creation was answered. Default: nobody pays.
   */
  readonly payAfter?: Duration.Input | undefined
  /** Rules of your own, by their names. Default: none. */
  readonly rules?: Readonly<Record<string, RehearsalRule<S>>> | undefined
  /** How long a process may run, by the rehearsal's clock; one that is started after a death anew. Default: 2 days. */
  readonly within?: Duration.Input | undefined
  /**
   * For a program that is not meant to end, as a worker: it is stopped after this time, and `never-ends` is not
   * checked. Default: it has to end.
   */
  readonly stopAfter?: Duration.Input | undefined
  /** The most calls of one run: a program that makes more does not end. Default: 10,000. */
  readonly mostCalls?: number | undefined
  /** Plays this schedule alone: the name that a finding has. Default: all. */
  readonly only?: string | undefined
  /** What the gateway starts with. Default: a balance of R$ 1.000.000,00. */
  readonly sandbox?: SandboxOptions | undefined
  /** Another seed for what the program takes from `Random`. Default: the name of the schedule alone. */
  readonly seed?: string | undefined
}
