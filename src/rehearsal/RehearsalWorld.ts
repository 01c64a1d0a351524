/**
 * The world of a run, after its end: the calls of the program with their answers, its declarations, its end, and the
 * gateway's ledger. The rules of the library read it, and so do your own.
 *
 * Times are milliseconds since 1970 by the rehearsal's clock. Amounts are in centavos.
 */
import type * as Schema from "effect/Schema"
import type { Outcome } from "../contract/Outcome.ts"
import type { Operation } from "../contract/PaymentsError.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../sandbox/SandboxLedger.ts"

/** One call of an operation of `Payments` or `WithdrawalLookup`. It has several requests where the client repeats them. */
export interface RehearsalCall {
  /** Its number in the run, from 1. */
  readonly number: number
  /** The number of its process, from 1: a program that died is started again, with the next number. */
  readonly process: number
  /** The operation. */
  readonly operation: Operation
  /** The idempotency key of a write. */
  readonly key: string | undefined
  /** The amount of a write, in centavos. */
  readonly amount: number | undefined
  /** When it was called, in milliseconds since 1970. */
  readonly startedAt: number
  /** How many requests of it were sent. */
  readonly requests: number
  /** When it ended; `undefined` where its process died, or where no answer arrived. */
  readonly endedAt: number | undefined
  /** `Succeeded`, or the tag of its error; `undefined` where it did not end. */
  readonly result: string | undefined
  /** The outcome of a failed call: whether money may have moved. */
  readonly outcome: Outcome | undefined
  /** The id of the charge that was created or looked up. */
  readonly transactionId: string | undefined
  /** The status that a lookup answered. */
  readonly status: string | undefined
}

/** A declaration by `Rehearsed.fact` or `Rehearsed.note`. */
export interface RehearsalFact {
  /** The name that the program gave it. */
  readonly name: string
  /** Its details, as the program gave them. */
  readonly detail: Readonly<Record<string, Schema.Json>>
  /** When it was declared, in milliseconds since 1970. */
  readonly at: number
  /** The number of the process that declared it, from 1. */
  readonly process: number
}

/** A declaration by `Rehearsed.owes`. */
export interface RehearsalDebt {
  /** The reference of the payout that is owed. */
  readonly reference: string
  /** In centavos. */
  readonly amount: number
  /** When it was first declared, in milliseconds since 1970. */
  readonly at: number
}

/**
 * How a program ended: it succeeded; it failed, so that the person who runs it knows; it was stopped, as `stopAfter` says;
 * or it did not end.
 */
export type RehearsalEnd = "Succeeded" | "Failed" | "Stopped" | "NotEnded"

/** The world of one run, after its end. */
export interface RehearsalWorld {
  /** The name of the schedule, as `options.only` takes it. */
  readonly schedule: string
  /** The calls of all its processes, in order. */
  readonly calls: ReadonlyArray<RehearsalCall>
  /** The facts that it declared, in order. */
  readonly facts: ReadonlyArray<RehearsalFact>
  /** What it declared by `Rehearsed.note`, in order. */
  readonly notes: ReadonlyArray<RehearsalFact>
  /** The debts that it declared, in order. */
  readonly owed: ReadonlyArray<RehearsalDebt>
  /** How the program ended. */
  readonly end: RehearsalEnd
  /** When it ended, was stopped, or was ended because of its limits. */
  readonly endedAt: number
  /** The value of the program, or its error. */
  readonly result: unknown
  /** Every charge of the gateway's ledger. */
  readonly transactions: ReadonlyArray<SandboxTransaction>
  /** Every payout of the gateway's ledger: one for each time that money moved. */
  readonly withdrawals: ReadonlyArray<SandboxWithdrawal>
}
