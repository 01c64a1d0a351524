/**
 * Takes the steps of an operator. Each is taken in one way: what it is about is looked up and shown with the effect, the number and
 * the sum; a person confirms it; it is taken of one after the other; the result is printed.
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import type { PayoutLetter } from "../../../payouts/OnState.ts"
import { WebhookClient } from "../../../webhook/Webhook.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import { inBoth } from "../amount.ts"
import { stepFailed } from "../database.ts"
import { codes, Failed, failed } from "../exit.ts"
import { whyOf, type Words } from "../flags.ts"
import { tableOf } from "../list.ts"
import { note, write, writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { ageOf, jsonLine, plain, time } from "../text.ts"
import { findLetter, layerClient, layerNamed, noLetter, textOf as textOfLetter } from "./deadLetters.ts"
import { type Account, columnsAt, dataOf, reasonOf, sumOf, textOf, textOfAccount, textOfSum } from "./describe.ts"
import { find, findNumbered, layerQueue, listPayouts, readAccount, readLate } from "./queue.ts"
import { adviceOf, findSentence, lineOf as lineOfSentence, shortOf } from "./sentences.ts"
import { findStateLetter, lineOf, noStateLetter } from "./stateLetters.ts"
import type {
  AccountStep,
  LetterStep,
  Payout,
  PayoutFlags,
  PayoutStep,
  SentenceStep,
  StateLetterStep,
  Step,
  Worded
} from "./stepShape.ts"

/** What a step may be about: payouts, the account, or dead letters. */
interface Kind<Service, Subject, Done, R> {
  readonly service: (subject: Subject) => Effect.Effect<Service, Failed, R>
  readonly nameOf: (subject: Subject) => string
  readonly lineOf: (subject: Subject) => string
  /** How many they are, and their sum. */
  readonly countOf: (subjects: ReadonlyArray<Subject>) => string
  /** The command that shows whether a step was taken. */
  readonly look: (subject: Subject) => string
  readonly summaryOf: (done: Done, subject: Subject) => string
  readonly print: (done: ReadonlyArray<readonly [Done, Subject]>) => Effect.Effect<void, Failed, R>
}

interface Given<Own> extends Words {
  readonly json: boolean
  readonly own: Own
  readonly yes: boolean
}

const messagesOf = (failures: ReadonlyArray<Failed>): string => failures.map(({ message }) => message).join("\n")

/** Why a step would be refused: it is taken, and rolled back. A database that fails is no answer. */
const refusalOf = Effect.fnUntraced(function* <Subject, A, R>(subject: Subject, step: Effect.Effect<A, Failed, R>) {
  const sql = yield* SqlClient.SqlClient
  const rolledBack = sql.withTransaction(Effect.flatMap(step, () => Effect.fail(undefined)))
  const why = yield* Effect.flip(Effect.provideService(rolledBack, References.MinimumLogLevel, "None"))
  return why instanceof Failed && why.code === codes.Rejected ? Result.fail(why) : Result.succeed(subject)
})

const takeStep = Effect.fnUntraced(function* <Service, Subject, Own, Done, R>(
  { effect, name, take }: Step<Service, Subject, Own, Done>,
  { countOf, lineOf, look, nameOf, print, service, summaryOf }: Kind<Service, Subject, Done, R>,
  subjects: ReadonlyArray<Subject>,
  { own, yes, ...words }: Omit<Given<Own>, "json">,
  leftOut: ReadonlyArray<Failed> = []
) {
  const takeOne = (subject: Subject) =>
    Effect.flatMap(service(subject), (queue) =>
      Effect.mapError(take(queue, subject, whyOf(words), own), stepFailed(look(subject)))
    )
  const judged = yield* Effect.forEach(subjects, (subject) => refusalOf(subject, takeOne(subject)))
  const [possible, refused] = [Arr.getSuccesses(judged), [...leftOut, ...Arr.getFailures(judged)]]
  // A warning about money that is shown for nothing is read less the next time.
  if (possible.length === 0) return yield* failed(messagesOf(refused), codes.Rejected)
  const failures: Array<Failed> = []
  const effects = Object.entries(Arr.groupBy(possible, (subject) => effect(subject, own)))
  /** Takes it of one after the other. What the database does not answer ends it, and names the rest. */
  const takeAll = Effect.gen(function* () {
    const done: Array<readonly [Done, Subject]> = []
    for (const [index, subject] of possible.entries()) {
      const taken = yield* Effect.result(takeOne(subject))
      if (Result.isSuccess(taken)) done.push([taken.success, subject])
      else failures.push(taken.failure)
      if (Result.isSuccess(taken) || taken.failure.code === codes.Rejected) continue
      const rest = possible.slice(index + 1).map((one) => nameOf(one))
      if (rest.length > 0) failures.push(failed(`${name} was not tried for: ${rest.join(", ")}`, codes.Rejected))
      break
    }
    return done
  })
  yield* perform({
    plan: [
      ...refused.map(({ message }) => message),
      ...possible.map(lineOf),
      ...effects.map(([words, some]) => [name, countOf(some), words].filter((part) => part !== "").join(": "))
    ].join("\n"),
    confirm: {
      noun: name,
      question: `${name} ${possible.length === 1 ? possible.map(nameOf).join("") : countOf(possible)}?`,
      unconfirmed: "Nothing was changed.",
      yes
    },
    run: takeAll,
    summary: (done) => done.map((each) => summaryOf(...each)).join("\n"),
    print
  })
  // What was refused was named before the question.
  const [worst] = [...failures, ...refused].toSorted((one, other) => other.code - one.code)
  if (worst !== undefined) return yield* failed(messagesOf(failures), worst.code)
})

/** The results of all, or a failure that names each that was not found. */
const findEach = Effect.fnUntraced(function* <A, R>(
  names: ReadonlyArray<string>,
  find: (name: string) => Effect.Effect<A, Failed, R>
) {
  const results = yield* Effect.forEach([...new Set(names)], (name) => Effect.result(find(name)))
  const [found, unknown] = Arr.separate(results)
  if (unknown.length === 0) return found
  const unread = unknown.find(({ code }) => code !== codes.Rejected)
  const messages = [...unknown.map(({ message }) => message), "Nothing was changed."]
  return yield* unread ?? failed(messages.join("\n"), codes.Rejected)
})

/** The payouts of a step, in the order in which they were named or submitted, and those of its group that it leaves out. */
const selected = Effect.fnUntraced(function* (named: ReadonlyArray<string>, own: PayoutFlags) {
  const numbered = yield* findEach((own.withdrawals ?? []).map(String), findNumbered)
  const references = [...named, ...numbered.map(({ reference }) => reference)]
  const group = Option.getOrUndefined(own.group ?? Option.none())
  if (references.length > 0 === (group !== undefined)) {
    const others = [
      ...(own.withdrawals === undefined ? [] : ["by --withdrawal"]),
      ...(own.group === undefined ? [] : ["give the flag that finds them, and not both"])
    ]
    return yield* failed(["Name the payouts by their references", ...others].join(", or ") + ".")
  }
  if (group === undefined) return { statuses: yield* findEach(references, find), late: [] }
  const found = yield* Stream.runCollect(listPayouts(group.states, group.filter))
  const isLate = group.leavesLate ? yield* readLate : () => false
  const [statuses, late] = Arr.partition(found, (status) =>
    isLate(status) ? Result.fail(status) : Result.succeed(status)
  )
  return { statuses, late }
})

const leftOut = ({ reference }: PayoutStatus) =>
  failed(
    `${plain(reference)} is left out: a request of it may have left longer ago than the horizon. Look into the panel, and name it.`,
    codes.Rejected
  )

type Named = { readonly subjects: ReadonlyArray<string> }

export const takePayoutStep = <Own extends PayoutFlags>(step: PayoutStep<Own>) =>
  Effect.fnUntraced(function* ({ json, subjects: references, ...given }: Given<Own> & Named) {
    const account = yield* readAccount
    const { late, statuses } = yield* selected(references, given.own)
    if (statuses.length + late.length === 0)
      return yield* note(`${step.name}: there is no such payout. Nothing was changed.`)
    const kind: Kind<PayoutQueue["Service"], Payout, PayoutStatus, PayoutQueue | SqlClient.SqlClient> = {
      service: () => PayoutQueue,
      nameOf: ({ status }) => plain(status.reference),
      lineOf: ({ status }) => {
        const why = reasonOf(status)
        const from = status.notBefore === undefined ? "" : `, not before ${time(status.notBefore)}`
        return `Payout ${plain(status.reference)}: ${inBoth(status.amount)}, ${status.state}${why && ` (${why})`}, submitted ${ageOf(status.submittedAt, account.now)} ago${from}`
      },
      countOf: (some) => textOfSum(sumOf(some.map(({ status }) => status))),
      look: ({ status }) => `payouts show ${plain(status.reference)}`,
      summaryOf: ({ reference, state }) => `Payout ${plain(reference)} is ${state}.`,
      print: Effect.fnUntraced(function* (taken) {
        const done = taken.map(([status]) => status)
        const [first] = done
        const view = { now: yield* Clock.currentTimeMillis, lang: "en" } as const
        if (first !== undefined && statuses.length === 1) {
          return yield* writeResult(json, dataOf(first), textOf(first, view))
        }
        const { head, lineOf } = tableOf(columnsAt(view))
        const lines = done.map(json ? (status) => jsonLine(dataOf(status)) : lineOf)
        if (done.length > 0) yield* write((json ? "" : head) + lines.join(""))
      })
    }
    const subjects = statuses.map((status) => ({ status, isPaused: account.paused }))
    yield* takeStep(step, kind, subjects, given, late.map(leftOut))
  }, Effect.provide(layerQueue))

export const takeAccountStep = <Own>(step: AccountStep<Own>) =>
  Effect.fnUntraced(function* ({ json, ...given }: Given<Own>) {
    const kind: Kind<PayoutQueue["Service"], Account, void, PayoutQueue | SqlClient.SqlClient> = {
      service: () => PayoutQueue,
      nameOf: ({ account }) => `of ${account}`,
      lineOf: textOfAccount,
      countOf: () => "",
      look: () => "payouts list",
      summaryOf: () => `${step.name} was done.`,
      print: Effect.fnUntraced(function* ([taken]) {
        if (taken === undefined) return
        const now = yield* readAccount
        const { account, fingerprint, paused, pace, window = null } = now
        const limits = { pace: pace ? { most: pace.most, seconds: Duration.toSeconds(pace.per) } : null, window }
        yield* writeResult(json, { account, paused, fingerprint, ...limits }, textOfAccount(now))
      })
    }
    yield* takeStep(step, kind, [yield* readAccount], given)
  }, Effect.provide(layerQueue))

interface GivenSentence<Own> extends Given<Own> {
  readonly digest: string
}

export const takeSentenceStep = <Own>(step: SentenceStep<Own>) =>
  Effect.fnUntraced(function* ({ digest, json, ...given }: GivenSentence<Own>) {
    const as = step.asOf(given.own)
    const kind: Kind<PayoutQueue["Service"], Worded, ReadonlyArray<PayoutStatus>, PayoutQueue> = {
      service: () => PayoutQueue,
      nameOf: shortOf,
      lineOf: lineOfSentence,
      countOf: ([one]) => (one === undefined ? "" : textOfSum({ count: one.count, centavos: BigInt(one.amount) })),
      look: () => "payouts sentences",
      summaryOf: (moved) => `${moved.length} payout(s) were moved.`,
      print: Effect.fnUntraced(function* ([taken]) {
        if (taken === undefined) return
        const [moved, sentence] = taken
        const lines = moved.map(({ reference, state }) => `Payout ${plain(reference)} is ${state}.`)
        yield* writeResult(
          json,
          { digest: sentence.digest, as, moved: moved.map((status) => dataOf(status)) },
          [...lines, adviceOf(sentence, as)].join("\n")
        )
      })
    }
    yield* takeStep(step, kind, [yield* findSentence(digest)], given)
  }, Effect.provide(layerQueue))

interface GivenStateLetters extends Omit<Given<unknown>, "note" | "own">, Named {}

interface GivenLetters extends GivenStateLetters {
  readonly webhook: Option.Option<string>
}

const countOfLetters = ({ length }: ReadonlyArray<unknown>) => `${length} dead letter${length === 1 ? "" : "s"}`

export const takeStateLetterStep = (step: StateLetterStep) =>
  Effect.fnUntraced(
    function* ({ json, subjects: ids, ...given }: GivenStateLetters) {
      if (ids.length === 0) return yield* failed("Name at least one number.")
      const letters = yield* findEach(ids, findStateLetter)
      const kind: Kind<PayoutQueue["Service"], PayoutLetter, boolean, PayoutQueue> = {
        service: () => PayoutQueue,
        nameOf: ({ id }) => `${id}`,
        lineOf,
        countOf: countOfLetters,
        look: () => "payouts dead-letters",
        summaryOf: (_, { id }) => `${step.name} of ${id} was done.`,
        print: (done) =>
          write(
            done
              .map(([, { id }]) => (json ? jsonLine({ id, step: step.name }) : `${step.name} of ${id} was done.\n`))
              .join("")
          )
      }
      const isThere: StateLetterStep = {
        ...step,
        // Another process may have changed it meanwhile.
        take: (...all) => Effect.filterOrFail(step.take(...all), (isDone) => isDone, noStateLetter)
      }
      yield* takeStep(isThere, kind, letters, { ...given, note: Option.none(), own: {} })
    },
    // The line that says who took the step.
    Effect.provideService(References.MinimumLogLevel, "Info"),
    Effect.provide(layerQueue)
  )

export const takeLetterStep = (step: LetterStep) =>
  Effect.fnUntraced(
    function* ({ json, subjects: ids, webhook, ...given }: GivenLetters) {
      if (ids.length === 0) return yield* failed("Name at least one id.")
      const letters = yield* findEach(ids, (id) => findLetter(id, webhook))
      const now = yield* Clock.currentTimeMillis
      const kind: Kind<WebhookClient["Service"], StoredDelivery, boolean, SqlClient.SqlClient | Scope.Scope> = {
        service: (letter) => Effect.map(Layer.build(layerNamed(letter.webhook)), Context.get(WebhookClient)),
        nameOf: ({ id, transactionId = id }) => plain(transactionId),
        lineOf: (letter) => textOfLetter(letter, now),
        countOf: countOfLetters,
        look: ({ id }) => `webhooks show ${plain(id)}`,
        summaryOf: (_, { id }) => `${step.name} of ${plain(id)} was done.`,
        print: (done) =>
          write(
            done
              .map(([, { id, webhook: of }]) =>
                json ? jsonLine({ webhook: of, id, step: step.name }) : `${step.name} of ${plain(id)} was done.\n`
              )
              .join("")
          )
      }
      const isThere: LetterStep = {
        ...step,
        // Another process may have changed it meanwhile.
        take: (...all) => Effect.filterOrFail(step.take(...all), (isDone) => isDone, noLetter)
      }
      yield* takeStep(isThere, kind, letters, { ...given, note: Option.none(), own: {} })
    },
    // The line that says who took the step.
    Effect.provideService(References.MinimumLogLevel, "Info"),
    Effect.scoped,
    Effect.provide(layerClient("write"))
  )
