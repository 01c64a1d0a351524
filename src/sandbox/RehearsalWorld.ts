/**
 * What a rehearsal knows after a run: what the program asked for and was answered, what it declared, how it ended, and what
 * the gateway's ledger holds. The rules are checked on it, and so are your own.
 *
 * Times are milliseconds since 1970 by the rehearsal's clock. Amounts are in centavos.
 */
import type * as Schema from "effect/Schema"
import type { Outcome } from "../contract/Outcome.ts"
import type { Operation } from "../contract/PaymentsError.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "./SandboxBooks.ts"

/** One call of an operation of `Payments`: several requests, where the client repeats them. */
export interface RehearsalCall {
  /** Its number in the run, from 1. */
  readonly number: number
  /** Which process made it, from 1: a program that died is started again as the next one. */
  readonly process: number
  /** The operation of `Payments`. */
  readonly operation: Operation
  /** The idempotency key of a write. */
  readonly key: string | undefined
  /** When it was called, in milliseconds since 1970. */
  readonly startedAt: number
  /** How many requests of it were sent. */
  readonly requests: number
  /** When it ended; `undefined` where its process died, or never got an answer. */
  readonly endedAt: number | undefined
  /** `Succeeded`, or the tag of its error; `undefined` where it did not end. */
  readonly result: string | undefined
  /** Of a call that failed: whether money may have moved. */
  readonly outcome: Outcome | undefined
  /** Of a charge that was created or looked up. */
  readonly transactionId: string | undefined
  /** The status that a lookup answered. */
  readonly status: string | undefined
}

/** What the program declared with `Rehearsal.fact`. */
export interface RehearsalFact {
  /** The name that the program gave it. */
  readonly name: string
  /** What the program said with it. */
  readonly detail: Readonly<Record<string, Schema.Json>>
  /** When, in milliseconds since 1970. */
  readonly at: number
  /** Which process declared it, from 1. */
  readonly process: number
}

/** What the program declared with `Rehearsal.owes`. */
export interface RehearsalDebt {
  /** The reference of the payout that is owed. */
  readonly reference: string
  /** In centavos. */
  readonly amount: number
  /** When it was first declared, in milliseconds since 1970. */
  readonly at: number
}

/**
 * How a program ended: it succeeded; it failed, so that whoever runs it knows; it was stopped, as `stopAfter` says; or it
 * did not end.
 */
export type RehearsalEnd = "Succeeded" | "Failed" | "Stopped" | "NotEnded"

/** The world of one run, after its end. */
export interface RehearsalWorld {
  /** The name of the schedule, as `options.only` takes it. */
  readonly schedule: string
  /** The calls of all its processes, in order. */
  readonly calls: ReadonlyArray<RehearsalCall>
  /** What was declared with `Rehearsal.fact`, in order. */
  readonly facts: ReadonlyArray<RehearsalFact>
  /** What was declared with `Rehearsal.owes`, in order. */
  readonly owed: ReadonlyArray<RehearsalDebt>
  /** How the program ended. */
  readonly end: RehearsalEnd
  /** When it ended, was stopped, or was given up. */
  readonly endedAt: number
  /** What the program gave: its value, or its error. */
  readonly result: unknown
  /** Every charge of the gateway's ledger. */
  readonly transactions: ReadonlyArray<SandboxTransaction>
  /** Every payout of the gateway's ledger: one for each time that money moved. */
  readonly withdrawals: ReadonlyArray<SandboxWithdrawal>
}
