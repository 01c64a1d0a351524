/** Runs `effect-pix payouts sentences`, and finds the sentence that is judged. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutSentence } from "../../../payouts/PayoutSentence.ts"
import { notRead } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { type Columns, type Format, printList } from "../list.ts"
import { hasReader, note } from "../output.ts"
import { ageOf, plain } from "../text.ts"
import { layerReading, whatIsSealed } from "./queue.ts"
import type { Worded } from "./stepShape.ts"
import { inReais, textOfSum } from "./describe.ts"

const worded = (sentence: PayoutSentence) =>
  Effect.map(
    Effect.orElseSucceed(whatIsSealed(sentence.reference), () => undefined),
    (sealed): Worded => ({ ...sentence, words: sealed?.reason })
  )

const sentences = Effect.flatMap(PayoutQueue, (queue) =>
  Effect.flatMap(Effect.mapError(queue.sentences, notRead), (all) => Effect.forEach(all, worded))
)

/** The sentence of a digest, or of the first characters of one. */
export const findSentence = (digest: string) =>
  Effect.flatMap(sentences, (all) => {
    const found = all.filter((one) => digest.length >= 8 && one.digest.startsWith(digest))
    return found[0] === undefined || found.length > 1
      ? failed(
          "No one sentence of this account has this digest. See effect-pix payouts sentences. Nothing was changed.",
          codes.Rejected
        )
      : Effect.succeed(found[0])
  })

export const shortOf = ({ digest }: PayoutSentence): string => digest.slice(0, 12)

/** The entry of a program that knows the sentence. */
const entryOf = ({ code, status, words }: Worded, as: "refused" | "wait"): string => {
  const phrase = code ?? words ?? "its words or its code"
  const cause = as === "refused" ? "RequestRejected" : "LimitReached"
  return `{ cause: "${cause}", phrases: [${JSON.stringify(phrase)}]${status === undefined ? "" : `, statuses: [${status}]`} }`
}

/** What a person does with the sentence for good. */
export const adviceOf = (sentence: Worded, as: "refused" | "wait"): string =>
  plain(`In your program: GatewayFacts.layer({ refusals: [${entryOf(sentence, as)}] })`)

/** A sentence in a line. */
export const lineOf = (sentence: Worded): string => {
  const { amount, code, count, judgement, reference, status, words } = sentence
  const said = words === undefined ? "" : ` "${words}"`
  const judged = judgement === undefined ? "" : `, judged as ${judgement.as} by ${judgement.by ?? "nobody"}`
  return plain(
    `Sentence ${shortOf(sentence)}${said}: HTTP ${status ?? "?"}${code === undefined ? "" : `, code ${code}`}, ${textOfSum({ count, centavos: BigInt(amount) })}, as ${reference}${judged}`
  )
}

const columnsAt = (now: number): Columns<Worded> => ({
  noun: "sentences",
  table: {
    DIGEST: [12, shortOf],
    PAYOUTS: [-7, ({ count }) => `${count}`],
    SUM: [-16, ({ amount }) => inReais(BigInt(amount))],
    SINCE: [-8, ({ since }) => ageOf(since, now)],
    HTTP: [-4, ({ status }) => `${status ?? "?"}`],
    JUDGED: [8, ({ judgement, oneByOne }) => judgement?.as ?? (oneByOne === true ? "each" : "")],
    "LOOK UP": [20, ({ reference }) => reference],
    WORDS: [0, ({ code, words }) => words ?? code ?? ""]
  },
  csv: {
    digest: ({ digest }) => digest,
    payouts: ({ count }) => count,
    amount: ({ amount }) => amount,
    since: ({ since }) => since,
    status: ({ status }) => status ?? "",
    judged: ({ judgement }) => judgement?.as ?? "",
    reference: ({ reference }) => reference,
    words: ({ words }) => words ?? ""
  },
  json: (sentence) => ({ ...sentence })
})

export const list = Effect.fnUntraced(function* (format: Format) {
  const found = Stream.unwrap(Effect.map(sentences, (all) => Stream.fromIterable(all)))
  const count = yield* printList(found, columnsAt(yield* Clock.currentTimeMillis), format)
  if (hasReader()) yield* note(`${count} sentence(s)`)
}, Effect.provide(layerReading))
