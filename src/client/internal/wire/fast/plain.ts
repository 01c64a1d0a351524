/**
 * What the hand-shaped readers and writers have in common. Each gives what its schema would give, or `undefined`, which
 * means "ask the schema": for all that is not plain, and for all that is wrong. So the schema decides.
 */
import type * as DateTime from "effect/DateTime"
import { plainMillis, utc } from "../../../../internal/utc.ts"
import type { Centavos } from "../../../../pix/Money.ts"

/** An object that is built field by field. */
export type Building<A> = { -readonly [Name in keyof A]?: A[Name] }

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A natural number: what the contract writes amounts and integer ids as. */
export const isNatural = (value: unknown): value is Centavos => Number.isSafeInteger(value) && Number(value) >= 0

export const isText = (value: unknown): value is string => typeof value === "string"
export const isWord = (value: unknown): value is string => typeof value === "string" && value !== ""
export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null
export const isTextOrAbsent = (value: unknown): value is string | null | undefined => isText(value) || isAbsent(value)

/** The instant of a timestamp in its plain form. */
export const instantOf = (value: unknown): DateTime.Utc | undefined => {
  if (!isText(value)) return undefined
  const millis = plainMillis(value)
  return Number.isNaN(millis) ? undefined : utc(millis)
}
