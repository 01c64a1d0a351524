/**
 * What an answer that is not to be relied on shows of the charge or the withdrawal: enough to find it, and nobody's data.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Seen } from "../../../contract/PaymentsError.ts"
import { withoutAccents } from "../../../internal/withoutAccents.ts"
import type { Secret } from "../words/secrets.ts"

/** Where an answer shows them: names from the outermost in. */
export interface Places {
  readonly id: ReadonlyArray<string>
  readonly value: ReadonlyArray<string>
  readonly status: ReadonlyArray<string>
}

/** What a member has to look like to be shown: ten digits in a row may be a person's document or phone. */
const looks = {
  id: /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?!.*\d{10})[\w-]{1,64})$/i,
  value: /^-?\d{1,9}(?:\.\d{1,4})?$/,
  status: /^\p{L}(?!.*\d{10})[\p{L}\d_ -]{0,39}$/u
} as const

const at = (json: unknown, place: ReadonlyArray<string>): string => {
  const found = place.reduce<unknown>((value, name) => (Predicate.hasProperty(value, name) ? value[name] : ""), json)
  return typeof found === "string" || typeof found === "number" ? String(found) : ""
}

/** Reads them from the text of the answer. */
export const seenIn = (text: string, places: Places, parse: (text: string) => unknown): Seen => {
  const json = Result.getOrUndefined(Result.try((): unknown => parse(text)))
  const member = (name: keyof Places) => {
    const found = at(json, places[name])
    return looks[name].test(found) ? { [name]: found } : {}
  }
  return { ...member("id"), ...member("value"), ...member("status") }
}

const fold = (text: string) =>
  withoutAccents(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")

/** How short a secret may be that is looked for. */
const minSecret = 4
/** How many letters and digits in a row are a part of one. */
const run = 8

/** Leaves out what is, holds or is a part of something that must not be shown. */
export const withoutSecrets = (seen: Seen, secrets: ReadonlyArray<Secret>): Seen | undefined => {
  const hidden = secrets.map(({ text }) => fold(text)).filter((text) => text.length >= minSecret)
  const isHidden = (value: string) =>
    hidden.some((text) => {
      if (value.includes(text)) return true
      for (let at = 0; at + run <= value.length; at++) if (text.includes(value.slice(at, at + run))) return true
      return false
    })
  const visible = (name: keyof Seen) => {
    const value = seen[name]
    return value === undefined || isHidden(fold(value)) ? {} : { [name]: value }
  }
  const shown: Seen = { ...visible("id"), ...visible("value"), ...visible("status") }
  return Object.keys(shown).length === 0 ? undefined : shown
}
