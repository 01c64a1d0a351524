/**
 * Reads the id, the amount and the status of the charge or the withdrawal from an answer that does not count as a
 * success. They help to find it, and are no personal data.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Seen } from "../../../contract/PaymentsError.ts"
import { displayMessage, holdsPart } from "../../../internal/mask.ts"
import { opaqueId } from "../../../internal/wire.ts"

/** The paths of the three values in an answer: the names of the members, the outermost first. */
export interface SeenPaths {
  readonly id: ReadonlyArray<string>
  /** Whether the id has the form of a charge's. Default: it has no ten digits in a row. */
  readonly isOpaque?: boolean
  readonly value: ReadonlyArray<string>
  readonly status: ReadonlyArray<string>
}

/** The pattern that a value must match to be shown. Ten digits in a row may be a person's document or phone. */
const patterns = {
  id: /^(?!\d{10,}$|[\d_-]{10,19}$)[\w-]{1,64}$/,
  value: /^-?\d{1,9}(?:\.\d{1,4})?$/,
  status: /^\p{L}(?!.*\d{10})[\p{L}\d_ -]{0,39}$/u
} as const

const at = (json: unknown, path: ReadonlyArray<string>): string => {
  const found = path.reduce<unknown>((value, name) => (Predicate.hasProperty(value, name) ? value[name] : ""), json)
  return typeof found === "string" || typeof found === "number" ? String(found) : ""
}

/** Reads the three values from the text of an answer. */
export const seenIn = (text: string, paths: SeenPaths, parse: (text: string) => unknown): Seen => {
  const json = Result.getOrUndefined(Result.try((): unknown => parse(text)))
  const member = (name: "id" | "value" | "status") => {
    const found = at(json, paths[name])
    const pattern = name === "id" && paths.isOpaque === true ? opaqueId : patterns[name]
    return pattern.test(found) ? { [name]: found } : {}
  }
  return { ...member("id"), ...member("value"), ...member("status") }
}

const isShownWhole = (words: string, secrets: ReadonlyArray<string>) => displayMessage(words, () => secrets) === words

/** Removes each value that is a secret, holds a secret or holds a part of one, and a status that is not of plain words. */
export const withoutSecrets = (seen: Seen, secrets: ReadonlyArray<string>): Seen | undefined => {
  const isShown = ([name, value]: readonly [string, string]) =>
    !holdsPart(value, secrets) && (name !== "status" || isShownWhole(value.replaceAll(/[_-]+/g, " ").trim(), secrets))
  const shown = Object.entries<string>({ ...seen }).filter(isShown)
  return shown.length === 0 ? undefined : Object.fromEntries(shown)
}
