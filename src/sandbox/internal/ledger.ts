/**
 * The sandbox's books: charges, payouts, the balance and the keys already used. Each change is one synchronous step, so
 * that concurrent requests cannot interleave in it: a key is looked up, executed and remembered at once.
 */
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { fingerprint } from "../../contract/IdempotencyKey.ts"
import type { Centavos } from "../../pix/Money.ts"
import * as PixKey from "../../pix/PixKey.ts"
import type { CreateTransactionRequest, Customer } from "../../contract/Transaction.ts"
import { minimumWithdrawal, type WithdrawalRequestBody } from "../../contract/Withdrawal.ts"
import { copyAndPaste } from "./copyAndPaste.ts"
import * as Refusal from "./refusal.ts"
import { SandboxConflict, SandboxNotFound } from "../SandboxError.ts"
import type { Settings } from "../SandboxOptions.ts"

/** A charge in the sandbox's books. */
export interface SandboxTransaction {
  /** The id of the lookup. */
  readonly transactionId: string
  /** The integer id of the list's row and of the lookup. */
  readonly rowId: number
  /** In centavos. */
  readonly amount: Centavos
  readonly paymentMethod: CreateTransactionRequest["paymentMethod"]
  readonly status: "Awaiting" | "Paid" | "Cancelled" | "Failed" | "Refunded"
  /** The key that it was created with, if any. */
  readonly idempotencyKey: string | undefined
  readonly customer: Redacted.Redacted<Customer>
  /** The copy-and-paste text of the QR code, for PIX. */
  readonly qrcode: Redacted.Redacted | undefined
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
  /** When it lapses, for PIX. */
  readonly expiresAt: DateTime.Utc | undefined
}

/** A payout in the sandbox's books: it was executed, exactly once. */
export interface SandboxWithdrawal {
  readonly id: number
  /** The key that it was asked for with, if any. */
  readonly idempotencyKey: string | undefined
  /** In centavos. */
  readonly amount: Centavos
  /** `Settled` and `Rejected` are the sandbox's own words: the service shows only `Awaiting`. */
  readonly status: "Awaiting" | "Settled" | "Rejected"
  readonly pixKey: Redacted.Redacted
  readonly pixKeyType: string | undefined
  readonly description: Redacted.Redacted<string | undefined>
  readonly metadata: Redacted.Redacted<WithdrawalRequestBody["metadata"]>
  readonly currency: string
  readonly createdAt: DateTime.Utc
}

/** A write as it arrived: its key, and its body for comparison. */
export interface Write {
  readonly key: string | undefined
  readonly body: unknown
}

type Status = SandboxTransaction["status"]

const comesFrom: Record<Exclude<Status, "Awaiting">, Status> = {
  Paid: "Awaiting",
  Cancelled: "Awaiting",
  Failed: "Awaiting",
  Refunded: "Paid"
}

/** The first result of each key. A refusal is not kept: nothing was executed, so the key is still free. */
const makeOnce = <A>() => {
  const kept = new Map<string, { readonly body: unknown; readonly value: A }>()
  return {
    run: (
      { body, key }: Write,
      execute: () => Result.Result<A, Refusal.Refusal>
    ): Result.Result<A, Refusal.Refusal> => {
      if (key === undefined) return execute()
      const first = kept.get(key)
      if (first !== undefined) {
        return Equal.equals(first.body, body) ? Result.succeed(first.value) : Result.fail(Refusal.keyReused)
      }
      return Result.map(execute(), (value) => {
        kept.set(key, { body, value })
        return value
      })
    },
    forget: (key: string) => kept.delete(key),
    forgetAll: () => kept.clear()
  }
}

/** Is told of changes: not of what is new, nor of what stays as it is. */
export interface Observer {
  readonly noteTransaction: (transaction: SandboxTransaction) => void
  readonly noteWithdrawal: (withdrawal: SandboxWithdrawal) => void
}

/** Opens empty books. */
export const make = (settings: Settings, observer: Observer) => {
  const transactions: Array<SandboxTransaction> = []
  const withdrawals: Array<SandboxWithdrawal> = []
  let balance: number = settings.balance
  let pixKey = settings.pixKey
  const creations = makeOnce<SandboxTransaction>()
  const payouts = makeOnce<SandboxWithdrawal>()

  // A merchant that no code can name is a mistake in the settings: better found now than at the first charge.
  Result.getOrThrow(copyAndPaste(settings.merchant, uuid(settings.seed)))

  const lapse = (now: DateTime.Utc) => {
    transactions.forEach((transaction, index) => {
      const { expiresAt, status } = transaction
      if (status === "Awaiting" && expiresAt !== undefined && DateTime.isLessThanOrEqualTo(expiresAt, now)) {
        const lapsed: SandboxTransaction = { ...transaction, status: "Cancelled", updatedAt: expiresAt }
        transactions[index] = lapsed
        observer.noteTransaction(lapsed)
      }
    })
  }

  const find = (transactionId: string, now: DateTime.Utc) => {
    lapse(now)
    return transactions.find((transaction) => transaction.transactionId === transactionId)
  }

  return {
    create: (request: CreateTransactionRequest, write: Write, now: DateTime.Utc) =>
      creations.run(write, () => {
        const rowId = transactions.length + 1
        const transactionId = uuid(`${settings.seed}/transaction/${rowId}`)
        const days = request.paymentMethod === "PIX" ? (request.pix?.expiresInDays ?? 1) : undefined
        const code = copyAndPaste(settings.merchant, transactionId, request.amount)
        if (Result.isFailure(code)) return Result.fail(Refusal.notChargeable)
        const transaction: SandboxTransaction = {
          transactionId,
          rowId,
          amount: request.amount,
          paymentMethod: request.paymentMethod,
          status: "Awaiting",
          idempotencyKey: write.key,
          customer: Redacted.make(request.customer, { label: "customer" }),
          qrcode: days === undefined ? undefined : Redacted.make(code.success, { label: "qrcode" }),
          createdAt: now,
          updatedAt: now,
          expiresAt: days === undefined ? undefined : DateTime.add(now, { days })
        }
        transactions.push(transaction)
        return Result.succeed(transaction)
      }),

    withdraw: (request: WithdrawalRequestBody, write: Write, now: DateTime.Utc) =>
      payouts.run(write, () => {
        if (request.currency !== undefined && request.currency !== "BRL") return Result.fail(Refusal.notBrl)
        if (request.amount < minimumWithdrawal) return Result.fail(Refusal.belowMinimum)
        const onFile = pixKey === undefined ? undefined : PixKey.toPair(pixKey)
        const to = request.pixKey === undefined ? onFile : { pixKey: request.pixKey, pixKeyType: request.pixKeyType }
        if (to === undefined) return Result.fail(Refusal.noPixKey)
        if (request.amount > balance) return Result.fail(Refusal.insufficientBalance)
        balance -= request.amount
        const withdrawal: SandboxWithdrawal = {
          id: withdrawals.length + 1,
          idempotencyKey: write.key,
          amount: request.amount,
          status: "Awaiting",
          pixKey: Redacted.make(to.pixKey, { label: "pixKey" }),
          pixKeyType: to.pixKeyType,
          description: Redacted.make(request.description, { label: "description" }),
          metadata: Redacted.make(request.metadata, { label: "metadata" }),
          currency: "BRL",
          createdAt: now
        }
        withdrawals.push(withdrawal)
        return Result.succeed(withdrawal)
      }),

    find,

    transactions: (now: DateTime.Utc): ReadonlyArray<SandboxTransaction> => {
      lapse(now)
      return [...transactions]
    },

    withdrawals: (): ReadonlyArray<SandboxWithdrawal> => [...withdrawals],

    balance: () => balance,

    /** What the charges that are still awaited would bring, in centavos. */
    awaited: (now: DateTime.Utc) => {
      lapse(now)
      return transactions.reduce((sum, { amount, status }) => (status === "Awaiting" ? sum + amount : sum), 0)
    },

    credit: (amount: Centavos) => (balance += amount),

    setPixKey: (key: PixKey.PixKey | undefined) => {
      pixKey = key
    },

    /** Brings a charge into another state; the state that it is in already changes nothing. */
    move: (
      transactionId: string,
      to: Exclude<Status, "Awaiting">,
      now: DateTime.Utc
    ): Result.Result<SandboxTransaction, SandboxNotFound | SandboxConflict> => {
      const transaction = find(transactionId, now)
      if (transaction === undefined) {
        return Result.fail(new SandboxNotFound({ subject: "transaction", id: transactionId }))
      }
      const { amount, status } = transaction
      if (status === to) return Result.succeed(transaction)
      if (status !== comesFrom[to]) {
        return Result.fail(new SandboxConflict({ subject: "transaction", id: transactionId, status, asked: to }))
      }
      if (to === "Paid") balance += amount
      if (to === "Refunded") balance -= amount
      const moved: SandboxTransaction = { ...transaction, status: to, updatedAt: now }
      transactions[transaction.rowId - 1] = moved
      observer.noteTransaction(moved)
      return Result.succeed(moved)
    },

    /** Lets an awaited charge lapse now. */
    expire: (transactionId: string, now: DateTime.Utc) => {
      const transaction = find(transactionId, now)
      if (transaction?.status === "Awaiting" && transaction.expiresAt !== undefined) {
        transactions[transaction.rowId - 1] = { ...transaction, expiresAt: now }
      }
    },

    /** Ends a payout. A rejected one returns its amount to the balance. */
    end: (
      id: number,
      to: Exclude<SandboxWithdrawal["status"], "Awaiting">
    ): Result.Result<SandboxWithdrawal, SandboxNotFound | SandboxConflict> => {
      const withdrawal = withdrawals[id - 1]
      if (withdrawal === undefined) return Result.fail(new SandboxNotFound({ subject: "withdrawal", id }))
      const { amount, status } = withdrawal
      if (status === to) return Result.succeed(withdrawal)
      if (status !== "Awaiting") {
        return Result.fail(new SandboxConflict({ subject: "withdrawal", id, status, asked: to }))
      }
      if (to === "Rejected") balance += amount
      const ended: SandboxWithdrawal = { ...withdrawal, status: to }
      withdrawals[id - 1] = ended
      observer.noteWithdrawal(ended)
      return Result.succeed(ended)
    },

    forget: (key: string) => {
      creations.forget(key)
      payouts.forget(key)
    },

    forgetAll: () => {
      creations.forgetAll()
      payouts.forgetAll()
    }
  }
}

/** See `make`. */
export type Ledger = ReturnType<typeof make>

/** A UUID, shaped as a random one (version 4), that is the same for the same text. */
export const uuid = (text: string): string => {
  const hex = fingerprint(text)
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
