/**
 * The rehearsal, as its program reaches it: a reference that is `undefined` outside of a rehearsal, so that declarations may
 * stay in production code.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"

/** Answers a webhook in the process. */
export type Handler = (request: Request) => Effect.Effect<Response>

/** The declarations of the current process. */
export interface Rehearsed {
  readonly fact: (name: string, detail: Readonly<Record<string, Schema.Json>>) => void
  readonly owes: (reference: string, amount: number) => void
  readonly receive: (handler: Handler) => void
}

export const Rehearsed = Context.Reference<Rehearsed | undefined>("effect-pix/Rehearsed", {
  defaultValue: () => undefined
})
