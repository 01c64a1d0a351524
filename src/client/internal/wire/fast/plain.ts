/**
 * What the hand-shaped readers and writers have in common. A reader gives what its schema would give, without the
 * optional fields that do not fit, whose names it reports. It gives `undefined`, which means "ask the schema", where a
 * required field does not fit: so the schema words every failure.
 */
import type * as DateTime from "effect/DateTime"
import { parseInstant } from "../../../../internal/utc.ts"
import type { Centavos } from "../../../../pix/Money.ts"

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A natural number: what the contract writes amounts and integer ids as. */
export const isNatural = (value: unknown): value is Centavos => Number.isSafeInteger(value) && Number(value) >= 0

export const isText = (value: unknown): value is string => typeof value === "string"
export const isWord = (value: unknown): value is string => typeof value === "string" && value !== ""

/** The names of the fields that were left out. */
export type Misfits = Set<string>

/** Reports a field that holds something else than it should. */
export const leaveOut = (value: unknown, name: string, misfits: Misfits): undefined => {
  if (value !== undefined && value !== null) misfits.add(name)
}

/** An optional field, or `undefined` where it is absent or does not fit. */
export const optional = <A>(
  value: unknown,
  is: (value: unknown) => value is A,
  name: string,
  misfits: Misfits
): A | undefined => (is(value) ? value : leaveOut(value, name, misfits))

export const instant = (value: unknown, name: string, misfits: Misfits): DateTime.Utc | undefined =>
  (isText(value) ? parseInstant(value) : undefined) ?? leaveOut(value, name, misfits)

/** All fields by name: one that may be left out is `undefined` then. */
type Fields<A> = {
  readonly [Name in keyof A]-?: Partial<Pick<A, Name>> extends Pick<A, Name> ? A[Name] | undefined : A[Name]
}

/** Without the fields that hold nothing. */
export const present = <A extends object>(fields: Fields<A>): A => {
  let isWhole = true
  for (const name in fields) if (fields[name] === undefined) isWhole = false
  if (isWhole) return fields as A // no field of it is `undefined`
  const kept: Partial<Fields<A>> = {}
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name]
  return kept as A // only optional fields may have been `undefined`
}
