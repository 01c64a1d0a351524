/**
 * Payouts that survive a crash: a table and a queue in your own database.
 *
 * A payout is submitted in the transaction that writes your invoice, or not at all. A worker, in this process or in any
 * number of others, sends it and stores the result. A process may be killed at any moment: when its lease ends, another
 * process takes its payouts over, and sends them with the same key.
 *
 * The key that the service knows a payout by is made from the reference alone, and is the same for ever
 * (`IdempotencyKey.fromReference("payout", reference)`). Before the first byte of a request a mark is committed that it
 * may have left; only a proof that nothing was executed clears it. While it is set, no refusal proves that no money moved,
 * and after the `horizon` nothing is sent any more: a person decides.
 *
 * Gotchas:
 * - `posted` is not paid. With `confirm` it is looked up, where your gateway has the lookup that was seen; else use `settle` to
 *   store what you learn elsewhere.
 * - Everything is written with the `SqlClient` that the layer is built with. Your code has to use the same one: two
 *   layers of one database are two clients, and do not commit together. A submit in a transaction of another client
 *   fails with `ForeignTransaction`.
 * - The stored request holds a person's data: give a `seal`, and say with `forget` how long it is stored. Without a `seal` a
 *   warning is logged at the start.
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Money } from "effect-pix"
 * import { NodeSqlite } from "effect-pix/node"
 * import { PayoutQueue } from "effect-pix/payouts"
 * import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
 * import { SqlClient } from "effect/sql"
 *
 * const program = Effect.gen(function* () {
 *   const sql = yield* SqlClient.SqlClient
 *   const queue = yield* PayoutQueue
 *   yield* sql`CREATE TABLE invoices (id TEXT)`
 *   yield* sql.withTransaction(
 *     Effect.gen(function* () {
 *       yield* sql`INSERT INTO invoices VALUES ('invoice-42')`
 *       yield* queue.submit({ reference: "invoice-42", amount: Money.centavos(2500) })
 *     })
 *   )
 *   return (yield* queue.await("invoice-42")).state
 * })
 *
 * // A gateway in memory replaces the real one, and a database in memory replaces yours.
 * const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 50_000 }))
 * const layer = PayoutQueue.layer().pipe(
 *   Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" })),
 *   Layer.provide(gateway)
 * )
 * const state = await Effect.runPromise(Effect.provide(program, layer)) // => "posted"
 * ```
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as Stream from "effect/Stream"
import type { Payments } from "../client/Payments.ts"
import { factsHere, type PaymentsClient } from "../client/PaymentsClient.ts"
import { WithdrawalLookup } from "../client/WithdrawalLookup.ts"
import { type ConfigurationError, settingError } from "../contract/ConfigurationError.ts"
import type { BelowMinimum, InvalidRequest } from "../contract/PaymentsError.ts"
import { database, type DatabaseError, type ForeignTransaction, mapDatabaseError } from "../durable/Database.ts"
import type { StepOptions } from "../durable/Step.ts"
import { migrate, requireNewest } from "../durable/Tables.ts"
import { workersScope } from "../durable/Work.ts"
import { log } from "../internal/spans.ts"
import { markStarted } from "../internal/started.ts"
import { makeClient } from "./internal/operations/client.ts"
import { makeSheet, SheetService } from "./internal/operations/sheet.ts"
import type { PayoutSheet } from "./PayoutSheet.ts"
import { unsealed } from "./internal/store/request.ts"
import { seedLimits } from "./internal/operations/accountClient.ts"
import { makeCore } from "./internal/core.ts"
import { makeHandOut } from "./internal/worker/handOut.ts"
import { measures } from "./internal/signals/signals.ts"
import { makeStore } from "./internal/store/store.ts"
import { tables } from "./internal/store/tables.ts"
import { makeWorker } from "./internal/worker/worker.ts"
import type { PayoutLetter } from "./OnState.ts"
import type { PayoutItem, PayoutsNotAccepted, ReferenceConflict } from "./Payout.ts"
import type { PayoutBecause } from "./PayoutBecause.ts"
import type { PayoutAccount, PayoutChange } from "./PayoutHistory.ts"
import {
  type Limits,
  type PayoutClientOptions,
  type PayoutConfirmingOptions,
  type PayoutQueueOptions,
  settingsOf
} from "./PayoutQueueOptions.ts"
import type { PayoutSentence } from "./PayoutSentence.ts"
import type { PayoutPayee, PayoutStatus } from "./PayoutStatus.ts"
import type { PayoutNotFound, PayoutState, PayoutStateConflict } from "./PayoutState.ts"

/** A layer that sends. Only with `confirm` it needs the lookup of a withdrawal. */
interface WorkerLayer<Provides> {
  /** Sends what was submitted. It needs what `onState` needs. */
  <R = never>(
    options?: PayoutQueueOptions<R>
  ): Layer.Layer<Provides, ConfigurationError | DatabaseError, SqlClient.SqlClient | Payments | PaymentsClient | R>
  /** Sends what was submitted, and looks it up afterwards: it needs `WithdrawalLookup` too. */
  <R = never>(
    options: PayoutConfirmingOptions<R>
  ): Layer.Layer<
    Provides,
    ConfigurationError | DatabaseError,
    SqlClient.SqlClient | Payments | PaymentsClient | WithdrawalLookup | R
  >
}

type Steering = Effect.Effect<
  PayoutStatus,
  PayoutNotFound | PayoutStateConflict | InvalidRequest | ForeignTransaction | DatabaseError
>

type LetterStep = (
  id: number,
  options?: Pick<StepOptions, "by">
) => Effect.Effect<boolean, InvalidRequest | ForeignTransaction | DatabaseError>

/**
 * The queue of payouts in your own database: submits payouts, reads their states, and steers them. Amounts are in
 * centavos.
 *
 * A payout is sent under a key that is made from its reference alone. A process may be killed at any moment: another one
 * takes its payouts over, and sends them with the same key. Gotcha: `posted` is not paid: see `PayoutStatus`.
 */
export class PayoutQueue extends Context.Service<
  PayoutQueue,
  {
    /**
     * Accepts a payout, in the caller's transaction where there is one. The same reference and content again is the same
     * payout, and returns its status; where a run of a sheet accepted it and it is still open, it is sent without that run from
     * now on. `amount` is in centavos.
     */
    readonly submit: (
      payout: PayoutItem
    ) => Effect.Effect<
      PayoutStatus,
      ReferenceConflict | InvalidRequest | BelowMinimum | ForeignTransaction | DatabaseError
    >
    /**
     * Accepts all of them, or none: `PayoutsNotAccepted` names every payout that is wrong, with its index, its reference,
     * its amount and why. Amounts are in centavos.
     */
    readonly submitMany: (
      payouts: Iterable<PayoutItem>
    ) => Effect.Effect<ReadonlyArray<PayoutStatus>, PayoutsNotAccepted | ForeignTransaction | DatabaseError>
    /**
     * The status of a payout; `None` where its reference was never submitted, or its record was deleted. Amounts are in centavos.
     * Fails with `DatabaseError`.
     */
    readonly status: (reference: string) => Effect.Effect<Option.Option<PayoutStatus>, DatabaseError>
    /**
     * Whom the service's record names as the payee, and its `reason` for a refusal or a failure, opened by the queue's `seal`: a
     * person's data. `None` where the service said neither, or the data was deleted (`forget`). `Document.matches` compares its
     * `creditorDocument` with the document of the person whom you meant to pay. Without a `seal` no reason is stored: the log line
     * of the worker alone has it. Fails with `DatabaseError`.
     */
    readonly payee: (reference: string) => Effect.Effect<Option.Option<PayoutPayee>, DatabaseError>
    /**
     * Waits until the payout is neither accepted nor unknown: then it is posted, paid, failed, returned, refused, parked or
     * cancelled. It does not wait for the end of one that is posted. It may never happen, for example while the workers are paused:
     * see `Effect.timeout`. Not in the transaction that submits it, since nothing is sent before that commits. Amounts are in centavos. Fails with `PayoutNotFound`, or
     * with `DatabaseError` where the first look at the database fails.
     */
    readonly await: (reference: string) => Effect.Effect<PayoutStatus, PayoutNotFound | DatabaseError>
    /** All payouts, or those of one state, of one reason or of some days, the oldest first. Amounts are in centavos. Fails with `DatabaseError`. */
    readonly list: (options?: {
      /** Default: all states. */
      readonly state?: PayoutState | undefined
      /** Those that wait, are in doubt or are parked for this: the `because` of their status. Default: all. */
      readonly because?: PayoutBecause | undefined
      /** Those whose end a person has to find out, or has not: the `toCheck` of their status. Default: all. */
      readonly toCheck?: boolean | undefined
      /** Those that were submitted at this time or later. */
      readonly since?: DateTime.DateTime | undefined
      /** Those that were submitted before this time. */
      readonly until?: DateTime.DateTime | undefined
    }) => Stream.Stream<PayoutStatus, DatabaseError>
    /**
     * What happened to a payout, in order: one entry for each change, with the person and the reason of a step. Amounts
     * are in centavos. Empty where the reference was never submitted, or its record was deleted. Fails with `DatabaseError`.
     */
    readonly history: (reference: string) => Effect.Effect<ReadonlyArray<PayoutChange>, DatabaseError>

    /**
     * The status of a payout by the number of its withdrawal, by its key, or by both; `None` where no payout of the account has it.
     * Amounts are in centavos. Fails with `DatabaseError`.
     */
    readonly find: (
      named:
        | { readonly withdrawalId: number; readonly idempotencyKey?: string | undefined }
        | { readonly withdrawalId?: undefined; readonly idempotencyKey: string }
    ) => Effect.Effect<Option.Option<PayoutStatus>, DatabaseError>
    /**
     * Stores what a webhook claims of a payout, and answers its status: a hint of `Webhook`'s `onWithdrawal` as it is, or one of your
     * own. It joins the caller's transaction. Anybody may have written it, so it changes no state and stores no number: the
     * latest claim that differs from the state is `claimed` of the status, and one of failure or return is not replaced by one of success. With
     * `confirm` the payout is looked up at once, and the record says what became of it; without, a person does: `list({ toCheck: true })`,
     * then `settle`.
     *
     * `None` where no payout has the number, or the key, *yet*, and where they are of different payouts: nothing is stored then. A
     * handler fails with it, and is called again:
     *
     * ```ts
     * import { Effect } from "effect"
     * import { PayoutQueue } from "effect-pix/payouts"
     * import { Webhook } from "effect-pix/webhook"
     *
     * const webhook = Webhook.layerSql({
     *   onWithdrawal: (hint) => PayoutQueue.use((queue) => Effect.flatMap(queue.hint(hint), Effect.fromOption))
     * })
     * ```
     *
     * `status` is in the service's words; one that is not listed claims nothing. Amounts of the status are in centavos. Fails with
     * `InvalidRequest` where the hint names no payout, or a field has another type; with `ForeignTransaction` and with `DatabaseError`.
     */
    readonly hint: (hint: {
      /** The number of its withdrawal. */
      readonly withdrawalId?: number | undefined
      /** The key that it was sent with. */
      readonly idempotencyKey?: string | undefined
      /** The claimed status, in the words of the webhook. */
      readonly status: string
      /** The claimed end-to-end id, which is not stored: a record says it. */
      readonly endToEndId?: string | undefined
    }) => Effect.Effect<Option.Option<PayoutStatus>, InvalidRequest | ForeignTransaction | DatabaseError>

    /**
     * Sends a refused payout again under its key, or one that waits for its next attempt at once. On PostgreSQL it fails with
     * `PayoutStateConflict` where `cancel` does, since what it was refused with may be older than what became of it.
     */
    readonly retry: (reference: string, options?: StepOptions) => Steering
    /**
     * Stops the sending of a payout until it is resumed. A request that is under way is not
     * interrupted. What was parked for another reason is parked by an operator then.
     */
    readonly park: (reference: string, options?: StepOptions) => Steering
    /**
     * Lets the workers send a parked payout, which they park again where it is still above a limit. Where a request of it
     * may have left longer ago than the horizon, it is refused: look in the panel, and `settle` it. What the panel does not have is
     * settled as failed, and paid under a new reference.
     */
    readonly resume: (reference: string, options?: StepOptions) => Steering
    /**
     * Stores how a payout ended, as you learned it from the panel or a statement, or corrects it, in the caller's transaction where
     * there is one. A webhook is a claim, which `hint` stores.
     *
     * Default `paid`. An accepted or refused payout has to be parked first, and as `failed` or `returned` also one that is unknown; none
     * before the answer of its request or `underWayUntil`, and a cancelled one never. If the service records the payout all the same, its
     * status has the `withdrawalId`, and where it was settled as failed an error is logged, and the status is `contradicted`.
     */
    readonly settle: (
      reference: string,
      options?: StepOptions & { readonly as?: "paid" | "failed" | "returned" | undefined }
    ) => Steering
    /**
     * Has a payout looked up at once by the workers that `confirm`, also one that they gave up. It changes no state: await the lookup by
     * `status`. Only one whose withdrawal an answer named, and that is posted, paid, failed or parked. Without such a worker nothing
     * happens.
     */
    readonly confirm: (reference: string, options?: StepOptions) => Steering
    /**
     * Cancels a payout of which nothing of this queue left: it was never sent, or the service refused its every request. It is never
     * sent again, and its `dailyCap` has room again. It joins the caller's transaction: submit there what is paid in its place.
     *
     * Fails with `PayoutStateConflict` where a request may have left: `park` it then. So it does on PostgreSQL before a worker
     * looked at the database since its server started, and for what is older than a failover or the restore of a backup, where
     * the queue cannot know, but for what its `notBefore` kept from leaving until then. A copy of a SQLite file looks as the file does.
     */
    readonly cancel: (reference: string, options?: StepOptions) => Steering
    /**
     * Deletes the personal data of a payout that is posted, paid, failed, returned, refused or cancelled at once: its request and its
     * payee. Its reference, amount, state and history stay. A refused one cannot be sent any more. A later submit of the reference with
     * the same amount is the same payout, whatever else it asks for. A second `forget` changes nothing.
     */
    readonly forget: (reference: string, options?: StepOptions) => Steering
    /**
     * The sentences of refusals that nobody knows, the oldest first: each with how many payouts it parked or its judgement ended, their
     * sum in centavos, and one reference to look up in the panel. Fails with `DatabaseError`.
     */
    readonly sentences: Effect.Effect<ReadonlyArray<PayoutSentence>, DatabaseError>
    /**
     * Says what a sentence means, for this account and from now on, and moves all that it parked. `seen` is the reference of the payout that
     * you looked up in the panel. It is a person's word, and no proof: each keeps the time of its one request and its sender.
     *
     * - `refused`: they are `refused`, and so is what is refused by it from now on. A later `retry` sends one under its key, within the
     *   horizon of its first request. If the service says that it was executed, that is an error line.
     * - `wait`: they are sent again, under their keys.
     *
     * `wait` after `refused` moves what that ended back to `parked`. Returns those that it moved. Fails with `InvalidRequest` where
     * no such sentence is there, `seen` is none of it, or the sentence has a word of doubt or only says that the request failed: `settle` each
     * of these by itself. The digest may be its first eight characters or more.
     */
    readonly judge: (
      digest: string,
      options: {
        readonly as: "refused" | "wait"
        readonly seen: string
        readonly by: string
        readonly note?: string | undefined
      }
    ) => Effect.Effect<ReadonlyArray<PayoutStatus>, InvalidRequest | ForeignTransaction | DatabaseError>
    /**
     * Stops all workers of the account within a second, or starts them again. Requests that are under way are finished. Fails with
     * `InvalidRequest` where `by` or `note` is wrong, with `ForeignTransaction` and with `DatabaseError`.
     */
    readonly setPaused: (
      paused: boolean,
      options?: StepOptions
    ) => Effect.Effect<void, InvalidRequest | ForeignTransaction | DatabaseError>
    /** Whether the workers are stopped by `setPaused`. */
    readonly isPaused: Effect.Effect<boolean, DatabaseError>
    /** The account of this queue: its sender, its pause, and whether the service refuses all of its payouts. */
    readonly account: Effect.Effect<PayoutAccount, DatabaseError>
    /**
     * Says that the payouts of the account are from now on sent under another client id, base URL or company: that of the
     * worker which showed this `fingerprint` when it did not start. It is stored once, with who said it and why. A payout
     * that may have left under the earlier one is parked as `OtherClientId`: before a client id changes, nothing may be
     * unknown. Fails with `InvalidRequest` where the fingerprint is wrong or that of another account, or `by` or `note` is
     * wrong; with `ForeignTransaction` and with `DatabaseError`.
     */
    readonly changeSender: (
      fingerprint: string,
      options?: StepOptions
    ) => Effect.Effect<void, InvalidRequest | ForeignTransaction | DatabaseError>
    /**
     * The states for which `onState` failed for a day, the oldest first: each holds the later states of its payout. Fails with
     * `DatabaseError`.
     */
    readonly deadLetters: Effect.Effect<ReadonlyArray<PayoutLetter>, DatabaseError>
    /**
     * Hands a dead letter out again, and then what it holds; `false` where there is no such letter. A log line has `by`. Fails with
     * `InvalidRequest` where `id` or `by` is wrong, with `ForeignTransaction` and with `DatabaseError`.
     */
    readonly retryLetter: LetterStep
    /**
     * Ends a dead letter that you dealt with elsewhere: `onState` is never called with it, and then with what it holds. `false`
     * where there is no such letter. See `retryLetter` for the rest.
     */
    readonly discardLetter: LetterStep
    /**
     * Sets the limits of the account: at most `pace.most` requests in `pace.per`; the `window` of a day of São Paulo in which payouts
     * leave, as `{ from: "08:00", to: "20:00" }`; the `dailyCap`, and the `maxAmount` of one payout, in centavos. `null`: none; absent: as it is. They hold from the next request on,
     * for all workers. What waits for them and cannot have left is wanted for up to three days. Fails with `InvalidRequest` where one, `by` or
     * `note` is wrong; with `ForeignTransaction` and with `DatabaseError`.
     */
    readonly setLimits: (
      limits: Limits,
      options?: StepOptions
    ) => Effect.Effect<void, InvalidRequest | ForeignTransaction | DatabaseError>
  }
>()("effect-pix/PayoutQueue") {
  /**
   * Submits and reads payouts, and sends nothing: for a process that is no worker. It fails with `ConfigurationError`
   * where an option is wrong, and with `DatabaseError` where the tables cannot be made.
   */
  static readonly layerClient = (
    options: PayoutClientOptions = {}
  ): Layer.Layer<PayoutQueue | PayoutSheet, ConfigurationError | DatabaseError, SqlClient.SqlClient> =>
    Layer.effectContext(Effect.map(makeQueue<never>(options), ({ client }) => client))

  /**
   * Sends what was submitted, and offers no service: for a process that only sends. With `confirm` it needs `WithdrawalLookup` too,
   * which each layer of `Payments` provides. It fails as `layerClient` does.
   */
  static readonly layerWorker: WorkerLayer<never> = <R = never>(
    options: PayoutQueueOptions<R> | PayoutConfirmingOptions<R> = {}
  ) => Layer.effectDiscard(Effect.flatMap(makeQueue(options), ({ start }) => start))

  /**
   * Submits, reads and sends: all that one process needs. It needs the `SqlClient` that your own code writes with, and with
   * `confirm` also `WithdrawalLookup`, which each layer of `Payments` provides. It fails with `ConfigurationError` where an option
   * is wrong, and with `DatabaseError` where the tables cannot be made.
   */
  static readonly layer: WorkerLayer<PayoutQueue | PayoutSheet> = <R = never>(
    options: PayoutQueueOptions<R> | PayoutConfirmingOptions<R> = {}
  ) => Layer.effectContext(Effect.flatMap(makeQueue(options), ({ client, start }) => Effect.as(start, client)))
}

/** Fails unless the tables are of this version, and changes none: for the command. */
export const requireTables: Effect.Effect<void, ConfigurationError | DatabaseError, SqlClient.SqlClient> =
  mapDatabaseError("open")(requireNewest(tables))

const warnUnsealed = (account: string) =>
  log(
    "Warn",
    `PayoutQueue: the requests of the account ${account} are stored in clear, with the PIX keys and CPFs of their payees. Give the layer the option seal: Seal.aesGcm(key).`,
    { "payments.account": account }
  )

/** The service, and an effect that starts a worker in the scope. */
const makeQueue = Effect.fnUntraced(function* <R>(options: PayoutQueueOptions<R> | PayoutConfirmingOptions<R>) {
  const settings = yield* settingsOf(options)
  const given = options.seal
  const seal = given === undefined ? unsealed : Effect.isEffect(given) ? yield* given : given
  const db = yield* database
  yield* mapDatabaseError("migrate")(migrate(tables))
  if (given === undefined) yield* warnUnsealed(settings.account)
  const store = makeStore(db, settings)
  yield* mapDatabaseError("open")(seedLimits(store, settings))
  const core = yield* makeCore(store, settings)
  const workers = yield* workersScope(settings.drain)
  yield* Effect.forkIn(core.wakeAwaited, workers)
  yield* Effect.forkIn(measures(store, settings, core.hasNews), workers)
  yield* markStarted
  const start = Effect.gen(function* () {
    const lookup = Option.getOrUndefined(yield* Effect.serviceOption(WithdrawalLookup))
    if (settings.confirm !== undefined && lookup === undefined) {
      return yield* settingError("confirm", "needs WithdrawalLookup, which each layer of Payments provides")
    }
    const { onState } = options
    const handsOut = onState !== undefined
    const worker = yield* mapDatabaseError("serve")(makeWorker(core, settings, { seal, lookup, handsOut }))
    yield* Effect.forkIn(worker.run, workers)
    if (worker.confirm !== undefined) yield* Effect.forkIn(worker.confirm, workers)
    yield* Effect.forkIn(worker.forget, workers)
    yield* Effect.forkIn(worker.seen, workers)
    if (onState === undefined) return
    yield* Effect.forkIn(makeHandOut(core, settings, db, onState, yield* Effect.context<R>()), workers)
  })
  const built = yield* Effect.context<never>()
  // A fiber that gives a claim may have no client, or another one.
  const facts = Effect.updateContext(factsHere, (here: Context.Context<never>) => Context.merge(here, built))
  const client = Context.make(PayoutQueue, makeClient(core, settings, seal, facts)).pipe(
    Context.add(SheetService, makeSheet(core, settings, seal))
  )
  return { client, start }
})
