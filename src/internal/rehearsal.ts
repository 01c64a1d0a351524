/**
 * A rehearsal of `effect-pix/sandbox`, as the code under it reaches it. The reference is `undefined` outside of a rehearsal,
 * so the marks in a program cost nothing there, and bring no sandbox into its bundle.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
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

/**
 * Begins to receive the gateway's webhooks in the process of a rehearsal, and returns how to end that. A handler that fails is
 * answered with 500.
 */
export const beginToReceive = <E, R>(
  handler: (request: Request) => Effect.Effect<Response, E, R>
): Effect.Effect<() => void, never, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.map(
      CurrentRehearsal,
      (rehearsal) =>
        rehearsal?.receive((request) =>
          handler(request).pipe(
            Effect.catchCause(() => Effect.succeed(new Response(undefined, { status: 500 }))),
            Effect.provideContext(context)
          )
        ) ?? constVoid
    )
  )
