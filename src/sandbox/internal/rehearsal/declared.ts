/**
 * What a program under rehearsal reaches of it: a reference that is `undefined` everywhere else, so that the code that
 * declares may stay in production.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"

/** Answers a delivery in the process. */
export type Handler = (request: Request) => Effect.Effect<Response>

/** What the process of the moment may declare. */
export interface Rehearsed {
  readonly fact: (name: string, detail: Readonly<Record<string, Schema.Json>>) => void
  readonly owes: (reference: string, amount: number) => void
  readonly receive: (handler: Handler) => void
}

export const Rehearsed = Context.Reference<Rehearsed | undefined>("effect-pix/Rehearsed", {
  defaultValue: () => undefined
})
