/**
 * The ledger of the sandbox: charges, payouts, the balance and the keys already used. Each change is one synchronous step, so
 * that concurrent requests cannot interleave: a key is looked up, its request executed, and the key stored in one step.
 *
 * A row is never changed, it is replaced: whoever has one may keep it. A charge is found by its id, and the time of the next
 * to lapse is known, so a request takes no longer as the ledger grows.
 */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type { CreateTransactionRequest } from "../../contract/Transaction.ts"
import { minimumWithdrawal, type WithdrawalRequestBody } from "../../contract/Withdrawal.ts"
import type { Centavos } from "../../pix/Money.ts"
import * as PixKey from "../../pix/PixKey.ts"
import { SandboxConflict, SandboxNotFound } from "../SandboxError.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "../SandboxLedger.ts"
import type { Settings } from "../SandboxOptions.ts"
import { writeBrCode } from "./brCode.ts"
import { uuid } from "./ids.ts"
import { makeOnce, type Write } from "./once.ts"
import { chargeId, type SentFields } from "./seen.ts"
import * as Refusal from "../Refusal.ts"
import { type StoredLedger, volumeOf } from "../SandboxState.ts"

type Status = SandboxTransaction["status"]

const comesFrom: Record<Exclude<Status, "Awaiting">, Status> = {
  Paid: "Awaiting",
  Cancelled: "Awaiting",
  Failed: "Awaiting",
  Refunded: "Paid"
}

/** A state of a payout that a step brings it into. */
export type PayoutStep = Exclude<SandboxWithdrawal["status"], "Awaiting">

const payoutComesFrom: Record<PayoutStep, ReadonlyArray<SandboxWithdrawal["status"]>> = {
  Processing: ["Awaiting"],
  Settled: ["Awaiting", "Processing"],
  Rejected: ["Awaiting", "Processing"],
  Returned: ["Settled"]
}

/** The last instant that a timestamp of the service can write. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const day = 24 * 60 * 60 * 1000

const isoOf = (millis: number) => DateTime.formatIso(DateTime.makeUnsafe(millis))

/** Called for each new row and each change, in their order. */
export interface Observer {
  readonly noteTransaction: (transaction: SandboxTransaction, isNew: boolean) => void
  readonly noteWithdrawal: (withdrawal: SandboxWithdrawal, isNew: boolean) => void
}

/** What a payer does other than to pay the amount in time. */
type Payment = {
  /** Another amount, in centavos. */
  readonly amount?: Centavos | undefined
  /** Whether a charge that is `Cancelled` is paid, too. */
  readonly late?: boolean | undefined
}

/** The amount of a charge as lookups and lists show it, in centavos. */
export const valueOf = ({ amount, paid }: SandboxTransaction): Centavos => paid ?? amount

/** A row that is in the state `asked`, or in a state that leads to it. */
const steerable = <Row extends { readonly status: string }>(
  subject: "transaction" | "withdrawal",
  id: string | number,
  row: Row | undefined,
  from: ReadonlyArray<Row["status"]>,
  asked: Row["status"]
): Result.Result<Row, SandboxNotFound | SandboxConflict> => {
  if (row === undefined) return Result.fail(new SandboxNotFound({ subject, id }))
  const { status } = row
  return status === asked || from.includes(status)
    ? Result.succeed(row)
    : Result.fail(new SandboxConflict({ subject, id, status, asked }))
}

/** The PIX key that a payout goes to. */
type Payee = Pick<SandboxWithdrawal, "pixKey"> & { readonly pixKeyType?: PixKey.PixKeyType | undefined }

/** Whether a PIX key fits its kind, or any kind where none is given. */
const isPixKey = ({ pixKey, pixKeyType }: Payee) =>
  (pixKeyType === undefined ? PixKey.PixKeyType.literals : [pixKeyType]).some((type) =>
    Result.isSuccess(PixKey.make(type, pixKey))
  )

/**
 * The copy-and-paste text of a charge: a BR Code that any reader parses. No bank can pay by it, since its URL is on a name
 * that is reserved for examples (RFC 2606). It fails for an amount that no code can state.
 */
const copyAndPaste = (merchant: Settings["merchant"], transactionId: string, amount?: Centavos) =>
  writeBrCode({ url: `pix.example/qr/v2/${transactionId.replaceAll("-", "")}`, merchant, amount })

/** What a ledger is made of. */
interface Origin {
  readonly seed: string
  /** Whether the gateway answers as seen. */
  readonly isSeen: boolean
  /** Its rows, where it is that of a state. */
  readonly stored?: StoredLedger | undefined
}

/** What is new of a charge or a payout beside what its request says. */
interface New {
  readonly id: number
  readonly key: string | undefined
  readonly at: string
}

/** A charge with its id and, for PIX, its code and its expiry. */
const newCharge = (
  { amount, customer, paymentMethod }: CreateTransactionRequest,
  pix: Pick<SandboxTransaction, "transactionId" | "qrcode" | "expiresAt">,
  sent: SentFields,
  { at, id, key }: New
): SandboxTransaction => ({
  ...pix,
  rowId: id,
  amount,
  currency: "BRL",
  paymentMethod,
  status: "Awaiting",
  states: [],
  ...(key !== undefined && { idempotencyKey: key }),
  customer,
  ...sent,
  createdAt: at,
  updatedAt: at
})

/** The payee of a payout, and what its provider refuses: as seen, that is answered with a record that has failed. */
const payeeOf = ({ amount, pixKey, pixKeyType }: WithdrawalRequestBody, own: Payee | undefined, isSeen: boolean) => {
  const tooSmall = amount < minimumWithdrawal ? Refusal.belowMinimum : undefined
  if (tooSmall !== undefined && !isSeen) return Result.fail(tooSmall)
  const to = pixKey === undefined ? own : { pixKey, pixKeyType }
  if (to === undefined) return Result.fail(Refusal.noPixKey)
  const refusal = tooSmall ?? (isPixKey(to) ? undefined : Refusal.invalidPixKey)
  return refusal !== undefined && !isSeen ? Result.fail(refusal) : Result.succeed({ to, refusal })
}

/** A payout, which has failed at once where there is a reason. */
const newPayout = (
  { amount, description, metadata }: WithdrawalRequestBody,
  { pixKey, pixKeyType }: Payee,
  reason: string | undefined,
  { at, id, key }: New
): SandboxWithdrawal => ({
  id,
  amount,
  currency: "BRL",
  ...(reason === undefined
    ? { status: "Awaiting" as const }
    : { status: "Rejected" as const, reason, failedAtOnce: true }),
  ...(key !== undefined && { idempotencyKey: key }),
  pixKey,
  ...(pixKeyType !== undefined && { pixKeyType }),
  ...(description !== undefined && { description }),
  ...(metadata !== undefined && { metadata }),
  createdAt: at,
  updatedAt: at
})

/** The money of a ledger, and a bound of all its sums. */
const makeFunds = (settings: Settings, stored: StoredLedger | undefined) => {
  let balance: number = stored?.balance ?? settings.balance
  /** An upper bound of the balance and of the awaited sum: it is a safe integer, so both are. */
  let volume = stored === undefined ? balance : volumeOf(stored)
  return {
    balance: () => balance,
    add: (amount: number): void => void (balance += amount),
    take: (amount: number): void => void (balance -= amount),
    /** Adds to the bound, unless a sum would not be a safe integer. */
    bound: (amount: number): boolean => {
      if (!Number.isSafeInteger(volume + amount)) return false
      volume += amount
      return true
    }
  }
}

/** What charges and payouts share. */
interface Shared {
  readonly settings: Settings
  readonly observer: Observer
  readonly origin: Origin
  readonly funds: ReturnType<typeof makeFunds>
  readonly keys: ReturnType<typeof makeOnce>
}

const refusalOf = (strict: boolean, currency: string | undefined): Refusal.Refusal | undefined => {
  if (currency === undefined) return strict ? Refusal.noCurrency : undefined
  return currency === "BRL" ? undefined : Refusal.notBrl
}

const makeCharges = ({ funds, keys, observer, origin, settings }: Shared) => {
  const { isSeen, seed, stored } = origin
  const charges: Array<SandboxTransaction> = [...(stored?.charges ?? [])]
  const indexes = new Map(charges.map(({ transactionId }, index) => [transactionId, index]))
  const awaiting = new Set(charges.flatMap(({ status }, index) => (status === "Awaiting" ? [index] : [])))
  let awaited = 0
  for (const index of awaiting) awaited += charges[index]?.amount ?? 0
  /** No awaited charge lapses before this time. */
  let nextExpiry = stored === undefined ? Infinity : 0

  // A merchant that no code can name is a mistake in the settings. It is found here, before the first charge.
  Result.getOrThrow(copyAndPaste(settings.merchant, uuid(seed)))

  const find = (transactionId: string): SandboxTransaction | undefined => charges[indexes.get(transactionId) ?? -1]

  const setStatus = (charge: SandboxTransaction, status: Exclude<Status, "Awaiting">, at: string, paid?: Centavos) => {
    const index = charge.rowId - 1
    if (awaiting.delete(index)) awaited -= charge.amount
    const states = [...charge.states, { status, at }]
    const next = { ...charge, status, states, updatedAt: at, ...(paid !== undefined && { paid }) }
    charges[index] = next
    if (status === "Paid") funds.add(valueOf(next))
    if (status === "Refunded") funds.take(valueOf(next))
    observer.noteTransaction(next, false)
    return next
  }

  /** Cancels the charges whose time is over, in the order of their times. */
  const lapse = (now: DateTime.Utc) => {
    const millis = DateTime.toEpochMillis(now)
    if (millis < nextExpiry) return
    const due: Array<{ readonly charge: SandboxTransaction; readonly at: number }> = []
    nextExpiry = Infinity
    for (const index of awaiting) {
      const charge = charges[index]
      if (charge?.expiresAt === undefined) continue
      const at = Date.parse(charge.expiresAt)
      if (at <= millis) due.push({ charge, at })
      else nextExpiry = Math.min(nextExpiry, at)
    }
    due.sort((a, b) => a.at - b.at)
    for (const { charge, at } of due) setStatus(charge, "Cancelled", isoOf(at))
  }

  return {
    create: (
      request: CreateTransactionRequest,
      write: Write,
      now: DateTime.Utc,
      sent: SentFields = {}
    ): Result.Result<SandboxTransaction, Refusal.Refusal> =>
      keys.run(write, charges, () => {
        const { amount, paymentMethod } = request
        const problem = refusalOf(settings.strict, request.currency)
        if (problem !== undefined) return Result.fail(problem)
        const rowId = charges.length + 1
        const transactionId = (isSeen ? chargeId : uuid)(`${seed}/transaction/${rowId}`)
        const at = DateTime.toEpochMillis(now)
        const expiry = paymentMethod === "PIX" ? at + (request.pix?.expiresInDays ?? 1) * day : undefined
        if (expiry !== undefined && expiry > endOfTime) return Result.fail(Refusal.noSuchDate)
        const code = copyAndPaste(settings.merchant, transactionId, amount)
        if (Result.isFailure(code)) return Result.fail(Refusal.notChargeable)
        if (!funds.bound(amount)) return Result.fail(Refusal.overVolume)
        const pix = expiry === undefined ? {} : { qrcode: code.success, expiresAt: isoOf(expiry) }
        const charge = newCharge(request, { transactionId, ...pix }, sent, { id: rowId, key: write.key, at: isoOf(at) })
        charges.push(charge)
        indexes.set(transactionId, rowId - 1)
        awaiting.add(rowId - 1)
        nextExpiry = Math.min(nextExpiry, expiry ?? Infinity)
        awaited += amount
        observer.noteTransaction(charge, true)
        return Result.succeed(charge)
      }),

    find,
    lapse,

    /** The charges, oldest first. A caller does not change the list. */
    charges: (): ReadonlyArray<SandboxTransaction> => charges,
    /** The sum of the awaited charges, in centavos. */
    awaited: () => awaited,

    /** Brings a charge into another state. A charge that is in the state already is not changed. */
    move: (
      transactionId: string,
      to: Exclude<Status, "Awaiting">,
      now: DateTime.Utc,
      { amount, late = false }: Payment = {}
    ): Result.Result<SandboxTransaction, SandboxNotFound | SandboxConflict | Refusal.Refusal> => {
      lapse(now)
      const from = [comesFrom[to], ...(late ? (["Cancelled"] as const) : [])]
      return Result.flatMap(
        steerable("transaction", transactionId, find(transactionId), from, to),
        (charge): Result.Result<SandboxTransaction, Refusal.Refusal> => {
          if (charge.status === to) return Result.succeed(charge)
          if (!funds.bound(amount ?? 0)) return Result.fail(Refusal.overCredit)
          const paid = amount === charge.amount ? undefined : amount
          const at = DateTime.formatIso(now)
          // A charge that is paid late has lapsed before.
          const lapsed = late && charge.status === "Awaiting" ? setStatus(charge, "Cancelled", at) : charge
          return Result.succeed(setStatus(lapsed, to, at, paid))
        }
      )
    }
  }
}

const makePayouts = ({ funds, keys, observer, origin, settings }: Shared) => {
  const payouts: Array<SandboxWithdrawal> = [...(origin.stored?.payouts ?? [])]
  const pixKey = settings.pixKey && PixKey.toPair(settings.pixKey)
  return {
    withdraw: (
      request: WithdrawalRequestBody,
      write: Write,
      now: DateTime.Utc,
      failure?: string
    ): Result.Result<SandboxWithdrawal, Refusal.Refusal> =>
      keys.run(write, payouts, () => {
        const problem = refusalOf(settings.strict, request.currency)
        if (problem !== undefined) return Result.fail(problem)
        const payee = payeeOf(request, pixKey, origin.isSeen)
        if (Result.isFailure(payee)) return Result.fail(payee.failure)
        const { refusal, to } = payee.success
        const reason = failure ?? refusal?.message
        if (reason === undefined && request.amount > funds.balance()) return Result.fail(Refusal.insufficientBalance)
        const made = { id: payouts.length + 1, key: write.key, at: DateTime.formatIso(now) }
        const payout = newPayout(request, to, reason, made)
        payouts.push(payout)
        if (payout.status === "Awaiting") funds.take(payout.amount)
        observer.noteWithdrawal(payout, true)
        return Result.succeed(payout)
      }),

    payouts: (): ReadonlyArray<SandboxWithdrawal> => payouts,
    /** The key on the company's account. */
    pixKey,

    /** Brings a payout into another state. A payout that is in the state already is not changed. */
    movePayout: (
      id: number,
      to: PayoutStep,
      now: DateTime.Utc,
      reason?: string
    ): Result.Result<SandboxWithdrawal, SandboxNotFound | SandboxConflict> =>
      Result.map(steerable("withdrawal", id, payouts[id - 1], payoutComesFrom[to], to), (payout) => {
        if (payout.status === to) return payout
        const updatedAt = DateTime.formatIso(now)
        const states = [...(payout.states ?? []), { status: to, at: updatedAt }]
        const next = { ...payout, status: to, states, updatedAt, ...(reason !== undefined && { reason }) }
        payouts[id - 1] = next
        if (to === "Rejected" || to === "Returned") funds.add(payout.amount)
        observer.noteWithdrawal(next, false)
        return next
      })
  }
}

/** Makes a ledger: an empty one, or that of a state. */
export const make = (settings: Settings, observer: Observer, origin: Origin) => {
  const keys = makeOnce(origin.stored?.keys)
  const funds = makeFunds(settings, origin.stored)
  const shared: Shared = { settings, observer, origin, funds, keys }
  const charges = makeCharges(shared)
  const payouts = makePayouts(shared)
  return {
    ...charges,
    ...payouts,
    /** Whether the gateway answers as seen. */
    isSeen: origin.isSeen,
    balance: funds.balance,
    /** Adds to the balance. It fails for an amount with which a sum would not be a safe integer. */
    credit: (amount: Centavos): Result.Result<number, Refusal.Refusal> => {
      if (!funds.bound(amount)) return Result.fail(Refusal.overCredit)
      funds.add(amount)
      return Result.succeed(funds.balance())
    },
    forgetKey: keys.forget,
    forgetKeys: keys.forgetAll,

    /** The rows are shared with the ledger, which never changes one. */
    snapshot: (): StoredLedger => ({
      charges: [...charges.charges()],
      payouts: [...payouts.payouts()],
      keys: keys.snapshot(),
      balance: funds.balance()
    })
  }
}

/** See `make`. */
export type Ledger = ReturnType<typeof make>
