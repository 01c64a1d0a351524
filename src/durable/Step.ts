/**
 * A step that a person takes with payouts: who, and why. Both are stored as they are given, and shown to operators alone: they are in no
 * log, span or metric.
 */

import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { RequestIssue } from "../contract/PaymentsError.ts"
import { maxPersonLengths } from "../internal/bounds.ts"

/** Who takes a step, and why. Both are stored, so they must not hold the data of a payer or a payee. */
export interface StepOptions {
  /** Who takes the step, as your program names its operators: 1 to 100 characters. Default: nobody is named. */
  readonly by?: string | undefined
  /** Why, in the operator's own words: 1 to 1,000 characters. Default: no reason is given. */
  readonly note?: string | undefined
}

/** Who took a step, and why, as it is stored. */
export const Person = Schema.Struct({
  by: Schema.optionalKey(Schema.String),
  note: Schema.optionalKey(Schema.String)
})
export type Person = typeof Person.Type

/** The texts of people that are stored. */
const names = ["by", "note"] as const

/** Removes what nobody sees: control and format characters but for spaces, fillers, and characters that are not assigned. */
const withoutInvisible = (text: string): string =>
  text.replaceAll(/(?!\s)[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, "")

/** The issues of a step's options, which a caller without types may have given. */
export const issuesOfStep = (options: StepOptions): ReadonlyArray<RequestIssue> =>
  names
    .filter((name) => {
      const text: unknown = options[name]
      return (
        text !== undefined &&
        (!Predicate.isString(text) || withoutInvisible(text).trim() === "" || text.length > maxPersonLengths[name])
      )
    })
    .map((path) => ({ path, problem: `must be a text of 1 to ${maxPersonLengths[path]} characters that is not blank` }))

/** The options of a step that are not `undefined`. */
export const personOf = ({ by, note }: StepOptions): Person => ({
  ...(by !== undefined && { by }),
  ...(note !== undefined && { note })
})
