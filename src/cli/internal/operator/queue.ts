/** The queue of a program's database, for a command: it submits nothing, sends nothing and migrates nothing. */
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { settingError } from "../../../contract/ConfigurationError.ts"
import { WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { mapDatabaseError } from "../../../durable/Database.ts"
import { PayoutQueue, requireTables } from "../../../payouts/PayoutQueue.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import * as Seal from "../../../payouts/Seal.ts"
import { PayoutNotFound, type PayoutState } from "../../../payouts/PayoutState.ts"
import { failingAs, layerDatabase, notRead, notReadable } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"
import { Shared } from "../lang.ts"
import { plain } from "../text.ts"
import type { Sum } from "./describe.ts"

/** Which payouts are listed, beside their state. */
type Filter = Omit<NonNullable<Parameters<PayoutQueue["Service"]["list"]>[0]>, "state">

/** The payouts that a flag finds, in place of their references. */
export interface Group {
  readonly states: ReadonlyArray<PayoutState>
  readonly filter: Filter
}

/** Fails unless the account is known: a step on another one would change nothing, and look as if it had. */
const requireAccount = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly account: string }>`SELECT account AS "account" 
    FROM effect_pix_payout_accounts
    UNION SELECT CAST(${account} AS VARCHAR(32)) WHERE EXISTS (SELECT 1 FROM effect_pix_payouts WHERE account = ${account})
    ORDER BY account`
  const known = rows.map((row) => row.account)
  if (known.includes(account)) return
  return yield* settingError(
    "account",
    `${account} has no payouts in this database, which has the accounts: ${known.join(", ")}`
  )
}, mapDatabaseError("open"))

/** A command submits nothing. Without the program's key it opens nothing. */
const none: Seal.Seal = { seal: Effect.succeed, open: Effect.succeed }

/** Opens what was stored in clear too, which is JSON: a program may have taken its seal later. */
const openingClear = (seal: Seal.Seal): Seal.Seal => ({
  ...seal,
  open: (text, place) => (text.startsWith("{") ? Effect.succeed(text) : seal.open(text, place))
})

const sealKey = "EFFECT_PIX_SEAL_KEY"

/** The seal of the program, if its key is given: that of `Seal.aesGcm`, or several with commas between them, the newest first. */
export const givenSeal: Effect.Effect<Seal.Seal | undefined, Failed> = Effect.gen(function* () {
  const given = yield* Effect.orElseSucceed(Config.option(Config.Redacted(sealKey)), () => Option.none())
  if (Option.isNone(given)) return undefined
  const [first = "", ...earlier] = Redacted.value(given.value).split(",")
  return yield* Seal.aesGcm(Redacted.make(first), ...earlier.map((key) => Redacted.make(key))).pipe(
    Effect.mapBoth({
      onFailure: () => failed(`${sealKey} has a key that is not 32 bytes, as base64 or as 64 hexadecimal digits.`),
      onSuccess: openingClear
    })
  )
})

const otherKey = (reference: string) =>
  failed(`What is stored of ${plain(reference)} is sealed, and not with a key of ${sealKey}.`)

/** The service and the key of what is shown. A text of another key is a defect. */
export const whatIsSealed = Effect.fnUntraced(function* (reference: string) {
  const queue = yield* PayoutQueue
  const shown = Effect.mapError(queue.payee(reference), notRead)
  return Option.getOrUndefined(yield* Effect.catchDefect(shown, () => otherKey(reference)))
})

const decodeRequest = Schema.decodeUnknownOption(Schema.fromJsonString(WithdrawalRequestBody))

/** The stored request of a payout, where it is there and can be opened. */
export const requestOf = Effect.fnUntraced(function* ({ idempotencyKey: key, reference }: PayoutStatus) {
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Shared
  const [row] = yield* sql<{ readonly request: string | null }>`SELECT request AS "request" FROM effect_pix_payouts
    WHERE account = ${account} AND idempotency_key = ${key}`.pipe(mapDatabaseError("read"), Effect.mapError(notRead))
  const text = row?.request ?? undefined
  if (text === undefined) return "forgotten"
  const seal = (yield* givenSeal) ?? none
  const opened = yield* Effect.catchDefect(seal.open(text, { account, reference, column: "request" }), () =>
    Effect.succeed(text)
  )
  return Option.getOrElse(decodeRequest(opened), () => "sealed" as const)
})

/**
 * The horizon is that of the workers, which is stored. Where none began yet it is endless, since one that is shorter than
 * theirs would refuse a safe `resume`.
 */
const layerOn = (access: "read" | "write") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { account } = yield* Shared
      const seal = (yield* givenSeal) ?? none
      return PayoutQueue.layerClient({ account, horizon: Duration.infinity, seal }).pipe(
        Layer.provide(Layer.effectDiscard(Effect.andThen(requireTables, requireAccount(account)))),
        (layer) => failingAs(layer, notReadable)
      )
    })
  ).pipe(Layer.provideMerge(layerDatabase(access)))

/** For a command that reads. */
export const layerReading = layerOn("read")

/** For a step. */
export const layerQueue = layerOn("write")

/** All payouts of some states, one state after the other, each with the oldest first. */
export const listPayouts = (states: ReadonlyArray<PayoutState | undefined>, filter: Filter = {}) =>
  Stream.unwrap(
    Effect.map(PayoutQueue, (queue) =>
      Stream.fromIterable(states).pipe(
        Stream.flatMap((state) => queue.list({ ...filter, state })),
        Stream.mapError(notRead)
      )
    )
  )

/** The number and the sum of payouts by their state. */
export const readSums = (states: ReadonlyArray<PayoutState | undefined>, filter: Filter = {}) =>
  Stream.runFold(
    listPayouts(states, filter),
    () => new Map<PayoutState, Sum>(),
    (sums, { amount, state }) => {
      const { centavos, count } = sums.get(state) ?? { count: 0, centavos: 0n }
      return sums.set(state, { count: count + 1, centavos: centavos + BigInt(amount) })
    }
  )

/** The account of the queue, with the sums of what a worker may send. */
export const readAccount = Effect.gen(function* () {
  const account = yield* PayoutQueue.use((queue) => Effect.mapError(queue.account, notRead))
  return { ...account, sums: yield* readSums(["accepted", "unknown"]) }
})

/** The status of a reference, or of the number of a withdrawal. */
export const find = Effect.fnUntraced(function* (key: string | number) {
  const queue = yield* PayoutQueue
  const read = typeof key === "string" ? queue.status(key) : queue.find({ withdrawalId: key })
  const status = yield* Effect.mapError(read, notRead)
  if (Option.isSome(status)) return status.value
  const no =
    typeof key === "string"
      ? new PayoutNotFound({ reference: key }).message
      : `No payout of the queue, or more than one, has the withdrawal ${key}.`
  return yield* failed(no, codes.Rejected)
})
