/**
 * The processes of a run, and how they ended.
 */
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { RehearsalEnd } from "../RehearsalWorld.ts"
import { nameOfFailure } from "./calls.ts"
import type { Life } from "./time.ts"

/** A process that runs, or has ended. */
export interface Running<A, E> {
  readonly number: number
  readonly life: Life
  /** It may die before its first wait, and then it has none. */
  fiber?: Fiber.Fiber<A, E>
}

export const hasEnded = <A, E>({ fiber }: Running<A, E>): boolean => fiber?.pollUnsafe() !== undefined

/** The process that says how the program ended: first one that does not end, then one that failed. */
export const lastOf = <A, E>(running: ReadonlyArray<Running<A, E>>): Running<A, E> | undefined =>
  running.find((one) => !hasEnded(one)) ??
  running.find(({ fiber }) => fiber?.pollUnsafe()?._tag === "Failure") ??
  running[0]

/** The end of a process in words. */
export const wordsOf = (exit: Exit.Exit<unknown, unknown> | undefined): string => {
  if (exit === undefined) return "does not end"
  return Exit.isSuccess(exit) ? "ends: it succeeded" : `ends: it failed with ${nameOfFailure(exit.cause)}`
}

export const endOf = (exit: Exit.Exit<unknown, unknown> | undefined, isStopped: boolean): RehearsalEnd => {
  if (exit === undefined) return isStopped ? "Stopped" : "NotEnded"
  return Exit.isSuccess(exit) ? "Succeeded" : "Failed"
}
