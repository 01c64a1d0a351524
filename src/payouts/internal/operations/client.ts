/**
 * The operations of the queue that need no worker: submitting, reading and steering payouts, and steering the account.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { GatewayFacts } from "../../../client/GatewayFacts.ts"
import { checkOptionsBy, whole } from "../../../contract/Options.ts"
import { meaningOf } from "../../../contract/Status.ts"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import { log } from "../../../internal/spans.ts"
import type { PayoutLetter } from "../../OnState.ts"
import type { PayoutItem } from "../../Payout.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { PayoutNotFound, PayoutStateConflict } from "../../PayoutState.ts"
import type { PayoutStatus } from "../../PayoutStatus.ts"
import type { Seal } from "../../Seal.ts"
import { payoutLabel } from "../machine/answers.ts"
import { makeAccountClient } from "./accountClient.ts"
import { isClaimed } from "../machine/conditions.ts"
import { type Core, operationsOf, guard } from "../core.ts"
import { checkedPerson, invalid } from "../store/entries.ts"
import type { Event } from "../machine/events.ts"
import { asRead, makeReading } from "./reading.ts"
import type { Row } from "../machine/row.ts"
import { makeSentences } from "./sentences.ts"
import { payoutFields } from "../signals/signals.ts"
import { readStatus, statusOf } from "../machine/status.ts"
import { allOrNone, makeAccept } from "./submit.ts"

/** A step of a person, without the person and what it is decided by. */
type Wanted = DistributiveOmit<Event<PayoutStateConflict["operation"]>, "at" | "person">
type DistributiveOmit<A, Key extends keyof A> = A extends unknown ? Omit<A, Key> : never

const notJudged =
  "It is not known whether a request of it left: no worker has looked at this database since its server started (start one first), or the payout is from before a failover or a restore. Look into the panel. Park it: then nothing sends it, and settle it when you know."

export const makeClient = (core: Core, settings: Settings, seal: Seal, facts: Effect.Effect<GatewayFacts>) => {
  const { store } = core
  const { writing } = operationsOf(store)
  const { find, ...reading } = makeReading(core, settings, seal)

  const acceptAll = makeAccept(core, settings, seal)
  /** Accepts all or none. */
  const submitAll = Effect.fnUntraced(function* (payouts: ReadonlyArray<PayoutItem>) {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* acceptAll(payouts, undefined, allOrNone)
    const isNew = ({ submittedAt }: Row) => submittedAt >= now
    return (rows.every(isNew) ? rows : yield* asRead(store, rows)).map(statusOf)
  })

  /** Checks and stores a step of an operator, and queues the payout anew where it is to be sent. */
  const steer = (wanted: Wanted, reference: string, options: StepOptions) => {
    const operation = wanted._tag
    return writing(
      operation,
      Effect.gen(function* () {
        const person = yield* checkedPerson(options)
        const now = yield* Clock.currentTimeMillis
        const served = yield* store.accounts.get
        const at = { account: served, now, horizon: served.horizon ?? settings.horizon }
        const row = yield* find(reference)
        const mayBeOfBefore = operation === "cancel" || operation === "retry"
        const condition = mayBeOfBefore ? { where: yield* store.accounts.judged, problem: notJudged } : undefined
        const changed = core.stepBy(
          row,
          () => ({ ...wanted, at, person }),
          ({ state }, problem) => Effect.fail(new PayoutStateConflict({ operation, reference, state, problem })),
          condition
        )
        // The person may have corrected the credentials.
        const wantsNow = (operation === "retry" || operation === "resume") && served.nextAt !== null
        const after = yield* store.transaction(Effect.tap(changed, wantsNow ? core.releaseAccount : Effect.void))
        return after === undefined ? yield* new PayoutNotFound({ reference }) : statusOf(after)
      })
    )
  }

  return {
    ...reading,
    ...makeHints(core, settings, facts),
    ...makeAccountClient(core),
    ...makeLetters(core),
    ...makeSentences(core, settings),
    // One payout has one status.
    submit: (payout: PayoutItem) =>
      writing(
        "submit",
        submitAll([payout]).pipe(
          Effect.map(([status]) => status as PayoutStatus),
          Effect.catchTag("PayoutsNotAccepted", ({ wrong: [{ error }] }) =>
            // Only a run is refused for what looks like another payout.
            error._tag === "LooksAlike" ? Effect.die(error) : Effect.fail(error)
          )
        )
      ),
    submitMany: (payouts: Iterable<PayoutItem>) =>
      writing(
        "submitMany",
        Effect.suspend(() => submitAll([...payouts]))
      ),
    retry: (reference: string, options: StepOptions = {}) => steer({ _tag: "retry" }, reference, options),
    park: (reference: string, options: StepOptions = {}) => steer({ _tag: "park" }, reference, options),
    resume: (reference: string, options: StepOptions = {}) => steer({ _tag: "resume" }, reference, options),
    settle: (
      reference: string,
      options: StepOptions & { readonly as?: "paid" | "failed" | "returned" | undefined } = {}
    ) => {
      const { as = "paid" } = options
      if (!["paid", "failed", "returned"].includes(as)) return invalid("as", "must be paid, failed or returned")
      return steer({ _tag: "settle", as }, reference, options)
    },
    confirm: (reference: string, options: StepOptions = {}) => steer({ _tag: "confirm" }, reference, options),
    cancel: (reference: string, options: StepOptions = {}) => steer({ _tag: "cancel" }, reference, options),
    forget: (reference: string, options: StepOptions = {}) => steer({ _tag: "forget" }, reference, options)
  }
}

/** What names a payout: the number of its withdrawal, its key, or both. */
interface Named {
  readonly withdrawalId?: number | undefined
  readonly idempotencyKey?: string | undefined
}

/** What a webhook claims of a payout. */
interface Hint extends Named {
  readonly status: string
  readonly endToEndId?: string | undefined
}

const isNumber = (id: unknown): id is number => Number.isSafeInteger(id) && Number(id) >= 0
/** A text that a key may be: another one is in no row. */
const isKey = (key: string) => /^[!-~]{1,64}$/.test(key)

/** Checks a hint, which a caller without types may have given. */
const checkHint = checkOptionsBy(
  "requestWithdrawal",
  Schema.Struct({
    withdrawalId: Schema.optional(whole(0)),
    idempotencyKey: Schema.optional(Schema.String),
    status: Schema.String,
    endToEndId: Schema.optional(Schema.String)
  }).check(
    Schema.makeFilter(
      ({ idempotencyKey, withdrawalId }) =>
        withdrawalId !== undefined ||
        idempotencyKey !== undefined || { path: ["withdrawalId"], issue: "or idempotencyKey must be given" }
    )
  )
)

const makeHints = (core: Core, { confirm }: Settings, facts: Effect.Effect<GatewayFacts>) => {
  const { store } = core
  const { writing } = operationsOf(store)

  /** The row that has what is named: the number and the key, if both are. */
  const rowOf = ({ idempotencyKey: key, withdrawalId: id }: Named): Effect.Effect<Row | undefined, SqlError> => {
    if ((key !== undefined && !isKey(key)) || (id !== undefined && !isNumber(id))) return Effect.undefined
    const found = key !== undefined ? store.get(key) : id !== undefined ? store.ofWithdrawal(id) : Effect.undefined
    return Effect.map(found, (row) => (id === undefined || row?.withdrawalId === id ? row : undefined))
  }

  /** What is claimed now, and was not before. Where lookups decide, they say how it ended. */
  const logClaimed = (before: Row, after: Row) =>
    !isClaimed.of({ payout: after }) || after.endedAs === before.endedAs
      ? Effect.void
      : log(
          confirm === undefined ? "Warn" : "Debug",
          `A webhook claims that a payout ${after.endedAs === "paid" ? "was paid" : after.endedAs} (${payoutLabel(after)}, which is ${after.state}). That is no proof: look in the panel, and settle it. Nothing is paid again by itself.`,
          payoutFields(after)
        )

  const claim = Effect.fnUntraced(function* (hint: Hint) {
    yield* checkHint(hint)
    const found = yield* rowOf(hint)
    if (found === undefined) return Option.none<PayoutStatus>()
    const claimed = meaningOf(hint.status, "payout", (yield* facts).statuses)
    let before = found
    const after = yield* core.stepBy(
      found,
      (row) => {
        before = row
        return { _tag: "Claimed", claimed }
      },
      // No claim is refused.
      (_, problem) => Effect.die(problem)
    )
    if (after === undefined) return Option.none<PayoutStatus>()
    yield* store.afterCommit(logClaimed(before, after))
    return Option.some(statusOf(after))
  })

  return {
    hint: (hint: Hint) => writing("hint", claim(hint)),
    find: (named: Named) =>
      guard("find")(
        Effect.gen(function* () {
          const row = Predicate.isObject(named) ? yield* rowOf(named) : undefined
          const [read] = row === undefined ? [] : yield* asRead(store, [row])
          return Option.map(Option.fromUndefinedOr(read), statusOf)
        })
      )
  }
}

/** The dead letters of `onState`, and the steps of persons with them. */
const makeLetters = ({ isStateDue, store }: Core) => {
  const { letters } = store.states
  const { writing } = operationsOf(store)
  const takeStep =
    (operation: "retryLetter" | "discardLetter", take: typeof letters.retry) =>
    (id: number, options?: Pick<StepOptions, "by">) =>
      writing(
        operation,
        // The later states of its payout may be due.
        Number.isSafeInteger(id)
          ? take(isStateDue.open, id, options)
          : invalid("id", "must be the number of a dead letter")
      )
  return {
    deadLetters: mapDatabaseError("deadLetters")(
      Effect.map(letters.dead, (found) =>
        found.map(({ at, failures, held, id, idempotencyKey, since, status }): PayoutLetter => ({
          id: Number(id),
          idempotencyKey,
          status: Option.getOrUndefined(readStatus(status)),
          failures: Number(failures),
          held: Number(held),
          since: DateTime.makeUnsafe(Number(since)),
          at: DateTime.makeUnsafe(Number(at))
        }))
      )
    ),
    retryLetter: takeStep("retryLetter", letters.retry),
    discardLetter: takeStep("discardLetter", letters.discard)
  }
}
