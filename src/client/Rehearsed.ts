/**
 * What a program declares of itself, for a rehearsal: the actions that `Rehearsal` of `effect-pix/sandbox` cannot see. Outside
 * of a rehearsal all of it does nothing, so it may stay in production code: it brings no sandbox into a bundle.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { IdempotencyKey, Money, Payments, Rehearsed } from "effect-pix"
 * import { Rehearsal } from "effect-pix/sandbox"
 *
 * const reference = "invoice-1"
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   yield* Rehearsed.owes({ reference, amount: 1000 })
 *   const idempotencyKey = IdempotencyKey.fromReference("payout", reference)
 *   yield* payments.requestWithdrawal({ amount: Money.centavos(1000) }, { idempotencyKey, earlier: "None" })
 *   yield* Rehearsed.fact("paid", { reference })
 * })
 *
 * const { findings } = await Effect.runPromise(Rehearsal.run(program))
 * findings // => []
 * ```
 */
declare module "./Rehearsed.ts" {}

import * as Effect from "effect/Effect"
import { beginToReceive, CurrentRehearsal, type Detail } from "../internal/rehearsal.ts"

/** The payout that a fact is about, by your own reference. */
type OfPayout = Detail & { readonly reference: string }

/** The charge that a fact is about. */
type OfCharge = Detail & { readonly transactionId: string }

/** The facts that the rules of a rehearsal know, with the fields that they read. Other fields are for rules of your own. */
export interface Facts {
  /** Your books say that the payout is done. */
  readonly paid: OfPayout
  /** Your books say that nothing of the payout moved. */
  readonly failed: OfPayout
  /** The payout is in doubt, and a person will look. */
  readonly parked: OfPayout
  /** A person was told to look after the payout or the charge. */
  readonly told: OfPayout | OfCharge
  /**
   * The goods of a charge went out. `amount` is their price in centavos. `key` is the name under which the receiver of the
   * order, such as a carrier's API, acts once: facts of one charge with the same key are one shipment.
   */
  readonly shipped: OfCharge & { readonly amount?: number; readonly key?: string }
}

/**
 * Declares an action when it is done. The process of a rehearsal also dies right before and right after it, as it may between
 * an action and its mark in the database.
 */
export const fact = <Name extends keyof Facts>(name: Name, detail: Facts[Name]): Effect.Effect<void> =>
  Effect.flatMap(CurrentRehearsal, (rehearsal) => rehearsal?.fact(name, detail) ?? Effect.void)

/** Declares anything else, for rules of your own: `notes` of the world has it. */
export const note = (name: string, detail: Detail): Effect.Effect<void> =>
  Effect.map(CurrentRehearsal, (rehearsal) => rehearsal?.note(name, detail))

/**
 * Declares a debt: a payout of this amount is owed for a reference. Declare it when it falls due, before it is paid. To declare
 * the same reference again, as after a restart, changes nothing. Once a program declares one debt, each payout that nobody is
 * owed is a finding.
 */
export const owes = (debt: {
  readonly reference: string
  /** In centavos. */
  readonly amount: number
}): Effect.Effect<void> => Effect.map(CurrentRehearsal, (rehearsal) => rehearsal?.owes(debt.reference, debt.amount))

/**
 * Receives the gateway's webhooks with a handler of your own, from now on until this process ends: its port is closed then, and the
 * gateway repeats for a while. A handler that fails is answered with 500. `Webhook` of `effect-pix/webhook` receives without
 * it, for as long as its layer is open. The handler that was given last receives.
 */
export const receive = <E, R>(
  handler: (request: Request) => Effect.Effect<Response, E, R>
): Effect.Effect<void, never, R> => Effect.asVoid(beginToReceive(handler))
