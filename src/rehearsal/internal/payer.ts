/**
 * What becomes of charges and payouts at their banks: a charge is paid after a time, and a payout that the gateway shows arrives
 * after a minute, or what a schedule says happens.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { SandboxChange } from "../../sandbox/SandboxChange.ts"
import type { SandboxService } from "../../sandbox/SandboxService.ts"
import type { Call } from "./calls.ts"
import type { Deliveries } from "./deliveries.ts"
import type { Disturber } from "./disturber.ts"
import type { ChargeDisturbance, How, PayoutDisturbance } from "./schedules.ts"

type ForgeryOf = Extract<How, { readonly _tag: "Forgery" }>["says"]

interface Options {
  readonly sandbox: SandboxService
  readonly disturber: Disturber
  readonly forkInWorld: (effect: Effect.Effect<void>) => void
  /** Default: nobody pays. */
  readonly payAfter: Duration.Input | undefined
  /** Whether the gateway shows the end of a payout. */
  readonly isSeen: boolean
  readonly deliveries: Deliveries
}

/** How long after its payment a charge is refunded: before a program looks at it again. */
const refundAfter = "1 second"

/** How long after its acceptance a payout arrives, and how long after it what a schedule says happens. */
const arrivesAfter: Duration.Input = "1 minute"
const endsAfter = (how: PayoutDisturbance): Duration.Input => (how === "late" ? "20 hours" : "1 hour")

/** When a charge has lapsed for two hours, unless it was made for longer. */
const paidLateAfter: Duration.Input = "26 hours"

/** What is paid of an amount, in centavos, where that is another one. */
const paidOf: { readonly [How in ChargeDisturbance]?: (amount: number) => number } = {
  "pays less": (amount) => Math.max(1, Math.floor(amount / 25)),
  "pays more": (amount) => amount + 100,
  "pays twice": (amount) => amount * 2
}

/** What a stranger delivers about a charge or a payout, as the gateway would write it. */
export const forge = ({ amount = 0, payout, transactionId }: Call, says: ForgeryOf, isSeen: boolean): string => {
  const status = says === "failed" ? "failure" : "successful"
  const value = amount / 100
  if (payout !== undefined)
    return JSON.stringify({
      object: "withdraw",
      type: "cashout",
      status,
      withdrawId: payout,
      value,
      valueInCents: amount
    })
  return JSON.stringify(
    isSeen
      ? { object: "transaction", type: "cashin", status, transactionId, value: amount, amount: value }
      : { event: "transaction.updated", transactionId, status: "Paid" }
  )
}

export const makePayer = ({ deliveries, disturber, payAfter, sandbox, ...options }: Options) => {
  /** Payouts whose end a schedule says. */
  const disturbed = new Set<number>()
  /** The payers who wait until another charge is made. */
  const late: Array<Effect.Effect<void>> = []
  /** An act of a bank, and its webhooks: they are sent within a second. */
  const forkInWorld = <E>(act: Effect.Effect<unknown, E>) =>
    options.forkInWorld(Effect.andThen(Effect.ignore(act), Effect.sleep("1 second")))
  const refund = (transactionId: string) => Effect.ignore(sandbox.refund(transactionId))

  const endOf = (id: number, how: PayoutDisturbance) => {
    const silent = how.endsWith("in silence") ? Effect.sync(() => deliveries.silence(id)) : Effect.void
    if (how.startsWith("fails")) return Effect.andThen(silent, sandbox.rejectWithdrawal(id))
    const arrives = Effect.andThen(silent, sandbox.settleWithdrawal(id))
    return how === "late" ? arrives : Effect.andThen(arrives, sandbox.returnWithdrawal(id))
  }

  /** A charge is paid when another one was made, or late. One that has lapsed is paid where the program hears of it. */
  const payLate = (transactionId: string, wait: Duration.Input) => {
    disturber.waitFor(paidLateAfter)
    const pays = Effect.suspend(() => sandbox.markPaid(transactionId, { late: deliveries.isReceiving() }))
    late.push(Effect.ignore(Effect.delay(Effect.delay(pays, wait), "1 minute")))
    forkInWorld(Effect.delay(pays, paidLateAfter))
  }

  /** The charge of a lookup is refunded, right before the lookup or right after it. */
  const refundAt = ({ number, transactionId }: Call, isAfter: boolean): void => {
    if (transactionId === undefined || disturber.at("Refund", "call", number)?.isAfter !== isAfter) return
    forkInWorld(refund(transactionId))
  }

  /** A payout was accepted. */
  const onPayout = ({ number }: Call, payout: number): void => {
    const how = disturber.at("Payout", "call", number)?.how
    if (how === undefined) return
    // Who hears of a return may have heard before that the payout arrived. Who looks sees its end alone.
    if (how !== "returned" || !deliveries.isReceiving()) disturbed.add(payout)
    if (how === "late") disturber.waitFor(endsAfter(how))
    forkInWorld(Effect.delay(endOf(payout, how), endsAfter(how)))
  }

  /** A charge was created. */
  const onCharge = ({ amount = 0, number }: Call, transactionId: string): void => {
    const how = disturber.at("Charge", "call", number)?.how
    if (payAfter === undefined) return
    for (const pays of late.splice(0)) forkInWorld(pays)
    if (how === "lapses") return
    if (how === "pays late") return payLate(transactionId, payAfter)
    const pays = sandbox.markPaid(transactionId, {
      amount: how === undefined ? amount : (paidOf[how]?.(amount) ?? amount)
    })
    const paid = how === "refunded" ? Effect.andThen(pays, Effect.delay(refund(transactionId), refundAfter)) : pays
    forkInWorld(Effect.delay(Effect.ignore(how === "fails" ? sandbox.fail(transactionId) : paid), payAfter))
  }

  return {
    onLookup: (call: Call): void => refundAt(call, false),

    /** A call was answered. */
    onAnswer: (call: Call): void => {
      const { operation, payout, result, transactionId } = call
      refundAt(call, true)
      if (payout !== undefined) onPayout(call, payout)
      if (operation === "createTransaction" && result === "Succeeded" && transactionId !== undefined)
        onCharge(call, transactionId)
    },

    /** The ledger changed. */
    onChange: (change: SandboxChange): void => {
      if (!options.isSeen || change._tag !== "Withdrawal" || change.withdrawal.status !== "Awaiting") return
      const { id } = change.withdrawal
      const arrives = Effect.suspend(() => (disturbed.has(id) ? Effect.void : sandbox.settleWithdrawal(id)))
      forkInWorld(Effect.delay(arrives, arrivesAfter))
    }
  }
}
