/** Runs `effect-pix payouts sentences`, and finds the sentence that is judged. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import type { PayoutSentence } from "../../../payouts/PayoutSentence.ts"
import * as Money from "../../../pix/Money.ts"
import { notRead } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { join, text, type Text } from "../lang.ts"
import { type Columns, type Format, printCounted } from "../list.ts"
import { plain } from "../text.ts"
import { layerReading, whatIsSealed } from "./queue.ts"
import { textOfSum } from "./describe.ts"

/** A sentence with its words, where the key of the program's seal is given. */
export interface Worded extends PayoutSentence {
  readonly words: string | undefined
}

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

const columns: Columns<Worded> = {
  noun: text("sentence(s)", "frase(s)"),
  columns: [
    ["Digest", ({ digest }) => digest],
    ["", shortOf, 12, "Digest"],
    [text("Payouts", "Pagamentos"), ({ count }) => count, -10],
    [text("Amount reais", "Valor reais"), ({ amount }) => Money.toReais(amount), -16, text("Sum", "Soma")],
    [text("Since", "Desde"), ({ since }) => since, -8],
    ["Status", ({ status }) => status, -4, "HTTP"],
    [
      text("Judged", "Julgada"),
      ({ judgement, oneByOne }) => judgement?.as ?? (oneByOne === true ? text("each", "cada") : ""),
      8
    ],
    [text("Reference", "Referência"), ({ reference }) => reference, 20, text("Look up", "Consultar")],
    [text("Words", "Palavras"), ({ code, words }) => words ?? code, 0]
  ],
  json: (sentence) => sentence
}

export const listSentences = (format: Format) =>
  printCounted(Stream.fromIterableEffect(sentences), columns, format).pipe(Effect.provide(layerReading))
