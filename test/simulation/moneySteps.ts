/**
 * Takes the steps of a plan in its world, and remembers what was told. A step whose process dies is taken again by the next one.
 * When all steps are taken nothing goes wrong any more, and an operator ends what is left open.
 */
import { Effect, Exit, Fiber, Option, Result, Schedule, Schema, Stream } from "effect"
import {
  type CreatedTransaction,
  type CreateTransactionError,
  IdempotencyConflict,
  IdempotencyKey,
  OutcomeUnknown,
  PixKey,
  type RequestWithdrawalError,
  type Withdrawal,
  type WriteOptions
} from "effect-pix"
import { DatabaseError, type PayoutChange, type PayoutItem, type PayoutStatus } from "effect-pix/payouts"
import type { SandboxWithdrawal } from "effect-pix/sandbox"
import { person } from "../support/canary.ts"
import { type Account, accounts, amountOf, fateOf, nameOf, type Plan, type Step } from "./moneyPlan.ts"
import type { Running, Services, World } from "./moneyWorld.ts"

const itemOf = (reference: number): PayoutItem => ({
  reference: nameOf(reference),
  amount: amountOf(reference),
  pixKey: reference % 2 === 0 ? PixKey.email(person.email) : PixKey.cpf(person.cpf),
  description: person.description
})
const payoutKey = (reference: number) => IdempotencyKey.fromReference("payout", nameOf(reference))
const chargeKey = (reference: number) => IdempotencyKey.fromReference("charge", nameOf(reference))

type WriteError = RequestWithdrawalError | CreateTransactionError
/** What the last call for a reference said. */
interface Told {
  readonly at: number
  readonly key: string
  readonly result: Result.Result<Withdrawal | CreatedTransaction, WriteError>
}

const isUnclear = Schema.is(Schema.Union([OutcomeUnknown, IdempotencyConflict]))
const isPastHorizon = (error: WriteError | undefined) =>
  error !== undefined && "reason" in error && error.reason === "PastHorizon"
/** Errors that say only that the database did not answer: the step is taken again. */
const isRetryable = (error: unknown) => error instanceof DatabaseError && error.isRetryable

/** The state of a payout that the gateway shows in this state. */
export const endOf: { readonly [Status in SandboxWithdrawal["status"]]?: "paid" | "failed" | "returned" } = {
  Settled: "paid",
  Rejected: "failed",
  Returned: "returned"
}

export type Story = Effect.Success<ReturnType<typeof play>>

export const play = (world: World, plan: Plan) =>
  Effect.gen(function* () {
    const told = new Map<number, Told>()
    const charges = new Map<number, { readonly account: Account; readonly id: string }>()
    const looks: Array<{
      readonly account: Account
      readonly reference: string
      readonly history: ReadonlyArray<PayoutChange>
    }> = []
    const problems: Array<string> = []
    /** What the program printed of its errors. */
    const errors: Array<unknown> = []

    const nights = new Map<number, number>()
    /** What a person sees of a call that began before a night in which the gateway forgot its keys. */
    const panelAfterNight = Effect.fnUntraced(function* (reference: number, key: string) {
      const began = nights.get(reference) ?? world.nights()
      nights.set(reference, began)
      if (began === world.nights()) return undefined
      for (const sandbox of Object.values(world.sandboxes)) {
        const payout = (yield* sandbox.withdrawals).find(({ idempotencyKey }) => idempotencyKey === key)
        const charge = (yield* sandbox.transactions).find(({ idempotencyKey }) => idempotencyKey === key)
        if (charge !== undefined) return { id: charge.transactionId }
        if (payout !== undefined) return { id: payout.id }
      }
      return undefined
    })

    const write = <A extends Withdrawal | CreatedTransaction>(
      reference: number,
      key: string,
      isAgain: boolean,
      call: (options: WriteOptions) => Effect.Effect<A, WriteError>
    ) =>
      Effect.gen(function* () {
        const panel = yield* panelAfterNight(reference, key)
        if (panel !== undefined) return panel
        const before = told.get(reference)?.result
        const error = before !== undefined && Result.isFailure(before) ? before.failure : undefined
        // After the horizon the panel was looked at: see `finish`.
        const first: WriteOptions =
          isUnclear(error) && !isPastHorizon(error)
            ? { after: error }
            : { idempotencyKey: key, earlier: isAgain || error?.outcome === "Unknown" ? "Unknown" : "None" }
        const schedule = Schedule.upTo(Schedule.spaced("1 minute"), { times: 2 })
        const result = yield* Effect.result(IdempotencyKey.retry(first, schedule, call))
        told.set(reference, { at: world.time.now(), key, result })
        if (Result.isFailure(result)) errors.push(result.failure)
        return result.pipe(Result.getSuccess, Option.getOrUndefined)
      })

    const callFor = (reference: number, _: Account, { payments }: Services, isAgain: boolean) => {
      const { reference: __, ...request } = itemOf(reference)
      return write(reference, payoutKey(reference), isAgain, (options) => payments.requestWithdrawal(request, options))
    }

    const end = Effect.fnUntraced(function* (account: Account, id: string, ends: string) {
      const sandbox = world.sandboxes[account]
      yield* Effect.sleep("1 minute")
      if (ends === "cancelled") yield* sandbox.cancel(id)
      if (ends === "paid" || ends === "refunded") yield* sandbox.markPaid(id)
      if (ends === "paid with another amount") yield* sandbox.markPaid(id, { amount: 900 })
      yield* Effect.sleep("20 minutes")
      if (ends === "refunded") yield* sandbox.refund(id)
    })
    const chargeFor = Effect.fnUntraced(function* (
      reference: number,
      account: Account,
      { payments }: Services,
      isAgain: boolean
    ) {
      const customer = { name: person.name, email: person.email }
      const request = { amount: amountOf(reference), paymentMethod: "PIX", customer } as const
      const result = yield* write(reference, chargeKey(reference), isAgain, (options) =>
        payments.createTransaction(request, options)
      )
      if (result !== undefined) charges.set(reference, { account, id: String(result.id) })
    })

    const readAll = Effect.fnUntraced(function* (account: Account, { payments, queue }: Services) {
      yield* Effect.ignore(payments.getBalance())
      for (const { id } of charges.values()) {
        const read = yield* Effect.result(payments.getTransaction(id))
        if (Result.isFailure(read)) errors.push(read.failure)
        else if (read.success.transactionId !== id) problems.push(`${id} was read as ${read.success.transactionId}`)
      }
      for (const { reference } of yield* Stream.runCollect(queue.list())) {
        looks.push({ account, reference, history: yield* queue.history(reference) })
      }
    })

    const checkAll = (of: Account, { check }: Services["webhook"]) =>
      Effect.forEach(charges.values(), ({ account, id }) => (account === of ? check(id) : Effect.void))

    const act = (
      step: Step,
      services: Services,
      sql: Running["sql"],
      isAgain: boolean
    ): Effect.Effect<unknown, unknown> => {
      const { queue, webhook } = services
      const items = step.references.map(itemOf)
      const by = { by: "ana" }
      const [reference = 0] = step.references
      switch (step.does) {
        case "submits":
          return items.length === 1 ? sql.withTransaction(queue.submit(items[0]!)) : queue.submitMany(items)
        case "submits and rolls back":
          return Effect.ignore(sql.withTransaction(Effect.andThen(queue.submitMany(items), Effect.fail("rolled back"))))
        case "runs the sheet of":
          return services.run(items)
        case "calls for":
          return callFor(reference, step.account, services, isAgain)
        case "charges for":
          return chargeFor(reference, step.account, services, isAgain)
        case "parks":
          return Effect.ignore(queue.park(nameOf(reference), by))
        case "resumes":
          return Effect.ignore(queue.resume(nameOf(reference), by))
        case "retries":
          return Effect.ignore(queue.retry(nameOf(reference), by))
        case "pauses":
          return Effect.andThen(
            Effect.andThen(queue.setPaused(true), Effect.sleep("10 minutes")),
            queue.setPaused(false)
          )
        case "checks":
          return checkAll(step.account, webhook)
        case "reads":
          return readAll(step.account, services)
      }
    }

    /** Takes a step until a process has ended it. */
    const inProcess = Effect.fnUntraced(function* (
      process: number,
      use: (services: Running, isAgain: boolean) => Effect.Effect<unknown, unknown>
    ) {
      for (let isAgain = false; ; isAgain = true) {
        const exit = yield* world.runIn(process, (services) => Effect.result(use(services, isAgain)))
        if (exit === undefined) continue
        if (Exit.isFailure(exit)) return problems.push(`a step died: ${String(exit.cause)}`)
        if (Result.isSuccess(exit.value)) return undefined
        errors.push(exit.value.failure)
        if (!isRetryable(exit.value.failure)) return problems.push(`a step failed: ${String(exit.value.failure)}`)
        yield* Effect.sleep("1 second")
      }
    })
    const take = Effect.fnUntraced(function* (step: Step) {
      yield* inProcess(step.process, (services, isAgain) => act(step, services[step.account], services.sql, isAgain))
      const charge = charges.get(step.references[0] ?? 0)
      if (step.does === "charges for" && charge !== undefined)
        yield* end(charge.account, charge.id, step.ends ?? "lapsed")
    })

    let delivered = 0
    /** Takes a delivery of the gateway to a process. */
    const deliver = (account: Account) => (request: Request) =>
      Effect.gen(function* () {
        const how = world.next(`delivery ${account}`)
        if (how === "lost") return yield* Effect.fail("lost")
        if (how === "late") yield* Effect.sleep("10 minutes")
        const body = yield* Effect.promise(() => request.text())
        let last: Response | undefined
        for (let left = how === "twice" ? 2 : 1; left > 0; left--) {
          const one = new Request(request.url, { method: "POST", body })
          const exit = yield* world.runIn(delivered++ % 2, (services) => services[account].webhook.answer(one))
          last = exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
        }
        return last ?? (yield* Effect.fail("the process died"))
      })

    let atBank = 0
    /** The bank ends each payout as its fate is. */
    const bank = (account: Account) => {
      const sandbox = world.sandboxes[account]
      const end = Effect.fnUntraced(function* (id: number, amount: number) {
        const { after, fate } = fateOf(plan.seed, amount - amountOf(0))
        yield* Effect.sleep(after)
        yield* fate === "fails" ? sandbox.rejectWithdrawal(id) : sandbox.settleWithdrawal(id)
        if (fate === "is returned") yield* Effect.delay(sandbox.returnWithdrawal(id), "1 hour")
        atBank--
      }, Effect.orDie)
      return Stream.runForEach(sandbox.changes, (change) => {
        if (change._tag !== "Withdrawal" || change.withdrawal.status !== "Awaiting") return Effect.void
        atBank++
        return Effect.forkChild(end(change.withdrawal.id, change.withdrawal.amount))
      })
    }

    /** An operator, who sees the gateway's panel, ends what is open in the queue. Returns whether nothing is. */
    const endOpen = (account: Account, { queue }: Services) =>
      Effect.gen(function* () {
        yield* queue.setPaused(false)
        const panel = new Map(
          (yield* world.sandboxes[account].withdrawals).map(({ idempotencyKey, status }) => [idempotencyKey, status])
        )
        const statuses = yield* Stream.runCollect(queue.list())
        for (const status of statuses) {
          const { idempotencyKey, reference, state } = status
          const by = { by: "ana" }
          if (state === "refused") yield* Effect.ignore(queue.retry(reference, by))
          if (state !== "parked") continue
          const shown = panel.get(idempotencyKey)
          if (shown !== undefined) {
            const as = endOf[shown]
            if (as !== undefined || !plan.isSeen) yield* Effect.ignore(queue.settle(reference, { ...by, as }))
          } else {
            const again = Effect.ignore(queue.resume(reference, by))
            const failed = queue.settle(reference, { ...by, as: "failed" })
            // A sentence that nobody knows ends no payout: it is asked again while its key is known.
            const isPast = "mayHaveLeftAt" in status && status.because !== "RefusalUnknown"
            yield* isPast ? failed.pipe(Effect.catch(() => again)) : again
          }
        }
        // A webhook of a return may be lost for ever: who knows of it has the payout looked up.
        const differing = statuses.filter(({ idempotencyKey, state }) => {
          const shown = panel.get(idempotencyKey)
          return shown !== undefined && endOf[shown] !== state
        })
        if (plan.isSeen)
          for (const { reference } of differing) yield* Effect.ignore(queue.confirm(reference, { by: "ana" }))
        const isOver = ({ state }: PayoutStatus) => state === "posted" || state === "paid" || state === "failed"
        return plan.isSeen
          ? atBank === 0 && differing.length === 0 && statuses.every(({ idempotencyKey }) => panel.has(idempotencyKey))
          : statuses.every(isOver)
      })

    /** Repeats an effect in a process, while the clock goes on, until it returns true. */
    const until = Effect.fnUntraced(function* (
      what: string,
      use: (services: Running, isAgain: boolean) => Effect.Effect<boolean, unknown>
    ) {
      for (let round = 0; round < 200; round++) {
        let isDone = false
        yield* inProcess(round % 2, (services, isAgain) =>
          Effect.map(use(services, isAgain || round > 0), (done) => (isDone = done))
        )
        if (isDone) return
        yield* world.pass(round % 20 === 19 ? 6 * 3_600_000 : 60_000)
      }
      problems.push(`${what} is not at its end after weeks in which nothing went wrong`)
    })

    const finish = Effect.gen(function* () {
      /** Whether a call was told so, or the panel shows it. */
      const isCalled = Effect.fnUntraced(function* (reference: number, key: string) {
        const result = told.get(reference)?.result
        if (result !== undefined && Result.isSuccess(result)) return true
        return (yield* panelAfterNight(reference, key)) !== undefined
      })
      for (const account of accounts)
        yield* until(`a payout of ${account}`, (services) => endOpen(account, services[account]))
      for (const step of plan.steps) {
        const {
          account,
          references: [reference = 0]
        } = step
        if (step.does !== "calls for" && step.does !== "charges for") continue
        const [call, key] =
          step.does === "calls for" ? [callFor, payoutKey(reference)] : [chargeFor, chargeKey(reference)]
        yield* until(`what ${step.does} ${reference}`, (services, isAgain) =>
          Effect.flatMap(isCalled(reference, key), (isDone) =>
            isDone ? Effect.succeed(true) : Effect.as(call(reference, account, services[account], isAgain), false)
          )
        )
      }
      // What is not paid lapses.
      for (const account of accounts) yield* world.sandboxes[account].advance("25 hours")
      yield* until("what is handed out", ({ sql }) =>
        Effect.map(sql`SELECT 1 FROM effect_pix_payout_states`, ({ length }) => length === 0)
      )
      for (const account of accounts) {
        // A delivery that was lost, or whose lookups all failed, is found by a sweep of the orders.
        yield* inProcess(0, ({ [account]: { webhook } }) => Effect.andThen(checkAll(account, webhook), webhook.idle))
      }
    })

    for (const account of accounts) yield* world.sandboxes[account].subscribe(deliver(account))
    if (plan.isSeen) for (const account of accounts) yield* Effect.forkChild(bank(account))
    world.startProcess(0)
    world.startProcess(1)
    const fibers: Array<Fiber.Fiber<unknown>> = []
    for (const step of plan.steps) {
      yield* world.pass(step.after)
      fibers.push(yield* Effect.forkChild(Effect.orDie(take(step))))
    }
    yield* Effect.forEach(fibers, Fiber.await)
    // Before the operator helps: what was told about it is compared with the ledger as it is now.
    const before = { at: world.time.now(), told: new Map(told) }
    yield* world.calm
    yield* finish
    return { before, told, charges, looks, problems, errors }
  })
