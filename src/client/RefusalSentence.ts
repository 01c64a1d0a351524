/** What a refusal is known by: its code and its digest, as a person types or judges it. No export of the package. */
import type { Operation } from "../contract/Endpoints.ts"
import { displayCode } from "../internal/mask.ts"
import { readServiceMessage } from "./internal/words/serviceMessage.ts"
import { digestOf } from "./internal/words/sentence.ts"

/** `undefined` for one without words. `secrets` are values that the answer may repeat. */
export const refusalSentence = (operation: Operation, status: number, body: string, secrets: ReadonlyArray<string>) => {
  const { code = "", said } = readServiceMessage(body, status)
  const digest = digestOf(operation, status, said, secrets)
  return digest === undefined ? undefined : { code: displayCode(code, () => secrets), digest }
}
