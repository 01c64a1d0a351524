/**
 * The functions of the sandbox, each under one name: what it takes and gives, and what it does. The service of a program, the routes
 * under `/_sandbox` and `Sandbox.layerRemote` are made from this table, and the table of the docs is checked against it.
 *
 * What a function takes and gives is plain JSON.
 */
declare module "./SandboxFunctions.ts" {}

import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ApiCredentials } from "../client/Credentials.ts"
import { Centavos } from "../pix/Money.ts"
import { Fault, FaultTarget } from "./PlannedFault.ts"
import { SandboxChange } from "./SandboxChange.ts"
import { type SandboxConflict, SandboxNotFound } from "./SandboxError.ts"
import { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import { SandboxOverview } from "./SandboxOverview.ts"
import { SandboxRequest } from "./SandboxRequest.ts"
import { SandboxWebhook } from "./SandboxWebhook.ts"
import type { Gateway } from "./Gateway.ts"
import type { Ledger, PayoutStep } from "./internal/ledger.ts"
import { Listed, Listing, newest } from "./internal/lists.ts"
import * as Lists from "./internal/lists.ts"
import { named, names } from "./internal/plan.ts"
import * as Refusal from "./Refusal.ts"

/** The gateway that is steered, and its address. */
export interface Steered {
  readonly gateway: Gateway
  readonly baseUrl: string
}

export type Failure = SandboxNotFound | SandboxConflict | Refusal.Refusal

interface Entry<I, IE, O, E> {
  readonly method: "GET" | "POST"
  /** What the function does, as the docs say it. */
  readonly does: string
  readonly input: Schema.Codec<I, IE>
  /** What it gives. */
  readonly output: Schema.Codec<O, unknown>
  readonly run: (steered: Steered, input: I) => Effect.Effect<O, E>
}

const entry =
  (method: "GET" | "POST") =>
  <I, IE, O, E extends Failure = never>(
    does: string,
    input: Schema.Codec<I, IE>,
    output: Schema.Codec<O, unknown>,
    run: Entry<I, IE, O, E>["run"]
  ): Entry<I, IE, O, E> => ({ method, does, input, output, run })
const read = entry("GET")
const step = entry("POST")

const Nothing = Schema.Struct({})
const Done = Schema.Struct({ done: Schema.Literal(true) })
const done = { done: true } as const
const Id = Schema.Struct({ id: Schema.Int })
const Charge = Schema.Struct({ transactionId: Schema.String })
const Url = Schema.Struct({ url: Schema.String })
/** The fields of a fault by name. Those that it does not take are refused. */
const FaultFields = {
  seconds: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 86_400 }))),
  status: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  message: Schema.optionalKey(Schema.String)
}
const ApiKey = Schema.Struct({ clientId: Schema.String, apiKey: Schema.String })

const plain = ({ apiKey, clientId }: ApiCredentials) => ({ clientId, apiKey: Redacted.value(apiKey) })

/** A step that gives nothing. */
const act = <I, IE, E extends Failure = never>(
  does: string,
  input: Schema.Codec<I, IE>,
  run: (gateway: Gateway, input: I) => Effect.Effect<unknown, E>
) => step(does, input, Done, ({ gateway }, given) => Effect.as(run(gateway, given), done))

/** A change of the ledger at the sandbox's time. */
const change = <A, E extends Failure>(
  { gateway }: Steered,
  run: (ledger: Ledger, now: DateTime.Utc) => Result.Result<A, E>
) => Effect.flatMap(gateway.now, (now) => Effect.fromResult(run(gateway.ledger(), now)))

const move = (does: string, to: "Cancelled" | "Failed" | "Refunded") =>
  step(does, Charge, SandboxTransaction, (steered, { transactionId }) =>
    change(steered, (ledger, now) => ledger.move(transactionId, to, now))
  )

const movePayout = (does: string, to: PayoutStep) =>
  step(does, Id, SandboxWithdrawal, (steered, { id }) =>
    change(steered, (ledger, now) => ledger.movePayout(id, to, now))
  )

/** A write that no program of the user's sent. */
const ownWrite = { operation: undefined, key: undefined, content: "" }

/** Whether a request or a webhook is about a row: it names the row, or asked for it under its key. */
const isAbout = (row: SandboxTransaction | SandboxWithdrawal, one: SandboxRequest | SandboxWebhook): boolean => {
  const isCharge = "transactionId" in row
  if (isCharge ? one.transactionId === row.transactionId : one.withdrawalId === row.id) return true
  if (!("operation" in one) || row.idempotencyKey === undefined) return false
  const creates = isCharge ? "createTransaction" : "requestWithdrawal"
  return one.operation === creates && one.idempotencyKey === row.idempotencyKey
}

const list = <A>(
  name: string,
  row: Schema.Codec<A, unknown>,
  all: (gateway: Gateway) => ReadonlyArray<A>,
  texts: Lists.Texts<A>
) =>
  read(`Lists the newest ${name} that fit.`, Listing, Listed(row), ({ gateway }, query) =>
    Effect.sync(() => newest(all(gateway), query, texts))
  )

export const functions = {
  markPaid: step(
    "Pays the charge, or another `amount`. With `late` it has lapsed (`Cancelled`) before.",
    Schema.Struct({
      transactionId: Schema.String,
      amount: Schema.optional(Centavos),
      late: Schema.optional(Schema.Boolean)
    }),
    SandboxTransaction,
    (steered, { transactionId, ...payment }) =>
      change(steered, (ledger, now) => ledger.move(transactionId, "Paid", now, payment))
  ),
  cancel: move("Cancels an awaited charge.", "Cancelled"),
  fail: move("Fails an awaited charge.", "Failed"),
  refund: move("Refunds a paid charge, from the balance.", "Refunded"),
  charge: step(
    "Makes a PIX charge, as another program would.",
    Schema.Struct({ amount: Centavos, name: Schema.optional(Schema.NonEmptyString) }),
    SandboxTransaction,
    (steered, { amount, name = "Maria Silva" }) => {
      const customer = { name, email: "maria@example.com" }
      const request = { amount, currency: "BRL", paymentMethod: "PIX", customer } as const
      return change(steered, (ledger, now) => ledger.create(request, ownWrite, now))
    }
  ),
  withdraw: step(
    "Asks for a payout, as another program would, to `pixKey` or the company's own key.",
    Schema.Struct({ amount: Centavos, pixKey: Schema.optional(Schema.NonEmptyString) }),
    SandboxWithdrawal,
    (steered, request) =>
      change(steered, (ledger, now) => ledger.withdraw({ ...request, currency: "BRL" }, ownWrite, now))
  ),
  processWithdrawal: movePayout("An awaited payout is being processed.", "Processing"),
  settleWithdrawal: movePayout("An awaited payout arrives.", "Settled"),
  rejectWithdrawal: step(
    "An awaited payout fails, with the gateway's `reason`: its amount returns to the balance.",
    Schema.Struct({ id: Schema.Int, reason: Schema.optional(Schema.String) }),
    SandboxWithdrawal,
    (steered, { id, reason }) => change(steered, (ledger, now) => ledger.movePayout(id, "Rejected", now, reason))
  ),
  returnWithdrawal: movePayout("A settled payout comes back: its amount returns to the balance.", "Returned"),
  credit: step(
    "Adds centavos to the balance.",
    Schema.Struct({ amount: Centavos }),
    Schema.Struct({ balance: Schema.Int }),
    ({ gateway }, { amount }) =>
      Effect.flatMap(
        gateway.set(() => gateway.ledger().credit(amount)),
        (credited) => Effect.fromResult(Result.map(credited, (balance) => ({ balance })))
      )
  ),

  fault: step(
    "Plans faults for the next requests of an operation or of `any`. Each meets `times` requests.",
    Schema.Struct({
      operation: FaultTarget,
      fault: Schema.Union([Fault, Schema.Array(Fault), Schema.Literals(names)]),
      times: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
      ...FaultFields
    }),
    Done,
    ({ gateway }, { fault, operation, times = 1, ...given }) => {
      const { fields, make } = Predicate.isString(fault) ? named(fault) : { fields: {}, make: () => fault }
      const wrong = Object.keys(given).find((field) => !(field in fields))
      if (wrong !== undefined) return Effect.fail(Refusal.noFieldOfFault(wrong))
      return gateway.set(() => {
        gateway.plan().add(operation, Arr.ensure(make(given)), times)
        return done
      })
    }
  ),
  faults: read(
    "The names that `fault` takes, with their fields and the defaults of these.",
    Nothing,
    Schema.Array(Schema.Struct({ name: Schema.Literals(names), fields: Schema.Struct(FaultFields) })),
    () => Effect.succeed(names.map((name) => ({ name, fields: named(name).fields })))
  ),
  clearFaults: act("Removes all planned faults.", Nothing, (gateway) => gateway.set(gateway.plan().clear)),
  setOffline: act(
    "Breaks every connection to the gateway, or stops that. The sandbox's own paths stay reachable.",
    Schema.Struct({ offline: Schema.Boolean }),
    (gateway, { offline }) => gateway.setOffline(offline)
  ),
  forgetKeys: act("Forgets all idempotency keys.", Nothing, (gateway) => Effect.sync(gateway.ledger().forgetKeys)),
  advance: step(
    "Pushes the sandbox's clock: charges lapse and webhooks are sent again.",
    Schema.Struct({ seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 3_153_600_000 })) }),
    Schema.Struct({ now: Schema.String }),
    ({ gateway }, { seconds }) =>
      Effect.map(Effect.andThen(gateway.advance(`${seconds} seconds`), gateway.now), (now) => ({
        now: DateTime.formatIso(now)
      }))
  ),
  rotateCredentials: step("Makes another secret key. The old one is refused.", Nothing, ApiKey, ({ gateway }) =>
    Effect.map(gateway.rotate, plain)
  ),
  reset: act("Starts over.", Nothing, (gateway) => gateway.reset),

  subscribe: act("Sends webhooks to a loopback address too.", Url, (gateway, { url }) =>
    Effect.flatMap(
      gateway.set(() => Result.try({ try: () => gateway.webhooks.subscribe(url), catch: () => Refusal.notTarget })),
      Effect.fromResult
    )
  ),
  unsubscribe: act("Sends no more webhooks to an address.", Url, (gateway, { url }) =>
    gateway.set(() => gateway.webhooks.unsubscribe(url))
  ),
  sendWebhook: act(
    "Sends a webhook of any content to each target.",
    Schema.Struct({ json: Schema.Json }),
    (gateway, { json }) => gateway.webhooks.send(json)
  ),
  resendWebhook: act("Sends a webhook again to its target.", Id, (gateway, { id }) => gateway.webhooks.resend(id)),
  awaitWebhooks: act("Waits until no webhook is under way.", Nothing, (gateway) => gateway.webhooks.awaitAttempts),

  overview: read(
    "The balance, clock, planned faults, targets of webhooks.",
    Nothing,
    SandboxOverview,
    ({ baseUrl, gateway }) =>
      Effect.map(gateway.now, (now): SandboxOverview => {
        const { companyId, stateFile } = gateway.settings
        const ledger = gateway.ledger()
        return {
          baseUrl,
          as: gateway.isSeen() ? "seen" : "documented",
          companyId,
          clientId: gateway.credentials().clientId,
          balance: ledger.balance(),
          awaited: ledger.awaited(),
          ...(ledger.pixKey !== undefined && { pixKey: ledger.pixKey }),
          now: DateTime.formatIso(now),
          aheadSeconds: gateway.ahead() / 1000,
          offline: gateway.isOffline(),
          faults: gateway.plan().all(),
          targets: gateway.webhooks.targets(),
          ...(stateFile !== undefined && { stateFile }),
          sequence: gateway.changes.sequence()
        }
      })
  ),
  credentials: read("The credentials that are accepted now.", Nothing, ApiKey, ({ gateway }) =>
    Effect.sync(() => plain(gateway.credentials()))
  ),
  transaction: read("One charge.", Charge, SandboxTransaction, ({ gateway }, { transactionId }) =>
    Effect.suspend(() =>
      Effect.fromNullishOr(gateway.ledger().find(transactionId)).pipe(
        Effect.mapError(() => new SandboxNotFound({ subject: "transaction", id: transactionId }))
      )
    )
  ),
  transactions: list("transactions", SandboxTransaction, (gateway) => gateway.ledger().charges(), Lists.transactions),
  withdrawals: list("withdrawals", SandboxWithdrawal, (gateway) => gateway.ledger().payouts(), Lists.withdrawals),
  requests: list("requests", SandboxRequest, (gateway) => gateway.requests(), Lists.requests),
  webhooks: list("webhooks", SandboxWebhook, (gateway) => gateway.webhooks.all(), Lists.webhooks),
  timeline: read(
    "What happened to a charge or a payout: its requests and webhooks, oldest first.",
    Schema.Struct({
      transactionId: Schema.optional(Schema.String),
      withdrawalId: Schema.optional(Schema.FiniteFromString)
    }),
    Schema.Struct({ requests: Schema.Array(SandboxRequest), webhooks: Schema.Array(SandboxWebhook) }),
    ({ gateway }, { transactionId, withdrawalId }) =>
      Effect.suspend(() => {
        const ledger = gateway.ledger()
        const row =
          transactionId === undefined
            ? ledger.payouts().find(({ id }) => id === withdrawalId)
            : ledger.find(transactionId)
        if (row === undefined) {
          const subject = transactionId === undefined ? "withdrawal" : "transaction"
          return Effect.fail(new SandboxNotFound({ subject, id: transactionId ?? withdrawalId ?? "" }))
        }
        return Effect.succeed({
          requests: gateway.requests().filter((one) => isAbout(row, one)),
          webhooks: gateway.webhooks.all().filter((one) => isAbout(row, one))
        })
      })
  ),
  changes: read(
    "The last `limit` changes after the number `since`, oldest first, and the last number.",
    Schema.Struct({ since: Schema.FiniteFromString, limit: Listing.fields.limit }),
    Schema.Struct({ sequence: Schema.Int, changes: Schema.Array(SandboxChange) }),
    ({ gateway: { changes } }, { limit = 200, since }) =>
      Effect.sync(() => ({ sequence: changes.sequence(), changes: changes.since(since, limit) }))
  )
}

/** The name of a function. */
export type Name = keyof typeof functions
/** What a function takes. */
type Input<N extends Name> = (typeof functions)[N]["input"]["Type"]
/** What a function gives. */
type Output<N extends Name> = (typeof functions)[N]["output"]["Type"]
/** How a function fails. A refusal is a mistake of the program that asks. */
type Failed<N extends Name> = Exclude<Effect.Error<ReturnType<(typeof functions)[N]["run"]>>, Refusal.Refusal>

/** Runs a function by its name: in this process, or in another one. */
export type Call = <N extends Name>(name: N, input: Input<N>) => Effect.Effect<Output<N>, Failed<N>>

/** A function of any name. Only its input schema says what it takes. */
export interface Untyped extends Pick<
  Entry<unknown, unknown, unknown, Failure>,
  "method" | "does" | "input" | "output"
> {
  readonly run: (steered: Steered, input: never) => Effect.Effect<unknown, Failure>
}

/** Runs a function on a gateway. Webhooks that it caused are sent in the background. */
export const run = ({ run }: Untyped, steered: Steered, input: unknown): Effect.Effect<unknown, Failure> =>
  Effect.flatMap(steered.gateway.now, (now) => {
    steered.gateway.ledger().lapse(now)
    // The route has decoded the input, or the compiler has checked it.
    return run(steered, input as never).pipe(
      Effect.mapError((failure) =>
        "_tag" in failure || failure.own === undefined ? failure : { portuguese: failure.message, ...failure.own }
      ),
      Effect.ensuring(steered.gateway.webhooks.flush)
    )
  })

/** Calls the functions of a gateway in this process. A refusal is a defect. */
export const callOf = (steered: Steered): Call => {
  const call = (name: Name, input: unknown) =>
    Effect.catchIf(
      run(functions[name], steered, input),
      (failure) => !("_tag" in failure),
      ({ message }) => Effect.die(new Error(`Sandbox.${name}: ${message}`))
    )
  return call as Call // `functions` pairs each name with these types
}
