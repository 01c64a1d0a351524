/**
 * Numbers the calls of a program at `Payments` and `WithdrawalLookup`, and records the answer of each. The transport finds the call of a request in
 * the context, so that a fault meets the requests of its call only.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { IdempotencyKeyGen } from "../../client/IdempotencyKeyGen.ts"
import { Payments } from "../../client/Payments.ts"
import type { PaymentsClient } from "../../client/PaymentsClient.ts"
import { WithdrawalLookup } from "../../client/WithdrawalLookup.ts"
import * as Endpoints from "../../contract/Endpoints.ts"
import type { WriteOptions } from "../../contract/WriteOptions.ts"
import { Outcome } from "../../contract/Outcome.ts"
import type { Operation } from "../../contract/PaymentsError.ts"
import type { RehearsalCall } from "../RehearsalWorld.ts"
import type { Story } from "./story.ts"

type Mutable<A> = { -readonly [Name in keyof A]: A[Name] }

/** The services whose calls are counted. */
export type Called = Payments | WithdrawalLookup | PaymentsClient

/** A call while it runs. */
export type Call = Mutable<RehearsalCall> & {
  /** The request, without personal data: equal questions are repetitions of one poll. */
  readonly question: string
  /** The id of the payout that was asked for. */
  payout?: number
  /** The fault that its last request met. */
  fault?: string | undefined
  /** The answer, in words. */
  answer: string
}

/** The call that a request belongs to. A reference, since the user's own client may lie between the two. */
export const CurrentCall = Context.Reference<Call | undefined>("effect-pix/RehearsalCall", {
  defaultValue: () => undefined
})

export const isWrite = ({ operation }: RehearsalCall): boolean => Endpoints.isWrite(Endpoints.all[operation])

const isOutcome = Schema.is(Outcome)

/** The tag of an error, or another name for the end of an effect. */
export const nameOfFailure = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return "Interrupted"
  const error = Cause.squash(cause)
  if (Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag)) return error._tag
  return Predicate.isError(error) ? error.name : "Failure"
}

const outcomeOf = (cause: Cause.Cause<unknown>): Outcome | undefined => {
  const error = Cause.squash(cause)
  return Predicate.hasProperty(error, "outcome") && isOutcome(error.outcome) ? error.outcome : undefined
}

/** A page of a list in words. */
const rowsOf = (items: ReadonlyArray<{ readonly status: string }>): string => {
  const rows = `${items.length} row${items.length === 1 ? "" : "s"}`
  return items.length === 0 ? rows : `${rows}: ${items.map(({ status }) => status).join(", ")}`
}

/** What a call asks. */
type Asked = Pick<Call, "operation" | "question"> & Partial<Pick<Call, "amount" | "key" | "transactionId">>

/** A call that has no answer yet. */
const unanswered = {
  requests: 0,
  answer: "",
  amount: undefined,
  key: undefined,
  endedAt: undefined,
  result: undefined,
  outcome: undefined,
  transactionId: undefined,
  status: undefined
}

/** The question of a write. */
const asWrite = (operation: Operation, noun: string, amount: number, options: WriteOptions | undefined): Asked => ({
  operation,
  question: `a ${noun} of ${amount} centavos`,
  amount,
  key: options?.idempotencyKey ?? options?.after?.idempotencyKey
})

interface Listeners {
  /** Called when a call begins. */
  readonly onBegin: (call: Call, context: Context.Context<never>) => void
  /** Called when a call has an answer, before the program gets it. */
  readonly onEnd: (call: Call) => void
}

export const makeCalls = (now: () => number, story: Story, { onBegin, onEnd }: Listeners) => {
  const calls: Array<Call> = []
  let keys = 0

  const begin = (process: number, asked: Asked, context: Context.Context<never>): Call => {
    const call: Call = { ...unanswered, ...asked, number: calls.length + 1, process, startedAt: now() }
    const earlier = call.key === undefined ? undefined : calls.find(({ key }) => key === call.key)
    const again = earlier === undefined ? "" : `, as call ${earlier.number}`
    const key = call.key === undefined ? "" : ` under ${story.key(call.key)}${again}`
    calls.push(call)
    onBegin(call, context)
    story.addOfCall(call, ` ${call.operation}: ${call.question}${key}`)
    return call
  }

  const end = <A, E>(call: Call, exit: Exit.Exit<A, E>, read: (value: A) => Partial<Call>) => {
    call.endedAt = now()
    if (Exit.isSuccess(exit)) Object.assign(call, { result: "Succeeded" }, read(exit.value))
    else {
      call.result = nameOfFailure(exit.cause)
      call.outcome = outcomeOf(exit.cause)
    }
    const outcome = call.outcome === undefined ? "" : ` (${call.outcome})`
    const answer = call.answer === "" ? "" : `: ${call.answer}`
    const requests = call.requests === 1 ? "" : `, after ${call.requests} requests`
    story.addOfCall(call, ` ${call.operation}: ${call.result}${outcome}${answer}${requests}`)
    onEnd(call)
  }

  return {
    all: (): ReadonlyArray<Call> => calls,

    /** The count of keys continues after a death: a new process makes other random keys, and equal ones would hide that. */
    keys: IdempotencyKeyGen.of({
      next: (prefix) =>
        Effect.map(CurrentCall, (call) => {
          const key = `${prefix}_${++keys}`
          if (call !== undefined) {
            call.key = key
            story.addOfCall(call, ` ${call.operation}: ${story.key(key)} is made for this call alone`)
          }
          return key
        })
    }),

    /** The operations of a process, with their calls recorded. */
    count: (client: Context.Context<Called>, process: number): Context.Context<Called> => {
      const inner = Context.get(client, Payments)
      const counted =
        <Given extends ReadonlyArray<unknown>, A, E>(
          operate: (...given: Given) => Effect.Effect<A, E>,
          ask: (...given: Given) => Asked,
          read: (value: A) => Partial<Call>
        ) =>
        (...given: Given): Effect.Effect<A, E> =>
          Effect.contextWith((context) => {
            const call = begin(process, ask(...given), context)
            return Effect.onExit(Effect.provideService(operate(...given), CurrentCall, call), (exit) =>
              Effect.sync(() => end(call, exit, read))
            )
          })
      const payments = Payments.of({
        createTransaction: counted(
          inner.createTransaction,
          (request, options) => asWrite("createTransaction", "charge", request.amount, options),
          ({ id, status }) => ({ transactionId: id, status, answer: story.charge(id) })
          // Both overloads of the operation give the same answer here: it is only read.
        ) as Payments["Service"]["createTransaction"],
        requestWithdrawal: counted(
          inner.requestWithdrawal,
          (request, options) => asWrite("requestWithdrawal", "payout", request.amount, options),
          ({ id }) => ({ answer: `payout ${id}`, payout: id })
        ),
        getTransaction: counted(
          inner.getTransaction,
          (id) => ({ operation: "getTransaction", question: `charge ${id}`, transactionId: id }),
          ({ enStatusTransaction }) => ({ status: enStatusTransaction, answer: enStatusTransaction })
        ),
        listTransactions: counted(
          inner.listTransactions,
          (options) => ({ operation: "listTransactions", question: `page ${options?.page ?? 1}` }),
          ({ items }) => ({ answer: rowsOf(items) })
        ),
        getBalance: counted(
          inner.getBalance,
          () => ({ operation: "getBalance", question: "the balance" }),
          () => ({})
        )
      })
      const get = counted(
        Context.get(client, WithdrawalLookup).get,
        (id) => ({ operation: "getWithdrawal", question: `payout ${id}` }),
        ({ enTransaction }) => ({ answer: enTransaction })
      )
      return Context.add(Context.add(client, Payments, payments), WithdrawalLookup, WithdrawalLookup.of({ get }))
    }
  }
}
