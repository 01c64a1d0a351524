/**
 * The ledger of the sandbox: charges, payouts, the balance and the keys already used. Each change is one synchronous step, so
 * that concurrent requests cannot interleave: a key is looked up, its request executed, and the key stored in one step.
 *
 * A charge is found by its id, and the next to lapse is known, so the ledger does not slow down as it grows.
 */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type { CreateTransactionRequest } from "../../contract/Transaction.ts"
import { minimumWithdrawal, type WithdrawalRequestBody } from "../../contract/Withdrawal.ts"
import { type Centavos, centavos } from "../../pix/Money.ts"
import * as PixKey from "../../pix/PixKey.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import { SandboxConflict, SandboxNotFound } from "../SandboxError.ts"
import type { Settings } from "../SandboxOptions.ts"
import { type Charge, type Payout, type StoredLedger, volumeOf } from "../SandboxState.ts"
import { makeExpiries } from "./expiries.ts"
import { uuid } from "./ids.ts"
import { makeOnce, type Write } from "./once.ts"
import * as Refusal from "./refusal.ts"
import { copyAndPaste, makeShowCharge, showPayout } from "./show.ts"

type Mutable<A> = { -readonly [Name in keyof A]: A[Name] }
type Status = Charge["status"]

const comesFrom: Record<Exclude<Status, "Awaiting">, Status> = {
  Paid: "Awaiting",
  Cancelled: "Awaiting",
  Failed: "Awaiting",
  Refunded: "Paid"
}

/** The last instant that a timestamp of the service can write. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const day = 24 * 60 * 60 * 1000

/** Called for each new row and each change, in their order. */
export interface Observer {
  readonly noteTransaction: (transaction: SandboxTransaction, isNew: boolean) => void
  readonly noteWithdrawal: (withdrawal: SandboxWithdrawal, isNew: boolean) => void
  readonly noteBalance: (balance: number) => void
}

/** A row that is in the state `asked`, or in the state `from` that leads to it. */
const steerable = <Row extends { readonly status: string }>(
  subject: "transaction" | "withdrawal",
  id: string | number,
  row: Row | undefined,
  from: Row["status"],
  asked: Row["status"]
): Result.Result<Row, SandboxNotFound | SandboxConflict> => {
  if (row === undefined) return Result.fail(new SandboxNotFound({ subject, id }))
  const { status } = row
  return status === asked || status === from
    ? Result.succeed(row)
    : Result.fail(new SandboxConflict({ subject, id, status, asked }))
}

/** Whether a PIX key fits its kind, or any kind where none is given. */
const isPixKey = ({
  pixKey,
  pixKeyType
}: {
  readonly pixKey: string
  readonly pixKeyType?: PixKey.PixKeyType | undefined
}) =>
  (pixKeyType === undefined ? PixKey.PixKeyType.literals : [pixKeyType]).some((type) =>
    Result.isSuccess(PixKey.make(type, pixKey))
  )

const copy = <A extends object>(row: A): Mutable<A> => Object.assign({}, row)

/** Makes a ledger: an empty one, or that of a state. */
export const make = (settings: Settings, seed: string, observer: Observer, stored?: StoredLedger) => {
  const charges: Array<Mutable<Charge>> = (stored?.charges ?? []).map(copy)
  const byId = new Map(charges.map((charge) => [charge.transactionId, charge]))
  const payouts: Array<Mutable<Payout>> = (stored?.payouts ?? []).map(copy)
  const keys = makeOnce(stored?.keys)
  const expiries = makeExpiries()
  let balance: number = stored?.balance ?? settings.balance
  /** An upper bound of the balance and of the awaited sum: it is a safe integer, so both are. */
  let volume = stored === undefined ? balance : volumeOf(stored)
  let awaited = 0
  let pixKey = stored === undefined ? settings.pixKey && PixKey.toPair(settings.pixKey) : stored.pixKey

  // A merchant that no code can name is a mistake in the settings. It is found here, before the first charge.
  Result.getOrThrow(copyAndPaste(settings.merchant, uuid(seed)))

  for (const charge of charges) {
    if (charge.status !== "Awaiting") continue
    if (charge.expiresAt !== undefined) expiries.add({ at: charge.expiresAt, rowId: charge.rowId })
    awaited += charge.amount
  }

  const { codeOf, showCharge } = makeShowCharge(settings.merchant)

  const addToBalance = (centavos: number) => {
    balance += centavos
    observer.noteBalance(balance)
  }

  const setStatus = (charge: Mutable<Charge>, to: Exclude<Status, "Awaiting">, now: number) => {
    if (charge.status === "Awaiting") awaited -= charge.amount
    charge.status = to
    charge.updatedAt = now
    observer.noteTransaction(showCharge(charge), false)
    if (to === "Paid") addToBalance(charge.amount)
    if (to === "Refunded") addToBalance(0 - charge.amount)
  }

  /** Cancels the charges whose time is over. */
  const lapse = (now: DateTime.Utc) => {
    const millis = DateTime.toEpochMillis(now)
    for (let due = expiries.take(millis); due !== undefined; due = expiries.take(millis)) {
      const charge = charges[due.rowId - 1]
      if (charge?.status === "Awaiting" && charge.expiresAt === due.at) setStatus(charge, "Cancelled", due.at)
    }
  }

  const find = (transactionId: string, now: DateTime.Utc): Charge | undefined => {
    lapse(now)
    return byId.get(transactionId)
  }

  const refusalOf = (currency: string | undefined): Refusal.Refusal | undefined => {
    if (currency === undefined) return settings.strict ? Refusal.noCurrency : undefined
    return currency === "BRL" ? undefined : Refusal.notBrl
  }

  return {
    create: (
      request: CreateTransactionRequest,
      write: Write,
      now: DateTime.Utc
    ): Result.Result<Charge, Refusal.Refusal> => {
      return keys.run(write, charges, () => {
        const problem = refusalOf(request.currency)
        if (problem !== undefined) return Result.fail(problem)
        const rowId = charges.length + 1
        const transactionId = uuid(`${seed}/transaction/${rowId}`)
        const at = DateTime.toEpochMillis(now)
        const expiresAt = request.paymentMethod === "PIX" ? at + (request.pix?.expiresInDays ?? 1) * day : undefined
        if (expiresAt !== undefined && expiresAt > endOfTime) return Result.fail(Refusal.noSuchDate)
        if (!Number.isSafeInteger(volume + request.amount)) return Result.fail(Refusal.overVolume)
        const charge: Mutable<Charge> = {
          transactionId,
          rowId,
          amount: request.amount,
          paymentMethod: request.paymentMethod,
          status: "Awaiting",
          idempotencyKey: write.key,
          customer: request.customer,
          createdAt: at,
          updatedAt: at,
          firstExpiresAt: expiresAt,
          expiresAt
        }
        if (Result.isFailure(codeOf(charge))) return Result.fail(Refusal.notChargeable)
        charges.push(charge)
        byId.set(transactionId, charge)
        if (expiresAt !== undefined) expiries.add({ at: expiresAt, rowId })
        awaited += charge.amount
        volume += charge.amount
        observer.noteTransaction(showCharge(charge), true)
        return Result.succeed(charge)
      })
    },

    withdraw: (
      request: WithdrawalRequestBody,
      write: Write,
      now: DateTime.Utc
    ): Result.Result<SandboxWithdrawal, Refusal.Refusal> => {
      const made = keys.run(write, payouts, () => {
        const problem = refusalOf(request.currency)
        if (problem !== undefined) return Result.fail(problem)
        if (request.amount < minimumWithdrawal) return Result.fail(Refusal.belowMinimum)
        const to = request.pixKey === undefined ? pixKey : { pixKey: request.pixKey, pixKeyType: request.pixKeyType }
        if (to === undefined) return Result.fail(Refusal.noPixKey)
        if (!isPixKey(to)) return Result.fail(Refusal.invalidPixKey)
        if (request.amount > balance) return Result.fail(Refusal.insufficientBalance)
        const payout: Payout = {
          id: payouts.length + 1,
          amount: request.amount,
          status: "Awaiting",
          idempotencyKey: write.key,
          ...to,
          description: request.description,
          metadata: request.metadata,
          createdAt: DateTime.toEpochMillis(now)
        }
        payouts.push(payout)
        observer.noteWithdrawal(showPayout(payout), true)
        addToBalance(0 - payout.amount)
        return Result.succeed(payout)
      })
      return Result.map(made, showPayout)
    },

    find,
    lapse,
    showCharge,
    codeOf,

    /** The charges, oldest first. A caller does not change them. */
    charges: (now: DateTime.Utc): ReadonlyArray<Charge> => {
      lapse(now)
      return charges
    },

    withdrawals: (): ReadonlyArray<SandboxWithdrawal> => payouts.map(showPayout),

    balance: () => balance,

    /** The sum of the awaited charges, in centavos. */
    awaited: (now: DateTime.Utc) => {
      lapse(now)
      return awaited
    },

    /** Throws for an amount with which a sum would not be a safe integer. */
    credit: (amount: Centavos) => {
      volume = centavos(volume + amount)
      addToBalance(amount)
      return balance
    },

    pixKey: () => pixKey,
    setPixKey: (key: PixKey.PixKey | undefined) => {
      pixKey = key && PixKey.toPair(key)
    },

    /** Brings a charge into another state. A charge that is in the state already is not changed. */
    move: (
      transactionId: string,
      to: Exclude<Status, "Awaiting">,
      now: DateTime.Utc
    ): Result.Result<SandboxTransaction, SandboxNotFound | SandboxConflict> => {
      lapse(now)
      const found = steerable("transaction", transactionId, byId.get(transactionId), comesFrom[to], to)
      return Result.map(found, (charge) => {
        if (charge.status !== to) setStatus(charge, to, DateTime.toEpochMillis(now))
        return showCharge(charge)
      })
    },

    /** Lets an awaited charge lapse now. */
    expire: (transactionId: string, now: DateTime.Utc) => {
      lapse(now)
      const charge = byId.get(transactionId)
      if (charge?.status === "Awaiting" && charge.expiresAt !== undefined) {
        charge.expiresAt = DateTime.toEpochMillis(now)
      }
    },

    /** Brings a payout into its last state. A payout that is in the state already is not changed. */
    end: (
      id: number,
      to: Exclude<SandboxWithdrawal["status"], "Awaiting">
    ): Result.Result<SandboxWithdrawal, SandboxNotFound | SandboxConflict> =>
      Result.map(steerable("withdrawal", id, payouts[id - 1], "Awaiting", to), (payout) => {
        if (payout.status !== to) {
          payout.status = to
          observer.noteWithdrawal(showPayout(payout), false)
          if (to === "Rejected") addToBalance(payout.amount)
        }
        return showPayout(payout)
      }),

    forgetKey: keys.forget,
    forgetKeys: keys.forgetAll,

    snapshot: (): StoredLedger => ({
      charges: charges.map(copy),
      payouts: payouts.map(copy),
      keys: keys.snapshot(),
      balance,
      pixKey
    })
  }
}

/** See `make`. */
export type Ledger = ReturnType<typeof make>
