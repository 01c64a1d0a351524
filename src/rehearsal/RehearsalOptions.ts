/**
 * The options of a rehearsal: the stores of the program, the world around it, and what is played.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { RuleName } from "./RehearsalReport.ts"
import type { RehearsalWorld } from "./RehearsalWorld.ts"
import type { Sandbox } from "../sandbox/Sandbox.ts"
import type { SandboxOptions } from "../sandbox/SandboxOptions.ts"

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
  /** The actions of others while the program runs, such as a person who refunds a charge. Default: none. */
  readonly meanwhile?: Effect.Effect<unknown, Error, Sandbox | S> | undefined
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
  /**
   * The rules that have to be checked: one that was not is a finding. Default: none, and for `Rehearsal.test` those that the calls
   * of the program make relevant.
   */
  readonly checks?: ReadonlyArray<RuleName> | undefined
  /** Rules of your own, by their names. Default: none. */
  readonly rules?: Readonly<Record<string, RehearsalRule<S>>> | undefined
  /**
   * For a program that is not meant to end, such as a worker: it is stopped after this time, and `never-ends` is not
   * checked. Default: it has to end, within three days and 10,000 calls.
   */
  readonly stopAfter?: Duration.Input | undefined
  /** Plays this schedule alone: the name that a finding has. Default: all. */
  readonly only?: string | undefined
  /** The options of the gateway. With `as: "seen"` payouts end, most of them after a minute. Default: a balance of R$ 1.000.000,00. */
  readonly sandbox?: SandboxOptions | undefined
}
