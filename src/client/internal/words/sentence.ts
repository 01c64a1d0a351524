/**
 * What a refusal says, apart from its request and its status; and the digest by which a person judges it once for all that are alike.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import type { Operation } from "../../../contract/Endpoints.ts"
import { mark, maskWhole } from "../../../internal/mask.ts"
import { fold, type Reason } from "./phrases.ts"

/** The phrases of HTTP, by their status: a refusal that only repeats its own has no words. */
const statusPhrases = new Set(
  `400 bad request, 401 unauthorized, 402 payment required, 403 forbidden, 404 not found, 404 page not found, 404 default backend,
  405 method not allowed, 406 not acceptable, 409 conflict, 410 gone, 411 length required, 412 precondition failed,
  413 payload too large, 413 content too large, 413 request entity too large, 414 uri too long,
  415 unsupported media type, 416 range not satisfiable, 417 expectation failed, 418 i m a teapot,
  421 misdirected request, 422 unprocessable entity, 422 unprocessable content, 426 upgrade required,
  428 precondition required, 429 too many requests, 431 request header fields too large,
  451 unavailable for legal reasons`
    .split(",")
    .map((phrase) => phrase.trim())
)

const beside: ReadonlySet<string> = new Set(["http", "error", "erro", "status", "code"])

/** Whether a text has no word but those of its status: the number, the phrase and a word such as `error`. */
export const isStatusPhrase = (text: string, status: number): boolean => {
  const parts = fold({ text: text.replaceAll(String(status), " "), isCode: false }).split(" ")
  const words = parts.filter((word) => word !== "" && word !== "|" && !beside.has(word)).join(" ")
  return words === "" || statusPhrases.has(`${status} ${words}`)
}

/** The texts, folded, without the values that the request has. */
export const withoutValues = (said: ReadonlyArray<Reason>, values: ReadonlyArray<string>): ReadonlyArray<string> => {
  const sent = values.map((text) => fold({ text, isCode: false })).filter((words) => /[^ |#]/.test(words))
  return said.map((reason) => sent.reduce((text, words) => text.replaceAll(words, " # "), fold(reason)))
}

/**
 * The digest of a sentence: of its operation, its status and its words, masked and folded. What varies from request to request is one
 * `#`. None of a refusal without words: nobody could judge it.
 */
export const digestOf = (
  operation: Operation,
  status: number,
  said: ReadonlyArray<Reason>,
  secrets: ReadonlyArray<string>
): string | undefined => {
  const texts = said.map(({ isCode, text }) =>
    fold({ isCode, text: maskWhole(text, () => secrets).replaceAll(mark, " 0 ") })
      .replaceAll(" | ", "")
      .replaceAll(/(?: # )+/g, " # ")
  )
  const words = texts.filter((text) => /[^ #]/.test(text))
  return words.length === 0 ? undefined : bytesToHex(sha256(utf8ToBytes([operation, status, ...texts].join("\n"))))
}
