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
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { WebhookClient } from "../../../webhook/Webhook.ts"
import { inBoth } from "../amount.ts"
import { stepFailed } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"
import { whyOf, type Words } from "../flags.ts"
import { tableOf } from "../list.ts"
import { note, write, writeResult } from "../output.ts"
import { perform } from "../perform.ts"
import { ageOf, jsonLine, plain } from "../text.ts"
import { findLetter, layerClient, layerNamed, noLetter, textOf as textOfLetter } from "./deadLetters.ts"
import { columnsAt, dataOf, reasonOf, sumOf, textOf, textOfSum, waitsForSecond } from "./describe.ts"
import { find, layerQueue, listPayouts, readAccount } from "./queue.ts"
import type { AccountStep, LetterStep, PayoutStep } from "./step.ts"

/** A step that is ready to be confirmed and taken. */
interface Ready<Subject, Done, R> {
  readonly name: string
  readonly yes: boolean
  readonly subjects: ReadonlyArray<Subject>
  readonly nameOf: (subject: Subject) => string
  readonly lineOf: (subject: Subject) => string
  readonly effectOf: (subject: Subject) => string
  /** The number and the sum; nothing for a single subject of its kind, as an account. */
  readonly countOf: (subjects: ReadonlyArray<Subject>) => string
  readonly take: (subject: Subject) => Effect.Effect<Done, Failed, R>
  readonly textOf: (done: Done) => string
  readonly print: (done: Arr.NonEmptyReadonlyArray<Done>) => Effect.Effect<void, Failed>
}

/** Takes the step of one subject after the other. What the database does not answer ends it, and names the rest. */
const takeAll = Effect.fnUntraced(function* <Subject, Done, R>({
  name,
  nameOf,
  subjects,
  take
}: Ready<Subject, Done, R>) {
  const done: Array<Done> = []
  const failures: Array<Failed> = []
  for (const [index, subject] of subjects.entries()) {
    const taken = yield* Effect.result(take(subject))
    if (Result.isSuccess(taken)) {
      done.push(taken.success)
      continue
    }
    failures.push(taken.failure)
    if (taken.failure.code === codes.Rejected) continue
    const rest = subjects.slice(index + 1).map((one) => nameOf(one))
    if (rest.length > 0) failures.push(failed(`${name} was not tried for: ${rest.join(", ")}`, codes.Rejected))
    break
  }
  return { done, failures }
})

const takeStep = Effect.fnUntraced(function* <Subject, Done, R>(step: Ready<Subject, Done, R>) {
  const { countOf, effectOf, lineOf, name, nameOf, print, subjects, textOf, yes } = step
  const effects = Object.entries(Arr.groupBy(subjects, effectOf))
  const counted = (some: ReadonlyArray<Subject>) => (countOf(some) === "" ? "" : `${countOf(some)}: `)
  const { failures } = yield* perform({
    plan: [...subjects.map(lineOf), ...effects.map(([effect, some]) => `${name}: ${counted(some)}${effect}`)].join(
      "\n"
    ),
    confirm: {
      noun: name,
      question: `${name} ${subjects.length === 1 ? subjects.map(nameOf).join("") : countOf(subjects)}?`,
      unconfirmed: "Nothing was changed.",
      yes
    },
    run: takeAll(step),
    summary: ({ done }) => done.map(textOf).join("\n"),
    print: ({ done }) => (Arr.isReadonlyArrayNonEmpty(done) ? print(done) : Effect.void)
  })
  const [worst] = failures.toSorted((one, other) => other.code - one.code)
  if (worst !== undefined) return yield* failed(failures.map(({ message }) => message).join("\n"), worst.code)
})

/** The results of all, or a failure that names each that was not found. */
const findEach = Effect.fnUntraced(function* <A, R>(
  names: ReadonlyArray<string>,
  find: (name: string) => Effect.Effect<A, Failed, R>
) {
  const results = yield* Effect.forEach([...new Set(names)], (name) => Effect.result(find(name)))
  const [found, unknown] = Arr.separate(results)
  const unread = unknown.find(({ code }) => code !== codes.Rejected)
  if (unknown.length === 0) return found
  const messages = [...unknown.map(({ message }) => message), "Nothing was changed."].join("\n")
  return yield* unread ?? failed(messages, codes.Rejected)
})

interface Given<Own> extends Words {
  readonly json: boolean
  readonly own: Own
  readonly yes: boolean
}

/** The payouts of a step: named by their references, or found by its flag, in the order in which they were named or submitted. */
const selected = Effect.fnUntraced(function* <Own>(
  { group }: PayoutStep<Own>,
  references: ReadonlyArray<string>,
  own: Own
) {
  const given = Option.getOrUndefined(group?.[1](own) ?? Option.none())
  if (references.length > 0 === (given !== undefined)) {
    return yield* failed(
      group === undefined ? "Name at least one reference." : `Choose the payouts by one of references, ${group[0]}.`
    )
  }
  if (given === undefined) return yield* findEach(references, find)
  return yield* Stream.runCollect(Stream.filter(listPayouts(given.states), given.has))
})

export const takePayoutStep = <Own>(step: PayoutStep<Own>) =>
  Effect.fnUntraced(function* ({
    json,
    own,
    references,
    yes,
    ...words
  }: Given<Own> & { readonly references: ReadonlyArray<string> }) {
    const queue = yield* PayoutQueue
    const { name } = step
    const statuses = yield* selected(step, references, own)
    if (statuses.length === 0) return yield* note(`${name}: there is no such payout. Nothing was changed.`)
    const { now, paused: isPaused } = yield* readAccount
    const lineOf = (status: PayoutStatus) => {
      const why = reasonOf(status)
      return `Payout ${plain(status.reference)}: ${inBoth(status.amount)}, ${status.state}${why === "" ? "" : ` (${why})`}, submitted ${ageOf(status.submittedAt, now)} ago`
    }
    yield* takeStep({
      name,
      yes,
      subjects: statuses,
      nameOf: ({ reference }) => plain(reference),
      lineOf,
      effectOf: (status) => step.effect({ status, isPaused }, own),
      countOf: (some) => textOfSum(sumOf(some)),
      take: ({ reference }) =>
        Effect.mapError(step.take(queue, reference, whyOf(words), own), stepFailed(`payouts show ${plain(reference)}`)),
      textOf: ({ reference, state }) => `Payout ${plain(reference)} is ${state}.`,
      print: Effect.fnUntraced(function* (done) {
        const asked = done.filter((status) => status.asked !== undefined)
        if (asked.length > 0) yield* note(`${textOfSum(sumOf(asked))}: ${waitsForSecond(name)}`)
        const after = yield* Clock.currentTimeMillis
        if (statuses.length === 1) return yield* writeResult(json, dataOf(done[0]), textOf(done[0], after))
        const { head, lineOf: rowOf } = tableOf(columnsAt(after))
        yield* write(json ? done.map((status) => jsonLine(dataOf(status))).join("") : head + done.map(rowOf).join(""))
      })
    })
  }, Effect.provide(layerQueue))

export const takeAccountStep = <Own>(step: AccountStep<Own>) =>
  Effect.fnUntraced(function* ({ json, own, yes, ...words }: Given<Own>) {
    const queue = yield* PayoutQueue
    const account = yield* readAccount
    const { name } = step
    const textOf = (done: "Changed" | "Asked" | void) =>
      done === "Asked" ? waitsForSecond(name) : step.after(account, own)
    yield* takeStep({
      name,
      yes,
      subjects: [account],
      nameOf: () => `of ${account.account}`,
      lineOf: () => step.before(account, own),
      effectOf: () => step.effect(account, own),
      countOf: () => "",
      take: () => Effect.mapError(step.take(queue, whyOf(words), own), stepFailed("payouts list")),
      textOf,
      print: ([done]) =>
        writeResult(json, { account: account.account, step: done ?? "Changed", ...step.data(own) }, textOf(done))
    })
  }, Effect.provide(layerQueue))

interface GivenLetters {
  readonly by: string
  readonly ids: ReadonlyArray<string>
  readonly json: boolean
  readonly webhook: Option.Option<string>
  readonly yes: boolean
}

export const takeLetterStep = (step: LetterStep) =>
  Effect.fnUntraced(
    function* ({ by, ids, json, webhook, yes }: GivenLetters) {
      if (ids.length === 0) return yield* failed("Name at least one id.")
      const letters = yield* findEach(ids, (id) => findLetter(id, webhook))
      const now = yield* Clock.currentTimeMillis
      yield* takeStep({
        name: step.name,
        yes,
        subjects: letters,
        nameOf: ({ id, transactionId = id }) => plain(transactionId),
        lineOf: (letter) => textOfLetter(letter, now),
        effectOf: () => step.effect,
        countOf: (some) => `${some.length} dead letter${some.length === 1 ? "" : "s"}`,
        take: (letter) =>
          Effect.flatMap(WebhookClient, (webhooks) =>
            Effect.mapError(step.take(webhooks, letter, by), stepFailed(`webhooks show ${plain(letter.id)}`))
          ).pipe(
            // Another process changed it meanwhile.
            Effect.filterOrFail((isDone) => isDone, noLetter),
            Effect.provide(layerNamed(letter.webhook)),
            // The line that says who took the step.
            Effect.provideService(References.MinimumLogLevel, "Info"),
            Effect.as(letter)
          ),
        textOf: () => step.after,
        print: (done) => {
          const lines = done.map(({ id, webhook }) =>
            json ? jsonLine({ webhook, id, step: step.name }) : `${step.after}\n`
          )
          return write(lines.join(""))
        }
      })
    },
    Effect.provide(layerClient("write"))
  )
