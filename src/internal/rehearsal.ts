/**
 * A rehearsal of `effect-pix/sandbox`, as the code under it reaches it. The reference is `undefined` outside of a rehearsal,
 * so the marks in a program cost nothing there, and bring no sandbox into its bundle.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"

/** The details of a declaration. */
export type Detail = Readonly<Record<string, Schema.Json>>

/** The rehearsal of the current process. */
export interface Rehearsal {
  readonly fact: (name: string, detail: Detail) => Effect.Effect<void>
  readonly note: (name: string, detail: Detail) => void
  readonly owes: (reference: string, amount: number) => void
  /** Begins to receive, and returns how to end that. */
  readonly receive: (handler: (request: Request) => Effect.Effect<Response>) => () => void
}

/** A reference, since a program that declares facts runs without a rehearsal too. */
export const CurrentRehearsal = Context.Reference<Rehearsal | undefined>("effect-pix/Rehearsal", {
  defaultValue: () => undefined
})
