/**
 * Reads the body of a webhook delivery: its hints, and the metadata of each by the user's schema.
 */
import { constant, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { findAll, type Hint } from "../WebhookHint.ts"
import type { DeliveryText, WebhookOptions } from "../WebhookOptions.ts"
import { maxHints } from "../../internal/bounds.ts"

/** What a delivery says of one subject. */
export interface Reading {
  readonly hint: Hint
  /** The place of the hint among those of its delivery, from 0. */
  readonly place: number
  /** The delivery's `x-webhook-event-id`, if it may be shown. */
  readonly eventId?: string | undefined
  /** What the user's schema reads of the metadata, encoded as JSON. Absent without a schema, or if it does not fit. */
  readonly metadata?: string | undefined
}

/** Why a body is not taken. */
export type NotRead = "Unreadable" | "TooMany"

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** An id without spaces. Any other text of the header is not stored. */
const eventId = /^[\w.:-]{1,100}$/

export const makeReader = <M>({ find, metadata }: Pick<WebhookOptions<M>, "find" | "metadata">) => {
  const decode = metadata && Schema.decodeUnknownOption(metadata)
  const encode = metadata && Schema.encodeUnknownOption(Schema.fromJsonString(metadata))
  const decodeStored = metadata && Schema.decodeUnknownOption(Schema.fromJsonString(metadata))
  const read = (delivery: DeliveryText, event: string | undefined): Result.Result<ReadonlyArray<Reading>, NotRead> => {
    const json = parseJson(delivery.text)
    // The names of the default are those of JSON.
    const found =
      find === undefined ? Option.map(json, findAll) : Option.some(find(Option.getOrUndefined(json), delivery))
    if (Option.isNone(found)) return Result.fail("Unreadable")
    const hints = [found.value].flat()
    if (hints.length > maxHints) return Result.fail("TooMany")
    return Result.succeed(
      hints.map((hint, place) => {
        const encoded = decode && encode && Option.flatMap(decode(hint.metadata), encode)
        return {
          hint,
          place,
          eventId: event !== undefined && eventId.test(event) ? event : undefined,
          metadata: encoded && Option.getOrUndefined(encoded)
        }
      })
    )
  }
  return {
    /** The content of a body. One that is not JSON is unreadable without a `find` of the user. */
    // The user's `find` may throw, and so does a recursive schema for JSON that is nested too deeply.
    read: (delivery: DeliveryText, event: string | undefined) =>
      Result.flatMap(
        Result.try({ try: () => read(delivery, event), catch: constant<NotRead>("Unreadable") }),
        identity
      ),
    /** The metadata of its encoded form, which may be older than the schema. */
    metadataOf: (encoded: string): M | undefined => decodeStored && Option.getOrUndefined(decodeStored(encoded))
  }
}
