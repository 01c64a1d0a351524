/**
 * Durations from callers without types. Effect reads `NaN`, and an object without a unit, as a duration of zero: here they
 * are wrong.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

const units = [
  "weeks",
  "days",
  "hours",
  "minutes",
  "seconds",
  "milliseconds",
  "microseconds",
  "nanoseconds"
] as const satisfies ReadonlyArray<keyof Duration.DurationObject>

/** The numbers in an input that is an array or an object. */
const partsOf = (input: object): ReadonlyArray<unknown> =>
  Array.isArray(input)
    ? input
    : units.map((unit) => Reflect.get(input, unit)).filter((part: unknown) => part !== undefined)

const isNumber = (part: unknown): boolean => Predicate.isNumber(part) && !Number.isNaN(part)

const isInput = (input: unknown): input is Duration.Input => {
  if (!Predicate.isObjectOrArray(input) || Duration.isDuration(input)) return !Number.isNaN(input)
  const parts = partsOf(input)
  return parts.length > 0 && parts.every(isNumber)
}

const read = (input: unknown): Option.Option<number> =>
  isInput(input)
    ? Duration.fromInput(input).pipe(
        Option.map(Duration.toMillis),
        Option.filter((millis) => millis >= 0)
      )
    : Option.none()

/** The duration in milliseconds, from 0 to Infinity; `undefined` if the input is not a duration, or throws when it is read. */
export const millisOf = (input: unknown): number | undefined =>
  Option.getOrUndefined(Option.flatten(Option.liftThrowable(read)(input)))
