/** The tag of a failure of foreign code. Nothing else of it may be logged, since its message may name a secret. */
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

export const failureTag = (cause: Cause.Cause<unknown>): string => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  const tag = Predicate.hasProperty(error, "_tag") ? error._tag : undefined
  if (typeof tag === "string" && /^[\w./@-]{1,80}$/.test(tag)) return tag
  if (error !== undefined) return "an error without a tag"
  return Cause.hasInterruptsOnly(cause) ? "an interruption" : "a defect"
}
