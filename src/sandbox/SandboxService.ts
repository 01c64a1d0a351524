/**
 * The service `Sandbox`: its shape, made from the functions of a sandbox in this process or in another one.
 */
declare module "./SandboxService.ts" {}

import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { ApiCredentials } from "../client/Credentials.ts"
import { centavos } from "../pix/Money.ts"
import type { Fault, FaultTarget } from "./PlannedFault.ts"
import type { SandboxChange } from "./SandboxChange.ts"
import type { SandboxConflict, SandboxNotFound } from "./SandboxError.ts"
import type { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import type { SandboxOverview } from "./SandboxOverview.ts"
import type { SandboxRequest } from "./SandboxRequest.ts"
import type { SandboxWebhook, WebhookTarget } from "./SandboxWebhook.ts"
import { type Call, callOf, type Steered } from "./SandboxFunctions.ts"

type Steering<A> = Effect.Effect<A, SandboxNotFound | SandboxConflict>

/** The sandbox, as a test steers it and reads it. */
export interface SandboxService {
  /** Its base URL: a loopback address, or in memory a placeholder that the client accepts. */
  readonly baseUrl: string
  /** The id of its company. */
  readonly companyId: number
  /** The credentials that it accepts now. */
  readonly credentials: Effect.Effect<ApiCredentials>
  /** Makes another secret key. The sandbox refuses the key before it from now on. */
  readonly rotateCredentials: Effect.Effect<ApiCredentials>
  /** The balance, the clock, the planned faults and the targets of webhooks. Amounts are in centavos. */
  readonly overview: Effect.Effect<SandboxOverview>

  /**
   * A payer pays the charge: it is `Paid`, and its amount, in centavos, is added to the balance. Fails with
   * `SandboxNotFound`, or with `SandboxConflict` where its status does not allow it; so do the next ones.
   *
   * With `amount`, in centavos, the payer pays another amount, which lookups and lists then show. With `late` the
   * charge has lapsed before: an awaited one is `Cancelled` first, and a `Cancelled` one is paid.
   */
  readonly markPaid: (
    transactionId: string,
    options?: { readonly amount?: number | undefined; readonly late?: boolean | undefined }
  ) => Steering<SandboxTransaction>
  /** Cancels an awaited charge. Gives the charge, with its amount in centavos. */
  readonly cancel: (transactionId: string) => Steering<SandboxTransaction>
  /** An awaited charge fails: it is `Failed`. Gives the charge, with its amount in centavos. */
  readonly fail: (transactionId: string) => Steering<SandboxTransaction>
  /** A paid charge is refunded: its amount, in centavos, is taken from the balance, which may become negative. */
  readonly refund: (transactionId: string) => Steering<SandboxTransaction>
  /** Makes a PIX charge of an amount in centavos, as another program would. Default of the name: `Maria Silva`. */
  readonly charge: (amount: number, name?: string) => Effect.Effect<SandboxTransaction>
  /**
   * Asks for a payout of an amount in centavos, as another program would: to `pixKey`, or to the key on the company's account.
   * What the gateway refuses is a defect.
   */
  readonly withdraw: (amount: number, pixKey?: string) => Effect.Effect<SandboxWithdrawal>
  /** An awaited payout is being processed. Gives the payout, with its amount in centavos. */
  readonly processWithdrawal: (id: number) => Steering<SandboxWithdrawal>
  /** An awaited payout arrives. Gives the payout, with its amount in centavos. The service has no operation that would show it. */
  readonly settleWithdrawal: (id: number) => Steering<SandboxWithdrawal>
  /**
   * An awaited payout fails: its amount, in centavos, returns to the balance. A sandbox with `as: "seen"` gives the `reason`
   * in the lookup and in the webhook. `Fault.failure` is the failure that the first answer says.
   */
  readonly rejectWithdrawal: (
    id: number,
    options?: { readonly reason?: string | undefined }
  ) => Steering<SandboxWithdrawal>
  /** A settled payout comes back: its amount, in centavos, returns to the balance. */
  readonly returnWithdrawal: (id: number) => Steering<SandboxWithdrawal>
  /** Adds centavos (a whole number of them, not negative) to the balance and returns the new balance. */
  readonly credit: (amount: number) => Effect.Effect<number>
  /** The balance, in centavos. */
  readonly balance: Effect.Effect<number>

  /** The last requests that arrived, in order, executed or not: up to `SandboxOptions.keep` of them. */
  readonly requests: Effect.Effect<ReadonlyArray<SandboxRequest>>
  /** Every charge that was created, oldest first. Amounts are in centavos. */
  readonly transactions: Effect.Effect<ReadonlyArray<SandboxTransaction>>
  /**
   * Every payout that was executed, oldest first: one for each time that money moved, and one for each that failed at once
   * (`Rejected`). Amounts are in centavos.
   */
  readonly withdrawals: Effect.Effect<ReadonlyArray<SandboxWithdrawal>>
  /** The changes from now on. Amounts are in centavos. Changes are numbered: a slow reader loses changes, and sees gaps. */
  readonly changes: Stream.Stream<SandboxChange>

  /**
   * Sends webhooks to this target too, from now on: a loopback address, a web handler or `Webhook.answer`. Another
   * address is a defect. A change makes one webhook for each target.
   */
  readonly subscribe: (target: WebhookTarget) => Effect.Effect<void>
  /** Sends no more webhooks to this address. */
  readonly unsubscribe: (url: string) => Effect.Effect<void>
  /** The last webhooks, oldest first, with their attempts: up to `SandboxOptions.keep` of them. */
  readonly webhooks: Effect.Effect<ReadonlyArray<SandboxWebhook>>
  /** Sends a webhook of any content to each target, with the same retries: a forged one, or one of another shape. */
  readonly sendWebhook: (json: Schema.Json) => Effect.Effect<void>
  /** Sends a webhook again to its target, by its id: a repetition, or a late one. Fails with `SandboxNotFound`. */
  readonly resendWebhook: (id: number) => Effect.Effect<void, SandboxNotFound>
  /** Waits until no attempt is under way. It does not wait for later attempts. */
  readonly awaitWebhooks: Effect.Effect<void>

  /**
   * Plans faults for the next requests of an operation (or of `any`), in order: each fault meets one request, or `times`
   * of them. The faults of an operation are used before those of `any`.
   */
  readonly fault: (
    operation: FaultTarget,
    faults: Fault | ReadonlyArray<Fault>,
    options?: { readonly times?: number | undefined }
  ) => Effect.Effect<void>
  /** Removes all planned faults. */
  readonly clearFaults: Effect.Effect<void>
  /**
   * Refuses connections for as long as the effect runs. Refused requests are not recorded. Over a socket connections are
   * reset, so that the panel on the same port stays reachable.
   */
  readonly offline: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Forgets all idempotency keys, as a gateway does when their time is over. */
  readonly forgetKeys: Effect.Effect<void>
  /**
   * Pushes the sandbox's own clock forward: charges lapse and webhooks are sent again as if the time had passed. The
   * clock of the program does not change.
   */
  readonly advance: (duration: Duration.Input) => Effect.Effect<void>
  /** Starts over: ledger, recorded requests, faults, credentials, clock and webhooks are as at the beginning. */
  readonly reset: Effect.Effect<void>
}

/** What a list is asked for: all of it. */
const all = { limit: 1_000_000 }

const oldestFirst = <A, E>(listed: Effect.Effect<{ readonly items: ReadonlyArray<A> }, E>) =>
  Effect.map(listed, ({ items }) => items.toReversed())

const masked = ({ apiKey, clientId }: { readonly clientId: string; readonly apiKey: string }): ApiCredentials => ({
  clientId,
  apiKey: Redacted.make(apiKey)
})

/** What the table of functions cannot say: the sandbox's own address, its changes, and targets that are no address. */
type Own = Pick<SandboxService, "baseUrl" | "companyId" | "changes" | "subscribe">

export const serviceOf = (call: Call, own: Own): SandboxService => {
  let offline = 0
  return {
    ...own,
    credentials: Effect.map(call("credentials", {}), masked),
    rotateCredentials: Effect.map(call("rotateCredentials", {}), masked),
    overview: call("overview", {}),
    markPaid: (transactionId, { amount, ...rest } = {}) =>
      call("markPaid", { transactionId, ...rest, ...(amount !== undefined && { amount: centavos(amount) }) }),
    cancel: (transactionId) => call("cancel", { transactionId }),
    fail: (transactionId) => call("fail", { transactionId }),
    refund: (transactionId) => call("refund", { transactionId }),
    charge: (amount, name) => Effect.suspend(() => call("charge", { amount: centavos(amount), name })),
    withdraw: (amount, pixKey) => Effect.suspend(() => call("withdraw", { amount: centavos(amount), pixKey })),
    processWithdrawal: (id) => call("processWithdrawal", { id }),
    settleWithdrawal: (id) => call("settleWithdrawal", { id }),
    rejectWithdrawal: (id, options) => call("rejectWithdrawal", { id, ...options }),
    returnWithdrawal: (id) => call("returnWithdrawal", { id }),
    credit: (amount) =>
      Effect.map(
        Effect.suspend(() => call("credit", { amount: centavos(amount) })),
        ({ balance }) => balance
      ),
    balance: Effect.map(call("overview", {}), ({ balance }) => balance),
    requests: oldestFirst(call("requests", all)),
    transactions: oldestFirst(call("transactions", all)),
    withdrawals: oldestFirst(call("withdrawals", all)),
    unsubscribe: (url) => Effect.asVoid(call("unsubscribe", { url })),
    webhooks: oldestFirst(call("webhooks", all)),
    sendWebhook: (json) => Effect.asVoid(call("sendWebhook", { json })),
    resendWebhook: (id) => Effect.asVoid(call("resendWebhook", { id })),
    awaitWebhooks: Effect.asVoid(call("awaitWebhooks", {})),
    // A number that JSON has no word for is as good as the largest.
    fault: (operation, fault, { times = 1 } = {}) =>
      Effect.asVoid(call("fault", { operation, fault, times: Math.min(times, Number.MAX_SAFE_INTEGER) })),
    clearFaults: Effect.asVoid(call("clearFaults", {})),
    offline: (effect) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => (++offline === 1 ? call("setOffline", { offline: true }) : Effect.void)),
        () => effect,
        () => Effect.suspend(() => (--offline === 0 ? call("setOffline", { offline: false }) : Effect.void))
      ),
    forgetKeys: Effect.asVoid(call("forgetKeys", {})),
    advance: (duration) =>
      Effect.asVoid(call("advance", { seconds: Math.max(0, Duration.toSeconds(Duration.fromInputUnsafe(duration))) })),
    reset: Effect.asVoid(call("reset", {}))
  }
}

/** The service of a gateway in this process. */
export const localService = (steered: Steered): SandboxService =>
  serviceOf(callOf(steered), {
    baseUrl: steered.baseUrl,
    companyId: steered.gateway.settings.companyId,
    changes: steered.gateway.changes.stream,
    subscribe: (target) => steered.gateway.set(() => steered.gateway.webhooks.subscribe(target))
  })
