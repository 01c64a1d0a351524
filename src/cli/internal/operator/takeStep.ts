/**
 * Takes the steps of an operator. Each is taken in one way: what it is about is looked up and shown with the effect, the number and
 * the sum; a person confirms it; it is taken of one after the other; the result is printed.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import type { StepOptions } from "../../../durable/Step.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { JudgedAs } from "../../../payouts/PayoutSentence.ts"
import type { PayoutStateConflict } from "../../../payouts/PayoutState.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { inBoth } from "../amount.ts"
import { stepFailed } from "../database.ts"
import { codes, Failed, failed } from "../exit.ts"
import { ago, givenLang, join, type Label, say, text, type Text } from "../lang.ts"
import { currentView } from "../list.ts"
import { note, write } from "../output.ts"
import { confirmed, perform } from "../perform.ts"
import { ageOf, jsonLine, plain, time } from "../text.ts"
import * as Describe from "./describe.ts"
import {
  findLetter,
  type Letter,
  lineOf as lineOfLetter,
  noLetter,
  type Source,
  sources,
  type StepError
} from "./letters.ts"
import { find, type Group, layerQueue, listPayouts, readAccount } from "./queue.ts"
import { adviceOf, findSentence, lineOf as lineOfSentence, shortOf, type Worded } from "./sentences.ts"
import { counted, states } from "./words.ts"

/** A step, which says in both languages what it does: for help, for the pages, and for the person who confirms it. */
export interface Step<Subject, Own> extends Text {
  readonly name: string
  /** What it does to a subject, where that depends on it or on the flags of the step. */
  readonly effect?: (subject: Subject, own: Own, does: Text) => Label
}

/** A payout, and whether the workers of its account are paused. */
type Payout = {
  readonly status: PayoutStatus
  readonly isPaused: boolean
}

/** The flags of a step about payouts. */
export interface PayoutFlags {
  readonly group?: Group | undefined
  /** The numbers of withdrawals, beside the references. */
  readonly withdrawals?: ReadonlyArray<number>
  readonly as?: "paid" | "failed" | "returned"
}

/** A step about payouts, which the queue has under its name. */
export interface PayoutStep<Own> extends Step<Payout, Own> {
  readonly name: PayoutStateConflict["operation"]
}

export interface AccountStep<Own> extends Step<Describe.Account, Own> {
  readonly take: (queue: PayoutQueue["Service"], why: StepOptions, own: Own) => Effect.Effect<void, StepError>
}

/** What a person says of a sentence, and the payout of it that the person looked up. */
export interface Judged {
  readonly as: JudgedAs
  readonly seen: string
}

/** A step with a dead letter, of the queue or of the webhooks. */
export interface LetterStep extends Step<unknown, unknown> {
  readonly name: "retry" | "discard"
}

/** What a step is about: payouts, the account, a sentence, or dead letters. */
interface About<Subject, Own, Done, R> {
  readonly step: Step<Subject, Own>
  readonly subjects: ReadonlyArray<Subject>
  readonly take: (subject: Subject, why: StepOptions) => Effect.Effect<Done, StepError, R>
  readonly nameOf: (subject: Subject) => string
  readonly lineOf: (subject: Subject) => Label
  /** How many they are, and their sum. */
  readonly countOf: (subjects: ReadonlyArray<Subject>) => Label
  /** The command that shows whether a step was taken. */
  readonly look: (subject: Subject) => string
  /** What was done, for people and for machines. */
  readonly doneOf: (done: Done, subject: Subject) => Label
  readonly dataOf: (done: Done, subject: Subject) => unknown
}

interface Given<Own> {
  readonly by: string
  readonly json: boolean
  readonly note?: string | undefined
  readonly own: Own
  readonly yes: boolean
}

const messagesOf = (failures: ReadonlyArray<Failed>): string => failures.map(({ message }) => message).join("\n")

/** Fails where a step would be refused: it is taken, and rolled back. A database that fails is no answer. */
const requirePossible = Effect.fnUntraced(function* <A, R>(step: Effect.Effect<A, Failed, R>) {
  const sql = yield* SqlClient.SqlClient
  const rolledBack = sql.withTransaction(Effect.flatMap(step, () => Effect.fail(undefined)))
  const why = yield* Effect.flip(Effect.provideService(rolledBack, References.MinimumLogLevel, "None"))
  if (why instanceof Failed && why.code === codes.Rejected) return yield* why
})

const takeStep = Effect.fnUntraced(function* <Subject, Own, Done, R>(
  { countOf, dataOf, doneOf, lineOf, look, nameOf, step, subjects, take }: About<Subject, Own, Done, R>,
  { by, json, note, own, yes }: Given<Own>
) {
  const { name } = step
  const lang = yield* givenLang
  const takeOne = (subject: Subject) => Effect.mapError(take(subject, { by, note }), stepFailed(look(subject)))
  const [possible, refused] = yield* Effect.partition(subjects, (subject) =>
    Effect.as(requirePossible(takeOne(subject)), subject)
  )
  // A warning about money that is shown for nothing is read less the next time.
  if (possible.length === 0) return yield* failed(messagesOf(refused), codes.Rejected)
  const effectOf = (subject: Subject) => say(step.effect?.(subject, own, step) ?? step, lang)
  const count = (some: ReadonlyArray<Subject>) => say(countOf(some), lang)
  const failures: Array<Failed> = []
  /** Takes it of one after the other. What the database does not answer ends it, and names the rest. */
  const takeAll = Effect.gen(function* () {
    if (!yes)
      yield* confirmed(name, `${name} ${possible.length === 1 ? possible.map(nameOf).join("") : count(possible)}?`)
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
  const linesOf = (done: ReadonlyArray<readonly [Done, Subject]>) =>
    done.map((each) => `${say(doneOf(...each), lang)}\n`).join("")
  yield* perform({
    plan: [
      ...refused.map(({ message }) => message),
      ...possible.map((subject) => say(lineOf(subject), lang)),
      ...Object.entries(Arr.groupBy(possible, effectOf)).map(([words, some]) =>
        [name, count(some), words].filter((part) => part !== "").join(": ")
      )
    ].join("\n"),
    run: takeAll,
    summary: linesOf,
    print: (done) => write(json ? done.map((each) => jsonLine(dataOf(...each))).join("") : linesOf(done))
  })
  // What was refused was named before the question.
  const all = [...failures, ...refused]
  if (all.length > 0) return yield* failed(messagesOf(failures), Math.max(...all.map(({ code }) => code)))
})

/** What has these names, or a failure that names each that was not found. */
const findEach = Effect.fnUntraced(function* <Name, A, R>(
  names: ReadonlyArray<Name>,
  find: (name: Name) => Effect.Effect<A, Failed, R>
) {
  const [found, unknown] = yield* Effect.partition(new Set(names), find)
  if (unknown.length === 0) return found
  const messages = [...unknown.map(({ message }) => message), "Nothing was changed."]
  return yield* failed(messages.join("\n"), Math.max(...unknown.map(({ code }) => code)))
})

/** The payouts of a step, in the order in which they were named or submitted. */
const selected = Effect.fnUntraced(function* (named: ReadonlyArray<string>, { group, withdrawals = [] }: PayoutFlags) {
  const keys = [...named, ...withdrawals]
  if (keys.length > 0 === (group !== undefined))
    return yield* failed("Name the payouts by their references, or give one flag that finds them.")
  return group === undefined
    ? Arr.dedupeWith(yield* findEach(keys, find), (one, other) => one.reference === other.reference)
    : yield* Stream.runCollect(listPayouts(group.states, group.filter))
})

const isNow = ({ reference, state }: PayoutStatus) =>
  text(`Payout ${plain(reference)} is ${state}.`, `Pagamento ${plain(reference)}: ${states[state].pt}.`)

type Named = { readonly subjects: ReadonlyArray<string> }

export const takePayoutStep = <Own extends PayoutFlags>(step: PayoutStep<Own>) =>
  Effect.fnUntraced(function* ({ subjects: references, ...given }: Given<Own> & Named) {
    const { paused: isPaused } = yield* readAccount
    const statuses = yield* selected(references, given.own)
    if (statuses.length === 0) return yield* note(`${step.name}: there is no such payout. Nothing was changed.`)
    const { now } = yield* currentView
    const about: About<Payout, Own, PayoutStatus, PayoutQueue> = {
      step,
      subjects: statuses.map((status) => ({ status, isPaused })),
      take: ({ status }, why) =>
        Effect.flatMap(PayoutQueue, (queue) => queue[step.name](status.reference, { ...why, as: given.own.as })),
      nameOf: ({ status }) => plain(status.reference),
      lineOf: ({ status }) => {
        const [why, from] = [Describe.reasonOf(status), time(status.notBefore)]
        return join(
          text("Payout ", "Pagamento "),
          `${plain(status.reference)}: ${inBoth(status.amount)}, `,
          join(states[status.state], why && ` (${why})`, text(", submitted ", ", pedido ")),
          join(ago(ageOf(status.submittedAt, now)), from && text(`, not before ${from}`, `, não antes de ${from}`))
        )
      },
      countOf: (some) => Describe.textOfSum(Describe.sumOf(some.map(({ status }) => status))),
      look: ({ status }) => `payouts show ${plain(status.reference)}`,
      doneOf: isNow,
      dataOf: Describe.dataOf
    }
    yield* takeStep(about, given)
  }, Effect.provide(layerQueue))

export const takeAccountStep = <Own>(step: AccountStep<Own>) =>
  Effect.fnUntraced(function* (given: Given<Own>) {
    const view = yield* currentView
    // It was taken: what then cannot be read is in doubt as what the database does not answer.
    const after = Effect.mapError(readAccount, ({ message }) => ({ _tag: "DatabaseError", message }))
    const about: About<Describe.Account, Own, Describe.Account, PayoutQueue> = {
      step,
      subjects: [yield* readAccount],
      take: (_, why) => PayoutQueue.use((queue) => Effect.andThen(step.take(queue, why, given.own), after)),
      nameOf: ({ account }) => `of ${account}`,
      lineOf: (account) => Describe.textOfAccount(account, view),
      countOf: () => "",
      look: () => "payouts list",
      doneOf: (account) => Describe.textOfAccount(account, view),
      dataOf: Describe.dataOfAccount
    }
    yield* takeStep(about, given)
  }, Effect.provide(layerQueue))

export const takeJudgement = (step: Step<Worded, Judged>) =>
  Effect.fnUntraced(function* ({ digest, ...given }: Given<Judged> & { readonly digest: string }) {
    const { as } = given.own
    const lang = yield* givenLang
    const about: About<Worded, Judged, ReadonlyArray<PayoutStatus>, PayoutQueue> = {
      step,
      subjects: [yield* findSentence(digest)],
      take: (sentence, { by = "", note }) =>
        PayoutQueue.use((queue) => queue.judge(sentence.digest, { ...given.own, by, note })),
      nameOf: shortOf,
      lineOf: lineOfSentence,
      countOf: (some) =>
        join(...some.map(({ amount, count }) => Describe.textOfSum({ count, centavos: BigInt(amount) }))),
      look: () => "payouts sentences",
      doneOf: (moved, sentence) =>
        [...moved.map((status) => isNow(status)[lang]), adviceOf(sentence, as)[lang]].join("\n"),
      dataOf: (moved, { digest }) => ({ digest, as, moved: moved.map((status) => Describe.dataOf(status)) })
    }
    yield* takeStep(about, given)
  }, Effect.provide(layerQueue))

interface GivenLetters extends Omit<Given<unknown>, "note" | "own">, Named {
  readonly webhook: string | undefined
}

const takeLetter = <R>(source: Source<R>, step: LetterStep) =>
  Effect.fnUntraced(
    function* ({ subjects: ids, webhook, ...given }: GivenLetters) {
      if (ids.length === 0) return yield* failed("Name at least one id.")
      const about = {
        step,
        subjects: yield* findEach(ids, (id) => findLetter(source, id, webhook)),
        // Another process may have changed it meanwhile.
        take: (letter: Letter, { by }: StepOptions) =>
          Effect.filterOrFail(source.take(step.name, letter, { by }), (isDone) => isDone, noLetter),
        nameOf: ({ id }: Letter) => plain(id),
        lineOf: lineOfLetter,
        countOf: ({ length }: ReadonlyArray<Letter>) => counted.letters(length),
        look: () => `${source.group} dead-letters`,
        doneOf: (_: boolean, { id }: Letter) =>
          text(`${step.name} of ${plain(id)} was done.`, `${step.name} de ${plain(id)} foi feito.`),
        dataOf: (_: boolean, { id, webhook }: Letter) => ({ id, webhook, step: step.name })
      }
      yield* takeStep(about, { ...given, own: undefined })
    },
    // The line that says who took the step.
    Effect.provideService(References.MinimumLogLevel, "Info"),
    Effect.scoped,
    Effect.provide(source.layer("write"))
  )

export const takeLetterStep = (group: "payouts" | "webhooks", step: LetterStep) =>
  group === "payouts" ? takeLetter(sources.payouts, step) : takeLetter(sources.webhooks, step)
