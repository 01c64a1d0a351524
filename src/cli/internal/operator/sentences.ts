/** Runs `effect-pix payouts sentences`, and finds the sentence that is judged. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutSentence } from "../../../payouts/PayoutSentence.ts"
import { notRead } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { join, text, type Text } from "../lang.ts"
import { type Columns, type Format, printCounted } from "../list.ts"
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
export const adviceOf = (sentence: Worded, as: "refused" | "wait"): Text =>
  join(
    text("In your program: ", "No seu programa: "),
    plain(`GatewayFacts.layer({ refusals: [${entryOf(sentence, as)}] })`)
  )

/** A sentence in a line. */
export const lineOf = (sentence: Worded): Text => {
  const { amount, code, count, judgement, reference, status, words } = sentence
  const [as, by] = [judgement?.as ?? "", plain(judgement?.by ?? "-")]
  const said = plain(`${words === undefined ? "" : ` "${words}"`}: HTTP ${status ?? "?"}`)
  return join(
    text(`Sentence ${shortOf(sentence)}`, `Frase ${shortOf(sentence)}`),
    said + (code === undefined ? "" : plain(`, code ${code}`)),
    join(", ", textOfSum({ count, centavos: BigInt(amount) }), text(", as ", ", como "), plain(reference)),
    judgement === undefined ? "" : text(`, judged as ${as} by ${by}`, `, julgada como ${as} por ${by}`)
  )
}

const columnsAt = (now: number): Columns<Worded> => ({
  noun: text("sentence(s)", "frase(s)"),
  columns: [
    [({ digest }) => digest, "digest"],
    [shortOf, undefined, "DIGEST", 12],
    [({ count }) => count, text("payouts", "pagamentos"), text("PAYOUTS", "PAGAMENTOS"), -10],
    [({ amount }) => amount, text("amount", "valor")],
    [({ amount }) => inReais(BigInt(amount)), undefined, text("SUM", "SOMA"), -16],
    [({ since }) => ageOf(since, now), undefined, text("SINCE", "HÁ"), -8],
    [({ since }) => since, text("since", "desde")],
    [({ status }) => status ?? "", "status", "HTTP", -4],
    [
      ({ judgement, oneByOne }) => judgement?.as ?? (oneByOne === true ? "each" : ""),
      text("judged", "julgada"),
      text("JUDGED", "JULGADA"),
      8
    ],
    [({ reference }) => reference, text("reference", "referencia"), text("LOOK UP", "CONSULTAR"), 20],
    [({ code, words }) => words ?? code ?? "", text("words", "palavras"), text("WORDS", "PALAVRAS")]
  ],
  json: (sentence) => sentence
})

export const listSentences = Effect.fnUntraced(function* (format: Format) {
  const found = Stream.unwrap(Effect.map(sentences, (all) => Stream.fromIterable(all)))
  yield* printCounted(found, columnsAt(yield* Clock.currentTimeMillis), format)
}, Effect.provide(layerReading))
