/**
 * Takes the steps of an operator. Each is taken in one way: what it is about is looked up and shown with the effect, the number and
 * the sum; a person confirms it; it is taken of one after the other; the result is printed.
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import type { StepOptions } from "../../../durable/Step.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { inBoth } from "../amount.ts"
import { stepFailed } from "../database.ts"
import { codes, Failed, failed } from "../exit.ts"
import { givenLang, join, type Label, say, text } from "../lang.ts"
import { tableOf } from "../list.ts"
import { note, write } from "../output.ts"
import { confirmed, perform } from "../perform.ts"
import { ageOf, jsonLine, plain, time } from "../text.ts"
import * as Describe from "./describe.ts"
import { findLetter, type Letter, lineOf as lineOfLetter, noLetter, type Source, sources } from "./letters.ts"
import { find, findNumbered, layerQueue, listPayouts, readAccount, readLate } from "./queue.ts"
import { adviceOf, findSentence, lineOf as lineOfSentence, shortOf } from "./sentences.ts"
import type {
  AccountStep,
  LetterStep,
  Payout,
  PayoutFlags,
  PayoutStep,
  SentenceStep,
  Step,
  Worded
} from "./stepShape.ts"
import { counted, states } from "./words.ts"

type StepError = { readonly _tag: string; readonly message: string }

/** What a step is about: payouts, the account, a sentence, or dead letters. */
interface About<Subject, Done, R, R2> {
  readonly name: string
  readonly subjects: ReadonlyArray<Subject>
  /** Why others are left out. */
  readonly leftOut?: ReadonlyArray<Failed>
  readonly take: (subject: Subject, why: StepOptions) => Effect.Effect<Done, StepError, R>
  readonly effect: (subject: Subject) => Label
  readonly nameOf: (subject: Subject) => string
  readonly lineOf: (subject: Subject) => Label
  /** How many they are, and their sum. */
  readonly countOf: (subjects: ReadonlyArray<Subject>) => Label
  /** The command that shows whether a step was taken. */
  readonly look: (subject: Subject) => string
  /** What was done, for stderr if stdout fails. */
  readonly doneOf: (done: Done, subject: Subject) => Label
  /** The lines of the result. */
  readonly print: (
    done: ReadonlyArray<readonly [Done, Subject]>,
    json: boolean
  ) => Effect.Effect<ReadonlyArray<string>, Failed, R2>
}

interface Given<Own> {
  readonly by: string
  readonly json: boolean
  readonly note: Option.Option<string>
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

const takeStep = Effect.fnUntraced(function* <Subject, Done, R, R2>(
  {
    countOf,
    doneOf,
    effect,
    leftOut = [],
    lineOf,
    look,
    name,
    nameOf,
    print,
    subjects,
    take
  }: About<Subject, Done, R, R2>,
  { by, json, note, yes }: Omit<Given<unknown>, "own">
) {
  const lang = yield* givenLang
  const why = { by, note: Option.getOrUndefined(note) }
  const takeOne = (subject: Subject) => Effect.mapError(take(subject, why), stepFailed(look(subject)))
  const judged = yield* Effect.forEach(subjects, (subject) => refusalOf(subject, takeOne(subject)))
  const [possible, refused] = [Arr.getSuccesses(judged), [...leftOut, ...Arr.getFailures(judged)]]
  // A warning about money that is shown for nothing is read less the next time.
  if (possible.length === 0) return yield* failed(messagesOf(refused), codes.Rejected)
  const failures: Array<Failed> = []
  const effects = Object.entries(Arr.groupBy(possible, (subject) => say(effect(subject), lang)))
  const count = (some: ReadonlyArray<Subject>) => say(countOf(some), lang)
  const question = `${name} ${possible.length === 1 ? possible.map(nameOf).join("") : count(possible)}?`
  /** Takes it of one after the other. What the database does not answer ends it, and names the rest. */
  const takeAll = Effect.gen(function* () {
    if (!yes) yield* confirmed(name, question)
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
      ...possible.map((subject) => say(lineOf(subject), lang)),
      ...effects.map(([words, some]) => [name, count(some), words].filter((part) => part !== "").join(": "))
    ].join("\n"),
    run: takeAll,
    summary: (done) => done.map((each) => say(doneOf(...each), lang)).join("\n"),
    print: (done) => Effect.flatMap(print(done, json), (lines) => write(lines.join("")))
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

const isNow = ({ reference, state }: PayoutStatus) =>
  text(`Payout ${plain(reference)} is ${state}.`, `Pagamento ${plain(reference)}: ${states[state].pt}.`)

/** A result that is one object of JSON, or lines for people. */
const oneOf = (json: boolean, data: unknown, lines: string) => [json ? jsonLine(data) : `${lines}\n`]

/** What a step does to a subject. */
const effectOf =
  <Subject, Own>(step: Step<Subject, Own>, own: Own) =>
  (subject: Subject): Label =>
    step.effect?.(subject, own, step) ?? step

type Named = { readonly subjects: ReadonlyArray<string> }

export const takePayoutStep = <Own extends PayoutFlags>(step: PayoutStep<Own>) =>
  Effect.fnUntraced(function* ({ subjects: references, ...given }: Given<Own> & Named) {
    const account = yield* readAccount
    const { late, statuses } = yield* selected(references, given.own)
    if (statuses.length + late.length === 0)
      return yield* note(`${step.name}: there is no such payout. Nothing was changed.`)
    const lineOf = ({ status }: Payout) => {
      const why = Describe.reasonOf(status)
      const [age, from] = [ageOf(status.submittedAt, account.now), time(status.notBefore)]
      return join(
        text("Payout ", "Pagamento "),
        `${plain(status.reference)}: ${inBoth(status.amount)}, `,
        join(states[status.state], why && ` (${why})`, text(`, submitted ${age} ago`, `, pedido há ${age}`)),
        from && text(`, not before ${from}`, `, não antes de ${from}`)
      )
    }
    const print = Effect.fnUntraced(function* (taken: ReadonlyArray<readonly [PayoutStatus, Payout]>, json: boolean) {
      const done = taken.map(([status]) => status)
      const view = { now: yield* Clock.currentTimeMillis, lang: yield* givenLang }
      if (json) return done.map((status) => jsonLine(Describe.dataOf(status)))
      if (statuses.length === 1) return done.map((status) => `${Describe.textOf(status, view)}\n`)
      const { head, lineOf } = tableOf(Describe.columnsAt(view), view.lang)
      return done.length === 0 ? [] : [head, ...done.map(lineOf)]
    })
    const about = {
      name: step.name,
      effect: effectOf(step, given.own),
      take: ({ status }: Payout, why: StepOptions) =>
        Effect.flatMap(PayoutQueue, (queue) => queue[step.name](status.reference, { ...why, as: given.own.as })),
      subjects: statuses.map((status): Payout => ({ status, isPaused: account.paused })),
      leftOut: late.map(leftOut),
      nameOf: ({ status }: Payout) => plain(status.reference),
      lineOf,
      countOf: (some: ReadonlyArray<Payout>) => Describe.textOfSum(Describe.sumOf(some.map(({ status }) => status))),
      look: ({ status }: Payout) => `payouts show ${plain(status.reference)}`,
      doneOf: isNow,
      print
    }
    yield* takeStep(about, given)
  }, Effect.provide(layerQueue))

export const takeAccountStep = <Own>(step: AccountStep<Own>) =>
  Effect.fnUntraced(function* (given: Given<Own>) {
    const lang = yield* givenLang
    const about = {
      name: step.name,
      effect: effectOf(step, given.own),
      take: (account: Describe.Account, why: StepOptions) =>
        Effect.flatMap(PayoutQueue, (queue) => step.take(queue, account, why, given.own)),
      subjects: [yield* readAccount],
      nameOf: ({ account }: Describe.Account) => `of ${account}`,
      lineOf: (account: Describe.Account) => Describe.textOfAccount(account, lang),
      countOf: () => "",
      look: () => "payouts list",
      doneOf: () => text(`${step.name} was done.`, `${step.name} foi feito.`),
      print: (done: ReadonlyArray<unknown>, json: boolean) =>
        done.length === 0
          ? Effect.succeed([])
          : Effect.map(readAccount, (account) =>
              oneOf(json, Describe.dataOfAccount(account), Describe.textOfAccount(account, lang))
            )
    }
    yield* takeStep(about, given)
  }, Effect.provide(layerQueue))

interface GivenSentence<Own> extends Given<Own> {
  readonly digest: string
}

export const takeSentenceStep = <Own>(step: SentenceStep<Own>) =>
  Effect.fnUntraced(function* ({ digest, ...given }: GivenSentence<Own>) {
    const as = step.asOf(given.own)
    const lang = yield* givenLang
    const about = {
      name: step.name,
      effect: effectOf(step, given.own),
      take: (sentence: Worded, why: StepOptions) =>
        Effect.flatMap(PayoutQueue, (queue) => step.take(queue, sentence, why, given.own)),
      subjects: [yield* findSentence(digest)],
      nameOf: shortOf,
      lineOf: lineOfSentence,
      countOf: (some: ReadonlyArray<Worded>) =>
        join(...some.map(({ amount, count }) => Describe.textOfSum({ count, centavos: BigInt(amount) }))),
      look: () => "payouts sentences",
      doneOf: ({ length }: ReadonlyArray<unknown>) => text(`${length} payout(s) were moved.`, `${length} mudaram.`),
      print: (done: ReadonlyArray<readonly [ReadonlyArray<PayoutStatus>, Worded]>, json: boolean) =>
        Effect.succeed(
          done.flatMap(([moved, sentence]) =>
            oneOf(
              json,
              { digest: sentence.digest, as, moved: moved.map((status) => Describe.dataOf(status)) },
              [...moved.map((status) => isNow(status)[lang]), adviceOf(sentence, as)[lang]].join("\n")
            )
          )
        )
    }
    yield* takeStep(about, given)
  }, Effect.provide(layerQueue))

interface GivenLetters extends Omit<Given<unknown>, "note" | "own">, Named {
  readonly webhook: Option.Option<string>
}

const takeLetter = <R>(source: Source<R>, { name, ...does }: LetterStep) =>
  Effect.fnUntraced(
    function* ({ subjects: ids, webhook, ...given }: GivenLetters) {
      if (ids.length === 0) return yield* failed("Name at least one id.")
      const lang = yield* givenLang
      const doneOf = (_: unknown, { id }: Letter) =>
        text(`${name} of ${plain(id)} was done.`, `${name} de ${plain(id)} foi feito.`)
      const about = {
        name,
        subjects: yield* findEach(ids, (id) => findLetter(source, id, webhook)),
        effect: () => does,
        // Another process may have changed it meanwhile.
        take: (letter: Letter, { by }: StepOptions) =>
          Effect.filterOrFail(source.take(name, letter, { by }), (isDone) => isDone, noLetter),
        nameOf: ({ id }: Letter) => plain(id),
        lineOf: lineOfLetter,
        countOf: ({ length }: ReadonlyArray<Letter>) => counted.letters(length),
        look: () => `${source.group} dead-letters`,
        doneOf,
        print: (done: ReadonlyArray<readonly [boolean, Letter]>, json: boolean) =>
          Effect.succeed(
            done.flatMap(([, letter]) =>
              oneOf(json, { id: letter.id, webhook: letter.webhook, step: name }, doneOf(true, letter)[lang])
            )
          )
      }
      yield* takeStep(about, { ...given, note: Option.none() })
    },
    // The line that says who took the step.
    Effect.provideService(References.MinimumLogLevel, "Info"),
    Effect.scoped,
    Effect.provide(source.layer("write"))
  )

export const takeLetterStep = (group: "payouts" | "webhooks", step: LetterStep) =>
  group === "payouts" ? takeLetter(sources.payouts, step) : takeLetter(sources.webhooks, step)
