/**
 * The setting of the zone in which the service writes times without an offset.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { reading } from "../../contract/Options.ts"

/** A zone's name or offset. `undefined` is UTC, which needs no conversion. */
export const zoneSetting = reading((zone: string): Result.Result<DateTime.TimeZone | undefined, string> => {
  if (zone === "UTC") return Result.succeed(undefined)
  const read = Predicate.isString(zone) ? DateTime.zoneFromString(zone) : Option.none()
  return Result.fromOption(read, () => "must be a time zone, as America/Sao_Paulo or -03:00")
})
