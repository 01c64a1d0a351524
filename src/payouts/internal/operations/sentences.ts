/**
 * The sentences of an account that nobody knows, and what persons said of them.
 */
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { mapDatabaseError } from "../../../durable/Database.ts"
import type { StepOptions } from "../../../durable/Step.ts"
import { Centavos } from "../../../pix/Money.ts"
import { JudgedAs, type PayoutSentence } from "../../PayoutSentence.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { PayoutStatus } from "../../PayoutStatus.ts"
import { type Core, operationsOf } from "../core.ts"
import { checkedPerson, invalid, readJudgement, writeJudgement } from "../store/entries.ts"
import { payoutKey } from "../store/request.ts"
import { failureOf } from "../machine/row.ts"
import type { Sentence } from "../store/reads.ts"
import { statusOf } from "../machine/status.ts"

const isAs = Schema.is(JudgedAs)

/** A person has moved the payout meanwhile: it stays as it is. */
class NotMoved extends Data.TaggedError("NotMoved") {}

const sentenceOf = ({ amount, count, digest, judgement, row, since }: Sentence): PayoutSentence => {
  const failure = failureOf(row)
  const judged = judgement === null ? undefined : Option.getOrUndefined(readJudgement(judgement))
  return {
    digest,
    count,
    amount: Centavos.make(amount),
    since: DateTime.makeUnsafe(since),
    reference: row.reference,
    ...(failure !== undefined && "status" in failure && failure.status !== undefined && { status: failure.status }),
    ...(failure !== undefined &&
      "serviceCode" in failure &&
      failure.serviceCode !== undefined && { code: failure.serviceCode }),
    ...(failure !== undefined && "oneByOne" in failure && failure.oneByOne && { oneByOne: true }),
    ...(judged !== undefined && { judgement: judged })
  }
}

export interface JudgeOptions extends StepOptions {
  readonly as: JudgedAs
  readonly seen: string
  readonly by: string
}

export const makeSentences = (core: Core, { account, horizon }: Settings) => {
  const { store } = core
  const { sentences } = store
  const { writing } = operationsOf(store)

  /** What is wrong with a judgement, if something is. */
  const checked = Effect.fnUntraced(function* (digest: string, { as, by, note, seen }: JudgeOptions) {
    if (!isAs(as)) return yield* invalid("as", "must be refused or wait")
    if (by === undefined) return yield* invalid("by", "must say who judges")
    const person = yield* checkedPerson({ by, note })
    const isDigest = Predicate.isString(digest) && /^[0-9a-f]{8,64}$/.test(digest)
    const found = isDigest ? yield* sentences.find(digest) : []
    const [one] = found
    if (one === undefined || found.length > 1)
      return yield* invalid(
        "digest",
        "must be the digest of one sentence of this account, or its first eight characters or more"
      )
    const rows = yield* sentences.rows(one.digest)
    const key = Option.getOrUndefined(payoutKey(account, seen))
    const looked = rows.find((row) => row.idempotencyKey === key)
    if (looked === undefined)
      return yield* invalid(
        "seen",
        "must be the reference of a payout of this sentence, which you looked up in the panel"
      )
    if (rows.some((row) => sentenceOf({ ...one, row }).oneByOne === true))
      return yield* invalid(
        "digest",
        "is of a sentence that proves nothing of another payout: settle each one by itself"
      )
    return { digest: one.digest, rows, judgement: { digest: one.digest, as, seen, at: yield* DateTime.now, ...person } }
  })

  const judgeAll = Effect.fnUntraced(function* (digest: string, options: JudgeOptions) {
    const { digest: whole, judgement, rows } = yield* checked(digest, options)
    const { as, at, digest: _, seen: __, ...person } = judgement
    const served = yield* store.accounts.get
    const decided = { account: served, now: DateTime.toEpochMillis(at), horizon: served.horizon ?? horizon }
    yield* sentences.judge(whole, writeJudgement(judgement))
    const moved: Array<PayoutStatus> = []
    for (const row of rows) {
      const event = { _tag: "judge", as, digest: whole, at: decided, person } as const
      const after = yield* core
        .stepBy(
          row,
          () => event,
          () => new NotMoved()
        )
        .pipe(Effect.catchTag("NotMoved", () => Effect.undefined))
      if (after !== undefined && after.version !== row.version) moved.push(statusOf(after))
    }
    yield* core.releaseAccount
    return moved
  })

  return {
    sentences: mapDatabaseError("sentences")(Effect.map(sentences.all, (all) => all.map(sentenceOf))),
    judge: (digest: string, options: JudgeOptions) => writing("judge", store.transaction(judgeAll(digest, options)))
  }
}
