/** What becomes of charges and payouts at their banks: a charge is paid after a time, or what a schedule says happens. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { SandboxService } from "../../sandbox/SandboxService.ts"
import type { Call } from "./calls.ts"
import type { Disturber } from "./disturber.ts"
import type { ChargeDisturbance } from "./schedules.ts"

interface Options {
  readonly sandbox: SandboxService
  readonly disturber: Disturber
  readonly forkInWorld: (effect: Effect.Effect<void>) => void
  /** Default: nobody pays. */
  readonly payAfter: Duration.Input | undefined
}

/** How long after its payment a charge is refunded: before a program looks at it again, or when the order is long forgotten. */
const refundAfter: { readonly [How in ChargeDisturbance]?: Duration.Input } = {
  refunded: "1 second",
  "refunded 60 days later": "60 days"
}

/** What is paid of an amount, in centavos. */
const paidOf = (how: ChargeDisturbance | undefined, amount: number): number => {
  switch (how) {
    case "pays less":
      return Math.max(1, Math.floor(amount / 25))
    case "pays more":
      return amount + 100
    case "pays twice":
      return amount * 2
    default:
      return amount
  }
}

export const makePayer = ({ disturber, forkInWorld, payAfter, sandbox }: Options) => {
  const refund = (transactionId: string) => Effect.ignore(sandbox.refund(transactionId))

  /** The charge of a lookup is refunded, right before the lookup or right after it. */
  const refundAt = ({ number, transactionId }: Call, isAfter: boolean): void => {
    if (transactionId === undefined || disturber.at("Refund", "call", number)?.isAfter !== isAfter) return
    forkInWorld(refund(transactionId))
  }

  return {
    onLookup: (call: Call): void => refundAt(call, false),
    onAnswer: (call: Call): void => refundAt(call, true),

    /** A payout was accepted. */
    onPayout: ({ number, payout }: Call): void => {
      const how = disturber.at("Payout", "call", number)?.how
      if (payout === undefined || how === undefined) return
      const ends =
        how === "fails"
          ? sandbox.rejectWithdrawal(payout)
          : Effect.andThen(sandbox.settleWithdrawal(payout), sandbox.returnWithdrawal(payout))
      forkInWorld(Effect.delay(Effect.ignore(ends), "1 hour"))
    },

    /** A charge was created. */
    onCharge: ({ amount = 0, number }: Call, transactionId: string): void => {
      const how = disturber.at("Charge", "call", number)?.how
      if (payAfter === undefined || how === "lapses") return
      const pays = sandbox.markPaid(transactionId, { amount: paidOf(how, amount) })
      const wait = how === undefined ? undefined : refundAfter[how]
      const paid = wait === undefined ? pays : Effect.andThen(pays, Effect.delay(refund(transactionId), wait))
      forkInWorld(Effect.delay(Effect.ignore(how === "fails" ? sandbox.fail(transactionId) : paid), payAfter))
    }
  }
}
